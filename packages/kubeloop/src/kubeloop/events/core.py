"""Events of the core group: from recorders to sinks, each with its own correlator.

Guarantees: writes to one sink are sequential, so that counts arrive in order; sinks are
independent: one that fails loses only its own events.
See also: `correlator` (aggregates and counts), `sink` (writes and retries).

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

from .broadcaster import FLUSH_WITHIN, WATCHER_QUEUE, Broadcaster
from .correlator import CorrelatorOptions, CorrelatorStats, EventCorrelator, EventToWrite
from .event_fields import EventNames, describe
from .fan_out import EventWatcher, FullQueuePolicy
from .recorder import EventRecorder
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

__all__ = ["QUEUE", "EventBroadcaster", "EventWriter", "EventWriterStats"]

log = get_logger(__name__)

QUEUE = 1000
"""Capacity of the incoming queue."""


@final
class EventBroadcaster(Broadcaster[Event]):
    """Distributes core events to sinks, loggers and watchers (client-go: `record`)."""

    def __init__(
        self,
        *,
        queue: int = QUEUE,
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

    def recorder(self, component: str, *, host: str = "") -> EventRecorder:
        """A recorder of events in the name of `component`, such as a controller."""
        return EventRecorder(
            self.record, component=component, host=host, clock=self._clock, names=self._names
        )

    def record_to(
        self,
        sink: EventSink[Event],
        *,
        correlation: CorrelatorOptions | None = None,
        random: Random = chance.random,
    ) -> EventWriter:
        """Write events that are recorded from now on to `sink`, with a correlator of its own.

        Stop the returned writer to end it (client-go: `StartRecordingToSink`).

        Raises: TypeError when `sink` is not a client of core events.
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
    """A snapshot of a writer."""

    written: int
    lost: int  # rejected by the server, or dropped after the last attempt
    correlator: CorrelatorStats


@final
class EventWriter:
    """Writes the events of a watcher to one sink, one after the other."""

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
        """Write until the watcher ends; a cancelled run loses what is not written."""
        async for event in self._watcher:
            try:
                to_write = self._correlator.correlate(event)
                if to_write is not None:
                    await self._write(to_write)
            except Exception:  # keys and messages may come from functions of the user
                self._lost += 1
                log.exception("event could not be correlated: %s", describe(event))

    def stop(self) -> None:
        """Accept no more events; accepted ones are still written."""
        self._watcher.stop()

    def stats(self) -> EventWriterStats:
        return EventWriterStats(self._written, self._lost, self._correlator.stats())

    async def _write(self, to_write: EventToWrite) -> None:
        # The first delay is random, so that not all processes retry at once after an outage.
        delays = itertools.chain([self._random() * RETRY_DELAY], itertools.repeat(RETRY_DELAY))
        if await write_with_retries(
            lambda: self._try(to_write), delays=delays, clock=self._clock, closing=self._closing
        ):
            return
        self._lost += 1
        log.error("event dropped after the last attempt to write it: %s", describe(to_write.event))

    async def _try(self, to_write: EventToWrite) -> FailureAction | None:
        """Write once; None if it succeeded."""
        try:
            stored = await write_event(self._sink, to_write.event, to_write.patch)
        except Exception as error:  # noqa: BLE001 - of any sink; classified and logged
            action = action_after(error)
            log_failure(to_write.event, error, action)
            self._lost += action is FailureAction.DROP
            return action
        self._written += 1
        self._correlator.update(to_write.key, stored)
        return None
