"""Faults that a test injects, reactors, and the record of requests.

Guarantees: every fault takes effect while the server runs, and ends when it is removed; a
request without faults pays almost nothing; reactors see each request before the server does.
See also: `service` (faults of the whole server: refused connections, rotated certificates,
restarts).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias, final

import msgspec

from kubeloop.kit import Clock
from kubeloop.wire import InvalidArgument, Json

from .statuses import (
    Cause,
    StatusError,
    already_exists,
    bad_request,
    conflict,
    expired,
    forbidden,
    internal_error,
    invalid,
    method_not_allowed,
    not_acceptable,
    not_found,
    request_entity_too_large,
    service_unavailable,
    timeout,
    too_many_requests,
    unauthorized,
    unknown_resource,
    unsupported_media_type,
    untyped_error,
)
from .storage.store import encoded
from .values.deep_json import decode

__all__ = ["Cut", "Faults", "Match", "Reaction", "Reactor", "Reply", "SeenRequest"]

RECORD = 10_000  # requests in the record
RECORD_BYTES = 64 * 1024 * 1024  # total size of their bodies


@final
class SeenRequest(msgspec.Struct, frozen=True):
    """One request, for reactors and assertions."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    user: str = ""

    def __repr__(self) -> str:
        # Headers and bodies may contain secrets, and a repr is easily logged.
        return f"SeenRequest({self.method} {self.path}, verb={self.verb!r})"

    def json(self) -> Json:
        """The body as a value; None for an empty one."""
        return decode(self.body) if self.body else None


@final
class Reply(msgspec.Struct, frozen=True):
    """A response that a reactor sends instead of the server; `body` is JSON or bytes."""

    code: int = 200
    body: Json = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    content_type: str = "application/json"

    @property
    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return b"" if self.body is None else encoded(self.body)


Reaction: TypeAlias = SeenRequest | Reply | None
# Responds with a `Reply`, replaces the request with a `SeenRequest`, rejects it by raising
# `StatusError`, or does nothing and returns None.
Reactor: TypeAlias = Callable[[SeenRequest], Reaction | Awaitable[Reaction]]


@final
class Match(msgspec.Struct, frozen=True):
    """The requests that a fault applies to: those that match all given fields."""

    verb: str = ""
    resource: str = ""
    name: str = ""
    namespace: str = ""
    subresource: str | None = None

    def fits(self, seen: SeenRequest) -> bool:
        fields = ("verb", "resource", "name", "namespace")
        if any(getattr(self, each) not in {"", getattr(seen, each)} for each in fields):
            return False
        return self.subresource in {None, seen.subresource}


EVERY = Match()


@final
class Cut(msgspec.Struct, frozen=True):
    """Where a stream is interrupted: after a number of bytes or of events."""

    after_bytes: int | None = None
    after_events: int | None = None


class _Failure:
    """Requests that are still to be rejected."""

    def __init__(
        self, times: int | None, match: Match, make: Callable[[SeenRequest], StatusError]
    ) -> None:
        self.times = times  # None: until `heal`
        self.match = match
        self.make = make

    def take(self, seen: SeenRequest) -> StatusError | None:
        if self.times == 0 or not self.match.fits(seen):
            return None
        if self.times is not None:
            self.times -= 1
        return self.make(seen)


class _Hold:
    """What held requests wait for; a test may release them from another thread."""

    def __init__(self) -> None:
        self._is_released = False
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    async def wait(self) -> None:
        event = asyncio.Event()
        self._waiting[event] = asyncio.get_running_loop()
        try:
            if not self._is_released:
                await event.wait()
        finally:
            del self._waiting[event]

    def release(self) -> None:
        self._is_released = True
        for event, loop in list(self._waiting.items()):
            loop.call_soon_threadsafe(event.set)


@final
class Faults:
    """The faults of one server; a test sets them while the server runs, from any thread."""

    def __init__(self, *, record: int = RECORD) -> None:
        self.requests: deque[SeenRequest] = deque(maxlen=record)
        self._bytes = 0  # of the bodies in the record
        self.reactors: list[Reactor] = []
        self.half_open = False  # accept connections, never respond, never close
        self.close_watches = False  # end each watch as soon as it begins
        self.delivery_delay = 0.0  # seconds before each batch of watch events
        self.response_delay = 0.0  # seconds before each response
        self._cut: tuple[Cut, Match] | None = None
        self._failures: list[_Failure] = []
        self._held: list[tuple[Match, _Hold]] = []

    def record(self, seen: SeenRequest) -> None:
        """Append a request; the oldest are dropped beyond the limits of the record."""
        if len(self.requests) == self.requests.maxlen:
            self._bytes -= len(self.requests.popleft().body)
        self.requests.append(seen)
        self._bytes += len(seen.body)
        while self._bytes > RECORD_BYTES:
            self._bytes -= len(self.requests.popleft().body)

    def clear_record(self) -> None:
        """Remove all requests from the record."""
        self.requests.clear()
        self._bytes = 0

    # --- setting faults

    def fail(
        self,
        code: int = 500,
        *,
        times: int | None = 1,
        retry_after: int = 0,
        match: Match = EVERY,
    ) -> None:
        """Respond to the next `times` matching requests with `code`; None: until `heal`.

        The Status is one that kube-apiserver sends with that code, so that a client raises the
        same error as for a real one: 404 is `NotFound`, 409 `AlreadyExists` for a create and
        `Conflict` otherwise, 410 `Expired`, 422 `Invalid`.

        Raises: InvalidArgument when `code` is not the code of an error.
        """
        if not 400 <= code <= 599:
            raise InvalidArgument(f"fail({code}): not an error code (use one from 400 to 599)")
        self._failures.append(
            _Failure(times, match, lambda seen: error_for(code, retry_after, seen))
        )

    def refuse(self, error: StatusError, *, times: int | None = 1, match: Match = EVERY) -> None:
        """Reject the next `times` matching requests with the Status of `error`."""
        self._failures.append(_Failure(times, match, lambda _: error))

    def hold(self, match: Match = EVERY) -> Callable[[], None]:
        """Hold matching requests; the returned function releases them."""
        entry = (match, _Hold())
        self._held.append(entry)

        def release() -> None:
            entry[1].release()
            if entry in self._held:
                self._held.remove(entry)

        return release

    def cut_streams(
        self,
        *,
        after_bytes: int | None = None,
        after_events: int | None = None,
        match: Match = EVERY,
    ) -> None:
        """Interrupt each watch at that point, without the end of the chunked response."""
        self._cut = (Cut(after_bytes, after_events), match)

    def heal(self) -> None:
        """Remove all faults and release held requests; reactors and the record stay."""
        for _, held in self._held:
            held.release()
        self._held.clear()
        self._failures.clear()
        self._cut = None
        self.half_open = self.close_watches = False
        self.delivery_delay = self.response_delay = 0.0

    # --- for the server

    async def intercept(self, seen: SeenRequest, clock: Clock) -> Reply | SeenRequest:
        """Record a request and apply all faults to it; returns it unless a reactor responds.

        Raises:
            StatusError: the request is to fail.
        """
        self.record(seen)
        if not (self._failures or self._held or self.reactors or self.response_delay):
            return seen
        error = self._failure_for(seen)
        if error is not None:
            raise error
        await self._wait_while_held(seen)
        if self.response_delay:
            await clock.sleep(self.response_delay)
        return await self._react(seen)

    def cut_for(self, seen: SeenRequest) -> Cut | None:
        """Where the stream of this request is interrupted."""
        found = self._cut  # read once: another thread may call `heal`
        return found[0] if found is not None and found[1].fits(seen) else None

    def _failure_for(self, seen: SeenRequest) -> StatusError | None:
        for failure in list(self._failures):
            error = failure.take(seen)
            if failure.times == 0:
                with contextlib.suppress(ValueError):  # another thread may have called `heal`
                    self._failures.remove(failure)
            if error is not None:
                return error
        return None

    async def _wait_while_held(self, seen: SeenRequest) -> None:
        while holds := [held for match, held in list(self._held) if match.fits(seen)]:
            await holds[0].wait()

    async def _react(self, seen: SeenRequest) -> Reply | SeenRequest:
        for reactor in list(self.reactors):
            reaction = reactor(seen)
            if isinstance(reaction, Awaitable):
                reaction = await reaction
            if isinstance(reaction, Reply):
                return reaction
            if isinstance(reaction, SeenRequest):
                seen = reaction
        return seen


_INJECTED = "a fault was injected"
_MEDIA = ("application/json", "application/yaml")


def error_for(code: int, retry_after: int, seen: SeenRequest) -> StatusError:
    """The error that kube-apiserver would send for this request with this code."""
    error = _error_for_object(code, seen) or _error_for_request(code)
    error.status["code"] = code
    if retry_after:
        error.headers["Retry-After"] = str(retry_after)
        error.status.setdefault("details", {})["retryAfterSeconds"] = retry_after
    return error


def _error_for_object(code: int, seen: SeenRequest) -> StatusError | None:
    """The errors that name an object; None for all others."""
    group, plural = seen.group, seen.resource
    kind, name = _kind_and_name(seen)
    match code:
        case 403:
            where = f' in the namespace "{seen.namespace}"' if seen.namespace else ""
            why = (
                f'User "{seen.user}" cannot {seen.verb or seen.method.lower()} resource'
                f' "{plural}" in API group "{group}"{where}'
            )
            return forbidden(group, plural, name, why)
        case 404 if seen.verb == "create" and seen.namespace:
            return not_found("", "namespaces", seen.namespace)
        case 404:
            return not_found(group, plural, name) if name else unknown_resource()
        case 409 if seen.verb == "create":
            return already_exists(group, plural, name)
        case 409:
            return conflict(group, plural, name)
        case 422:
            message = f'Invalid value: "": {_INJECTED}'
            return invalid(group, kind, name, [Cause("metadata", "FieldValueInvalid", message)])
    return None


def _error_for_request(code: int) -> StatusError:
    match code:
        case 400:
            return bad_request(_INJECTED)
        case 401:
            return unauthorized()
        case 405:
            return method_not_allowed()
        case 406:
            return not_acceptable(_MEDIA)
        case 410:
            return expired("The resourceVersion for the provided list or watch is too old.")
        case 413:
            return request_entity_too_large(3 * 1024 * 1024)
        case 415:
            return unsupported_media_type(_MEDIA)
        case 429:
            return too_many_requests("Too many requests, please try again later.")
        case 503:
            return service_unavailable("the server is currently unable to handle the request")
        case 504:
            return timeout("request did not complete within the requested timeout")
    return internal_error(_INJECTED) if code >= 500 else untyped_error(_INJECTED)


def _kind_and_name(seen: SeenRequest) -> tuple[str, str]:
    """Kind and name of the object of a request, as far as the request has them."""
    try:
        body = msgspec.json.decode(seen.body, type=_Body)
    except msgspec.DecodeError:
        body = _Body()
    return body.kind or seen.resource, seen.name or body.metadata.name


class _Metadata(msgspec.Struct):
    name: str = ""


class _Body(msgspec.Struct):
    kind: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
