"""Faults on purpose, reactors, and the record of what was asked.

Promises: every switch works while the server runs and ends when it is switched back; what
is not switched on costs nothing; reactors see each request before the server does.
Elsewhere: faults of the whole process, such as refused connections, rotated certificates
and restarts (`service`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.wire import InvalidArgument

from .statuses import (
    Cause,
    Refusal,
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
    unexplained,
    unknown_resource,
    unsupported_media_type,
)
from .storage.store import encoded

__all__ = ["Cut", "Faults", "Match", "Reaction", "Reactor", "Reply", "SeenRequest"]

RECORD = 10_000  # requests kept
RECORD_BYTES = 64 * 1024 * 1024  # of their bodies


@final
class SeenRequest(msgspec.Struct, frozen=True):
    """One request as reactors and assertions see it."""

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
        # Headers and bodies hold secrets.
        return f"SeenRequest({self.method} {self.path}, verb={self.verb!r})"

    def json(self) -> Any:
        """The body as a value; None for an empty one."""
        return msgspec.json.decode(self.body) if self.body else None


@final
class Reply(msgspec.Struct, frozen=True):
    """An answer that a reactor gives in the server's place; `body` is JSON or bytes."""

    code: int = 200
    body: Any = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    content_type: str = "application/json"

    @property
    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return b"" if self.body is None else encoded(self.body)


Reaction: TypeAlias = SeenRequest | Reply | None
# Answers with a `Reply`, changes with a `SeenRequest`, refuses by raising `Refusal`, or
# leaves the request alone with None.
Reactor: TypeAlias = Callable[[SeenRequest], Reaction | Awaitable[Reaction]]


@final
class Match(msgspec.Struct, frozen=True):
    """Which requests a fault is about: those that fit all that is given."""

    verb: str = ""
    resource: str = ""
    name: str = ""
    namespace: str = ""
    subresource: str | None = None

    def fits(self, seen: SeenRequest) -> bool:
        asked = ("verb", "resource", "name", "namespace")
        if any(getattr(self, each) not in {"", getattr(seen, each)} for each in asked):
            return False
        return self.subresource in {None, seen.subresource}


EVERY = Match()


@final
class Cut(msgspec.Struct, frozen=True):
    """Where a stream breaks off: after so many bytes, or after so many events."""

    after_bytes: int | None = None
    after_events: int | None = None


class _Failure:
    """A number of requests still to be refused."""

    def __init__(
        self, times: int | None, match: Match, make: Callable[[SeenRequest], Refusal]
    ) -> None:
        self.times = times  # None: until it is switched off
        self.match = match
        self.make = make

    def take(self, seen: SeenRequest) -> Refusal | None:
        if self.times == 0 or not self.match.fits(seen):
            return None
        if self.times is not None:
            self.times -= 1
        return self.make(seen)


class _Hold:
    """What held requests wait for; a test may let them go from another thread."""

    def __init__(self) -> None:
        self._gone = False
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    async def wait(self) -> None:
        event = asyncio.Event()
        self._waiting[event] = asyncio.get_running_loop()
        try:
            if not self._gone:
                await event.wait()
        finally:
            del self._waiting[event]

    def let_go(self) -> None:
        self._gone = True
        for event, loop in list(self._waiting.items()):
            loop.call_soon_threadsafe(event.set)


@final
class Faults:
    """The switches of one server; a test flips them while the server runs, from any thread."""

    def __init__(self, *, record: int = RECORD) -> None:
        self.requests: deque[SeenRequest] = deque(maxlen=record)
        self._bytes = 0  # of the bodies in the record
        self.reactors: list[Reactor] = []
        self.half_open = False  # accept, never answer, never close
        self.close_watches = False  # end each watch as soon as it begins
        self.delivery_delay = 0.0  # seconds that each batch of watch events waits
        self.answer_delay = 0.0  # seconds that each answer waits
        self._cut: tuple[Cut, Match] | None = None
        self._failures: list[_Failure] = []
        self._held: list[tuple[Match, _Hold]] = []

    @property
    def idle(self) -> bool:
        """Whether nothing is switched on that a request could meet."""
        return not (
            self._failures or self._held or self.reactors or self.half_open or self.answer_delay
        )

    def record(self, seen: SeenRequest) -> None:
        """Remember a request, and forget the oldest beyond what may be kept."""
        if len(self.requests) == self.requests.maxlen:
            self._bytes -= len(self.requests.popleft().body)
        self.requests.append(seen)
        self._bytes += len(seen.body)
        while self._bytes > RECORD_BYTES:
            self._bytes -= len(self.requests.popleft().body)

    def clear_record(self) -> None:
        """Forget all requests so far."""
        self.requests.clear()
        self._bytes = 0

    # --- switches

    def fail(
        self,
        code: int = 500,
        *,
        times: int | None = 1,
        retry_after: int = 0,
        match: Match = EVERY,
    ) -> None:
        """Answer the next `times` requests that fit with `code`; None: until `heal`.

        The Status is one that kube-apiserver sends with that code, so that a client raises what
        it raises for a real one: 404 is `NotFound`, 409 `AlreadyExists` of a create and else
        `Conflict`, 410 `Expired`, 422 `Invalid`.

        Raises: InvalidArgument when `code` is not the code of an error.
        """
        if not 400 <= code <= 599:
            raise InvalidArgument(
                f"fail({code}): not the code of an error (give one of 400 to 599)"
            )
        self._failures.append(
            _Failure(times, match, lambda seen: _refusal(code, retry_after, seen))
        )

    def refuse(self, refusal: Refusal, *, times: int | None = 1, match: Match = EVERY) -> None:
        """Refuse the next `times` requests that fit with a Status of your own."""
        self._failures.append(_Failure(times, match, lambda _: refusal))

    def hold(self, match: Match = EVERY) -> Callable[[], None]:
        """Hold the answers to requests that fit; call what is returned to let them go."""
        entry = (match, _Hold())
        self._held.append(entry)

        def release() -> None:
            entry[1].let_go()
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
        """Break off each watch there, without a proper end."""
        self._cut = (Cut(after_bytes, after_events), match)

    def heal(self) -> None:
        """Switch everything off and let go what is held; reactors and the record stay."""
        for _, held in self._held:
            held.let_go()
        self._held.clear()
        self._failures.clear()
        self._cut = None
        self.half_open = self.close_watches = False
        self.delivery_delay = self.answer_delay = 0.0

    # --- what the server asks

    def cut_for(self, seen: SeenRequest) -> Cut | None:
        """Where the stream of this request breaks off."""
        found = self._cut  # looked at once: another thread may heal meanwhile
        return found[0] if found is not None and found[1].fits(seen) else None

    def failure_for(self, seen: SeenRequest) -> Refusal | None:
        """The refusal that this request gets on purpose."""
        for failure in list(self._failures):
            refusal = failure.take(seen)
            if failure.times == 0:
                with contextlib.suppress(ValueError):  # healed meanwhile, by another thread
                    self._failures.remove(failure)
            if refusal is not None:
                return refusal
        return None

    async def wait_while_held(self, seen: SeenRequest) -> None:
        """Wait until nobody holds this request. Safe to cancel."""
        while holds := [held for match, held in list(self._held) if match.fits(seen)]:
            await holds[0].wait()

    async def react(self, seen: SeenRequest) -> Reply | SeenRequest:
        """What the reactors make of a request, in the order they were added."""
        for reactor in list(self.reactors):
            said = reactor(seen)
            if isinstance(said, Awaitable):
                said = await said
            if isinstance(said, Reply):
                return said
            if isinstance(said, SeenRequest):
                seen = said
        return seen


_ON_PURPOSE = "a fault was switched on"
_MEDIA = ("application/json", "application/yaml")


def _refusal(code: int, retry_after: int, seen: SeenRequest) -> Refusal:
    """What kube-apiserver would answer to this request with this code."""
    refusal = _for_object(code, seen) or _for_request(code)
    refusal.status["code"] = code
    if retry_after:
        refusal.headers["Retry-After"] = str(retry_after)
        refusal.status.setdefault("details", {})["retryAfterSeconds"] = retry_after
    return refusal


def _for_object(code: int, seen: SeenRequest) -> Refusal | None:
    """The refusals that name an object; None for all others."""
    group, plural = seen.group, seen.resource
    kind, name = _named(seen)
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
            message = f'Invalid value: "": {_ON_PURPOSE}'
            return invalid(group, kind, name, [Cause("metadata", "FieldValueInvalid", message)])
    return None


def _for_request(code: int) -> Refusal:
    match code:
        case 400:
            return bad_request(_ON_PURPOSE)
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
    return internal_error(_ON_PURPOSE) if code >= 500 else unexplained(_ON_PURPOSE)


def _named(seen: SeenRequest) -> tuple[str, str]:
    """Kind and name of the object that a request is about, as far as it says so."""
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
