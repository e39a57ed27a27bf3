"""Keys with priorities."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.workqueue import LOW_PRIORITY, PriorityQueue, QueueEmpty, QueueState

from .conftest import Tasks, process_all


def test_keys_are_processed_by_priority_and_then_in_the_order_they_were_added(
    priority_queue: PriorityQueue[str],
) -> None:
    """WKQ-20: the order of priorities."""
    for key, priority in (("a", 0), ("b", 5), ("c", -5), ("d", 5), ("e", 0)):
        priority_queue.add(key, priority=priority)

    assert process_all(priority_queue) == ["b", "d", "a", "e", "c"]


def test_low_priority_keys_are_processed_after_live_changes(
    priority_queue: PriorityQueue[str],
) -> None:
    """WKQ-22: defaults of controller-runtime."""
    for key in ("old-1", "old-2"):
        priority_queue.add(key, priority=LOW_PRIORITY)
    priority_queue.add("live")
    priority_queue.add("old-2")  # and now it has changed

    assert LOW_PRIORITY == -100
    assert process_all(priority_queue) == ["old-2", "live", "old-1"]


async def test_a_ready_key_is_processed_before_a_delayed_one_of_higher_priority(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-20: the order of priorities."""
    priority_queue.add("later", after=5, priority=100)
    priority_queue.add("now", priority=-100)

    ready = process_all(priority_queue)
    await clock.advance(5)

    assert (ready, process_all(priority_queue)) == (["now"], ["later"])


async def test_a_delayed_key_keeps_its_priority(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-20: the order of priorities."""
    priority_queue.add("important", after=2, priority=7)
    priority_queue.add("soon", after=1)
    await clock.advance(2)
    priority_queue.add("now")

    assert process_all(priority_queue) == ["important", "soon", "now"]


async def test_delayed_keys_are_processed_in_the_order_of_their_times(
    priority_queue: PriorityQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-20: the order of priorities."""
    processed: list[str] = []

    async def worker() -> None:
        while True:
            async with priority_queue.item() as key:
                processed.append(key)

    tasks.start(worker())
    for key, after in (("c", 3.0), ("a", 1.0), ("b", 2.0)):
        priority_queue.add(key, after=after, priority=int(after))

    await clock.advance(3)

    assert processed == ["a", "b", "c"]


async def test_get_with_priority_returns_the_priority(priority_queue: PriorityQueue[str]) -> None:
    """WKQ-20: the order of priorities."""
    priority_queue.add("web", priority=7)

    found = await priority_queue.get_with_priority()
    during = priority_queue.priority_of("web")
    priority_queue.done("web")

    assert (found, during) == (("web", 7), 7)
    assert priority_queue.priority_of("web") is None


@pytest.mark.parametrize(("first", "second"), [(3, 9), (9, 3)])
def test_a_key_that_is_added_again_keeps_the_higher_priority(
    priority_queue: PriorityQueue[str], first: int, second: int
) -> None:
    """WKQ-21: AddWithOpts."""
    priority_queue.add("rival", priority=5)
    priority_queue.add("web", priority=first)
    priority_queue.add("web", priority=second)

    assert process_all(priority_queue) == ["web", "rival"]


def test_a_key_whose_priority_rises_keeps_the_time_it_was_added(
    priority_queue: PriorityQueue[str],
) -> None:
    """WKQ-20, WKQ-21: the order of priorities."""
    priority_queue.add("first", priority=-1)
    priority_queue.add("second")
    priority_queue.add("first", priority=0)

    assert process_all(priority_queue) == ["first", "second"]


@pytest.mark.parametrize(("first", "second"), [(50.0, 70.0), (70.0, 50.0)])
async def test_a_delayed_key_that_is_added_again_keeps_the_earlier_time(
    priority_queue: PriorityQueue[str], clock: ManualClock, first: float, second: float
) -> None:
    """WKQ-21: AddWithOpts."""
    priority_queue.add("web", after=first)
    priority_queue.add("web", after=second)

    await clock.advance(50)

    assert process_all(priority_queue) == ["web"]
    assert priority_queue.stats().delayed == 0


async def test_adding_a_delayed_key_now_cancels_its_delay(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: one entry for each key, unlike in the delaying queue (WKQ-11)."""
    priority_queue.add("web", after=5)
    priority_queue.add("web")
    now = process_all(priority_queue)

    await clock.advance(5)

    assert (now, process_all(priority_queue)) == (["web"], [])


async def test_a_queued_key_is_not_delayed(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: AddWithOpts."""
    priority_queue.add("web")
    priority_queue.add("web", after=5, priority=3)

    found = await priority_queue.get_with_priority()
    priority_queue.done("web")
    await clock.advance(5)

    assert found == ("web", 3)
    assert len(priority_queue) == 0


async def test_with_rate_limited_and_after_the_shorter_delay_counts(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: AddWithOpts."""
    priority_queue.add("limited", rate_limited=True, after=60)
    priority_queue.add("delayed", rate_limited=True, after=0.001)

    await clock.advance(0.001)
    first = process_all(priority_queue)
    await clock.advance(0.004)

    assert (first, process_all(priority_queue)) == (["delayed"], ["limited"])


def test_a_key_added_while_processing_is_ready_after_done(
    priority_queue: PriorityQueue[str],
) -> None:
    """WKQ-21; len() does not count it until then (WKQ-6; controller-runtime's Len does)."""
    priority_queue.add("web")
    priority_queue.get_nowait()
    priority_queue.add("web", priority=4)
    before_done = len(priority_queue)

    with pytest.raises(QueueEmpty):
        priority_queue.get_nowait()
    priority_queue.done("web")

    assert (before_done, len(priority_queue)) == (0, 1)
    assert priority_queue.get_nowait() == "web"
    assert priority_queue.priority_of("web") == 4


async def test_a_key_in_processing_can_be_added_with_a_delay(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: AddWithOpts."""
    priority_queue.add("web")
    priority_queue.get_nowait()
    priority_queue.add("web", after=1, priority=2)
    await clock.advance(1)

    priority_queue.done("web")

    assert priority_queue.get_nowait() == "web"
    assert priority_queue.priority_of("web") == 2


def test_len_does_not_count_delayed_keys(priority_queue: PriorityQueue[str]) -> None:
    """WKQ-22: defaults of controller-runtime."""
    priority_queue.add("now")
    priority_queue.add("later", after=1)

    assert len(priority_queue) == 1
    assert priority_queue.stats().delayed == 1


async def test_the_default_limiter_delays_each_key_on_its_own(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-22: 5 ms to 1000 s for each key, and no limit on all keys together."""
    for number in range(500):
        priority_queue.add_rate_limited(str(number))

    await clock.advance(0.005)

    assert len(priority_queue) == 500
    for _ in range(30):
        priority_queue.add_rate_limited("web")
    priority_queue.forget("web")
    priority_queue.add("other", rate_limited=True)
    assert priority_queue.num_requeues("web") == 0


async def test_drain_waits_although_controller_runtimes_does_not(
    priority_queue: PriorityQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7; the difference from WKQ-22 is listed in docs/reference/differences.md."""
    priority_queue.add("web", priority=3)
    priority_queue.get_nowait()
    draining = tasks.start(priority_queue.drain())
    await clock.settle()
    before = (draining.done(), priority_queue.stats().state)

    priority_queue.done("web")
    await clock.settle()

    assert before == (False, QueueState.DRAINING)
    assert draining.done()


async def test_shutdown_drops_delayed_keys(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-12: shutdown drops delayed keys."""
    priority_queue.add("later", after=1)
    priority_queue.add("now")
    priority_queue.shut_down()
    priority_queue.add("too late", priority=9)

    await clock.advance(2)

    assert process_all(priority_queue) == ["now"]


@pytest.mark.parametrize("rate_limited", [True, False])
def test_a_delay_that_is_not_a_number_is_rejected(
    priority_queue: PriorityQueue[str], rate_limited: bool
) -> None:
    with pytest.raises(InvalidArgument):
        priority_queue.add("web", after=float("nan"), rate_limited=rate_limited)

    assert (priority_queue.stats().delayed, priority_queue.num_requeues("web")) == (0, 0)


async def test_a_waiting_worker_gets_a_key_whose_delay_begins_after_another_was_replaced(
    priority_queue: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: a delay that was replaced hides no later one."""
    priority_queue.add("a", after=5)
    priority_queue.add("a")  # replaces the delay
    assert process_all(priority_queue) == ["a"]
    worker = asyncio.create_task(priority_queue.get())
    await clock.advance(0)

    priority_queue.add("b", after=10)
    await clock.advance(10)

    assert worker.done()
    assert worker.result() == "b"
