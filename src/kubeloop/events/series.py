"""Which events are repetitions of one another, and when a series is written.

Promises: the first of its like is written as it is, the second makes a series of it, all
later ones are counted here until a heartbeat, the end of the series or the shutdown writes
the count; a series is handed out only once its first event has been dealt with. Nothing
here waits or writes; what is handed out is the caller's own.
Elsewhere: the writing and the timing (`series_broadcaster`).
"""

from __future__ import annotations

import copy
from collections.abc import Hashable
from typing import Final, TypeAlias, final

import msgspec

from kubeloop.kit import Clock
from kubeloop.wire import MicroTime, format_micro_time
from kubeloop.wire.core.v1 import ObjectReference
from kubeloop.wire.events.v1 import Event, EventSeries

__all__ = [
    "FINISH_AFTER",
    "REFRESH_EVERY",
    "SeriesBook",
    "SeriesKey",
    "SeriesStats",
    "series_key",
    "series_patch",
]

SeriesKey: TypeAlias = Hashable

FINISH_AFTER: Final = 360.0
"""Seconds without a repetition after which a series ends and a single event is forgotten."""
REFRESH_EVERY: Final = 1800.0
"""Seconds between two writes of a series that goes on."""


def series_key(event: Event) -> SeriesKey:
    """What makes events one series; the note is not part of it."""
    return (
        *(event.type, event.action, event.reason),
        *(event.reporting_controller, event.reporting_instance),
        _reference_key(event.regarding),
        _reference_key(event.related),
    )


def _reference_key(about: ObjectReference | None) -> SeriesKey:
    if about is None:
        return None
    # Without the version: an object is the same after every change of it.
    return (
        *(about.api_version, about.kind, about.namespace, about.name),
        *(about.uid, about.field_path),
    )


def series_patch(event: Event) -> bytes | None:
    """The patch that writes how often an event was seen; None for one that is no series."""
    series = event.series
    if series is None:
        return None
    seen = series.last_observed_time
    said = {"count": series.count, "lastObservedTime": seen and format_micro_time(seen)}
    return msgspec.json.encode({"series": said})


class SeriesStats(msgspec.Struct, frozen=True):
    """What a book remembers."""

    singles: int
    series: int
    unwritten: int  # series whose count is higher than what was handed out


class _Entry:
    __slots__ = ("event", "handed_out", "last", "underway")

    def __init__(self, event: Event, last: float) -> None:
        self.event = event
        self.last = last  # on the clock that never steps back
        self.handed_out = 1  # the count that was given to be written
        self.underway = True  # somebody is writing it: `done` will be called


@final
class SeriesBook:
    """The events of the last minutes, by what makes them alike."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[SeriesKey, _Entry] = {}

    def observe(self, event: Event) -> Event | None:
        """What to write now that `event` has happened: it, its series, or nothing."""
        key = series_key(event)
        entry = self._entries.get(key)
        if entry is None:
            self._entries[key] = _Entry(copy.deepcopy(event), self._clock.now())
            return event
        entry.last = self._clock.now()
        seen = MicroTime.of(self._clock.time())
        if entry.event.series is not None:
            entry.event.series.count += 1
            entry.event.series.last_observed_time = seen
            return None
        entry.event.series = EventSeries(count=2, last_observed_time=seen)
        return None if entry.underway else self._begun(entry)

    def done(self, event: Event) -> Event | None:
        """Note that what `observe` gave was dealt with; its series, if it became one meanwhile."""
        entry = self._entries.get(series_key(event))
        if entry is None:
            return None
        entry.underway = False
        return self._begun(entry) if entry.handed_out == 1 and _is_behind(entry) else None

    def refresh(self) -> list[Event]:
        """Every series, to be written by a heartbeat."""
        return [self._handed_out(entry) for entry in self._series()]

    def unwritten(self) -> list[Event]:
        """The series that were seen more often than anybody was told."""
        return [self._handed_out(entry) for entry in self._series() if _is_behind(entry)]

    def quiet(self) -> list[tuple[SeriesKey, Event]]:
        """The series to be written a last time; single events of that age are forgotten."""
        since = self._clock.now() - FINISH_AFTER
        old = [(key, entry) for key, entry in self._entries.items() if entry.last < since]
        for key, entry in old:
            if entry.event.series is None:
                del self._entries[key]
        return [(key, self._handed_out(entry)) for key, entry in old if entry.event.series]

    def forget(self, key: SeriesKey) -> None:
        """End a series, unless it was seen again since it was handed out."""
        entry = self._entries.get(key)
        if entry is not None and not _is_behind(entry):
            del self._entries[key]

    def stats(self) -> SeriesStats:
        series = self._series()
        behind = sum(map(_is_behind, series))
        return SeriesStats(len(self._entries) - len(series), len(series), behind)

    def _series(self) -> list[_Entry]:
        return [entry for entry in self._entries.values() if entry.event.series is not None]

    def _begun(self, entry: _Entry) -> Event:
        entry.underway = True
        return self._handed_out(entry)

    def _handed_out(self, entry: _Entry) -> Event:
        entry.handed_out = _count(entry.event)
        return copy.deepcopy(entry.event)


def _is_behind(entry: _Entry) -> bool:
    return _count(entry.event) > entry.handed_out


def _count(event: Event) -> int:
    return event.series.count if event.series is not None else 1
