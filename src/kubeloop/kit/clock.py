"""Time as something that is handed in: what is the time, wait, wait no longer than.

Promises: whoever waits asks a `Clock`, so a test moves time by hand and no test
sleeps; durations and deadlines are measured on a clock that never steps back, and
the wall clock is only for what people and servers read.
Threads: `now()` and `time()` may be called from any thread; `sleep`, `timeout`
and everything that moves a `ManualClock` belong to the thread of the event loop.
Elsewhere: how long to wait (`backoff`), how often (`retry`).
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

__all__ = ["Clock", "ManualClock", "ManualClockStats", "SystemClock", "Timeout"]

# Sums of floats miss their moment by a little: eight steps of 0.1 are not quite 0.8.
_SLACK = 1e-9
# A task that never blocks must not hang the test that advances the clock.
_MOST_TURNS = 10_000
# For loops that do not tell what is still to run: deeper than any chain of wake-ups we have.
_BLIND_TURNS = 200


class Timeout(Protocol):
    """What a `timeout` block is given, to tell its own end from an error inside."""

    def expired(self) -> bool:
        """Whether this very bound was exceeded."""
        ...


class Clock(Protocol):
    """The time, and ways to wait for it."""

    def now(self) -> float:
        """Seconds on a clock that never steps back; only differences mean anything."""
        ...

    def time(self) -> datetime:
        """The date and time in UTC; it may jump when the machine's clock is set."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; lets others run at least once, even for zero or less.

        Safe to cancel: nothing is left behind.
        """
        ...

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        """Bound the block: beyond `seconds` it is cancelled and raises `TimeoutError`.

        None means no bound; zero or less ends the block at its first real wait.
        """
        ...


def _steady_clock() -> Callable[[], float]:
    """Linux' usual clock stands still while the machine is suspended: another one goes on."""
    number = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic if number is None else functools.partial(time.clock_gettime, number)


_steady = _steady_clock()


@final
class SystemClock:
    """The machine's clocks. Where the system has such a one, `now()` counts suspended time.

    Waits do not: after a suspension they take as long as they still had to. Who must not
    believe in the past looks at `now()` again from time to time.
    """

    def now(self) -> float:
        return _steady()

    def time(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(seconds)

    def __repr__(self) -> str:
        return "SystemClock()"


class ManualClockStats(msgspec.Struct, frozen=True):
    """Where a `ManualClock` stands and who waits for it."""

    now: float
    sleepers: int
    timeouts: int
    next_moment: float | None  # when the first of them is due


@final
class ManualClock:
    """A clock that stands still until a test moves it.

    Promises: waits end in the order of their moments, those of one moment in the
    order in which they began; each sees its own moment as `now()`, and what it woke
    has run until it blocks again before the next one ends.
    One event loop only: the one that `advance()` runs on.
    """

    def __init__(self, start: float = 0.0, wall: datetime | None = None) -> None:
        self._now = start
        self._wall = (wall or datetime(2030, 1, 1, tzinfo=UTC)) - timedelta(seconds=start)
        self._serials = itertools.count()
        self._moments: list[tuple[float, int]] = []  # a heap; may name waits that were given up
        self._sleeps: dict[int, Callable[[], None]] = {}  # what to do when the moment comes
        self._timeouts: dict[int, Callable[[], None]] = {}

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
        # The library's own timeout does the cancelling; only its moment comes from here.
        async with asyncio.timeout(None) as bound:
            expire = functools.partial(bound.reschedule, 0)  # the loop's zero is long past
            serial = self._wait_for(seconds, self._timeouts, expire)
            try:
                yield bound
            finally:
                self._timeouts.pop(serial, None)

    @property
    def sleepers(self) -> int:
        """How many calls of `sleep` are waiting."""
        return len(self._sleeps)

    def stats(self) -> ManualClockStats:
        """A snapshot of the moment and of those who wait."""
        pending = (moment for moment, serial in self._moments if self._is_waiting(serial))
        return ManualClockStats(
            now=self._now,
            sleepers=len(self._sleeps),
            timeouts=len(self._timeouts),
            next_moment=min(pending, default=None),
        )

    def jump_wall(self, seconds: float) -> None:
        """Set the wall clock forward or back, as an administrator would; `now()` goes on."""
        self._wall += timedelta(seconds=seconds)

    async def advance(self, seconds: float) -> None:
        """Let `seconds` pass, and everything happen that is due meanwhile.

        What waits for a socket or for another thread is not waited for.
        Safe to cancel: time stays at the last moment reached.
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
        """Let everything run until it blocks, while no time passes.

        Safe to cancel: nothing is left behind.
        """
        loop = asyncio.get_running_loop()
        # The standard loop keeps what is still to run in a private queue; others do not say.
        ready = getattr(loop, "_ready", None)
        for _ in range(_BLIND_TURNS if ready is None else _MOST_TURNS):
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
        return serial in self._sleeps or serial in self._timeouts

    def _pop_due(self, until: float) -> tuple[float, Callable[[], None]] | None:
        while self._moments and self._moments[0][0] <= until:
            moment, serial = heapq.heappop(self._moments)
            happen = self._sleeps.pop(serial, None) or self._timeouts.pop(serial, None)
            if happen is not None:
                return moment, happen
        return None

    def __repr__(self) -> str:
        return f"ManualClock(now={self._now:g})"


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():  # it was cancelled in this very turn
        sleeper.set_result(None)
