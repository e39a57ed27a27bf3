"""The HTTP side of the server: from bytes of a connection to a `Request`, and back.

Every request passes this handler chain, in this order; kube-apiserver's has the same steps:

    HostGuard.check          no other web page may use a server without credentials
    an Audit-Id              the client's, or a new one
    parse the request line, read the body (up to 3 MiB)
    Security.authenticate    certificate, token or anonymous; impersonation
    FlowControl.headers      its flow schema and priority level
    Faults.intercept         record the request; injected failures, delays, reactors
    Security.authorize       RBAC, if it is enabled
    Dispatcher.dispatch      the verb (a create is drawn in `verbs.writing`)
    SqliteFile.settle        a write is on disk before its response, if there is a file

Guarantees: a client always gets a Status and never a traceback, and no request stops the
server; a response of more than 128 KiB is compressed for clients that accept gzip.
See also: `dispatch` (what a request does), `streaming` (watches and logs),
`remote_commands`, `port_forwards` and `proxying` (connections to pods).
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, final
from urllib.parse import parse_qsl, unquote

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from kubeloop.kit import Clock, HostGuard

from ..access.flow_control import FlowControl
from ..access.security import Security
from ..describe.health import is_health_check
from ..faults import Faults, Reply, SeenRequest
from ..identity import User
from ..kubelet.programs import Programs
from ..request.negotiation import (
    JSON,
    Response,
    format_body,
    indent,
    is_pretty,
    negotiate,
    negotiate_plain,
    warning_headers,
)
from ..request.options import Query
from ..request.requests import Request, is_proxied, parse_request
from ..statuses import (
    StatusError,
    bad_request,
    cross_site_request,
    internal_error,
    request_entity_too_large,
    timeout,
)
from ..storage.store import encoded, new_uid
from ..verbs.connections import PodConnection, PortForward, RemoteCommand
from ..verbs.logs import Logs, LogStream
from ..verbs.proxies import Proxied
from .dispatch import Dispatcher, ListStream, WatchStream
from .streaming import Streamer

if TYPE_CHECKING:
    from .port_forwards import PortForwards
    from .proxying import Proxies
    from .remote_commands import RemoteCommands

__all__ = ["BODY_LIMIT", "HTTPHandler", "http_server"]

log = logging.getLogger(__name__)

BODY_LIMIT = 3 * 1024 * 1024  # MaxRequestBodyBytes of kube-apiserver
_COMPRESSED_FROM = 128 * 1024  # defaultGzipThresholdBytes of kube-apiserver
_IN_THREAD_FROM = 1024 * 1024  # larger bodies would block the event loop for too long
_BODY_SECONDS = 60.0  # until a client must have sent its body
_QUERY_FIELDS = 1000


@final
class HTTPHandler:
    """Reads requests from connections, has them carried out, and sends the responses."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        streamer: Streamer,
        *,
        programs: Programs,
        logs: Logs,
        faults: Faults,
        security: Security,
        flow_control: FlowControl,
        clock: Clock,
        guard: HostGuard | None = None,
        settle: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._streamer = streamer
        self._programs = programs
        self._logs = logs
        self._faults = faults
        self._security = security
        self._flow_control = flow_control
        self._clock = clock
        self._guard = guard  # None where requests need credentials
        self._settle = settle  # waits until all writes are on disk

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Respond to one request; raises only when cancelled or disconnected."""
        headers: CIMultiDict[str] = CIMultiDict()
        headers["Audit-Id"] = http.headers.get("Audit-ID") or new_uid()
        headers["Cache-Control"] = "no-cache, private"
        try:
            if self._guard is not None:
                blocked = self._guard.check(http.headers, target=http.raw_path)
                if blocked is not None:
                    # Before all else: it is not recorded, and no fault applies to it.
                    raise cross_site_request(blocked.code, blocked.message)
            return await self._handle(http, headers)
        except StatusError as error:
            return await self._reject(http, error, headers)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception:
            log.exception("%s %s: the server failed", http.method, http.path)
            return await self._reject(http, internal_error("the server failed"), headers)

    async def _handle(self, http: web.BaseRequest, headers: CIMultiDict[str]) -> web.StreamResponse:
        faults, security = self._faults, self._security
        if faults.half_open:
            await asyncio.Event().wait()
        path, query = _parse_target(http)
        # What a proxy passes on is not read: it may be large, or have no end.
        is_read = http.body_exists and not is_proxied(path)
        body = await self._read_body(http) if is_read else b""
        user: User | None = None
        unauthenticated: StatusError | None = None
        try:
            user = security.authenticate(http.headers, http.transport)
        except StatusError as error:
            # Raised later: tests see these requests, and faults apply to them, too.
            unauthenticated = error
        request, seen = parse_request(http.method, path, query, http.headers, body, user=user)
        headers.update(self._flow_control.headers(request))
        # Health checks are exempt: clients probe a silent watch at any time, and a test must
        # not see requests that it did not make, nor lose a fault to them.
        if request.resource is not None or not is_health_check(path):
            reply = await faults.intercept(seen, self._clock)
            if isinstance(reply, Reply):
                return await self._send(http, _final_response(reply), headers)
            if reply is not seen:
                request = _replaced(request, reply)
        if unauthenticated is not None:
            raise unauthenticated
        if security.decides:
            security.authorize(request)
        outcome = await self._dispatcher.dispatch(request)
        if not isinstance(outcome, Response):
            return await self._stream(http, outcome, seen, headers)
        if self._settle is not None and request.method not in {"GET", "HEAD"}:
            await self._settle()
        return await self._send(http, outcome, headers)

    async def _stream(
        self,
        http: web.BaseRequest,
        outcome: WatchStream | LogStream | ListStream | PodConnection | Proxied,
        seen: SeenRequest,
        headers: CIMultiDict[str],
    ) -> web.StreamResponse:
        match outcome:
            case WatchStream():
                return await self._streamer.send(http, outcome, seen, headers)
            case LogStream():
                return await self._streamer.send_log(http, outcome, headers)
            case ListStream():
                return await self._streamer.send_list(http, outcome, headers)
            case RemoteCommand():
                return await self._remote_commands.serve(http, outcome, headers)
            case PortForward():
                return await self._port_forwards.serve(http, outcome, headers)
            case Proxied():
                return await self._proxies.serve(http, outcome, headers)

    # Imported on first use: few tests connect to pods.

    @functools.cached_property
    def _remote_commands(self) -> RemoteCommands:
        from .remote_commands import RemoteCommands

        return RemoteCommands(self._programs, self._logs)

    @functools.cached_property
    def _port_forwards(self) -> PortForwards:
        from .port_forwards import PortForwards

        return PortForwards(self._programs)

    @functools.cached_property
    def _proxies(self) -> Proxies:
        from .proxying import Proxies

        return Proxies(self._programs)

    async def _read_body(self, http: web.BaseRequest) -> bytes:
        length = http.content_length
        if length is not None and length > BODY_LIMIT:
            raise request_entity_too_large(BODY_LIMIT)
        try:
            if http.content.is_eof():
                return await http.read()
            async with asyncio.timeout(_BODY_SECONDS):
                return await http.read()
        except web.HTTPRequestEntityTooLarge as error:
            raise request_entity_too_large(BODY_LIMIT) from error
        except TimeoutError as error:
            raise timeout("request did not complete within the allotted timeout") from error
        except (web.HTTPException, ValueError) as error:
            raise bad_request("the body of the request could not be read") from error
        except Exception as error:
            if isinstance(error, ConnectionError):
                raise
            # aiohttp has many exceptions for broken chunks and broken compression.
            raise bad_request("the body of the request could not be read") from error

    async def _reject(
        self, http: web.BaseRequest, error: StatusError, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        status = encoded(error.status)
        answer = Response(error.code, status, error.headers, warnings=error.warnings)
        response = await self._send(http, answer, headers)
        if error.code in {400, 403, 413} and not http.content.is_eof():
            response.force_close()  # the rest of the body is not read
        return response

    async def _send(
        self, http: web.BaseRequest, response: Response, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        body, media = response.body, response.media
        if not response.is_final and (media == JSON or response.options is not None):
            body, media = _format(http, response)
        headers["Content-Type"] = media
        headers.update(response.headers)
        if response.warnings:
            headers.extend(warning_headers(response.warnings))
        if len(body) > _COMPRESSED_FROM and "gzip" in http.headers.get("Accept-Encoding", ""):
            body = await _compress(body)
            headers["Content-Encoding"] = "gzip"
            headers.add("Vary", "Accept-Encoding")
        if not media:  # a response of kube-openapi without a body has no type
            del headers["Content-Type"]
        return web.Response(status=response.code, body=body, headers=headers)


def _final_response(reply: Reply) -> Response:
    return Response(reply.code, reply.content, reply.headers, reply.content_type, is_final=True)


def _format(http: web.BaseRequest, response: Response) -> tuple[bytes, str]:
    """Body and media type as the client requests them."""
    accept = http.headers.get("Accept", "")
    options = response.options
    if options is None:
        try:
            options = negotiate(accept) if response.code < 400 else negotiate_plain(accept)
        except StatusError:
            # An error is not hidden behind a 406 (WriteRawJSON).
            return indent(response.body), JSON
    pretty = is_pretty(http.raw_path, http.headers.get("User-Agent", ""))
    body = format_body(response.body, options, pretty=pretty)
    return body, options.media if response.media == JSON else response.media


def _parse_target(http: web.BaseRequest) -> tuple[str, Query]:
    """Path and query of the request line; aiohttp's own parser normalizes too much."""
    path, _, query = http.raw_path.partition("?")
    if "://" in path[:8]:
        path = http.path  # the absolute form, as proxies send it
    # An escaped slash belongs to a name: it is unescaped after the path is split.
    if "%" in path and "%2f" not in path.lower():
        path = unquote(path)
    if not query:
        return path, _NO_QUERY
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_QUERY_FIELDS)
    except ValueError as error:
        raise bad_request(f"the query cannot be read: {error}") from error
    return path, Query(pairs)


_NO_QUERY = Query()


async def _compress(body: bytes) -> bytes:
    if len(body) < _IN_THREAD_FROM:
        return gzip.compress(body, compresslevel=1, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, compresslevel=1, mtime=0)


class _Protocol(web.RequestHandler):
    """aiohttp's protocol; its own errors are sent as a Status, too."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if request.writer.output_size > 0:
            raise ConnectionError("a part of the response is sent already")
        if status == 500:
            log.error("%s %s: the server failed", request.method, request.path, exc_info=exc)
            error = internal_error("the server failed")
        else:
            log.debug("a request is not valid HTTP: %s", message)
            error = bad_request("the request is not valid HTTP")
            error.status["code"] = status
        response = web.Response(
            status=status, body=encoded(error.status), content_type="application/json"
        )
        response.force_close()
        return response


class _Server(web.Server):
    def __call__(self) -> web.RequestHandler:
        return _Protocol(self, loop=self._loop, **self._kwargs)

    def _make_request(
        self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any
    ) -> web.BaseRequest:
        return web.BaseRequest(
            message, payload, protocol, writer, task, self._loop, client_max_size=BODY_LIMIT
        )


def http_server(handler: HTTPHandler) -> web.Server:
    """The protocol factory that serves connections with `handler`."""
    # handler_cancellation: a client that disconnects cancels its request, above all its watch.
    return _Server(
        handler.handle,
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=75.0,
        lingering_time=1.0,
    )


def _replaced(request: Request, seen: SeenRequest) -> Request:
    """The request with the query and the body that a reactor has chosen."""
    query = Query((name, value) for name, values in seen.query.items() for value in values)
    return msgspec.structs.replace(request, query=query, body=seen.body)
