"""One watch, and what its events say.

Promises: closing a watch twice is harmless; an event gives an entry, or says why there is
none: it has no place here, it is an error of the server's, or only a list can help.
Elsewhere: when to watch, and from where (`reflector`), who tells objects from bytes (`intake`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, final

import msgspec

from kubeloop.errors import DecodeError, KubeError, api_error, status_from_object
from kubeloop.wire import RawEvent, get_logger

from .entry import Entry
from .fetching import Fetching
from .intake import Intake
from .list_watch import RawItem, Scope, batches_of
from .verdicts import UnreadableEvent

__all__ = ["EventReader", "OpenWatch"]

log = get_logger(__name__)

_OBJECTS = frozenset({"ADDED", "MODIFIED", "DELETED"})


@final
class OpenWatch:
    """One watch and what is known of it."""

    def __init__(
        self, stream: AsyncIterator[RawEvent], *, since: str, seconds: int, has_state: bool
    ) -> None:
        self.since = since
        self.seconds = seconds  # that it was asked to last
        self.has_state = has_state  # it begins with the state, so its versions are in order
        self.events = 0
        self._stream: AsyncIterator[RawEvent] | None = stream
        self._batch = batches_of(stream)
        self._pushed_back: Sequence[RawEvent] = ()

    @property
    def tells_when_open(self) -> bool:
        """Whether `open` waits for the server's answer."""
        return getattr(self._stream, "open", None) is not None

    async def open(self) -> None:
        """Wait until the server has taken it, where the stream can tell; else for nothing."""
        opens: Callable[[], Awaitable[None]] | None = getattr(self._stream, "open", None)
        if opens is not None:
            await opens()

    async def batch(self) -> Sequence[RawEvent]:
        """The next events; none at the end."""
        batch, self._pushed_back = self._pushed_back, ()
        if not batch:
            batch = await self._batch()
        self.events += len(batch)
        return batch

    def push_back(self, events: Sequence[RawEvent]) -> None:
        """Have the next batch be these; what came before was the state, not changes."""
        self._pushed_back = events
        self.events = 0

    async def aclose(self) -> None:
        stream, self._stream = self._stream, None
        close: Callable[[], Awaitable[None]] | None = getattr(stream, "aclose", None)
        if close is not None:
            await close()


@final
class EventReader:
    """Reads the objects of events."""

    def __init__(self, scope: Scope, intake: Intake[Any], fetching: Fetching) -> None:
        self._scope = scope
        self._intake = intake
        self._fetching = fetching

    def read(
        self, event: RawEvent, *, instead: Callable[[RawItem, DecodeError], Entry | None]
    ) -> Entry | None:
        """The event's object, not transformed yet; None for what has no place here.

        `instead` is asked about objects that the last list could not read either: another
        list would not help. A delete is always worth one, which will miss the object.

        Raises:
            ApiError: the event is an error.
            UnreadableEvent: only a list can tell what it was about.
        """
        if event.type == "ERROR":
            raise _error_in(event, action=f"watch {self._scope}")
        if event.type not in _OBJECTS:
            log.error("%s: unknown event type %.40r", self._scope, event.type)
            return None
        try:
            return self._intake.take(event.object)
        except DecodeError as error:
            key = self._intake.key_of(event.object)
            if key in self._fetching.unreadable and event.type != "DELETED":
                return instead(event.object, error)
            raise UnreadableEvent(
                f"watch {self._scope}: {event.type} of {key or 'an object'}: {error}"
            ) from error

    def skipped(self, raw: RawItem, error: DecodeError) -> None:
        """What to hold instead of an object that changed and cannot be read: nothing new."""
        log.error("%s: skipped, still unreadable: %s", self._intake.key_of(raw), error)


def _error_in(event: RawEvent, *, action: str) -> KubeError:
    try:
        return api_error(action, status_from_object(msgspec.json.decode(event.object)))
    except (msgspec.DecodeError, UnicodeDecodeError, DecodeError) as error:
        return UnreadableEvent(f"{action}: an error that cannot be read: {error}")
