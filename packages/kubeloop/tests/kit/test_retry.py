"""Retry and poll loops: how often, how long, and which errors end them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kubeloop.kit import (
    DEFAULT_BACKOFF,
    DEFAULT_RETRY,
    Backoff,
    ManualClock,
    TaskOwner,
    poll,
    repeat,
    retry,
    until_true,
)


def none() -> float:
    return 0.0


class ScriptedCondition:
    """Returns or raises the given results in order, and records the times of its calls."""

    def __init__(self, clock: ManualClock, *results: bool | Exception, takes: float = 0) -> None:
        self._clock = clock
        self._results = list(results)
        self._takes = takes
        self.called_at: list[float] = []

    async def __call__(self) -> bool:
        self.called_at.append(round(self._clock.now(), 6))
        if self._takes:
            await self._clock.sleep(self._takes)
        result = self._results.pop(0) if self._results else False
        if isinstance(result, Exception):
            raise result
        return result


async def outcome(clock: ManualClock, work: Awaitable[object]) -> tuple[object, float]:
    """The result or the error of `work`, and its duration."""
    began = clock.now()

    async def ended() -> tuple[object, float]:
        try:
            result = await work
        except Exception as error:  # noqa: BLE001 - the error is the result
            return error, round(clock.now() - began, 6)
        return result, round(clock.now() - began, 6)

    task = asyncio.create_task(ended())
    await clock.advance(1000)
    return task.result()


def always(_error: Exception) -> bool:
    return True


async def test_the_defaults_are_the_originals() -> None:
    """UTL-7: DefaultRetry."""
    assert Backoff(steps=5, duration=0.01, factor=1.0, jitter=0.1) == DEFAULT_RETRY
    assert Backoff(steps=4, duration=0.01, factor=5.0, jitter=0.1) == DEFAULT_BACKOFF


@pytest.mark.parametrize(
    ("backoff", "times"),
    [
        pytest.param(DEFAULT_RETRY, [0, 0.01, 0.02, 0.03, 0.04], id="UTL-C1 five times"),
        pytest.param(DEFAULT_BACKOFF, [0, 0.01, 0.06, 0.31], id="UTL-C1 four times"),
        pytest.param(Backoff(steps=1, duration=9), [0], id="UTL-8 once"),
    ],
)
async def test_the_last_error_is_raised_after_the_last_attempt(
    clock: ManualClock, backoff: Backoff, times: list[float]
) -> None:
    """UTL-8: the last error itself, no timeout, and no wait after it."""
    errors = [LookupError(number) for number in range(9)]
    call = ScriptedCondition(clock, *errors)

    result = await outcome(
        clock, retry(call, when=always, backoff=backoff, clock=clock, random=none)
    )

    assert call.called_at == times
    assert result == (errors[len(times) - 1], times[-1])


async def test_a_success_ends_the_tries(clock: ManualClock) -> None:
    """UTL-8: OnError."""
    call = ScriptedCondition(clock, LookupError(), True)

    result = await outcome(clock, retry(call, when=always, clock=clock, random=none))

    assert result == (True, 0.01)


async def test_an_error_that_is_not_retriable_is_raised_at_once(clock: ManualClock) -> None:
    """UTL-8: OnError."""
    fatal = ValueError()
    call = ScriptedCondition(clock, LookupError(), fatal, True)

    result = await outcome(
        clock, retry(call, when=lambda error: isinstance(error, LookupError), clock=clock)
    )

    assert result[0] is fatal
    assert len(call.called_at) == 2


async def test_a_cap_ends_the_tries_after_one_more_wait(clock: ManualClock) -> None:
    """UTL-8 with UTL-C3's settings: the last error, after the wait."""
    error = LookupError()
    call = ScriptedCondition(clock, error, True)
    backoff = Backoff(steps=10, duration=1, factor=10, cap=5)

    result = await outcome(clock, retry(call, when=always, backoff=backoff, clock=clock))

    assert result == (error, 1.0)
    assert len(call.called_at) == 1


async def test_a_retry_without_steps_is_refused(clock: ManualClock) -> None:
    with pytest.raises(ValueError, match="at least one"):
        await retry(
            ScriptedCondition(clock, True), when=always, backoff=Backoff(duration=1), clock=clock
        )


async def test_a_cancelled_retry_does_not_try_again(clock: ManualClock) -> None:
    call = ScriptedCondition(clock, LookupError(), True)
    task = asyncio.create_task(retry(call, when=always, clock=clock))
    await clock.settle()

    task.cancel()
    await clock.advance(1)

    assert task.cancelled()
    assert len(call.called_at) == 1
    assert clock.sleepers == 0


async def test_until_true_asks_once_a_step_and_does_not_wait_after_the_last(
    clock: ManualClock,
) -> None:
    """UTL-3: ExponentialBackoff."""
    condition = ScriptedCondition(clock)

    error, took = await outcome(
        clock,
        until_true(condition, backoff=Backoff(steps=3, duration=1, factor=2), clock=clock),
    )

    assert isinstance(error, TimeoutError)
    assert condition.called_at == [0, 1, 3]
    assert took == 3


async def test_until_true_ends_with_the_first_yes(clock: ManualClock) -> None:
    """UTL-3: ExponentialBackoff."""
    condition = ScriptedCondition(clock, False, True)

    result = await outcome(
        clock, until_true(condition, backoff=Backoff(steps=9, duration=1), clock=clock)
    )

    assert result == (None, 1)


async def test_until_true_raises_the_error_of_the_condition_at_once(clock: ManualClock) -> None:
    """UTL-3: ExponentialBackoff."""
    error = LookupError()

    result = await outcome(
        clock, until_true(ScriptedCondition(clock, error), backoff=DEFAULT_RETRY, clock=clock)
    )

    assert result == (error, 0)


async def test_a_cap_reached_on_the_first_step_asks_once(clock: ManualClock) -> None:
    """UTL-C3, V-5: once, then one wait, then the timeout."""
    condition = ScriptedCondition(clock, False, True)
    backoff = Backoff(steps=10, duration=1, factor=10, cap=5)

    error, took = await outcome(clock, until_true(condition, backoff=backoff, clock=clock))

    assert isinstance(error, TimeoutError)
    assert condition.called_at == [0]
    assert took == 1


async def test_until_true_without_steps_never_asks(clock: ManualClock) -> None:
    """UTL-3: ExponentialBackoff."""
    condition = ScriptedCondition(clock, True)

    with pytest.raises(TimeoutError):
        await until_true(condition, backoff=Backoff(duration=1), clock=clock)

    assert condition.called_at == []


@pytest.mark.parametrize(("immediate", "times"), [(True, [0, 2, 4]), (False, [2, 4, 6])])
async def test_poll_asks_at_once_only_if_immediate(
    clock: ManualClock, immediate: bool, times: list[float]
) -> None:
    """UTL-4: polling."""
    condition = ScriptedCondition(clock, False, False, True)

    await outcome(clock, poll(condition, every=2, clock=clock, immediate=immediate))

    assert condition.called_at == times


async def test_poll_takes_plain_functions_too(clock: ManualClock) -> None:
    assert await outcome(clock, poll(lambda: clock.now() >= 3, every=1, clock=clock)) == (None, 3)


async def test_ticks_keep_to_their_grid_and_missed_ones_count_as_one(clock: ManualClock) -> None:
    """UTL-4: a question of 2.5 s misses two ticks, one follows at once, the next is on time."""
    condition = ScriptedCondition(clock, False, False, False, True, takes=2.5)

    await outcome(clock, poll(condition, every=1, clock=clock))

    assert condition.called_at == [0, 2.5, 5, 7.5]

    quick_after_slow = iter([2.5, 0, 0, 0])
    called_at: list[float] = []

    async def slow_once() -> bool:
        called_at.append(clock.now() - began)
        await clock.sleep(next(quick_after_slow))
        return len(called_at) == 4

    began = clock.now()
    await outcome(clock, poll(slow_once, every=1, clock=clock))

    assert called_at == [0, 2.5, 3, 4]


async def test_poll_gives_up_in_time(clock: ManualClock) -> None:
    """UTL-4: polling."""
    condition = ScriptedCondition(clock)

    error, took = await outcome(clock, poll(condition, every=2, within=5, clock=clock))

    assert isinstance(error, TimeoutError)
    assert "within 5 s" in str(error)
    assert (condition.called_at, took) == ([0, 2, 4], 5)


@pytest.mark.parametrize("within", [0.0, -1.0])
async def test_an_immediate_poll_asks_even_without_any_time(
    clock: ManualClock, within: float
) -> None:
    """UTL-4: polling."""
    condition = ScriptedCondition(clock, True)

    await poll(condition, every=1, within=within, clock=clock)

    assert condition.called_at == [0]


async def test_a_poll_that_is_not_immediate_does_not_ask_without_time(clock: ManualClock) -> None:
    """UTL-4: polling."""
    condition = ScriptedCondition(clock, True)

    with pytest.raises(TimeoutError):
        await poll(condition, every=1, within=0, clock=clock, immediate=False)

    assert condition.called_at == []


@pytest.mark.parametrize("error", [LookupError(), TimeoutError("the condition's own")])
async def test_poll_raises_the_error_of_the_condition_unchanged(
    clock: ManualClock, error: Exception
) -> None:
    """UTL-4: polling."""
    assert await outcome(
        clock, poll(ScriptedCondition(clock, False, error), every=1, within=5, clock=clock)
    ) == (error, 1)


async def test_a_poll_without_an_interval_lets_others_run(clock: ManualClock) -> None:
    results = iter([False, False, True])

    await poll(lambda: next(results), every=0, clock=clock)

    assert list(results) == []


def taking(clock: ManualClock, seconds: float, times: list[float]) -> Callable[[], Awaitable[None]]:
    async def call() -> None:
        times.append(clock.now())
        await clock.sleep(seconds)

    return call


@pytest.mark.parametrize(
    ("takes", "sliding", "jitter", "expected"),
    [
        pytest.param(1, True, 0, [0, 4, 8], id="UTL-5 period after the end"),
        pytest.param(1, False, 0, [0, 3, 6, 9], id="UTL-5 NonSliding"),
        pytest.param(4, False, 0, [0, 4, 8], id="UTL-5 NonSliding, a call longer than the period"),
        pytest.param(0, True, 2, [0, 6], id="UTL-5 JitterUntil"),
        pytest.param(0, True, -1, [0, 3, 6, 9], id="UTL-5 JitterUntil without a factor"),
    ],
)
async def test_repeat_counts_the_period(
    clock: ManualClock, *, takes: float, sliding: bool, jitter: float, expected: list[float]
) -> None:
    times: list[float] = []
    call = taking(clock, takes, times)

    async with TaskOwner() as tasks:
        tasks.spawn(
            repeat(call, period=3, clock=clock, sliding=sliding, jitter=jitter, random=lambda: 0.5),
            name="repeat",
        )
        await clock.advance(10)

    assert times == expected


async def test_what_a_repeated_call_raises_ends_the_loop(clock: ManualClock) -> None:
    error = LookupError()

    result = await outcome(
        clock, repeat(ScriptedCondition(clock, True, error), period=1, clock=clock)
    )

    assert result == (error, 1)
