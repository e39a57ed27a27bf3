"""Events of the core group: from recorders to sinks, through a correlator for each.

Promises: writing is sequential for each sink, so that counts arrive in order; sinks know
nothing of each other; a sink that fails costs its own events only.
Elsewhere: joining and counting (`correlator`), what a failed try means (`sink`).

    async with EventBroadcaster() as events:
        events.record_to(client.resource(Event))
        recorder = events.recorder("website-controller")
        recorder.event(site, "Normal", "Created", "created deployment %s", name)
"""

from __future__ import annotations

import asyncio
import itertools
import random as chance
from typing import final

import msgspec

from kubeloop.kit import Clock, Random
from kubeloop.wire import get_logger
from kubeloop.wire.core.v1 import Event

from .broadcast import EventWatcher, WhenFull
from .broadcaster import FLUSH_WITHIN, WATCHER_QUEUE, Broadcaster
from .correlator import Correlated, Correlation, CorrelatorStats, EventCorrelator
from .making import EventNames, described
from .recorder import EventRecorder
from .sink import RETRY_DELAY, EventSink, Verdict, check_sink, judge, report, tried, write_event

__all__ = ["QUEUE", "EventBroadcaster", "EventWriter", "EventWriterStats"]

log = get_logger(__name__)

QUEUE = 1000
"""Events that wait to be handed to the watchers."""


@final
class EventBroadcaster(Broadcaster[Event]):
    """Hands core events from recorders to sinks, logs and watchers (client-go: `record`)."""

    def __init__(
        self,
        *,
        queue: int = QUEUE,
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

    def recorder(self, component: str, *, host: str = "") -> EventRecorder:
        """A recorder that speaks for `component`, the name of a controller."""
        return EventRecorder(
            self.record, component=component, host=host, clock=self._clock, names=self._names
        )

    def record_to(
        self,
        sink: EventSink[Event],
        *,
        correlation: Correlation | None = None,
        random: Random = chance.random,
    ) -> EventWriter:
        """Write what is recorded from now on to `sink`, which counts on its own.

        The writer that is returned can be stopped.

        Raises: TypeError when `sink` is no client for core events.
        """
        check_sink(sink, Event)
        writer = EventWriter(
            sink,
            self.watch(),
            correlator=EventCorrelator(correlation, clock=self._clock),
            closing=self._closing,
            clock=self._clock,
            random=random,
        )
        self._spawn(writer.run(), name=f"events to {sink!r}")
        return writer


class EventWriterStats(msgspec.Struct, frozen=True):
    """What a writer has done."""

    written: int
    lost: int  # refused, or tried too often
    correlator: CorrelatorStats


@final
class EventWriter:
    """Writes what a watcher sees to one sink, one event after the other."""

    def __init__(
        self,
        sink: EventSink[Event],
        watcher: EventWatcher[Event],
        *,
        correlator: EventCorrelator,
        closing: asyncio.Event,
        clock: Clock,
        random: Random = chance.random,
    ) -> None:
        self._sink = sink
        self._watcher = watcher
        self._correlator = correlator
        self._closing = closing
        self._clock = clock
        self._random = random
        self._written = 0
        self._lost = 0

    async def run(self) -> None:
        """Write until the watcher ends; a cancelled run loses what it has not written."""
        async for event in self._watcher:
            try:
                found = self._correlator.correlate(event)
                if found is not None:
                    await self._write(found)
            except Exception:  # keys and messages may be the user's own functions
                self._lost += 1
                log.exception("event could not be correlated: %s", described(event))

    def stop(self) -> None:
        """Take no more events; what was taken is still written."""
        self._watcher.stop()

    def stats(self) -> EventWriterStats:
        return EventWriterStats(self._written, self._lost, self._correlator.stats())

    async def _write(self, found: Correlated) -> None:
        # The first wait is random, so that not everybody comes back at once after an outage.
        delays = itertools.chain([self._random() * RETRY_DELAY], itertools.repeat(RETRY_DELAY))
        if await tried(
            lambda: self._try(found), delays=delays, clock=self._clock, closing=self._closing
        ):
            return
        self._lost += 1
        log.error("event given up, it could not be written: %s", described(found.event))

    async def _try(self, found: Correlated) -> Verdict | None:
        """Write once: None when it is done, else what to do about it."""
        try:
            answer = await write_event(self._sink, found.event, found.patch)
        except Exception as error:  # noqa: BLE001 - sinks are not ours; judged and logged
            verdict = judge(error)
            report(found.event, error, verdict)
            self._lost += verdict is Verdict.DROP
            return verdict
        self._written += 1
        self._correlator.learn(found.key, answer)
        return None
