"""Whatever the embedded server does to an informer, over real HTTPS: nothing is lost."""

from __future__ import annotations

import gc

import pytest

from kubeloop.testing.threads import LoopThread

from .campaign import FAULTS, SEED, live_through, order
from .faults import EMBEDDED, LINE, Embedded
from .leftovers import all_that_is_open
from .world import world_at

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(60 + FAULTS)]

RUNS = 20


def slices() -> list[list[str]]:
    """The whole campaign in equal parts, one for each life of a server."""
    each = -(-FAULTS // RUNS)
    kinds = order([*LINE, *EMBEDDED], count=each * RUNS, seed=SEED)
    return [kinds[start : start + each] for start in range(0, len(kinds), each)]


@pytest.mark.parametrize(
    ("run", "kinds"), list(enumerate(slices())), ids=[f"part {number}" for number in range(RUNS)]
)
async def test_after_each_fault_the_cache_is_what_a_fresh_list_says_and_nothing_is_left(
    place: Embedded, thread: LoopThread, run: int, kinds: list[str]
) -> None:
    """X-1, X-2, X-3, X-7."""
    gc.collect()
    before = all_that_is_open()

    async with world_at(place, thread=thread) as world:
        await live_through(world, place.all(), kinds, seed=f"{SEED}.{run}")

    await world.leaves_nothing(since=before)
