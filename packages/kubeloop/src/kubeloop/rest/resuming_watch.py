"""A watch that is resumed after its stream has ended (client-go: `RetryWatcher`).

Guarantees: between two streams no event is lost and none is repeated; it never resumes at a
version that has expired, but raises `Expired`; attempts are at least a second apart, and back off
while there is no event, so that a server which closes streams at once is not flooded; an error
that a new attempt cannot fix is raised.
See also: `kubeloop.cache` (relists after `Expired`), `watch` (one stream).
"""

from __future__ import annotations

import random as chance
from collections.abc import Callable
from types import TracebackType
from typing import Self, final

import msgspec

from kubeloop.errors import (
    ApiError,
    ClientClosed,
    DecodeError,
    Forbidden,
    Gone,
    InvalidArgument,
    NotAcceptable,
    TransportError,
    Unauthorized,
    UnsupportedMediaType,
    api_error,
    failure,
    has_cause,
)
from kubeloop.kit import Backoff, Clock, Random, SystemClock
from kubeloop.wire import RawEvent, get_logger
from kubeloop.wire.protobuf_messages import MAGIC

from .response import WATCH_DECODING
from .watch import Watch

__all__ = ["RESUME_BACKOFF", "RESUME_INTERVAL", "ResumingStats", "ResumingWatch"]

log = get_logger(__name__)

RESUME_INTERVAL = 1.0
"""Minimum of seconds between the starts of two attempts."""

RESUME_BACKOFF = Backoff(duration=0.8, factor=2.0, jitter=1.0, steps=10, cap=30.0)
"""The backoff while attempts bring no event."""


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str | None = None


class _Versioned(msgspec.Struct, frozen=True):
    metadata: _Metadata | None = None


_versions = msgspec.json.Decoder(_Versioned)


class ResumingStats(msgspec.Struct, frozen=True):
    """Numbers of one resuming watch."""

    version: str  # of the last event
    streams: int  # opened so far, failed ones included
    events: int
    last_error: str


def _version_of(event: RawEvent) -> str:
    if type(event.object) is bytes and event.object.startswith(MAGIC):
        from kubeloop.wire.protobuf_codec import identity_in, open_envelope

        return identity_in(open_envelope(event.object).message).version
    metadata = _versions.decode(event.object).metadata
    return (metadata and metadata.resource_version) or ""


_PERMANENT = (
    ClientClosed,
    Forbidden,
    Gone,
    NotAcceptable,
    Unauthorized,
    UnsupportedMediaType,
)


@final
class ResumingWatch:
    """The events after `version`, over as many streams as needed, without bookmarks.

        async with ResumingWatch(lambda version: rest.watch(request_from(version)), "42") as watch:
            async for event in watch:
                ...

    Raises:
        InvalidArgument: the version is "" or "0", from which no watch can be resumed.
    """

    def __init__(
        self,
        open_from: Callable[[str], Watch],
        version: str,
        *,
        clock: Clock | None = None,
        backoff: Backoff = RESUME_BACKOFF,
        random: Random = chance.random,
    ) -> None:
        if version in {"", "0"}:
            raise InvalidArgument(
                f"resuming watch from version {version!r}: a watch cannot be resumed there"
                " (list first, and use the version of the list)"
            )
        self._open_from = open_from
        self._version = version
        self._clock = clock or SystemClock()
        self._delays = backoff.delays(random=random)
        self._watch: Watch | None = None
        self._began: float | None = None  # when the last attempt started
        self._earliest = 0.0  # no attempt before
        self._done = False
        self._streams = 0
        self._events = 0
        self._last_error = ""

    async def __aenter__(self) -> Self:
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

    @property
    def version(self) -> str:
        """The version of the last event: a new watch may start here."""
        return self._version

    async def __anext__(self) -> RawEvent:
        """The next event. Safe to cancel: nothing is lost, the next call resumes.

        Raises:
            Gone: the version has expired; a new list is needed (usually as `Expired`).
            Forbidden, Unauthorized: the watch is not allowed.
            NotAcceptable, UnsupportedMediaType: the server does not have the requested format.
            ClientClosed: the client is closed.
            InternalError: an event cannot be decoded, or has no version.
        """
        while not self._done:
            if self._watch is None:
                await self._open()
            if (event := await self._next()) is not None and self._record_version(event):
                self._events += 1
                return event
        raise StopAsyncIteration

    def close(self) -> None:
        """Close it at once. Safe to repeat."""
        self._done = True
        self._drop()

    async def aclose(self) -> None:
        """As `close`, for `contextlib.aclosing`."""
        self.close()

    def stats(self) -> ResumingStats:
        return ResumingStats(
            version=self._version,
            streams=self._streams,
            events=self._events,
            last_error=self._last_error,
        )

    async def _open(self) -> None:
        await self._clock.sleep(self._earliest - self._clock.now())
        if self._done:
            return
        began = self._clock.now()
        self._streams += 1
        # Shortened when an event is received.
        self._earliest = began + max(RESUME_INTERVAL, self._delays.next())
        self._watch = self._open_from(self._version)
        try:
            await self._watch.open()
        except (ApiError, TransportError) as error:
            self._drop()
            self._handle_error(error)
        except BaseException:
            self._drop()
            raise
        else:
            self._began = began

    async def _next(self) -> RawEvent | None:
        """The next event of the current stream; None at its end."""
        watch = self._watch
        if watch is None:
            return None
        try:
            return await anext(watch)
        except StopAsyncIteration:
            if watch.failure is not None:
                self._last_error = str(watch.failure)
            self._drop()
        except (ApiError, TransportError) as error:
            self._drop()
            self._handle_error(error)
        except BaseException:
            self._drop()  # the version is kept, the next call resumes there
            raise
        return None

    def _handle_error(self, error: ApiError | TransportError) -> None:
        """Raise an error that another attempt cannot fix."""
        self._last_error = str(error)
        log.info("%s", error)
        permanent = isinstance(error, _PERMANENT)
        if permanent or has_cause(error, WATCH_DECODING):
            self.close()
            raise error
        if isinstance(error, ApiError):
            self._earliest = max(self._earliest, self._clock.now() + error.retry_after)

    def _record_version(self, event: RawEvent) -> bool:
        """Record the version of the event; returns whether the caller gets the event."""
        try:
            version = _version_of(event)
        except (msgspec.DecodeError, UnicodeDecodeError, DecodeError) as error:
            raise self._unusable_event_error(f"cannot decode its object: {error}") from error
        if not version:
            raise self._unusable_event_error("its object has no resourceVersion")
        self._version = version
        self._delays.reset()
        if self._began is not None:
            self._earliest = self._began + RESUME_INTERVAL
        return event.type != "BOOKMARK"

    def _unusable_event_error(self, why: str) -> ApiError:
        self.close()
        status = failure("InternalError", f"an event of the watch cannot be used: {why}")
        return api_error(f"WATCH from version {self._version}", status)

    def _drop(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()
