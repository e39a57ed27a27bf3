"""Keys for later."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock
from kubeloop.machinery import InvalidValue
from kubeloop.workqueue import HEARTBEAT, DelayingQueue, QueueEmpty

from .conftest import Tasks, take_all


async def test_a_key_for_later_is_handed_out_when_its_moment_comes(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-9."""
    queue.add("web", after=5)

    await clock.advance(4.999)
    early = len(queue)
    await clock.advance(0.001)

    assert early == 0
    assert queue.get_nowait() == "web"


async def test_an_item_asked_for_twice_keeps_the_earlier_moment(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-10."""
    queue.add("web", after=5)
    queue.add("web", after=60)

    await clock.advance(5)

    assert queue.get_nowait() == "web"
    assert queue.stats().waiting == 0


@pytest.mark.parametrize(("second", "fires"), [(0.070, 0.050), (0.030, 0.030)])
async def test_of_two_delays_the_shorter_one_fires_once(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks, second: float, fires: float
) -> None:
    """WKQ-10, WKQ-C5."""
    moments: list[float] = []

    async def worker() -> None:
        while True:
            async with queue.item():
                moments.append(clock.now())

    tasks.begin(worker())
    await clock.settle()
    queue.add("web", after=0.050)
    queue.add("web", after=second)

    await clock.advance(1)

    assert moments == [pytest.approx(fires)]


@pytest.mark.parametrize("after", [0, -1.0, 0.0])
def test_no_delay_is_now(queue: DelayingQueue[str], after: float) -> None:
    """WKQ-9."""
    queue.add("web", after=after)

    assert queue.get_nowait() == "web"


def test_adding_for_later_never_blocks_and_has_no_bound(queue: DelayingQueue[str]) -> None:
    """WKQ-9: client-go's buffer holds 1000; there is no buffer here that could be full."""
    for number in range(5000):
        queue.add(str(number), after=number + 1)

    assert queue.stats().waiting == 5000


def test_a_delay_that_is_no_number_is_refused(queue: DelayingQueue[str]) -> None:
    with pytest.raises(InvalidValue, match="add 'web' after nan s"):
        queue.add("web", after=float("nan"))


async def test_a_key_can_wait_again_after_it_has_fired(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-10."""
    queue.add("web", after=1)
    await clock.advance(1)
    first = take_all(queue)

    queue.add("web", after=9)
    await clock.advance(9)

    assert first == take_all(queue) == ["web"]


async def test_adding_a_waiting_key_now_does_not_take_back_what_was_asked_for_later(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-11, V-12."""
    queue.add("web", after=0.3)
    queue.add("web")
    now = take_all(queue)

    await clock.advance(0.3)

    assert now == ["web"]
    assert take_all(queue) == ["web"]


async def test_a_key_that_fires_while_in_work_is_handed_out_after_that(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-5."""
    queue.add("web", after=1)
    queue.add("web")
    queue.get_nowait()

    await clock.advance(1)
    with pytest.raises(QueueEmpty):
        queue.get_nowait()
    queue.done("web")

    assert queue.get_nowait() == "web"


async def test_waiting_keys_are_lost_at_shutdown(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-12."""
    queue.add("web", after=1)

    queue.shut_down()
    await clock.advance(2)

    assert len(queue) == 0
    assert queue.stats().waiting == 0


async def test_a_key_whose_moment_had_come_is_not_lost_at_shutdown(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-12: it no longer waits, even if nobody has looked since."""
    queue.add("web", after=1)
    await clock.advance(1)

    queue.shut_down()

    assert take_all(queue) == ["web"]


async def test_nothing_waits_after_shutdown(queue: DelayingQueue[str], clock: ManualClock) -> None:
    """WKQ-9."""
    queue.shut_down()

    queue.add("web", after=1)
    queue.add("db", after=0)
    await clock.advance(2)

    assert len(queue) == 0
    assert queue.stats().waiting == 0


async def test_keys_leave_in_the_order_of_their_moments(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-9."""
    for key, after in (("c", 3.0), ("a", 1.0), ("b", 2.0), ("also b", 2.0)):
        queue.add(key, after=after)

    await clock.advance(5)

    assert take_all(queue) == ["a", "b", "also b", "c"]


async def test_an_earlier_key_wakes_the_worker_that_watches_the_clock(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    queue.add("late", after=60)
    worker = tasks.begin(queue.get())
    await clock.settle()

    queue.add("soon", after=1)
    await clock.advance(1)

    assert worker.result() == "soon"


async def test_a_moment_far_off_is_looked_at_again_every_ten_seconds(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-9."""
    queue.add("web", after=float("inf"))
    tasks.begin(queue.get())
    await clock.settle()

    assert HEARTBEAT == 10
    assert clock.stats().next_moment == 10
    await clock.advance(10)
    assert clock.stats().next_moment == 20


async def test_a_key_whose_delay_shrinks_again_and_again_takes_no_more_room(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-10."""
    for after in range(10_000, 0, -1):
        queue.add("web", after=after)

    await clock.advance(1)
    taken = take_all(queue)
    await clock.advance(20_000)

    assert taken == ["web"]
    assert len(queue) == 0


async def test_time_that_does_not_add_up_exactly_still_fires(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """0.2 + 0.7 is less than 0.9 for a computer."""
    queue.add("web", after=0.9)

    await clock.advance(0.2)
    await clock.advance(0.7)

    assert clock.now() < 0.9
    assert take_all(queue) == ["web"]
