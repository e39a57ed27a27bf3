"""The fields that both kinds of events share: name, metadata, message.

Guarantees: names of one `EventNames` are unique; an event about a cluster-wide object is in
the namespace `default`.
See also: `recorder` and `series_recorder` (which create events).
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias, final

from kubeloop.kit import Clock
from kubeloop.meta import problems_of_dns_subdomain
from kubeloop.wire import Resource, get_logger
from kubeloop.wire.core.v1 import ObjectReference
from kubeloop.wire.meta.v1 import ObjectMeta

__all__ = ["EVENT_TYPES", "EventNames", "EventType", "describe", "event_metadata", "format_message"]

log = get_logger(__name__)

EventType: TypeAlias = Literal["Normal", "Warning"]
EVENT_TYPES: Final[frozenset[str]] = frozenset({"Normal", "Warning"})

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@final
class EventNames:
    """Creates names of events as client-go does: `<object>.<nanoseconds in hex>`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def name_for(self, object_name: str) -> str:
        """A new name; a random one if the object's name cannot be part of it."""
        name = f"{object_name}.{self._nanoseconds():x}"
        return str(uuid.uuid4()) if problems_of_dns_subdomain(name) else name

    def _nanoseconds(self) -> int:
        now = (self._clock.time() - _EPOCH) // timedelta(microseconds=1) * 1000
        with self._lock:
            # The clock has microseconds: the last three digits make names of one tick unique.
            self._last = max(now, self._last + 1)
            return self._last


def event_metadata(
    about: ObjectReference, name: str, annotations: Mapping[str, str] | None
) -> ObjectMeta:
    """Metadata of an event, in the namespace of its object."""
    metadata = ObjectMeta(name=name, namespace=about.namespace or "default")
    if annotations:  # as text: a value that cannot be copied would end the watchers
        metadata.annotations = {str(key): str(value) for key, value in annotations.items()}
    return metadata


def format_message(message: object, args: tuple[object, ...]) -> str:
    """`message % args` as in logging; the message alone if the arguments do not fit.

    As in logging, the message may be any object, such as an exception.
    """
    text = str(message)
    if not args:
        return text
    try:
        return text % args
    except Exception:
        log.exception("event message %r does not fit its %d arguments", text, len(args))
        return text


def describe(event: Resource) -> str:
    """One line about an event of either API, for logs."""
    about = getattr(event, "involved_object", None) or getattr(event, "regarding", None)
    text = getattr(event, "message", None) or getattr(event, "note", None) or ""
    kind, type_ = getattr(event, "reason", None), getattr(event, "type", None)
    return f"Event({_object_text(about)}): type: {type_!r} reason: {kind!r} {text}"


def _object_text(about: ObjectReference | None) -> str:
    if about is None:
        return "?"
    key = f"{about.namespace}/{about.name}" if about.namespace else f"{about.name}"
    return f"{about.kind} {key}"
