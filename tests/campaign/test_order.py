"""The same campaign for the same seed, and every fault in it."""

from __future__ import annotations

from collections import Counter

from .campaign import order
from .faults import EMBEDDED, NETWORK

KINDS = [*NETWORK, *EMBEDDED]


def test_the_same_seed_is_the_same_campaign_and_another_is_another() -> None:
    assert order(KINDS, count=100, seed=7) == order(reversed(KINDS), count=100, seed=7)
    assert order(KINDS, count=100, seed=7) != order(KINDS, count=100, seed=8)


def test_every_kind_of_fault_comes_once_before_any_comes_again() -> None:
    found = order(KINDS, count=3 * len(KINDS), seed=0)

    assert Counter(found[: len(KINDS)]) == Counter(KINDS)
    assert set(Counter(found).values()) == {3}
