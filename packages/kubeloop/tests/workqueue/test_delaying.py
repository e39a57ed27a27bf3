"""Keys with a delay."""

from __future__ import annotations

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.workqueue import DelayingQueue, QueueEmpty

from .conftest import Tasks, process_all


async def test_a_delayed_key_is_ready_when_its_delay_is_over(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-9: adding after a delay."""
    queue.add("web", after=5)

    await clock.advance(4.999)
    early = len(queue)
    await clock.advance(0.001)

    assert early == 0
    assert queue.get_nowait() == "web"


async def test_a_key_added_with_two_delays_is_ready_at_the_earlier_time(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-10: one entry for a key, at the earliest time."""
    queue.add("web", after=5)
    queue.add("web", after=60)

    await clock.advance(5)

    assert queue.get_nowait() == "web"
    assert queue.stats().delayed == 0


@pytest.mark.parametrize(("second", "fires"), [(0.070, 0.050), (0.030, 0.030)])
async def test_of_two_delays_only_the_shorter_one_fires(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks, second: float, fires: float
) -> None:
    """WKQ-10, WKQ-C5: one entry for a key, at the earliest time."""
    times: list[float] = []

    async def worker() -> None:
        while True:
            async with queue.item():
                times.append(clock.now())

    tasks.start(worker())
    await clock.settle()
    queue.add("web", after=0.050)
    queue.add("web", after=second)

    await clock.advance(1)

    assert times == [pytest.approx(fires)]


@pytest.mark.parametrize("after", [0, -1.0, 0.0])
def test_a_delay_of_zero_or_less_is_no_delay(queue: DelayingQueue[str], after: float) -> None:
    """WKQ-9: adding after a delay."""
    queue.add("web", after=after)

    assert queue.get_nowait() == "web"


def test_adding_with_a_delay_never_blocks_and_has_no_limit(queue: DelayingQueue[str]) -> None:
    """WKQ-9: client-go's buffer holds 1000 keys; here is no buffer."""
    for number in range(5000):
        queue.add(str(number), after=number + 1)

    assert queue.stats().delayed == 5000


def test_a_delay_that_is_not_a_number_is_rejected(queue: DelayingQueue[str]) -> None:
    with pytest.raises(InvalidArgument, match="add 'web' after nan s"):
        queue.add("web", after=float("nan"))


async def test_a_key_can_wait_again_after_it_has_fired(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-10: one entry for a key, at the earliest time."""
    queue.add("web", after=1)
    await clock.advance(1)
    first = process_all(queue)

    queue.add("web", after=9)
    await clock.advance(9)

    assert first == process_all(queue) == ["web"]


async def test_adding_a_delayed_key_now_does_not_cancel_its_delay(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-11, V-12: add and add-after are independent."""
    queue.add("web", after=0.3)
    queue.add("web")
    now = process_all(queue)

    await clock.advance(0.3)

    assert now == ["web"]
    assert process_all(queue) == ["web"]


async def test_a_key_whose_delay_ends_while_it_is_processed_is_queued_by_done(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-5: one worker for a key."""
    queue.add("web", after=1)
    queue.add("web")
    queue.get_nowait()

    await clock.advance(1)
    with pytest.raises(QueueEmpty):
        queue.get_nowait()
    queue.done("web")

    assert queue.get_nowait() == "web"


async def test_shutdown_drops_delayed_keys(queue: DelayingQueue[str], clock: ManualClock) -> None:
    """WKQ-12: shutdown drops delayed keys."""
    queue.add("web", after=1)

    queue.shut_down()
    await clock.advance(2)

    assert len(queue) == 0
    assert queue.stats().delayed == 0


async def test_shutdown_keeps_a_key_whose_delay_is_over(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-12: it no longer waits, even if no call has looked at the queue since."""
    queue.add("web", after=1)
    await clock.advance(1)

    queue.shut_down()

    assert process_all(queue) == ["web"]


async def test_a_delayed_add_after_shutdown_is_ignored(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-9: adding after a delay."""
    queue.shut_down()

    queue.add("web", after=1)
    queue.add("db", after=0)
    await clock.advance(2)

    assert len(queue) == 0
    assert queue.stats().delayed == 0


async def test_delayed_keys_become_ready_in_the_order_of_their_times(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-9: adding after a delay."""
    for key, after in (("c", 3.0), ("a", 1.0), ("b", 2.0), ("also b", 2.0)):
        queue.add(key, after=after)

    await clock.advance(5)

    assert process_all(queue) == ["a", "b", "also b", "c"]


async def test_an_earlier_key_resets_the_timer_of_a_waiting_worker(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    queue.add("late", after=60)
    worker = tasks.start(queue.get())
    await clock.settle()

    queue.add("soon", after=1)
    await clock.advance(1)

    assert worker.result() == "soon"


async def test_a_waiting_worker_checks_the_clock_every_ten_seconds(
    queue: DelayingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-9: adding after a delay."""
    queue.add("web", after=float("inf"))
    tasks.start(queue.get())
    await clock.settle()

    assert clock.stats().next_moment == 10
    await clock.advance(10)
    assert clock.stats().next_moment == 20


async def test_a_key_whose_delay_is_shortened_ten_thousand_times_is_processed_once(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """WKQ-10: one entry for a key, at the earliest time."""
    for after in range(10_000, 0, -1):
        queue.add("web", after=after)

    await clock.advance(1)
    taken = process_all(queue)
    await clock.advance(20_000)

    assert taken == ["web"]
    assert len(queue) == 0


async def test_a_rounding_error_of_the_clock_does_not_keep_a_key_waiting(
    queue: DelayingQueue[str], clock: ManualClock
) -> None:
    """0.2 + 0.7 is less than 0.9 in floating point."""
    queue.add("web", after=0.9)

    await clock.advance(0.2)
    await clock.advance(0.7)

    assert clock.now() < 0.9
    assert process_all(queue) == ["web"]
