"""One recorder for both APIs of events.

Guarantees: events.k8s.io is used where it is served, otherwise the core group, whose events
have neither an action nor a related object.
See also: `kubeloop.discovery` (what a server serves).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, final

from kubeloop.kit import Clock
from kubeloop.wire.core.v1 import Event as CoreEvent
from kubeloop.wire.events.v1 import Event

from .core import EventBroadcaster
from .event_fields import EventType
from .recorder import EventRecorder, Recorder
from .references import Regarding
from .series_broadcaster import SeriesBroadcaster
from .series_recorder import SeriesRecorderLike
from .sink import EventSink, check_sink

__all__ = ["CoreRecorderAdapter", "EventBroadcasterAdapter"]


@final
class CoreRecorderAdapter:
    """Records core events for callers that record events of events.k8s.io."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def event(
        self,
        regarding: Regarding,
        type: EventType,  # noqa: A002 - the API's own word for it
        reason: str,
        action: str,  # noqa: ARG002 - core events have none
        note: str,
        *args: object,
        related: Regarding | None = None,  # noqa: ARG002 - core events have none
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        self._recorder.event(regarding, type, reason, note, *args, annotations=annotations)


@final
class EventBroadcasterAdapter:
    """Writes to `series` if it is given, otherwise to `core` (client-go: the same name).

    `series` is None if the server does not serve events.k8s.io. For one `async with` block.

    Raises:
        TypeError: a sink is not a client of its API's events.
    """

    def __init__(
        self,
        core: EventSink[CoreEvent],
        series: EventSink[Event] | None,
        *,
        clock: Clock | None = None,
    ) -> None:
        check_sink(core, CoreEvent)
        if series is not None:
            check_sink(series, Event)
        self._core_sink = core
        self._series_sink = series
        self._core = EventBroadcaster(clock=clock)
        self._series = SeriesBroadcaster(clock=clock)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            core = await stack.enter_async_context(self._core)
            core.record_to(self._core_sink)
            if self._series_sink is not None:
                series = await stack.enter_async_context(self._series)
                series.record_to(self._series_sink)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    def recorder(self, controller: str) -> SeriesRecorderLike:
        """A recorder with the signature of events.k8s.io, whatever the server serves."""
        if self._series_sink is None:
            return CoreRecorderAdapter(self._core.recorder(controller))
        return self._series.recorder(controller)

    def core_recorder(self, component: str) -> EventRecorder:
        """A recorder of core events (client-go: `DeprecatedNewLegacyRecorder`)."""
        return self._core.recorder(component)
