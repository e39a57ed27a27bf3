"""Clocks: the time, sleeping, timeouts and timers, as an object that is passed in.

Guarantees: all waiting goes through a `Clock`, so tests move time by hand and never sleep;
durations and deadlines are measured on a monotonic clock, and the wall clock is only for what
people and servers read.
Thread-safe: `now()` and `time()`. Everything else belongs to the thread of the event loop.
See also: delays (`backoff`), loops that wait (`retry`).
"""

from __future__ import annotations

import asyncio
import functools
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol, final

import msgspec

__all__ = ["Clock", "ManualClock", "ManualClockStats", "SystemClock", "Timeout", "Timer"]

# Sums of floats are inexact: eight steps of 0.1 are not quite 0.8.
_SLACK = 1e-9
# A task that never blocks must not hang the test that advances the clock.
_MAX_ITERATIONS = 10_000
# For event loops that do not expose their ready queue: longer than any chain of wake-ups here.
_UNOBSERVED_ITERATIONS = 200


class Timeout(Protocol):
    """What a `timeout` block yields: tells its own timeout from a TimeoutError inside."""

    def expired(self) -> bool:
        """Whether this timeout was exceeded."""
        ...


class Timer(Protocol):
    """A callback that is not called yet."""

    def cancel(self) -> None:
        """Do not call it. Safe to repeat, and after the call."""
        ...


class Clock(Protocol):
    """The time, sleeping, timeouts and timers."""

    def now(self) -> float:
        """Seconds on a monotonic clock; only differences are meaningful."""
        ...

    def time(self) -> datetime:
        """The date and time in UTC; it may jump when the machine's clock is set."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Sleep; other tasks run at least once, even for zero or less.

        Safe to cancel: nothing is left behind.
        """
        ...

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        """Cancel the block after `seconds` and raise `TimeoutError`.

        None means no timeout; zero or less ends the block at its first real wait.
        """
        ...

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` once after `seconds`, on the running event loop and without a task.

        Zero or less: in the next iteration of the loop.
        """
        ...


def _steady_clock() -> Callable[[], float]:
    """CLOCK_BOOTTIME where it exists: unlike CLOCK_MONOTONIC it counts suspended time."""
    number = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic if number is None else functools.partial(time.clock_gettime, number)


_steady = _steady_clock()


@final
class SystemClock:
    """The clocks of the machine. On Linux, `now()` counts suspended time.

    Sleeps do not: after a suspension they last as long as was left. Code that must notice a
    suspension reads `now()` again from time to time.
    """

    def now(self) -> float:
        return _steady()

    def time(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(seconds)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)

    def __repr__(self) -> str:
        return "SystemClock()"


class ManualClockStats(msgspec.Struct, frozen=True):
    """The time of a `ManualClock`, and how many calls wait."""

    now: float
    sleepers: int
    timeouts: int
    timers: int
    next_moment: float | None  # when the first wait is due


@final
class ManualClock:
    """A clock that only a test moves.

    Guarantees: waits end in order of their due times, equal ones in order of their start; each
    sees its due time as `now()`, and the tasks that it wakes run until they block again before
    the next wait ends.
    One event loop only: the one that `advance()` runs on.
    """

    def __init__(self, start: float = 0.0, wall: datetime | None = None) -> None:
        self._now = start
        self._wall = (wall or datetime(2030, 1, 1, tzinfo=UTC)) - timedelta(seconds=start)
        self._serials = itertools.count()
        self._moments: list[tuple[float, int]] = []  # a heap; may hold cancelled waits
        self._sleeps: dict[int, Callable[[], None]] = {}  # what to call at the due time
        self._timeouts: dict[int, Callable[[], None]] = {}
        self._timers: dict[int, Callable[[], None]] = {}

    def now(self) -> float:
        return self._now

    def time(self) -> datetime:
        return self._wall + timedelta(seconds=self._now)

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        serial = self._wait_for(seconds, self._sleeps, functools.partial(_wake, woken))
        try:
            await woken
        finally:
            self._sleeps.pop(serial, None)

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[Timeout]:
        if seconds is None or seconds <= 0:
            async with asyncio.timeout(seconds) as bound:
                yield bound
            return
        # asyncio's timeout cancels; only its due time comes from here.
        async with asyncio.timeout(None) as bound:
            expire = functools.partial(bound.reschedule, 0)  # zero is in the loop's past
            serial = self._wait_for(seconds, self._timeouts, expire)
            try:
                yield bound
            finally:
                self._timeouts.pop(serial, None)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        if seconds <= 0:
            return asyncio.get_running_loop().call_soon(callback)
        return _ManualTimer(self._timers, self._wait_for(seconds, self._timers, callback))

    @property
    def sleepers(self) -> int:
        """How many calls of `sleep` are waiting."""
        return len(self._sleeps)

    def stats(self) -> ManualClockStats:
        """A snapshot of the time and of the waits."""
        pending = (moment for moment, serial in self._moments if self._is_waiting(serial))
        return ManualClockStats(
            now=self._now,
            sleepers=len(self._sleeps),
            timeouts=len(self._timeouts),
            timers=len(self._timers),
            next_moment=min(pending, default=None),
        )

    def jump_wall(self, seconds: float) -> None:
        """Set the wall clock forward or back, as an administrator would; `now()` stays."""
        self._wall += timedelta(seconds=seconds)

    async def advance(self, seconds: float) -> None:
        """Move the time by `seconds`, and run everything that becomes due.

        Does not wait for sockets and other threads.
        Safe to cancel: the time stays at what was reached.
        """
        if not seconds >= 0:
            raise ValueError(f"advance a clock by {seconds} s: time only moves forward")
        goal = self._now + seconds
        await self.settle()
        while (due := self._pop_due(goal + _SLACK)) is not None:
            moment, happen = due
            self._now = max(self._now, moment)
            happen()
            await self.settle()
        self._now = max(self._now, goal)
        await self.settle()

    async def settle(self) -> None:
        """Run all tasks until they block, without moving the time.

        Safe to cancel: nothing is left behind.
        """
        loop = asyncio.get_running_loop()
        # asyncio keeps its ready callbacks in a private attribute; uvloop does not expose them.
        ready = getattr(loop, "_ready", None)
        for _ in range(_UNOBSERVED_ITERATIONS if ready is None else _MAX_ITERATIONS):
            await asyncio.sleep(0)
            if ready is not None and not ready:
                return

    def _wait_for(
        self, seconds: float, book: dict[int, Callable[[], None]], happen: Callable[[], None]
    ) -> int:
        serial = next(self._serials)
        book[serial] = happen
        heapq.heappush(self._moments, (self._now + seconds, serial))
        return serial

    def _is_waiting(self, serial: int) -> bool:
        return any(serial in book for book in (self._sleeps, self._timeouts, self._timers))

    def _pop_due(self, until: float) -> tuple[float, Callable[[], None]] | None:
        while self._moments and self._moments[0][0] <= until:
            moment, serial = heapq.heappop(self._moments)
            for book in (self._sleeps, self._timeouts, self._timers):
                if (happen := book.pop(serial, None)) is not None:
                    return moment, happen
        return None

    def __repr__(self) -> str:
        return f"ManualClock(now={self._now:g})"


@final
class _ManualTimer:
    __slots__ = ("_serial", "_timers")

    def __init__(self, timers: dict[int, Callable[[], None]], serial: int) -> None:
        self._timers = timers
        self._serial = serial

    def cancel(self) -> None:
        self._timers.pop(self._serial, None)


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():  # it was cancelled in this iteration
        sleeper.set_result(None)
