"""Writes one event to a server, with retries.

Guarantees: a patch of an event that no longer exists becomes a create; an event that the
server rejected is not sent again, one that did not reach it is; a writer raises nothing.
See also: `correlator` and `series` (which events are written).
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
    "MAX_ATTEMPTS",
    "RETRY_DELAY",
    "EventSink",
    "FailureAction",
    "action_after",
    "check_sink",
    "log_failure",
    "write_event",
    "write_with_retries",
]

E = TypeVar("E", bound=Resource)
log = get_logger(__name__)

MAX_ATTEMPTS = 12
"""How often one event is sent before it is dropped, as in client-go."""
RETRY_DELAY = 10.0
"""Seconds between two attempts, as in client-go."""


class EventSink(Protocol[E]):
    """A client of events; `client.resource(Event)` fits (client-go: the same name)."""

    def in_namespace(self, namespace: str, /) -> EventSink[E]:
        """The sink of another namespace."""
        ...

    async def create(self, event: E, /) -> E:
        """Create an event; returns it as it is stored."""
        ...

    async def patch(self, name: str, patch: bytes, /, *, type: Literal["strategic"]) -> E:  # noqa: A002 - the clients' word
        """Patch an event; returns it as it is stored."""
        ...


def check_sink(sink: object, event: type[Resource]) -> None:
    """Raises: TypeError when events of this class cannot be written to `sink`."""
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
        return "it is a coroutine (await it)"
    missing = [name for name in _VERBS if not callable(getattr(sink, name, None))]
    if missing:
        return f"it has no {', '.join(missing)}"
    if not all(inspect.iscoroutinefunction(getattr(sink, name)) for name in ("create", "patch")):
        return "it is not async"
    accepted = getattr(sink, "object_type", event)  # kubeloop's resource clients have it
    if isinstance(accepted, type) and not issubclass(event, accepted):
        info = resource_of(accepted) if issubclass(accepted, Resource) else None
        kind = f"{info.api_version} {info.kind}" if info else accepted.__name__
        return f"it accepts {kind}"
    return ""


_VERBS = ("in_namespace", "create", "patch")


class FailureAction(enum.Enum):
    """What to do after a failed write."""

    RETRY = "retry"
    DROP = "drop"
    DROP_QUIETLY = "drop quietly"  # the event exists, or its namespace is being deleted


async def write_event(sink: EventSink[E], event: E, patch: bytes | None) -> E:
    """Patch the event, or create it if there is no patch or no event to patch.

    Raises:
        InvalidArgument: the event has no namespace.
    """
    namespace = event.metadata.namespace
    if not namespace:
        raise InvalidArgument(
            f"write event {event.metadata.name!r}: it has no namespace (events of objects"
            " without one go to 'default')"
        )
    target = sink.in_namespace(namespace)
    if patch is not None:
        try:
            return await target.patch(event.metadata.name, patch, type="strategic")
        except NotFound:  # it has expired, or its create never arrived
            pass
    event.metadata.resource_version = UNSET
    return await target.create(event)


def action_after(error: Exception) -> FailureAction:
    """Whether to send the event again after `error`."""
    if isinstance(error, AlreadyExists) or has_cause(error, Cause.NAMESPACE_TERMINATING):
        return FailureAction.DROP_QUIETLY
    if isinstance(error, ApiError):
        return FailureAction.DROP
    # Without a readable response the event may not have arrived.
    return FailureAction.RETRY if isinstance(error, _TRANSIENT) else FailureAction.DROP


_TRANSIENT = (TransportError, DecodeError, OSError, asyncio.IncompleteReadError)


def log_failure(event: Resource, error: Exception, action: FailureAction) -> None:
    """Log a failed write, at the level that fits."""
    where = f"{event.metadata.namespace}/{event.metadata.name}"
    match action:
        case FailureAction.DROP_QUIETLY:
            log.debug("event %s: not written: %s", where, error)
        case FailureAction.RETRY:
            log.info("event %s: write failed, will retry: %s", where, error)
        case FailureAction.DROP:
            log.error("event %s: dropped, the write failed: %s", where, error)


async def write_with_retries(
    write: Callable[[], Awaitable[FailureAction | None]],
    *,
    delays: Iterator[float],
    clock: Clock,
    closing: asyncio.Event,
) -> bool:
    """Call `write` until it needs no retry; False after the last attempt.

    Once `closing` is set, delays end and one last attempt follows.
    """
    for number in range(1, MAX_ATTEMPTS + 1):
        is_last = closing.is_set() or number == MAX_ATTEMPTS
        if await write() is not FailureAction.RETRY:
            return True
        if is_last:
            break
        await _sleep_until_closing(clock, next(delays), closing)
    return False


async def _sleep_until_closing(clock: Clock, seconds: float, closing: asyncio.Event) -> None:
    try:
        async with clock.timeout(seconds):
            await closing.wait()
    except TimeoutError:
        pass
