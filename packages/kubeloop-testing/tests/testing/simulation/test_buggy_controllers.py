"""The simulation finds the bugs of `examples/buggy`, and finds nothing in their fixed twins."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from examples.buggy import test_bugs
from kubeloop_testing import simulate
from kubeloop_testing.simulation.explorer import Exploration
from kubeloop_testing.simulation.scenarios import DEFAULT_CLASSES

FOLDER = Path(test_bugs.__file__).parent
RUNS = int(os.environ.get("SOAK_RUNS", "50"))  # of a fixed controller; `make soak`: 1,000
CONTROL_RUNS = 25  # without the faults that a bug needs

pytestmark = pytest.mark.timeout(120 + 2 * RUNS)  # seconds, on a busy machine


class Bug(NamedTuple):
    """A row of the table in the README of the examples."""

    name: str
    faults: frozenset[str]  # any of these classes is enough
    oracle: str


def table() -> list[Bug]:
    lines = (FOLDER / "README.md").read_text("utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| [")]
    return [
        Bug(row[0][1:].partition(".py]")[0], frozenset(row[2].split(", ")) - {"none"}, row[3])
        for row in rows
    ]


BUGS = table()


def explore(name: str, module: ModuleType, **options: Any) -> Exploration:
    """Explore the test of a controller, with the factory of one of its modules."""
    test = getattr(test_bugs, f"test_{name}").simulation.test
    factory = getattr(module, "make_manager", None) or module.main
    simulated: Any = simulate(**options)(test)
    found: Exploration = simulated.simulation.explore({"factory": factory})
    return found


def buggy(bug: Bug) -> ModuleType:
    return importlib.import_module(f"examples.buggy.{bug.name}")


def test_the_table_has_every_controller() -> None:
    files = {each.stem for each in FOLDER.glob("*.py")} - {"kinds", "test_bugs"}

    assert {bug.name for bug in BUGS} == files == {each.stem for each in FOLDER.glob("fixed/*.py")}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_found_with_default_settings_by_its_oracle_with_few_faults(bug: Bug) -> None:
    found = explore(bug.name, buggy(bug))

    assert found.failure is not None, found.coverage
    assert found.failure.oracle == bug.oracle, found.failure.message
    assert len(found.failure.faults) <= 2
    assert bool(found.failure.faults) == bool(bug.faults)
    assert {fault.group for fault in found.failure.faults} <= bug.faults
    assert found.cpu < 60


@pytest.mark.parametrize("bug", [each for each in BUGS if each.faults], ids=lambda bug: bug.name)
def test_a_bug_is_not_found_without_the_faults_that_it_needs(bug: Bug) -> None:
    others = [each for each in DEFAULT_CLASSES if each not in bug.faults]

    found = explore(bug.name, buggy(bug), runs=CONTROL_RUNS, faults=others)

    assert found.failure is None, found.failure.message


@pytest.mark.campaign
@pytest.mark.parametrize("name", [bug.name for bug in BUGS])
def test_a_fixed_controller_passes_every_run(name: str) -> None:
    fixed = importlib.import_module(f"examples.buggy.fixed.{name}")

    found = explore(name, fixed, runs=RUNS, seconds=2.0 * RUNS)

    assert found.failure is None, f"{found.failure.message}\n{found.failure.scenario}"
    assert found.runs == RUNS
