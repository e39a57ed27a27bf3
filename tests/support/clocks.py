"""Clocks on which tests do not wait.

See also: `kubeloop.kit.ManualClock`, whose time a test sets.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import AbstractAsyncContextManager

from kubeloop.kit import SystemClock, Timeout


class InstantClock:
    """A clock on which sleeping takes no time at all, and which remembers how long it was."""

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


class FastClock:
    """The machine's clocks, but nobody waits for long on purpose."""

    def __init__(self) -> None:
        clock = SystemClock()
        self._now, self.time, self.timeout = clock.now, clock.time, clock.timeout
        self._ahead = 0.0

    def now(self) -> float:
        return self._now() + self._ahead

    def skip(self, seconds: float) -> None:
        """Let time pass that nobody waits through."""
        self._ahead += seconds

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0.002 if seconds > 0 else 0)
