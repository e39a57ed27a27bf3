"""Keys added by other threads."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.workqueue import DelayingQueue, PriorityQueue, RateLimitingQueue, WorkQueue
from kubeloop.workqueue.waiting import ThreadsafeCalls

from .conftest import Tasks, process_all


def in_a_thread(queue: WorkQueue[str], *keys: str) -> None:
    """Add the keys from another thread, and wait until that thread has ended."""

    def feed() -> None:
        for key in keys:
            queue.add_threadsafe(key)

    thread = threading.Thread(target=feed)
    thread.start()
    thread.join()


async def test_a_key_from_another_thread_wakes_a_waiting_worker(plain: WorkQueue[str]) -> None:
    async with asyncio.timeout(4):
        worker = asyncio.create_task(plain.get())
        await asyncio.sleep(0)

        await asyncio.to_thread(plain.add_threadsafe, "web")

        assert await worker == "web"


def test_keys_from_another_thread_keep_their_order_and_are_queued_once(
    plain: WorkQueue[str],
) -> None:
    """WKQ-5, without any loop."""
    in_a_thread(plain, "b", "a", "b", "c")

    assert len(plain) == 3
    assert process_all(plain) == ["b", "a", "c"]


def test_a_key_that_a_thread_added_before_shutdown_is_not_lost(plain: WorkQueue[str]) -> None:
    """WKQ-7: shutdown and drain."""
    in_a_thread(plain, "early")
    plain.shut_down()
    in_a_thread(plain, "late")

    assert process_all(plain) == ["early"]


def test_get_nowait_finds_a_key_behind_more_calls_than_run_in_one_step(
    plain: WorkQueue[str],
) -> None:
    in_a_thread(plain, *["same"] * 2500, "last")

    first = plain.get_nowait()

    assert first == "same"
    assert plain.get_nowait() == "last"


async def test_thousands_of_keys_from_a_thread_reach_a_waiting_worker_in_order(
    plain: WorkQueue[str], tasks: Tasks
) -> None:
    keys = [str(number) for number in range(5000)]
    got: list[str] = []

    async def worker() -> None:
        while len(got) < len(keys):
            async with plain.item() as key:
                got.append(key)
        plain.shut_down()

    working = tasks.start(worker())
    await asyncio.sleep(0)
    await asyncio.to_thread(in_a_thread, plain, *keys)
    async with asyncio.timeout(4):
        await working

    assert got == keys


async def test_a_delay_from_another_thread_starts_with_the_call(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-9: however late the loop adds the key."""
    await asyncio.to_thread(queue.add_threadsafe, "web", after=5)

    await clock.advance(5)

    assert process_all(queue) == ["web"]


async def test_a_delayed_key_from_another_thread_sets_the_timer_of_a_waiting_worker(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    worker = tasks.start(queue.get())
    await clock.settle()
    await asyncio.to_thread(queue.add_threadsafe, "web", after=5)

    await clock.advance(5)

    assert worker.result() == "web"


def test_other_threads_can_use_rate_limits_and_priorities(
    rate_limiting: RateLimitingQueue[str], priority_queue: PriorityQueue[str]
) -> None:
    rate_limiting.add_threadsafe("web", rate_limited=True)
    rate_limiting.add_threadsafe("db", after=0)
    priority_queue.add_threadsafe("low", priority=-1)
    priority_queue.add_threadsafe("high", priority=1)
    priority_queue.add_threadsafe("later", rate_limited=True)

    assert (process_all(rate_limiting), rate_limiting.num_requeues("web")) == (["db"], 1)
    assert (process_all(priority_queue), priority_queue.stats().delayed) == (["high", "low"], 1)


def test_a_delay_that_is_not_a_number_is_rejected_in_the_calling_thread(
    queue: DelayingQueue[str],
) -> None:
    with pytest.raises(InvalidArgument):
        queue.add_threadsafe("web", after=float("nan"))

    assert len(queue) == 0


def test_a_call_that_fails_is_logged_and_the_next_one_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue: WorkQueue[object] = WorkQueue()
    queue.add_threadsafe(["cannot be hashed"])
    queue.add_threadsafe("web")

    with caplog.at_level(logging.ERROR):
        key = queue.get_nowait()

    assert key == "web"
    assert "call from another thread failed" in caplog.text


async def test_a_key_is_kept_when_the_attached_loop_is_closed(plain: WorkQueue[str]) -> None:
    def attach_and_end() -> None:
        async def attach() -> None:
            getting = asyncio.create_task(plain.get())
            await asyncio.sleep(0)
            getting.cancel()

        asyncio.run(attach())

    await asyncio.to_thread(attach_and_end)

    in_a_thread(plain, "a", "b")

    assert await plain.get() == "a"
    assert await plain.get() == "b"


async def test_a_worker_gets_the_key_behind_more_calls_than_run_in_one_step(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """Only the last call has a key for the waiting worker."""
    plain.add("busy")
    plain.get_nowait()
    worker = tasks.start(plain.get())
    await clock.settle()

    await asyncio.to_thread(in_a_thread, plain, *["busy"] * 2500, "web")
    async with asyncio.timeout(4):
        assert await worker == "web"


async def test_keys_from_threads_are_added_before_the_first_get() -> None:
    """Otherwise they would pile up in a candidate that never leads, each as often as added."""
    queue: WorkQueue[str] = WorkQueue()

    await asyncio.to_thread(in_a_thread, queue, *["web"] * 2500)
    await ManualClock().settle()
    queue.add("db")

    assert [queue.get_nowait(), queue.get_nowait()] == ["web", "db"]


async def test_calls_left_for_a_closed_loop_run_on_the_next_one(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    def leave_a_call_behind() -> None:
        loop = asyncio.new_event_loop()

        async def attach() -> None:
            getting = asyncio.create_task(plain.get())
            await asyncio.sleep(0)
            getting.cancel()

        loop.run_until_complete(attach())
        loop.run_until_complete(asyncio.sleep(0))
        plain.add_threadsafe("left behind")  # the loop is woken, but never runs again
        loop.close()

    await asyncio.to_thread(leave_a_call_behind)
    first = await plain.get()
    worker = tasks.start(plain.get())
    await clock.settle()
    await asyncio.to_thread(plain.add_threadsafe, "web")
    async with asyncio.timeout(4):
        second = await worker

    assert (first, second) == ("left behind", "web")


async def test_attach_reports_calls_that_are_pending_already() -> None:
    """The race: a call comes before the first worker attaches, when no loop can be woken."""
    calls = ThreadsafeCalls()
    ran: list[str] = []
    calls.put(lambda: ran.append("call"))

    before = calls.attach()
    calls.run_pending()

    assert (before, calls.attach()) == (False, True)
    assert ran == ["call"]


async def test_many_threads_and_workers_lose_no_key_and_share_none(tasks: Tasks) -> None:
    """WKQ-5: every key is processed after its last change, by one worker at a time."""
    queue: RateLimitingQueue[str] = RateLimitingQueue()
    changed = dict.fromkeys((f"key-{number}" for number in range(200)), 0)
    seen: dict[str, int] = {}
    processing: set[str] = set()

    def change(part: int) -> None:
        for round_ in range(1, 6):
            for key in list(changed)[part::4]:
                changed[key] = round_
                queue.add_threadsafe(key)

    async def worker() -> None:
        while True:
            async with queue.item() as key:
                assert key not in processing
                processing.add(key)
                state = changed[key]
                await asyncio.sleep(0)
                seen[key] = state
                processing.discard(key)

    workers = [tasks.start(worker()) for _ in range(8)]
    async with asyncio.timeout(4):
        await asyncio.gather(*(asyncio.to_thread(change, part) for part in range(4)))
        while len(queue) or queue.stats().processing:
            await asyncio.sleep(0)

    assert seen == changed
    assert not any(worker.done() for worker in workers)
