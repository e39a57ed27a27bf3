"""Exploring: bugs are found, shrunk and reported, and the command of the report repeats them."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kubeloop import Client
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import SimulationFailed, World, simulate
from kubeloop_testing.simulation.scenarios import Fault, Scenario
from kubeloop_testing.simulation.simulate import Simulation

pytestmark = pytest.mark.timeout(120)  # worker processes start

ROOT = Path(__file__).parents[5]


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


async def make_worker(config: ClusterConfig) -> None:
    """Creates two objects, and forgets the second after a crash between them."""
    async with Client(config) as client:
        configs = client.resource(ConfigMap, namespace="default")
        if not (await configs.list()).items:
            await configs.create(config_map("first"))
            await configs.create(config_map("second"))
        await asyncio.Event().wait()


async def make_fixed(config: ClusterConfig) -> None:
    async with Client(config) as client:
        for name in ("first", "second"):
            await client.apply(config_map(name))
        await asyncio.Event().wait()


@simulate(runs=30, workers=1)
async def buggy(world: World) -> None:
    world.run(make_worker)
    await world.settle()


@simulate(runs=12, workers=1)
async def fixed(world: World, name: str = "fixed") -> None:
    world.run(make_fixed, name=name)
    await world.settle()


def simulation_of(test: Any) -> Simulation:
    simulation: Simulation = test.simulation
    return simulation


def run_command(command: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "python"
    return subprocess.run(
        [sys.executable, *words[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def test_a_bug_is_found_shrunk_and_reported_and_its_command_repeats_it() -> None:
    with pytest.raises(SimulationFailed) as caught:
        buggy()

    report = str(caught.value)
    assert "end state: missing at the end: configmaps default/second" in report
    assert "crashes after write 1 of worker (create configmaps default/first)" in report
    (command,) = [line.strip() for line in report.splitlines() if "--scenario" in line]
    assert "'seed=0 crash-after@worker#1'" in command

    ended = run_command(command)

    assert ended.returncode == 1, ended.stderr
    shown = ended.stdout.splitlines()
    assert shown[-1] == "end state: missing at the end: configmaps default/second"
    assert all(line in report for line in shown), "the same timeline, to the millisecond"


def test_a_scenario_with_more_faults_than_needed_is_shrunk() -> None:
    simulation = simulation_of(buggy)
    crash = Fault("crash-after", "worker", number=1)
    useless = Fault("cut-watches", "worker", by="test", number=9)

    alone = simulation.explore(scenario=Scenario(0, (crash, useless)))

    assert alone.failure is not None
    assert alone.failure.oracle == "end state"
    assert alone.failure.faults == (crash, useless), "one scenario is executed as it is"
    assert alone.runs == 2

    found = simulation.explore().failure
    assert found is not None
    assert found.faults == (crash,)


def test_a_fixed_program_passes_and_the_coverage_says_what_was_tried() -> None:
    found = simulation_of(fixed).explore()

    assert found.failure is None
    assert found.runs == 12
    assert found.virtual > 12 * 60
    assert found.coverage.startswith("2 writes of the processes: crashed before ")
    assert "crash" in found.coverage
    tried = [(each.write.text, each.before, each.after) for each in found.crash_points]
    assert tried == [
        ("apply configmaps default/first", True, True),
        ("apply configmaps default/second", True, True),
    ]


def test_without_the_class_of_faults_that_it_needs_a_bug_is_not_found() -> None:
    @simulate(runs=3, faults=["unobserved"], workers=1)
    async def other(world: World) -> None:
        world.run(make_worker)

    simulation = simulation_of(other)
    simulation.test = simulation_of(buggy).test  # a test of this module, which a worker can import

    assert simulation.explore().failure is None


def test_the_replay_of_a_parametrized_test_takes_its_arguments() -> None:
    target = f"{Path(__file__).relative_to(ROOT)}::fixed"
    arguments = "--arguments \"{'name': 'renamed'}\""

    ended = run_command(f"python -m kubeloop_testing.simulation {target} {arguments}")

    assert ended.returncode == 0, ended.stderr
    assert "renamed  process    starts (1)" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "the run did not fail"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("test_explorer.py::nothing", "there is no such simulated test"),
        ("test_explorer.py::fixed --scenario seed", "it starts with seed=NUMBER"),
        ("missing.py::fixed", "missing.py"),
    ],
)
def test_a_replay_of_something_else_is_an_error(arguments: str, reason: str) -> None:
    folder = Path(__file__).parent.relative_to(ROOT)

    ended = run_command(f"python -m kubeloop_testing.simulation {folder}/{arguments}")

    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("replay ")
    assert reason in ended.stderr


def test_unknown_classes_of_faults_are_rejected() -> None:
    with pytest.raises(InvalidArgument, match="unknown classes"):
        simulate(faults=["fire"])(simulation_of(buggy).test)
