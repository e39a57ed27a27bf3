"""A thread that does what the loop asks of it, one thing after the other.

Promises: the thread is a daemon, started by the first thing to do; what a function raises is
raised in the loop.
Elsewhere: what is done in a thread that waits anyway (`calls`).
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar, final

from .calls import answer
from .portal import Portal

__all__ = ["Worker"]

T = TypeVar("T")


@final
class Worker:
    """One thread for the functions of one handler."""

    def __init__(self, portal: Portal, *, name: str) -> None:
        self._portal = portal
        self._name = name
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    @property
    def has_ended(self) -> bool:
        """Whether it was stopped, and nothing of it runs any more."""
        return self._is_stopped and (self._thread is None or not self._thread.is_alive())

    async def do(self, function: Callable[[], T]) -> T:
        """Call a function over there. Cancelled, it comes to its end all the same."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put(lambda: answer(self._portal, function, future, catch=BaseException))
        result: T = await future
        return result

    def stop(self) -> None:
        """Have the thread end after what it has to do. Safe to repeat."""
        self._is_stopped = True
        self._jobs.put(None)

    def join(self) -> None:
        """Wait for its end, unless it is the caller's own thread."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
