"""ExpirationCache: expired objects are never returned."""

from __future__ import annotations

import pytest

from kubeloop.cache import ExpirationCache, older_than
from kubeloop.kit import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def cache(clock: ManualClock) -> ExpirationCache[str, str]:
    return ExpirationCache(lambda text: text[0], expired=older_than(10), clock=clock)


async def test_an_object_is_valid_for_its_ttl(
    cache: ExpirationCache[str, str], clock: ManualClock
) -> None:
    """CCH-93, CCH-C33: at exactly that age it is still valid."""
    cache.add("apple")
    await clock.advance(10)
    at_the_end = cache.get("a"), cache.list()
    await clock.advance(0.001)

    assert at_the_end == ("apple", ["apple"])
    assert cache.get("a") is None


async def test_without_a_time_to_live_nothing_expires(clock: ManualClock) -> None:
    """CCH-93: zero or less means never."""
    for ttl in (0, -5):
        cache = ExpirationCache(str, expired=older_than(ttl), clock=clock)
        cache.add("apple")
        await clock.advance(10**9)

        assert cache.list() == ["apple"]


async def test_an_expired_object_is_removed_when_it_is_read(
    cache: ExpirationCache[str, str], clock: ManualClock
) -> None:
    """CCH-93: until then keys() contains it."""
    cache.add("apple")
    cache.add("berry")
    await clock.advance(11)
    named = cache.keys()

    assert sorted(named) == ["a", "b"]
    assert cache.get("a") is None
    assert cache.keys() == ["b"]
    assert cache.list() == []
    assert cache.stats().expired == 2
    assert len(cache) == 0


async def test_adding_an_object_again_renews_it(
    cache: ExpirationCache[str, str], clock: ManualClock
) -> None:
    """CCH-93: the timestamp is refreshed."""
    cache.add("apple")
    await clock.advance(8)
    cache.update("avocado")
    await clock.advance(8)

    assert cache.list() == ["avocado"]


async def test_a_replacement_is_of_one_age(
    cache: ExpirationCache[str, str], clock: ManualClock
) -> None:
    """CCH-93: all objects are added at one time."""
    cache.add("apple")
    await clock.advance(8)
    cache.replace(["berry", "cherry"])
    await clock.advance(10)
    before = sorted(cache.list())
    await clock.advance(1)

    assert before == ["berry", "cherry"]
    assert cache.list() == []


def test_deleting_what_is_not_there_is_no_error(cache: ExpirationCache[str, str]) -> None:
    cache.add("apple")
    cache.delete("anything")
    cache.delete("berry")
    cache.resync()

    assert cache.keys() == []


def test_the_expiration_policy_decides(clock: ManualClock) -> None:
    """CCH-93: the policy decides by the object and its age."""
    cache = ExpirationCache(str, expired=lambda text, _: text == "milk", clock=clock)
    cache.replace(["milk", "honey"])

    assert cache.list() == ["honey"]
