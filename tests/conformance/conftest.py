"""One server for the whole run, a fresh namespace for each test, and a second server with
controllers for the few tests that are about them.

`--kube embedded` (the default) or `--kube envtest` chooses; the tests do not know.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from kubeloop.clients import APIClient
from tests.conformance import servers
from tests.conformance.caller import Caller
from tests.conformance.differences import DIFFERENCES
from tests.conformance.scene import build_scene, look_at_scene
from tests.conformance.servers import Server
from tests.conformance.widgets import Defined, define

ADMIN = ("admin", ("system:masters",))
_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    line = "differs(what): passes on kube-apiserver and must fail on the embedded server"
    config.addinivalue_line("markers", line)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            _prepare(item, _chosen(config))


def _prepare(item: pytest.Item, server: str) -> None:
    if isinstance(item, pytest.Function):
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    if item.get_closest_marker("timeout") is None and server == "envtest":
        item.add_marker(pytest.mark.timeout(20))
    marker = item.get_closest_marker("differs")
    if marker is not None and server == "embedded":
        why = DIFFERENCES[marker.args[0]]
        item.add_marker(pytest.mark.xfail(strict=True, raises=AssertionError, reason=why))


def _chosen(config: pytest.Config) -> str:
    """Which server: the plugin's own option, of which a kubeconfig context is no choice here."""
    chosen = str(config.getoption("kube", default=None) or config.getini("kube") or "embedded")
    if chosen not in {"embedded", "envtest"}:
        raise pytest.UsageError("the conformance suite runs with --kube embedded or envtest")
    return chosen


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    start = servers.embedded if _chosen(request.config) == "embedded" else servers.envtest
    async with start() as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def controlled(server: Server) -> AsyncIterator[Server]:
    """A server on which garbage is collected and namespaces end.

    The real one is another: what its controllers do must not surprise the other tests.
    """
    if server.name == "embedded":
        yield server
        return
    async with servers.envtest(controllers=servers.CONTROLLERS) as other:
        yield other


@pytest_asyncio.fixture(loop_scope="session")
async def api(server: Server) -> Caller:
    """The administrator, in a namespace of the test's own."""
    return await _in_own_namespace(server)


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: Server, api: Caller) -> AsyncIterator[APIClient]:
    """kubeloop's own client as the administrator, in the namespace of the test."""
    config = server.config(*ADMIN).replace(namespace=api.namespace)
    async with APIClient(config) as connected:
        yield connected


@pytest_asyncio.fixture(loop_scope="session")
async def owners(controlled: Server) -> Caller:
    """The same where the controllers run."""
    return await _in_own_namespace(controlled)


async def _in_own_namespace(server: Server) -> Caller:
    name = f"case-{next(_numbers)}"
    caller = Caller(await server.session(*ADMIN), server.url, name)
    body = {"metadata": {"name": name, "labels": {"conformance": "yes"}}}
    await caller.create("/api/v1/namespaces", body)
    return caller


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(server: Server, api: Caller) -> Caller:
    """Somebody without credentials; a bearer token may be sent in a header."""
    return Caller(await server.session(), server.url, api.namespace)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def widgets(server: Server) -> Defined:
    """The kind of our own that most tests use."""
    caller = Caller(await server.session(*ADMIN), server.url, "default")
    return await define(caller, plural="widgets")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def scene(server: Server, widgets: Defined) -> AsyncIterator[Caller]:
    """The administrator, in the namespace that the tables of refusals speak about.

    When all rows are done, the namespace is as it was: whatever is refused changes nothing.
    """
    caller = Caller(await server.session(*ADMIN), server.url, "scene")
    await caller.create("/api/v1/namespaces", {"metadata": {"name": "scene"}})
    before = await build_scene(caller)
    yield caller
    assert await look_at_scene(caller) == before
