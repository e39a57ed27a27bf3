"""RealFIFO: every delta by itself, in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import pytest

from kubeloop.cache import (
    Delta,
    DeltaType,
    Entry,
    EntryCodec,
    Indexer,
    QueueClosed,
    RealFIFO,
    Requeue,
)
from kubeloop.cache.delta_queue import MAX_BATCH
from kubeloop.kit import ManualClock
from tests.cache.objects import entry, key


def known_objects(*names: str) -> Indexer[dict[str, object]]:
    store: Indexer[dict[str, object]] = Indexer(EntryCodec(dict))
    for name in names:
        store.add(entry(name))
    return store


def nothing(_: Sequence[Delta], __: bool) -> None:
    pass


def popped(queue: RealFIFO, *, at_most: int = 1) -> list[str]:
    """What each pop gives, as `Added a` or `Added a+Added b`."""
    found = []
    while (batch := queue.pop_nowait(nothing, at_most=at_most)) is not None:
        found.append("+".join(_text(delta) for delta in batch.deltas))
    return found


def _text(delta: Delta) -> str:
    unknown = "" if delta.last_state_known else "?"
    return f"{delta.type}{unknown} {delta.key.name}".strip()


def test_every_delta_is_popped_by_itself_in_order() -> None:
    """CCH-29, CCH-30, CCH-C10: three changes of one object are three pops."""
    queue = RealFIFO()
    queue.add(entry("a", version="1"))
    queue.add(entry("b"))
    queue.update(entry("a", version="2"))
    queue.delete(entry("a", version="3"))

    assert popped(queue) == ["Added a", "Added b", "Updated a", "Deleted a"]


def test_a_batch_ends_before_a_key_that_is_in_it() -> None:
    """CCH-30, CCH-C10: a1 and b1, and not a2."""
    queue = RealFIFO()
    for name in ("a", "b", "a", "c"):
        queue.add(entry(name))

    assert popped(queue, at_most=MAX_BATCH) == ["Added a+Added b", "Added a+Added c"]


def test_a_delta_of_the_whole_collection_is_a_batch_of_its_own() -> None:
    """CCH-30: ReplacedAll, SyncAll and Bookmark."""
    queue = RealFIFO()
    queue.add(entry("a"))
    queue.resync()
    queue.bookmark("7")
    queue.add(entry("b"))
    queue.add(entry("c"))
    queue.replace([entry("a")], "9")

    assert popped(queue, at_most=MAX_BATCH) == [
        "Added a",
        "SyncAll",
        "Bookmark",
        "Added b+Added c",
        "ReplacedAll",
    ]


def test_a_batch_has_at_most_a_thousand() -> None:
    """CCH-30: even if more are requested."""
    queue = RealFIFO()
    for number in range(MAX_BATCH + 1):
        queue.add(entry(f"p{number}"))

    sizes = [len(text.split("+")) for text in popped(queue, at_most=MAX_BATCH * 2)]

    assert sizes == [1000, 1]


def test_a_batch_ends_with_the_first_list() -> None:
    """CCH-30: never beyond the initial population."""
    queue = RealFIFO(known_objects())
    queue.replace([entry("a"), entry("b")], "1")
    queue.add(entry("c"))
    queue.add(entry("d"))

    assert popped(queue, at_most=MAX_BATCH) == ["Replaced a+Replaced b", "Added c+Added d"]


def test_has_synced_after_the_first_list_was_processed() -> None:
    """CCH-31: counted down after processing, and the last one is still initial."""
    queue = RealFIFO(known_objects("gone"))
    queue.replace([entry("a")], "1")
    queue.add(entry("b"))
    seen: list[tuple[bool, bool]] = []

    for _ in range(3):
        queue.pop_nowait(lambda _, initial: seen.append((initial, queue.has_synced)))

    assert seen == [(True, False), (True, False), (False, True)]
    assert queue.has_synced


def test_a_list_one_by_one_queues_missed_deletes_first() -> None:
    """CCH-32: queued keys, unless deleted already; then known keys; then the list."""
    store = known_objects("stored", "both", "listed")
    queue = RealFIFO(store)
    queue.add(entry("queued", version="5"))
    queue.delete(entry("deleted"))
    queue.update(entry("both", version="6"))

    queue.replace([entry("listed"), entry("new")], "9")

    assert popped(queue)[3:] == [
        "Deleted? queued",
        "Deleted? both",
        "Deleted? stored",
        "Replaced listed",
        "Replaced new",
    ]


def test_a_tombstone_has_the_last_known_state() -> None:
    """CCH-32, CCH-C12: of the queue first, else of the store."""
    store = known_objects("stored", "both")
    queue = RealFIFO(store)
    newer = entry("both", version="6")
    queue.update(newer)
    queue.replace([], "9")

    queue.pop_nowait(nothing)
    seen: list[Delta] = []
    while queue.pop_nowait(lambda deltas, _: seen.extend(deltas)):
        pass

    assert [(each.key.name, each.entry) for each in seen] == [
        ("both", newer),
        ("stored", store.entry(key("stored"))),
    ]


def test_an_atomic_list_is_one_item() -> None:
    """CCH-32: with the version and the objects; the consumer finds the missing ones."""
    queue = RealFIFO()
    listed = [entry("a"), entry("b")]

    queue.replace(listed, "9")

    batch = queue.pop_nowait(nothing)
    assert batch is not None
    (delta,) = batch.deltas
    assert (delta.type, delta.version, list(delta.entries)) == (DeltaType.REPLACED_ALL, "9", listed)
    assert batch.is_initial


def test_an_empty_atomic_list_is_processed_before_it_counts_as_synced() -> None:
    """CCH-33, CCH-C8, V-7: one ReplacedAll, initial, and synced after it."""
    queue = RealFIFO()
    queue.replace([], "1")
    before = queue.has_synced

    batch = queue.pop_nowait(nothing)

    assert not before
    assert batch is not None
    assert batch.is_initial
    assert [delta.type for delta in batch.deltas] == [DeltaType.REPLACED_ALL]
    assert queue.has_synced


def test_an_empty_list_one_by_one_is_synced_at_once() -> None:
    """CCH-33, CCH-C8: there is nothing to process."""
    queue = RealFIFO(known_objects())
    queue.replace([], "1")

    assert queue.has_synced


def test_a_new_queue_is_not_synced_and_is_after_an_add() -> None:
    """CCH-31, CCH-C8: an add populates it."""
    queue = RealFIFO()
    before = queue.has_synced
    queue.add(entry("a"))

    assert (before, queue.has_synced) == (False, True)


def test_resync_one_by_one_skips_keys_with_deltas() -> None:
    """CCH-34, CCH-C9: an atomic one is one delta in any case."""
    single, atomic = RealFIFO(known_objects("a", "b")), RealFIFO()
    for queue in (single, atomic):
        queue.update(entry("a"))
        queue.resync()

    assert popped(single) == ["Updated a", "Sync b"]
    assert popped(atomic) == ["Updated a", "SyncAll"]


def test_a_delete_of_an_unknown_object_is_queued() -> None:
    """CCH-35: where a DeltaFIFO drops it."""
    queue = RealFIFO(known_objects())
    queue.delete(entry("a"))
    queue.missed_delete(key("b"), None)

    assert popped(queue) == ["Deleted a", "Deleted? b"]


def test_bookmarks_are_for_atomic_queues() -> None:
    """CCH-36: others ignore them."""
    single, atomic = RealFIFO(known_objects()), RealFIFO()
    for queue in (single, atomic):
        queue.bookmark("7")

    assert (popped(single), popped(atomic)) == ([], ["Bookmark"])


def test_a_queue_is_atomic_unless_it_knows_the_store() -> None:
    """CCH-38: no combination of options is invalid, because there is only one option."""
    assert RealFIFO().is_atomic
    assert not RealFIFO(known_objects()).is_atomic


async def test_producers_continue_while_deltas_are_processed() -> None:
    """CCH-37: the consumer holds no lock."""
    queue = RealFIFO()
    queue.add(entry("a"))
    working, go_on = asyncio.Event(), asyncio.Event()

    async def process(_: Sequence[Delta], __: bool) -> None:
        working.set()
        await go_on.wait()

    popping = asyncio.create_task(queue.pop(process))
    await working.wait()
    queue.add(entry("b"))
    go_on.set()
    await popping

    assert popped(queue) == ["Added b"]


async def test_slow_processing_is_logged_when_deltas_are_queued(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """CCH-39: more than 100 ms, with more than ten queued."""
    clock = ManualClock()
    queue = RealFIFO(clock=clock)
    caplog.set_level(logging.INFO)
    for number in range(12):
        queue.add(entry(f"p{number}"))

    async def slow(_: Sequence[Delta], __: bool) -> None:
        await clock.sleep(0.2)

    for _ in range(2):
        popping = asyncio.create_task(queue.pop(slow))
        await clock.advance(0.2)
        await popping

    assert [record.getMessage() for record in caplog.records] == [
        "shop/p0: processing took 0.20 s, 11 deltas are queued"
    ]


async def test_a_batch_is_slow_if_each_of_its_deltas_is(caplog: pytest.LogCaptureFixture) -> None:
    """CCH-39: 100 ms for each delta, 1 s at most."""
    clock = ManualClock()
    caplog.set_level(logging.INFO)
    logged = []
    for seconds in (0.9, 1.1):
        queue = RealFIFO(clock=clock)
        for number in range(40):
            queue.add(entry(f"p{number}"))

        async def slow(_: Sequence[Delta], __: bool, seconds: float = seconds) -> None:
            await clock.sleep(seconds)

        popping = asyncio.create_task(queue.pop(slow, at_most=20))
        await clock.advance(2)
        await popping
        logged.append(len(caplog.records))

    assert logged == [0, 1]


def test_a_batch_that_could_not_be_processed_is_put_back_in_front() -> None:
    """CCH-29, CCH-31: the order stays, and it does not count as processed."""
    queue = RealFIFO(known_objects())
    queue.replace([entry("a"), entry("b")], "1")
    queue.add(entry("c"))

    def not_now(_: Sequence[Delta], __: bool) -> None:
        raise Requeue from RuntimeError("not now")

    with pytest.raises(RuntimeError, match="not now"):
        queue.pop_nowait(not_now, at_most=MAX_BATCH)

    assert queue.stats().initial_left == 2
    assert queue.stats().requeued == 1
    assert popped(queue) == ["Replaced a", "Replaced b", "Added c"]


def test_an_error_in_processing_is_raised_and_counts_as_processed() -> None:
    """CCH-21, CCH-31: as in client-go, an error does not requeue."""
    queue = RealFIFO()
    queue.replace([], "1")

    def failing(_: Sequence[Delta], __: bool) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        queue.pop_nowait(failing)

    assert queue.has_synced
    assert len(queue) == 0


def test_a_transform_sees_what_is_queued_but_not_tombstones_and_syncs() -> None:
    """CCH-25: the same for both queues."""
    seen: list[str] = []

    def transform(given: Entry) -> Entry:
        seen.append(given.key.name)
        if given.key.name == "bad":
            raise RuntimeError("no")
        return given

    queue = RealFIFO(transform=transform)
    queue.add(entry("added"))
    queue.delete(entry("deleted"))
    queue.missed_delete(key("missed"), entry("missed"))
    queue.replace([entry("listed")], "1")
    waiting = len(queue)
    with pytest.raises(RuntimeError, match="no"):
        queue.replace([entry("listed"), entry("bad")], "2")

    assert seen == ["added", "deleted", "listed", "listed", "bad"]
    assert len(queue) == waiting


async def test_a_closed_queue_returns_its_rest_and_then_raises() -> None:
    """CCH-26, CCH-C11: QueueClosed when it is empty."""
    queue = RealFIFO()
    queue.add(entry("a"))
    queue.close()

    await queue.pop(nothing)

    with pytest.raises(QueueClosed):
        await queue.pop(nothing)


def test_stats_count_queued_and_taken_deltas() -> None:
    queue = RealFIFO()
    queue.add(entry("a"))
    queue.update(entry("a"))
    queue.resync()
    queue.pop_nowait(nothing)

    stats = queue.stats()

    assert (stats.deltas, stats.keys, stats.added, stats.taken) == (2, 1, 3, 1)
    assert (stats.has_synced, stats.closed) == (True, False)


def test_a_delta_that_finds_an_idle_queue_may_bypass_it() -> None:
    """CCH-29: the order is the same on both ways; the first list is always queued."""
    bypassed: list[str] = []

    def at_once(delta: Delta) -> bool:
        bypassed.append(_text(delta))
        return True

    queue = RealFIFO(bypass=at_once)
    queue.replace([entry("a")], "7")
    queue.update(entry("a", version="8"))
    assert (bypassed, popped(queue)) == ([], ["ReplacedAll", "Updated a"])

    queue.update(entry("a", version="9"))
    queue.delete(entry("a", version="10"))

    assert bypassed == ["Updated a", "Deleted a"]
    assert len(queue) == 0
    assert (queue.stats().added, queue.stats().taken) == (4, 4)


def test_a_delta_that_did_not_bypass_the_queue_holds_back_all_that_follow() -> None:
    bypassed: list[str] = []

    def at_once(delta: Delta) -> bool:
        bypassed.append(_text(delta))
        return delta.key.name != "b"

    queue = RealFIFO(bypass=at_once)
    queue.replace([], "7")
    popped(queue)
    for name in "abc":
        queue.add(entry(name))

    assert bypassed == ["Added a", "Added b"]
    assert popped(queue) == ["Added b", "Added c"]


def test_nothing_overtakes_a_batch_in_flight() -> None:
    def at_once(delta: Delta) -> bool:
        return delta.type is not DeltaType.SYNC_ALL

    def work(_: Sequence[Delta], __: bool) -> None:
        queue.add(entry("a"))

    queue = RealFIFO(bypass=at_once)
    queue.replace([], "7")
    popped(queue)
    queue.resync()
    queue.pop_nowait(work)

    assert popped(queue) == ["Added a"]
