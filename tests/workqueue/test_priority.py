"""What matters more goes first."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock
from kubeloop.machinery import InvalidValue
from kubeloop.workqueue import LOW_PRIORITY, PriorityQueue, QueueEmpty

from .conftest import Tasks, take_all


def test_the_higher_priority_leaves_first_and_equals_in_the_order_they_came(
    ranked: PriorityQueue[str],
) -> None:
    """WKQ-20."""
    for key, priority in (("a", 0), ("b", 5), ("c", -5), ("d", 5), ("e", 0)):
        ranked.add(key, priority=priority)

    assert take_all(ranked) == ["b", "d", "a", "e", "c"]


def test_initial_adds_and_resyncs_go_behind_live_changes(ranked: PriorityQueue[str]) -> None:
    """WKQ-22."""
    for key in ("old-1", "old-2"):
        ranked.add(key, priority=LOW_PRIORITY)
    ranked.add("live")
    ranked.add("old-2")  # and now it has changed

    assert LOW_PRIORITY == -100
    assert take_all(ranked) == ["old-2", "live", "old-1"]


async def test_ready_keys_go_before_those_that_wait_whatever_their_priority(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-20."""
    ranked.add("later", after=5, priority=100)
    ranked.add("now", priority=-100)

    ready = take_all(ranked)
    await clock.advance(5)

    assert (ready, take_all(ranked)) == (["now"], ["later"])


async def test_a_key_keeps_its_priority_while_it_waits(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-20."""
    ranked.add("important", after=2, priority=7)
    ranked.add("soon", after=1)
    await clock.advance(2)
    ranked.add("now")

    assert take_all(ranked) == ["important", "soon", "now"]


async def test_keys_that_wait_leave_in_the_order_of_their_moments(
    ranked: PriorityQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-20."""
    left: list[str] = []

    async def worker() -> None:
        while True:
            async with ranked.item() as key:
                left.append(key)

    tasks.begin(worker())
    for key, after in (("c", 3.0), ("a", 1.0), ("b", 2.0)):
        ranked.add(key, after=after, priority=int(after))

    await clock.advance(3)

    assert left == ["a", "b", "c"]


async def test_get_tells_the_priority(ranked: PriorityQueue[str]) -> None:
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


def test_a_key_that_rises_keeps_its_turn_among_its_new_equals(ranked: PriorityQueue[str]) -> None:
    """WKQ-20, WKQ-21."""
    ranked.add("first", priority=-1)
    ranked.add("second")
    ranked.add("first", priority=0)

    assert take_all(ranked) == ["first", "second"]


@pytest.mark.parametrize(("first", "second"), [(50.0, 70.0), (70.0, 50.0)])
async def test_a_key_that_is_added_again_keeps_the_earlier_moment(
    ranked: PriorityQueue[str], clock: ManualClock, first: float, second: float
) -> None:
    """WKQ-21."""
    ranked.add("web", after=first)
    ranked.add("web", after=second)

    await clock.advance(50)

    assert take_all(ranked) == ["web"]
    assert ranked.stats().waiting == 0


async def test_adding_a_key_that_waits_replaces_the_waiting(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: one place for each key, other than in the plain delaying queue."""
    ranked.add("web", after=5)
    ranked.add("web")
    now = take_all(ranked)

    await clock.advance(5)

    assert (now, take_all(ranked)) == (["web"], [])


async def test_a_queued_key_is_not_put_off(ranked: PriorityQueue[str], clock: ManualClock) -> None:
    """WKQ-21."""
    ranked.add("web")
    ranked.add("web", after=5, priority=3)

    found = await ranked.get_with_priority()
    ranked.done("web")
    await clock.advance(5)

    assert found == ("web", 3)
    assert len(ranked) == 0


async def test_with_a_limit_and_a_delay_the_shorter_one_counts(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-21."""
    ranked.add("limited", rate_limited=True, after=60)
    ranked.add("delayed", rate_limited=True, after=0.001)

    await clock.advance(0.001)
    first = take_all(ranked)
    await clock.advance(0.004)

    assert (first, take_all(ranked)) == (["delayed"], ["limited"])


def test_a_key_in_work_may_be_queued_and_is_handed_out_after_done(
    ranked: PriorityQueue[str],
) -> None:
    """WKQ-21, WKQ-22: it counts as ready, and yet no second worker gets it."""
    ranked.add("web")
    ranked.get_nowait()
    ranked.add("web", priority=4)
    counted = len(ranked)

    with pytest.raises(QueueEmpty):
        ranked.get_nowait()
    ranked.done("web")

    assert counted == 1
    assert ranked.get_nowait() == "web"
    assert ranked.priority_of("web") == 4


async def test_a_key_in_work_may_wait_for_later_meanwhile(
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


def test_len_counts_ready_keys_only(ranked: PriorityQueue[str]) -> None:
    """WKQ-22."""
    ranked.add("now")
    ranked.add("later", after=1)

    assert len(ranked) == 1
    assert ranked.stats().waiting == 1


async def test_failing_keys_wait_each_on_its_own(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-22: 5 ms to 1000 s for each key, and no limit on all of them."""
    for number in range(500):
        ranked.add_rate_limited(str(number))

    await clock.advance(0.005)

    assert len(ranked) == 500
    for _ in range(30):
        ranked.add_rate_limited("web")
    ranked.forget("web")
    ranked.add("other", rate_limited=True)
    assert ranked.requeues("web") == 0


async def test_drain_does_not_wait(ranked: PriorityQueue[str]) -> None:
    """WKQ-22."""
    ranked.add("web")
    ranked.get_nowait()

    await ranked.drain()

    assert ranked.stats().phase == "shut down"
    assert ranked.stats().in_work == 1


async def test_keys_that_wait_are_lost_at_shutdown(
    ranked: PriorityQueue[str], clock: ManualClock
) -> None:
    """WKQ-12."""
    ranked.add("later", after=1)
    ranked.add("now")
    ranked.shut_down()
    ranked.add("too late", priority=9)

    await clock.advance(2)

    assert take_all(ranked) == ["now"]


def test_a_delay_that_is_no_number_is_refused(ranked: PriorityQueue[str]) -> None:
    with pytest.raises(InvalidValue):
        ranked.add("web", after=float("nan"))

    assert ranked.stats().waiting == 0
