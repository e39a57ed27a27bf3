"""Clocks on which tests do not wait.

See also: `kubeloop.kit.ManualClock`, whose time a test sets.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from kubeloop.kit import SystemClock, Timeout, Timer


class InstantClock:
    """A clock whose `sleep` returns at once, and records the duration."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def time(self) -> dt.datetime:
        return dt.datetime(2030, 1, 1, tzinfo=dt.UTC)

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.slept.append(seconds)
            self._now += seconds
        await asyncio.sleep(0)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(seconds)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


class FastClock:
    """The system clock, but `sleep` takes 2 ms at most."""

    def __init__(self) -> None:
        clock = SystemClock()
        self._now, self.time = clock.now, clock.time
        self.timeout, self.timer = clock.timeout, clock.timer
        self._ahead = 0.0

    def now(self) -> float:
        return self._now() + self._ahead

    def skip(self, seconds: float) -> None:
        """Advance `now()`, without waiting."""
        self._ahead += seconds

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0.002 if seconds > 0 else 0)
