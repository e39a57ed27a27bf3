"""Keeps a flood of events from becoming a flood of writes: join, count, limit.

Promises: events alike but for their message become one "combined" event once there are
too many of them; a repeated event raises the count of the first; no object costs more
writes than its allowance. Nothing here waits or writes, and memory is bounded.
Elsewhere: writing what comes out (`core`), the newer form of events (`series`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import Final, TypeAlias, final

import msgspec

from kubeloop.kit import Clock, TokenBucket
from kubeloop.wire import format_time
from kubeloop.wire.core.v1 import Event
from kubeloop.wire.meta.v1 import ObjectMeta

from .lru import LeastRecent

__all__ = [
    "COMBINED_PREFIX",
    "Correlated",
    "Correlation",
    "CorrelatorStats",
    "EventCorrelator",
    "EventKey",
    "combined_message",
    "event_key",
    "similarity_key",
    "spam_key",
]

EventKey: TypeAlias = Hashable

COMBINED_PREFIX: Final = "(combined from similar events): "


def event_key(event: Event) -> EventKey:
    """What makes an event a repetition of another: all but the moment."""
    about, source = event.involved_object, event.source
    return (
        *(source.component, source.host),
        *(about.kind, about.namespace, about.name, about.field_path, about.uid),
        *(about.api_version, event.type, event.reason, event.message),
    )


def similarity_key(event: Event) -> tuple[EventKey, str]:
    """What makes events similar, and in what the similar ones differ: their message."""
    about, source = event.involved_object, event.source
    alike = (
        *(source.component, source.host),
        *(about.kind, about.namespace, about.name, about.uid, about.api_version),
        *(event.type, event.reason, event.reporting_component, event.reporting_instance),
    )
    return alike, event.message or ""


def spam_key(event: Event) -> EventKey:
    """Whose allowance an event uses up: one source's, for one object and type."""
    about, source = event.involved_object, event.source
    return (
        *(source.component, source.host),
        *(about.kind, about.namespace, about.name, about.uid, about.api_version, event.type),
    )


def combined_message(event: Event) -> str:
    """What an event says that stands for many similar ones."""
    return f"{COMBINED_PREFIX}{event.message or ''}"


class Correlation(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a correlator; zero stands for the default.

    `similar` divides events into what is alike and what differs, `message` words the event
    that stands for many.
    """

    lru_size: int = 4096  # of each of the three memories
    burst: int = 25  # writes at once for one object
    rate: float = 1 / 300  # further writes a second for one object
    max_events: int = 10  # so many different messages, and they are combined
    interval: float = 600.0  # seconds of silence after which counting messages starts over
    similar: Callable[[Event], tuple[EventKey, str]] = similarity_key
    message: Callable[[Event], str] = combined_message
    spam: Callable[[Event], EventKey] = spam_key

    def filled(self) -> Correlation:
        """The same with defaults in the place of zeros."""
        default = Correlation()
        zeros = [name for name in self.__struct_fields__ if not getattr(self, name)]
        return msgspec.structs.replace(self, **{name: getattr(default, name) for name in zeros})


class Correlated(msgspec.Struct, frozen=True):
    """An event to be written: changed by `patch` where it is a repetition, else made."""

    key: EventKey
    event: Event
    patch: bytes | None


class CorrelatorStats(msgspec.Struct, frozen=True):
    """What went through a correlator, and what it remembers."""

    seen: int
    combined: int
    repeated: int
    skipped: int
    remembered: int


class _Similar(msgspec.Struct, frozen=True):
    messages: frozenset[str]
    last: float


class _Written(msgspec.Struct, frozen=True):
    name: str
    version: str
    count: int
    first: datetime | None


@final
class EventCorrelator:
    """The memory of one sink: what was said, how often, and who has said too much."""

    def __init__(self, correlation: Correlation | None = None, *, clock: Clock) -> None:
        self._settings = (correlation or Correlation()).filled()
        self._clock = clock
        size = self._settings.lru_size
        self._similar: LeastRecent[EventKey, _Similar] = LeastRecent(size)
        self._written: LeastRecent[EventKey, _Written] = LeastRecent(size)
        self._allowances: LeastRecent[EventKey, TokenBucket] = LeastRecent(size)
        self._seen = self._combined = self._repeated = self._skipped = 0

    def correlate(self, event: Event) -> Correlated | None:
        """What to write of `event`, or None when its object has had too many."""
        self._seen += 1
        key, event = self._join(copy.deepcopy(event))
        patch = self._count(key, event)
        # Last, so that a repetition that is not written is counted all the same.
        if not self._is_allowed(event):
            self._skipped += 1
            return None
        return Correlated(key, event, patch)

    def learn(self, key: EventKey, answer: Event) -> None:
        """Remember the event as the server has it."""
        metadata = answer.metadata
        self._written.put(
            key,
            _Written(
                metadata.name,
                metadata.resource_version,
                answer.count or 0,
                answer.first_timestamp,
            ),
        )

    def stats(self) -> CorrelatorStats:
        return CorrelatorStats(
            self._seen, self._combined, self._repeated, self._skipped, len(self._written)
        )

    def _join(self, event: Event) -> tuple[EventKey, Event]:
        """The event itself, or one that stands for it and all that are similar."""
        alike, message = self._settings.similar(event)
        now = self._clock.now()
        before = self._similar.get(alike)
        if before is None or now - before.last > self._settings.interval:
            before = _Similar(frozenset(), now)
        messages = before.messages | {message}
        is_many = len(messages) >= self._settings.max_events
        # One that is combined need not be remembered: the next one makes it many again.
        self._similar.put(alike, _Similar(before.messages if is_many else messages, now))
        if not is_many:
            return event_key(event), event
        self._combined += 1
        return alike, self._combined_of(event)

    def _combined_of(self, event: Event) -> Event:
        now = self._clock.time()
        return Event(
            # The name is new: the event that brought it is not written as itself.
            metadata=ObjectMeta(name=event.metadata.name, namespace=event.metadata.namespace),
            involved_object=event.involved_object,
            type=event.type,
            reason=event.reason,
            message=self._settings.message(event),
            count=1,
            first_timestamp=now,
            last_timestamp=now,
            source=event.source,
            reporting_component=event.reporting_component,
            reporting_instance=event.reporting_instance,
        )

    def _count(self, key: EventKey, event: Event) -> bytes | None:
        """Make a repetition the event it repeats; the patch that says so, or None."""
        before = self._written.get(key)
        patch = None
        if before is not None and before.count > 0:
            self._repeated += 1
            event.metadata.name = before.name
            event.metadata.resource_version = before.version
            event.first_timestamp = before.first
            event.count = before.count + 1
            patch = _patch(event)
        self.learn(key, event)
        return patch

    def _is_allowed(self, event: Event) -> bool:
        key = self._settings.spam(event)
        allowance = self._allowances.get(key)
        if allowance is None:
            settings = self._settings
            allowance = TokenBucket(settings.rate, settings.burst, clock=self._clock)
        self._allowances.put(key, allowance)
        return allowance.try_take()


def _patch(event: Event) -> bytes:
    last = event.last_timestamp
    return msgspec.json.encode(
        {
            "count": event.count,
            "lastTimestamp": format_time(last) if last else None,
            "message": event.message or "",
        }
    )
