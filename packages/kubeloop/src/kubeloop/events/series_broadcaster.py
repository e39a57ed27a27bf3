"""Events of events.k8s.io: from recorders to one sink, as single events and series.

Guarantees: several workers write at once, but only one writes the same event; an event that
finds the workers' queue full is logged and dropped; the end of the block writes every series
with its last count.
See also: `series` (what a series is), `sink` (writes and retries).

    async with SeriesBroadcaster() as events:
        events.record_to(client.resource(Event))
        recorder = events.recorder("example.com/website-controller")
        recorder.event(site, "Normal", "Created", "Create", "created deployment %s", name)
"""

from __future__ import annotations

import asyncio
import itertools
import random as chance
import socket
from typing import Final, final

import msgspec

from kubeloop.errors import AlreadyExists, KubeError
from kubeloop.kit import Clock, Random, TaskOwner, jittered
from kubeloop.wire import get_logger
from kubeloop.wire.events.v1 import Event

from .broadcaster import FLUSH_WITHIN, WATCHER_QUEUE, Broadcaster
from .event_fields import EventNames, describe
from .fan_out import EventWatcher, FullQueuePolicy
from .series import FINISH_AFTER, REFRESH_EVERY, SeriesStats, SeriesTracker, series_patch
from .series_recorder import SeriesRecorder
from .sink import (
    RETRY_DELAY,
    EventSink,
    FailureAction,
    action_after,
    check_sink,
    log_failure,
    write_event,
    write_with_retries,
)

__all__ = [
    "SERIES_QUEUE",
    "WRITERS",
    "WRITE_QUEUE",
    "AlreadyRecording",
    "SeriesBroadcaster",
    "SeriesWriter",
    "SeriesWriterStats",
]

log = get_logger(__name__)

SERIES_QUEUE: Final = 25
"""Capacity of the incoming queue."""
WRITE_QUEUE: Final = 1000
"""Capacity of the queue of the workers."""
WRITERS: Final = 8
"""Number of workers."""
JITTER: Final = 0.25
"""Jitter of the delay between two attempts, as a part of the delay."""


@final
class AlreadyRecording(KubeError):
    """The broadcaster writes to a sink already; it has only one."""


@final
class SeriesBroadcaster(Broadcaster[Event]):
    """Distributes events of events.k8s.io (client-go: `events.EventBroadcaster`)."""

    def __init__(
        self,
        *,
        queue: int = SERIES_QUEUE,
        watcher_queue: int = WATCHER_QUEUE,
        when_full: FullQueuePolicy = "drop",
        flush_within: float = FLUSH_WITHIN,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(
            queue=queue,
            watcher_queue=watcher_queue,
            when_full=when_full,
            flush_within=flush_within,
            clock=clock,
        )
        self._names = EventNames(self._clock)
        self._is_recording = False

    def recorder(self, controller: str, *, host: str | None = None) -> SeriesRecorder:
        """A recorder for `controller`, a qualified name, on this host or on `host`."""
        where = socket.gethostname() if host is None else host
        return SeriesRecorder(
            self.record,
            controller=controller,
            instance=f"{controller}-{where}",
            clock=self._clock,
            names=self._names,
        )

    def record_to(self, sink: EventSink[Event], *, random: Random = chance.random) -> SeriesWriter:
        """Write events that are recorded from now on to `sink`.

        Raises: AlreadyRecording when it was called before, TypeError when `sink` is not a
        client of events of events.k8s.io.
        """
        check_sink(sink, Event)
        if self._is_recording:
            raise AlreadyRecording(
                f"record events to {sink!r}: they are written to a sink already (use a"
                " broadcaster for each sink)"
            )
        writer = SeriesWriter(
            sink, self.watch(), closing=self._closing, clock=self._clock, random=random
        )
        self._spawn(writer.run(), name=f"event series to {sink!r}")
        self._is_recording = True
        return writer


class SeriesWriterStats(msgspec.Struct, frozen=True):
    """A snapshot of a writer."""

    written: int
    lost: int  # rejected, dropped after the last attempt, or found the queue full
    waiting: int
    tracker: SeriesStats


@final
class SeriesWriter:
    """Writes the events of a watcher to a sink: single events, then series."""

    def __init__(
        self,
        sink: EventSink[Event],
        watcher: EventWatcher[Event],
        *,
        closing: asyncio.Event,
        clock: Clock,
        random: Random = chance.random,
    ) -> None:
        self._sink = sink
        self._watcher = watcher
        self._closing = closing
        self._clock = clock
        self._random = random
        self._tracker = SeriesTracker(clock=clock)
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()  # None: the end
        self._written = 0
        self._lost = 0

    async def run(self) -> None:
        """Write until the watcher ends; a cancelled run loses what is not written."""
        async with TaskOwner() as tasks:
            tasks.spawn(self._refresh(), name="refresh of event series")
            tasks.spawn(self._finish(), name="end of event series")
            workers = [
                tasks.spawn(self._work(), name=f"event writer {number}")
                for number in range(WRITERS)
            ]
            async for event in self._watcher:
                self._enqueue(event)
            for _ in workers:
                self._queue.put_nowait(None)
            await asyncio.wait(workers)
            for event in self._tracker.unwritten():
                await self._try(event)

    def stop(self) -> None:
        """Accept no more events; accepted ones are still written."""
        self._watcher.stop()

    def stats(self) -> SeriesWriterStats:
        return SeriesWriterStats(
            self._written, self._lost, self._queue.qsize(), self._tracker.stats()
        )

    def _enqueue(self, event: Event) -> None:
        found = self._tracker.observe(event)
        if found is None:
            return
        if self._queue.qsize() < WRITE_QUEUE:
            self._queue.put_nowait(found)
            return
        self._lost += 1
        self._tracker.done(found)
        log.error("event dropped, the write queue is full: %s", describe(found))

    async def _work(self) -> None:
        while (event := await self._queue.get()) is not None:
            found: Event | None = event
            while found is not None:
                await self._write(found)
                found = self._tracker.done(found)

    async def _write(self, event: Event) -> None:
        delays = (jittered(RETRY_DELAY, JITTER, self._random) for _ in itertools.count())
        if await write_with_retries(
            lambda: self._try(event), delays=delays, clock=self._clock, closing=self._closing
        ):
            return
        self._lost += 1
        log.error("event dropped after the last attempt to write it: %s", describe(event))

    async def _try(self, event: Event) -> FailureAction | None:
        """Write once; None if it succeeded."""
        try:
            await write_event(self._sink, event, series_patch(event))
        except Exception as error:  # noqa: BLE001 - of any sink; classified and logged
            action = _action_after(event, error)
            log_failure(event, error, action)
            self._lost += action is FailureAction.DROP
            return action
        self._written += 1
        return None

    async def _refresh(self) -> None:
        while True:
            await self._clock.sleep(REFRESH_EVERY)
            for event in self._tracker.refresh():
                await self._try(event)

    async def _finish(self) -> None:
        while True:
            await self._clock.sleep(FINISH_AFTER)
            for key, event in self._tracker.quiet():
                if await self._try(event) is not FailureAction.RETRY:
                    self._tracker.forget(key)


def _action_after(event: Event, error: Exception) -> FailureAction:
    # The patch found no event and the create found one: the next patch will find it.
    if event.series is not None and isinstance(error, AlreadyExists):
        return FailureAction.RETRY
    return action_after(error)
