"""The life of a broadcast: its watchers' tasks, its log, and an end that loses nothing.

Promises: recording never waits and never raises; when the block ends, what was recorded has
been handed on and written, or is reported as lost, within `flush_within` seconds.
Threads: `record` may be called from any thread, everything else from the event loop's.
Elsewhere: the two forms of events (`core`, `series_broadcaster`).
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

from .broadcast import Broadcast, BroadcastStats, EventWatcher, WhenFull
from .making import described

__all__ = ["FLUSH_WITHIN", "WATCHER_QUEUE", "Broadcaster"]

E = TypeVar("E", bound=Resource)
log = get_logger(__name__)

WATCHER_QUEUE = 1000
"""Events that wait for one watcher."""
FLUSH_WITHIN = 5.0
"""Seconds that the end of a block takes at most."""


class Broadcaster(Generic[E]):
    """What both forms of events have in common; use it for one `async with` block.

    Leaving the block is a flush; a second cancellation during it cuts it short.
    """

    def __init__(
        self,
        *,
        queue: int,
        watcher_queue: int = WATCHER_QUEUE,
        when_full: WhenFull = "drop",
        flush_within: float = FLUSH_WITHIN,
        clock: Clock | None = None,
    ) -> None:
        self._clock: Clock = clock or SystemClock()
        self._flush_within = flush_within
        self._broadcast: Broadcast[E] = Broadcast(
            queue=queue, watcher_queue=watcher_queue, when_full=when_full
        )
        self._closing = asyncio.Event()  # from then on nobody waits before another try
        self._owner = TaskOwner(on_failure=_report_failure)
        self._tasks: list[asyncio.Task[None]] = []
        self._home: tuple[asyncio.AbstractEventLoop, int] | None = None  # the loop, its thread

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._home = (asyncio.get_running_loop(), threading.get_ident())
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
            self._broadcast.end()
            await self._owner.__aexit__(kind, error, trace)

    def record(self, event: E) -> None:
        """Hand an event to all who listen; a dropped one is logged."""
        if not self._broadcast.offer(event):
            why = "the queue is full" if self._broadcast.is_open else "the broadcaster has ended"
            log.error("event dropped, %s: %s", why, described(event))
            return
        if self._home is None or self._home[1] == threading.get_ident():
            self._broadcast.pump()
            return
        try:
            self._home[0].call_soon_threadsafe(self._broadcast.pump)
        except RuntimeError:  # the loop was closed in this very moment
            log.error("event dropped, the event loop has ended: %s", described(event))

    def watch(self) -> EventWatcher[E]:
        """Every event that is recorded from now on, for the caller to iterate over."""
        return self._broadcast.watch()

    def on_event(self, handler: Callable[[E], object]) -> EventWatcher[E]:
        """Call `handler` with every event that is recorded from now on, while the block lasts.

        What it raises is logged. The watcher that is returned can be stopped.

        Raises: InvalidArgument for an async function: iterate over `watch()` instead.
        """
        if inspect.iscoroutinefunction(handler):
            raise InvalidArgument(
                f"events to {handler!r}: it is async (iterate over watch() instead)"
            )
        watcher = self.watch()
        self._spawn(_hand_over(watcher, handler), name=f"events to {handler!r}")
        return watcher

    def log_to(
        self, where: logging.Logger | Callable[[str], object], *, level: int = logging.INFO
    ) -> EventWatcher[E]:
        """Write every event to a logger, with its fields as `extra`, or to a function as text."""
        if not isinstance(where, logging.Logger):
            return self.on_event(lambda event: where(described(event)))
        return self.on_event(
            lambda event: where.log(level, "%s", described(event), extra={"event": event.to_dict()})
        )

    def stats(self) -> BroadcastStats:
        return self._broadcast.stats()

    def _spawn(self, work: Coroutine[object, object, None], *, name: str) -> None:
        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(self._owner.spawn(work, name=name))

    async def _flush(self) -> None:
        self._broadcast.close()
        self._closing.set()
        pending = [task for task in self._tasks if not task.done()]
        if not pending:
            return
        try:
            async with self._clock.timeout(self._flush_within):
                await asyncio.wait(pending)
        except TimeoutError:
            log.error(
                "events: not all could be handed on within %s s, the rest is lost: %s",
                self._flush_within,
                self.stats(),
            )


async def _hand_over(watcher: EventWatcher[E], handler: Callable[[E], object]) -> None:
    async for event in watcher:
        try:
            handler(event)
        except Exception:
            log.exception("event handler %r failed: %s", handler, described(event))


def _report_failure(name: str, error: Exception) -> None:
    log.error("%s ended, its events are lost: %s", name, error, exc_info=error)
