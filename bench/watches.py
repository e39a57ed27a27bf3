"""Opens watches that receive nothing, with one client, and reports the memory they take.

Prints a line of JSON, in the format of the Go program. It ends when its input does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import ssl
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from bench.child import resident
from bench.informer import cpu, end_with_input, report
from kubeloop import Client, ClusterConfig, run
from kubeloop.wire.core.v1 import ConfigMap

MAPS = "/api/v1/namespaces/default/configmaps"
SETTLED = 0.5  # seconds: enough for what opening a connection leaves to be done

Watch = Callable[[], Coroutine[Any, Any, None]]


@asynccontextmanager
async def with_kubeloop() -> AsyncIterator[Watch]:
    """Watches of our client, as a user writes them."""
    async with Client() as client:
        maps = client.resource(ConfigMap, namespace="default")
        version = (await maps.list()).version

        async def watch() -> None:
            async for event in maps.watch(resource_version=version):
                raise AssertionError(f"a watch is not idle: {event.type}")

        yield watch


@asynccontextmanager
async def with_aiohttp() -> AsyncIterator[Watch]:
    """Watches of a plain session, without anything around them."""
    config = ClusterConfig.load()
    context = ssl.create_default_context(cadata=config.ca.decode())
    if config.client_certificate:
        _load_identity(context, config)
    headers = {"Authorization": f"Bearer {config.token}"} if config.token else {}
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=context),
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=None),
    ) as session:
        async with session.get(config.server + MAPS) as response:
            version = (await response.json())["metadata"]["resourceVersion"]
        url = f"{config.server}{MAPS}?watch=1&resourceVersion={version}"

        async def watch() -> None:
            async with session.get(url) as response:
                response.raise_for_status()
                async for line in response.content:
                    raise AssertionError(f"a watch is not idle: {line!r}")

        yield watch


def _load_identity(context: ssl.SSLContext, config: ClusterConfig) -> None:
    """Through files: `ssl` reads certificates and keys only from there."""
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
        certificate.write_bytes(config.client_certificate)
        key.touch(mode=0o600)
        key.write_bytes(config.client_key)
        context.load_cert_chain(certificate, key)


CLIENTS = {"kubeloop": with_kubeloop, "aiohttp": with_aiohttp}


async def hold(client: str, count: int) -> None:
    """Open one watch that is not counted, then the others; hold them until the input ends."""
    async with CLIENTS[client]() as watch:
        tasks = [asyncio.create_task(watch())]
        await asyncio.sleep(SETTLED)
        gc.collect()
        before, used, begun, sockets = resident(), cpu(), time.perf_counter(), open_sockets()
        tasks += [asyncio.create_task(watch()) for _ in range(count)]
        # One may be on the connection of the list. Clients do not report when a watch is open.
        while open_sockets() - sockets < count - 1:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.sleep(SETTLED)
        report(begun, used, before)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        raise SystemExit("a watch has ended")


def open_sockets() -> int:
    """How many sockets this process has."""
    count = 0
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # of the descriptor that lists them
            count += str(path.readlink()).startswith("socket:")
    return count


if __name__ == "__main__":
    threading.Thread(target=end_with_input, daemon=True).start()
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=tuple(CLIENTS))
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--asyncio", action="store_true", help="run on asyncio's own loop")
    given = parser.parse_args()
    (asyncio.run if given.asyncio else run)(hold(given.client, given.count))
