"""Recorders for tests: they append lines to a list instead of writing events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import final

from kubeloop.errors import KubeError

from .event_fields import EventType, format_message
from .references import Regarding, object_reference

__all__ = ["FakeRecorder", "FakeRecorderFull", "FakeSeriesRecorder"]


@final
class FakeRecorderFull(KubeError):
    """A fake recorder is full: more events were recorded than the test allows."""


class _LineRecorder:
    def __init__(self, capacity: int | None, *, with_object: bool) -> None:
        self._capacity = capacity
        self._with_object = with_object
        self.lines: list[str] = []

    def _append(self, line: str, about: Regarding, annotations: Mapping[str, str] | None) -> None:
        if self._capacity == 0:
            return
        if self._capacity is not None and len(self.lines) >= self._capacity:
            raise FakeRecorderFull(
                f"record {line!r}: the recorder has {self._capacity} events already (remove some"
                " from lines, or raise capacity)"
            )
        self.lines.append(line + self._details(about, annotations))

    def _details(self, about: Regarding, annotations: Mapping[str, str] | None) -> str:
        if not self._with_object:
            return ""
        reference = object_reference(about)
        details = f" object{{kind={reference.kind},apiVersion={reference.api_version}}}"
        pairs = ",".join(f"{key}={value}" for key, value in sorted((annotations or {}).items()))
        return f"{details} annotations{{{pairs}}}" if pairs else details


@final
class FakeRecorder(_LineRecorder):
    """Appends `<type> <reason> <message>` to `lines` (client-go: the same name).

    `capacity` bounds the list: a full one raises `FakeRecorderFull`; with 0 nothing is
    recorded. `with_object` adds the object's kind and the annotations to each line.
    """

    def __init__(self, capacity: int | None = None, *, with_object: bool = False) -> None:
        super().__init__(capacity, with_object=with_object)

    def event(
        self,
        about: Regarding,
        type: EventType,  # noqa: A002 - the API's own word for it
        reason: str,
        message: str,
        *args: object,
        annotations: Mapping[str, str] | None = None,
        at: datetime | None = None,  # noqa: ARG002 - the Protocol's
    ) -> None:
        self._append(f"{type} {reason} {format_message(message, args)}", about, annotations)


@final
class FakeSeriesRecorder(_LineRecorder):
    """A `FakeRecorder` with the signature of `SeriesRecorder`."""

    def __init__(self, capacity: int | None = None, *, with_object: bool = False) -> None:
        super().__init__(capacity, with_object=with_object)

    def event(
        self,
        regarding: Regarding,
        type: EventType,  # noqa: A002 - the API's own word for it
        reason: str,
        action: str,  # noqa: ARG002 - the Protocol's
        note: str,
        *args: object,
        related: Regarding | None = None,  # noqa: ARG002 - the Protocol's
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        self._append(f"{type} {reason} {format_message(note, args)}", regarding, annotations)
