"""Long work that lets the event loop go on.

Promises: who asks between two steps holds the loop for a few milliseconds and one step.
"""

from __future__ import annotations

import asyncio
import time
from typing import final

__all__ = ["HOLD", "Pace"]

HOLD = 0.003  # seconds; several tasks may take a turn each, and all of them fit into 20 ms


@final
class Pace:
    """For a loop: `if pace.is_due(): await pace.rest()`.

    Measured on the machine's clock, whatever clock waits are measured on: it is about how
    long the processor is kept, and nothing is waited for.
    """

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = time.perf_counter() + HOLD

    def is_due(self) -> bool:
        return time.perf_counter() >= self._until

    async def rest(self) -> None:
        """Let everything else take its turn. Safe to cancel."""
        await asyncio.sleep(0)
        self._until = time.perf_counter() + HOLD
