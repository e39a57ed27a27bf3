"""A watch that goes on after its stream has ended (client-go: `RetryWatcher`).

Promises: between two streams no event is lost and none comes twice; it never asks again
from a version that the server has called too old, but raises `Expired`; tries are at
least a second apart, and further the longer nothing comes, so that a server which hangs
up at once is not stormed; where it cannot go on it says so by raising.
Elsewhere: starting over with a list (`kubeloop.cache`), one stream (`watch`).
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
    Forbidden,
    Gone,
    InvalidArgument,
    TransportError,
    Unauthorized,
    api_error,
    failure,
    has_cause,
)
from kubeloop.kit import Backoff, Clock, Random, SystemClock
from kubeloop.wire import RawEvent, get_logger

from .answer import WATCH_DECODING
from .watch import Watch

__all__ = ["RESUME_BACKOFF", "RESUME_INTERVAL", "ResumingStats", "ResumingWatch"]

log = get_logger(__name__)

RESUME_INTERVAL = 1.0
"""Two tries begin at least so many seconds apart."""

RESUME_BACKOFF = Backoff(duration=0.8, factor=2.0, jitter=1.0, steps=10, cap=30.0)
"""What is waited besides, while tries bring no event."""


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str | None = None


class _Versioned(msgspec.Struct, frozen=True):
    metadata: _Metadata | None = None


_versions = msgspec.json.Decoder(_Versioned)


class ResumingStats(msgspec.Struct, frozen=True):
    """Where a resuming watch stands."""

    version: str  # the newest it has seen
    streams: int  # opened so far, failed ones included
    events: int
    last_error: str


@final
class ResumingWatch:
    """Events from `version` on, over as many streams as it takes. Bookmarks stay inside.

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
                f"resuming watch from version {version!r}: it does not name a state to resume from"
                " (list first, and use the list's version)"
            )
        self._open_from = open_from
        self._version = version
        self._clock = clock or SystemClock()
        self._delays = backoff.delays(random=random)
        self._watch: Watch | None = None
        self._began: float | None = None  # when the last try did
        self._earliest = 0.0  # no try before this
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
        """The newest version seen: whoever starts over may begin here."""
        return self._version

    async def __anext__(self) -> RawEvent:
        """The next event. Safe to cancel: nothing is lost, the next call resumes.

        Raises:
            Gone: the version is too old; a new list is needed (mostly as `Expired`).
            Forbidden, Unauthorized: opening is refused, and would be again.
            ClientClosed: the client behind it is closed.
            InternalError: an event cannot be read, or carries no version.
        """
        while not self._done:
            if self._watch is None:
                await self._open()
            if (event := await self._next()) is not None and self._note(event):
                self._events += 1
                return event
        raise StopAsyncIteration

    def close(self) -> None:
        """End it now. Safe to repeat."""
        self._done = True
        self._drop()

    async def aclose(self) -> None:
        """As `close`, for those who await it."""
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
        # Taken back when an event comes.
        self._earliest = began + max(RESUME_INTERVAL, self._delays.next())
        self._watch = self._open_from(self._version)
        try:
            await self._watch.open()
        except (ApiError, TransportError) as error:
            self._drop()
            self._judge(error)
        except BaseException:
            self._drop()
            raise
        else:
            self._began = began

    async def _next(self) -> RawEvent | None:
        """The next event of the stream there is; None when there is none any more."""
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
            self._judge(error)
        except BaseException:
            self._drop()  # the stream is closed; the version is where to go on
            raise
        return None

    def _judge(self, error: ApiError | TransportError) -> None:
        """Go on where another try may do better; otherwise raise."""
        self._last_error = str(error)
        log.info("%s", error)
        hopeless = isinstance(error, ClientClosed | Gone | Forbidden | Unauthorized)
        if hopeless or has_cause(error, WATCH_DECODING):
            self.close()
            raise error
        if isinstance(error, ApiError):
            self._earliest = max(self._earliest, self._clock.now() + error.retry_after)

    def _note(self, event: RawEvent) -> bool:
        """Remember the event's version; says whether it is for whoever watches."""
        try:
            metadata = _versions.decode(event.object).metadata
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unusable(f"its object cannot be read: {error}") from error
        version = (metadata and metadata.resource_version) or ""
        if not version:
            raise self._unusable("its object carries no resourceVersion")
        self._version = version
        self._delays.reset()
        if self._began is not None:
            self._earliest = self._began + RESUME_INTERVAL
        return event.type != "BOOKMARK"

    def _unusable(self, why: str) -> ApiError:
        self.close()
        status = failure("InternalError", f"an event of the watch cannot be used: {why}")
        return api_error(f"WATCH from version {self._version}", status)

    def _drop(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()
