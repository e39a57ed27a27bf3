"""Making events: their names, their places, and the line that stands for one in a log.

Promises: no two names from one maker are equal; an event about an object without a
namespace stands in `default`.
Elsewhere: who calls this (`recorder`, `series_recorder`).
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

__all__ = ["EVENT_TYPES", "EventNames", "EventType", "described", "event_metadata", "formatted"]

log = get_logger(__name__)

EventType: TypeAlias = Literal["Normal", "Warning"]
EVENT_TYPES: Final[frozenset[str]] = frozenset({"Normal", "Warning"})

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@final
class EventNames:
    """Names of events: the object's, and the moment in nanoseconds as hexadecimal digits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def name_for(self, object_name: str) -> str:
        """A new name; a random one when the object's cannot be part of it."""
        name = f"{object_name}.{self._moment():x}"
        return str(uuid.uuid4()) if problems_of_dns_subdomain(name) else name

    def _moment(self) -> int:
        now = (self._clock.time() - _EPOCH) // timedelta(microseconds=1) * 1000
        with self._lock:
            # Clocks tick in microseconds: the nanoseconds tell apart what one tick holds.
            self._last = max(now, self._last + 1)
            return self._last


def event_metadata(
    about: ObjectReference, name: str, annotations: Mapping[str, str] | None
) -> ObjectMeta:
    """Metadata of an event, in the namespace of what it is about."""
    metadata = ObjectMeta(name=name, namespace=about.namespace or "default")
    if annotations:  # texts, whatever was given: one bad event must not stop who writes them
        metadata.annotations = {str(key): str(said) for key, said in annotations.items()}
    return metadata


def formatted(message: object, args: tuple[object, ...]) -> str:
    """`message % args`, as logging does it; the bare message where they do not fit.

    As in logging, a message need not be text: an error speaks for itself.
    """
    text = str(message)
    if not args:
        return text
    try:
        return text % args
    except Exception:
        log.exception("event message %r does not fit its %d arguments", text, len(args))
        return text


def described(event: Resource) -> str:
    """One line that says what happened to what, of either form of events."""
    about = getattr(event, "involved_object", None) or getattr(event, "regarding", None)
    text = getattr(event, "message", None) or getattr(event, "note", None) or ""
    kind, type_ = getattr(event, "reason", None), getattr(event, "type", None)
    return f"Event({_where(about)}): type: {type_!r} reason: {kind!r} {text}"


def _where(about: ObjectReference | None) -> str:
    if about is None:
        return "?"
    place = f"{about.namespace}/{about.name}" if about.namespace else f"{about.name}"
    return f"{about.kind} {place}"
