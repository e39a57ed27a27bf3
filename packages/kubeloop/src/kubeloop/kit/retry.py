"""Loops that retry, poll or repeat.

Guarantees: every wait uses the clock that is passed in; an error that is not to be retried is
raised at once; when time or attempts run out, the error is a `TimeoutError`, or the last error
of `retry`; a cancellation ends a loop at its next wait.
See also: delays (`backoff`).
"""

from __future__ import annotations

import inspect
import random as chance
from collections.abc import Awaitable, Callable
from typing import Never, TypeVar

from .backoff import Backoff, Random, jittered
from .clock import Clock

__all__ = ["DEFAULT_BACKOFF", "DEFAULT_RETRY", "Condition", "poll", "repeat", "retry", "until_true"]

T = TypeVar("T")

Condition = Callable[[], bool | Awaitable[bool]]

DEFAULT_RETRY = Backoff(steps=5, duration=0.01, factor=1.0, jitter=0.1)
"""For calls with little contention: five attempts, 10 ms apart."""

DEFAULT_BACKOFF = Backoff(steps=4, duration=0.01, factor=5.0, jitter=0.1)
"""For calls with much contention: four attempts, about 10, 50 and 250 ms apart."""


async def retry(
    call: Callable[[], Awaitable[T]],
    *,
    when: Callable[[Exception], bool],
    clock: Clock,
    backoff: Backoff = DEFAULT_RETRY,
    random: Random = chance.random,
) -> T:
    """Call until it succeeds, at most `backoff.steps` times (client-go: `retry.OnError`).

    An error for which `when` is false is raised at once; after the last attempt its error is
    raised, not a timeout. `call` has to read again what it changes.
    Safe to cancel as far as `call` is.
    """
    if backoff.steps < 1:
        raise ValueError(f"retry with {backoff.steps} steps: at least one is needed for a result")
    delays = backoff.delays(random=random)
    while True:
        try:
            return await call()
        except Exception as error:
            if not when(error) or delays.steps <= 1:
                raise
            await clock.sleep(delays.next())
            if delays.steps < 1:  # reaching the cap ended the steps; client-go sleeps nevertheless
                raise


async def until_true(
    condition: Condition, *, backoff: Backoff, clock: Clock, random: Random = chance.random
) -> None:
    """Check until the condition is true, with backoff (client-go: `wait.ExponentialBackoff`).

    Checks at most `backoff.steps` times and does not wait after the last time; an error of
    the condition is raised at once. Safe to cancel as far as the condition is.

    Raises: TimeoutError when the steps are used up.
    """
    delays = backoff.delays(random=random)
    checks = 0
    while delays.steps > 0:
        checks += 1
        if await _check(condition):
            return
        if delays.steps == 1:
            break
        await clock.sleep(delays.next())
    raise TimeoutError(f"wait for a condition: not met, checked {checks} times (allow more steps)")


async def poll(
    condition: Condition,
    *,
    every: float,
    clock: Clock,
    within: float | None = None,
    immediate: bool = True,
) -> None:
    """Check every `every` seconds until it is true (client-go: `wait.PollUntilContext*`).

    Ticks are at multiples of `every`, however long a check takes, and missed ticks count as
    one. With `immediate` the first check is before the first tick, even with a `within` of
    zero. An error of the condition is raised at once.
    Safe to cancel as far as the condition is.

    Raises: TimeoutError when the condition is not true within `within` seconds (None: no bound).
    """
    try:
        async with clock.timeout(within) as bound:
            await _check_on_ticks(condition, every, clock, immediate=immediate)
    except TimeoutError:
        if not bound.expired():
            raise  # raised by the condition itself
        raise TimeoutError(
            f"wait for a condition: not met within {within:g} s (allow more time)"
        ) from None


async def repeat(
    call: Callable[[], Awaitable[object]],
    *,
    period: float,
    clock: Clock,
    sliding: bool = True,
    jitter: float = 0.0,
    random: Random = chance.random,
) -> Never:
    """Call repeatedly until cancelled (client-go: `wait.Until`, `wait.JitterUntil`).

    The period counts from the end of a call, or from its start when not `sliding` (client-go:
    `NonSlidingUntil`); then a call that took longer is followed at once. `jitter` adds a random
    part of up to `jitter` times the period. An error of the call ends the loop.
    Safe to cancel as far as `call` is.
    """
    while True:
        pause = jittered(period, jitter, random) if jitter > 0 else period
        began = clock.now()
        await call()
        await clock.sleep(pause if sliding else began + pause - clock.now())


async def _check(condition: Condition) -> bool:
    result = condition()
    return await result if inspect.isawaitable(result) else result


async def _check_on_ticks(
    condition: Condition, every: float, clock: Clock, *, immediate: bool
) -> None:
    tick = clock.now() + every
    if immediate and await _check(condition):
        return
    while True:
        await clock.sleep(tick - clock.now())
        tick = _tick_after(clock.now(), tick, every)
        if await _check(condition):
            return


def _tick_after(now: float, tick: float, every: float) -> float:
    """The first tick after `now`; `tick` is the current one."""
    if every <= 0:
        return now
    missed = int(max(now - tick, 0.0) / every)
    return tick + (missed + 1) * every
