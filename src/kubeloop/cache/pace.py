"""Long work that lets the event loop go on.

Promises: who asks between two steps holds the loop for a few milliseconds and one step,
whatever a step does: a function of the user's that waits without the loop counts as well.
Who has waited with the loop has held nothing up, and does not rest for it.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import final

__all__ = ["HOLD", "Pace"]

HOLD = 0.003  # seconds; several tasks may take a turn each, and all of them fit into 20 ms


@final
class Pace:
    """For a loop: `if pace.is_due(): await pace.rest()`.

    Measured on the machine's clock, whatever clock waits are measured on: it is about how
    long the loop is held, and nothing is waited for.
    """

    __slots__ = ("_has_turned", "_until")

    def __init__(self) -> None:
        self._has_turned = False  # the loop did, since the time began that ends at `_until`
        self._until = perf_counter() + HOLD

    def is_due(self) -> bool:
        if perf_counter() < self._until:
            return False
        if not self._has_turned:
            return True
        self._begin()
        return False

    async def rest(self) -> None:
        """Let everything else take its turn. Safe to cancel."""
        await asyncio.sleep(0)
        self._begin()

    def _begin(self) -> None:
        self._has_turned = False
        self._until = perf_counter() + HOLD
        # When this is called, everybody has had a turn: it costs less than to take one.
        asyncio.get_running_loop().call_soon(self._note_turn)

    def _note_turn(self) -> None:
        self._has_turned = True
