"""Recorders for tests, which write lines into a list instead of events to a server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import final

from kubeloop.errors import KubeError

from .making import EventType, formatted
from .references import Regarding, object_reference

__all__ = ["FakeRecorder", "FakeRecorderFull", "FakeSeriesRecorder"]


@final
class FakeRecorderFull(KubeError):
    """A test's recorder has no room left: more was recorded than the test expected."""


class _Lines:
    def __init__(self, capacity: int | None, *, with_object: bool) -> None:
        self._capacity = capacity
        self._with_object = with_object
        self.lines: list[str] = []

    def _note(self, line: str, about: Regarding, annotations: Mapping[str, str] | None) -> None:
        if self._capacity == 0:
            return
        if self._capacity is not None and len(self.lines) >= self._capacity:
            raise FakeRecorderFull(
                f"record {line!r}: {self._capacity} events are there already (take some out of"
                " lines, or allow more)"
            )
        self.lines.append(line + self._details(about, annotations))

    def _details(self, about: Regarding, annotations: Mapping[str, str] | None) -> str:
        if not self._with_object:
            return ""
        found = object_reference(about)
        said = f" object{{kind={found.kind},apiVersion={found.api_version}}}"
        pairs = ",".join(f"{key}={value}" for key, value in sorted((annotations or {}).items()))
        return f"{said} annotations{{{pairs}}}" if pairs else said


@final
class FakeRecorder(_Lines):
    """Notes `<type> <reason> <message>` in `lines`, in the place of an `EventRecorder`.

    `capacity` bounds the list: a full one raises `FakeRecorderFull`, none (0) forgets
    everything. With `with_object` a line also names the object's kind and the annotations.
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
        self._note(f"{type} {reason} {formatted(message, args)}", about, annotations)


@final
class FakeSeriesRecorder(_Lines):
    """The same in the place of a `SeriesRecorder`; lines say `<type> <reason> <note>`."""

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
        self._note(f"{type} {reason} {formatted(note, args)}", regarding, annotations)
