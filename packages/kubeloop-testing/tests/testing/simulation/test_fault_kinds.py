"""Every kind of fault happens, and a correct controller survives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bench.simulated import sample_run
from kubeloop_testing.simulation.explorer import Workers
from kubeloop_testing.simulation.oracles import judge
from kubeloop_testing.simulation.scenarios import KINDS, Fault, RunResult, Scenario

pytestmark = pytest.mark.timeout(60)  # a worker process starts

# What a kind needs beside its target and a write.
DETAILS: dict[str, dict[str, Any]] = {
    "crash": {"number": 0, "at": 1.5},
    "error": {"code": 500},
    "late-watch": {"seconds": 30.0},
    "stale-list": {"resource": "deployments"},
    "unobserved": {"seconds": 20.0, "resource": "deployments"},
    "partition": {"seconds": 40.0},
    "slow-network": {"seconds": 1.0},
    "lost-lease": {"seconds": 60.0},
    "pause": {"seconds": 45.0},
    "second-replica": {"number": 0},
}


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    simulated: Any = sample_run
    with Workers(simulated.simulation.job({}), 1) as started:
        yield started


@pytest.fixture(scope="module")
def undisturbed(workers: Workers) -> RunResult:
    return workers.run(Scenario(0))


@pytest.mark.parametrize("kind", [each for each in KINDS if each != "clock-skew"])
def test_a_fault_of_each_kind_happens_and_the_sample_controller_survives_it(
    workers: Workers, undisturbed: RunResult, kind: str
) -> None:
    fault = Fault(kind, "manager", **{"number": 2, **DETAILS.get(kind, {})})

    result = workers.run(Scenario(0, (fault,)))

    assert result.fired == 1
    assert result.digest != undisturbed.digest
    assert judge(result, undisturbed) is None


def test_a_skewed_wall_clock_changes_what_a_process_writes(
    workers: Workers, undisturbed: RunResult
) -> None:
    result = workers.run(Scenario(0, (Fault("clock-skew", "manager", seconds=3600.0),)))

    assert result.digest != undisturbed.digest
    assert judge(result, undisturbed) is None
