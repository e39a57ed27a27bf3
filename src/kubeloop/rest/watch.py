"""A watch: events as they come, until somebody has had enough.

Promises: an event is handed over when its last byte has come; what the server reports as
an ERROR is raised; a stream that ends, breaks off, goes silent or grows old just ends,
since whoever watches resumes anyway; cancelling closes the connection at once; a watch
that nobody closed is closed when it is forgotten.
Elsewhere: going on after the end (`resuming`), cutting bytes into events (`frames`).
"""

from __future__ import annotations

import random as chance
from collections import deque
from collections.abc import Awaitable, Callable
from enum import StrEnum
from types import TracebackType
from typing import Self, final

import msgspec

from kubeloop.errors import ApiError, DecodeError, TimeoutExceeded, TransportError, error_from_event
from kubeloop.kit import Clock, Random
from kubeloop.wire import RawEvent, get_logger

from .answer import undecodable_event
from .codec import EventReader
from .failures import lost_failure
from .incoming import Incoming
from .liveness import ServerProbe, SilenceLimits
from .request import Request

__all__ = ["GRACE", "LONGEST_LIFE", "SHORTEST_LIFE", "Watch", "WatchEnd", "WatchStats", "with_life"]

log = get_logger(__name__)

SHORTEST_LIFE = 300.0
LONGEST_LIFE = 600.0
# The server ends a watch itself when its time is over; a dead one is ended a little later.
GRACE = 30.0

_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})


class WatchEnd(StrEnum):
    """Why a watch gives no more events."""

    CLOSED = "the server ended it"
    BROKEN = "the connection broke"
    SILENT = "nothing came for too long"
    OLD = "its life was over"
    FAILED = "an error was raised"
    STOPPED = "it was closed here"


class WatchStats(msgspec.Struct, frozen=True):
    """How a watch is doing."""

    open: bool
    events: int
    bytes: int
    ended: WatchEnd | None


def with_life(request: Request, *, random: Random = chance.random) -> tuple[Request, float]:
    """The request with a randomised life told to the server, and the seconds after which we
    end it ourselves.

    A `timeoutSeconds` that is there already is kept.
    """
    for key, value in request.params:
        if key == "timeoutSeconds" and value.isdigit() and int(value) > 0:
            return request, int(value) + GRACE
    life = SHORTEST_LIFE + random() * (LONGEST_LIFE - SHORTEST_LIFE)
    others = tuple(pair for pair in request.params if pair[0] != "timeoutSeconds")
    told = (*others, ("timeoutSeconds", str(int(life))))
    return request.replace(params=told), int(life) + GRACE


@final
class Watch:
    """One watch, opened when it is entered or first asked for an event.

    ```python
    async with rest.watch(request) as watch:
        async for event in watch:
            ...
    ```
    """

    def __init__(
        self,
        opener: Callable[[], Awaitable[Incoming | TransportError]],
        *,
        action: str,
        reader: EventReader,
        clock: Clock,
        life: float,
        limits: SilenceLimits,
        probe: ServerProbe,
    ) -> None:
        self._opener = opener
        self._action = action
        self._reader = reader
        self._clock = clock
        self._life = life
        self._limits = limits
        self._probe = probe
        self._wait = self._first_wait = limits.first_wait()
        self._silent_since: float | None = None  # set once the silence has led to a probe
        self._deadline = 0.0
        self._incoming: Incoming | None = None
        self._ended: WatchEnd | None = None
        self._failure: TransportError | None = None
        self._ready: deque[RawEvent] = deque()
        self._error: ApiError | None = None  # to be raised behind the events that are ready
        self._events = 0
        self._bytes = 0

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def open(self) -> None:
        """Ask for the watch; does nothing when it is open, or has been.

        Safe to cancel: the connection is closed.

        Raises:
            ApiError: the server said no.
            TransportError: there was no connection.
        """
        if self._incoming is not None or self._ended is not None:
            return
        try:
            found = await self._opener()
        except BaseException:
            self._end(WatchEnd.FAILED)
            raise
        if isinstance(found, TransportError):
            self._failure = found
        else:
            self._incoming = found
        if self._incoming is None or self._ended is not None:  # it was closed meanwhile
            self._end(WatchEnd.BROKEN)
        self._deadline = self._clock.now() + self._life

    async def __anext__(self) -> RawEvent:
        """The next event. Safe to cancel: the watch is closed."""
        if not self._ready:
            await self._fill()
        self._events += 1
        return self._ready.popleft()

    async def batch(self) -> list[RawEvent]:
        """All events that are there, waiting for the first; empty at the end.

        Safe to cancel: the watch is closed.

        Raises:
            ApiError: the server reported an error, or sent what is no event.
        """
        if not self._ready:
            try:
                await self._fill()
            except StopAsyncIteration:
                return []
        found = list(self._ready)
        self._ready.clear()
        self._events += len(found)
        return found

    def close(self) -> None:
        """End it now. Safe to repeat; events that were not read are dropped."""
        self._ready.clear()
        self._end(WatchEnd.STOPPED)

    async def aclose(self) -> None:
        """As `close`, for those who await it."""
        self.close()

    @property
    def ended(self) -> WatchEnd | None:
        """Why there are no more events; None while there may be."""
        return self._ended

    @property
    def failure(self) -> TransportError | None:
        """Why the connection is lost, if that is known: it broke (`BROKEN`), or the server did
        not answer a probe (`SILENT`).
        """
        return self._failure

    def stats(self) -> WatchStats:
        return WatchStats(
            open=self._incoming is not None,
            events=self._events,
            bytes=self._bytes,
            ended=self._ended,
        )

    def __del__(self) -> None:
        if getattr(self, "_incoming", None) is not None:
            self._end(WatchEnd.STOPPED)

    def __repr__(self) -> str:
        return f"Watch({self._action}, {self._ended or 'open'})"

    async def _fill(self) -> None:
        """Wait until an event is ready; raises StopAsyncIteration at the end."""
        if self._incoming is None:
            await self.open()
        while not self._ready:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._incoming is None:
                raise StopAsyncIteration
            chunk = await self._chunk(self._incoming)
            if chunk is not None:
                self._take(chunk)

    async def _chunk(self, incoming: Incoming) -> bytes | None:
        """The next bytes; empty when the stream has ended, however it did; None: not yet."""
        try:
            return await incoming.chunk(deadline=self._deadline, idle=self._wait.seconds)
        except TimeoutExceeded:
            return self._after_silence()
        except TransportError as error:
            if self._ended is None:
                log.info("%s: %s", self._action, error)
                self._failure = error
                self._end(WatchEnd.BROKEN)
        except BaseException:
            self.close()
            raise
        return b""

    def _after_silence(self) -> bytes | None:
        """End the watch, or have the server probed and wait on: then None."""
        now = self._clock.now()
        if now >= self._deadline or self._wait.is_last:
            self._end(WatchEnd.OLD if now >= self._deadline else WatchEnd.SILENT)
            return b""
        if self._silent_since is None:
            self._silent_since = now - (self._wait.seconds or 0.0)
        probed = self._probe.join(self._on_lost, self._limits)
        self._wait = self._limits.next_wait(now, since=self._silent_since, probed=probed)
        return None

    def _on_lost(self, error: TransportError) -> None:
        """The server did not answer a probe. Closing wakes the task that waits for bytes."""
        seconds = self._clock.now() - (self._silent_since or 0.0)
        self._failure = lost_failure(error, action=self._action, seconds=seconds)
        log.info("%s", self._failure)
        self._end(WatchEnd.SILENT)

    def _end_silence(self) -> None:
        self._silent_since = None
        self._wait = self._first_wait
        self._probe.leave(self._on_lost)

    def _take(self, chunk: bytes) -> None:
        if self._silent_since is not None:
            self._end_silence()
        if not chunk:
            if self._ended is None:
                self._end(WatchEnd.CLOSED if self._reader.close() else WatchEnd.BROKEN)
            return
        self._bytes += len(chunk)
        for event in self._reader.feed(chunk):
            if event.type not in _TYPES:
                self._fail(_error_in(self._action, event))
                return
            self._ready.append(event)
        if self._reader.mistake is not None:
            self._fail(undecodable_event(self._action, self._reader.mistake))

    def _fail(self, error: ApiError) -> None:
        self._error = error
        self._end(WatchEnd.FAILED)

    def _end(self, why: WatchEnd) -> None:
        incoming, self._incoming = self._incoming, None
        if incoming is not None:
            incoming.close()
        if self._silent_since is not None:
            self._end_silence()
        if self._ended is None:
            self._ended = why


def _error_in(action: str, event: RawEvent) -> ApiError:
    if event.type != "ERROR":
        unknown = DecodeError(f"got invalid watch event type: {event.type[:100]!r}")
        return undecodable_event(action, unknown)
    try:
        return error_from_event(action, event.object)
    except DecodeError as error:
        return undecodable_event(action, error)
