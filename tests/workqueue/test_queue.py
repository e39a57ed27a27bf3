"""The plain queue: each key once, one worker at a time, first in, first out."""

from __future__ import annotations

import asyncio
from collections import deque

import msgspec
import pytest

from kubeloop.kit import ManualClock
from kubeloop.workqueue import (
    DelayingQueue,
    NotHandedOut,
    PriorityQueue,
    QueueEmpty,
    QueueShutDown,
    RateLimitingQueue,
    WorkQueue,
)

from .conftest import Tasks, take_all


class Key(msgspec.Struct, frozen=True):
    namespace: str
    name: str


@pytest.fixture(params=[WorkQueue, DelayingQueue, RateLimitingQueue, PriorityQueue])
def any_queue(request: pytest.FixtureRequest, clock: ManualClock) -> WorkQueue[str]:
    kind: type[WorkQueue[str]] = request.param
    return kind(clock=clock)


def test_a_key_is_queued_then_in_work_then_gone(any_queue: WorkQueue[str]) -> None:
    """WKQ-1: what is to be done and what is being done are told apart."""
    any_queue.add("web")
    queued = any_queue.stats()
    any_queue.get_nowait()
    working = any_queue.stats()
    any_queue.done("web")
    idle = any_queue.stats()

    assert (queued.queued, queued.in_work) == (1, 0)
    assert (working.queued, working.in_work) == (0, 1)
    assert (idle.queued, idle.in_work) == (0, 0)


def test_a_key_added_three_times_is_handed_out_once(any_queue: WorkQueue[str]) -> None:
    """WKQ-2, WKQ-C1."""
    for _ in range(3):
        any_queue.add("web")

    assert len(any_queue) == 1
    assert take_all(any_queue) == ["web"]


def test_keys_leave_in_the_order_in_which_they_came(any_queue: WorkQueue[str]) -> None:
    """WKQ-3, WKQ-C12."""
    for key in ("c", "a", "b", "a"):
        any_queue.add(key)

    assert take_all(any_queue) == ["c", "a", "b"]


def test_a_key_added_while_in_work_is_queued_when_it_is_done(plain: WorkQueue[str]) -> None:
    """WKQ-4, WKQ-5, WKQ-C2."""
    plain.add("web")
    plain.get_nowait()
    for _ in range(3):
        plain.add("web")
    during = len(plain)

    plain.done("web")

    assert during == 0
    assert len(plain) == 1
    assert take_all(plain) == ["web"]


def test_a_key_in_work_is_not_handed_to_a_second_worker(any_queue: WorkQueue[str]) -> None:
    """WKQ-5."""
    any_queue.add("web")
    any_queue.get_nowait()
    any_queue.add("web")

    with pytest.raises(QueueEmpty):
        any_queue.get_nowait()


def test_a_key_added_again_goes_behind_those_that_waited(plain: WorkQueue[str]) -> None:
    """WKQ-4: who is always changing does not keep others from being worked on."""
    plain.add("busy")
    plain.add("other")
    plain.get_nowait()
    plain.add("busy")

    plain.done("busy")

    assert take_all(plain) == ["other", "busy"]


def test_len_counts_queued_keys_only(queue: DelayingQueue[str]) -> None:
    """WKQ-6."""
    for key in ("working", "queued"):
        queue.add(key)
    queue.get_nowait()
    queue.add("working")
    queue.add("later", after=5)

    assert len(queue) == 1


def test_keys_are_compared_by_value() -> None:
    """WKQ-8."""
    queue: WorkQueue[Key] = WorkQueue()
    queue.add(Key("shop", "web"))
    queue.add(Key("shop", "web"))

    key = queue.get_nowait()
    queue.done(Key("shop", "web"))

    assert key == Key("shop", "web")
    assert len(queue) == 0


def test_a_key_that_cannot_be_hashed_is_refused_and_nothing_changes() -> None:
    """WKQ-8."""
    queue: WorkQueue[object] = WorkQueue()

    with pytest.raises(TypeError):
        queue.add(["web"])

    assert len(queue) == 0


def test_done_without_get_is_refused_and_changes_nothing(any_queue: WorkQueue[str]) -> None:
    """WKQ-C11, V-13: client-go would now hold the key twice."""
    any_queue.add("web")

    with pytest.raises(NotHandedOut, match=r"'web'.*call done once for each get"):
        any_queue.done("web")

    assert len(any_queue) == 1
    assert take_all(any_queue) == ["web"]


def test_a_second_done_is_refused_and_changes_nothing(any_queue: WorkQueue[str]) -> None:
    """WKQ-4, WKQ-C11."""
    any_queue.add("web")
    any_queue.get_nowait()
    any_queue.done("web")

    with pytest.raises(NotHandedOut):
        any_queue.done("web")

    assert len(any_queue) == 0


def test_after_shutdown_nothing_is_added_and_the_rest_is_handed_out(
    any_queue: WorkQueue[str],
) -> None:
    """WKQ-2, WKQ-3, WKQ-7."""
    any_queue.add("web")

    any_queue.shut_down()
    any_queue.add("late")

    assert any_queue.is_shutting_down
    assert take_all(any_queue) == ["web"]
    with pytest.raises(QueueShutDown):
        any_queue.get_nowait()


async def test_get_reports_the_shutdown_after_the_last_done(any_queue: WorkQueue[str]) -> None:
    """WKQ-C3."""
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
    """WKQ-7."""
    workers = [tasks.begin(any_queue.get()) for _ in range(3)]
    await clock.settle()

    any_queue.shut_down()
    await clock.settle()

    assert [type(worker.exception()) for worker in workers] == [QueueShutDown] * 3
    assert any_queue.stats().workers == 0


async def test_drain_waits_for_the_keys_in_work(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7."""
    for key in ("a", "b"):
        plain.add(key)
        await plain.get()
    draining = tasks.begin(plain.drain())
    await clock.settle()
    phase = plain.stats().phase

    plain.done("a")
    await clock.settle()
    after_one = draining.done()
    plain.done("b")
    await clock.settle()

    assert phase == "draining"
    assert not after_one
    assert draining.done()


async def test_drain_waits_for_a_key_that_was_added_while_in_work(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-C4."""
    plain.add("web")
    await plain.get()
    plain.add("web")
    draining = tasks.begin(plain.drain())
    await clock.settle()

    plain.done("web")
    await clock.settle()
    between = draining.done()
    again = await plain.get()
    plain.done("web")
    await clock.settle()

    assert (between, again) == (False, "web")
    assert draining.done()


async def test_drain_goes_on_while_a_worker_takes_key_after_key(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7: what is queued is still handed out, and waited for once it is in work."""
    worked: list[str] = []

    async def worker() -> None:
        while True:
            async with plain.item() as key:
                await clock.sleep(1)
                worked.append(key)

    for key in ("a", "b", "c"):
        plain.add(key)
    tasks.begin(worker())
    await clock.settle()
    draining = tasks.begin(plain.drain())

    await clock.advance(2.5)
    before_the_end = draining.done()
    await clock.advance(1)

    assert not before_the_end
    assert draining.done()
    assert worked == ["a", "b", "c"]


async def test_drain_ends_at_once_when_no_key_is_in_work(plain: WorkQueue[str]) -> None:
    """WKQ-7: it waits for work, not for workers."""
    plain.add("web")

    await plain.drain()

    assert take_all(plain) == ["web"]


async def test_shutdown_ends_a_drain_that_waits(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7."""
    plain.add("web")
    await plain.get()
    draining = tasks.begin(plain.drain())
    await clock.settle()

    plain.shut_down()
    await clock.settle()

    assert draining.done()
    assert plain.stats().phase == "shut down"


async def test_a_cancelled_drain_leaves_the_queue_shut_down(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """X-7."""
    plain.add("web")
    await plain.get()
    draining = tasks.begin(plain.drain())
    await clock.settle()

    draining.cancel()
    await clock.settle()
    plain.done("web")

    assert draining.cancelled()
    assert plain.is_shutting_down


async def test_an_item_is_done_when_its_block_ends(any_queue: WorkQueue[str]) -> None:
    any_queue.add("web")

    async with any_queue.item() as key:
        during = any_queue.stats().in_work

    assert (key, during) == ("web", 1)
    assert any_queue.stats().in_work == 0


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
async def test_an_item_is_done_when_its_block_fails(
    plain: WorkQueue[str], error: type[BaseException]
) -> None:
    async def fail() -> None:
        async with plain.item():
            plain.add("web")
            raise error

    plain.add("web")

    with pytest.raises(error):
        await fail()

    assert take_all(plain) == ["web"]


def test_an_order_of_ones_own_hears_of_keys_that_are_added_again() -> None:
    """WKQ-2: only while the key is queued, not while it is in work."""

    class Newest:
        """Last in, first out; what is added again becomes the newest."""

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


async def test_stats_tell_how_long_work_has_taken(
    any_queue: WorkQueue[str], clock: ManualClock
) -> None:
    for key in ("a", "b"):
        any_queue.add(key)
        any_queue.get_nowait()
        await clock.advance(2)

    stats = any_queue.stats()

    assert (stats.in_work, stats.unfinished, stats.longest) == (2, 6.0, 4.0)


def test_a_queue_names_itself_in_its_errors() -> None:
    queue: WorkQueue[str] = WorkQueue(name="pods")

    with pytest.raises(QueueEmpty, match=r"get from WorkQueue\('pods'\): no key is ready"):
        queue.get_nowait()
