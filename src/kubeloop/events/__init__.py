"""Telling people what happened to an object: recorders, broadcasters, correlation.

Promises: recording never waits and never raises; a flood of events does not become a flood
of writes; leaving a broadcaster's block writes what was recorded. Both forms of events:
`EventBroadcaster` for the core group, `SeriesBroadcaster` for events.k8s.io.
"""

from .adapter import CoreRecorderAdapter, EventBroadcasterAdapter
from .broadcast import BroadcastStats, EventWatcher, WatcherStats, WhenFull
from .broadcaster import FLUSH_WITHIN, WATCHER_QUEUE, Broadcaster
from .core import QUEUE, EventBroadcaster, EventWriter, EventWriterStats
from .correlator import (
    COMBINED_PREFIX,
    Correlated,
    Correlation,
    CorrelatorStats,
    EventCorrelator,
    EventKey,
    combined_message,
    event_key,
    similarity_key,
    spam_key,
)
from .fake import FakeRecorder, FakeRecorderFull, FakeSeriesRecorder
from .making import EVENT_TYPES, EventNames, EventType
from .recorder import EventRecorder, RecordsEvents
from .references import Regarding, object_reference
from .selection import events_about
from .series import (
    FINISH_AFTER,
    REFRESH_EVERY,
    SeriesBook,
    SeriesKey,
    SeriesStats,
    series_key,
    series_patch,
)
from .series_broadcaster import (
    SERIES_QUEUE,
    WRITE_QUEUE,
    WRITERS,
    AlreadyRecording,
    SeriesBroadcaster,
    SeriesWriter,
    SeriesWriterStats,
)
from .series_recorder import RecordsSeries, SeriesRecorder
from .sink import MOST_TRIES, RETRY_DELAY, EventSink

__all__ = [
    "COMBINED_PREFIX",
    "EVENT_TYPES",
    "FINISH_AFTER",
    "FLUSH_WITHIN",
    "MOST_TRIES",
    "QUEUE",
    "REFRESH_EVERY",
    "RETRY_DELAY",
    "SERIES_QUEUE",
    "WATCHER_QUEUE",
    "WRITERS",
    "WRITE_QUEUE",
    "AlreadyRecording",
    "BroadcastStats",
    "Broadcaster",
    "CoreRecorderAdapter",
    "Correlated",
    "Correlation",
    "CorrelatorStats",
    "EventBroadcaster",
    "EventBroadcasterAdapter",
    "EventCorrelator",
    "EventKey",
    "EventNames",
    "EventRecorder",
    "EventSink",
    "EventType",
    "EventWatcher",
    "EventWriter",
    "EventWriterStats",
    "FakeRecorder",
    "FakeRecorderFull",
    "FakeSeriesRecorder",
    "RecordsEvents",
    "RecordsSeries",
    "Regarding",
    "SeriesBook",
    "SeriesBroadcaster",
    "SeriesKey",
    "SeriesRecorder",
    "SeriesStats",
    "SeriesWriter",
    "SeriesWriterStats",
    "WatcherStats",
    "WhenFull",
    "combined_message",
    "event_key",
    "events_about",
    "object_reference",
    "series_key",
    "series_patch",
    "similarity_key",
    "spam_key",
]
