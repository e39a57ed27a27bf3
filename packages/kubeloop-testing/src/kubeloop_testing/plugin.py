"""pytest fixtures: a server, a namespace, a client. pytest loads them as a plugin.

    async def test_creates_a_pod(kube_client: Client, kube_namespace: str) -> None:
        await kube_client.core_v1.pods(kube_namespace).create(pod)

`--kube` selects the server of all tests: `embedded`, the default, is a new server in this
process for each test; `envtest` is a real control plane, one for the run; `context` is the
cluster of the current kubeconfig context, `context:NAME` that of another.

| fixture                              | type to write in a test            |
|--------------------------------------|------------------------------------|
| `kube_server`, `kube_session_server` | `kubeloop_testing.Server`          |
| `kube_faults`                        | `kubeloop_testing.Faults`          |
| `kube_kubelet`                       | `kubeloop_testing.Kubelet`         |
| `kube_client`                        | `kubeloop.Client`                  |
| `kube_blocking_client`               | `kubeloop.blocking.Client`         |
| `kube_config`                        | `kubeloop.config.ClusterConfig`    |
| `kube_namespace`                     | `str`                              |
| `kubeconfig_file`                    | `pathlib.Path`                     |
| `kube_workloads`                     | `None`                             |
| `kube_manifests`                     | `Sequence[str | Path]`             |
| `kube_options`                       | `Mapping[str, Any]`                |

Simulated tests (`kubeloop_testing.simulate`) have options of their own: `--kube-runs` sets the
number of runs of each, `--kube-scenario` executes one run only, and `--kube-trace` writes a page
of each test that fails. With `-v`, the summary says what was tried.

Guarantees: imports only what the used fixtures need; only `kube_client` needs an asyncio plugin;
a server runs in its own thread and is thread-safe. A test that uses a server cannot reach
another one by default, and a test that forgets to await a coroutine of kubeloop fails.
See also: the servers (`api_server`, `control_plane`, `existing_cluster`), the environment
variables of a test (`environment`), coroutines that were not awaited (`unawaited`), simulated
tests (`simulation`).
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import uuid
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

try:  # its fixtures are async in strict mode too
    from pytest_asyncio import fixture as _async_fixture
except ImportError:  # another plugin, such as anyio's, may run async fixtures
    _async_fixture = pytest.fixture  # type: ignore[assignment]  # more parameters, same use

from .environment import TestEnvironment
from .unawaited import UnawaitedCoroutines

if TYPE_CHECKING:
    from kubeloop.config import ClusterConfig
    from kubeloop.kit import ManualClock
    from kubeloop.runtime import Client

    from .api_server import APIServer
    from .existing_cluster import Server
    from .kubelet import Kubelet
    from .server.faults import Faults
    from .simulation.scenarios import Scenario
    from .threads import LoopThread

_CHOICES = "embedded, envtest, context or context:NAME"
_SERVERS = ("kube_server", "kube_session_server")
_STATE = pytest.StashKey["_PluginState"]()


class _PlainImporter:
    """Imports modules of kubeloop without pytest's assertion rewriting.

    pytest rewrites the asserts of every package that has a plugin. For kubeloop that is useless:
    parsing all modules again costs seconds, and a server imports some of them in its own thread.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("kubeloop."):
            return None
        return PathFinder.find_spec(name, path, target)


if _PlainImporter not in sys.meta_path:
    sys.meta_path.insert(0, _PlainImporter)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--kube…`, and the setting `kube` for the default server."""
    group = parser.getgroup("kubeloop", "Kubernetes API servers (kubeloop)")
    group.addoption("--kube", metavar="WHERE", help=f"server for the tests: {_CHOICES}")
    parser.addini("kube", f"server for the tests: {_CHOICES}", default="embedded")
    group.addoption(
        "--kube-runs",
        type=int,
        metavar="N",
        help="runs of each simulated test, in place of its own",
    )
    group.addoption(
        "--kube-scenario",
        metavar="TEXT",
        help="execute only this run of the simulated tests, such as 'seed=3'",
    )
    group.addoption(
        "--kube-trace",
        metavar="FILE",
        help="write the failed run of a simulated test as a page of HTML; a folder gets one page"
        " for each test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Reject an invalid value of an option before any test runs."""
    kind, colon, name = _choice(config).partition(":")
    is_context = kind == "context" and bool(name) == bool(colon)
    if not is_context and (colon or kind not in {"embedded", "envtest"}):
        raise pytest.UsageError(f"--kube {_choice(config)}: unknown server (use {_CHOICES})")
    config.stash[_STATE] = _PluginState()
    runs = config.getoption("--kube-runs")
    if runs is not None and runs < 1:
        raise pytest.UsageError(f"--kube-runs {runs}: it must be at least 1")
    _scenario(config)


def _choice(config: pytest.Config) -> str:
    return str(config.getoption("--kube") or config.getini("kube"))


# --- hooks of each test


class _PluginState:
    """What the plugin remembers between tests."""

    def __init__(self) -> None:
        self.environment = TestEnvironment()
        self.unawaited = UnawaitedCoroutines()
        self.shared_servers: dict[str, Any] = {}  # of a scope above the function, by fixture
        self.pages: list[Path] = []  # of simulated tests that failed


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Point the environment of a test at its server, from its first fixture on."""
    state = item.config.stash[_STATE]
    # pytest keeps the last failure here until another test fails; its frames may hold coroutines
    # that an earlier test did not await, which would then be found in the wrong test.
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    with state.unawaited.watching():
        used = [name for name in _SERVERS if name in getattr(item, "fixturenames", ())]
        try:
            if used:
                state.environment.begin()
            shared = [state.shared_servers[name] for name in used if name in state.shared_servers]
            if shared:  # its fixture does not run again
                _point_at(state, shared[0])
            return (yield)
        finally:
            state.environment.end()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Point the environment at a server that has started, also at one of a conftest.py."""
    value = yield
    if fixturedef.argname in _SERVERS:
        state = request.config.stash[_STATE]
        _point_at(state, value)
        if fixturedef.scope != "function":
            state.shared_servers[fixturedef.argname] = value
    return value


def pytest_fixture_post_finalizer(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> None:
    """Forget a server that has stopped."""
    if fixturedef.argname in _SERVERS and fixturedef.scope != "function":
        request.config.stash[_STATE].shared_servers.pop(fixturedef.argname, None)


def _point_at(state: _PluginState, server: Any) -> None:
    from kubeloop.errors import ConfigError

    try:
        state.environment.point_at(server)
    except (AttributeError, ConfigError):
        # A fixture of the same name from another project, or an in-cluster configuration, which
        # no kubeconfig describes.
        state.environment.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test whose fixtures forget an `await`."""
    return (yield from _check_awaited(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that forgets an `await`."""
    return (yield from _check_awaited(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test whose fixtures forget an `await` in their teardown."""
    return (yield from _check_awaited(item))


def _check_awaited(item: pytest.Item) -> Generator[None, object, object]:
    unawaited = item.config.stash[_STATE].unawaited
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


# --- simulated tests

_RESULT = "kubeloop simulation"  # the name of the property of a report that says what was tried


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Apply the options to a simulated test."""
    if f"{__package__}.simulation.simulate" not in sys.modules:  # no test uses it
        return (yield)
    from .simulation.explorer import Exploration
    from .simulation.report import describe_crash_points, summarize
    from .simulation.simulate import Settings, using

    config = pyfuncitem.config
    scenario = _scenario(config)

    def on_result(found: Exploration) -> None:
        text = summarize(found)
        if scenario is not None:
            text = f"{scenario}: {'failed' if found.failure else 'did not fail'}"
        elif config.get_verbosity() > 1:
            lines = [f"\n  {write}: {tried}" for write, tried in describe_crash_points(found)]
            text += "".join(lines)
        pyfuncitem.user_properties.append((_RESULT, text))

    settings = Settings(
        runs=config.getoption("--kube-runs"),
        scenario=scenario,
        node=pyfuncitem.nodeid,
        page=(lambda: _page(pyfuncitem)) if config.getoption("--kube-trace") else None,
        on_result=on_result,
    )
    with using(settings):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the report of a simulation alone, without frames of the plugin."""
    report = yield
    simulate = sys.modules.get(f"{__package__}.simulation.simulate")
    error = call.excinfo
    if simulate and error and report.failed and isinstance(error.value, simulate.SimulationFailed):
        report.longrepr = error.getrepr(style="value")
    return report


def _scenario(config: pytest.Config) -> Scenario | None:
    text = config.getoption("--kube-scenario")
    if text is None:
        return None
    from kubeloop.errors import InvalidArgument

    from .simulation.scenarios import Scenario

    try:
        return Scenario.parse(text)
    except InvalidArgument as error:
        raise pytest.UsageError(f"--kube-scenario: {error}") from error


def _page(item: pytest.Item) -> Path:
    """The file for the page of a test: the given one, or one of its own for each further test."""
    pages = item.config.stash[_STATE].pages
    given = str(item.config.getoption("--kube-trace"))
    path = item.config.invocation_params.dir / given
    own = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid).strip("-.")
    if given.endswith(("/", "\\")) or path.is_dir() or not path.suffix:
        path /= f"{own}.html"
    elif pages or hasattr(item.config, "workerinput"):  # other workers of xdist write as well
        path = path.with_name(f"{path.stem}-{own}{path.suffix}")
    pages.append(path)
    return path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was tried in simulated tests: with `-v`, or if one run was asked for."""
    config = terminalreporter.config
    if config.get_verbosity() < 1 and config.getoption("--kube-scenario") is None:
        return
    lines = [
        f"{report.nodeid}: {value}"
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, value in report.user_properties
        if name == _RESULT and report.when == "call"
    ]
    if lines:
        terminalreporter.section("simulated tests")
        terminalreporter.write("\n".join([*lines, ""]))


# --- settings that a conftest.py overrides


@pytest.fixture(scope="session")
def kube_manifests() -> Sequence[str | Path]:
    """YAML files that are applied to each server before a test, for example CRDs."""
    return ()


@pytest.fixture(scope="session")
def kube_options() -> Mapping[str, Any]:
    """Keyword arguments of `APIServer`, such as `{"tls": True, "rbac": True}`; embedded only."""
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
    """One `Server` for the whole run; isolate tests with namespaces (`kube_namespace`)."""
    environ = pytestconfig.stash[_STATE].environment.original
    server = _new_server(_choice(pytestconfig), kube_manifests, kube_options, environ)
    with _kube_thread.running(server) as started:
        yield started


@pytest.fixture
def kube_server(
    request: pytest.FixtureRequest,
    _kube_thread: LoopThread,
    kube_manifests: Sequence[str | Path],
    kube_options: Mapping[str, Any],
) -> Iterator[Server]:
    """A `Server` that contains only `kube_manifests`; a real one is shared by all tests.

    An `isinstance` check gives the other methods: `APIServer`, or `ControlPlane`.
    """
    if _is_shared(request):
        yield request.getfixturevalue("kube_session_server")
        return
    with _kube_thread.running(_embedded(kube_manifests, kube_options)) as started:
        yield started


def _is_shared(request: pytest.FixtureRequest) -> bool:
    # A test that uses the shared server expects all other fixtures to use it too.
    return _choice(request.config) != "embedded" or "kube_session_server" in request.fixturenames


def _embedded(manifests: Sequence[str | Path], options: Mapping[str, Any]) -> APIServer:
    from .api_server import APIServer

    return APIServer(manifests=manifests, **options)


def _new_server(
    choice: str,
    manifests: Sequence[str | Path],
    options: Mapping[str, Any],
    environ: Mapping[str, str],
) -> AbstractAsyncContextManager[Server]:
    if choice == "embedded":
        return _embedded(manifests, options)
    if choice == "envtest":
        from .control_plane import ControlPlane

        return ControlPlane(manifests=manifests, controller_manager=_has_controller_manager())
    from .existing_cluster import ExistingCluster

    return ExistingCluster(choice.partition(":")[2], manifests=manifests, environ=environ)


def _has_controller_manager() -> bool:
    """Whether the binary exists, without which no namespace is finalized; it is optional."""
    from .control_plane import assets_folder

    return (assets_folder() / "kube-controller-manager").exists()


@pytest.fixture
def kube_faults(kube_server: Server) -> Iterator[Faults]:
    """The `Faults` of the embedded server, all cleared after the test."""
    from .api_server import APIServer

    if not isinstance(kube_server, APIServer):
        pytest.skip("faults need the embedded server (--kube embedded)")
    yield kube_server.faults
    _clear_faults(kube_server)


def _clear_faults(server: Server) -> None:
    faults: Faults | None = getattr(server, "faults", None)
    if faults is not None:
        faults.heal()
        faults.reactors.clear()


@pytest.fixture
def kube_kubelet(kube_server: Server) -> Iterator[Kubelet]:
    """The `Kubelet` of the embedded server; its entries are removed after the test."""
    from .api_server import APIServer

    if not isinstance(kube_server, APIServer):
        pytest.skip("commands of containers need the embedded server (--kube embedded)")
    yield kube_server.kubelet
    kube_server.kubelet.clear()


@pytest.fixture
def kube_workloads(kube_server: Server, _kube_thread: LoopThread) -> Iterator[None]:
    """Makes deployments roll out and pods run: simulated, or by the existing cluster."""
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


# --- access to the server


@pytest.fixture
def kube_config(kube_server: Server) -> ClusterConfig:
    """The `ClusterConfig` of the administrator."""
    return kube_server.config


@pytest.fixture
def kubeconfig_file(kube_server: Server, tmp_path: Path) -> Path:
    """The `Path` of a kubeconfig for other programs, readable by its owner only."""
    path = tmp_path / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(kube_server.kubeconfig(), encoding="utf-8")
    return path


@pytest.fixture
def kube_namespace(
    request: pytest.FixtureRequest, kube_server: Server, _kube_thread: LoopThread
) -> Iterator[str]:
    """The name of a namespace for this test alone; it is deleted afterwards."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    _kube_thread.call(_create_namespace(kube_server.config, name))
    yield name
    if _is_shared(request):  # any other server stops with everything in it
        _clear_faults(kube_server)
        _kube_thread.call(_delete_namespace(kube_server.config, name))


@pytest.fixture
def kube_clock() -> ManualClock:
    """A `ManualClock`: its time moves with `await kube_clock.advance(seconds)` only.

    Pass it as `clock` to what the test runs in its own event loop: a `Client`, a `Manager`,
    `Workloads` or `reconcile_context`.
    """
    from kubeloop.kit import ManualClock

    return ManualClock()


@_async_fixture
async def kube_client(kube_config: ClusterConfig) -> AsyncIterator[Client]:
    """A `kubeloop.Client` of the server, closed after the test."""
    from kubeloop.runtime import Client

    async with Client(kube_config) as client:
        yield client


@pytest.fixture
def kube_blocking_client(kube_config: ClusterConfig) -> Iterator[Any]:
    """A `kubeloop.blocking.Client` of the server, for tests without asyncio; closed afterwards."""
    # By name: the layers contract keeps `testing` and `blocking` independent of each other.
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
        with contextlib.suppress(NotFound):  # the test has deleted it
            await client.core_v1.namespaces().delete(name)
