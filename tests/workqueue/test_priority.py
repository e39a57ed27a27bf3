"""Keys with priorities."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock
from kubeloop.machinery import InvalidValue
from kubeloop.workqueue import LOW_PRIORITY, PriorityQueue, QueueEmpty, QueueState

from .conftest import Tasks, take_all


def test_keys_are_processed_by_priority_and_then_in_the_order_they_were_added(
    ranked: PriorityQueue[str],
) -> None:
    """WKQ-20."""
    for key, priority in (("a", 0), ("b", 5), ("c", -5), ("d", 5), ("e", 0)):
        ranked.add(key, priority=priority)

    assert take_all(ranked) == ["b", "d", "a", "e", "c"]


def test_low_priority_keys_are_processed_after_live_changes(ranked: PriorityQueue[str]) -> None:
    """WKQ-22."""
    for key in ("old-1", "old-2"):
        ranked.add(key, priority=LOW_PRIORITY)
    ranked.add("live")
    ranked.add("old-2")  # and now it has changed

    assert LOW_PRIORITY == -100
    assert take_all(ranked) == ["old-2", "live", "old-1"]


async def test_a_ready_key_is_processed_before_a_delayed_one_of_higher_priority(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-20."""
    ranked.add("later", after=5, priority=100)
    ranked.add("now", priority=-100)

    ready = take_all(ranked)
    await clock.advance(5)

    assert (ready, take_all(ranked)) == (["now"], ["later"])


async def test_a_delayed_key_keeps_its_priority(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-20."""
    ranked.add("important", after=2, priority=7)
    ranked.add("soon", after=1)
    await clock.advance(2)
    ranked.add("now")

    assert take_all(ranked) == ["important", "soon", "now"]


async def test_delayed_keys_are_processed_in_the_order_of_their_times(
    ranked: PriorityQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-20."""
    processed: list[str] = []

    async def worker() -> None:
        while True:
            async with ranked.item() as key:
                processed.append(key)

    tasks.start(worker())
    for key, after in (("c", 3.0), ("a", 1.0), ("b", 2.0)):
        ranked.add(key, after=after, priority=int(after))

    await clock.advance(3)

    assert processed == ["a", "b", "c"]


async def test_get_with_priority_returns_the_priority(ranked: PriorityQueue[str]) -> None:
    """WKQ-20."""
    ranked.add("web", priority=7)

    found = await ranked.get_with_priority()
    during = ranked.priority_of("web")
    ranked.done("web")

    assert (found, during) == (("web", 7), 7)
    assert ranked.priority_of("web") is None


@pytest.mark.parametrize(("first", "second"), [(3, 9), (9, 3)])
def test_a_key_that_is_added_again_keeps_the_higher_priority(
    ranked: PriorityQueue[str], first: int, second: int
) -> None:
    """WKQ-21."""
    ranked.add("rival", priority=5)
    ranked.add("web", priority=first)
    ranked.add("web", priority=second)

    assert take_all(ranked) == ["web", "rival"]


def test_a_key_whose_priority_rises_keeps_the_time_it_was_added(ranked: PriorityQueue[str]) -> None:
    """WKQ-20, WKQ-21."""
    ranked.add("first", priority=-1)
    ranked.add("second")
    ranked.add("first", priority=0)

    assert take_all(ranked) == ["first", "second"]


@pytest.mark.parametrize(("first", "second"), [(50.0, 70.0), (70.0, 50.0)])
async def test_a_delayed_key_that_is_added_again_keeps_the_earlier_time(
    ranked: PriorityQueue[str], clock: ManualClock, first: float, second: float
) -> None:
    """WKQ-21."""
    ranked.add("web", after=first)
    ranked.add("web", after=second)

    await clock.advance(50)

    assert take_all(ranked) == ["web"]
    assert ranked.stats().waiting == 0


async def test_adding_a_delayed_key_now_cancels_its_delay(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: one entry for each key, unlike in the delaying queue (WKQ-11)."""
    ranked.add("web", after=5)
    ranked.add("web")
    now = take_all(ranked)

    await clock.advance(5)

    assert (now, take_all(ranked)) == (["web"], [])


async def test_a_queued_key_is_not_delayed(ranked: PriorityQueue[str], clock: ManualClock) -> None:
    """WKQ-21."""
    ranked.add("web")
    ranked.add("web", after=5, priority=3)

    found = await ranked.get_with_priority()
    ranked.done("web")
    await clock.advance(5)

    assert found == ("web", 3)
    assert len(ranked) == 0


async def test_with_rate_limited_and_after_the_shorter_delay_counts(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21."""
    ranked.add("limited", rate_limited=True, after=60)
    ranked.add("delayed", rate_limited=True, after=0.001)

    await clock.advance(0.001)
    first = take_all(ranked)
    await clock.advance(0.004)

    assert (first, take_all(ranked)) == (["delayed"], ["limited"])


def test_a_key_added_while_processing_is_ready_after_done(ranked: PriorityQueue[str]) -> None:
    """WKQ-21; len() does not count it until then (WKQ-6; controller-runtime's Len does)."""
    ranked.add("web")
    ranked.get_nowait()
    ranked.add("web", priority=4)
    before_done = len(ranked)

    with pytest.raises(QueueEmpty):
        ranked.get_nowait()
    ranked.done("web")

    assert (before_done, len(ranked)) == (0, 1)
    assert ranked.get_nowait() == "web"
    assert ranked.priority_of("web") == 4


async def test_a_key_in_processing_can_be_added_with_a_delay(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21."""
    ranked.add("web")
    ranked.get_nowait()
    ranked.add("web", after=1, priority=2)
    await clock.advance(1)

    ranked.done("web")

    assert ranked.get_nowait() == "web"
    assert ranked.priority_of("web") == 2


def test_len_does_not_count_delayed_keys(ranked: PriorityQueue[str]) -> None:
    """WKQ-22."""
    ranked.add("now")
    ranked.add("later", after=1)

    assert len(ranked) == 1
    assert ranked.stats().waiting == 1


async def test_the_default_limiter_delays_each_key_on_its_own(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-22: 5 ms to 1000 s for each key, and no limit on all keys together."""
    for number in range(500):
        ranked.add_rate_limited(str(number))

    await clock.advance(0.005)

    assert len(ranked) == 500
    for _ in range(30):
        ranked.add_rate_limited("web")
    ranked.forget("web")
    ranked.add("other", rate_limited=True)
    assert ranked.num_requeues("web") == 0


async def test_drain_waits_although_controller_runtimes_does_not(
    ranked: PriorityQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-7; the difference from WKQ-22 stands in docs/differences.md."""
    ranked.add("web", priority=3)
    ranked.get_nowait()
    draining = tasks.start(ranked.drain())
    await clock.settle()
    before = (draining.done(), ranked.stats().state)

    ranked.done("web")
    await clock.settle()

    assert before == (False, QueueState.DRAINING)
    assert draining.done()


async def test_shutdown_drops_delayed_keys(ranked: PriorityQueue[str], clock: ManualClock) -> None:
    """WKQ-12."""
    ranked.add("later", after=1)
    ranked.add("now")
    ranked.shut_down()
    ranked.add("too late", priority=9)

    await clock.advance(2)

    assert take_all(ranked) == ["now"]


@pytest.mark.parametrize("rate_limited", [True, False])
def test_a_delay_that_is_not_a_number_is_refused(
    ranked: PriorityQueue[str], rate_limited: bool
) -> None:
    with pytest.raises(InvalidValue):
        ranked.add("web", after=float("nan"), rate_limited=rate_limited)

    assert (ranked.stats().waiting, ranked.num_requeues("web")) == (0, 0)
