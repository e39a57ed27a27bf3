"""Delays before the next attempt.

Guarantees: nothing here waits; clock and random numbers are passed in, and the same ones give
the same delays.
See also: loops that wait (`retry`), rate limits (`throttle`).
"""

from __future__ import annotations

import random as chance
from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar, final

import msgspec

from .clock import Clock

__all__ = [
    "Backoff",
    "BackoffDelays",
    "BackoffStats",
    "Delays",
    "KeyedBackoff",
    "KeyedBackoffStats",
    "Random",
    "ResettingBackoff",
    "StormBackoff",
    "expired_after_twice",
    "jittered",
]

K = TypeVar("K", bound=Hashable)

Random = Callable[[], float]
"""Gives a number from 0 up to, not including, 1, as `random.random` does."""


def jittered(duration: float, factor: float, random: Random = chance.random) -> float:
    """`duration` plus a random part of up to `factor` times itself (client-go: `wait.Jitter`).

    A factor of zero or less counts as 1, so that a forgotten factor still spreads the load.
    """
    return duration + random() * (factor if factor > 0 else 1.0) * duration


class Delays(Protocol):
    """The delays of a loop that retries."""

    def next(self) -> float: ...
    def reset(self) -> None: ...


class Backoff(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of an exponential backoff (client-go: `wait.Backoff`).

    The first delay is `duration`, each further one `factor` times the one before (0
    keeps it as it is) for `steps` delays, and never more than `cap` (0: no cap); a
    delay that would pass the cap also ends the steps. `jitter` adds a random
    part of up to `jitter` times the delay (0: none).
    """

    duration: float
    factor: float = 0.0
    jitter: float = 0.0
    steps: int = 0
    cap: float = 0.0

    def __post_init__(self) -> None:
        if not (self.duration >= 0 and self.factor >= 0):
            raise ValueError(
                f"backoff of {self.duration} s times {self.factor}: neither may be negative"
            )

    def delays(self, *, random: Random = chance.random) -> BackoffDelays:
        """A new sequence of delays with these settings."""
        return BackoffDelays(self, random=random)


class BackoffStats(msgspec.Struct, frozen=True):
    """The state of a sequence of delays."""

    duration: float  # the next delay, before jitter
    steps: int  # how many delays may still grow
    given: int  # delays returned since the last reset


@final
class BackoffDelays:
    """The delays of one `Backoff`, one after the other (client-go: `Backoff.Step`).

    After the last step, the last duration is repeated.
    """

    def __init__(self, backoff: Backoff, *, random: Random = chance.random) -> None:
        self._backoff = backoff
        self._random = random
        self.reset()

    @property
    def steps(self) -> int:
        """How many steps are left; a loop that is bounded by steps ends at zero."""
        return self._steps

    def next(self) -> float:
        """The next delay."""
        delay = self._duration
        if self._steps > 0:
            self._steps -= 1
            self._grow()
        self._given += 1
        jitter = self._backoff.jitter
        return jittered(delay, jitter, self._random) if jitter > 0 else delay

    def reset(self) -> None:
        """Start again at the first delay."""
        self._duration = self._backoff.duration
        self._steps = max(self._backoff.steps, 0)
        self._given = 0

    def stats(self) -> BackoffStats:
        return BackoffStats(duration=self._duration, steps=self._steps, given=self._given)

    def _grow(self) -> None:
        factor, cap = self._backoff.factor, self._backoff.cap
        if factor == 0:
            return
        self._duration *= factor
        if 0 < cap < self._duration:
            self._duration = cap
            self._steps = 0  # as in client-go: reaching the cap is the last step


@final
class ResettingBackoff:
    """Delays that start again after `reset_after` seconds (client-go: `Backoff.DelayWithReset`).

    The period counts from the last reset or the creation, not from the last failure: after
    failing for longer than `reset_after`, delays are short again. Zero or less makes every
    delay the first one.
    """

    def __init__(
        self,
        backoff: Backoff,
        *,
        reset_after: float,
        clock: Clock,
        random: Random = chance.random,
    ) -> None:
        self._delays = backoff.delays(random=random)
        self._reset_after = reset_after
        self._clock = clock
        self._last_reset = clock.now()

    def next(self) -> float:
        """The next delay."""
        if self._reset_after <= 0 or self._clock.now() - self._last_reset > self._reset_after:
            self.reset()
        return self._delays.next()

    def reset(self) -> None:
        """Start again at the first delay, and count `reset_after` from now."""
        self._delays.reset()
        self._last_reset = self._clock.now()

    def stats(self) -> BackoffStats:
        return self._delays.stats()


@final
class StormBackoff:
    """Spaces out requests that follow one another too quickly, whatever their results.

    At most `burst` requests begin within `window` seconds. One more has to wait, and starts a
    backoff: from then on two requests begin at least a growing delay apart, until one has
    lasted `calm` seconds. A request that lasts longer than the current delay is followed at once.
    All times are passed in: nothing here reads a clock or waits.
    """

    def __init__(
        self,
        backoff: Backoff,
        *,
        burst: int = 5,
        window: float = 2.0,
        calm: float = 60.0,
        random: Random = chance.random,
    ) -> None:
        self._delays = backoff.delays(random=random)
        self._window = window
        self._calm = calm
        self._begins: deque[float] = deque(maxlen=burst)
        self._spacing = 0.0  # zero: no storm

    @property
    def is_active(self) -> bool:
        """Whether requests are spaced out now."""
        return self._spacing > 0

    def delay(self, now: float) -> float:
        """The seconds to wait before the next request; call it once per request."""
        if len(self._begins) < (self._begins.maxlen or 0):
            return 0.0
        since_last = now - self._begins[-1]
        rest_of_window = max(self._begins[0] + self._window - now, 0.0)
        if self._spacing > since_last or (rest_of_window and not self._spacing):
            self._spacing = self._delays.next()
            return max(self._spacing - since_last, rest_of_window)
        return rest_of_window

    def begin(self, now: float) -> None:
        """Record that a request begins."""
        self._begins.append(now)

    def end(self, now: float) -> None:
        """Record that the last request has ended; a long one ends the storm."""
        if self._begins and now - self._begins[-1] >= self._calm:
            self._spacing = 0.0
            self._delays.reset()
            self._begins.clear()


def expired_after_twice(at: float, updated: float, maximum: float) -> bool:
    """Whether a key has been quiet for more than twice the longest delay."""
    return at - updated > 2 * maximum


class _Entry(msgspec.Struct, frozen=True):
    delay: float
    updated: float


class KeyedBackoffStats(msgspec.Struct, frozen=True):
    """The size of a `KeyedBackoff`."""

    keys: int
    longest: float  # the longest delay in force


@final
class KeyedBackoff(Generic[K]):
    """A doubling delay for each key (client-go: `flowcontrol.Backoff`).

    Times are those of `clock.now()`. `expired(at, updated,
    maximum)` says when a key starts from `initial` again; `jitter` adds up to that
    part of the current delay when it doubles. Keys are kept until `reset()` or `gc()`; call
    `gc()` periodically.
    """

    def __init__(
        self,
        initial: float,
        maximum: float,
        *,
        clock: Clock,
        jitter: float = 0.0,
        random: Random = chance.random,
        expired: Callable[[float, float, float], bool] = expired_after_twice,
    ) -> None:
        self._initial = initial
        self._maximum = maximum
        self._clock = clock
        self._jitter = jitter
        self._random = random
        self._has_expired = expired
        self._entries: dict[K, _Entry] = {}

    def next(self, key: K, at: float | None = None) -> float:
        """Record a failure at `at` (default now); returns the new delay."""
        now = self._clock.now()
        known = self._find_unexpired(key, now if at is None else at)
        delay = self._initial if known is None else self._next_delay(known.delay)
        self._entries[key] = _Entry(delay, now)
        return delay

    def get(self, key: K) -> float:
        """The current delay of a key; zero if it has none."""
        entry = self._entries.get(key)
        return 0.0 if entry is None else entry.delay

    def is_waiting_since(self, key: K, at: float) -> bool:
        """Whether now is still within the delay after `at` (client-go: `IsInBackOffSince`)."""
        entry = self._find_unexpired(key, at)
        return entry is not None and self._clock.now() - at < entry.delay

    def is_waiting_at(self, key: K, at: float) -> bool:
        """Whether `at` is within the delay after the last recorded failure
        (client-go: `IsInBackOffSinceUpdate`)."""
        entry = self._find_unexpired(key, at)
        return entry is not None and at - entry.updated < entry.delay

    def reset(self, key: K) -> None:
        """Remove the key, if it is known."""
        self._entries.pop(key, None)

    def gc(self) -> int:
        """Remove every expired key; returns how many."""
        now = self._clock.now()
        old = [key for key in self._entries if self._find_unexpired(key, now) is None]
        for key in old:
            del self._entries[key]
        return len(old)

    def stats(self) -> KeyedBackoffStats:
        delays = [entry.delay for entry in self._entries.values()]
        return KeyedBackoffStats(keys=len(delays), longest=max(delays, default=0.0))

    def _find_unexpired(self, key: K, at: float) -> _Entry | None:
        entry = self._entries.get(key)
        if entry is None or self._has_expired(at, entry.updated, self._maximum):
            return None
        return entry

    def _next_delay(self, delay: float) -> float:
        extra = self._random() * self._jitter * delay if self._jitter > 0 else 0.0
        return min(2 * delay + extra, self._maximum)
