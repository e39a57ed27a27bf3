"""Yields to the event loop between the steps of long work.

Guarantees: a task that asks between two steps blocks the loop for one slice of time and one
step, or for two slices if it waited during the first. Tasks and callbacks that do long work at
the same time, such as many informers, share that time. `Yielder` is for tasks, `TimeBudget` for
callbacks, which cannot wait.
See also: `clock` (waiting for a time).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from time import perf_counter
from typing import final

__all__ = ["MAX_BLOCK", "TimeBudget", "Yielder"]

# Seconds. Several tasks may block the loop one after the other, and all of them fit into 20 ms.
MAX_BLOCK = 0.003
# For all tasks of one event loop that do long work.
_MAX_SHARED_BLOCK = 4 * MAX_BLOCK


class _YieldingTasks(threading.local):
    """How many tasks and callbacks of this thread's event loop have yielded and will continue."""

    count = 0


_yielding = _YieldingTasks()


@final
class Yielder:
    """For a loop: `if yielder.is_due(): await yielder.yield_to_loop()`.

    Tasks may share one: then they share its slice of time as well. `now` is the computer's
    clock unless given, also where delays are measured by another one: the slices bound how
    long real code runs. Without `starts_now` the first slice starts when it is first asked for.
    """

    __slots__ = ("_has_run", "_now", "started")

    def __init__(self, now: Callable[[], float] | None = None, *, starts_now: bool = True) -> None:
        # Read here and not as a default: a simulation replaces the function later.
        self._now = now = perf_counter if now is None else now
        # When the current slice started. Public for hot paths that have read the clock anyway.
        self.started = now() if starts_now else float("-inf")
        # The loop has run everything else since `started`. The slice is not cut short for it,
        # because that would cost a callback for each wait: 10 % of handling a single event.
        self._has_run = not starts_now

    def is_due(self, max_block: float = MAX_BLOCK) -> bool:
        """Whether the loop was blocked for `max_block` seconds, or less if many tasks share it."""
        share = _MAX_SHARED_BLOCK / (_yielding.count + 1)
        if self._now() - self.started < min(max_block, share):
            return False
        if not self._has_run:
            return True
        self._start()
        return False

    async def yield_to_loop(self) -> None:
        """Let the loop run everything else once, unless it has; then start the next slice.

        Safe to cancel: nothing is lost.
        """
        started = self.started
        if not self._has_run:
            _yielding.count += 1
            try:
                await asyncio.sleep(0)
            finally:
                _yielding.count -= 1
            if self.started != started:
                return  # another task that shares the yielder has started the slice
        self._start()

    def _start(self) -> None:
        self.started = self._now()
        self._has_run = False
        # When this callback runs, the loop has run everything else once: that costs less than
        # yielding without need.
        asyncio.get_running_loop().call_soon(self._note_run)

    def _note_run(self) -> None:
        self._has_run = True


@final
class TimeBudget:
    """How long callbacks of the event loop may run, all of one iteration together.

    until = budget.begin()
    for each in work:
        do(each)
        if perf_counter() >= until:
            budget.pause()
            return False  # to be called again in a later iteration
    budget.end()
    """

    __slots__ = ("_is_scheduled", "_started", "_used")

    def __init__(self) -> None:
        self._started = 0.0
        self._used = 0.0  # seconds, since the loop was last known to run everything else
        self._is_scheduled = False  # `_reset` is

    def begin(self) -> float:
        """Start or continue the work; returns when to pause, in `perf_counter` seconds."""
        self._started = now = perf_counter()
        return now + min(MAX_BLOCK, _MAX_SHARED_BLOCK / (_yielding.count + 1)) - self._used

    def end(self) -> None:
        """The work is done for now."""
        self._used += perf_counter() - self._started
        # Only after a good part of the budget: each callback costs a round of the loop, and
        # most calls take a few microseconds.
        if self._used > MAX_BLOCK / 4 and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._reset)

    def pause(self) -> None:
        """There is more work: let the loop run everything else first."""
        _yielding.count += 1
        asyncio.get_running_loop().call_soon(self._resume)

    def _resume(self) -> None:
        _yielding.count -= 1
        self._reset()

    def _reset(self) -> None:
        self._used = 0.0
        self._is_scheduled = False
