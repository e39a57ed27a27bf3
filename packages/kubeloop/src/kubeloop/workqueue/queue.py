"""The work queue: each key once, for one worker at a time.

Guarantees: after a key is added, `get()` returns it at least once; a key is never
processed by two workers at once; several adds while it waits or is processed become
one; a cancelled `get()` loses no key.
Threads: everything belongs to the event loop's thread, except `add_threadsafe`.
See also: `rate_limiting` (delays and retries), `priority` (priorities), `ordering`
(which key is next), `waiting` (how `get()` waits).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections import deque
from collections.abc import Hashable
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from types import TracebackType
from typing import Generic, TypeVar, final

import msgspec

from kubeloop.errors import KubeError
from kubeloop.kit import Clock, SystemClock, Yielder

from .limiters import check_delay
from .metrics import MetricsReporter, QueueMetrics, sum_and_max_age
from .ordering import DelayedKeys, Order
from .waiting import ThreadsafeCalls, Waiters

__all__ = [
    "NotProcessing",
    "QueueEmpty",
    "QueueShutDown",
    "QueueState",
    "QueueStats",
    "WorkQueue",
]

K = TypeVar("K", bound=Hashable)

# Seconds between two reports of the keys that are being processed (WKQ-17).
_REPORT_INTERVAL = 0.5
# Delayed keys that become ready in one get(): more than one, so that the queue catches up, and
# few enough that a hundred thousand of them do not block the loop.
_MAX_READY_PER_GET = 64
# Seconds of a slice: the workers of one queue block the loop for at most two of them.
_MAX_BLOCK = 0.0025


class QueueEmpty(KubeError):
    """`get_nowait` found no key that is ready."""


class QueueShutDown(KubeError):
    """The queue is shut down and empty: `get` will never return another key."""


class NotProcessing(KubeError):
    """`done` was called for a key that is not being processed; the queue is unchanged."""


class QueueState(StrEnum):
    """Whether a queue accepts keys."""

    OPEN = "open"
    DRAINING = "draining"  # accepts none, and drain() waits for the keys in processing
    SHUT_DOWN = "shut down"


_OPEN = QueueState.OPEN


class QueueStats(msgspec.Struct, frozen=True):
    """A snapshot of a work queue (delta queues have `cache.QueueStats`)."""

    name: str
    state: QueueState
    ready: int  # ready for get(), as len()
    processing: int  # between get() and done()
    delayed: int  # until a delay is over; a key may be ready as well
    idle_workers: int  # get() calls that wait for a key
    unfinished_work: float  # seconds since get(), summed over the keys in processing
    longest_running: float  # the longest of them
    retries: int = 0  # adds with a delay, since the queue was created


class WorkQueue(Generic[K]):
    """A queue of keys to process (client-go: `workqueue.TypedInterface`).

    ```python
    async with queue.item() as key:
        await reconcile(key)
    ```

    Keys are hashable and compared by value. `metrics` are reported only if the queue has
    a `name`. `order` replaces first in, first out. The other queues of this package are
    work queues whose `add` takes more options.
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
        self._state = _OPEN
        # client-go's three structures (WKQ-1). _dirty: keys that need processing, from add to
        # get. _processing: keys between get and done, with the time of get. _ready: the order
        # of the keys that get may return; they are the keys in _dirty and not in _processing.
        self._dirty: set[K] = set()
        self._processing: dict[K, float] = {}
        self._ready: deque[K] | Order[K] = deque() if order is None else order
        self._touch = None if order is None else order.touch
        # Keys for later: not in _dirty until their delay is over. Empty in a plain WorkQueue.
        self._delayed: DelayedKeys[K] = DelayedKeys()
        self._retries = 0
        self._drains: set[asyncio.Future[None]] = set()  # drain() calls that wait
        self._waiters = Waiters(self._clock)
        self._yielder = Yielder(self._now, starts_now=False)  # one for all workers
        self._calls = ThreadsafeCalls()
        # Without a running loop, the first get() that waits attaches it.
        with contextlib.suppress(RuntimeError):
            self._calls.attach()
        self._reporter: MetricsReporter[K] | None = None
        if name and metrics is not None:
            self._reporter = MetricsReporter(name, metrics)

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_shutting_down(self) -> bool:
        """Whether `add` is ignored: `shut_down()` or `drain()` was called."""
        return self._state is not _OPEN

    def __len__(self) -> int:
        """How many keys are ready for `get()`.

        Not counted: keys in processing, even if they were added again, and delayed keys.
        """
        self._catch_up()
        return len(self._ready)

    def add(self, key: K) -> None:
        """Add a key that needs processing.

        Ignored if the key is queued already, or after shutdown. A key in processing is
        queued when it is done.
        """
        self._add_ready(key)

    def add_threadsafe(self, key: K) -> None:
        """`add` from any thread; returns at once, the event loop adds the key.

        Slower than `add`; on the loop's own thread use that.
        """
        self._calls.put(functools.partial(self._add_ready, key))

    async def get(self) -> K:
        """Wait for a key to process; call `done(key)` afterwards, also after an error.

        Yields to the event loop every few milliseconds, even if keys are always ready.
        Safe to cancel: no key is lost.

        Raises: QueueShutDown when the queue is shut down and empty.
        """
        now = self._now()
        if now - self._yielder.started >= _MAX_BLOCK:
            await self._yielder.yield_to_loop()
            now = self._now()
        was_woken = False
        while not self._is_ready(now):
            self._raise_if_shut_down()
            if self._calls.attach():
                await self._waiters.wait(self._delayed.next_ready_at(), first=was_woken)
            else:
                await asyncio.sleep(0)  # threads have left more calls than run in one step
            was_woken = True
            now = self._now()
        return self._take(now)

    def get_nowait(self) -> K:
        """Return a key to process if one is ready.

        Raises: QueueEmpty; QueueShutDown when the queue is shut down and empty.
        """
        now = self._now()
        while not self._is_ready(now):
            if not self._calls.pending:
                self._raise_if_shut_down()
                raise QueueEmpty(f"get from {self}: no key is ready (await get() to wait for one)")
        return self._take(now)

    def done(self, key: K) -> None:
        """Finish processing a key; if it was added again meanwhile, it is queued now.

        Raises: NotProcessing when the key is not being processed; nothing changes.
        """
        started = self._processing.pop(key, None)
        if started is None:
            # client-go would queue a dirty key a second time here (WKQ-C11).
            raise NotProcessing(
                f"done {key!r} in {self}: the key is not being processed"
                " (call done once for each get)"
            )
        if self._reporter is not None:
            self._reporter.on_done(self._now() - started)
        if key in self._dirty:
            self._push(key)
        elif self._drains and not self._processing:
            self._end_drains()

    def item(self) -> AbstractAsyncContextManager[K]:
        """`get()` when the block begins, `done()` when it ends, also by an error.

        Safe to cancel: no key is lost.

        Raises: QueueShutDown, as `get()` does.
        """
        return _Item(self)

    def shut_down(self) -> None:
        """Accept no more keys, drop the delayed ones and return immediately.

        `get()` still returns the queued keys, then raises `QueueShutDown`. A `drain()`
        that waits returns.
        """
        self._close(QueueState.SHUT_DOWN)
        self._end_drains()

    async def drain(self) -> None:
        """Shut down and wait until no key is being processed (client-go: `ShutDownWithDrain`).

        Waits as well for a key that is queued again by its `done`, and for queued keys
        that a worker gets meanwhile; not for queued keys that no worker gets.
        `shut_down()` ends the wait. Safe to cancel: the queue stays shut down.
        """
        self._close(QueueState.DRAINING)
        while self._processing and self._state is QueueState.DRAINING:
            drained: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._drains.add(drained)
            try:
                await drained
            finally:
                self._drains.discard(drained)

    async def run(self) -> None:
        """Report the keys in processing every 500 ms until shutdown; only metrics need this.

        Safe to cancel: nothing is lost.
        """
        while self._reporter is not None:
            await self._clock.sleep(_REPORT_INTERVAL)
            if self._state is not _OPEN:
                return
            self._catch_up()
            self._reporter.report_processing(
                *sum_and_max_age(self._processing.values(), self._now())
            )

    def stats(self) -> QueueStats:
        queued = len(self)  # first, because it adds what has become ready
        unfinished, longest = sum_and_max_age(self._processing.values(), self._now())
        return QueueStats(
            name=self._name,
            state=self._state,
            ready=queued,
            processing=len(self._processing),
            delayed=len(self._delayed),
            idle_workers=len(self._waiters),
            unfinished_work=unfinished,
            longest_running=longest,
            retries=self._retries,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})" if self._name else type(self).__name__

    # For the queues of this package, whose add() has more options.

    def _add_ready(self, key: K) -> None:
        """Add a key without a delay (WKQ-2)."""
        if self._state is not _OPEN:
            return
        if key in self._dirty:
            if self._touch is not None and key not in self._processing:
                self._touch(key)
            return
        self._dirty.add(key)
        if self._reporter is not None:
            self._reporter.on_add(key, len(self._dirty), self._now())
        if key not in self._processing:
            self._push(key)

    def _add_after(self, key: K, delay: float, now: float) -> None:
        """Add a key `delay` seconds after `now` (WKQ-9); zero or less is without a delay."""
        check_delay(key, delay)
        if self._state is not _OPEN:
            return
        self._count_retry()
        if delay > 0:
            self._delay_until(key, now + delay)
        else:
            self._add_ready(key)

    def _delay_until(self, key: K, ready_at: float) -> None:
        if self._delayed.add(key, ready_at):
            self._waiters.reset_timer()

    def _count_retry(self) -> None:
        """client-go counts every AddAfter, also without a delay (WKQ-17)."""
        self._retries += 1
        if self._reporter is not None:
            self._reporter.on_retry()

    # From ready to processing.

    def _is_ready(self, now: float) -> bool:
        """Whether a key is ready, after adding keys of threads and keys whose delay is over."""
        if self._calls.pending:
            self._calls.run_pending()
        if now >= self._delayed.next_check:
            self._add_due(now)
        return bool(self._ready)

    def _add_due(self, now: float) -> None:
        """Add keys whose delay is over; if there are many, the next call adds more."""
        for _ in range(_MAX_READY_PER_GET):
            key = self._delayed.pop_ready(now)
            if key is None:
                return
            self._add_ready(key)

    def _catch_up(self) -> None:
        """Add all keys of threads and all keys whose delay is over."""
        while self._calls.pending:
            self._calls.run_pending()
        now = self._now()
        while now >= self._delayed.next_check:
            self._add_due(now)

    def _push(self, key: K) -> None:
        self._ready.append(key)
        if self._waiters.futures:
            self._waiters.wake_one()

    def _take(self, now: float) -> K:
        key = self._ready.popleft()
        self._dirty.remove(key)
        self._processing[key] = now
        if self._reporter is not None:
            self._reporter.on_get(key, len(self._dirty), now)
        return key

    def _raise_if_shut_down(self) -> None:
        if self._state is not _OPEN:
            raise QueueShutDown(f"get from {self}: it is shut down and empty (end the worker)")

    def _close(self, state: QueueState) -> None:
        # Keys that threads added before, and keys whose delay is over, are not lost.
        self._catch_up()
        self._state = state
        self._delayed.clear()
        self._waiters.wake_all()

    def _end_drains(self) -> None:
        for drained in self._drains:
            if not drained.done():
                drained.set_result(None)


@final
class _Item(Generic[K]):
    """The context manager of `WorkQueue.item()`."""

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
