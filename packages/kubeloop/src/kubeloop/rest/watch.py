"""A watch: one stream of events.

Guarantees: an event is returned when its last byte was received; an ERROR event is raised; a
stream that ends, breaks, is silent or reaches its maximum duration just ends, since its consumer
resumes anyway; a cancelled read closes the connection at once; a watch that was not closed is
closed when it is garbage collected.
There are two ways to read it: a task waits for events (`async for`, `batch`), or plain code is
called in the callback that brought their bytes (`pump`), which wakes no task.
See also: `resuming_watch` (resumes after the end), `frames` (splits bytes into events).
"""

from __future__ import annotations

import asyncio
import random as chance
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from enum import StrEnum
from types import TracebackType
from typing import Self, final

import msgspec

from kubeloop.errors import ApiError, DecodeError, TimeoutExceeded, TransportError, error_from_event
from kubeloop.kit import Clock, Random, Timer
from kubeloop.wire import RawEvent, get_logger, split_event
from kubeloop.wire.protobuf_messages import MAGIC, PROTOBUF

from .codec import EventReader
from .failures import lost_failure
from .frames import FRAME_LIMIT, EventFrames, ProtobufFrames
from .incoming import IncomingResponse
from .liveness import ServerProbe, SilenceLimits
from .request import Request
from .response import undecodable_event

__all__ = [
    "GRACE",
    "LONGEST_WATCH",
    "SHORTEST_WATCH",
    "Watch",
    "WatchEnd",
    "WatchStats",
    "with_timeout",
]

log = get_logger(__name__)

SHORTEST_WATCH = 300.0
LONGEST_WATCH = 600.0
# The server ends a watch after `timeoutSeconds`; the client ends it a little later.
GRACE = 30.0

_SLACK = 0.001  # a timer may be early by a little

_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})

Apply = Callable[[Iterator[RawEvent]], bool]
"""Handles events until the iterator is exhausted (True), or until others must run (False)."""


class WatchEnd(StrEnum):
    """Why a watch has no more events."""

    CLOSED = "the server ended it"
    BROKEN = "the connection broke"
    SILENT = "it was silent for too long"
    TIMED_OUT = "it reached its maximum duration"
    FAILED = "an error was raised"
    STOPPED = "it was closed here"


class WatchStats(msgspec.Struct, frozen=True):
    """Numbers of one watch."""

    open: bool
    events: int
    bytes: int
    ended: WatchEnd | None


def with_timeout(request: Request, *, random: Random = chance.random) -> tuple[Request, float]:
    """The request with a random `timeoutSeconds`, and the seconds after which the client ends it.

    A `timeoutSeconds` of the request is kept.
    """
    for key, value in request.params:
        if key == "timeoutSeconds" and value.isascii() and value.isdigit() and int(value) > 0:
            return request, int(value) + GRACE
    seconds = int(SHORTEST_WATCH + random() * (LONGEST_WATCH - SHORTEST_WATCH))
    others = tuple(pair for pair in request.params if pair[0] != "timeoutSeconds")
    params = (*others, ("timeoutSeconds", str(seconds)))
    return request.replace(params=params), seconds + GRACE


@final
class Watch:
    """One watch, opened when it is entered or first read.

    ```python
    async with rest.watch(request) as watch:
        async for event in watch:
            ...
    ```
    """

    def __init__(
        self,
        opener: Callable[[], Awaitable[IncomingResponse | TransportError]],
        *,
        action: str,
        reader: EventReader,
        event_limit: int | None = FRAME_LIMIT,
        clock: Clock,
        max_duration: float,
        limits: SilenceLimits,
        probe: ServerProbe,
    ) -> None:
        self._opener = opener
        self._action = action
        self._reader = reader
        self._event_limit = event_limit
        self._clock = clock
        self._max_duration = max_duration
        self._limits = limits
        self._probe = probe
        self._wait = self._first_wait = limits.first_wait()
        self._silent_since: float | None = None  # set when the silence has led to a probe
        self._deadline = 0.0
        self._incoming: IncomingResponse | None = None
        self._ended: WatchEnd | None = None
        self._failure: TransportError | None = None
        self._ready: list[RawEvent] = []
        self._error: ApiError | None = None  # raised after the events that are ready
        self._pump: _Pump | None = None  # while `pump` runs
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
        """Send the request; does nothing if it was sent already.

        Safe to cancel: the connection is closed.

        Raises:
            ApiError: the response is not a success.
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
            if found.headers.get("Content-Type", "").startswith(PROTOBUF):
                self._reader = ProtobufFrames(limit=self._event_limit)
            found.forget_headers()
        if self._incoming is None or self._ended is not None:  # closed while it was opened
            self._end(WatchEnd.BROKEN)
        self._deadline = self._clock.now() + self._max_duration

    async def __anext__(self) -> RawEvent:
        """The next event. Safe to cancel: the watch is closed."""
        if not self._ready:
            await self._fill()
        self._events += 1
        return self._ready.pop(0)

    async def batch(self) -> list[RawEvent]:
        """All events received so far, at least one; empty at the end.

        Safe to cancel: the watch is closed.

        Raises:
            ApiError: the server sent an ERROR event, or something else than an event.
        """
        if not self._ready:
            try:
                await self._fill()
            except StopAsyncIteration:
                return []
        return self._take_ready()

    def _take_ready(self) -> list[RawEvent]:
        found, self._ready = self._ready, []
        self._events += len(found)
        return found

    async def pump(self, apply: Apply, split: Callable[[bytes], RawEvent] = split_event) -> None:
        """Pass all events to `apply`, in the callbacks that bring their bytes; returns at the end.

        If `apply` returns False, the socket is paused, and `apply` is called with the same
        iterator in a later iteration of the event loop. Its exceptions end the watch and are
        raised here. `split` makes an event of its text, if that is JSON. Safe to cancel: the
        watch is closed.

        Raises:
            ApiError: as `batch`, after the events before it.
            TransportError: there was no connection.
        """
        await self.open()
        if isinstance(self._reader, EventFrames):
            self._reader.split = split
        pump = self._pump = _Pump(self, apply, asyncio.get_running_loop())
        try:
            pump.start()
            await pump.done
        except BaseException:
            self.close()
            raise
        finally:
            self._pump = None
            pump.stop()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def close(self) -> None:
        """Close it at once. Safe to repeat; events that were not read are dropped."""
        self._ready.clear()
        self._end(WatchEnd.STOPPED)
        if self._pump is not None:
            self._pump.finish()

    async def aclose(self) -> None:
        """As `close`, for `contextlib.aclosing`."""
        self.close()

    @property
    def ended(self) -> WatchEnd | None:
        """Why there are no more events; None while it is open."""
        return self._ended

    @property
    def failure(self) -> TransportError | None:
        """Why the connection is lost: it broke (`BROKEN`), or a probe failed (`SILENT`)."""
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

    async def _chunk(self, incoming: IncomingResponse) -> bytes | None:
        """The next bytes; empty at the end of the stream, None if there are none yet."""
        try:
            return await incoming.chunk(deadline=self._deadline, idle=self._wait.seconds)
        except TimeoutExceeded:
            return self._handle_silence()
        except TransportError as error:
            if self._ended is None:
                log.info("%s: %s", self._action, error)
                self._failure = error
                self._end(WatchEnd.BROKEN)
        except BaseException:
            self.close()
            raise
        return b""

    def _handle_silence(self) -> bytes | None:
        """End the watch; or probe the server, keep waiting and return None."""
        now = self._clock.now()
        if now >= self._deadline or self._wait.is_last:
            self._end(WatchEnd.TIMED_OUT if now >= self._deadline else WatchEnd.SILENT)
            return b""
        if self._silent_since is None:
            self._silent_since = now - (self._wait.seconds or 0.0)
        probed = self._probe.join(self._on_lost, self._limits)
        self._wait = self._limits.next_wait(now, since=self._silent_since, probed=probed)
        return None

    def _on_lost(self, error: TransportError) -> None:
        """A probe failed. Closing wakes the task that waits for bytes."""
        seconds = self._clock.now() - (self._silent_since or 0.0)
        self._failure = lost_failure(error, action=self._action, seconds=seconds)
        log.info("%s", self._failure)
        self._end(WatchEnd.SILENT)
        if self._pump is not None:
            self._pump.finish()

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
        self._ready.extend(self._split(chunk))

    def _split(self, chunk: bytes) -> list[RawEvent]:
        """The events in `chunk` up to an error, which ends the watch."""
        self._bytes += len(chunk)
        events = self._reader.feed(chunk)
        for index, event in enumerate(events):
            if event.type not in _TYPES:
                self._fail(_error_of_event(self._action, event))
                return events[:index]
        if self._reader.mistake is not None:
            self._fail(undecodable_event(self._action, self._reader.mistake))
        return events

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


@final
class _Pump:
    """Passes the body of a watch to plain code. It lasts as long as one call of `pump`."""

    def __init__(self, watch: Watch, apply: Apply, loop: asyncio.AbstractEventLoop) -> None:
        self._watch = watch
        self._apply = apply
        self._loop = loop
        self._clock = watch._clock
        self.done: asyncio.Future[None] = loop.create_future()
        self._incoming = watch._incoming
        self._events: Iterator[RawEvent] | None = None  # not handled to their end
        self._bytes: deque[bytes] = deque()  # received after them
        self._has_ended = False  # nothing follows `_bytes`
        self._failure: TransportError | None = None
        self._is_scheduled = False
        self._is_paused = False
        self._received_at = 0.0
        self._timer: Timer | None = None

    def start(self) -> None:
        watch, incoming = self._watch, self._incoming
        if watch._ready:
            self._events = iter(watch._take_ready())
        if incoming is None:
            self._has_ended = True
        else:
            incoming.check_encoding()
            self._received_at = self._clock.now()
            self._wait_for_silence()
            incoming.push_to(self)
        if self._events is not None or self._has_ended:
            self._continue()

    def stop(self) -> None:
        """Receive nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        self._incoming = None

    # --- called by the response

    def on_bytes(self, data: bytes) -> None:
        if self._watch._silent_since is not None:
            self._watch._end_silence()
        self._received_at = self._clock.now()
        self._bytes.append(data)
        if self._events is None and not self._is_scheduled and not self.done.done():
            self._run()

    def on_end(self, failure: TransportError | None) -> None:
        self._has_ended = True
        self._failure = failure
        if self._events is None and not self._is_scheduled and not self.done.done():
            self._run()

    # --- handling

    def _continue(self) -> None:
        self._is_scheduled = False
        if not self.done.done():
            self._run()

    def _run(self) -> None:
        """Handle what has arrived, until others must run."""
        try:
            is_finished = self._handle()
        except BaseException as error:  # noqa: BLE001 - raised by `pump`
            self.finish(error)
            return
        watch = self._watch
        if not is_finished:
            self._is_scheduled = True
            if self._incoming is not None and not self._is_paused:
                self._is_paused = True
                self._incoming.pause()
            self._loop.call_soon(self._continue)
        elif watch._error is not None or watch._ended is not None:
            self.finish()
        elif self._has_ended:
            self._end()
        elif self._is_paused and self._incoming is not None:
            self._is_paused = False
            self._received_at = self._clock.now()  # nothing was read meanwhile
            self._incoming.resume()

    def _handle(self) -> bool:
        """Whether nothing is left to handle now."""
        watch, incoming = self._watch, self._incoming
        if self._events is not None:
            if not self._apply(self._events):
                return False
            self._events = None
        decompressor = None if incoming is None else incoming.decompressor
        while watch._error is None and not self.done.done():
            if decompressor is not None and decompressor.has_more:
                data = b""
            elif self._bytes:
                data = self._bytes.popleft()
            else:
                return True
            if decompressor is not None and incoming is not None:
                try:
                    data = incoming.decompress(data)
                except TransportError as error:  # the watch ends with it, as any broken one
                    self._failure = error
                    self._has_ended = True
                    self._bytes.clear()
                    return True
            if not data:
                continue
            if found := watch._split(data):
                watch._events += len(found)
                events = iter(found)
                if not self._apply(events):
                    self._events = events
                    return False
            if decompressor is not None and decompressor.has_more:
                return False  # a piece is enough for one iteration of the event loop
        return True

    def _end(self) -> None:
        """All bytes are handled, and there will be no more."""
        watch = self._watch
        try:
            if self._failure is not None:
                raise self._failure
            if self._incoming is not None:
                self._incoming.check_decompressed()
        except TransportError as error:
            log.info("%s: %s", watch._action, error)
            watch._failure = error
            watch._end(WatchEnd.BROKEN)
        else:
            watch._take(b"")
        self.finish()

    def finish(self, error: BaseException | None = None) -> None:
        """Let `pump` return, or raise."""
        self.stop()
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)

    # --- silence

    def _wait_for_silence(self) -> None:
        """Look again when the watch may have been silent for too long, or reaches its end."""
        watch, now = self._watch, self._clock.now()
        until = watch._deadline
        if watch._wait.seconds is not None:
            until = min(until, self._received_at + watch._wait.seconds)
        self._timer = self._clock.timer(until - now, self._on_timer)

    def _on_timer(self) -> None:
        watch, now = self._watch, self._clock.now()
        if self._incoming is None:
            return
        if self._is_scheduled:
            self._received_at = now  # it is the code that is busy, and not the server silent
        seconds = watch._wait.seconds
        is_silent = seconds is not None and now - self._received_at >= seconds - _SLACK
        if (is_silent or now >= watch._deadline) and not self._is_scheduled:
            if watch._handle_silence() is not None:
                self.finish()
                return
            self._received_at = now  # the next wait is counted from here
        self._wait_for_silence()


def _error_of_event(action: str, event: RawEvent) -> ApiError:
    if event.type != "ERROR":
        unknown = DecodeError(f"got invalid watch event type: {event.type[:100]!r}")
        return undecodable_event(action, unknown)
    try:
        body = bytes(event.object)
        if body.startswith(MAGIC):
            from kubeloop.wire.protobuf import from_protobuf

            body = msgspec.json.encode(from_protobuf(body))
        return error_from_event(action, body)
    except DecodeError as error:
        return undecodable_event(action, error)
