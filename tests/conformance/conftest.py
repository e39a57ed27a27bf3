"""One server for the whole run, a new namespace for each test, and a second server with
controllers for the few tests that need them.

`--kube embedded` (the default) or `--kube envtest` selects the server.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from kubeloop.clients import APIClient
from tests.conformance import servers
from tests.conformance.differences import DIFFERENCES, RECORDED_DIFFERENCES
from tests.conformance.raw_client import RawClient
from tests.conformance.sample_cluster import create_objects, read_objects
from tests.conformance.servers import Server
from tests.conformance.widgets import CustomKind, define

ADMIN = ("admin", ("system:masters",))
_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    line = "differs(what): passes on kube-apiserver and must fail on the embedded server"
    config.addinivalue_line("markers", line)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            _prepare(item, _selected_server(config))


def _prepare(item: pytest.Item, server: str) -> None:
    if isinstance(item, pytest.Function):
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    if item.get_closest_marker("timeout") is None and server == "envtest":
        item.add_marker(pytest.mark.timeout(20))
    marker = item.get_closest_marker("differs")
    what = marker.args[0] if marker else _recorded_difference(item)
    if what and server == "embedded":
        why = DIFFERENCES[what]
        item.add_marker(pytest.mark.xfail(strict=True, raises=AssertionError, reason=why))


def _recorded_difference(item: pytest.Item) -> str:
    """The difference that a recorded case shows, or nothing."""
    return RECORDED_DIFFERENCES.get(item.name.partition("[")[2].removesuffix("]"), "")


def _selected_server(config: pytest.Config) -> str:
    """The value of the plugin's option `--kube`; a kubeconfig context is not supported here."""
    name = str(config.getoption("kube", default=None) or config.getini("kube") or "embedded")
    if name not in {"embedded", "envtest"}:
        raise pytest.UsageError("the conformance suite runs with --kube embedded or envtest")
    return name


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    start = servers.embedded if _selected_server(request.config) == "embedded" else servers.envtest
    async with start() as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def controlled(server: Server) -> AsyncIterator[Server]:
    """A server with garbage collection and namespace finalization.

    With real binaries it is a second one: its controllers must not affect the other tests.
    """
    if server.name == "embedded":
        yield server
        return
    async with servers.envtest(controllers=servers.CONTROLLERS) as other:
        yield other


@pytest_asyncio.fixture(loop_scope="session")
async def api(server: Server) -> RawClient:
    """A client of the administrator, in the namespace of the test."""
    return await _in_new_namespace(server)


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: Server, api: RawClient) -> AsyncIterator[APIClient]:
    """kubeloop's client of the administrator, in the namespace of the test."""
    config = server.config(*ADMIN).replace(namespace=api.namespace)
    async with APIClient(config) as connected:
        yield connected


@pytest_asyncio.fixture(loop_scope="session")
async def owners(controlled: Server) -> RawClient:
    """The same on the server with controllers."""
    return await _in_new_namespace(controlled)


async def _in_new_namespace(server: Server) -> RawClient:
    name = f"case-{next(_numbers)}"
    client = RawClient(await server.session(*ADMIN), server.url, name)
    body = {"metadata": {"name": name, "labels": {"conformance": "yes"}}}
    await client.create("/api/v1/namespaces", body)
    return client


@pytest_asyncio.fixture(loop_scope="session")
async def anonymous(server: Server, api: RawClient) -> RawClient:
    """A client without credentials; a bearer token may be sent in a header."""
    return RawClient(await server.session(), server.url, api.namespace)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def widgets(server: Server) -> CustomKind:
    """The custom kind that most tests use."""
    client = RawClient(await server.session(*ADMIN), server.url, "default")
    return await define(client, plural="widgets")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def populated(server: Server, widgets: CustomKind) -> AsyncIterator[RawClient]:
    """A client of the administrator, in the namespace with the objects of `sample_cluster`.

    At the end the namespace must be unchanged, because rejected requests change nothing.
    """
    client = RawClient(await server.session(*ADMIN), server.url, "populated")
    await client.create("/api/v1/namespaces", {"metadata": {"name": "populated"}})
    before = await create_objects(client)
    yield client
    assert await read_objects(client) == before
