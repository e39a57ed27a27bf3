"""DeltaFIFO: deltas by key."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from kubeloop.cache import (
    Batch,
    Delta,
    DeltaFIFO,
    DeltaType,
    Entry,
    EntryCodec,
    Indexer,
    QueueClosed,
    Requeue,
)
from kubeloop.cache.entry import missed_delete
from tests.cache.objects import entry, key


def known_objects(*names: str) -> Indexer[dict[str, object]]:
    store: Indexer[dict[str, object]] = Indexer(EntryCodec(dict))
    for name in names:
        store.add(entry(name))
    return store


def nothing(_: Sequence[Delta], __: bool) -> None:
    pass


def popped(queue: DeltaFIFO) -> list[Batch]:
    found = []
    while (batch := queue.pop_nowait(nothing)) is not None:
        found.append(batch)
    return found


def deltas_by_key(batches: list[Batch]) -> list[tuple[str, list[str]]]:
    """Keys and delta types; a delete whose last state is unknown is marked."""
    return [
        (
            batch.deltas[0].key.name,
            [f"{d.type}{'' if d.last_state_known else '?'}" for d in batch.deltas],
        )
        for batch in batches
    ]


def test_a_key_is_queued_once_in_the_order_of_its_first_delta() -> None:
    """CCH-18: deltas are collected by key, in order."""
    queue = DeltaFIFO()
    queue.add(entry("a"))
    queue.add(entry("b"))
    queue.update(entry("a", version="2"))

    assert len(queue) == 2
    assert deltas_by_key(popped(queue)) == [("a", ["Added", "Updated"]), ("b", ["Added"])]


def test_an_add_and_a_delete_are_popped_together() -> None:
    """CCH-C4: one Deltas with both."""
    queue = DeltaFIFO()
    queue.add(entry("a"))
    queue.delete(entry("a"))

    assert deltas_by_key(popped(queue)) == [("a", ["Added", "Deleted"])]


def test_adds_and_updates_are_never_merged() -> None:
    """CCH-19: only deletes are."""
    queue = DeltaFIFO()
    for _ in range(2):
        queue.add(entry("a"))
        queue.update(entry("a"))
        queue.update(entry("a"))

    assert deltas_by_key(popped(queue)) == [("a", ["Added", "Updated", "Updated"] * 2)]


@pytest.mark.parametrize("object_first", [True, False])
def test_of_two_deletes_the_one_with_the_final_state_stays(object_first: bool) -> None:
    """CCH-19, CCH-C5: in either order."""
    queue = DeltaFIFO(known_objects("a"))
    final = entry("a", version="9")

    if object_first:
        queue.delete(final)
    queue.missed_delete(key("a"), None)
    if not object_first:
        queue.delete(final)

    (batch,) = popped(queue)
    assert batch.deltas == [Delta(DeltaType.DELETED, key("a"), final)]


def test_of_two_deletes_with_a_final_state_the_older_stays() -> None:
    """CCH-19: the older is no tombstone, so it stays."""
    queue = DeltaFIFO(known_objects("a"))
    queue.delete(entry("a", version="1"))
    queue.delete(entry("a", version="2"))

    (batch,) = popped(queue)
    assert [delta.entry and delta.entry.version for delta in batch.deltas] == ["1"]


def test_only_deletes_side_by_side_become_one() -> None:
    """CCH-19: the last two are compared, no others."""
    queue = DeltaFIFO(known_objects("a"))
    queue.delete(entry("a"))
    queue.add(entry("a"))
    queue.delete(entry("a"))

    assert deltas_by_key(popped(queue)) == [("a", ["Deleted", "Added", "Deleted"])]


def test_a_delete_of_an_unknown_object_is_dropped() -> None:
    """CCH-20: known neither to the queue nor to the store."""
    queue = DeltaFIFO(known_objects("stored"))
    queue.add(entry("queued"))
    for name in ("unknown", "queued", "stored"):
        queue.delete(entry(name))

    assert deltas_by_key(popped(queue)) == [
        ("queued", ["Added", "Deleted"]),
        ("stored", ["Deleted"]),
    ]


def test_without_known_objects_only_queued_ones_can_be_deleted() -> None:
    """CCH-20: the queue is all there is to compare with."""
    queue = DeltaFIFO()
    queue.delete(entry("a"))
    queue.missed_delete(key("a"), None)

    assert popped(queue) == []
    assert queue.has_synced


async def test_pop_waits_until_something_is_queued() -> None:
    """CCH-21: and passes it to the process function, once."""
    queue = DeltaFIFO()
    seen: list[Sequence[Delta]] = []

    async def process(deltas: Sequence[Delta], _: bool) -> None:
        seen.append(deltas)

    popping = asyncio.create_task(queue.pop(process))
    await asyncio.sleep(0)
    assert not popping.done()
    queue.add(entry("a"))

    batch = await popping
    assert seen == [batch.deltas]
    assert len(queue) == 0


async def test_a_pop_that_is_cancelled_while_it_waits_loses_nothing() -> None:
    """X-7: and leaves nothing behind."""
    queue = DeltaFIFO()
    popping = asyncio.create_task(queue.pop(nothing))
    await asyncio.sleep(0)
    queue.add(entry("a"))
    popping.cancel()
    await asyncio.wait([popping])

    assert popping.cancelled()
    assert deltas_by_key(popped(queue)) == [("a", ["Added"])]


def test_an_error_in_processing_is_raised_and_does_not_requeue() -> None:
    """CCH-21: the deltas are gone."""
    queue = DeltaFIFO()
    queue.add(entry("a"))

    with pytest.raises(RuntimeError, match="no"):
        queue.pop_nowait(failing)

    assert len(queue) == 0


def failing(_: Sequence[Delta], __: bool) -> None:
    raise RuntimeError("no")


def requeueing(_: Sequence[Delta], __: bool) -> None:
    raise Requeue from RuntimeError("not now")


async def test_a_process_function_can_put_its_deltas_back() -> None:
    """CCH-21: before later deltas of the key; the error is raised."""
    queue = DeltaFIFO()
    queue.replace([entry("a"), entry("b")], "1")

    def newer_meanwhile(deltas: Sequence[Delta], initial: bool) -> None:
        queue.update(entry("a", version="2"))
        requeueing(deltas, initial)

    with pytest.raises(RuntimeError, match="not now"):
        await queue.pop(newer_meanwhile)
    with pytest.raises(RuntimeError, match="not now"):
        await queue.pop(requeueing)

    assert not queue.has_synced
    assert queue.stats().requeued == 2
    assert deltas_by_key(popped(queue)) == [("a", ["Replaced", "Updated"]), ("b", ["Replaced"])]
    assert queue.has_synced


@pytest.mark.parametrize(("emit_replaced", "listed"), [(True, "Replaced"), (False, "Sync")])
def test_a_list_queues_its_objects_and_deletes_of_missing_ones(
    emit_replaced: bool, listed: str
) -> None:
    """CCH-22, CCH-C6: known foo, bar, baz; baz is deleted; the list has foo."""
    store = known_objects("foo", "bar", "baz")
    queue = DeltaFIFO(store, emit_replaced=emit_replaced)
    queue.delete(entry("baz", version="9"))

    queue.replace([entry("foo")], "10")

    batches = popped(queue)
    assert deltas_by_key(batches) == [
        ("baz", ["Deleted"]),
        ("foo", [listed]),
        ("bar", ["Deleted?"]),
    ]
    assert batches[2].deltas[0].entry == store.entry(key("bar"))


def test_a_list_that_misses_what_is_only_queued_deletes_it() -> None:
    """CCH-22, CCH-C7: the tombstone has the newest queued object."""
    queue = DeltaFIFO(known_objects())
    queue.add(entry("baz", version="5"))

    queue.replace([entry("foo")], "10")

    batches = popped(queue)
    assert deltas_by_key(batches) == [("baz", ["Added", "Deleted?"]), ("foo", ["Replaced"])]
    last = batches[0].deltas[-1].entry
    assert last is not None
    assert last.version == "5"


def test_a_tombstone_in_a_tombstone_is_unwrapped() -> None:
    """CCH-22: the last known state stays the same."""
    queue = DeltaFIFO(known_objects("a"))
    seen = entry("a", version="5")
    queue.missed_delete(key("a"), seen)

    queue.replace([], "10")

    (batch,) = popped(queue)
    assert batch.deltas == [Delta(DeltaType.DELETED, key("a"), seen, last_state_known=False)]


def test_a_lookup_that_fails_leads_to_a_tombstone_without_an_object() -> None:
    """CCH-22: null if the lookup fails."""

    class Forgetful:
        def keys(self) -> list[object]:
            return [key("gone")]

        def entry(self, _: object) -> Entry | None:
            return None

    queue = DeltaFIFO(Forgetful())  # type: ignore[arg-type] # a store that has lost its mind

    queue.replace([], "1")

    (batch,) = popped(queue)
    assert batch.deltas == [Delta(DeltaType.DELETED, key("gone"), None, last_state_known=False)]


def test_resync_queues_objects_without_deltas() -> None:
    """CCH-23, CCH-C9: pending keys are skipped."""
    store = known_objects("a", "b")
    queue = DeltaFIFO(store)
    queue.update(entry("a"))

    queue.resync()

    batches = popped(queue)
    assert deltas_by_key(batches) == [("a", ["Updated"]), ("b", ["Sync"])]
    assert batches[1].deltas[0].entry == store.entry(key("b"))


def test_resync_and_bookmarks_without_known_objects_do_nothing() -> None:
    """CCH-23: there is nothing to queue."""
    queue = DeltaFIFO()
    queue.resync()
    queue.bookmark("7")

    assert popped(queue) == []


def test_has_synced_after_the_first_list_was_taken() -> None:
    """CCH-24, CCH-C8: nothing is not synced; an add is; a list once it is taken."""
    empty, with_add, with_none, with_two = (DeltaFIFO() for _ in range(4))
    with_add.add(entry("a"))
    with_none.replace([], "1")
    with_two.replace([entry("a"), entry("b")], "1")

    seen = [with_two.has_synced]
    for _ in range(2):
        with_two.pop_nowait(nothing)
        seen.append(with_two.has_synced)
    with_two.replace([entry("c")], "2")

    assert not empty.has_synced
    assert with_add.has_synced
    assert with_none.has_synced
    assert seen == [False, False, True]
    assert with_two.has_synced


def test_deletes_found_by_the_first_list_belong_to_it() -> None:
    """CCH-24: the count is the list's keys and the deletions queued with it."""
    queue = DeltaFIFO(known_objects("gone"))
    queue.replace([entry("a"), entry("a")], "1")

    assert queue.stats().initial_left == 2
    queue.pop_nowait(nothing)
    assert not queue.has_synced
    queue.pop_nowait(nothing)
    assert queue.has_synced


def test_synced_is_decided_before_processing() -> None:
    """CCH-24, CCH-27: the last of the list is still initial, and by then the queue is synced."""
    queue = DeltaFIFO()
    queue.replace([entry("a"), entry("b")], "1")
    queue.add(entry("c"))
    seen: list[tuple[bool, bool]] = []

    for _ in range(3):
        queue.pop_nowait(lambda _, initial: seen.append((initial, queue.has_synced)))

    assert seen == [(True, False), (True, True), (False, True)]


def test_a_transform_sees_what_is_queued_but_not_tombstones_and_syncs() -> None:
    """CCH-25: also the final state of a delete."""
    seen: list[str] = []

    def transform(given: Entry) -> Entry:
        seen.append(given.key.name)
        return given

    queue = DeltaFIFO(known_objects("stored", "gone"), transform=transform)
    queue.add(entry("added"))
    queue.update(entry("updated"))
    queue.delete(entry("added"))
    queue.missed_delete(key("updated"), entry("updated"))
    queue.resync()
    queue.replace([entry("listed"), entry("stored")], "1")

    assert seen == ["added", "updated", "added", "listed", "stored"]


def test_a_transform_that_fails_queues_nothing() -> None:
    """CCH-25: the error goes to the producer; of a list nothing is queued either."""

    def transform(given: Entry) -> Entry:
        if given.key.name == "bad":
            raise RuntimeError("no")
        return given

    queue = DeltaFIFO(transform=transform)
    with pytest.raises(RuntimeError, match="no"):
        queue.add(entry("bad"))
    with pytest.raises(RuntimeError, match="no"):
        queue.replace([entry("good"), entry("bad")], "1")

    assert len(queue) == 0


async def test_closing_wakes_the_consumer() -> None:
    """CCH-26: with QueueClosed."""
    queue = DeltaFIFO()
    popping = asyncio.create_task(queue.pop(nothing))
    await asyncio.sleep(0)

    queue.close()

    with pytest.raises(QueueClosed):
        await popping


async def test_the_rest_of_a_closed_queue_can_be_popped() -> None:
    """CCH-26, CCH-C11: only an empty one raises."""
    queue = DeltaFIFO()
    queue.add(entry("a"))
    queue.close()

    await queue.pop(nothing)

    with pytest.raises(QueueClosed):
        await queue.pop(nothing)
    assert queue.stats().closed


async def test_a_list_that_arrives_while_an_object_is_processed_still_deletes_it() -> None:
    """CCH-22: deltas that are out of the queue and not in the store yet count as known."""
    queue = DeltaFIFO(known_objects())
    newest = entry("a", version="5")
    queue.add(newest)

    async def a_list_comes_meanwhile(_: Sequence[Delta], __: bool) -> None:
        queue.replace([], "9")

    await queue.pop(a_list_comes_meanwhile)

    (batch,) = popped(queue)
    assert batch.deltas == [Delta(DeltaType.DELETED, key("a"), newest, last_state_known=False)]


async def test_a_resync_skips_objects_in_flight() -> None:
    """CCH-23: the store's state is older."""
    queue = DeltaFIFO(known_objects("a"))
    queue.update(entry("a", version="5"))

    await queue.pop(lambda *_: queue.resync())

    assert popped(queue) == []


@pytest.mark.parametrize("last_seen", [None, entry("a")])
def test_a_missed_delete_has_its_key_with_and_without_a_state(
    last_seen: Entry | None,
) -> None:
    """CCH-2, CCH-5: a delete like any other, with its key, and a flag in place of a type."""
    tombstone = missed_delete(key("a"), last_seen)

    assert (tombstone.type, tombstone.key) == (DeltaType.DELETED, key("a"))
    assert tombstone.entry is last_seen
    assert not tombstone.last_state_known
    assert Delta(DeltaType.DELETED, key("a"), entry("a")).last_state_known
