"""An embedded API server in a process of its own, with pods in it, for benches to talk to.

Run as a program it serves until its input ends; `serving` starts it so.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure import ROOT
from bench.pods import pod
from kubeloop import run
from kubeloop.clients import APIClient
from kubeloop.wire.core.v1 import Namespace
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer

__all__ = ["serving"]


@contextmanager
def serving(pods: int = 0) -> Iterator[Path]:
    """The path of a kubeconfig for a server over TLS that holds `pods` pods."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kubeconfig")
        command = [sys.executable, "-m", "bench.embedded_server", str(path), str(pods)]
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdout.readline()  # it is ready
            before = os.environ.get("KUBECONFIG")
            os.environ["KUBECONFIG"] = str(path)
            try:
                yield path
            finally:
                del os.environ["KUBECONFIG"]
                if before is not None:  # another server runs beside this one
                    os.environ["KUBECONFIG"] = before
                process.stdin.close()


async def serve(path: Path, pods: int) -> None:
    """Serve until the input ends."""
    async with APIServer(tls=True, rbac=True) as server:
        write(path, server.kubeconfig())
        client = server.client()
        for number in range(12):
            namespace = Namespace(metadata=ObjectMeta(name=f"team-{number}"))
            await client.core_v1.namespaces().create(namespace)
        await fill(client, pods)
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def write(path: Path, text: str) -> None:
    """Readable only by its owner: it has a token."""
    path.touch(mode=0o600)
    path.write_text(text)


async def fill(client: APIClient, pods: int) -> None:
    """Create the pods, a few at a time."""

    async def some(numbers: range) -> None:
        for number in numbers:
            body = pod(number)
            for key in ("uid", "resourceVersion", "managedFields", "generation"):
                del body["metadata"][key]
            target = client.dynamic.resource("v1", "Pod", namespace=body["metadata"]["namespace"])
            await target.create(body)

    await asyncio.gather(*(some(range(start, pods, 8)) for start in range(8)))


if __name__ == "__main__":
    run(serve(Path(sys.argv[1]), int(sys.argv[2])))
