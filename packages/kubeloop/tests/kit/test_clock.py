"""The manual clock: order, times, bounds; and the system clock with the same interface."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.kit import Clock, ManualClock, SystemClock, TaskOwner


async def test_time_stands_still_until_it_is_moved(clock: ManualClock) -> None:
    before = clock.now(), clock.time()

    await clock.settle()

    assert (clock.now(), clock.time()) == before


async def test_each_sleeper_sees_its_due_time(clock: ManualClock) -> None:
    woken: list[tuple[float, float]] = []

    async def sleeper(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((seconds, clock.now()))

    async with TaskOwner() as tasks:
        for seconds in (5.0, 1.0, 3.0):
            tasks.spawn(sleeper(seconds), name=f"{seconds}")
        await clock.advance(4)

        assert woken == [(1.0, 1.0), (3.0, 3.0)]
        assert clock.now() == 4
        assert clock.sleepers == 1


@given(
    sleeps=st.lists(st.floats(0.001, 100), max_size=12),
    steps=st.lists(st.floats(0, 30), max_size=8),
)
def test_sleepers_wake_in_the_order_of_their_times(sleeps: list[float], steps: list[float]) -> None:
    async def scenario() -> None:
        clock = ManualClock(start=7)
        woken: list[tuple[float, int]] = []

        async def sleeper(number: int, seconds: float) -> None:
            await clock.sleep(seconds)
            woken.append((clock.now(), number))

        async with TaskOwner() as tasks:
            for number, seconds in enumerate(sleeps):
                tasks.spawn(sleeper(number, seconds), name=str(number))
            await clock.settle()
            for step in steps:
                await clock.advance(step)

            due = sorted((7 + seconds, number) for number, seconds in enumerate(sleeps))
            assert woken == due[: len(woken)]
            assert all(moment > clock.now() for moment, _ in due[len(woken) :])
            assert clock.sleepers == len(sleeps) - len(woken)

    asyncio.run(scenario())


async def test_a_repeated_sleeper_misses_no_due_time(clock: ManualClock) -> None:
    moments: list[float] = []

    async def ticking() -> None:
        while True:
            await clock.sleep(1)
            moments.append(clock.now())

    async with TaskOwner() as tasks:
        tasks.spawn(ticking(), name="ticking")
        await clock.advance(5)

    assert moments == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_what_a_sleeper_woke_has_run_before_advance_returns(factory: object) -> None:
    async def scenario() -> int:
        clock = ManualClock()
        queues: list[asyncio.Queue[int]] = [asyncio.Queue() for _ in range(40)]
        arrived: list[int] = []

        async def first() -> None:
            await clock.sleep(1)
            queues[0].put_nowait(7)

        async def relay(place: int) -> None:
            value = await queues[place].get()
            if place + 1 < len(queues):
                queues[place + 1].put_nowait(value)
            else:
                arrived.append(value)

        async with TaskOwner() as tasks:
            tasks.spawn(first(), name="first")
            for place in range(len(queues)):
                tasks.spawn(relay(place), name=str(place))
            await clock.advance(1)
            return len(arrived)

    assert callable(factory)
    with asyncio.Runner(loop_factory=factory) as runner:
        assert runner.run(scenario()) == 1


async def test_rounding_errors_do_not_delay_a_sleeper(clock: ManualClock) -> None:
    sleeper = asyncio.create_task(clock.sleep(0.8))

    for _ in range(8):
        await clock.advance(0.1)  # 0.7999999999999999 in the end

    assert sleeper.done()


async def test_a_task_that_never_blocks_does_not_hang_the_clock(clock: ManualClock) -> None:
    async def spin() -> None:
        while True:
            await clock.sleep(0)

    async with TaskOwner() as tasks:
        tasks.spawn(spin(), name="spin")
        await clock.advance(1)

    assert clock.now() == 1


async def test_a_cancelled_sleeper_is_forgotten(clock: ManualClock) -> None:
    sleeper = asyncio.create_task(clock.sleep(5))
    await clock.settle()

    sleeper.cancel()
    await clock.settle()

    assert sleeper.cancelled()
    assert clock.stats().sleepers == 0
    assert clock.stats().next_moment is None


async def test_a_sleeper_cancelled_at_its_due_time_does_not_wake(
    clock: ManualClock,
) -> None:
    async def rival() -> None:
        await clock.sleep(1)
        victim.cancel()

    first = asyncio.create_task(rival())
    victim = asyncio.create_task(clock.sleep(1))

    await clock.advance(1)

    assert first.done()
    assert victim.cancelled()


async def test_two_may_advance_at_once(clock: ManualClock) -> None:
    sleeper = asyncio.create_task(clock.sleep(3))

    await asyncio.gather(clock.advance(5), clock.advance(2))

    assert sleeper.done()
    assert clock.now() == 5


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
async def test_time_does_not_move_backwards(clock: ManualClock, seconds: float) -> None:
    with pytest.raises(ValueError, match="only moves forward"):
        await clock.advance(seconds)


async def test_the_wall_clock_advances_too_and_may_jump() -> None:
    noon = datetime(2031, 5, 1, 12, tzinfo=UTC)
    clock = ManualClock(start=100, wall=noon)

    await clock.advance(10)
    clock.jump_wall(-3600)

    assert clock.time() == noon + timedelta(seconds=10 - 3600)
    assert clock.now() == 110


async def test_stats_tell_who_waits_and_until_when(clock: ManualClock) -> None:
    async def bounded() -> None:
        async with clock.timeout(9):
            await clock.sleep(4)

    waiting = asyncio.create_task(bounded())
    await clock.settle()

    stats = clock.stats()

    assert (stats.sleepers, stats.timeouts, stats.next_moment) == (1, 1, 4.0)
    await clock.advance(4)
    await waiting
    assert clock.stats().timeouts == 0


async def bounded_sleep(clock: Clock, sleep: float, bound: float | None) -> str:
    try:
        async with clock.timeout(bound) as timeout:
            await clock.sleep(sleep)
    except TimeoutError:
        return f"too long at {clock.now():g}, {timeout.expired()}"
    return f"done at {clock.now():g}, {timeout.expired()}"


@pytest.mark.parametrize(
    ("bound", "outcome"),
    [
        (3.0, "too long at 3, True"),
        (7.0, "done at 5, False"),
        (None, "done at 5, False"),
        (0.0, "too long at 0, True"),
        (-1.0, "too long at 0, True"),
    ],
)
async def test_a_timeout_ends_at_its_due_time(
    clock: ManualClock, bound: float | None, outcome: str
) -> None:
    block = asyncio.create_task(bounded_sleep(clock, 5, bound))

    await clock.advance(10)

    assert block.result() == outcome


async def test_nested_bounds_expire_each_for_itself(clock: ManualClock) -> None:
    async def nested() -> list[bool]:
        async with clock.timeout(5) as outer:
            try:
                async with clock.timeout(2) as inner:
                    await clock.sleep(100)
            except TimeoutError:
                return [inner.expired(), outer.expired()]
        return []

    block = asyncio.create_task(nested())

    await clock.advance(10)

    assert block.result() == [True, False]


async def test_a_bound_does_not_turn_a_cancellation_into_a_timeout(clock: ManualClock) -> None:
    block = asyncio.create_task(bounded_sleep(clock, 5, 3))
    await clock.advance(1)

    block.cancel()
    await clock.advance(5)

    assert block.cancelled()
    assert clock.stats().timeouts == 0


async def test_a_block_that_never_waits_meets_no_bound(clock: ManualClock) -> None:
    async with clock.timeout(0) as timeout:
        pass

    assert not timeout.expired()


async def test_the_machines_clock_has_the_same_face() -> None:
    clock: Clock = SystemClock()
    before = clock.now()

    await clock.sleep(0)

    assert clock.now() >= before
    assert clock.time().utcoffset() == timedelta(0)
    with pytest.raises(TimeoutError):
        async with clock.timeout(0):
            await clock.sleep(60)


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="only Linux has such a clock")
def test_the_machines_clock_counts_the_time_for_which_it_was_suspended() -> None:
    before = time.clock_gettime(time.CLOCK_BOOTTIME)

    now = SystemClock().now()

    assert before <= now <= time.clock_gettime(time.CLOCK_BOOTTIME)


async def test_a_timer_calls_once_at_its_due_time(clock: ManualClock) -> None:
    calls: list[float] = []
    clock.timer(2, lambda: calls.append(clock.now()))

    await clock.advance(1.5)
    assert (calls, clock.stats().timers, clock.stats().next_moment) == ([], 1, 2.0)
    await clock.advance(10)

    assert calls == [2.0]
    assert clock.stats().timers == 0


async def test_timers_and_sleepers_are_due_in_one_order(clock: ManualClock) -> None:
    order: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        order.append(name)

    async with TaskOwner() as tasks:
        tasks.spawn(sleeper("first", 1), name="first")
        tasks.spawn(sleeper("third", 3), name="third")
        clock.timer(2, lambda: order.append("second"))
        clock.timer(4, lambda: order.append("fourth"))
        await clock.advance(5)

    assert order == ["first", "second", "third", "fourth"]


async def test_a_timer_may_start_the_next_one(clock: ManualClock) -> None:
    calls: list[float] = []

    def tick() -> None:
        calls.append(clock.now())
        clock.timer(1, tick)

    clock.timer(1, tick)
    await clock.advance(3)

    assert calls == [1, 2, 3]


@pytest.mark.parametrize("seconds", [0.0, 0.01])
@pytest.mark.parametrize("make", [ManualClock, SystemClock])
async def test_a_cancelled_timer_calls_nothing(make: type[Clock], seconds: float) -> None:
    clock = make()
    calls: list[str] = []
    timer = clock.timer(seconds, lambda: calls.append("cancelled"))
    after = asyncio.Event()
    clock.timer(seconds, after.set)

    timer.cancel()
    timer.cancel()
    if isinstance(clock, ManualClock):
        await clock.advance(1)
    await after.wait()

    assert calls == []


async def test_a_timer_without_delay_calls_in_the_next_iteration(clock: ManualClock) -> None:
    calls: list[str] = []
    clock.timer(0, lambda: calls.append("called"))
    assert calls == []

    await clock.settle()

    assert calls == ["called"]
