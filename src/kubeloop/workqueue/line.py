"""Those who wait for a key: who is woken next, and who watches the clock.

Promises: nobody is handed anything here. Who is woken looks for itself, so a
cancelled call takes nothing along, and its wake-up goes to the next in line.
While somebody waits and a moment is known, exactly one of them waits for it; there
is no task in the background.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import final

from kubeloop.kit import Clock

__all__ = ["HEARTBEAT", "Line"]

HEARTBEAT = 10.0
"""Seconds after which a moment is looked at again, however far off it is.

A machine that slept, or a clock that is not quite the loop's, is never more behind.
"""


@final
class Line:
    """Waiting calls, in the order in which they came."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._places: deque[asyncio.Future[None]] = deque()
        self._timekeeper: asyncio.Future[None] | None = None  # the one that waits for a moment

    def __len__(self) -> int:
        return len(self._places)

    def wake_one(self) -> None:
        """Let the first in line look for a key."""
        while self._places:
            place = self._places.popleft()
            if not place.done():
                place.set_result(None)
                return

    def wake_all(self) -> None:
        """Let everybody look, because the queue is shut down."""
        while self._places:
            self.wake_one()

    def retime(self) -> None:
        """Let somebody look at the clock again: the next moment is earlier than it was."""
        keeper = self._timekeeper
        if keeper is None:
            self.wake_one()
        elif not keeper.done():
            keeper.set_result(None)

    async def wait(self, moment: float | None, *, again: bool) -> None:
        """Wait to be woken, or until `moment`, if nobody else waits for that already.

        `again` keeps the first place for a call that was woken for nothing.
        Safe to cancel: who was woken instead of somebody else wakes the next one.
        """
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._places.appendleft(place)
        else:
            self._places.append(place)
        try:
            await self._stand(place, moment)
        except BaseException:
            self.wake_one()
            raise
        finally:
            if place in self._places:
                self._places.remove(place)

    async def _stand(self, place: asyncio.Future[None], moment: float | None) -> None:
        if moment is None or self._timekeeper is not None:
            await place
            return
        self._timekeeper = place
        try:
            await self._stand_until(place, moment)
        finally:
            self._timekeeper = None
            # Whoever comes first now will see that nobody keeps the time, and do it.
            if place in self._places:
                self._places.remove(place)
            self.wake_one()

    async def _stand_until(self, place: asyncio.Future[None], moment: float) -> None:
        seconds = min(moment - self._clock.now(), HEARTBEAT)
        try:
            async with self._clock.timeout(max(seconds, 0.0)):
                await place
        except TimeoutError:
            pass
