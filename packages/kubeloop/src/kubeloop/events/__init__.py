"""Kubernetes events: recorders, broadcasters, correlation.

Guarantees: recording never waits and never raises; a flood of events does not become a flood
of writes; leaving a broadcaster's block writes what was recorded. `EventBroadcaster` writes
events of the core group, `SeriesBroadcaster` those of events.k8s.io.
"""

from .adapter import EventBroadcasterAdapter
from .core import EventBroadcaster
from .correlator import CorrelatorOptions, EventCorrelator
from .fake import FakeRecorder, FakeSeriesRecorder
from .fan_out import EventWatcher
from .recorder import EventRecorder, Recorder
from .references import object_reference
from .series_broadcaster import SeriesBroadcaster
from .series_recorder import SeriesRecorder
from .sink import EventSink

# isort: split
# For other packages of kubeloop; not public.
from .broadcaster import FLUSH_WITHIN as FLUSH_WITHIN
from .broadcaster import WATCHER_QUEUE as WATCHER_QUEUE
from .core import QUEUE as QUEUE
from .correlator import AGGREGATE_PREFIX as AGGREGATE_PREFIX
from .correlator import EventToWrite as EventToWrite
from .correlator import aggregate_key as aggregate_key
from .correlator import aggregate_message as aggregate_message
from .correlator import spam_key as spam_key
from .event_fields import EVENT_TYPES as EVENT_TYPES
from .event_fields import EventNames as EventNames
from .fake import FakeRecorderFull as FakeRecorderFull
from .fan_out import BroadcastStats as BroadcastStats
from .series import FINISH_AFTER as FINISH_AFTER
from .series import REFRESH_EVERY as REFRESH_EVERY
from .series_broadcaster import SERIES_QUEUE as SERIES_QUEUE
from .series_broadcaster import WRITE_QUEUE as WRITE_QUEUE
from .series_broadcaster import WRITERS as WRITERS
from .series_broadcaster import AlreadyRecording as AlreadyRecording
from .series_recorder import SeriesRecorderLike as SeriesRecorderLike
from .sink import MAX_ATTEMPTS as MAX_ATTEMPTS
from .sink import RETRY_DELAY as RETRY_DELAY

__all__ = [
    "CorrelatorOptions",
    "EventBroadcaster",
    "EventBroadcasterAdapter",
    "EventCorrelator",
    "EventRecorder",
    "EventSink",
    "EventWatcher",
    "FakeRecorder",
    "FakeSeriesRecorder",
    "Recorder",
    "SeriesBroadcaster",
    "SeriesRecorder",
    "object_reference",
]
