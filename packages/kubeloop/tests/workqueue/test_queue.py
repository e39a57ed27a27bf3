"""Every queue: each key once, one worker at a time, first in, first out."""

from __future__ import annotations

import asyncio
from collections import deque

import msgspec
import pytest

from kubeloop.kit import ManualClock
from kubeloop.workqueue import (
    DelayingQueue,
    NotProcessing,
    PriorityQueue,
    QueueEmpty,
    QueueShutDown,
    QueueState,
    RateLimitingQueue,
    WorkQueue,
)

from .conftest import Tasks, process_all


class Key(msgspec.Struct, frozen=True):
    namespace: str
    name: str


@pytest.fixture(params=[WorkQueue, DelayingQueue, RateLimitingQueue, PriorityQueue])
def any_queue(request: pytest.FixtureRequest, clock: ManualClock) -> WorkQueue[str]:
    kind: type[WorkQueue[str]] = request.param
    return kind(clock=clock)


def test_a_key_is_queued_then_in_processing_then_gone(any_queue: WorkQueue[str]) -> None:
    """WKQ-1: the three sets of keys."""
    any_queue.add("web")
    queued = any_queue.stats()
    any_queue.get_nowait()
    processing = any_queue.stats()
    any_queue.done("web")
    idle = any_queue.stats()

    assert (queued.ready, queued.processing) == (1, 0)
    assert (processing.ready, processing.processing) == (0, 1)
    assert (idle.ready, idle.processing) == (0, 0)


def test_a_key_added_three_times_is_processed_once(any_queue: WorkQueue[str]) -> None:
    """WKQ-2, WKQ-C1: adding a key."""
    for _ in range(3):
        any_queue.add("web")

    assert len(any_queue) == 1
    assert process_all(any_queue) == ["web"]


def test_keys_are_processed_in_the_order_they_were_added(any_queue: WorkQueue[str]) -> None:
    """WKQ-3, WKQ-C12: getting a key."""
    for key in ("c", "a", "b", "a"):
        any_queue.add(key)

    assert process_all(any_queue) == ["c", "a", "b"]


def test_a_key_added_while_processing_is_queued_when_it_is_done(any_queue: WorkQueue[str]) -> None:
    """WKQ-4, WKQ-5, WKQ-C2: done."""
    any_queue.add("web")
    any_queue.get_nowait()
    for _ in range(3):
        any_queue.add("web")
    during = len(any_queue)

    any_queue.done("web")

    assert during == 0
    assert len(any_queue) == 1
    assert process_all(any_queue) == ["web"]


def test_a_second_worker_does_not_get_a_key_in_processing(any_queue: WorkQueue[str]) -> None:
    """WKQ-5: one worker for a key."""
    any_queue.add("web")
    any_queue.get_nowait()
    any_queue.add("web")

    with pytest.raises(QueueEmpty):
        any_queue.get_nowait()


def test_a_key_added_while_processing_is_queued_behind_the_others(
    any_queue: WorkQueue[str],
) -> None:
    """WKQ-4: a key that always changes does not starve the others."""
    any_queue.add("busy")
    any_queue.add("other")
    any_queue.get_nowait()
    any_queue.add("busy")

    any_queue.done("busy")

    assert process_all(any_queue) == ["other", "busy"]


def test_len_counts_only_keys_that_are_ready(any_queue: WorkQueue[str]) -> None:
    """WKQ-6: the length."""
    for key in ("processing", "queued"):
        any_queue.add(key)
    any_queue.get_nowait()
    any_queue.add("processing")

    assert len(any_queue) == any_queue.stats().ready == 1


@pytest.mark.parametrize("kind", [DelayingQueue, RateLimitingQueue, PriorityQueue])
def test_len_does_not_count_delayed_keys(
    kind: type[DelayingQueue[str]], clock: ManualClock
) -> None:
    """WKQ-6: the length."""
    queue = kind(clock=clock)
    queue.add("queued")
    queue.add("later", after=5)

    assert len(queue) == queue.stats().ready == 1


def test_keys_are_compared_by_value() -> None:
    """WKQ-8: keys are compared by value."""
    queue: WorkQueue[Key] = WorkQueue()
    queue.add(Key("shop", "web"))
    queue.add(Key("shop", "web"))

    key = queue.get_nowait()
    queue.done(Key("shop", "web"))

    assert key == Key("shop", "web")
    assert len(queue) == 0


def test_a_key_that_cannot_be_hashed_is_rejected_and_nothing_changes() -> None:
    """WKQ-8: keys are compared by value."""
    queue: WorkQueue[object] = WorkQueue()

    with pytest.raises(TypeError):
        queue.add(["web"])

    assert len(queue) == 0


def test_done_without_get_is_rejected_and_changes_nothing(any_queue: WorkQueue[str]) -> None:
    """WKQ-C11, V-13: client-go would queue the key a second time."""
    any_queue.add("web")

    with pytest.raises(NotProcessing, match=r"'web'.*call done once for each get"):
        any_queue.done("web")

    assert len(any_queue) == 1
    assert process_all(any_queue) == ["web"]


def test_a_second_done_is_rejected_and_changes_nothing(any_queue: WorkQueue[str]) -> None:
    """WKQ-4, WKQ-C11: done."""
    any_queue.add("web")
    any_queue.get_nowait()
    any_queue.done("web")

    with pytest.raises(NotProcessing):
        any_queue.done("web")

    assert len(any_queue) == 0


def test_after_shutdown_adds_are_ignored_and_queued_keys_are_still_processed(
    any_queue: WorkQueue[str],
) -> None:
    """WKQ-2, WKQ-3, WKQ-7: adding a key."""
    any_queue.add("web")

    any_queue.shut_down()
    any_queue.add("late")

    assert any_queue.is_shutting_down
    assert process_all(any_queue) == ["web"]
    with pytest.raises(QueueShutDown):
        any_queue.get_nowait()


async def test_get_reports_the_shutdown_once_the_queue_is_empty(any_queue: WorkQueue[str]) -> None:
    """WKQ-C3: the end of a shut down queue."""
    any_queue.add("web")
    await any_queue.get()
    any_queue.shut_down()
    any_queue.done("web")
    any_queue.add("web")

    with pytest.raises(QueueShutDown, match="end the worker"):
        await any_queue.get()


async def test_shutdown_ends_every_waiting_get(
    any_queue: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7: shutdown and drain."""
    workers = [tasks.start(any_queue.get()) for _ in range(3)]
    await clock.settle()

    any_queue.shut_down()
    await clock.settle()

    assert [type(worker.exception()) for worker in workers] == [QueueShutDown] * 3
    assert any_queue.stats().idle_workers == 0


async def test_drain_waits_for_the_keys_in_processing(
    any_queue: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7: shutdown and drain."""
    for key in ("a", "b"):
        any_queue.add(key)
        await any_queue.get()
    draining = tasks.start(any_queue.drain())
    await clock.settle()
    state = any_queue.stats().state

    any_queue.done("a")
    await clock.settle()
    after_one = draining.done()
    any_queue.done("b")
    await clock.settle()

    assert state == QueueState.DRAINING
    assert not after_one
    assert draining.done()


async def test_drain_waits_for_a_key_that_done_queues_again(
    any_queue: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-C4: drain with a dirty key."""
    any_queue.add("web")
    await any_queue.get()
    any_queue.add("web")
    draining = tasks.start(any_queue.drain())
    await clock.settle()

    any_queue.done("web")
    await clock.settle()
    between = draining.done()
    again = await any_queue.get()
    any_queue.done("web")
    await clock.settle()

    assert (between, again) == (False, "web")
    assert draining.done()


async def test_drain_waits_while_workers_process_the_queued_keys(
    any_queue: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7: shutdown and drain."""
    worked: list[str] = []

    async def worker() -> None:
        while True:
            async with any_queue.item() as key:
                await clock.sleep(1)
                worked.append(key)

    for key in ("a", "b", "c"):
        any_queue.add(key)
    tasks.start(worker())
    await clock.settle()
    draining = tasks.start(any_queue.drain())

    await clock.advance(2.5)
    before_the_end = draining.done()
    await clock.advance(1)

    assert not before_the_end
    assert draining.done()
    assert worked == ["a", "b", "c"]


async def test_drain_returns_at_once_when_no_key_is_in_processing(
    any_queue: WorkQueue[str],
) -> None:
    """WKQ-7: it does not wait for queued keys."""
    any_queue.add("web")

    await any_queue.drain()

    assert process_all(any_queue) == ["web"]


async def test_shutdown_ends_a_drain(
    any_queue: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7: shutdown and drain."""
    any_queue.add("web")
    await any_queue.get()
    draining = tasks.start(any_queue.drain())
    await clock.settle()

    any_queue.shut_down()
    await clock.settle()

    assert draining.done()
    assert any_queue.stats().state == QueueState.SHUT_DOWN


async def test_a_cancelled_drain_leaves_the_queue_shut_down(
    any_queue: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    any_queue.add("web")
    await any_queue.get()
    draining = tasks.start(any_queue.drain())
    await clock.settle()

    draining.cancel()
    await clock.settle()
    any_queue.done("web")

    assert draining.cancelled()
    assert any_queue.is_shutting_down


async def test_an_item_is_done_when_its_block_ends(any_queue: WorkQueue[str]) -> None:
    any_queue.add("web")

    async with any_queue.item() as key:
        during = any_queue.stats().processing

    assert (key, during) == ("web", 1)
    assert any_queue.stats().processing == 0


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
async def test_an_item_is_done_when_its_block_fails(
    any_queue: WorkQueue[str], error: type[BaseException]
) -> None:
    async def fail() -> None:
        async with any_queue.item():
            any_queue.add("web")
            raise error

    any_queue.add("web")

    with pytest.raises(error):
        await fail()

    assert process_all(any_queue) == ["web"]


def test_a_custom_order_is_notified_of_keys_that_are_added_again() -> None:
    """WKQ-2: Touch, only while the key is queued, not while it is processed."""

    class Newest:
        """Last in, first out; a key that is added again becomes the newest."""

        def __init__(self) -> None:
            self.keys: deque[str] = deque()

        def __len__(self) -> int:
            return len(self.keys)

        def append(self, key: str) -> None:
            self.keys.append(key)

        def popleft(self) -> str:
            return self.keys.pop()

        def touch(self, key: str) -> None:
            self.keys.remove(key)
            self.keys.append(key)

    queue: WorkQueue[str] = WorkQueue(order=Newest())
    for key in ("a", "b", "c", "a"):
        queue.add(key)

    first = queue.get_nowait()
    queue.add("a")
    queue.add("a")

    assert first == "a"
    assert queue.get_nowait() == "c"


async def test_stats_show_how_long_keys_have_been_processed(
    any_queue: WorkQueue[str], clock: ManualClock
) -> None:
    for key in ("a", "b"):
        any_queue.add(key)
        any_queue.get_nowait()
        await clock.advance(2)

    stats = any_queue.stats()

    assert (stats.processing, stats.unfinished_work, stats.longest_running) == (2, 6.0, 4.0)


def test_an_error_names_the_queue() -> None:
    queue: WorkQueue[str] = WorkQueue(name="pods")

    with pytest.raises(QueueEmpty, match=r"get from WorkQueue\('pods'\): no key is ready"):
        queue.get_nowait()
