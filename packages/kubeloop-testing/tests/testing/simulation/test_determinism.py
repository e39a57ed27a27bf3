"""The same seed gives the same bytes on the network, in every process and with any hash seed.

SOAK_FAULTS is the number of seeds if it is more than 50 (`make soak`: 1,000).
See also: `campaign_runs` (the runs of our own code), `bench.simulated` (a controller with workloads).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from bench.simulated import sample_run
from kubeloop_testing.simulation.explorer import Workers
from kubeloop_testing.simulation.scenarios import Fault, Scenario

from .campaign_runs import short_run

SEEDS = max(50, int(os.environ.get("SOAK_FAULTS", "0")))
PARTS = 10
HASH_SEEDS = (1, 20_260)

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(60 + SEEDS)]


def _pair(test: Any) -> Iterator[tuple[Workers, Workers]]:
    job = test.simulation.job({})
    one, other = (Workers(job, 1, hash_seed=each) for each in HASH_SEEDS)
    with one, other:
        yield one, other


@pytest.fixture(scope="module")
def of_our_own() -> Iterator[tuple[Workers, Workers]]:
    yield from _pair(short_run)


@pytest.fixture(scope="module")
def of_the_sample() -> Iterator[tuple[Workers, Workers]]:
    yield from _pair(sample_run)


def _digests(pair: tuple[Workers, Workers], scenarios: list[Scenario]) -> list[list[str]]:
    running = [[workers.submit(each) for each in scenarios] for workers in pair]
    results = [[each.result() for each in of_one] for of_one in running]
    for result in results[0]:
        assert result.failure is None, result.failure
    return [[each.digest for each in of_one] for of_one in results]


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_seed_gives_the_same_bytes_in_another_process_with_another_hash_seed(
    of_our_own: tuple[Workers, Workers], part: int
) -> None:
    scenarios = [Scenario(seed) for seed in range(part, SEEDS, PARTS)]

    one, other = _digests(of_our_own, scenarios)

    assert one == other


def test_the_same_scenario_of_a_controller_with_workloads_gives_the_same_bytes(
    of_the_sample: tuple[Workers, Workers],
) -> None:
    faults = [
        (),
        (Fault("crash-after", "manager", number=2), Fault("second-replica", "manager")),
        (Fault("partition", "manager", number=1, seconds=40.0),),
        (Fault("unobserved", "manager", number=2, seconds=20.0, resource="deployments"),),
    ]
    scenarios = [Scenario(seed, each) for seed, each in enumerate(faults)]

    one, other = _digests(of_the_sample, scenarios)

    assert one == other


def test_other_seeds_give_other_bytes(of_the_sample: tuple[Workers, Workers]) -> None:
    (one, two), _ = _digests(of_the_sample, [Scenario(1), Scenario(2)])

    assert one != two
