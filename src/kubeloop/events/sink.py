"""Writing one event to a server, and what a failed try means.

Promises: a change to an event that is gone becomes a new event; what the server refused is
not sent again, what did not reach it may be; no error leaves a writer.
Elsewhere: which events are written, and how they are changed before (`correlator`, `series`).
"""

from __future__ import annotations

import asyncio
import enum
import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import Literal, Protocol, TypeVar

from kubeloop.errors import (
    AlreadyExists,
    ApiError,
    Cause,
    DecodeError,
    InvalidArgument,
    NotFound,
    TransportError,
    has_cause,
)
from kubeloop.kit import Clock
from kubeloop.wire import UNSET, Resource, get_logger, resource_of
from kubeloop.wire.core.v1 import Event as CoreEvent

__all__ = [
    "MOST_TRIES",
    "RETRY_DELAY",
    "EventSink",
    "Verdict",
    "check_sink",
    "judge",
    "tried",
    "write_event",
]

E = TypeVar("E", bound=Resource)
log = get_logger(__name__)

MOST_TRIES = 12
"""How often one event is sent before it is given up."""
RETRY_DELAY = 10.0
"""Seconds between two tries."""


class EventSink(Protocol[E]):
    """What this room asks of a client for events, and no more."""

    def in_namespace(self, namespace: str, /) -> EventSink[E]:
        """The same in another namespace."""
        ...

    async def create(self, event: E, /) -> E:
        """Make a new event and return the server's copy."""
        ...

    async def patch(self, name: str, patch: bytes, /, *, type: Literal["strategic"]) -> E:  # noqa: A002 - the clients' word
        """Change an event and return the server's copy."""
        ...


def check_sink(sink: object, event: type[Resource]) -> None:
    """Raises: TypeError when nothing could be written to it, or nothing but other objects."""
    problem = _problem(sink, event)
    if problem:
        group = "core" if event is CoreEvent else "events"
        raise TypeError(
            f"record events to {sink!r}: {problem} (give it client.resource(Event), with the Event"
            f" of kubeloop.wire.{group}.v1)"
        )


def _problem(sink: object, event: type[Resource]) -> str:
    if isinstance(sink, type):
        return "it is a class"
    if inspect.iscoroutine(sink):
        sink.close()
        return "it is a coroutine, which nobody has awaited"
    missing = [name for name in _VERBS if not callable(getattr(sink, name, None))]
    if missing:
        return f"it has no {', '.join(missing)}"
    if not all(inspect.iscoroutinefunction(getattr(sink, name)) for name in ("create", "patch")):
        return "it is not async"
    taken = getattr(sink, "object_type", event)  # what our clients tell
    if isinstance(taken, type) and not issubclass(event, taken):
        info = resource_of(taken) if issubclass(taken, Resource) else None
        return f"it takes {info.api_version} {info.kind}" if info else f"it takes {taken.__name__}"
    return ""


_VERBS = ("in_namespace", "create", "patch")


class Verdict(enum.Enum):
    """What to do about an event whose writing failed."""

    RETRY = "retry"
    DROP = "drop"
    DROP_QUIETLY = "drop quietly"  # somebody else has done it, or nobody wants it any more


async def write_event(sink: EventSink[E], event: E, patch: bytes | None) -> E:
    """Send `patch` to the event's name, or make the event where there is none to patch.

    Raises:
        InvalidArgument: the event has no namespace.
    """
    namespace = event.metadata.namespace
    if not namespace:
        raise InvalidArgument(
            f"write event {event.metadata.name!r}: it has no namespace (events of objects"
            " without one go to 'default')"
        )
    here = sink.in_namespace(namespace)
    if patch is not None:
        try:
            return await here.patch(event.metadata.name, patch, type="strategic")
        except NotFound:  # it has expired, or its creation never arrived
            pass
    event.metadata.resource_version = UNSET
    return await here.create(event)


def judge(error: Exception) -> Verdict:
    """Whether to send again what failed with `error`."""
    if isinstance(error, AlreadyExists) or has_cause(error, Cause.NAMESPACE_TERMINATING):
        return Verdict.DROP_QUIETLY
    if isinstance(error, ApiError):
        return Verdict.DROP
    # On the way, or an answer that nobody could read: the event may not have arrived.
    return Verdict.RETRY if isinstance(error, _ON_THE_WAY) else Verdict.DROP


_ON_THE_WAY = (TransportError, DecodeError, OSError, asyncio.IncompleteReadError)


def report(event: Resource, error: Exception, verdict: Verdict) -> None:
    """Log a failed try as loudly as it deserves."""
    where = f"{event.metadata.namespace}/{event.metadata.name}"
    match verdict:
        case Verdict.DROP_QUIETLY:
            log.debug("event %s was not written: %s", where, error)
        case Verdict.RETRY:
            log.info("event %s: writing failed, it may be tried again: %s", where, error)
        case Verdict.DROP:
            log.error("event %s was refused and is lost: %s", where, error)


async def tried(
    write: Callable[[], Awaitable[Verdict | None]],
    *,
    delays: Iterator[float],
    clock: Clock,
    closing: asyncio.Event,
) -> bool:
    """Write until it is done or refused; False when it was given up.

    Once `closing` is set nobody waits: there is one more try, and that is the last.
    """
    for number in range(1, MOST_TRIES + 1):
        is_last = closing.is_set() or number == MOST_TRIES
        if await write() is not Verdict.RETRY:
            return True
        if is_last:
            break
        await _paused(clock, next(delays), closing)
    return False


async def _paused(clock: Clock, seconds: float, closing: asyncio.Event) -> None:
    try:
        async with clock.timeout(seconds):
            await closing.wait()
    except TimeoutError:
        pass
