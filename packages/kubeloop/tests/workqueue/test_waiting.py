"""How get() waits: which call is woken, what a cancelled call leaves, yielding to the loop."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

import pytest

from kubeloop.kit import ManualClock, Timeout, Timer
from kubeloop.workqueue import DelayingQueue, PriorityQueue, QueueShutDown, WorkQueue

from .conftest import Tasks


async def test_a_waiting_get_is_woken_by_an_add(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-3: getting a key."""
    worker = tasks.start(plain.get())
    await clock.settle()
    waiting = plain.stats().idle_workers

    plain.add("web")
    await clock.settle()

    assert waiting == 1
    assert worker.result() == "web"
    assert plain.stats().idle_workers == 0


async def test_a_waiting_get_is_woken_when_a_changed_key_is_done(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-4: done."""
    plain.add("web")
    plain.get_nowait()
    worker = tasks.start(plain.get())
    plain.add("web")
    await clock.settle()
    before = worker.done()

    plain.done("web")
    await clock.settle()

    assert not before
    assert worker.result() == "web"


async def test_waiting_workers_get_keys_first_come_first_served(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    workers = [tasks.start(plain.get()) for _ in range(4)]
    await clock.settle()

    for key in ("a", "b", "c", "d"):
        plain.add(key)
    await clock.settle()

    assert [worker.result() for worker in workers] == ["a", "b", "c", "d"]


async def test_a_worker_that_was_woken_in_vain_stays_first(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    first = tasks.start(plain.get())
    await clock.settle()
    second = tasks.start(plain.get())
    await clock.settle()

    plain.add("taken")
    plain.get_nowait()  # before the worker that was woken runs
    await clock.settle()
    plain.add("web")
    await clock.settle()

    assert first.result() == "web"
    assert not second.done()


async def test_a_cancelled_get_leaves_the_key_to_the_next_worker(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """Cancelled after it was woken and before it ran."""
    first = tasks.start(plain.get())
    second = tasks.start(plain.get())
    await clock.settle()

    plain.add("web")
    first.cancel()
    await clock.settle()

    assert first.cancelled()
    assert second.result() == "web"


async def test_a_cancelled_get_leaves_the_key_in_the_queue(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    worker = tasks.start(plain.get())
    await clock.settle()

    plain.add("web")
    worker.cancel()
    await clock.settle()

    assert worker.cancelled()
    assert plain.get_nowait() == "web"


async def test_a_get_that_timed_out_leaves_nothing_behind(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    async def patient() -> None:
        async with clock.timeout(3):
            await plain.get()

    worker = tasks.start(patient())
    await clock.advance(3)

    assert isinstance(worker.exception(), TimeoutError)
    assert plain.stats().idle_workers == 0


async def test_another_worker_takes_over_the_timer_of_a_cancelled_one(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    queue.add("web", after=5)
    first = tasks.start(queue.get())
    second = tasks.start(queue.get())
    await clock.settle()

    first.cancel()
    await clock.advance(5)

    assert second.result() == "web"


async def test_only_one_waiting_worker_has_a_timer(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    for _ in range(5):
        tasks.start(queue.get())
    queue.add("web", after=5)
    await clock.settle()

    assert clock.stats().timeouts == 1


async def test_keys_that_become_ready_together_wake_all_waiting_workers(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    workers = [tasks.start(queue.get()) for _ in range(100)]
    await clock.settle()
    for number in range(100):
        queue.add(str(number), after=5)

    await clock.advance(5)

    assert sorted(int(worker.result()) for worker in workers) == list(range(100))


async def test_shutdown_cancels_the_timer(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7, WKQ-12: shutdown and drain."""
    queue.add("web", after=5)
    worker = tasks.start(queue.get())
    await clock.settle()

    queue.shut_down()
    await clock.settle()

    assert isinstance(worker.exception(), QueueShutDown)
    assert clock.stats().timeouts == 0


async def test_a_queue_can_be_used_by_one_loop_after_the_other(plain: WorkQueue[str]) -> None:
    def in_a_new_loop(key: str) -> str:
        async def work() -> str:
            getting = asyncio.create_task(plain.get())
            await asyncio.sleep(0)
            plain.add(key)
            return await getting

        return asyncio.run(work())

    assert await asyncio.to_thread(in_a_new_loop, "a") == "a"
    assert await asyncio.to_thread(in_a_new_loop, "b") == "b"


class BusyClock:
    """A clock that advances a millisecond with every call, as if work took that long."""

    def __init__(self) -> None:
        self._calls = itertools.count()

    def now(self) -> float:
        return next(self._calls) / 1000

    def time(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(seconds)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


@pytest.mark.parametrize("kind", [WorkQueue, DelayingQueue, PriorityQueue])
@pytest.mark.parametrize("workers", [1, 8])
async def test_workers_that_never_wait_yield_to_the_loop_every_5_ms(
    kind: type[WorkQueue[int]], workers: int, tasks: Tasks
) -> None:
    """All workers together: the limit does not grow with their number."""
    queue = kind(clock=BusyClock())
    for key in range(1000):
        queue.add(key)
    worked = 0
    seen: list[int] = []

    async def worker() -> None:
        nonlocal worked
        while True:
            async with queue.item():
                worked += 1

    async def watcher() -> None:
        while worked < 1000:
            seen.append(worked)
            await asyncio.sleep(0)

    for _ in range(workers):
        tasks.start(worker())
    await watcher()

    most = max(after - before for before, after in itertools.pairwise(seen))
    assert most <= 5 + 2 * workers
