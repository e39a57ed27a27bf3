"""The one client for HTTP: requests in, answers, streams and watches out.

Promises: an answer that says no is an `ApiError`, no answer a `TransportError`, and
nothing else leaves; retries are those of `retry`, no more; how often and how much at
once is limited here and nowhere else; everything that waits asks the clock; being
cancelled closes what was open.
Elsewhere: making requests (`request`), kinds and verbs (`kubeloop.clients`).
"""

from __future__ import annotations

import random as chance
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self, final

import aiohttp
import msgspec

from kubeloop.config import ClusterConfig, Credentials
from kubeloop.errors import (
    ApiError,
    ClientClosed,
    StreamBroken,
    TimeoutExceeded,
    TransportError,
    api_error,
    status_from_response,
)
from kubeloop.kit import Clock, ConcurrencyLimit, Limiter, Random, SystemClock
from kubeloop.wire import get_logger

from .answer import Answer, error_of, is_success
from .attempts import Attempts
from .codec import Codec, JsonCodec
from .incoming import Incoming
from .limits import IN_FLIGHT, Place, Throttle
from .liveness import ServerProbe, SilenceLimits
from .metrics import RequestMetrics
from .request import Request
from .response_limits import DEFAULT_RESPONSE_LIMITS, ResponseLimits
from .retry import MAX_RETRIES, Call, UrlBackoff, is_retryable
from .streaming import ByteStream, ItemStream
from .timeouts import DEFAULT_TIMEOUTS, Timeouts
from .tracing import RequestTracer, Span, installed_tracer, no_span
from .transport import Transport
from .warnings import WarningHandler, WarningLog, parse_warnings
from .watch import Watch, with_life

__all__ = ["RESTClient", "RESTStats"]

log = get_logger(__name__)


class RESTStats(msgspec.Struct, frozen=True):
    """What a client has done so far."""

    requests: int  # attempts, the first ones and the others
    retries: int
    failures: int  # attempts without an answer
    in_flight: int  # those that wait for a retry are not
    waiting: int  # for a place in flight
    watches: int  # opened so far
    probes: int  # of the server, while watches were silent; not among the requests
    renewals: int  # of the credentials, after a 401
    tls_contexts: int
    ca_reloads: Mapping[tuple[str, str], int]


@final
class RESTClient:
    """Talks to one server.

    `max_retries` may be exceeded by no request; `in_flight` bounds calls of `send` at
    once; streams and watches are not counted, since they last. `response_limits` bounds how
    much of a response is read. `codec` is what requests and answers go by that name no format
    themselves; see `Codec` for what it does not change.

        async with RESTClient(ClusterConfig.load()) as rest:
            answer = await rest.send(path_request("GET", "/version"))
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        clock: Clock | None = None,
        credentials: Credentials | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        response_limits: ResponseLimits = DEFAULT_RESPONSE_LIMITS,
        limiter: Limiter | None = None,
        in_flight: int = IN_FLIGHT,
        max_retries: int = MAX_RETRIES,
        codec: Codec | None = None,
        warnings: WarningHandler | None = None,
        metrics: RequestMetrics | None = None,
        tracer: RequestTracer | None = None,
        user_agent: str = "",
        environ: Mapping[str, str] | None = None,
        random: Random = chance.random,
    ) -> None:
        # Keeps its arguments and no more: no file, no session before the first request.
        self._config = config
        self._clock = clock or SystemClock()
        self._timeouts = timeouts
        self._max_retries = max_retries
        self._in_flight = in_flight
        self._gate: ConcurrencyLimit | None = None
        self._limits = response_limits
        self._codec = codec or JsonCodec(event_limit=response_limits.event)
        self._warnings = warnings or WarningLog()
        self._metrics = metrics
        self._tracer = tracer
        self._random = random
        self._transport = Transport(
            config,
            clock=self._clock,
            credentials=credentials,
            user_agent=user_agent,
            metrics=metrics,
        )
        self._attempts = Attempts(
            self._transport,
            clock=self._clock,
            codec=self._codec,
            timeouts=timeouts,
            max_retries=max_retries,
            timeout=config.timeout,
            throttle=Throttle(limiter, clock=self._clock) if limiter else None,
            backoff=UrlBackoff.from_environ(environ),
            metrics=metrics,
            random=random,
        )
        self._watches = 0
        self._probe = ServerProbe(self._attempts.probe, clock=self._clock)

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection; what still runs on them ends. Safe to repeat."""
        try:
            await self._transport.aclose()
        finally:
            await self._probe.aclose()

    @property
    def config(self) -> ClusterConfig:
        return self._config

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def codec(self) -> Codec:
        return self._codec

    @property
    def max_retries(self) -> int:
        """How often a request is sent again where it does not say."""
        return self._max_retries

    def url(self, request: Request) -> str:
        """The whole URL that the request goes to."""
        return self._attempts.url(request)

    async def send(self, request: Request, *, warnings: WarningHandler | None = None) -> Answer:
        """Send and wait for the whole answer.

        Safe to cancel: the connection is closed; what was sent may have been done.

        Raises:
            ApiError: the server said no.
            InFlightTimeout: as many calls as allowed were under way for too long.
            ResponseTooLarge: the response is larger than its limit.
            TransportError: no whole answer came in time.
            ConfigError: credentials or certificates could not be had.
        """
        await self._attempts.turn(request)
        gate = self._gate or self._first_use()
        began = self._clock.now()
        slot = Place(
            gate,
            request=request,
            clock=self._clock,
            within=(request.timeouts or self._timeouts).slot,
            deadline=self._deadline(request),
        )
        async with slot:
            if self._tracer is None and self._metrics is None:
                return await self._send(request, warnings, slot)
            with self._span(request) as span:
                return await self._observed(request, warnings, slot, span, began)

    def watch(
        self,
        request: Request,
        *,
        life: float | None = None,
        warnings: WarningHandler | None = None,
    ) -> Watch:
        """A watch that is opened when it is entered or first read.

        `life` is when it ends at the latest, in seconds; without it 5 to 10 minutes, at
        random, which the server is told as well unless the request says otherwise.
        """
        if life is None:
            request, life = with_life(request, random=self._random)

        async def opener() -> Incoming | TransportError:
            return await self._open_watch(request, warnings)

        timeouts = request.timeouts or self._timeouts
        return Watch(
            opener,
            action=request.action,
            reader=self._codec.events(),
            clock=self._clock,
            life=life,
            limits=SilenceLimits(timeouts.probe_after, timeouts.idle),
            probe=self._probe,
        )

    def stream(self, request: Request, *, warnings: WarningHandler | None = None) -> ByteStream:
        """A body read in pieces: logs, mostly. Opened when it is entered or first read.

        A log that is followed may be silent for long: give its request
        `timeouts=Timeouts(idle=None)`.
        """

        async def opener() -> Incoming:
            return await self._open_stream(request, warnings)

        return ByteStream(opener, action=request.action, limit=self._limits.for_document())

    def items(self, request: Request, *, warnings: WarningHandler | None = None) -> ItemStream:
        """The items of a list one by one, with memory that does not depend on its length."""

        async def opener() -> Incoming:
            incoming = await self._open_stream(request, warnings)
            incoming.limit_to(self._limits.for_success(request))
            return incoming

        return ItemStream(opener, action=request.action, item_limit=self._limits.object)

    async def websocket(
        self,
        request: Request,
        *,
        protocols: tuple[str, ...] = (),
        heartbeat: float | None = None,
        max_size: int | None = None,
    ) -> aiohttp.ClientWebSocketResponse:
        """Open a websocket; the caller closes it.

        A message may have `max_size` bytes, as many as an object by default; 0 is no limit.

        Raises:
            ApiError: the server refused to switch.
            TransportError: no answer came.
        """
        try:
            return await self._transport.websocket(
                request,
                self.url(request),
                protocols=protocols,
                timeouts=request.timeouts or self._timeouts,
                heartbeat=heartbeat,
                max_size=(self._limits.object or 0) if max_size is None else max_size,
            )
        except aiohttp.WSServerHandshakeError as error:
            status = status_from_response(
                error.status,
                verb=request.method,
                resource=request.resource,
                name=request.name,
                body=error.message.encode(),
            )
            raise api_error(request.action, status) from error

    def stats(self) -> RESTStats:
        transport, tried = self._transport.stats(), self._attempts.stats()
        gate = self._gate.stats() if self._gate else None
        return RESTStats(
            requests=tried.attempts,
            retries=tried.retries,
            failures=tried.failures,
            in_flight=gate.in_use if gate else 0,
            waiting=gate.waiting if gate else 0,
            watches=self._watches,
            probes=self._probe.probes,
            renewals=transport.renewals,
            tls_contexts=transport.tls_contexts,
            ca_reloads=transport.ca_reloads,
        )

    def __repr__(self) -> str:
        return f"RESTClient({self._transport.server})"

    # --- whole answers

    def _deadline(self, request: Request) -> float | None:
        """When a call ends that begins now, with its retries and the wait for a slot."""
        whole = request.timeout or self._config.timeout if request.timeout != 0 else 0
        seconds = whole or (request.timeouts or self._timeouts).whole
        return None if seconds is None else self._clock.now() + seconds

    async def _send(
        self, request: Request, warnings: WarningHandler | None, place: Place
    ) -> Answer:
        deadline = place.deadline
        incoming = await self._attempts.open(request, Call.SEND, deadline, place=place)
        status = incoming.status
        self._hand_on_warnings(incoming, warnings)
        if not is_success(status):
            raise await self._refusal(request, incoming, deadline)
        incoming.limit_to(self._limits.for_success(request))
        body = await incoming.read(deadline=deadline)
        return Answer(request, status, incoming.headers, body, self._codec)

    async def _observed(
        self,
        request: Request,
        warnings: WarningHandler | None,
        place: Place,
        span: Span,
        began: float,
    ) -> Answer:
        """Send, and tell those who count and trace."""
        received = 0
        try:
            answer = await self._send(request, warnings, place)
            received = len(answer.body)
            span.set_attribute("http.response.status_code", answer.status)
        except ApiError as error:
            span.set_attribute("http.response.status_code", error.code)
            raise
        except TransportError as error:
            span.set_attribute("error.type", type(error).__name__)
            raise
        finally:
            if self._metrics is not None:
                self._metrics.request(
                    verb=request.method,
                    host=self._transport.host,
                    seconds=self._clock.now() - began,
                    sent=len(request.body or b""),
                    received=received,
                )
        return answer

    def _first_use(self) -> ConcurrencyLimit:
        """What is found out as late as can be: by now a program has set itself up."""
        self._gate = ConcurrencyLimit(self._in_flight)
        self._tracer = self._tracer or installed_tracer()
        return self._gate

    def _span(self, request: Request) -> AbstractContextManager[Span]:
        if self._tracer is None:
            return no_span()
        return self._tracer.span(request, server=self._transport.host)

    # --- opening what lasts

    async def _open_watch(
        self, request: Request, warnings: WarningHandler | None
    ) -> Incoming | TransportError:
        """The head of a watch; the last failure when only retryable attempts have failed."""
        self._watches += 1
        try:
            incoming = await self._attempts.open(request, Call.WATCH, None)
        except TransportError as error:
            if not is_retryable(error, call=Call.WATCH, method=request.method):
                raise
            log.info("%s", error)
            return error
        return await self._accepted(incoming, request, warnings, success=incoming.status == 200)

    async def _open_stream(self, request: Request, warnings: WarningHandler | None) -> Incoming:
        await self._attempts.turn(request)
        incoming = await self._attempts.open(request, Call.STREAM, None)
        success = 200 <= incoming.status < 300
        return await self._accepted(incoming, request, warnings, success=success)

    async def _accepted(
        self,
        incoming: Incoming,
        request: Request,
        warnings: WarningHandler | None,
        *,
        success: bool,
    ) -> Incoming:
        self._hand_on_warnings(incoming, warnings)
        if success:
            return incoming
        seconds = (request.timeouts or self._timeouts).answer
        deadline = None if seconds is None else self._clock.now() + seconds
        raise await self._refusal(request, incoming, deadline)

    async def _refusal(
        self, request: Request, incoming: Incoming, deadline: float | None
    ) -> ApiError:
        """The error for a response that is not a success; its code outweighs a useless body."""
        body, not_read = b"", ""
        try:
            incoming.limit_to(self._limits.for_error())
            body = await incoming.read(deadline=deadline)
        except TransportError as error:
            if isinstance(error, ClientClosed | StreamBroken | TimeoutExceeded):
                raise
            place = f"{request.action}: {self._transport.server}: "
            not_read = f" (its body was not read: {error.summary.removeprefix(place)})"
        refusal = error_of(
            request,
            incoming.status,
            incoming.headers,
            body,
            codec=self._codec,
            before=incoming.before,
        )
        if not_read:
            refusal.status.message = f"{refusal.status.message or ''}{not_read}".strip()
        return refusal

    def _hand_on_warnings(self, incoming: Incoming, handler: WarningHandler | None) -> None:
        if "Warning" not in incoming.headers:
            return
        handler = handler or self._warnings
        for warning in parse_warnings(incoming.all_of("Warning")):
            try:
                handler(warning)
            except Exception:
                log.exception("a handler of warnings failed")
