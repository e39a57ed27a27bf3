"""Rate and concurrency limits: how many calls pass, in which order."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.kit import (
    ConcurrencyLimit,
    DeadlineTooSoon,
    Limiter,
    ManualClock,
    TaskOwner,
    TokenBucket,
    Unlimited,
)


async def takers(
    tasks: TaskOwner, clock: ManualClock, bucket: TokenBucket, count: int
) -> tuple[list[tuple[int, float]], list[asyncio.Task[None]]]:
    """Start `count` waiting callers, and record when each got a token."""
    served: list[tuple[int, float]] = []

    async def taker(number: int) -> None:
        await bucket.take()
        served.append((number, clock.now()))

    started = [tasks.spawn(taker(number), name=str(number)) for number in range(count)]
    await clock.settle()
    return served, started


async def test_a_bucket_starts_full_and_refills_up_to_its_burst(clock: ManualClock) -> None:
    """REST-26, UTL-11: token bucket."""
    bucket = TokenBucket(2, 3, clock=clock)

    assert [bucket.try_take() for _ in range(4)] == [True, True, True, False]
    await clock.advance(0.5)
    assert [bucket.try_take() for _ in range(2)] == [True, False]
    await clock.advance(100)
    assert bucket.stats().tokens == 3


async def test_callers_are_served_in_the_order_they_came(clock: ManualClock) -> None:
    """REST-26: first in, first out, each when its token is due."""
    bucket = TokenBucket(1, 2, clock=clock)

    async with TaskOwner() as tasks:
        served, _ = await takers(tasks, clock, bucket, 5)
        assert bucket.stats().waiting == 3
        await clock.advance(10)

    assert served == [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3)]
    assert bucket.stats().taken == 5
    assert bucket.stats().waiting == 0


async def test_take_tells_how_long_it_waited(clock: ManualClock) -> None:
    bucket = TokenBucket(4, 1, clock=clock)
    assert await bucket.take() == 0

    second = asyncio.create_task(bucket.take())
    await clock.advance(1)

    assert second.result() == 0.25


def test_a_reservation_tells_when_its_token_comes(clock: ManualClock) -> None:
    """REST-26: token bucket."""
    bucket = TokenBucket(10, 2, clock=clock)

    delays = [bucket.reserve() for _ in range(4)]

    assert delays == pytest.approx([0, 0, 0.1, 0.2])
    assert bucket.stats().tokens == -2


async def test_a_deadline_before_the_token_fails_at_once_and_costs_nothing(
    clock: ManualClock,
) -> None:
    """REST-26: without sleeping."""
    bucket = TokenBucket(1, 1, clock=clock)
    await bucket.take()

    with pytest.raises(DeadlineTooSoon, match="due in 1 s"):
        await bucket.take(deadline=0.9)

    assert clock.now() == 0
    assert bucket.stats().taken == 1
    in_time = asyncio.create_task(bucket.take(deadline=1.0))
    await clock.advance(1)
    assert in_time.result() == 1


async def test_a_deadline_that_is_past_fails_even_with_tokens_left(clock: ManualClock) -> None:
    """REST-26: token bucket."""
    bucket = TokenBucket(1, 1, clock=clock)

    with pytest.raises(TimeoutError):
        await bucket.take(deadline=-1)


async def test_the_last_in_line_gives_its_token_back(clock: ManualClock) -> None:
    bucket = TokenBucket(1, 1, clock=clock)

    async with TaskOwner() as tasks:
        _, started = await takers(tasks, clock, bucket, 3)
        started[2].cancel()
        await clock.settle()

        assert bucket.stats().taken == 2
        assert bucket.reserve() == 2  # the moment that the third one gave up


async def test_waiters_behind_a_cancelled_one_keep_their_times(clock: ManualClock) -> None:
    bucket = TokenBucket(1, 1, clock=clock)

    async with TaskOwner() as tasks:
        served, started = await takers(tasks, clock, bucket, 3)
        started[1].cancel()
        await clock.advance(5)

    assert served == [(0, 0), (2, 2)]


async def test_when_all_leave_in_any_order_all_tokens_come_back(clock: ManualClock) -> None:
    bucket = TokenBucket(1, 1, clock=clock)

    async with TaskOwner() as tasks:
        _, started = await takers(tasks, clock, bucket, 5)
        for place in (2, 1, 3, 4):
            started[place].cancel()
        await clock.settle()

    assert bucket.stats().taken == 1
    assert bucket.stats().waiting == 0
    assert bucket.reserve() == 1


async def test_who_left_before_the_others_were_served_does_not_make_tokens(
    clock: ManualClock,
) -> None:
    bucket = TokenBucket(1, 1, clock=clock)

    async with TaskOwner() as tasks:
        served, started = await takers(tasks, clock, bucket, 4)
        started[1].cancel()
        await clock.advance(1.5)
        started[3].cancel()
        await clock.advance(10)

    assert served == [(0, 0), (2, 2)]
    assert bucket.stats().taken == 3


@pytest.mark.parametrize("rate", [3.0, 7.0, 10.0])
async def test_parts_of_a_token_add_up_to_a_whole_one(clock: ManualClock, rate: float) -> None:
    bucket = TokenBucket(rate, 1, clock=clock)
    bucket.try_take()

    for _ in range(50):
        await clock.advance(1 / rate)
        assert bucket.try_take()


class RandomUse:
    """Random use of a bucket: the times at which tokens were used."""

    def __init__(self, rate: float, burst: int) -> None:
        self.clock = ManualClock()
        self.bucket = TokenBucket(rate, burst, clock=self.clock)
        self.used: list[float] = []
        self.waiting: list[asyncio.Task[None]] = []

    async def take(self) -> None:
        await self.bucket.take()
        self.used.append(self.clock.now())

    async def step(self, tasks: TaskOwner, action: float | str) -> None:
        match action:
            case "take":
                self.waiting.append(tasks.spawn(self.take(), name="take"))
            case "try":
                self.used += [self.clock.now()] * self.bucket.try_take()
            case "leave first" if self.waiting:
                self.waiting.pop(0).cancel()
            case "leave last" if self.waiting:
                self.waiting.pop().cancel()
            case float(seconds):
                await self.clock.advance(seconds)
        await self.clock.settle()


@given(
    rate=st.floats(0.1, 50),
    burst=st.integers(1, 5),
    actions=st.lists(
        st.sampled_from(["take", "try", "leave first", "leave last"]) | st.floats(0, 3),
        max_size=40,
    ),
)
def test_no_stretch_of_time_sees_more_than_burst_and_rate_allow(
    rate: float, burst: int, actions: list[float | str]
) -> None:
    """REST-26: whatever is taken, tried and given up."""

    async def scenario() -> RandomUse:
        walk = RandomUse(rate, burst)
        async with TaskOwner() as tasks:
            for action in actions:
                await walk.step(tasks, action)
        return walk

    walk = asyncio.run(scenario())

    assert walk.used == sorted(walk.used)
    for first, begin in enumerate(walk.used):
        for last in range(first, len(walk.used)):
            allowed = burst + rate * (walk.used[last] - begin)
            assert last - first + 1 <= allowed + 1e-6
    assert walk.bucket.stats().tokens <= burst


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (1, 0), (float("nan"), 1)])
def test_a_bucket_without_tokens_is_rejected(clock: ManualClock, rate: float, burst: int) -> None:
    with pytest.raises(ValueError, match="the rate must be above 0"):
        TokenBucket(rate, burst, clock=clock)


async def test_without_a_limit_everything_passes() -> None:
    """REST-30: the limiter that always accepts."""
    limiter: Limiter = Unlimited()

    assert limiter.try_take()
    assert limiter.reserve() == 0
    assert await limiter.take(deadline=-1) == 0
    assert limiter.stats().taken == 3


async def test_a_gate_lets_so_many_in_and_the_others_in_order(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(2)
    entered: list[tuple[int, float]] = []

    async def visit(number: int) -> None:
        async with limit:
            entered.append((number, clock.now()))
            await clock.sleep(1)

    async with TaskOwner() as tasks:
        for number in range(5):
            tasks.spawn(visit(number), name=str(number))
        await clock.settle()
        assert (limit.stats().in_use, limit.stats().waiting) == (2, 3)
        await clock.advance(5)

    assert entered == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)]
    assert limit.stats().in_use == 0
    assert limit.stats().peak == 2


async def test_a_cancelled_waiter_takes_no_slot(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(1)

    async def visit() -> None:
        async with limit:
            await clock.sleep(1)

    async with TaskOwner() as tasks:
        visits = [tasks.spawn(visit(), name=str(number)) for number in range(3)]
        await clock.settle()
        visits[1].cancel()
        await clock.settle()
        assert limit.stats().waiting == 1
        await clock.advance(2)

        assert visits[2].done()
    assert limit.stats().in_use == 0


async def test_a_failure_releases_the_limit() -> None:
    limit = ConcurrencyLimit(1)

    with pytest.raises(LookupError):
        async with limit:
            raise LookupError

    async with limit:
        assert limit.stats().in_use == 1


def test_a_limit_of_zero_is_rejected() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ConcurrencyLimit(0)
