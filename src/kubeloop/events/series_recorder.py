"""Recording events of events.k8s.io: what was done to an object, and with what.

Promises and threads are those of `recorder`.
Elsewhere: what becomes of the events (`series_broadcaster`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, final

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock
from kubeloop.wire import MicroTime, get_logger
from kubeloop.wire.core.v1 import ObjectReference
from kubeloop.wire.events.v1 import Event

from .making import EventNames, EventType, event_metadata, formatted
from .recorder import is_unknown
from .references import Regarding, object_reference

__all__ = ["RecordsSeries", "SeriesRecorder"]

log = get_logger(__name__)


class RecordsSeries(Protocol):
    """What a controller asks of a recorder of the newer form; the adapter and the fake fit."""

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
    """Says in the name of one controller what it did; repetitions become a series."""

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
        """Record what was done to `regarding`, and with which `related` object.

        `note` is formatted with `args` as in logging; `reason` and `action` are one word in
        CamelCase each.
        """
        try:
            if is_unknown(type, reason):
                return
            event = self._event(regarding, related, annotations)
            event.type, event.reason, event.action = type, reason, action
            event.note = formatted(note, args)
        except Exception:
            log.exception("event %s %s cannot be recorded: %r", type, reason, note)
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
            related=_related(related),
            event_time=MicroTime.of(self._clock.time()),
            reporting_controller=self._controller,
            reporting_instance=self._instance,
        )


def _related(obj: Regarding | None) -> ObjectReference | None:
    if obj is None:
        return None
    try:
        return object_reference(obj)
    except InvalidArgument as error:
        log.info("event without its related object: %s", error)
        return None
