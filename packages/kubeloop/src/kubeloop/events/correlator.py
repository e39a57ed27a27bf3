"""Keeps a flood of events from becoming a flood of writes: aggregates, counts, limits.

Guarantees: many events that differ only in their message become one aggregate; a repeated
event raises the count of the first; the spam filter bounds the writes for one object. Nothing
here waits or writes, and memory is bounded. The rules and numbers are client-go's.
See also: `core` (writes the result), `series` (events.k8s.io).
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import Final, Generic, TypeAlias, TypeVar, final

import msgspec

from kubeloop.kit import Clock, TokenBucket
from kubeloop.wire import format_time
from kubeloop.wire.core.v1 import Event
from kubeloop.wire.meta.v1 import ObjectMeta

__all__ = [
    "AGGREGATE_PREFIX",
    "CorrelatorOptions",
    "CorrelatorStats",
    "EventCorrelator",
    "EventKey",
    "EventToWrite",
    "aggregate_key",
    "aggregate_message",
    "event_key",
    "spam_key",
]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

EventKey: TypeAlias = Hashable

AGGREGATE_PREFIX: Final = "(combined from similar events): "


def event_key(event: Event) -> EventKey:
    """What two equal events have in common: everything but the time."""
    about, source = event.involved_object, event.source
    return (
        *(source.component, source.host),
        *(about.kind, about.namespace, about.name, about.field_path, about.uid),
        *(about.api_version, event.type, event.reason, event.message),
    )


def aggregate_key(event: Event) -> tuple[EventKey, str]:
    """What similar events have in common, and in what they differ: the message."""
    about, source = event.involved_object, event.source
    common = (
        *(source.component, source.host),
        *(about.kind, about.namespace, about.name, about.uid, about.api_version),
        *(event.type, event.reason, event.reporting_component, event.reporting_instance),
    )
    return common, event.message or ""


def spam_key(event: Event) -> EventKey:
    """Which spam filter an event passes: that of a source, an object and a type."""
    about, source = event.involved_object, event.source
    return (
        *(source.component, source.host),
        *(about.kind, about.namespace, about.name, about.uid, about.api_version, event.type),
    )


def aggregate_message(event: Event) -> str:
    """The message of an aggregate."""
    return f"{AGGREGATE_PREFIX}{event.message or ''}"


class CorrelatorOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a correlator (client-go: the same name); zero is the default.

    `similar` returns what similar events have in common, and in what they differ. `message`
    returns the message of an aggregate.
    """

    lru_size: int = 4096  # of each of the three caches
    burst: int = 25  # writes at once for one object
    rate: float = 1 / 300  # further writes a second for one object
    max_events: int = 10  # different messages that make an aggregate
    interval: float = 600.0  # seconds without a similar event that reset the aggregate
    similar: Callable[[Event], tuple[EventKey, str]] = aggregate_key
    message: Callable[[Event], str] = aggregate_message
    spam: Callable[[Event], EventKey] = spam_key

    def with_defaults(self) -> CorrelatorOptions:
        """A copy in which zeros are replaced by the defaults."""
        default = CorrelatorOptions()
        zeros = [name for name in self.__struct_fields__ if not getattr(self, name)]
        return msgspec.structs.replace(self, **{name: getattr(default, name) for name in zeros})


class EventToWrite(msgspec.Struct, frozen=True):
    """An event to create, or to patch if it is a repetition (`EventCorrelateResult`)."""

    key: EventKey
    event: Event
    patch: bytes | None


class CorrelatorStats(msgspec.Struct, frozen=True):
    """A snapshot of a correlator."""

    seen: int
    aggregated: int
    repeated: int
    skipped: int
    cached: int


class _Aggregate(msgspec.Struct, frozen=True):
    messages: frozenset[str]
    last: float


class _StoredEvent(msgspec.Struct, frozen=True):
    name: str
    version: str
    count: int
    first: datetime | None


@final
class EventCorrelator:
    """The state of one sink: recent events, aggregates and spam filters (client-go: the same)."""

    def __init__(self, options: CorrelatorOptions | None = None, *, clock: Clock) -> None:
        self._options = (options or CorrelatorOptions()).with_defaults()
        self._clock = clock
        size = self._options.lru_size
        self._aggregates: LRUCache[EventKey, _Aggregate] = LRUCache(size)
        self._stored: LRUCache[EventKey, _StoredEvent] = LRUCache(size)
        self._spam_filters: LRUCache[EventKey, TokenBucket] = LRUCache(size)
        self._seen = self._aggregated = self._repeated = self._skipped = 0

    def correlate(self, event: Event) -> EventToWrite | None:
        """What to write for `event`; None if the spam filter drops it."""
        self._seen += 1
        key, event = self._aggregate(copy.deepcopy(event))
        patch = self._count(key, event)
        # Last, as in client-go: a repetition that is not written still raises the count.
        if not self._passes_spam_filter(event):
            self._skipped += 1
            return None
        return EventToWrite(key, event, patch)

    def update(self, key: EventKey, stored: Event) -> None:
        """Cache the event as the server stored it (client-go: `UpdateState`)."""
        metadata = stored.metadata
        self._stored.put(
            key,
            _StoredEvent(
                metadata.name,
                metadata.resource_version,
                stored.count or 0,
                stored.first_timestamp,
            ),
        )

    def stats(self) -> CorrelatorStats:
        return CorrelatorStats(
            self._seen, self._aggregated, self._repeated, self._skipped, len(self._stored)
        )

    def _aggregate(self, event: Event) -> tuple[EventKey, Event]:
        """The event itself, or the aggregate of it and all similar ones, with its key."""
        common, message = self._options.similar(event)
        now = self._clock.now()
        before = self._aggregates.get(common)
        if before is None or now - before.last > self._options.interval:
            before = _Aggregate(frozenset(), now)
        messages = before.messages | {message}
        is_many = len(messages) >= self._options.max_events
        # The message that reaches the limit is not kept: the next one reaches it again.
        self._aggregates.put(common, _Aggregate(before.messages if is_many else messages, now))
        if not is_many:
            return event_key(event), event
        self._aggregated += 1
        return common, self._aggregate_event(event)

    def _aggregate_event(self, event: Event) -> Event:
        now = self._clock.time()
        return Event(
            # The name of the event that reached the limit, which is not written itself.
            metadata=ObjectMeta(name=event.metadata.name, namespace=event.metadata.namespace),
            involved_object=event.involved_object,
            type=event.type,
            reason=event.reason,
            message=self._options.message(event),
            count=1,
            first_timestamp=now,
            last_timestamp=now,
            source=event.source,
            reporting_component=event.reporting_component,
            reporting_instance=event.reporting_instance,
        )

    def _count(self, key: EventKey, event: Event) -> bytes | None:
        """Give a repetition the name and the count of its first event; returns the patch of it."""
        before = self._stored.get(key)
        patch = None
        if before is not None and before.count > 0:
            self._repeated += 1
            event.metadata.name = before.name
            event.metadata.resource_version = before.version
            event.first_timestamp = before.first
            event.count = before.count + 1
            patch = _patch(event)
        self.update(key, event)
        return patch

    def _passes_spam_filter(self, event: Event) -> bool:
        key = self._options.spam(event)
        bucket = self._spam_filters.get(key)
        if bucket is None:
            bucket = TokenBucket(self._options.rate, self._options.burst, clock=self._clock)
        self._spam_filters.put(key, bucket)
        return bucket.try_take()


@final
class LRUCache(Generic[K, V]):
    """At most `limit` values; evicts the least recently read or written."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._limit:
            self._values.popitem(last=False)

    def __len__(self) -> int:
        return len(self._values)


def _patch(event: Event) -> bytes:
    last = event.last_timestamp
    return msgspec.json.encode(
        {
            "count": event.count,
            "lastTimestamp": format_time(last) if last else None,
            "message": event.message or "",
        }
    )
