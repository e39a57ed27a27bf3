"""The queue between those who see changes and those who work on them.

Promises: a key that was added is handed out at least once after that; it is never
with two workers at once, and however often it is added meanwhile, it is worked on
once more. Keys leave in the order in which they came. A cancelled `get()` loses none.
Threads: everything belongs to the thread of one event loop, except `add_threadsafe`.
Elsewhere: keys for later (`delays`), failing keys (`rate_limiting`), important ones
(`priority`).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections import deque
from collections.abc import Hashable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, Literal, Protocol, TypeVar, final

import msgspec

from kubeloop.kit import Clock, SystemClock

from .errors import NotHandedOut, QueueEmpty, QueueShutDown
from .inbox import Inbox
from .line import Line
from .metrics import QueueMetrics, Recorder, ages
from .turns import LoopTurn

__all__ = ["REPORT_INTERVAL", "Order", "Phase", "QueueStats", "WorkQueue"]

K = TypeVar("K", bound=Hashable)

Phase = Literal["open", "draining", "shut down"]

REPORT_INTERVAL = 0.5
"""Seconds between two reports of what is in work, while `run()` runs."""


class Order(Protocol[K]):
    """Decides which queued key is next, where first in, first out is not wanted."""

    def __len__(self) -> int: ...

    def append(self, key: K) -> None:
        """Queue a key that is not queued."""
        ...

    def popleft(self) -> K:
        """Take the next key out; only asked when there is one."""
        ...

    def touch(self, key: K) -> None:
        """A key that is queued was added once more (client-go: `Touch`)."""
        ...


class QueueStats(msgspec.Struct, frozen=True):
    """A queue at one moment."""

    name: str
    phase: Phase
    queued: int  # what len() says
    in_work: int  # handed out and not done
    waiting: int  # added for later; one key may be queued as well
    workers: int  # calls of get() that wait for a key
    unfinished: float  # seconds since they were handed out, of all keys in work together
    longest: float  # the same of the key that takes longest
    retries: int = 0  # keys that were ever added for later


class WorkQueue(Generic[K]):
    """Holds each key once and hands it to one worker at a time (client-go: `workqueue`).

        async with queue.item() as key:
            await reconcile(key)

    Keys are hashable and compared by value. Made to be inherited by the queues of
    this room. `metrics` are reported only for a queue with a `name`.
    """

    def __init__(
        self,
        *,
        name: str = "",
        clock: Clock | None = None,
        metrics: QueueMetrics | None = None,
        order: Order[K] | None = None,
    ) -> None:
        self._name = name
        self._clock = clock or SystemClock()
        self._now = self._clock.now
        self._phase: Phase = "open"
        # A key is in _dirty from being added to being handed out, and in _working from there
        # to done. It is in _order when it is in _dirty and not in _working.
        self._order: deque[K] | Order[K] = deque() if order is None else order
        self._touch = None if order is None else order.touch
        self._dirty: set[K] = set()
        self._working: dict[K, float] = {}  # with the moment when they were handed out
        self._line = Line(self._clock)
        self._turn = LoopTurn(self._clock)
        self._drained: set[asyncio.Future[None]] = set()  # calls of drain() that wait
        self._retries = 0  # counted by the queues that take keys for later
        self._inbox = Inbox()
        self._calls = self._inbox.calls
        # Made before there is a loop, it is the first get() that does this.
        with contextlib.suppress(RuntimeError):
            self._inbox.listen()
        self._recorder: Recorder[K] | None = None
        if name and metrics is not None:
            self._recorder = Recorder(name, metrics)

    @property
    def name(self) -> str:
        return self._name

    def __len__(self) -> int:
        """How many keys could be handed out now: neither those in work nor those for later."""
        self._settle()
        return len(self._order)

    def add(self, key: K) -> None:
        """Have the key worked on; nothing happens when it is queued, or after shutdown."""
        if self._phase != "open":
            return
        if key in self._dirty:
            if self._touch is not None and key not in self._working:
                self._touch(key)
            return
        self._dirty.add(key)
        if self._recorder is not None:
            self._recorder.added(key, len(self._dirty), self._now())
        if key not in self._working:
            self._queue(key)

    def add_threadsafe(self, key: K) -> None:
        """`add`, from any thread: returns at once, and the loop takes the key in.

        Costs more than `add`, so the loop's own thread has no reason to use it.
        """
        self._inbox.put(functools.partial(self.add, key))

    async def get(self) -> K:
        """Wait for a key and take it; `done(key)` has to follow, whatever happens.

        Lets the loop run something else every few milliseconds, even when there are
        always keys and the work between two calls never waits.
        Safe to cancel: no key is lost.

        Raises: QueueShutDown when the queue is shut down and empty.
        """
        now = self._now()
        if now >= self._turn.ends:
            await self._turn.give_way()
            now = self._now()
        again = False
        while not self._is_ready(now):
            self._refuse_after_shutdown()
            await self._wait(again=again)
            again = True
            now = self._now()
        return self._hand_out(now)

    def get_nowait(self) -> K:
        """Take a key if there is one now.

        Raises: QueueEmpty; QueueShutDown when there will be none any more.
        """
        now = self._now()
        while not self._is_ready(now):
            if not self._calls:
                self._refuse_after_shutdown()
                raise QueueEmpty(f"get from {self}: no key is ready (await get() to wait for one)")
        return self._hand_out(now)

    def done(self, key: K) -> None:
        """Say that the worker is through; a key that was added meanwhile is queued now.

        Raises: NotHandedOut when nobody works on the key; nothing has changed then.
        """
        begun = self._working.pop(key, None)
        if begun is None:
            raise NotHandedOut(
                f"done {key!r} in {self}: it is not in work (call done once for each get)"
            )
        if self._recorder is not None:
            self._recorder.done(self._now() - begun)
        if key in self._dirty:
            self._queue(key)
        elif self._drained and not self._working:
            self._end_drain()

    def item(self) -> AbstractAsyncContextManager[K]:
        """`get()` at the beginning of the block and `done()` at its end, however it ends.

        Safe to cancel: no key is lost.

        Raises: QueueShutDown, as `get()` does.
        """
        return _Item(self)

    def shut_down(self) -> None:
        """Take no more keys; those that are queued are still handed out.

        Ends every `drain()` that still waits.
        """
        self._close("shut down")
        self._end_drain()

    async def drain(self) -> None:
        """Shut down, and wait until no key is in work (client-go: `ShutDownWithDrain`).

        A key that was added while in work is handed out once more and waited for;
        keys that nobody takes are not. `shut_down()` ends the waiting.
        Safe to cancel: the queue stays shut down.
        """
        self._close("draining")
        while self._working and self._phase == "draining":
            drained: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._drained.add(drained)
            try:
                await drained
            finally:
                self._drained.discard(drained)

    @property
    def is_shutting_down(self) -> bool:
        """Whether keys that are added are ignored."""
        return self._phase != "open"

    async def run(self) -> None:
        """Report what is in work, every 500 ms until shutdown; only metrics need this.

        Safe to cancel: nothing is lost.
        """
        while self._recorder is not None:
            await self._clock.sleep(REPORT_INTERVAL)
            if self._phase != "open":
                return
            self._settle()
            self._recorder.in_work(*ages(self._working.values(), self._now()))

    def stats(self) -> QueueStats:
        queued = len(self)  # first, because it takes in what has come
        unfinished, longest = ages(self._working.values(), self._now())
        return QueueStats(
            name=self._name,
            phase=self._phase,
            queued=queued,
            in_work=len(self._working),
            waiting=self._count_waiting(),
            workers=len(self._line),
            unfinished=unfinished,
            longest=longest,
            retries=self._retries,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})" if self._name else type(self).__name__

    # What the queues that inherit add to: the way of a key in and out.

    def _is_ready(self, now: float) -> bool:  # noqa: ARG002 - for those who know of time
        """Whether a key can be handed out, after taking in some of what has come."""
        if self._calls:
            self._inbox.take_in()
        return bool(self._order)

    def _settle(self) -> None:
        """Take in all that has come."""
        while self._calls:
            self._inbox.take_in()

    def _next_moment(self) -> float | None:
        """When a key comes by itself."""
        return None

    def _count_waiting(self) -> int:
        return 0

    def _hand_out(self, now: float) -> K:
        key = self._order.popleft()
        self._dirty.remove(key)
        self._working[key] = now
        if self._recorder is not None:
            self._recorder.handed_out(key, len(self._dirty), now)
        return key

    def _close(self, phase: Phase) -> None:
        self._settle()
        self._phase = phase
        self._line.wake_all()

    def _queue(self, key: K) -> None:
        self._order.append(key)
        if self._line:
            self._line.wake_one()

    async def _wait(self, *, again: bool) -> None:
        if self._inbox.listen():
            await self._line.wait(self._next_moment(), again=again)
        else:
            await asyncio.sleep(0)  # there is more to take in than one turn should

    def _refuse_after_shutdown(self) -> None:
        if self._phase != "open":
            raise QueueShutDown(f"get from {self}: it is shut down and empty (end the worker)")

    def _end_drain(self) -> None:
        for drained in self._drained:
            if not drained.done():
                drained.set_result(None)


@final
class _Item(Generic[K]):
    """One key in the hands of one worker."""

    def __init__(self, queue: WorkQueue[K]) -> None:
        self._queue = queue

    async def __aenter__(self) -> K:
        self._key = await self._queue.get()
        return self._key

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._queue.done(self._key)
