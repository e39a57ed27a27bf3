"""Objects for the tests, and requests to the server of the page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from kubeloop.cache import SharedInformer
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta

PASSWORD = "swordfish"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def a_config(name: str, *, namespace: str = "default", **data: str) -> ConfigMap:
    labels = {"app": name.partition("-")[0]}
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels), data=data)


def a_secret(password: str = PASSWORD) -> Secret:
    """A Secret that contains its value three times, as after `kubectl apply`."""
    copy = f'{{"stringData":{{"password":"{password}"}}}}'
    return Secret(
        metadata=ObjectMeta(
            name="database", namespace="default", annotations={LAST_APPLIED: copy, "tool": password}
        ),
        data={"password": password.encode()},
        string_data={"plain": password},
        type="Opaque",
    )


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; the time limit of the test applies."""
    while not condition():
        await asyncio.sleep(0.001)


async def wait_for_version(informer: SharedInformer[Any], version: str | None) -> None:
    assert version is not None
    await informer.wait_for_version(version, timeout=4)


@asynccontextmanager
async def open_session(url: str) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


async def text_of(url: str, path: str, **query: str) -> str:
    async with open_session(url) as session, session.get(path, params=query) as response:
        return await response.text()


async def json_of(url: str, path: str, **query: str) -> Any:
    return msgspec.json.decode(await text_of(url, path, **query))


async def snapshots(response: aiohttp.ClientResponse) -> AsyncIterator[Any]:
    """The snapshots of a stream."""
    async for line in response.content:
        if line.startswith(b"data: "):
            yield msgspec.json.decode(line.removeprefix(b"data: "))
