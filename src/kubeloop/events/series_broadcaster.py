"""Events of events.k8s.io: from recorders to one sink, as single events and series.

Promises: several workers write at once, but never two of them one event; what finds the
workers' queue full is logged and dropped; at the end of the block series are written with
their last count.
Elsewhere: what is a series (`series`), what a failed try means (`sink`).

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

from .broadcast import EventWatcher, WhenFull
from .broadcaster import FLUSH_WITHIN, WATCHER_QUEUE, Broadcaster
from .making import EventNames, described
from .series import FINISH_AFTER, REFRESH_EVERY, SeriesBook, SeriesStats, series_patch
from .series_recorder import SeriesRecorder
from .sink import RETRY_DELAY, EventSink, Verdict, check_sink, judge, report, tried, write_event

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
"""Events that wait to be handed to the watchers."""
WRITE_QUEUE: Final = 1000
"""Events that wait to be written."""
WRITERS: Final = 8
"""How many events are written at once."""
JITTER: Final = 0.25
"""Up to this part of itself the delay between two tries is longer."""


@final
class AlreadyRecording(KubeError):
    """A broadcaster of series writes to one sink, and does so already."""


@final
class SeriesBroadcaster(Broadcaster[Event]):
    """Hands events of events.k8s.io to a sink, logs and watchers (client-go: `events`)."""

    def __init__(
        self,
        *,
        queue: int = SERIES_QUEUE,
        watcher_queue: int = WATCHER_QUEUE,
        when_full: WhenFull = "drop",
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
        """A recorder that speaks for `controller`, a qualified name, on this host or `host`."""
        where = socket.gethostname() if host is None else host
        return SeriesRecorder(
            self.record,
            controller=controller,
            instance=f"{controller}-{where}",
            clock=self._clock,
            names=self._names,
        )

    def record_to(self, sink: EventSink[Event], *, random: Random = chance.random) -> SeriesWriter:
        """Write what is recorded from now on to `sink`.

        Raises: AlreadyRecording when it was called before, TypeError when `sink` is no client
        for events of events.k8s.io.
        """
        check_sink(sink, Event)
        if self._is_recording:
            raise AlreadyRecording(
                f"record events to {sink!r}: they are written to a sink already (use a"
                " broadcaster for each)"
            )
        writer = SeriesWriter(
            sink, self.watch(), closing=self._closing, clock=self._clock, random=random
        )
        self._spawn(writer.run(), name=f"event series to {sink!r}")
        self._is_recording = True
        return writer


class SeriesWriterStats(msgspec.Struct, frozen=True):
    """What a writer has done and what it knows."""

    written: int
    lost: int  # refused, tried too often, or found the queue full
    waiting: int
    book: SeriesStats


@final
class SeriesWriter:
    """Writes what a watcher sees to a sink: single events, then series of them."""

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
        self._book = SeriesBook(clock=clock)
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()  # None: there is no more
        self._written = 0
        self._lost = 0

    async def run(self) -> None:
        """Write until the watcher ends; a cancelled run loses what it has not written."""
        async with TaskOwner() as tasks:
            tasks.spawn(self._refresh(), name="refresh of event series")
            tasks.spawn(self._finish(), name="end of event series")
            workers = [
                tasks.spawn(self._work(), name=f"event writer {number}")
                for number in range(WRITERS)
            ]
            async for event in self._watcher:
                self._take(event)
            for _ in workers:
                self._queue.put_nowait(None)
            await asyncio.wait(workers)
            for event in self._book.unwritten():
                await self._try(event)

    def stop(self) -> None:
        """Take no more events; what was taken is still written."""
        self._watcher.stop()

    def stats(self) -> SeriesWriterStats:
        return SeriesWriterStats(self._written, self._lost, self._queue.qsize(), self._book.stats())

    def _take(self, event: Event) -> None:
        found = self._book.observe(event)
        if found is None:
            return
        if self._queue.qsize() < WRITE_QUEUE:
            self._queue.put_nowait(found)
            return
        self._lost += 1
        self._book.done(found)
        log.error("event dropped, too many wait to be written: %s", described(found))

    async def _work(self) -> None:
        while (event := await self._queue.get()) is not None:
            found: Event | None = event
            while found is not None:
                await self._write(found)
                found = self._book.done(found)

    async def _write(self, event: Event) -> None:
        delays = (jittered(RETRY_DELAY, JITTER, self._random) for _ in itertools.count())
        if await tried(
            lambda: self._try(event), delays=delays, clock=self._clock, closing=self._closing
        ):
            return
        self._lost += 1
        log.error("event given up, it could not be written: %s", described(event))

    async def _try(self, event: Event) -> Verdict | None:
        """Write once: None when it is done, else what to do about it."""
        try:
            await write_event(self._sink, event, series_patch(event))
        except Exception as error:  # noqa: BLE001 - sinks are not ours; judged and logged
            verdict = _verdict(event, error)
            report(event, error, verdict)
            self._lost += verdict is Verdict.DROP
            return verdict
        self._written += 1
        return None

    async def _refresh(self) -> None:
        while True:
            await self._clock.sleep(REFRESH_EVERY)
            for event in self._book.refresh():
                await self._try(event)

    async def _finish(self) -> None:
        while True:
            await self._clock.sleep(FINISH_AFTER)
            for key, event in self._book.quiet():
                if await self._try(event) is not Verdict.RETRY:
                    self._book.forget(key)


def _verdict(event: Event, error: Exception) -> Verdict:
    # The patch found nothing and the creation found it: the next patch will find it as well.
    if event.series is not None and isinstance(error, AlreadyExists):
        return Verdict.RETRY
    return judge(error)
