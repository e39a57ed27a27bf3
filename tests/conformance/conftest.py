"""One server for the whole run, a new namespace for each test, and a second server with
controllers for the few tests that need them.

`--kube embedded` (the default) or `--kube envtest` selects the server. Each test runs twice, with
responses as JSON and as protobuf, unless it is about the format itself (`one_format`). Against
kube-apiserver, which takes its time, the longest modules run with JSON only, unless
`--every-format` is given.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from kubeloop.clients import APIClient, ReadFormat
from tests.conformance import servers
from tests.conformance.differences import DIFFERENCES, RECORDED_DIFFERENCES
from tests.conformance.raw_client import RawClient
from tests.conformance.sample_cluster import create_objects, read_objects
from tests.conformance.servers import Server
from tests.conformance.widgets import CustomKind, define

ADMIN = ("admin", ("system:masters",))
_numbers = itertools.count(1)
# They take six minutes with kube-apiserver. All but the first are about controllers, webhooks and
# custom objects, which have no protobuf.
_LONG = frozenset({"test_recorded", "test_namespace_end", "test_webhooks", "test_custom_kinds"})


def pytest_addoption(parser: pytest.Parser) -> None:
    what = "run all conformance tests with both formats, also against kube-apiserver"
    parser.addoption("--every-format", action="store_true", help=what)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "one_format: is about the format of responses, so runs once")
    line = "differs(what): passes on kube-apiserver and must fail on the embedded server"
    config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with both formats, if a client of its format is among its fixtures."""
    if "format_" in metafunc.fixturenames:
        metafunc.parametrize("format_", _formats(metafunc.definition, metafunc.config))


def _formats(item: pytest.Item, config: pytest.Config) -> list[ReadFormat]:
    is_one = item.get_closest_marker("one_format") is not None
    is_quick = _selected_server(config) == "embedded" or item.path.stem not in _LONG
    if is_one or not (is_quick or config.getoption("every_format", default=False)):
        return ["json"]
    return ["json", "protobuf"]


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
    parameters = item.name.partition("[")[2].removesuffix("]")
    return RECORDED_DIFFERENCES.get(parameters.partition("-")[2], "")


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
async def api(server: Server, format_: ReadFormat) -> RawClient:
    """A client of the administrator, in the namespace of the test."""
    return (await _in_new_namespace(server)).reading(format_)


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: Server, api: RawClient, format_: ReadFormat) -> AsyncIterator[APIClient]:
    """kubeloop's client of the administrator, in the namespace of the test."""
    config = server.config(*ADMIN).replace(namespace=api.namespace)
    async with APIClient(config, format=format_) as connected:
        yield connected
        # A format that is not used is not tested.
        assert connected.stats().json_only == ()


@pytest_asyncio.fixture(loop_scope="session")
async def owners(controlled: Server, format_: ReadFormat) -> RawClient:
    """The same on the server with controllers."""
    return (await _in_new_namespace(controlled)).reading(format_)


async def _in_new_namespace(server: Server) -> RawClient:
    name = f"case-{next(_numbers)}"
    client = RawClient(await server.session(*ADMIN), server.url, name)
    body = {"metadata": {"name": name, "labels": {"conformance": "yes"}}}
    await client.create("/api/v1/namespaces", body)
    return client


@pytest_asyncio.fixture(loop_scope="session")
async def anonymous(server: Server, api: RawClient, format_: ReadFormat) -> RawClient:
    """A client without credentials; a bearer token may be sent in a header."""
    return RawClient(await server.session(), server.url, api.namespace).reading(format_)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def widgets(server: Server) -> CustomKind:
    """The custom kind that most tests use."""
    client = RawClient(await server.session(*ADMIN), server.url, "default")
    return await define(client, plural="widgets")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sample_namespace(server: Server, widgets: CustomKind) -> AsyncIterator[RawClient]:
    """A namespace with the objects of `sample_cluster`, for `populated`.

    At the end it must be unchanged, because rejected requests change nothing.
    """
    client = RawClient(await server.session(*ADMIN), server.url, "populated")
    await client.create("/api/v1/namespaces", {"metadata": {"name": "populated"}})
    before = await create_objects(client)
    yield client
    assert await read_objects(client) == before


@pytest.fixture
def populated(sample_namespace: RawClient, format_: ReadFormat) -> RawClient:
    """A client of the administrator, in the namespace with the objects of `sample_cluster`."""
    return sample_namespace.reading(format_)
