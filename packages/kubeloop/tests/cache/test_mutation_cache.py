"""MutationCache: your own writes, visible at once."""

from __future__ import annotations

import pytest

from kubeloop.cache import EntryCodec, Indexer, MutationCache, UnknownIndex
from kubeloop.cache.mutation_cache import MAX_WRITES, TTL
from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import key, pod


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store() -> Indexer[Pod]:
    return Indexer(EntryCodec(Pod), {"node": "spec.nodeName"})


@pytest.fixture
def cache(store: Indexer[Pod], clock: ManualClock) -> MutationCache[Pod]:
    return MutationCache(store, include_adds=True, clock=clock)


def hold(store: Indexer[Pod], text: bytes) -> None:
    store.add(store.codec.parse(text))


def write(cache: MutationCache[Pod], text: bytes) -> None:
    cache.mutation(Pod.from_json(text))


def version(cache: MutationCache[Pod], name: str = "web") -> str | None:
    found = cache.get(key(name))
    return found.metadata.resource_version if found else None


def test_the_newer_of_store_and_write_is_returned(
    store: Indexer[Pod], cache: MutationCache[Pod]
) -> None:
    """CCH-96: versions compare as numbers."""
    hold(store, pod("web", version="9"))
    write(cache, pod("web", version="10"))

    assert version(cache) == "10"


def test_a_write_is_forgotten_once_the_store_has_caught_up(
    store: Indexer[Pod], cache: MutationCache[Pod]
) -> None:
    """CCH-96: an equal version is enough."""
    write(cache, pod("web", version="10"))
    hold(store, pod("web", version="10"))

    assert version(cache) == "10"
    assert cache.stats().written == 0


def test_an_object_that_is_not_stored_is_returned_only_with_include_adds(
    store: Indexer[Pod],
) -> None:
    """CCH-96: include_adds."""
    shy, bold = MutationCache(store), MutationCache(store, include_adds=True)
    for cache in (shy, bold):
        write(cache, pod("web", version="10"))

    assert (version(shy), version(bold)) == (None, "10")


async def test_a_write_is_forgotten_after_a_while(
    store: Indexer[Pod], cache: MutationCache[Pod], clock: ManualClock
) -> None:
    """CCH-96: five minutes."""
    hold(store, pod("web", version="1"))
    write(cache, pod("web", version="2"))
    await clock.advance(TTL)
    at_the_end = version(cache)
    await clock.advance(1)

    assert (TTL, at_the_end, version(cache)) == (300, "2", "1")


def test_the_least_used_write_is_forgotten_when_there_are_too_many(
    store: Indexer[Pod], cache: MutationCache[Pod]
) -> None:
    """CCH-96: more than a hundred."""
    for number in range(MAX_WRITES):
        hold(store, pod(f"p{number}", version="1"))
        write(cache, pod(f"p{number}", version="2"))
    assert version(cache, "p0") == "2"
    write(cache, pod("one-more", version="2"))

    assert MAX_WRITES == 100
    assert (version(cache, "p0"), version(cache, "p1")) == ("2", "1")


def test_a_write_that_is_older_than_a_known_one_is_ignored(cache: MutationCache[Pod]) -> None:
    """CCH-97: responses may overtake each other."""
    write(cache, pod("web", version="10"))
    write(cache, pod("web", version="9"))

    assert version(cache) == "10"
    assert cache.stats().ignored == 1


def test_a_watch_event_replaces_a_write_that_is_not_newer(
    store: Indexer[Pod], cache: MutationCache[Pod]
) -> None:
    """CCH-97: OnAddOrUpdate."""
    write(cache, pod("web", version="10"))
    cache.on_update(store.codec.parse(pod("web", version="9")))
    kept = version(cache)
    cache.on_update(store.codec.parse(pod("web", version="10")))

    assert (kept, version(cache)) == ("10", None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (pod("web", uid="old", version="20"), None),
        (pod("web", uid="new", version="10"), None),
        (pod("web", uid="new", version="11"), "11"),
    ],
    ids=["the same uid", "not newer", "created again"],
)
def test_a_late_response_does_not_restore_a_deleted_object(
    store: Indexer[Pod], cache: MutationCache[Pod], text: bytes, found: str | None
) -> None:
    """CCH-97: the delete is remembered; a new object of that name is returned."""
    write(cache, pod("web", uid="old", version="5"))
    cache.on_delete(store.codec.parse(pod("web", uid="old", version="10")))

    write(cache, text)

    assert version(cache) == found


def test_a_late_delete_does_not_hide_the_new_object(
    store: Indexer[Pod], cache: MutationCache[Pod]
) -> None:
    """CCH-97: recreated already, with a new uid and a newer version."""
    write(cache, pod("web", uid="new", version="12"))

    cache.on_delete(store.codec.parse(pod("web", uid="old", version="10")))

    assert version(cache) == "12"


def test_a_delete_is_forgotten_when_the_watch_delivers_the_new_object(
    store: Indexer[Pod], cache: MutationCache[Pod]
) -> None:
    """CCH-97: OnAddOrUpdate."""
    cache.on_delete(store.codec.parse(pod("web", uid="old", version="10")))
    cache.on_update(store.codec.parse(pod("web", uid="new", version="12")))

    assert cache.stats().deleted == 0


def test_an_index_includes_the_writes(store: Indexer[Pod], cache: MutationCache[Pod]) -> None:
    """CCH-97: those that have the value now, and not those that had it."""
    hold(store, pod("stays", node="n1", version="1"))
    hold(store, pod("leaves", node="n1", version="1"))
    write(cache, pod("leaves", node="n2", version="2"))
    write(cache, pod("comes", node="n1", version="2"))

    found = sorted(each.metadata.name for each in cache.by_index("node", "n1"))

    assert found == ["comes", "stays"]


def test_an_index_that_does_not_exist_is_an_error(cache: MutationCache[Pod]) -> None:
    """CCH-97: ByIndex needs one."""
    with pytest.raises(UnknownIndex):
        cache.by_index("nod", "n1")


def test_a_version_that_is_not_a_number_is_rejected(cache: MutationCache[Pod]) -> None:
    """CCH-97: a programming error."""
    with pytest.raises(InvalidArgument, match="abc"):
        write(cache, pod("web", version="abc"))
