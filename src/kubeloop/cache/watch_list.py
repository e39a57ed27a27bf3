"""The initial state as a stream (WatchList): where it works, and what follows one that failed.

Some aggregated servers, proxies and older servers break these streams, while lists and plain
watches work there. Guarantees: a reflector never asks for streams only; a fault is
remembered for a while, by API group, for all reflectors that share a `WatchListSupport`.
See also: reading the stream (`gathering`), asking for it (`reflector`).
"""

from __future__ import annotations

import enum
from typing import final

import msgspec

from kubeloop.errors import (
    ConnectError,
    KubeError,
    TooManyRequests,
    TransportError,
    find_api_error,
    has_cause,
    is_api_error,
)

from .verdicts import WatchListInconsistent, needs_newest

__all__ = [
    "RETRY_STREAMS_AFTER",
    "STALL",
    "STREAM_RETRIES",
    "AfterStream",
    "StreamEnded",
    "StreamStalled",
    "WatchListSupport",
    "after_failed_stream",
    "is_unsupported",
]

STALL = 60.0
"""Seconds without a new object after which a stream that is not complete is given up."""
STREAM_RETRIES = 2
"""How often a stream that broke off is asked for again before the collection is listed."""
RETRY_STREAMS_AFTER = 600.0
"""Seconds for which a fault is remembered; the next relist after that tries a stream again."""

# What servers answer that do not know the parameters of such a stream.
_UNSUPPORTED = frozenset({400, 404, 405, 406, 415, 422, 501})
# The cause in the error for what came in a watch and is no event (client-go has the same).
_NO_EVENT = "ClientWatchDecoding"


@final
class StreamEnded(KubeError):
    """A stream of the initial state ended before the bookmark that completes it."""

    def __init__(self, message: str, *, events: int) -> None:
        super().__init__(message)
        self.events = events


@final
class StreamStalled(KubeError):
    """A stream of the initial state stayed open without coming to its end."""


class AfterStream(enum.Enum):
    """What follows a stream of the initial state that failed."""

    FROM_NEWEST = "ask for another stream at once, from the newest version"
    RETRY = "wait, then ask for another stream"
    LIST = "list"
    LIST_AND_REMEMBER = "list; if that works, the stream was at fault"


def after_failed_stream(
    error: Exception, *, retries: int, may_retry: bool, from_newest: bool
) -> AfterStream:
    """Decide what follows.

    `retries` have followed earlier failures of this round, `may_retry` is false while lists
    fail as well, and `from_newest` says that the stream was not asked for from a version.
    """
    if needs_newest(error):
        return AfterStream.LIST_AND_REMEMBER if from_newest else AfterStream.FROM_NEWEST
    is_exhausted = retries >= STREAM_RETRIES
    if isinstance(error, ConnectError) or is_api_error(error, TooManyRequests):
        # Lists meet this as well: it says nothing about streams.
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
    """Whether the response is one that gateways make of a stream.

    Those that wait for its end answer 504 in its place, a minute later; others send a page,
    or a part of the stream.
    """
    answer = find_api_error(error)
    return answer is not None and (answer.code == 504 or has_cause(error, _NO_EVENT))


def is_unsupported(error: Exception) -> bool:
    """Whether the server answered that it does not know such streams: no fault, only a fact."""
    answer = find_api_error(error)
    return answer is not None and answer.code in _UNSUPPORTED


class _Fault(msgspec.Struct, frozen=True):
    until: float
    reason: str


@final
class WatchListSupport:
    """What is known about streams of initial states, by API group.

    One object is shared by all reflectors of a client. A group is what an aggregated server
    serves, so its faults say nothing about other groups. Moments are the clock's.
    """

    def __init__(self) -> None:
        self._faults: dict[str, _Fault] = {}

    def is_usable(self, group: str, now: float) -> bool:
        """Whether a stream is worth asking for now."""
        fault = self._faults.get(group)
        return fault is None or now >= fault.until

    def note_fault(self, group: str, reason: str, now: float) -> bool:
        """Remember that lists work and streams do not; returns whether that is news."""
        is_news = group not in self._faults
        self._faults[group] = _Fault(now + RETRY_STREAMS_AFTER, reason)
        return is_news

    def note_success(self, group: str) -> bool:
        """Remember that streams work; returns whether that is news."""
        return self._faults.pop(group, None) is not None

    def stats(self) -> dict[str, str]:
        """Why the groups are listed that are; the core group is the empty name."""
        return {group: fault.reason for group, fault in self._faults.items()}
