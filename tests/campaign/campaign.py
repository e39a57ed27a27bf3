"""Runs faults and writes in an order that a seed decides.

Guarantees: the same seed is the same campaign; every kind of fault occurs once before any
occurs again. SOAK_FAULTS is the number of faults (40), SOAK_SEED the seed (0).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from random import Random

from .faults import Fault, may_nest
from .scenario import Scenario

__all__ = ["FAULTS", "SEED", "order", "run_campaign"]

FAULTS = int(os.environ.get("SOAK_FAULTS", "40"))
SEED = int(os.environ.get("SOAK_SEED", "0"))


def order(kinds: Iterable[str], *, count: int, seed: int) -> list[str]:
    """`count` kinds of faults: all of them in random order, then again in another order."""
    random, deck = Random(seed), sorted(kinds)
    found: list[str] = []
    while len(found) < count:
        found += random.sample(deck, len(deck))
    return found[:count]


async def run_campaign(
    scenario: Scenario, faults: Mapping[str, Fault], kinds: Sequence[str], *, seed: str
) -> None:
    """One fault after the other, with writes before, during and after it."""
    for number, kind in enumerate(kinds):
        random = Random(f"{seed} {number} {kind}")
        try:
            await scenario.write(random, most=4)
            async with AsyncExitStack() as stack:
                for each in _at_once(kind, faults, random):
                    await stack.enter_async_context(faults[each](scenario, random))
                await scenario.write(random, most=4)
            await scenario.write(random, most=2)
            await scenario.wait_until_consistent()
        except BaseException as error:
            error.add_note(f"seed {seed}: in fault {number} of {', '.join(kinds[: number + 1])}")
            raise


def _at_once(kind: str, faults: Mapping[str, Fault], random: Random) -> list[str]:
    """The fault, and sometimes another one inside it."""
    inner = random.choice(sorted(faults))
    return [kind, inner] if random.random() < 0.25 and may_nest(kind, inner) else [kind]
