"""Calls that other threads leave for the event loop.

Promises: calls are made in the order in which each thread left them, on the loop's
thread, and each once; leaving one never waits for the loop, and many of them wake
it once. A call that no loop can be woken for stays until somebody takes it in; one
that fails is logged, because who left it is not there to be told.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import final

from kubeloop.machinery import get_logger

__all__ = ["Inbox"]

log = get_logger(__name__)

# So many calls take well below a millisecond; the rest has to wait for the loop's next turn.
_LOT = 1000


@final
class Inbox:
    """The loop's letter box: any thread puts in, the loop's thread takes out."""

    def __init__(self) -> None:
        self.calls: deque[Callable[[], None]] = deque()  # looked at by whoever takes in
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None  # whom to wake; None: nobody yet
        self._called = False  # take_in() is due on _loop

    def put(self, call: Callable[[], None]) -> None:
        """Leave a call; from any thread."""
        with self._lock:
            self.calls.append(call)
            loop = self._loop
            if loop is None or self._called:
                return
            self._called = True
        self._wake(loop)

    def listen(self) -> bool:
        """Have the running loop woken for calls from now on; False when some are here already."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._loop is not loop:
                self._loop = loop
                self._called = False
            return not self.calls

    def take_in(self) -> None:
        """Make the calls that have come, up to a lot of them."""
        for _ in range(min(len(self.calls), _LOT)):
            _make(self.calls.popleft())

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.call_soon_threadsafe(self._answer)
        except RuntimeError:
            # That loop is closed. The calls wait for the next one to listen.
            self._forget(loop)

    def _forget(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            if self._loop is loop:
                self._loop = None
                self._called = False

    def _answer(self) -> None:
        self.take_in()
        with self._lock:
            self._called = bool(self.calls)
            if not self._called:
                return
        asyncio.get_running_loop().call_soon(self._answer)


def _make(call: Callable[[], None]) -> None:
    try:
        call()
    except Exception:  # a limiter or a key that is not ours
        log.exception("%s: a call from another thread failed", call)
