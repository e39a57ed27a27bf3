"""Long work that lets the event loop go on.

Promises: who asks between two steps holds the loop for a few milliseconds and one step,
whatever a step does: a function of the user's that waits without the loop counts as well.
Where many ask, of many informers say, they share that time.
Who has waited with the loop has held nothing up, and does not rest for it.
"""

from __future__ import annotations

import asyncio
import threading
from time import perf_counter
from typing import final

__all__ = ["HOLD", "Pace"]

HOLD = 0.003  # seconds; several tasks may take a turn each, and all of them fit into 20 ms
TOGETHER = 4 * HOLD  # for all tasks of one event loop that are at long work


class _Turns(threading.local):
    """Of the event loop of a thread: how many let others take their turn, and want another."""

    resting = 0


_turns = _Turns()


@final
class Pace:
    """For a loop: `if pace.is_due(): await pace.rest()`.

    Measured on the machine's clock, whatever clock waits are measured on: it is about how
    long the loop is held, and nothing is waited for.
    """

    __slots__ = ("_began", "_has_turned")

    def __init__(self) -> None:
        self._has_turned = False  # the loop did, since `_began`
        self._began = perf_counter()

    def is_due(self, hold: float = HOLD) -> bool:
        """Whether the loop was held for `hold` seconds, or for a share if many are at work."""
        if perf_counter() - self._began < min(hold, TOGETHER / (_turns.resting + 1)):
            return False
        if not self._has_turned:
            return True
        self._begin()
        return False

    async def rest(self) -> None:
        """Let everything else take its turn. Safe to cancel."""
        _turns.resting += 1
        try:
            await asyncio.sleep(0)
        finally:
            _turns.resting -= 1
        self._begin()

    def _begin(self) -> None:
        self._has_turned = False
        self._began = perf_counter()
        # When this is called, everybody has had a turn: it costs less than to take one.
        asyncio.get_running_loop().call_soon(self._note_turn)

    def _note_turn(self) -> None:
        self._has_turned = True
