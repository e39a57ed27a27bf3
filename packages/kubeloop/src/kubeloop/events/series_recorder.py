"""Records events of events.k8s.io, with an action and a related object.

Guarantees: as `recorder`.
See also: `series_broadcaster` (writes the events).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, final

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock
from kubeloop.wire import MicroTime, get_logger
from kubeloop.wire.core.v1 import ObjectReference
from kubeloop.wire.events.v1 import Event

from .event_fields import EventNames, EventType, event_metadata, format_message
from .recorder import is_unknown_type
from .references import Regarding, object_reference

__all__ = ["SeriesRecorder", "SeriesRecorderLike"]

log = get_logger(__name__)


class SeriesRecorderLike(Protocol):
    """What a controller needs of a series recorder; the adapter and the fake fit."""

    def event(
        self,
        regarding: Regarding,
        type: EventType,  # noqa: A002 - the API's own word for it
        reason: str,
        action: str,
        note: str,
        *args: object,
        related: Regarding | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None: ...


@final
class SeriesRecorder:
    """Records what one controller did (client-go: `events.EventRecorder`).

    Repetitions become a series.
    """

    def __init__(
        self,
        record: Callable[[Event], None],
        *,
        controller: str,
        instance: str,
        clock: Clock,
        names: EventNames,
    ) -> None:
        self._record = record
        self._controller = controller
        self._instance = instance
        self._clock = clock
        self._names = names

    def event(
        self,
        regarding: Regarding,
        type: EventType,  # noqa: A002 - the API's own word for it
        reason: str,
        action: str,
        note: str,
        *args: object,
        related: Regarding | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Record what was done to `regarding`, and with the `related` object.

        `note` is formatted with `args` as in logging. `reason` and `action` are one CamelCase
        word each.
        """
        try:
            if is_unknown_type(type, reason):
                return
            event = self._event(regarding, related, annotations)
            event.type, event.reason, event.action = type, reason, action
            event.note = format_message(note, args)
        except Exception:
            log.exception("event %s %s dropped, it cannot be recorded: %r", type, reason, note)
            return
        self._record(event)

    def _event(
        self,
        regarding: Regarding,
        related: Regarding | None,
        annotations: Mapping[str, str] | None,
    ) -> Event:
        reference = object_reference(regarding)
        name = self._names.name_for(reference.name or "")
        return Event(
            metadata=event_metadata(reference, name, annotations),
            regarding=reference,
            related=_related_reference(related),
            event_time=MicroTime.of(self._clock.time()),
            reporting_controller=self._controller,
            reporting_instance=self._instance,
        )


def _related_reference(obj: Regarding | None) -> ObjectReference | None:
    if obj is None:
        return None
    try:
        return object_reference(obj)
    except InvalidArgument as error:
        log.info("event recorded without its related object: %s", error)
        return None
