"""Nothing leaves a simulated run: judged on the other side, by a listener and a marker file."""

# ruff: noqa: ASYNC221, ASYNC240, ASYNC251 - blocking calls are what is tried

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes
import msgspec
import pytest

from kubeloop import Client, ClusterConfig
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import World, simulate
from kubeloop_testing.simulation.explorer import Workers
from kubeloop_testing.simulation.scenarios import Failure, Scenario
from kubeloop_testing.simulation.sealing import NotSimulated, sealed
from kubeloop_testing.simulation.worker import Job

from .ways_out import WAYS_OUT

pytestmark = pytest.mark.timeout(120)  # worker processes start

NAMES = list(WAYS_OUT)


class Outside:
    """What a way out would reach."""

    def __init__(self, folder: Path) -> None:
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.tcp.getsockname()[1])
        self.udp = socket.socket(type=socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.marker = folder / "marker"

    def arrivals(self) -> list[str]:
        names = ["a file"] if os.path.lexists(self.marker) else []
        for name, sock in (("a connection", self.tcp), ("a datagram", self.udp)):
            if select.select([sock], [], [], 0)[0]:
                names.append(name)
        return names

    def close(self) -> None:
        self.tcp.close()
        self.udp.close()


@simulate(runs=1)
async def takes_a_way_out(world: World, port: int, marker: str) -> None:
    """Takes the way whose number is the seed, and catches what it raises."""

    async def leave(_: ClusterConfig) -> None:
        with contextlib.suppress(Exception):
            result = WAYS_OUT[NAMES[world.scenario.seed]](port, Path(marker))
            if inspect.isawaitable(result):
                await result
        await asyncio.Event().wait()

    world.run(leave, name="program")
    await world.settle()


def job_of(test: Any, **arguments: Any) -> Job:
    job: Job = test.simulation.job(arguments)
    return job


def kubeconfig(port: int) -> str:
    cluster = {"name": "real", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "real", "context": {"cluster": "real", "user": "real"}}
    value = {"current-context": "real", "clusters": [cluster], "contexts": [context]}
    return msgspec.json.encode({**value, "users": [{"name": "real", "user": {}}]}).decode()


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """A listener to which KUBECONFIG, the pod's variables and the proxy lead."""
    folder = tmp_path_factory.mktemp("outside")
    made = Outside(folder)
    (folder / "config").write_text(kubeconfig(made.port))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(folder / "config"))
        patch.setenv("HTTP_PROXY", f"http://127.0.0.1:{made.port}")
        patch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        patch.setenv("KUBERNETES_SERVICE_PORT", str(made.port))
        yield made
    made.close()


@pytest.fixture(scope="module")
def leaving(outside: Outside) -> Iterator[Workers]:
    job = job_of(takes_a_way_out, port=outside.port, marker=str(outside.marker))
    with Workers(job, 1) as workers:
        yield workers


@pytest.mark.parametrize("way", NAMES)
def test_a_way_out_reaches_nothing_and_fails_the_run_even_if_its_error_is_caught(
    leaving: Workers, outside: Outside, way: str
) -> None:
    result = leaving.run(Scenario(NAMES.index(way)))

    assert outside.arrivals() == []
    assert result.failure is not None
    assert result.failure.oracle == "sealed"
    assert ": a simulation has no " in result.failure.message
    assert f"{Path(__file__).parent}{os.sep}" in result.failure.message, "the user's line"


def test_outside_of_a_run_nothing_is_refused(tmp_path: Path) -> None:
    refusals: list[Failure] = []
    with (
        sealed(refusals.append),
        pytest.raises(NotSimulated, match="run true: a simulation has no"),
    ):
        subprocess.run(["true"], check=True)

    assert subprocess.run(["true"], check=False).returncode == 0
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    assert len(refusals) == 1


# --- what a run has in place of the real things


async def make_by_kubeconfig(_: ClusterConfig) -> None:
    """A program that finds its cluster by itself."""
    async with Client() as client:
        await client.apply(ConfigMap(metadata=ObjectMeta(name="here", namespace="default")))
        await asyncio.Event().wait()


@simulate(runs=2)
async def finds_its_cluster(world: World) -> None:
    world.run(make_by_kubeconfig)
    await world.settle()
    assert [each.metadata.name for each in world.objects(ConfigMap)] == ["here"]
    kubernetes.config.load_kube_config()
    host = kubernetes.client.Configuration.get_default_copy().host
    assert host == "http://kubernetes.simulation.invalid:6443"
    assert os.environ["KUBERNETES_SERVICE_HOST"] == "kubernetes.simulation.invalid"
    assert (
        Path("~/.kube/config").expanduser().read_text()
        == Path(os.environ["KUBECONFIG"]).read_text()
    )
    assert "HTTP_PROXY" not in os.environ


def test_a_kubeconfig_leads_to_the_simulated_server_and_to_nothing_else(outside: Outside) -> None:
    finds_its_cluster()

    assert outside.arrivals() == []


@simulate(runs=3)
async def test_a_run_has_a_folder_for_its_files_which_no_other_run_has_used(world: World) -> None:
    for folder in (Path.home(), Path(tempfile.gettempdir())):
        file = folder / "notes.txt"
        assert not file.exists()
        file.write_text("mine")
    with tempfile.TemporaryDirectory() as made:
        Path(made, "a").mkdir()
    handler = logging.FileHandler(Path.home() / "run.log")
    handler.close()


@simulate(runs=1, allow=["run tr*"])
async def test_calls_that_the_test_allows_by_name_are_permitted(world: World) -> None:
    assert subprocess.run(["true"], check=False).returncode == 0


# --- loops that catch everything, and calls that do not return


async def make_stubborn(_: ClusterConfig) -> None:
    while True:  # time.sleep moves the virtual time: nothing else ever runs
        with contextlib.suppress(Exception):
            socket.create_connection(("127.0.0.1", 9))
        time.sleep(5)


async def make_more_stubborn(_: ClusterConfig) -> None:
    while True:
        with contextlib.suppress(BaseException):
            socket.create_connection(("127.0.0.1", 9))


async def make_busy(_: ClusterConfig) -> None:
    while True:
        pass


async def make_blocked(_: ClusterConfig) -> None:
    reader, _writer = os.pipe()
    os.read(reader, 1)


PROGRAMS = [make_stubborn, make_more_stubborn, make_busy, make_blocked]


@simulate(runs=1)
async def does_not_return(world: World) -> None:
    world.run(PROGRAMS[world.scenario.seed])
    await world.settle()


@pytest.fixture(scope="module")
def never_returning() -> Iterator[Workers]:
    job = msgspec.structs.replace(job_of(does_not_return), cpu=1.0)
    with Workers(job, 1) as workers:
        yield workers


@pytest.mark.parametrize(
    ("program", "oracle", "message"),
    [
        (make_stubborn, "sealed", "connect to 127.0.0.1:9: a simulation has no socket"),
        (make_more_stubborn, "sealed", "connect to 127.0.0.1:9: a simulation has no socket"),
        (make_busy, "settles", "the run took more than 1 s of CPU, the last at"),
        (make_blocked, "settles", "the run was blocked at"),
    ],
)
def test_a_run_that_does_not_return_is_ended_and_reported_with_its_line(
    never_returning: Workers, program: Any, oracle: str, message: str
) -> None:
    failure = never_returning.run(Scenario(PROGRAMS.index(program))).failure

    assert failure is not None
    assert failure.oracle == oracle
    assert message in failure.message
    lines, first = inspect.getsourcelines(program)
    places = [f"{__file__}:{first + number}" for number in range(len(lines))]
    assert any(place in failure.message for place in places)


def test_a_run_that_waits_for_the_machine_is_not_blocked_by_its_limit_of_cpu() -> None:
    """Real time that passes without CPU, as on a busy machine, does not count."""
    job = msgspec.structs.replace(job_of(waits_for_the_machine), cpu=1.0)
    with Workers(job, 1) as workers:
        assert workers.run(Scenario(0)).failure is None


@simulate(runs=1)
async def waits_for_the_machine(world: World) -> None:
    select.select([], [], [], 1.5)
