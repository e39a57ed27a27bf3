"""What broadcasters of both APIs have in common: tasks, handlers, and the flush at the end.

Guarantees: recording never waits and never raises; when the block ends, recorded events have
been handled and written, or are logged as lost, within `flush_within` seconds.
Threads: `record` is thread-safe, everything else belongs to the event loop's thread.
See also: `core` and `series_broadcaster` (the two APIs), `fan_out` (the queues).
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Generic, Self, TypeVar

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, SystemClock, TaskOwner
from kubeloop.wire import Resource, get_logger

from .event_fields import describe
from .fan_out import BroadcastStats, EventWatcher, FanOut, FullQueuePolicy

__all__ = ["FLUSH_WITHIN", "WATCHER_QUEUE", "Broadcaster"]

E = TypeVar("E", bound=Resource)
log = get_logger(__name__)

WATCHER_QUEUE = 1000
"""Capacity of the queue of one watcher."""
FLUSH_WITHIN = 5.0
"""Bound in seconds on the flush at the end of the block."""


class Broadcaster(Generic[E]):
    """The base of both broadcasters; for one `async with` block.

    Leaving the block flushes; a second cancellation ends the flush.
    """

    def __init__(
        self,
        *,
        queue: int,
        watcher_queue: int = WATCHER_QUEUE,
        when_full: FullQueuePolicy = "drop",
        flush_within: float = FLUSH_WITHIN,
        clock: Clock | None = None,
    ) -> None:
        self._clock: Clock = clock or SystemClock()
        self._flush_within = flush_within
        self._fan_out: FanOut[E] = FanOut(
            queue=queue, watcher_queue=watcher_queue, when_full=when_full
        )
        self._closing = asyncio.Event()  # set: retries no longer wait
        self._owner = TaskOwner(on_failure=_report_failure)
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._flush()
        finally:
            self._fan_out.end()
            await self._owner.__aexit__(kind, error, trace)

    def record(self, event: E) -> None:
        """Give an event to all watchers; a dropped one is logged."""
        if not self._fan_out.offer(event):
            why = "the queue is full" if self._fan_out.is_open else "the broadcaster has ended"
            log.error("event dropped, %s: %s", why, describe(event))
            return
        if self._loop is None or self._loop_thread == threading.get_ident():
            self._fan_out.distribute()
            return
        try:
            self._loop.call_soon_threadsafe(self._fan_out.distribute)
        except RuntimeError:  # the loop was closed meanwhile
            log.error("event dropped, the event loop has ended: %s", describe(event))

    def watch(self) -> EventWatcher[E]:
        """All events that are recorded from now on, to iterate over."""
        return self._fan_out.watch()

    def on_event(self, handler: Callable[[E], object]) -> EventWatcher[E]:
        """Call `handler` with every event that is recorded from now on, while the block runs.

        Its exceptions are logged. Stop the returned watcher to end it (client-go:
        `StartEventWatcher`).

        Raises: InvalidArgument for an async function: iterate over `watch()` instead.
        """
        if inspect.iscoroutinefunction(handler):
            raise InvalidArgument(
                f"events to {handler!r}: it is async (iterate over watch() instead)"
            )
        watcher = self.watch()
        self._spawn(_call_handler(watcher, handler), name=f"events to {handler!r}")
        return watcher

    def log_to(
        self, where: logging.Logger | Callable[[str], object], *, level: int = logging.INFO
    ) -> EventWatcher[E]:
        """Log every event: to a logger, with its fields as `extra`, or to a function as text."""
        if not isinstance(where, logging.Logger):
            return self.on_event(lambda event: where(describe(event)))
        return self.on_event(
            lambda event: where.log(level, "%s", describe(event), extra={"event": event.to_dict()})
        )

    def stats(self) -> BroadcastStats:
        return self._fan_out.stats()

    def _spawn(self, work: Coroutine[object, object, None], *, name: str) -> None:
        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(self._owner.spawn(work, name=name))

    async def _flush(self) -> None:
        self._fan_out.close()
        self._closing.set()
        pending = [task for task in self._tasks if not task.done()]
        if not pending:
            return
        try:
            async with self._clock.timeout(self._flush_within):
                await asyncio.wait(pending)
        except TimeoutError:
            log.error(
                "events: flush did not end within %s s, the rest is lost: %s",
                self._flush_within,
                self.stats(),
            )


async def _call_handler(watcher: EventWatcher[E], handler: Callable[[E], object]) -> None:
    async for event in watcher:
        try:
            handler(event)
        except Exception:
            log.exception("event handler %r failed: %s", handler, describe(event))


def _report_failure(name: str, error: Exception) -> None:
    log.error("%s ended, its events are lost: %s", name, error, exc_info=error)
