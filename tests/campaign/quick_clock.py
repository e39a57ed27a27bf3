"""The system clock, many times as fast: all delays are real, and short."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

from kubeloop.kit import Timeout, Timer

__all__ = ["QuickClock"]


class QuickClock:
    """A `Clock` that can also jump, as after a suspend of the machine."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._slept = 0.0
        self._set_by = timedelta()

    def now(self) -> float:
        return time.monotonic() * self._speed + self._slept

    def time(self) -> datetime:
        return datetime.now(UTC) + self._set_by

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(None if seconds is None else seconds / self._speed)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds / self._speed, callback)

    def oversleep(self, seconds: float) -> None:
        """Advance the clock by `seconds` at once, as after a suspend."""
        self._slept += seconds

    def jump_wall(self, seconds: float) -> None:
        """Set the date forward or back; `now()` is not affected."""
        self._set_by += timedelta(seconds=seconds)
