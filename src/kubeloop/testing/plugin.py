"""pytest's fixtures: a server, a namespace, a client. pytest finds them by itself.

    async def test_the_pod_is_there(kube_client: Client, kube_namespace: str) -> None:
        await kube_client.core_v1.pods(kube_namespace).create(pod)

`--kube` says where the same tests run: `embedded`, the default, is a fresh server in this
process for each test; `envtest` is a real control plane, one for the run; `context` is the
cluster of the current kubeconfig context, `context:NAME` that of another.

Promises: what nobody asks for is not imported; tests need no asyncio plugin for anything
but `kube_client`; a server runs in a thread of its own, and a test asks it from where it is.
A test that uses a server cannot reach another one by default, and one that forgets an `await`
of ours fails.
Elsewhere: the servers (`api_server`, `control_plane`, `contexts`), what a test finds in its
environment (`environment`), coroutines that were not awaited (`unawaited`).
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import uuid
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

try:  # its fixtures are asynchronous without a mode having to be set
    from pytest_asyncio import fixture as _async_fixture
except ImportError:  # another plugin may run them
    _async_fixture = pytest.fixture  # type: ignore[assignment]  # more parameters, same use

from .environment import TestEnvironment
from .unawaited import UnawaitedCoroutines

if TYPE_CHECKING:
    from kubeloop.config import ClusterConfig
    from kubeloop.runtime import Client

    from .api_server import APIServer
    from .contexts import ExistingCluster
    from .control_plane import ControlPlane
    from .server.faults import Faults
    from .threads import LoopThread

    Server = APIServer | ControlPlane | ExistingCluster

_PLACES = "embedded, envtest, context or context:NAME"
_SERVERS = ("kube_server", "kube_session_server")
_RUN = pytest.StashKey["_Run"]()


class _AsWritten:
    """Imports our modules as they are.

    pytest rewrites the asserts of every package that brings a plugin. Ours are no test's
    asserts: parsing all modules again costs seconds, and a server imports some of them in
    its own thread.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("kubeloop."):
            return None
        return PathFinder.find_spec(name, path, target)


if _AsWritten not in sys.meta_path:
    sys.meta_path.insert(0, _AsWritten)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--kube`, and the setting `kube` for those who never want to say it."""
    group = parser.getgroup("kubeloop", "Kubernetes API servers (kubeloop)")
    group.addoption("--kube", metavar="WHERE", help=f"where tests run: {_PLACES}")
    parser.addini("kube", f"where tests run: {_PLACES}", default="embedded")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a place that is none before anything runs."""
    kind, colon, name = _place(config).partition(":")
    named = kind == "context" and bool(name) == bool(colon)
    if not named and (colon or kind not in {"embedded", "envtest"}):
        raise pytest.UsageError(f"--kube {_place(config)}: there is no such place (say {_PLACES})")
    config.stash[_RUN] = _Run()


def _place(config: pytest.Config) -> str:
    return str(config.getoption("--kube") or config.getini("kube"))


# --- around each test


class _Run:
    """What the plugin knows from one test to the next."""

    def __init__(self) -> None:
        self.environment = TestEnvironment()
        self.unawaited = UnawaitedCoroutines()
        self.lasting: dict[str, Any] = {}  # servers that more than one test uses, by fixture


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have a test that uses a server find that one, and no other, from its first fixture on."""
    run = item.config.stash[_RUN]
    # pytest would let go of the last failure in the middle of this test, and with it of what a
    # test before had not awaited.
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    with run.unawaited.watching():
        used = [name for name in _SERVERS if name in getattr(item, "fixturenames", ())]
        try:
            if used:
                run.environment.begin()
            for server in [run.lasting[name] for name in used if name in run.lasting][:1]:
                _point_at(run, server)
            return (yield)
        finally:
            run.environment.end()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Point the environment at a server that has started, also at one of a conftest.py."""
    value = yield
    if fixturedef.argname in _SERVERS:
        run = request.config.stash[_RUN]
        _point_at(run, value)
        if fixturedef.scope != "function":
            run.lasting[fixturedef.argname] = value
    return value


def pytest_fixture_post_finalizer(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> None:
    """Forget a server that has ended."""
    if fixturedef.argname in _SERVERS and fixturedef.scope != "function":
        request.config.stash[_RUN].lasting.pop(fixturedef.argname, None)


def _point_at(run: _Run, server: Any) -> None:
    from kubeloop.errors import ConfigError

    try:
        run.environment.point_at(server)
    except (AttributeError, ConfigError):
        # A fixture of the same name and of somebody else, or the account of a pod, which no
        # kubeconfig describes.
        run.environment.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test whose fixtures forget an `await`."""
    return (yield from _awaited(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that forgets an `await`."""
    return (yield from _awaited(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test whose fixtures forget an `await` at their end."""
    return (yield from _awaited(item))


def _awaited(item: pytest.Item) -> Generator[None, object, object]:
    unawaited = item.config.stash[_RUN].unawaited
    try:
        result = yield
    except BaseException as error:
        for each in unawaited.take(error):
            error.add_note(each)
        raise
    found = unawaited.take()
    if found:
        pytest.fail("\n".join(found), pytrace=False)
    return result


# --- settings, for a conftest.py to replace


@pytest.fixture(scope="session")
def kube_manifests() -> Sequence[str | Path]:
    """YAML files that are applied to each server before a test sees it: CRDs, mostly."""
    return ()


@pytest.fixture(scope="session")
def kube_options() -> Mapping[str, Any]:
    """What `APIServer` is made with: `{"tls": True, "rbac": True}`; embedded only."""
    return {}


# --- servers


@pytest.fixture(scope="session")
def _kube_thread() -> Iterator[LoopThread]:
    from .threads import LoopThread

    with LoopThread() as thread:
        yield thread


@pytest.fixture(scope="session")
def kube_session_server(
    pytestconfig: pytest.Config,
    _kube_thread: LoopThread,
    kube_manifests: Sequence[str | Path],
    kube_options: Mapping[str, Any],
) -> Iterator[Server]:
    """One server for the whole run; each test keeps to a namespace (`kube_namespace`)."""
    environ = pytestconfig.stash[_RUN].environment.original
    server = _new_server(_place(pytestconfig), kube_manifests, kube_options, environ)
    with _kube_thread.running(server) as started:
        yield started


@pytest.fixture
def kube_server(
    request: pytest.FixtureRequest,
    _kube_thread: LoopThread,
    kube_manifests: Sequence[str | Path],
    kube_options: Mapping[str, Any],
) -> Iterator[Server]:
    """A server with nothing in it but `kube_manifests`; a real one is shared by all tests."""
    if _is_shared(request):
        yield request.getfixturevalue("kube_session_server")
        return
    with _kube_thread.running(_embedded(kube_manifests, kube_options)) as started:
        yield started


def _is_shared(request: pytest.FixtureRequest) -> bool:
    # Whoever asks for the shared server means it for all other fixtures, too.
    return _place(request.config) != "embedded" or "kube_session_server" in request.fixturenames


def _embedded(manifests: Sequence[str | Path], options: Mapping[str, Any]) -> APIServer:
    from .api_server import APIServer

    return APIServer(manifests=manifests, **options)


def _new_server(
    place: str,
    manifests: Sequence[str | Path],
    options: Mapping[str, Any],
    environ: Mapping[str, str],
) -> AbstractAsyncContextManager[Server]:
    if place == "embedded":
        return _embedded(manifests, options)
    if place == "envtest":
        from .control_plane import ControlPlane

        return ControlPlane(manifests=manifests, controller_manager=_has_controller_manager())
    from .contexts import ExistingCluster

    return ExistingCluster(place.partition(":")[2], manifests=manifests, environ=environ)


def _has_controller_manager() -> bool:
    """Whether namespaces can end: a folder of assets need not hold all programs."""
    from .control_plane import assets_folder

    return (assets_folder() / "kube-controller-manager").exists()


@pytest.fixture
def kube_faults(kube_server: Server) -> Iterator[Faults]:
    """The switches of the embedded server, all off again after the test."""
    from .api_server import APIServer

    if not isinstance(kube_server, APIServer):
        pytest.skip("faults need the embedded server (--kube embedded)")
    yield kube_server.faults
    _heal(kube_server)


def _heal(server: Server) -> None:
    faults: Faults | None = getattr(server, "faults", None)
    if faults is not None:
        faults.heal()
        faults.reactors.clear()


@pytest.fixture
def kube_workloads(kube_server: Server, _kube_thread: LoopThread) -> Iterator[None]:
    """Deployments roll out and pods run: simulated, or by the cluster that is there."""
    from .api_server import APIServer
    from .control_plane import ControlPlane

    if isinstance(kube_server, ControlPlane):
        pytest.skip("pods need nodes (--kube embedded, or --kube context)")
    if not isinstance(kube_server, APIServer):
        yield
        return
    from .workloads import Workloads

    with _kube_thread.running(Workloads(kube_server.config)):
        yield


# --- ways in


@pytest.fixture
def kube_config(kube_server: Server) -> ClusterConfig:
    """How to reach the server, as its administrator."""
    return kube_server.config


@pytest.fixture
def kubeconfig_file(kube_server: Server, tmp_path: Path) -> Path:
    """A kubeconfig for other programs, which only the owner can read."""
    path = tmp_path / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(kube_server.kubeconfig(), encoding="utf-8")
    return path


@pytest.fixture
def kube_namespace(
    request: pytest.FixtureRequest, kube_server: Server, _kube_thread: LoopThread
) -> Iterator[str]:
    """A namespace of this test alone; it is deleted afterwards."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    _kube_thread.call(_create_namespace(kube_server.config, name))
    yield name
    if _is_shared(request):  # any other goes as a whole
        _heal(kube_server)
        _kube_thread.call(_delete_namespace(kube_server.config, name))


@_async_fixture
async def kube_client(kube_config: ClusterConfig) -> AsyncIterator[Client]:
    """A client of the server, closed after the test."""
    from kubeloop.runtime import Client

    async with Client(kube_config) as client:
        yield client


@pytest.fixture
def kube_blocking_client(kube_config: ClusterConfig) -> Iterator[Any]:
    """A client of the server for tests without asyncio, closed after the test."""
    # By name, because rooms side by side do not know each other.
    try:
        blocking = importlib.import_module("kubeloop.blocking")
    except ModuleNotFoundError:
        pytest.fail("kube_blocking_client: this kubeloop has no kubeloop.blocking", pytrace=False)
    with blocking.Client(kube_config) as client:
        yield client


async def _create_namespace(config: ClusterConfig, name: str) -> None:
    from kubeloop.clients import APIClient
    from kubeloop.wire.core.v1 import Namespace
    from kubeloop.wire.meta.v1 import ObjectMeta

    async with APIClient(config) as client:
        await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=name)))


async def _delete_namespace(config: ClusterConfig, name: str) -> None:
    from kubeloop.clients import APIClient
    from kubeloop.errors import NotFound

    async with APIClient(config) as client:
        with contextlib.suppress(NotFound):  # the test has done it
            await client.core_v1.namespaces().delete(name)
