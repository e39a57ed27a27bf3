"""Runs the test suites of other clients against the embedded server and kube-apiserver.

    python tools/peers.py                                   all suites
    python tools/peers.py controller-runtime kopf           some
    python tools/peers.py --server embedded                 on one server only
    python tools/peers.py lightkube --checkouts ~/src       tests of ~/src/lightkube

Versions are pinned. Sources are downloaded once, into the user's cache: a Go module, or the
archive of a Python package. The end-to-end tests of lightkube and some of the two clients that are
generated from OpenAPI are in no archive; they run if `--checkouts` is the folder of their
repositories. The real server and kubectl are those of `make assets`; pods are simulated on both.

For each suite and server a line has the number of tests that passed, failed and were skipped. The
exit code is 1 if a test fails on the embedded server and passes on kube-apiserver, 2 if a suite
could not run. Packages of controller-runtime with a failure on the embedded server run twice: some
of its specs are races, which the summary lists as FLAKY.
See also: `envtest_server` (how envtest starts the embedded server), `peer_shims`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kubeloop.wire.core.v1 import Container, Pod, PodSpec, ServiceAccount
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, ControlPlane, Workloads, assets_folder
from kubeloop_testing.kubeconfigs import kubeconfig_text

TOOLS = Path(__file__).parent
CONTROLLER_RUNTIME = "v0.25.2"
# Packages whose tests start a control plane.
GO_PACKAGES = (
    "builder",
    "cache",
    "client",
    "cluster",
    "controller",
    "controller/controllerutil",
    "envtest",
    "handler",
    "internal/controller",
    "internal/recorder",
    "internal/testing/controlplane",
    "manager",
    "manager/internal/integration",
    "metrics/filters",
    "reconcile",
    "source",
    "webhook",
)
LIMIT = 900  # seconds for one process
# The controllers of kube-controller-manager that `Workloads` does not simulate.
CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
)
# What the suites import.
REQUIREMENTS = (
    *("certbuilder", "freezegun", "kmock", "kubernetes-validate", "lightkube-models", "looptime"),
    *("pykube-ng", "pytest", "pytest-aiohttp", "pytest-asyncio", "pytest-mock"),
    *("pytest-rerunfailures", "pytest-timeout", "trio"),
)
_CONFIGURATION = """\
from {package}.client.configuration import Configuration
from {package}.config import load_kube_config


def get_e2e_configuration():
    configuration = Configuration()
    {load}
    return configuration
"""
_LOAD = "load_kube_config(client_configuration=configuration)"


class CannotRun(Exception):
    """Something that a suite needs is missing; the text says what."""


@dataclass(frozen=True)
class PythonPeer:
    """A Python package and those of its tests that need a cluster."""

    name: str
    version: str
    tests: Sequence[str]
    arguments: Sequence[str] = ()
    checkout: Sequence[str] = ()  # folders that only the repository has
    prepare: Callable[[Path], None] | None = None


@dataclass
class Outcome:
    """What became of each test of one run."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        counts = len(self.passed), len(self.failed), len(self.skipped)
        return "{} passed, {} failed, {} skipped".format(*counts)


def _add_configuration(*packages: str) -> Callable[[Path], None]:
    """Write the module that reads the kubeconfig; it is in the repository only."""

    def prepare(source: Path) -> None:
        for package in packages:
            folder = source.joinpath(*package.split("."), "e2e_test")
            if not (folder / "base.py").exists():
                folder.mkdir(exist_ok=True)
                (folder / "__init__.py").touch()
                load = _LOAD if package == "kubernetes" else f"__import__('asyncio').run({_LOAD})"
                (folder / "base.py").write_text(_CONFIGURATION.format(package=package, load=load))

    return prepare


PYTHON_PEERS = (
    PythonPeer(
        "kubernetes",
        "37.0.2",
        (
            "kubernetes/dynamic/test_client.py",
            "kubernetes/dynamic/test_discovery.py",
            "kubernetes/aio/dynamic/client_test.py",
            "kubernetes/aio/dynamic/discovery_test.py",
            "kubernetes/e2e_test",
            "kubernetes/aio/e2e_test",
        ),
        checkout=("kubernetes/e2e_test", "kubernetes/aio/e2e_test"),
        prepare=_add_configuration("kubernetes", "kubernetes.aio"),
    ),
    PythonPeer(
        "kubernetes_asyncio",
        "36.1.0",
        (
            "kubernetes_asyncio/dynamic/client_test.py",
            "kubernetes_asyncio/dynamic/discovery_test.py",
            "kubernetes_asyncio/e2e_test",
        ),
        checkout=("kubernetes_asyncio/e2e_test",),
        prepare=_add_configuration("kubernetes_asyncio"),
    ),
    PythonPeer("lightkube", "1.0.1", ("e2e-tests",), checkout=("e2e-tests",)),
    PythonPeer(
        "kopf",
        "1.45.2",
        ("tests/e2e", "examples"),
        (
            *("--only-e2e", "--confcutdir=.", "-p", "looptime", "-o", "log_level=DEBUG"),
            # Its settings make unclosed sockets errors; on a busy machine the event loop of kopf
            # may end before a TLS connection is closed.
            *("-W", "ignore::pytest.PytestUnraisableExceptionWarning"),
        ),
    ),
    PythonPeer("kr8s", "0.20.15", ("kr8s/tests",), ("-p", "pytest_kind")),
)
NAMES = ("controller-runtime", *(peer.name for peer in PYTHON_PEERS))
SERVERS = ("embedded", "kube-apiserver")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suites; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--server", choices=SERVERS, help="run on this one only")
    parser.add_argument("--checkouts", type=Path, help="the folder of repositories")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    servers = (options.server,) if options.server else SERVERS
    results = [_run_suite(name, servers, options.checkouts) for name in options.names or NAMES]
    return max(results)


def _run_suite(name: str, servers: Sequence[str], checkouts: Path | None) -> int:
    """Run one suite on each server and print the result; returns its exit code."""
    outcomes: dict[str, Outcome] = {}
    try:
        for server in servers:
            print(f"{name}: running on {server}", file=sys.stderr, flush=True)
            outcomes[server] = _run(name, server, checkouts)
        embedded = outcomes.get("embedded", Outcome())
        if embedded.failed and name == "controller-runtime":
            again = run_controller_runtime("embedded", embedded.failed)
            for test in sorted(embedded.failed & again.passed):
                print(f"{name}: FLAKY {test}", flush=True)
                embedded.failed.discard(test)
                embedded.passed.add(test)
    except CannotRun as error:
        print(f"{name}: cannot run: {error}", flush=True)
        return 2
    for server, outcome in outcomes.items():
        print(f"{name} on {server}: {outcome}", flush=True)
        for test in sorted(outcome.failed):
            print(f"    failed: {test}", flush=True)
    if len(outcomes) < len(SERVERS):
        return int(bool(embedded.failed))
    only = sorted(embedded.failed & outcomes["kube-apiserver"].passed)
    print(f"{name}: failed only on the embedded server: {len(only)}", flush=True)
    for test in only:
        print(f"    {test}", flush=True)
    return int(bool(only))


def _run(name: str, server: str, checkouts: Path | None) -> Outcome:
    if name == "controller-runtime":
        return run_controller_runtime(server)
    (peer,) = [each for each in PYTHON_PEERS if each.name == name]
    return run_python(peer, server, checkouts)


def cache() -> Path:
    """The folder of sources, programs and reports."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root, "kubeloop", "peers")


# --- controller-runtime


def run_controller_runtime(server: str, only: Collection[str] | None = None) -> Outcome:
    """Run the specs of every package; with `only`, of the packages of these specs."""
    source = _go_source()
    outcome = Outcome()
    with _launchers(server) as folder:
        for package in GO_PACKAGES:
            if only is not None and not any(each.startswith(f"{package}: ") for each in only):
                continue
            report = folder / "report.json"
            report.unlink(missing_ok=True)
            _run_program(
                [str(_test_program(source, package)), f"-ginkgo.json-report={report}"],
                cwd=source / "pkg" / package,
                env={**os.environ, "KUBEBUILDER_ASSETS": str(folder)},
                log=cache() / f"{package.replace('/', '-')}-{server}.log",
            )
            if not report.exists():
                raise CannotRun(f"the tests of {package} wrote no report (see {cache()})")
            add_specs(outcome, package, json.loads(report.read_bytes()))
    return outcome


def add_specs(outcome: Outcome, package: str, suites: Sequence[Mapping[str, object]]) -> None:
    """Add the specs of a report of ginkgo."""
    states = {"passed": outcome.passed, "skipped": outcome.skipped, "pending": outcome.skipped}
    for suite in suites:
        specs = suite["SpecReports"]
        assert isinstance(specs, list)
        for spec in specs:
            names = [*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]]
            if spec["LeafNodeType"] == "It":
                label = f"{package}: {' '.join(names)}"
                states.get(spec["State"], outcome.failed).add(label)
            elif spec["State"] not in states:  # a BeforeSuite: no spec has run
                outcome.failed.add(f"{package}: {spec['LeafNodeType']}")


def _go_source() -> Path:
    """A writable copy of the module: tests write beside their files."""
    target = cache() / f"controller-runtime-{CONTROLLER_RUNTIME}"
    if target.exists():
        return target
    if shutil.which("go") is None:
        raise CannotRun("Go is not installed")
    cache().mkdir(parents=True, exist_ok=True)
    module = f"sigs.k8s.io/controller-runtime@{CONTROLLER_RUNTIME}"
    ended = subprocess.run(
        ["go", "mod", "download", "-json", module], stdout=subprocess.PIPE, check=False, cwd=cache()
    )
    found = json.loads(ended.stdout or "{}")
    if "Dir" not in found:
        raise CannotRun(f"{module} cannot be downloaded: {found.get('Error', 'no network?')}")
    copy = target.with_suffix(".new")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(found["Dir"], copy, copy_function=shutil.copyfile)
    for path in [copy, *copy.rglob("*")]:  # the module cache is read-only
        path.chmod(0o755 if path.is_dir() or path.suffix == ".sh" else 0o644)
    return copy.rename(target)


def _test_program(source: Path, package: str) -> Path:
    program = source / "bin" / f"{package.replace('/', '-')}.test"
    if not program.exists():
        print(f"controller-runtime: compiling {package}", file=sys.stderr, flush=True)
        command = ["go", "test", "-c", "-o", str(program), f"./pkg/{package}"]
        if subprocess.run(command, cwd=source, check=False).returncode:
            raise CannotRun(f"the tests of {package} cannot be compiled")
    return program


@contextlib.contextmanager
def _launchers(server: str) -> Iterator[Path]:
    """A folder with `kube-apiserver`, `etcd` and `kubectl`; ends what they leave running.

    Some suites of controller-runtime do not stop their control plane.
    """
    assets = _assets()
    folder = cache() / f"launchers-{os.getpid()}"
    folder.mkdir(parents=True)
    started = folder / "started"
    started.touch()
    try:
        for name in ("etcd", "kube-apiserver"):
            command = f"'{sys.executable}' '{TOOLS / 'envtest_server.py'}' {name}"
            if server != "embedded":
                command = f"'{assets / name}'"
            path = folder / name
            path.write_text(f"#!/bin/sh\necho $$ >> '{started}'\nexec {command} \"$@\"\n")
            path.chmod(0o755)
        (folder / "kubectl").symlink_to(assets / "kubectl")
        yield folder
    finally:
        for process in map(int, started.read_text().split()):
            _kill_if_left(process)
        shutil.rmtree(folder)


def _kill_if_left(process: int) -> None:
    with contextlib.suppress(OSError):  # it has ended
        # Another process may have its number by now.
        command = Path(f"/proc/{process}/cmdline").read_bytes()
        if b"k8s_test_framework_" in command:
            os.kill(process, signal.SIGKILL)


# --- Python


def run_python(peer: PythonPeer, server: str, checkouts: Path | None) -> Outcome:
    """Run the tests of a Python package that need a cluster."""
    source = _python_source(peer, checkouts)
    tests = [each for each in peer.tests if (source / each).exists()]
    if not tests:
        raise CannotRun(f"its tests are not in the archive (--checkouts FOLDER with {peer.name}/)")
    python = _environment()
    report = cache() / f"{peer.name}-{server}.xml"
    report.unlink(missing_ok=True)

    async def run() -> None:
        async with _cluster(server) as kubeconfig:
            await asyncio.to_thread(
                _run_program,
                [
                    *(str(python), "-m", "pytest", "-q", f"--junitxml={report}"),
                    *("-o", "addopts=", "-o", "asyncio_mode=auto", "--timeout=40"),
                    *("-p", "no:cacheprovider", *peer.arguments, *tests),
                ],
                cwd=source,
                env=_variables(source, kubeconfig),
                log=report.with_suffix(".log"),
            )

    asyncio.run(run())
    if not report.exists():
        raise CannotRun(f"pytest wrote no report (see {report.with_suffix('.log')})")
    return read_report(report)


def read_report(report: Path) -> Outcome:
    """What a report of pytest says."""
    outcome = Outcome()
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            outcome.failed.add(name)
        else:
            (outcome.skipped if "skipped" in kinds else outcome.passed).add(name)
    outcome.passed -= outcome.failed  # a teardown that fails is a second entry
    return outcome


def _variables(source: Path, kubeconfig: Path) -> dict[str, str]:
    """The environment of a suite: its own sources first, the kubeconfig, kubectl."""
    home = kubeconfig.parent  # some read ~/.kube/config, whatever KUBECONFIG is
    return {
        "PATH": f"{_environment().parent}:{_assets()}:{os.environ['PATH']}",
        "PYTHONPATH": f"{source}:{TOOLS / 'peer_shims'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        "KUBECONFIG": str(kubeconfig),
    }


@contextlib.asynccontextmanager
async def _cluster(server: str) -> AsyncIterator[Path]:
    """A cluster in which pods run; the value is its kubeconfig, as ~/.kube/config."""
    running: APIServer | ControlPlane = APIServer(rbac=True)
    if server != "embedded":
        running = ControlPlane(controllers=CONTROLLERS)
    home = cache() / f"home-{os.getpid()}"
    kubeconfig = home / ".kube" / "config"
    async with running, Workloads(running.config):
        await _create_objects(running)
        kubeconfig.parent.mkdir(parents=True)
        kubeconfig.touch(mode=0o600)
        kubeconfig.write_text(_kubeconfig(running), encoding="utf-8")
        try:
            yield kubeconfig
        finally:
            shutil.rmtree(home)


async def _create_objects(server: APIServer | ControlPlane) -> None:
    """What every cluster has, and some tests expect: an account, and pods of the system."""
    client = server.client()
    if isinstance(server, APIServer):  # no controller creates it
        account = ServiceAccount(metadata=ObjectMeta(name="default"))
        await client.core_v1.service_accounts("default").create(account)
    pod = Pod(
        metadata=ObjectMeta(name="system"),
        spec=PodSpec(containers=[Container(name="main", image="pause")]),
    )
    await client.core_v1.pods("kube-system").create(pod)


def _kubeconfig(server: APIServer | ControlPlane) -> str:
    """With a client certificate on both servers, as most clusters have."""
    if isinstance(server, ControlPlane):
        return server.kubeconfig()
    pair = server.service.client_certificate("kubernetes-admin", ("system:masters",))
    return kubeconfig_text(server.url, ca=server.service.ca, pair=pair)


def _python_source(peer: PythonPeer, checkouts: Path | None) -> Path:
    """The unpacked archive, with the folders of a checkout that it lacks."""
    target = cache() / f"{peer.name}-{peer.version}"
    if not target.exists():
        cache().mkdir(parents=True, exist_ok=True)
        _pip(
            "download", "--quiet", "--no-deps", f"--no-binary={peer.name}",
            f"--dest={cache()}", f"{peer.name}=={peer.version}",
        )  # fmt: skip
        with tarfile.open(cache() / f"{peer.name}-{peer.version}.tar.gz") as archive:
            archive.extractall(cache(), filter="data")
    for folder in peer.checkout:
        given = checkouts / peer.name / folder if checkouts is not None else None
        if given is not None and given.exists():
            shutil.copytree(given, target / folder, dirs_exist_ok=True)
    if peer.prepare is not None:
        peer.prepare(target)
    return target


def _environment() -> Path:
    """The interpreter of a virtual environment with all Python peers."""
    pins = [f"{peer.name}=={peer.version}" for peer in PYTHON_PEERS]
    folder, stamp = cache() / "venv", cache() / "venv" / "installed"
    wanted = " ".join([*pins, *REQUIREMENTS])
    python = folder / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installing the Python clients", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        _pip("install", "--quiet", *pins, *REQUIREMENTS, python=python)
        stamp.write_text(wanted)
    return python


def _pip(*arguments: str, python: Path = Path(sys.executable)) -> None:
    if subprocess.run([str(python), "-m", "pip", *arguments], check=False).returncode:
        raise CannotRun(f"pip {arguments[0]} failed (no network?)")


# --- common


def _assets() -> Path:
    try:
        return assets_folder()
    except Exception as error:
        raise CannotRun(str(error)) from error


def _run_program(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> None:
    """Run a program for at most `LIMIT` seconds; its exit code does not matter, its report does."""
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, cwd=cwd, env=env, stdout=output, stderr=output, start_new_session=True
        ) as process,
    ):
        try:
            process.wait(LIMIT)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise CannotRun(f"not finished after {LIMIT} s (see {log})") from None
            raise


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
