"""Which events form a series, and when it is written.

Guarantees: the first event is written as it is, the second makes a series of it, later ones
are counted here until a refresh, the end of the series or the shutdown writes the count. A
series is returned only after its first event was processed. Nothing here waits or writes;
returned events are copies.
See also: `series_broadcaster` (writes, and keeps the times).
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
    "SeriesKey",
    "SeriesStats",
    "SeriesTracker",
    "series_key",
    "series_patch",
]

SeriesKey: TypeAlias = Hashable

FINISH_AFTER: Final = 360.0
"""Seconds without a repetition after which a series, or a single event, is forgotten."""
REFRESH_EVERY: Final = 1800.0
"""Seconds between two writes of a series that continues."""


def series_key(event: Event) -> SeriesKey:
    """What the events of a series have in common; not the note."""
    return (
        *(event.type, event.action, event.reason),
        *(event.reporting_controller, event.reporting_instance),
        _reference_key(event.regarding),
        _reference_key(event.related),
    )


def _reference_key(about: ObjectReference | None) -> SeriesKey:
    if about is None:
        return None
    # Without the resource version: a changed object is still the same object.
    return (
        *(about.api_version, about.kind, about.namespace, about.name),
        *(about.uid, about.field_path),
    )


def series_patch(event: Event) -> bytes | None:
    """The patch that writes the count of a series; None for a single event."""
    series = event.series
    if series is None:
        return None
    seen = series.last_observed_time
    body = {"count": series.count, "lastObservedTime": seen and format_micro_time(seen)}
    return msgspec.json.encode({"series": body})


class SeriesStats(msgspec.Struct, frozen=True):
    """A snapshot of a tracker."""

    singles: int
    series: int
    unwritten: int  # series with a higher count than was returned for writing


class _Entry:
    __slots__ = ("event", "in_flight", "last", "returned_count")

    def __init__(self, event: Event, last: float) -> None:
        self.event = event
        self.last = last  # on the monotonic clock
        self.returned_count = 1  # the count that was returned for writing
        self.in_flight = True  # it is being written: `done` will be called


@final
class SeriesTracker:
    """The events of the last minutes, by what they have in common (client-go: `eventCache`)."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[SeriesKey, _Entry] = {}

    def observe(self, event: Event) -> Event | None:
        """What to write for `event`: itself, its series, or nothing."""
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
        return None if entry.in_flight else self._start(entry)

    def done(self, event: Event) -> Event | None:
        """An event of `observe` was processed; returns its series if it became one meanwhile."""
        entry = self._entries.get(series_key(event))
        if entry is None:
            return None
        entry.in_flight = False
        return self._start(entry) if entry.returned_count == 1 and _is_behind(entry) else None

    def refresh(self) -> list[Event]:
        """Every series, to be refreshed."""
        return [self._return(entry) for entry in self._series()]

    def unwritten(self) -> list[Event]:
        """The series with a higher count than was returned."""
        return [self._return(entry) for entry in self._series() if _is_behind(entry)]

    def quiet(self) -> list[tuple[SeriesKey, Event]]:
        """The series that end, to be written a last time; forgets single events of that age."""
        since = self._clock.now() - FINISH_AFTER
        old = [(key, entry) for key, entry in self._entries.items() if entry.last < since]
        for key, entry in old:
            if entry.event.series is None:
                del self._entries[key]
        return [(key, self._return(entry)) for key, entry in old if entry.event.series]

    def forget(self, key: SeriesKey) -> None:
        """End a series, unless it was repeated since it was returned."""
        entry = self._entries.get(key)
        if entry is not None and not _is_behind(entry):
            del self._entries[key]

    def stats(self) -> SeriesStats:
        series = self._series()
        behind = sum(map(_is_behind, series))
        return SeriesStats(len(self._entries) - len(series), len(series), behind)

    def _series(self) -> list[_Entry]:
        return [entry for entry in self._entries.values() if entry.event.series is not None]

    def _start(self, entry: _Entry) -> Event:
        entry.in_flight = True
        return self._return(entry)

    def _return(self, entry: _Entry) -> Event:
        entry.returned_count = _count(entry.event)
        return copy.deepcopy(entry.event)


def _is_behind(entry: _Entry) -> bool:
    return _count(entry.event) > entry.returned_count


def _count(event: Event) -> int:
    return event.series.count if event.series is not None else 1
