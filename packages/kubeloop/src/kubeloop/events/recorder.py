"""Records events of the core group, which most controllers use.

Guarantees: recording never waits and never raises; an event that cannot be created is logged
and dropped. Recorders are thread-safe.
See also: `core` (writes the events), `series_recorder` (events.k8s.io).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol, final

from kubeloop.kit import Clock
from kubeloop.wire import get_logger
from kubeloop.wire.core.v1 import Event, EventSource

from .event_fields import EVENT_TYPES, EventNames, EventType, event_metadata, format_message
from .references import Regarding, object_reference

__all__ = ["EventRecorder", "Recorder"]

log = get_logger(__name__)


class Recorder(Protocol):
    """What a controller needs of a recorder; `EventRecorder` and `FakeRecorder` fit."""

    def event(
        self,
        about: Regarding,
        type: EventType,  # noqa: A002 - the API's own word for it
        reason: str,
        message: str,
        *args: object,
        annotations: Mapping[str, str] | None = None,
        at: datetime | None = None,
    ) -> None: ...


@final
class EventRecorder:
    """Records events in the name of one component (client-go: `record.EventRecorder`)."""

    def __init__(
        self,
        record: Callable[[Event], None],
        *,
        component: str,
        host: str = "",
        clock: Clock,
        names: EventNames,
    ) -> None:
        self._record = record
        self._component = component
        self._host = host
        self._clock = clock
        self._names = names

    def event(
        self,
        about: Regarding,
        type: EventType,  # noqa: A002 - the API's own word for it
        reason: str,
        message: str,
        *args: object,
        annotations: Mapping[str, str] | None = None,
        at: datetime | None = None,
    ) -> None:
        """Record what happened to an object, now or at the past time `at`.

        `message` is formatted with `args` as in logging. `reason` is one word in CamelCase.

            recorder.event(pod, "Warning", "BackOff", "restarting failed container %s", name)
        """
        try:
            if is_unknown_type(type, reason):
                return
            event = self._event(about, at or self._clock.time(), annotations)
            event.type, event.reason = type, reason
            event.message = format_message(message, args)
        except Exception:
            log.exception("event %s %s dropped, it cannot be recorded: %r", type, reason, message)
            return
        self._record(event)

    def _event(
        self, about: Regarding, moment: datetime, annotations: Mapping[str, str] | None
    ) -> Event:
        reference = object_reference(about)
        name = self._names.name_for(reference.name or "")
        return Event(
            metadata=event_metadata(reference, name, annotations),
            involved_object=reference,
            count=1,
            first_timestamp=moment,
            last_timestamp=moment,
            source=EventSource(component=self._component, host=self._host or None),
            reporting_component=self._component,
            reporting_instance=self._host or None,
        )


def is_unknown_type(type_: str, reason: str) -> bool:
    """Whether the server would reject the type; logs it."""
    if type_ in EVENT_TYPES:
        return False
    log.error("event %s dropped: type %r is unknown (use Normal or Warning)", reason, type_)
    return True
