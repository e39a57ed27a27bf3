"""Loops that try, ask or do something again.

Promises: every wait is the handed-in clock's; a failure that nobody asked to try again
leaves at once, as it came; running out of time or of tries is always a `TimeoutError`,
except where `retry` has a better one; being cancelled ends a loop at its next wait.
Elsewhere: how long the delays are (`backoff`), the meaning of particular errors (the
rooms that raise them).
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
"""For calls that collide with few others: five tries, 10 ms apart."""

DEFAULT_BACKOFF = Backoff(steps=4, duration=0.01, factor=5.0, jitter=0.1)
"""For calls that collide with many: four tries, about 10, 50 and 250 ms apart."""


async def retry(
    call: Callable[[], Awaitable[T]],
    *,
    when: Callable[[Exception], bool],
    clock: Clock,
    backoff: Backoff = DEFAULT_RETRY,
    random: Random = chance.random,
) -> T:
    """Call until it succeeds, at most `backoff.steps` times (client-go: `retry.OnError`).

    An error for which `when` is false leaves at once; when the tries are used up the
    last error leaves, not a timeout. `call` has to read afresh what it changes.
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
            if delays.steps < 1:  # the cap ended the steps; the delay is waited out all the same
                raise


async def until_true(
    condition: Condition, *, backoff: Backoff, clock: Clock, random: Random = chance.random
) -> None:
    """Ask until the answer is yes, with growing delays (client-go: `wait.ExponentialBackoff`).

    Asks at most `backoff.steps` times and does not wait after the last time; what
    the condition raises leaves at once. Safe to cancel as far as the condition is.

    Raises: TimeoutError when the steps are used up.
    """
    delays = backoff.delays(random=random)
    asked = 0
    while delays.steps > 0:
        asked += 1
        if await _ask(condition):
            return
        if delays.steps == 1:
            break
        await clock.sleep(delays.next())
    raise TimeoutError(f"wait for a condition: not met, asked {asked} times (allow more steps)")


async def poll(
    condition: Condition,
    *,
    every: float,
    clock: Clock,
    within: float | None = None,
    immediate: bool = True,
) -> None:
    """Ask every `every` seconds until the answer is yes (client-go: `wait.PollUntilContext*`).

    The ticks keep to their grid, however long the condition takes, and ticks that were
    missed count as one. With `immediate` the first question comes before the first
    tick, and even if no time is given at all. What the condition raises leaves at once.
    Safe to cancel as far as the condition is.

    Raises: TimeoutError when `within` seconds pass without a yes (None: no bound).
    """
    try:
        async with clock.timeout(within) as bound:
            await _ask_on_ticks(condition, every, clock, immediate=immediate)
    except TimeoutError:
        if not bound.expired():
            raise  # it is the condition's own
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
    """Call again and again until cancelled (client-go: `wait.Until`, `wait.JitterUntil`).

    The period is counted from the end of a call, or from its beginning when not
    `sliding` (client-go: `NonSlidingUntil`); a call that took longer is then followed
    at once. `jitter` makes each period longer by up to that part of itself. What the
    call raises ends the loop. Safe to cancel as far as `call` is.
    """
    while True:
        pause = jittered(period, jitter, random) if jitter > 0 else period
        began = clock.now()
        await call()
        await clock.sleep(pause if sliding else began + pause - clock.now())


async def _ask(condition: Condition) -> bool:
    answer = condition()
    return await answer if inspect.isawaitable(answer) else answer


async def _ask_on_ticks(
    condition: Condition, every: float, clock: Clock, *, immediate: bool
) -> None:
    tick = clock.now() + every
    if immediate and await _ask(condition):
        return
    while True:
        await clock.sleep(tick - clock.now())
        tick = _tick_after(clock.now(), tick, every)
        if await _ask(condition):
            return


def _tick_after(now: float, tick: float, every: float) -> float:
    """The first moment of the grid after `now`; `tick` is the one that has just come."""
    if every <= 0:
        return now
    missed = int(max(now - tick, 0.0) / every)
    return tick + (missed + 1) * every
