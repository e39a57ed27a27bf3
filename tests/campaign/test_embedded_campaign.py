"""Any faults of the embedded server, over real HTTPS: the informer loses no change."""

from __future__ import annotations

import gc

import pytest

from kubeloop_testing.threads import LoopThread

from .campaign import FAULTS, SEED, order, run_campaign
from .faults import EMBEDDED, NETWORK, Embedded
from .leftovers import open_resources
from .scenario import scenario_at

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(60 + FAULTS)]

RUNS = 20


def slices() -> list[list[str]]:
    """The whole campaign in equal parts, one for each server."""
    each = -(-FAULTS // RUNS)
    kinds = order([*NETWORK, *EMBEDDED], count=each * RUNS, seed=SEED)
    return [kinds[start : start + each] for start in range(0, len(kinds), each)]


@pytest.mark.parametrize(
    ("run", "kinds"), list(enumerate(slices())), ids=[f"part {number}" for number in range(RUNS)]
)
async def test_after_each_fault_the_cache_is_what_a_fresh_list_says_and_nothing_is_left(
    cluster: Embedded, thread: LoopThread, run: int, kinds: list[str]
) -> None:
    """X-1, X-2, X-3, X-7: outages, expired versions, rotation and leftovers."""
    gc.collect()
    before = open_resources()

    async with scenario_at(cluster, thread=thread) as scenario:
        await run_campaign(scenario, cluster.all(), kinds, seed=f"{SEED}.{run}")

    await scenario.wait_until_closed(since=before)
