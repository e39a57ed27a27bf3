"""Long work that lets the event loop go on.

Promises: who asks between two steps holds the loop for a few milliseconds and one step.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import final

__all__ = ["HOLD", "Pace"]

HOLD = 0.003  # seconds; several tasks may take a turn each, and all of them fit into 20 ms

# The processor's time of this thread: whoever has waited has held nothing up, and need not
# rest for it. Windows counts it in steps that are too long for this.
_used = time.perf_counter if sys.platform == "win32" else time.thread_time


@final
class Pace:
    """For a loop: `if pace.is_due(): await pace.rest()`.

    Measured on the machine's clock, whatever clock waits are measured on: it is about how
    long the processor is kept, and nothing is waited for.
    """

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = _used() + HOLD

    def is_due(self) -> bool:
        return _used() >= self._until

    async def rest(self) -> None:
        """Let everything else take its turn. Safe to cancel."""
        await asyncio.sleep(0)
        self._until = _used() + HOLD
