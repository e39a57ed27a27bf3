"""Keeps workers that never wait from holding the event loop.

A worker whose work awaits nothing real would run through a full queue in one
piece, and leases, watches and timers would have to wait. So the loop gets its
turn after a few milliseconds, whatever the work does.
"""

from __future__ import annotations

import asyncio
from typing import final

from kubeloop.kit import Clock

__all__ = ["TURN", "LoopTurn"]

TURN = 0.005
"""Seconds after which the loop is given a chance to run something else."""

_NOT_BEGUN = float("-inf")


@final
class LoopTurn:
    """One turn of the loop, shared by all workers of one queue.

    Shared, because eight workers with five milliseconds each would be forty. What
    begins a turn also leaves a callback, and when that runs, the loop has turned.
    Whoever finds `ends` behind it awaits `give_way()` before it goes on.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ends = _NOT_BEGUN

    async def give_way(self) -> None:
        """Begin a turn; or, if one has lasted long enough, let the loop run first.

        Safe to cancel: nothing is lost.
        """
        ends = self.ends
        if ends != _NOT_BEGUN:
            await asyncio.sleep(0)
            if self.ends not in {ends, _NOT_BEGUN}:
                return  # another worker has begun the next turn meanwhile
        self.ends = self._clock.now() + TURN
        asyncio.get_running_loop().call_soon(self._turned)

    def _turned(self) -> None:
        self.ends = _NOT_BEGUN
