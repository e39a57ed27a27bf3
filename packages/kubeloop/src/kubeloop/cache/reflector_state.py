"""The states of a reflector, what it can observe, and the step from one state to the next.

    Starting ──► Streaming ──────► Watching ──► Watching ──► ...
        │            │                ▲
        └────────────┴──► Listing ────┘

After a failure, each of them may lead to BackingOff, and that to Starting (read the collection
again), Streaming (retry) or Watching (from the last version).

A state says what to do next; `step` is plain code that a task or a protocol callback can call
with the outcome, and `effect_of` says what a step counts as. Guarantees: the version never changes
except by a list, a stream or a watch event; after a version that the server rejected, the newest
state is requested until there is one; an error leads to a wait or to another request, never to an
end.
See also: `reflector` (the loop that lists, watches and waits), `reflector_errors` and
`watch_list` (what errors mean).
"""

from __future__ import annotations

import enum
from typing import TypeAlias

import msgspec

from kubeloop.errors import ConnectError, TooManyRequests, TransportError, is_api_error
from kubeloop.kit import BackoffStats

from .entry_decoder import EntryDecoderStats
from .outage import OutageStats
from .reflector_errors import VersionWentBack, VeryShortWatch, needs_newest, retry_after
from .watch_list import AfterStream, after_failed_stream

__all__ = [
    "Aborted",
    "AttemptFailed",
    "BackingOff",
    "Effect",
    "Ended",
    "Failed",
    "FellBack",
    "Listing",
    "Observation",
    "Opened",
    "Position",
    "ReadAgain",
    "Received",
    "ReflectorState",
    "ReflectorStats",
    "Started",
    "Starting",
    "State",
    "Streaming",
    "Synced",
    "Throttled",
    "Waited",
    "Watching",
    "advance",
    "effect_of",
    "reported_state",
    "step",
]

SHORT_WATCH = 1.0  # seconds


class ReflectorState(enum.StrEnum):
    """The state of a reflector as its stats report it."""

    NEW = "new"
    LISTING = "listing"  # the whole collection, as a list or as a stream
    CONNECTING = "connecting"  # a watch was requested, and has no response yet
    WATCHING = "watching"
    WAITING = "waiting"  # before the next attempt, after a failure


class ReflectorStats(msgspec.Struct, frozen=True):
    """A snapshot of a reflector."""

    state: ReflectorState
    version: str  # the last one synced; empty before the first
    lists: int
    watch_lists: int  # initial states that were requested as a stream
    fallbacks: int  # of these, how many failed and led to a list
    watches: int
    short_watches: int
    events: int
    rounds: int
    errors: int
    last_error: str  # of all errors so far; whether it is over is in `outage`
    outage: OutageStats | None  # None: the last attempt succeeded
    event_age: float | None  # seconds since the last event, bookmarks included
    left_out: EntryDecoderStats
    backoff: BackoffStats | None
    format: str = "json"  # that is requested: "json" or "protobuf"


class Position(msgspec.Struct, frozen=True):
    """How far the target has followed the server."""

    version: str = ""  # up to which the target has everything; empty before the first list
    is_rejected: bool = False  # the server cannot continue from it: request the newest state

    @property
    def stream_version(self) -> str:
        """The version to request a stream at; empty for the newest."""
        return "" if self.is_rejected else self.version

    @property
    def list_version(self) -> str:
        """The version to request a list at: "0", any version will do, before the first one."""
        return "" if self.is_rejected else self.version or "0"

    def reject(self) -> Position:
        """The same, after the server rejected the version."""
        return Position(self.version, is_rejected=True)


# --- states


class Starting(msgspec.Struct, frozen=True):
    """The collection has to be read: as a stream or as a list."""

    position: Position = Position()


class Streaming(msgspec.Struct, frozen=True):
    """Request the collection as a stream (WatchList)."""

    position: Position
    retries: int = 0  # of streams that broke
    may_retry: bool = True


class Listing(msgspec.Struct, frozen=True):
    """Request the collection as a list."""

    position: Position
    is_retry: bool = False  # the version was rejected: this is the list of the newest state
    stream_error: Exception | None = None  # of a stream that is at fault if the list succeeds


class Watching(msgspec.Struct, frozen=True):
    """The target has everything up to the position: request or receive changes."""

    position: Position
    since: str  # the version that this watch was opened at
    is_open: bool = False
    # A watch ended at this version. A server that was restored from an old copy would accept
    # the next one and stay silent until it has caught up: ask it for its version after a while.
    is_suspect: bool = False


class BackingOff(msgspec.Struct, frozen=True):
    """Wait before the next attempt: a backoff delay, and at least `at_least` seconds."""

    then: Starting | Streaming | Listing | Watching
    at_least: float = 0.0
    error: Exception | None = None  # that made a new list or stream necessary

    @property
    def position(self) -> Position:
        return self.then.position


State: TypeAlias = Starting | Streaming | Listing | Watching | BackingOff


# --- observations


class Started(msgspec.Struct, frozen=True):
    """The collection is about to be read."""

    can_stream: bool
    is_failing: bool  # the last attempt failed, so one stream is enough


class Synced(msgspec.Struct, frozen=True):
    """A list or a stream is complete, and the target has it."""

    version: str


class Opened(msgspec.Struct, frozen=True):
    """The server has accepted the watch."""


class Received(msgspec.Struct, frozen=True):
    """The target has the events of a watch up to this version."""

    version: str


class Ended(msgspec.Struct, frozen=True):
    """A watch ended without an error, after `seconds`."""

    seconds: float


class Failed(msgspec.Struct, frozen=True):
    """A list, a stream or a watch failed, after `seconds`."""

    error: Exception
    seconds: float = 0.0
    can_stream: bool = False
    is_tolerated: bool = False  # an internal error within its window


class Aborted(msgspec.Struct, frozen=True):
    """Something beside the request failed: a resync, the staleness probe, a cancelled source."""

    error: Exception


class Throttled(msgspec.Struct, frozen=True):
    """Requests ended too quickly, one after the other: the next one has to wait."""


class Waited(msgspec.Struct, frozen=True):
    """The wait is over."""


Observation: TypeAlias = (
    Started | Synced | Opened | Received | Ended | Failed | Aborted | Throttled | Waited
)


# --- effects


class ReadAgain(msgspec.Struct, frozen=True):
    """The collection is read again because of an error, which is reported."""

    error: Exception


class FellBack(msgspec.Struct, frozen=True):
    """A stream of the initial state failed, and a list follows."""

    error: Exception
    is_suspected: bool  # the stream is at fault if the list succeeds, which is reported then


class AttemptFailed(msgspec.Struct, frozen=True):
    """An attempt failed, and another one follows."""

    error: Exception


Effect: TypeAlias = ReadAgain | FellBack | AttemptFailed


# --- the step


def step(state: State, observation: Observation, *, scope: str = "") -> State:
    """The state after an observation; `scope` names the collection in errors.

    An observation that does not fit the state changes nothing.
    """
    match observation, state:
        case Received(version), Watching():
            return advance(state, version)
        case Opened(), Watching():
            return msgspec.structs.replace(state, is_open=True)
        case Started(can_stream, is_failing), Starting(position):
            if can_stream:
                return Streaming(position, may_retry=not is_failing)
            return Listing(position)
        case Synced(version), Listing() | Streaming():
            return Watching(Position(version), version, is_open=isinstance(state, Streaming))
        case Waited(), BackingOff(then):
            return then
        case Throttled(), Streaming() | Listing() | Watching():
            return BackingOff(state)
        case Ended(seconds), Watching():
            return _after_watch(state, seconds, None, scope)
        case Failed(), _:
            return _after_failure(state, observation, scope)
        case Aborted(error), _:
            return _start_again(state.position, error)
    return state


def effect_of(before: State, observation: Observation, after: State) -> Effect | None:
    """What to count and to log about a step; None: nothing."""
    if after is before:
        return None
    match after, observation:
        case BackingOff(error=Exception() as error), _:
            return ReadAgain(error)
        case Listing(stream_error=stream_error), Failed(error):
            # A list that fails because of its version is repeated, and no failed attempt.
            is_fallback = isinstance(before, Streaming)
            return FellBack(error, stream_error is not None) if is_fallback else None
        case Streaming(), _:
            return None
        case _, Failed(error):
            return AttemptFailed(error)
    return None


def advance(state: State, version: str) -> State:
    """As `step` of `Received`, for every piece of a watch: a match would take much longer."""
    if isinstance(state, Watching) and version != state.position.version:
        return Watching(Position(version), state.since, is_open=True)
    return state


def reported_state(state: State) -> ReflectorState:
    match state:
        case Starting():
            return ReflectorState.NEW
        case Streaming() | Listing():
            return ReflectorState.LISTING
        case Watching(is_open=is_open):
            return ReflectorState.WATCHING if is_open else ReflectorState.CONNECTING
        case BackingOff():
            return ReflectorState.WAITING


def _after_failure(state: State, failed: Failed, scope: str) -> State:
    match state:
        case Watching():
            return _after_failed_watch(state, failed, scope)
        case Streaming():
            return _after_failed_stream(state, failed)
        case Listing(is_retry=False) if needs_newest(failed.error):
            newest = state.position.reject()
            return Listing(newest, is_retry=True, stream_error=state.stream_error)
    return _start_again(state.position, failed.error)


def _start_again(position: Position, error: Exception) -> State:
    if isinstance(error, VersionWentBack):
        position = position.reject()
    return BackingOff(Starting(position), retry_after(error), error)


def _watch_again(state: Watching) -> Watching:
    return Watching(state.position, state.position.version, is_suspect=True)


def _after_watch(state: Watching, seconds: float, error: Exception | None, scope: str) -> State:
    """A watch that ended at once without anything new leads to a new list, after a wait.

    Bookmarks that repeat the version are nothing new: a server that sends one and closes the
    connection would get requests without end.
    """
    version = state.position.version
    if seconds >= SHORT_WATCH or version != state.since:
        return _watch_again(state)
    short = VeryShortWatch(
        f"watch {scope} from {version}: it ended within {SHORT_WATCH:g} s without anything new"
        f"{f': {error}' if error else ''}"
    )
    short.__cause__ = error
    return _start_again(state.position, short)


def _after_failed_watch(state: Watching, failed: Failed, scope: str) -> State:
    error = failed.error
    if isinstance(error, ConnectError):
        return BackingOff(_watch_again(state))
    if isinstance(error, TransportError):
        return _after_watch(state, failed.seconds, error, scope)
    if is_api_error(error, TooManyRequests):
        return BackingOff(_watch_again(state), retry_after(error))
    if failed.is_tolerated:
        return _watch_again(state)
    return _start_again(state.position, error)


def _after_failed_stream(state: Streaming, failed: Failed) -> State:
    error, position = failed.error, state.position
    then = after_failed_stream(
        error,
        retries=state.retries,
        may_retry=state.may_retry and failed.can_stream,
        from_newest=position.stream_version == "",
    )
    match then:
        case AfterStream.FROM_NEWEST:
            return Streaming(position.reject(), state.retries, state.may_retry)
        case AfterStream.RETRY:
            again = Streaming(position, state.retries + 1, state.may_retry)
            return BackingOff(again, retry_after(error))
        case AfterStream.LIST:
            return Listing(position)
        case AfterStream.LIST_AND_REMEMBER:
            return Listing(position, stream_error=error)
