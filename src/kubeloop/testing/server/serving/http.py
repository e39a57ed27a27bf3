"""The HTTP side: sockets to values and back, and nothing else.

Promises: whatever a client sends, it gets a Status and never a traceback, and the server
lives; a body is read up to 3 MiB; an answer of more than 128 KiB is compressed for those
who accept that.
Elsewhere: what a request brings about (`dispatch`), watches (`streaming`).
"""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import Awaitable, Callable
from typing import Any, final
from urllib.parse import parse_qsl, unquote

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from kubeloop.kit import Clock, HostGuard

from ..access.security import Security
from ..describe.document_handler import DocumentHandler, is_health_check
from ..faults import Faults, Reply, SeenRequest
from ..request.incoming import Incoming, incoming, seen_of
from ..request.negotiation import JSON, YAML, Answer, wanted, warning_headers
from ..request.options import Query
from ..statuses import (
    Refusal,
    bad_request,
    from_web_page,
    internal_error,
    request_entity_too_large,
    timeout,
)
from ..storage.store import encoded
from ..verbs.logs import Following
from .dispatch import Dispatcher, Outcome, Stream
from .streaming import Streamer

__all__ = ["BODY_LIMIT", "Gateway", "listener"]

log = logging.getLogger(__name__)

BODY_LIMIT = 3 * 1024 * 1024
_COMPRESSED_FROM = 128 * 1024
_IN_THREAD_FROM = 1024 * 1024
_BODY_SECONDS = 60.0  # a client that sends slower than that is given up
_QUERY_FIELDS = 1000


@final
class Gateway:
    """Reads requests from sockets, has them carried out, and sends the answers."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        documents: DocumentHandler,
        streamer: Streamer,
        *,
        faults: Faults,
        security: Security,
        clock: Clock,
        guard: HostGuard | None = None,
        settle: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._documents = documents
        self._streamer = streamer
        self._faults = faults
        self._security = security
        self._clock = clock
        self._guard = guard  # None: requests have to bring credentials
        self._settle = settle  # waits until what was written is safe

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; never raises but for cancellation."""
        try:
            return await self._handle(request)
        except Refusal as refusal:
            return await self._refused(request, refusal)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception:
            log.exception("%s %s: the server failed", request.method, request.path)
            return await self._refused(request, internal_error("the server failed"))

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._guard is not None:
            refused = self._guard.check(request.headers, target=request.raw_path)
            if refused is not None:
                # Before everything else: it is neither recorded nor does it meet a fault.
                raise from_web_page(refused.code, refused.message)
        if self._faults.half_open:
            await asyncio.Event().wait()
        asked = incoming(*_line(request), request.headers, await self._body(request))
        asked, stranger = self._identified(asked, request)
        seen = seen_of(asked, asked.user.name if asked.user is not None else "")
        reply = None
        # A client may check at any time whether the server is alive, a silent watch for one: a
        # test sees no request that it did not make, and none takes a fault that is meant for it.
        if not is_health_check(asked.path):
            self._faults.record(seen)
            reply = None if self._faults.idle else await self._meddled(seen)
        if isinstance(reply, Reply):
            answer = Answer(reply.code, reply.content, reply.headers, reply.content_type)
            return await self._send(request, answer, asked)
        if reply is not None and reply is not seen:
            asked = msgspec.structs.replace(asked, body=reply.body)
        if stranger is not None:
            raise stranger
        outcome = await self._outcome(asked)
        if isinstance(outcome, Stream):
            return await self._streamer.send(request, outcome, seen)
        if isinstance(outcome, Following):
            return await self._streamer.send_log(request, outcome)
        if self._settle is not None and asked.method not in {"GET", "HEAD"}:
            await self._settle()
        return await self._send(request, outcome, asked)

    def _identified(
        self, asked: Incoming, request: web.BaseRequest
    ) -> tuple[Incoming, Refusal | None]:
        # Strangers are recorded and meet the faults like everyone else.
        try:
            return self._security.identified(asked, _peer(request)), None
        except Refusal as refusal:
            return asked, refusal

    async def _outcome(self, asked: Incoming) -> Outcome:
        self._security.authorize(asked)
        path = asked.resource
        # Paths outside of every group version name no resource, whatever they look like.
        if path and path.plural and self._dispatcher.has_version(path.group, path.version):
            return await self._dispatcher.answer(asked)
        return self._documents.answer(asked)

    async def _meddled(self, seen: SeenRequest) -> Reply | SeenRequest:
        refusal = self._faults.failure_for(seen)
        if refusal is not None:
            raise refusal
        await self._faults.wait_while_held(seen)
        if self._faults.answer_delay:
            await self._clock.sleep(self._faults.answer_delay)
        return await self._faults.react(seen)

    async def _body(self, request: web.BaseRequest) -> bytes:
        if not request.body_exists:
            return b""
        length = request.content_length
        if length is not None and length > BODY_LIMIT:
            raise request_entity_too_large(BODY_LIMIT)
        try:
            if request.content.is_eof():
                return await request.read()
            async with asyncio.timeout(_BODY_SECONDS):
                return await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            raise request_entity_too_large(BODY_LIMIT) from error
        except TimeoutError as error:
            raise timeout("request did not complete within the allotted timeout") from error
        except (web.HTTPException, ValueError) as error:
            raise bad_request("the body of the request could not be read") from error
        except Exception as error:
            if isinstance(error, ConnectionError):
                raise
            # Broken chunks and broken compression have many names in aiohttp.
            raise bad_request("the body of the request could not be read") from error

    async def _refused(self, request: web.BaseRequest, refusal: Refusal) -> web.StreamResponse:
        status = encoded(refusal.status)
        answer = Answer(refusal.code, status, refusal.headers, warnings=refusal.warnings)
        response = await self._send(request, answer, None)
        if refusal.code in {400, 403, 413} and not request.content.is_eof():
            response.force_close()  # what is left of the body is not read
        return response

    async def _send(
        self, request: web.BaseRequest, answer: Answer, asked: Incoming | None
    ) -> web.StreamResponse:
        body, media = answer.body, answer.media
        if media == JSON and asked is not None:
            body, media = _dressed(body, asked)
        headers: CIMultiDict[str] = CIMultiDict(
            {"Cache-Control": "no-cache, private", "Content-Type": media}
        )
        headers.update(answer.headers)
        headers.extend(warning_headers(answer.warnings))
        if len(body) > _COMPRESSED_FROM and "gzip" in request.headers.get("Accept-Encoding", ""):
            body = await _compressed(body)
            headers["Content-Encoding"] = "gzip"
            headers["Vary"] = "Accept-Encoding"
        return web.Response(status=answer.code, body=body, headers=headers)


def _line(request: web.BaseRequest) -> tuple[str, str, Query]:
    """Method, path and query as they came; the library's own parsing forgives too much."""
    path, _, query = request.raw_path.partition("?")
    if "://" in path[:8]:
        path = request.path  # the absolute form, as proxies send it
    if "%" in path and "%2f" not in path.lower():
        path = unquote(path)
    if not query:
        return request.method, path, _NO_QUERY
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_QUERY_FIELDS)
    except ValueError as error:
        raise bad_request(f"the query cannot be read: {error}") from error
    return request.method, path, Query(pairs)


_NO_QUERY = Query()


def _peer(request: web.BaseRequest) -> Any:
    transport = request.transport
    return transport.get_extra_info("ssl_object") if transport is not None else None


def _dressed(body: bytes, asked: Incoming) -> tuple[bytes, str]:
    """The answer as the client wants to read it: YAML, indented, or as it is."""
    accept = asked.header("Accept")
    if "yaml" in accept and wanted(accept).media == YAML:
        from kubeloop.wire.yaml import dump_document

        return dump_document(msgspec.json.decode(body)).encode(), YAML
    if asked.query.flag("pretty"):
        return msgspec.json.format(body, indent=2) + b"\n", JSON
    return body, JSON


async def _compressed(body: bytes) -> bytes:
    if len(body) < _IN_THREAD_FROM:
        return gzip.compress(body, compresslevel=1, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, compresslevel=1, mtime=0)


class _Protocol(web.RequestHandler):
    """aiohttp's, but what it refuses by itself is refused with a Status too."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if request.writer.output_size > 0:
            raise ConnectionError("the answer was begun already")
        if status == 500:
            log.error("%s %s: the server failed", request.method, request.path, exc_info=exc)
            refusal = internal_error("the server failed")
        else:
            log.debug("a request that is no HTTP: %s", message)
            refusal = bad_request("the request is not valid HTTP")
            refusal.status["code"] = status
        response = web.Response(
            status=status, body=encoded(refusal.status), content_type="application/json"
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


def listener(gateway: Gateway) -> web.Server:
    """What accepts connections for a gateway."""
    # A client that goes away takes its request with it, watches first of all.
    return _Server(
        gateway.handle,
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=75.0,
        lingering_time=1.0,
    )
