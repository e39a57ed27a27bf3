"""Ten thousand faults in virtual time: caches, controllers, elections and queues stay correct.

Faults of every kind that the simulation and the embedded server have, several at a time. After
each group of faults the informer's cache and the story of its handlers equal the server's
objects; the controller has done its work, reconciled no key twice at once and seen its own
writes; one replica leads, never two, and none writes after its own deadline; no key of a queue
is lost. TLS, rotated credentials and real sockets are in tests/campaign.

SOAK_FAULTS is the number of faults of a real campaign (40); there are 250 simulated ones for
each. SOAK_SEED is the first seed (0).
See also: `chaos` (the faults), `campaign_runs` (what is disturbed).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import pytest

from kubeloop_testing.simulation.explorer import Workers, default_workers
from kubeloop_testing.simulation.scenarios import Scenario

from .campaign_runs import FAULTS_PER_RUN, SUBJECTS, campaign_run
from .chaos import FAULTS

SIMULATED = 250 * int(os.environ.get("SOAK_FAULTS", "40"))
SEED = int(os.environ.get("SOAK_SEED", "0"))
PARTS = 20
RUNS = -(-SIMULATED // (PARTS * FAULTS_PER_RUN))  # of each part

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(60 + SIMULATED / 20)]


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Processes for the runs, each of which is a fork."""
    with Workers(campaign_run.simulation.job({}), default_workers()) as running:  # type: ignore[attr-defined]
        yield running


@pytest.mark.parametrize("part", range(PARTS))
def test_after_any_faults_nothing_is_lost_and_nothing_happens_twice(
    workers: Workers, part: int
) -> None:
    """X-1, X-2, X-7: outages, expired versions and crashes, 10,000 faults in all parts."""
    seeds = range(SEED + part * RUNS, SEED + (part + 1) * RUNS)
    runs = {seed: workers.submit(Scenario(seed)) for seed in seeds}
    results = {seed: each.result() for seed, each in runs.items()}

    failures = {seed: each.failure for seed, each in results.items() if each.failure is not None}
    assert not failures, _replay(failures)
    assert sum(each.fired for each in results.values()) >= RUNS * FAULTS_PER_RUN


def test_every_part_of_the_campaign_disturbs_every_subject_with_every_fault() -> None:
    assert len(SUBJECTS) <= RUNS
    assert len(FAULTS) * 3 < FAULTS_PER_RUN


def _replay(failures: Mapping[int, object]) -> str:
    command = "python -m kubeloop_testing.simulation packages/kubeloop-testing/tests/testing/simulation/campaign_runs.py"
    return "\n".join(
        f"{command}::campaign_run --scenario seed={seed}: {failure}"
        for seed, failure in failures.items()
    )
