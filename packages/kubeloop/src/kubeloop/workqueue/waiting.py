"""How a queue waits on the event loop, and how other threads reach it.

`Waiters` are the blocked `get()` calls, `ThreadsafeCalls` brings calls of other
threads to the loop.

Guarantees: no background task; a waiter receives no key, it is only woken to look
for one, so a cancelled `get()` cannot lose a key.
See also: `queue` (the only user).
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import final

from kubeloop.kit import Clock
from kubeloop.wire import get_logger

__all__ = ["ThreadsafeCalls", "Waiters"]

log = get_logger(__name__)

# A waiter with a timer looks at the clock at least this often: a suspended machine, or a clock
# that runs differently from the loop's, delays a key by no more. client-go's heartbeat (WKQ-9).
_MAX_TIMER = 10.0
# Calls from threads that run in one step of the loop: well below a millisecond.
_MAX_CALLS_PER_STEP = 1000


@final
class Waiters:
    """Blocked `get()` calls, first come, first served.

    While a call waits and a key is delayed, exactly one of the calls has a timer.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Public for the queue's hot path, which only checks whether it is empty.
        self.futures: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.Future[None] | None = None  # the future of the call with the timer

    def __len__(self) -> int:
        return len(self.futures)

    def wake_one(self) -> None:
        """Wake the first call, to look for a key."""
        while self.futures:
            future = self.futures.popleft()
            if not future.done():
                future.set_result(None)
                return

    def wake_all(self) -> None:
        """Wake every call: the queue was shut down."""
        while self.futures:
            self.wake_one()

    def reset_timer(self) -> None:
        """Make a call read the next ready time again: it is earlier than before."""
        timer = self._timer
        if timer is None:
            self.wake_one()
        elif not timer.done():
            timer.set_result(None)

    async def wait(self, until: float | None, *, first: bool) -> None:
        """Wait to be woken, or until this time unless another call has the timer already.

        `first` puts the call at the head: it was woken and another call took the key.
        Safe to cancel: if it was woken just before, the next call is woken instead.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if first:
            self.futures.appendleft(future)
        else:
            self.futures.append(future)
        try:
            if until is None or self._timer is not None:
                await future  # `wake_one` has removed it
            else:
                await self._wait_with_timer(future, until)
        except BaseException:
            if future in self.futures:
                self.futures.remove(future)
            self.wake_one()
            raise

    async def _wait_with_timer(self, future: asyncio.Future[None], until: float) -> None:
        self._timer = future
        try:
            seconds = min(until - self._clock.now(), _MAX_TIMER)
            async with self._clock.timeout(max(seconds, 0.0)):
                await future
        except TimeoutError:
            pass
        finally:
            self._timer = None
            # Another call has to take over the timer; this one may be cancelled or get a key.
            if future in self.futures:
                self.futures.remove(future)
            self.wake_one()


@final
class ThreadsafeCalls:
    """Runs calls of other threads on the event loop's thread, in order, each once.

    `put()` never waits for the loop, and many calls wake the loop once. Without a
    running loop the calls stay until `run_pending()`. An exception is logged: the
    caller no longer waits.
    """

    def __init__(self) -> None:
        # Public for the queue's hot path, which only checks whether it is empty.
        self.pending: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()  # for the two attributes below
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_scheduled = False  # _run_on_loop() is scheduled on _loop

    def put(self, call: Callable[[], None]) -> None:
        """Leave a call for the loop; from any thread."""
        with self._lock:
            self.pending.append(call)
            loop = self._loop
            if loop is None or self._is_scheduled:
                return
            self._is_scheduled = True
        try:
            loop.call_soon_threadsafe(self._run_on_loop)
        except RuntimeError:
            # That loop is closed. The calls wait for the next loop that attaches.
            self._detach(loop)

    def attach(self) -> bool:
        """Have the running loop woken for new calls; False if calls are pending already.

        The lock closes the race with a `put()` that found no loop to wake.
        """
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return not self.pending  # a later `put()` wakes the loop
        with self._lock:
            if self._loop is not loop:
                self._loop = loop
                self._is_scheduled = False
            return not self.pending

    def run_pending(self) -> None:
        """Run the calls that are pending now, up to a limit."""
        for _ in range(min(len(self.pending), _MAX_CALLS_PER_STEP)):
            call = self.pending.popleft()
            try:
                call()
            except Exception:  # a limiter's, or of a key that cannot be hashed
                log.exception("%s: call from another thread failed", call)

    def _run_on_loop(self) -> None:
        self.run_pending()
        with self._lock:
            self._is_scheduled = bool(self.pending)
            if not self._is_scheduled:
                return
        asyncio.get_running_loop().call_soon(self._run_on_loop)

    def _detach(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            if self._loop is loop:
                self._loop = None
                self._is_scheduled = False
