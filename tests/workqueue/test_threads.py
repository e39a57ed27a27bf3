"""Keys that come from other threads."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from kubeloop.kit import ManualClock
from kubeloop.machinery import InvalidValue
from kubeloop.workqueue import DelayingQueue, PriorityQueue, RateLimitingQueue, WorkQueue
from kubeloop.workqueue.inbox import Inbox

from .conftest import Tasks, take_all


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


def test_keys_from_another_thread_keep_their_order_and_are_held_once(
    plain: WorkQueue[str],
) -> None:
    """WKQ-5, without any loop."""
    in_a_thread(plain, "b", "a", "b", "c")

    assert len(plain) == 3
    assert take_all(plain) == ["b", "a", "c"]


def test_a_key_that_came_before_shutdown_is_handed_out(plain: WorkQueue[str]) -> None:
    """WKQ-7."""
    in_a_thread(plain, "early")
    plain.shut_down()
    in_a_thread(plain, "late")

    assert take_all(plain) == ["early"]


def test_more_keys_than_one_turn_takes_in_are_all_found(plain: WorkQueue[str]) -> None:
    in_a_thread(plain, *["same"] * 2500, "last")

    first = plain.get_nowait()

    assert first == "same"
    assert plain.get_nowait() == "last"


async def test_a_flood_from_a_thread_reaches_waiting_workers(
    plain: WorkQueue[str], tasks: Tasks
) -> None:
    keys = [str(number) for number in range(5000)]
    got: list[str] = []

    async def worker() -> None:
        while len(got) < len(keys):
            async with plain.item() as key:
                got.append(key)
        plain.shut_down()

    working = tasks.begin(worker())
    await asyncio.sleep(0)
    await asyncio.to_thread(in_a_thread, plain, *keys)
    async with asyncio.timeout(4):
        await working

    assert got == keys


async def test_a_delay_from_another_thread_counts_from_the_call(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-9: however late the loop takes the key in."""
    await asyncio.to_thread(queue.add_threadsafe, "web", after=5)

    await clock.advance(5)

    assert take_all(queue) == ["web"]


async def test_a_delayed_key_from_another_thread_makes_a_waiting_worker_watch_the_clock(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    worker = tasks.begin(queue.get())
    await clock.settle()
    await asyncio.to_thread(queue.add_threadsafe, "web", after=5)

    await clock.advance(5)

    assert worker.result() == "web"


def test_limits_and_priorities_can_be_asked_for_from_another_thread(
    limiting: RateLimitingQueue[str], ranked: PriorityQueue[str]
) -> None:
    limiting.add_threadsafe("web", rate_limited=True)
    limiting.add_threadsafe("db", after=0)
    ranked.add_threadsafe("low", priority=-1)
    ranked.add_threadsafe("high", priority=1)
    ranked.add_threadsafe("later", rate_limited=True)

    assert (take_all(limiting), limiting.requeues("web")) == (["db"], 1)
    assert (take_all(ranked), ranked.stats().waiting) == (["high", "low"], 1)


def test_a_delay_that_is_no_number_is_refused_in_the_thread_that_asked(
    queue: DelayingQueue[str],
) -> None:
    with pytest.raises(InvalidValue):
        queue.add_threadsafe("web", after=float("nan"))

    assert len(queue) == 0


def test_a_call_that_fails_is_logged_and_the_next_one_is_made(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue: WorkQueue[object] = WorkQueue()
    queue.add_threadsafe(["cannot be hashed"])
    queue.add_threadsafe("web")

    with caplog.at_level(logging.ERROR):
        key = queue.get_nowait()

    assert key == "web"
    assert "a call from another thread failed" in caplog.text


async def test_a_key_is_kept_when_the_loop_that_listened_is_closed(plain: WorkQueue[str]) -> None:
    def listen_and_leave() -> None:
        async def listen() -> None:
            getting = asyncio.create_task(plain.get())
            await asyncio.sleep(0)
            getting.cancel()

        asyncio.run(listen())

    await asyncio.to_thread(listen_and_leave)

    in_a_thread(plain, "a", "b")

    assert await plain.get() == "a"
    assert await plain.get() == "b"


async def test_a_flood_that_wakes_nobody_is_taken_in_to_its_end(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """More calls than one turn makes, and only the last one has a key for the waiting worker."""
    plain.add("busy")
    plain.get_nowait()
    worker = tasks.begin(plain.get())
    await clock.settle()

    await asyncio.to_thread(in_a_thread, plain, *["busy"] * 2500, "web")
    async with asyncio.timeout(4):
        assert await worker == "web"


async def test_keys_from_threads_are_taken_in_before_the_first_worker_comes() -> None:
    """Or those for a candidate that never leads would pile up, each as often as it came."""
    queue: WorkQueue[str] = WorkQueue()

    await asyncio.to_thread(in_a_thread, queue, *["web"] * 2500)
    await ManualClock().settle()
    queue.add("db")

    assert [queue.get_nowait(), queue.get_nowait()] == ["web", "db"]


async def test_a_wake_up_that_died_with_its_loop_does_not_silence_the_next_one(
    plain: WorkQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    def leave_a_call_behind() -> None:
        loop = asyncio.new_event_loop()

        async def listen() -> None:
            getting = asyncio.create_task(plain.get())
            await asyncio.sleep(0)
            getting.cancel()

        loop.run_until_complete(listen())
        loop.run_until_complete(asyncio.sleep(0))
        plain.add_threadsafe("left behind")  # the loop is told, and never runs again
        loop.close()

    await asyncio.to_thread(leave_a_call_behind)
    first = await plain.get()
    worker = tasks.begin(plain.get())
    await clock.settle()
    await asyncio.to_thread(plain.add_threadsafe, "web")
    async with asyncio.timeout(4):
        second = await worker

    assert (first, second) == ("left behind", "web")


async def test_nobody_begins_to_wait_beside_calls_that_have_come() -> None:
    """The call may come just before the first worker listens, when no loop can be woken."""
    inbox = Inbox()
    made: list[str] = []
    inbox.put(lambda: made.append("call"))

    before = inbox.listen()
    inbox.take_in()

    assert (before, inbox.listen()) == (False, True)
    assert made == ["call"]


async def test_many_threads_and_workers_lose_nothing_and_share_nothing(tasks: Tasks) -> None:
    """WKQ-5, X-4: every key is worked on after its last change, by one worker at a time."""
    queue: RateLimitingQueue[str] = RateLimitingQueue()
    changed = dict.fromkeys((f"key-{number}" for number in range(200)), 0)
    seen: dict[str, int] = {}
    in_work: set[str] = set()

    def change(part: int) -> None:
        for round_ in range(1, 6):
            for key in list(changed)[part::4]:
                changed[key] = round_
                queue.add_threadsafe(key)

    async def worker() -> None:
        while True:
            async with queue.item() as key:
                assert key not in in_work
                in_work.add(key)
                state = changed[key]
                await asyncio.sleep(0)
                seen[key] = state
                in_work.discard(key)

    workers = [tasks.begin(worker()) for _ in range(8)]
    async with asyncio.timeout(4):
        await asyncio.gather(*(asyncio.to_thread(change, part) for part in range(4)))
        while len(queue) or queue.stats().in_work:
            await asyncio.sleep(0)

    assert seen == changed
    assert not any(worker.done() for worker in workers)
