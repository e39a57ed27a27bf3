"""The HTTP client: takes requests, returns responses, streams and watches.

Guarantees: an unsuccessful response is an `ApiError`, a missing one a `TransportError`, and
nothing else is raised; `retry` decides about every retry; rate limit and in-flight limit are
applied here and nowhere else; every wait uses the clock; a cancelled call closes its connection.
See also: `request` (creating requests), `kubeloop.clients` (kinds and verbs).
"""

from __future__ import annotations

import os
import random as chance
import weakref
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, final

import msgspec

from kubeloop.config import ClusterConfig, Credentials
from kubeloop.errors import (
    ApiError,
    ClientClosed,
    StreamBroken,
    TimeoutExceeded,
    TransportError,
)
from kubeloop.kit import Clock, ConcurrencyLimit, Limiter, Random, SystemClock
from kubeloop.wire import get_logger

from .attempts import Attempts
from .codec import Codec, JsonCodec
from .dial import DialFunction
from .incoming import IncomingResponse
from .limits import IN_FLIGHT, RequestRateLimiter
from .liveness import ServerProbe, SilenceLimits
from .metrics import GuardedMetrics, RequestMetrics
from .request import Headers, Request
from .response import Response, error_of, is_success
from .response_limits import DEFAULT_RESPONSE_LIMITS, ResponseLimits
from .retry import MAX_RETRIES, Call, UrlBackoff, is_retryable
from .streams import ByteStream, ItemStream
from .timeouts import DEFAULT_TIMEOUTS, Timeouts
from .tracing import RequestTracer, Span, installed_tracer, no_span
from .transport import RequestHook, Transport
from .warnings import WarningHandler, WarningLog, parse_warnings
from .watch import Watch, with_timeout

if TYPE_CHECKING:  # loaded when a WebSocket is opened
    from .websocket import WebSocket

__all__ = ["RESTClient", "RESTStats"]

log = get_logger(__name__)


class RESTStats(msgspec.Struct, frozen=True):
    """Numbers of one client."""

    requests: int  # attempts, retries included
    retries: int
    failures: int  # attempts without a response
    in_flight: int  # calls; without those that back off before a retry
    waiting: int  # calls that wait for an in-flight slot
    watches: int  # opened so far
    probes: int  # of the server, while watches were silent; not counted as requests
    credential_refreshes: int  # after a 401
    tls_contexts: int
    ca_reloads: Mapping[tuple[str, str], int]
    # Resources that are read as JSON, although protobuf was requested: see `Client(format=…)`.
    json_only: tuple[str, ...] = ()


@final
class RESTClient:
    """Sends requests to one server.

    `max_retries` is the limit for requests that set none; `in_flight` limits concurrent calls
    of `send` (streams and watches are not counted, since they last). `response_limits` limits
    the size of a response. `codec` is for requests and responses that name no format; see
    `Codec` for what it does not change.

    `headers` are sent with every request. `hooks` are called for every attempt, and may observe
    or change requests and heads of responses; they see no credentials of the client. `dial`
    opens the connections in place of the client: it gets host and port of the server, or of its
    proxy, and returns a connected socket, such as that of a tunnel.

        async with RESTClient(ClusterConfig.load()) as rest:
            response = await rest.send(path_request("GET", "/version"))
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
        headers: Headers = (),
        hooks: Iterable[RequestHook] = (),
        dial: DialFunction | None = None,
        environ: Mapping[str, str] | None = None,
        random: Random = chance.random,
    ) -> None:
        # Stores its arguments: no file is read and no session opened before the first request.
        self._config = config
        self._clock = clock or SystemClock()
        self._timeouts = timeouts
        self._max_retries = max_retries
        self._in_flight = in_flight
        self._gate: ConcurrencyLimit | None = None
        _clients.add(self)
        self._limits = response_limits
        self._codec = codec or JsonCodec(event_limit=response_limits.event)
        self._warnings = warnings or WarningLog()
        self._metrics = metrics = GuardedMetrics(metrics) if metrics is not None else None
        self._tracer = tracer
        self._random = random
        self._transport = Transport(
            config,
            clock=self._clock,
            credentials=credentials,
            user_agent=user_agent,
            headers=headers,
            hooks=hooks,
            dial=dial,
            metrics=metrics,
        )
        self._attempts = Attempts(
            self._transport,
            clock=self._clock,
            codec=self._codec,
            timeouts=timeouts,
            max_retries=max_retries,
            rate_limiter=RequestRateLimiter(limiter, clock=self._clock) if limiter else None,
            backoff=UrlBackoff.from_environ(environ),
            metrics=metrics,
            random=random,
        )
        self._limiter = limiter
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
        """Close every connection; calls that still use one fail. Safe to repeat."""
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
    def limiter(self) -> Limiter | None:
        """The rate limiter that every request waits for, if there is one."""
        return self._limiter

    @property
    def max_retries(self) -> int:
        """The number of retries for requests that do not set it."""
        return self._max_retries

    def url(self, request: Request) -> str:
        """The whole URL of the request."""
        return self._transport.url(request)

    def send(
        self, request: Request, *, warnings: WarningHandler | None = None
    ) -> Coroutine[Any, Any, Response]:
        """Send the request and read the whole response.

        Safe to cancel: the connection is closed; the server may have executed the request.

        Raises:
            ApiError: the response is not a success.
            InFlightTimeout: no in-flight slot became free in time.
            ResponseTooLarge: the response is larger than its limit.
            TransportError: no whole response arrived in time.
            ConfigError: credentials or certificates are not available.
        """
        # Not a coroutine itself: each layer of them costs a step when the response arrives.
        gate = self._gate or self._set_up()
        if self._tracer is None and self._metrics is None:
            return self._send(request, warnings, gate)
        return self._send_observed(request, warnings, gate)

    def watch(
        self,
        request: Request,
        *,
        max_duration: float | None = None,
        warnings: WarningHandler | None = None,
    ) -> Watch:
        """A watch that is opened when it is entered or first read.

        `max_duration` ends it after so many seconds. The default is 5 to 10 minutes, at random,
        and is sent to the server as `timeoutSeconds` unless the request has its own.
        """
        if max_duration is None:
            request, max_duration = with_timeout(request, random=self._random)

        async def opener() -> IncomingResponse | TransportError:
            return await self._open_watch(request, warnings)

        timeouts = request.timeouts or self._timeouts
        return Watch(
            opener,
            action=request.action,
            reader=self._codec.events(),
            event_limit=self._limits.event,
            clock=self._clock,
            max_duration=max_duration,
            limits=SilenceLimits(timeouts.probe_after, timeouts.idle),
            probe=self._probe,
        )

    def stream(self, request: Request, *, warnings: WarningHandler | None = None) -> ByteStream:
        """A body that is read in chunks, such as a log; opened when it is entered or first read.

        A log that is followed may be silent for a long time: set `timeouts=Timeouts(idle=None)`
        in its request.
        """

        async def opener() -> IncomingResponse:
            return await self._open_stream(request, warnings)

        return ByteStream(opener, action=request.action, limit=self._limits.for_document())

    def items(self, request: Request, *, warnings: WarningHandler | None = None) -> ItemStream:
        """The items of a list one by one; memory does not grow with the length of the list."""

        async def opener() -> IncomingResponse:
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
    ) -> WebSocket:
        """Open a WebSocket; the caller closes it.

        `max_size` limits the bytes of a message, by default as for an object; 0 is no limit.

        Raises:
            ApiError: the server rejected the upgrade.
            TransportError: there was no response.
        """
        found = await self._transport.websocket(
            request,
            protocols=protocols,
            timeouts=request.timeouts or self._timeouts,
            heartbeat=heartbeat,
            max_size=self._limits.object if max_size is None else max_size or None,
        )
        if isinstance(found, IncomingResponse):
            await self._check_status(found, request, None, success=False)
            raise AssertionError("a response without a switch of protocols is an error")
        return found

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
            credential_refreshes=transport.credential_refreshes,
            tls_contexts=transport.tls_contexts,
            ca_reloads=transport.ca_reloads,
        )

    def __repr__(self) -> str:
        return f"RESTClient({self._transport.server})"

    # --- whole responses

    async def _send(
        self, request: Request, warnings: WarningHandler | None, gate: ConcurrencyLimit
    ) -> Response:
        if self._limiter is not None:
            await self._attempts.wait_for_rate_limiter(request)
        began = self._clock.now()
        own = request.timeout or self._config.timeout if request.timeout != 0 else 0
        seconds = own or (request.timeouts or self._timeouts).total
        deadline = None if seconds is None else began + seconds  # of all attempts
        attempts = self._attempts
        incoming = await attempts.open(request, Call.SEND, deadline, began=began, gate=gate)
        try:
            if "warning" in incoming.headers.first:
                self._report_warnings(incoming, warnings)
            status = incoming.status
            if status != 200 and not is_success(status):
                raise await self._response_error(request, incoming, deadline)
            body = await incoming.read(self._limits.for_success(request), deadline=deadline)
        finally:
            gate.release()
        return Response(request, status, incoming.headers, body, self._codec)

    async def _send_observed(
        self,
        request: Request,
        warnings: WarningHandler | None,
        gate: ConcurrencyLimit,
    ) -> Response:
        """Send, and report to metrics and tracer."""
        began, received = self._clock.now(), 0
        with self._span(request) as span:
            try:
                response = await self._send(request, warnings, gate)
                received = len(response.body)
                span.set_attribute("http.response.status_code", response.status)
            except ApiError as error:
                span.set_attribute("http.response.status_code", error.code)
                raise
            except TransportError as error:
                span.set_attribute("error.type", type(error).__name__)
                raise
            finally:
                if self._metrics is not None:
                    self._metrics.observe_request(
                        verb=request.method,
                        host=self._transport.host,
                        seconds=self._clock.now() - began,
                        sent=len(request.body or b""),
                        received=received,
                    )
            return response

    def _set_up(self) -> ConcurrencyLimit:
        """Create what depends on the running program: its event loop, and its tracing."""
        self._gate = ConcurrencyLimit(self._in_flight)
        self._tracer = self._tracer or installed_tracer()
        return self._gate

    def _span(self, request: Request) -> AbstractContextManager[Span]:
        if self._tracer is None:
            return no_span()
        return self._tracer.span(request, server=self._transport.host)

    # --- opening streams

    async def _open_watch(
        self, request: Request, warnings: WarningHandler | None
    ) -> IncomingResponse | TransportError:
        """The head of a watch; the last failure if all attempts failed and may be retried."""
        self._watches += 1
        try:
            now = self._clock.now()
            incoming = await self._attempts.open(request, Call.WATCH, None, began=now)
        except TransportError as error:
            if not is_retryable(error, call=Call.WATCH, method=request.method):
                raise
            log.info("%s", error)
            return error
        return await self._check_status(incoming, request, warnings, success=incoming.status == 200)

    async def _open_stream(
        self, request: Request, warnings: WarningHandler | None
    ) -> IncomingResponse:
        await self._attempts.wait_for_rate_limiter(request)
        now = self._clock.now()
        incoming = await self._attempts.open(request, Call.STREAM, None, began=now)
        success = 200 <= incoming.status < 300
        return await self._check_status(incoming, request, warnings, success=success)

    async def _check_status(
        self,
        incoming: IncomingResponse,
        request: Request,
        warnings: WarningHandler | None,
        *,
        success: bool,
    ) -> IncomingResponse:
        self._report_warnings(incoming, warnings)
        if success:
            return incoming
        seconds = (request.timeouts or self._timeouts).response
        deadline = None if seconds is None else self._clock.now() + seconds
        raise await self._response_error(request, incoming, deadline)

    async def _response_error(
        self, request: Request, incoming: IncomingResponse, deadline: float | None
    ) -> ApiError:
        """The error for an unsuccessful response; its status counts even if its body is useless."""
        body, not_read = b"", ""
        try:
            body = await incoming.read(self._limits.for_error(), deadline=deadline)
        except TransportError as error:
            if isinstance(error, ClientClosed | StreamBroken | TimeoutExceeded):
                raise
            prefix = f"{request.action}: {self._transport.server}: "
            not_read = f" (its body was not read: {error.summary.removeprefix(prefix)})"
        return error_of(
            request,
            incoming.status,
            incoming.headers,
            body,
            codec=self._codec,
            before=incoming.before,
            note=not_read,
        )

    def _report_warnings(self, incoming: IncomingResponse, handler: WarningHandler | None) -> None:
        if "Warning" not in incoming.headers:
            return
        handler = handler or self._warnings
        for warning in parse_warnings(incoming.headers.all_of("Warning")):
            try:
                handler(warning)
            except Exception:
                log.exception("%s: the warning handler failed", incoming.request.action)


_clients: weakref.WeakSet[RESTClient] = weakref.WeakSet()


def _forget_slots() -> None:
    """In a forked child: no call of the parent runs here, and none releases its slot."""
    for each in _clients:
        each._gate = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_slots)
