"""Streaming lists: the initial state as a watch (WatchList).

Some aggregated servers, proxies and older servers break these streams, while lists and plain
watches work there. Guarantees: a streamed state is complete, as the server reports by a
bookmark, or an error; changes that arrive meanwhile are part of it. A reflector never depends
on streams alone; a fault is remembered for a while, by API group, for all reflectors that share
a `WatchListSupport`.
See also: `reflector` (opens the stream), `pager` (the state as a list).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, final

import msgspec

from kubeloop.errors import (
    ConnectError,
    DecodeError,
    KubeError,
    TooManyRequests,
    TransportError,
    find_api_error,
    has_cause,
    is_api_error,
)
from kubeloop.kit import Clock, TimeBudget
from kubeloop.meta import ObjectKey
from kubeloop.wire import RawEvent, UnknownFields, get_logger

from .entry import Entry
from .entry_decoder import EntryDecoder
from .errors import TransformFailed, UnexpectedFormat
from .list_watch import OBJECT_EVENTS, Scope
from .outage import Attempts
from .pager import ListPager, ListResult
from .reflector_errors import (
    UnreadableEvent,
    WatchListInconsistent,
    needs_newest,
    raise_error_event,
)

__all__ = [
    "RETRY_STREAMS_AFTER",
    "AfterStream",
    "InitialStream",
    "StreamEnded",
    "StreamStalled",
    "WatchListSupport",
    "after_failed_stream",
    "check_consistency",
    "is_unsupported",
]

log = get_logger(__name__)

STALL = 60.0
"""Seconds without a new object after which an incomplete stream is dropped."""
SILENCE = 10.0
"""Seconds without an event after which a warning is logged."""
STREAM_RETRIES = 2
"""How often a broken stream is requested again before the collection is listed."""
RETRY_STREAMS_AFTER = 600.0
"""Seconds for which a fault is remembered; the next relist after that tries a stream again."""

# Status codes of servers that do not know the parameters of such a stream.
_UNSUPPORTED = frozenset({400, 404, 405, 406, 415, 422, 501})
# The cause in the error for data in a watch that is not an event (client-go has the same).
_NO_EVENT = "ClientWatchDecoding"


@final
class StreamEnded(KubeError):
    """A stream of the initial state ended before the bookmark that completes it."""

    def __init__(self, message: str, *, events: int) -> None:
        super().__init__(message)
        self.events = events


@final
class StreamStalled(KubeError):
    """A stream of the initial state stayed open and was never complete."""


class AfterStream(enum.Enum):
    """What follows a stream of the initial state that failed."""

    FROM_NEWEST = "request another stream at once, from the newest version"
    RETRY = "back off, then request another stream"
    LIST = "list"
    LIST_AND_REMEMBER = "list; if that works, the stream was at fault"


def after_failed_stream(
    error: Exception, *, retries: int, may_retry: bool, from_newest: bool
) -> AfterStream:
    """Decide what follows.

    `retries` followed earlier failures, `may_retry` is false while lists fail as well, and
    `from_newest` is true if the stream was not requested from a version.
    """
    if needs_newest(error):
        return AfterStream.LIST_AND_REMEMBER if from_newest else AfterStream.FROM_NEWEST
    is_exhausted = retries >= STREAM_RETRIES
    if isinstance(error, ConnectError) or is_api_error(error, TooManyRequests):
        # Lists fail like this as well, so it is not the stream.
        return AfterStream.RETRY if may_retry and not is_exhausted else AfterStream.LIST
    if isinstance(error, TransportError) or (isinstance(error, StreamEnded) and error.events):
        if is_exhausted:
            return AfterStream.LIST_AND_REMEMBER
        return AfterStream.RETRY if may_retry else AfterStream.LIST
    if isinstance(error, StreamEnded | StreamStalled | WatchListInconsistent):
        return AfterStream.LIST_AND_REMEMBER
    if is_unsupported(error) or _is_broken_stream(error):
        return AfterStream.LIST_AND_REMEMBER
    return AfterStream.LIST


def _is_broken_stream(error: Exception) -> bool:
    """Whether it is how a gateway breaks a stream.

    A gateway that waits for the end of the stream returns 504 after a minute; others return a
    page, or a part of the stream.
    """
    response = find_api_error(error)
    return response is not None and (response.code == 504 or has_cause(error, _NO_EVENT))


def is_unsupported(error: Exception) -> bool:
    """Whether the server responded that it does not support such streams: not a fault."""
    response = find_api_error(error)
    return response is not None and response.code in _UNSUPPORTED


class _Fault(msgspec.Struct, frozen=True):
    until: float
    reason: str


@final
class WatchListSupport:
    """Which API groups cannot stream initial states.

    All reflectors of a client share one. A group is what an aggregated server serves, so its
    faults do not affect other groups. Times are those of the clock.
    """

    def __init__(self) -> None:
        self._faults: dict[str, _Fault] = {}

    def is_usable(self, group: str, now: float) -> bool:
        """Whether to request a stream now."""
        fault = self._faults.get(group)
        return fault is None or now >= fault.until

    def add_fault(self, group: str, reason: str, now: float) -> bool:
        """Remember that lists work and streams do not; returns whether that is new."""
        is_new = group not in self._faults
        self._faults[group] = _Fault(now + RETRY_STREAMS_AFTER, reason)
        return is_new

    def clear_fault(self, group: str) -> bool:
        """Remember that streams work; returns whether that is new."""
        return self._faults.pop(group, None) is not None

    def stats(self) -> dict[str, str]:
        """The faults by group; the name of the core group is empty."""
        return {group: fault.reason for group, fault in self._faults.items()}


@final
class InitialStream:
    """One stream of the initial state: what has arrived so far. Plain code, except its clock."""

    def __init__(
        self,
        scope: Scope,
        decoder: EntryDecoder[Any],
        pager: ListPager,
        attempts: Attempts,
        clock: Clock,
    ) -> None:
        self.scope = scope
        self._decoder = decoder
        self._pager = pager
        self._attempts = attempts
        self._clock = clock
        self._entries: dict[ObjectKey, Entry] = {}
        self._foreign_before = decoder.stats().foreign
        self._events = 0
        self.is_complete = False
        self._last_event = self._last_new = clock.now()  # new: not part of the state before

    def take(
        self,
        events: Iterator[RawEvent],
        budget: TimeBudget,
        *,
        on_complete: Callable[[ListResult], None],
    ) -> bool:
        """Take events up to the one that completes the state; False if the time is used up.

        Raises:
            ApiError: an event is an error.
            UnreadableEvent: only a list can replace an event.
        """
        if self.is_complete:
            return True
        until = budget.begin()
        self._attempts.receive()
        self._last_event = self._clock.now()
        for event in events:
            self._events += 1
            version = self._add(event)
            if version is not None:
                self._check_kinds()
                self.is_complete = True
                on_complete(ListResult(list(self._entries.values()), version))
                break
            if perf_counter() >= until:
                budget.pause()
                return False
        budget.end()
        return True

    def check_complete(self) -> None:
        """The watch has ended. Raises `StreamEnded` if the state is not complete."""
        if not self.is_complete:
            raise StreamEnded(
                f"watch {self.scope}: the stream of the initial state ended after"
                f" {self._events} events, before the bookmark that completes it",
                events=self._events,
            )

    def _check_kinds(self) -> None:
        """A state of nothing but other kinds, such as tables, is none of this collection."""
        foreign = self._decoder.stats().foreign - self._foreign_before
        if foreign and not self._entries:
            raise UnreadableEvent(
                f"watch {self.scope}: all {foreign} objects of the initial state are of other"
                " kinds (does a proxy respond in place of the server?)"
            )

    def _add(self, event: RawEvent) -> str | None:
        """Make an event part of the state; returns the version that completes it."""
        if event.type == "BOOKMARK":
            bookmark = self._decoder.read_bookmark(event.object)
            return bookmark.version if bookmark.ends_initial else None
        if event.type not in OBJECT_EVENTS:
            raise_error_event(event, self.scope)
            return None
        try:
            entry = self._decoder.decode_event(event)
        except (UnknownFields, UnexpectedFormat):
            raise  # JSON has them: the state is read again
        except DecodeError as error:
            self._pager.check_listed(event, error)
            entry = self._pager.keep_known(event.object, error)
        if entry is None:
            return None
        if event.type == "DELETED":
            self._entries.pop(entry.key, None)
            return None
        if entry.key not in self._entries:
            self._last_new = self._last_event
        try:
            if self._decoder.has_transform:
                entry = self._decoder.transform(entry)
            self._entries[entry.key] = entry
        except TransformFailed as error:
            log.error("%s: left out of the cache: %s", self.scope, error)
        return None

    async def check_silence(self) -> None:
        """Warn of silence; raises `StreamStalled` when it has lasted too long.

        Bookmarks that do not end the state, and changes of its objects, break the silence but
        are no progress: some servers send them without end.
        """
        while True:
            left = self._last_new + STALL - self._clock.now()
            await self._clock.sleep(min(left, SILENCE))
            now = self._clock.now()
            if now - self._last_new >= STALL:
                raise StreamStalled(
                    f"watch {self.scope}: the stream of the initial state is open, but neither"
                    f" a new object nor its end arrived for {STALL:g} s"
                )
            silent = now - self._last_event
            if silent >= SILENCE:
                log.warning(
                    "%s: waiting for the initial state, received nothing for %.0f s",
                    self.scope,
                    silent,
                )


def check_consistency(scope: Scope, streamed: ListResult, listed: ListResult) -> None:
    """Compare a streamed state with a list of the same version (client-go: consistency detector).

    Raises:
        WatchListInconsistent: they differ.
    """
    ours, theirs = _versions(streamed.entries), _versions(listed.entries)
    if ours != theirs:
        different = sorted({key for key, _ in ours.items() ^ theirs.items()})
        raise WatchListInconsistent(
            f"the state of {scope} at {streamed.version}: the stream and a list differ in"
            f" {len(different)} objects, the first is {different[0]}"
        )


def _versions(entries: Sequence[Entry]) -> dict[ObjectKey, str]:
    return {entry.key: entry.version for entry in entries}
