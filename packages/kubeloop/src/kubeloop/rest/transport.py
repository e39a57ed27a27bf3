"""Sends single requests: connections, credentials, headers, redirects, upgrades.

Guarantees: nothing is opened before the first request; the next request uses new certificates,
CAs and tokens, while running ones keep their connection; after a 401 the credentials are
refreshed and the request is sent once more; nothing else repeats a request; a redirect is
followed only on the same server, only for GET and HEAD, and never in a circle; all these requests
have the budget of their call.
See also: `attempts` (retries), `connections` (reuse), `kubeloop.config` (sources of credentials).
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias, final
from urllib.parse import unquote, urljoin, urlsplit

import msgspec

from kubeloop.config import (
    ClusterConfig,
    Credentials,
    Identity,
    StaticCredentials,
    TlsSource,
    basic,
    impersonation_headers,
    open_credentials,
    proxy_for,
    redacted_url,
)
from kubeloop.errors import ClientClosed, InvalidArgument, TransportError
from kubeloop.kit import Clock, run_to_completion
from kubeloop.wire import get_logger

from .codec import Codec
from .connections import Connection, ConnectionPool, report_unclosed
from .dial import Dialer, DialFunction
from .failures import connect_failure, late_failure
from .incoming import IncomingResponse, sooner
from .metrics import RequestMetrics
from .request import Headers, Request, header_pairs
from .retry import MAX_REDIRECTS, RequestBudget, RequestSpacing
from .timeouts import Timeouts
from .user_agent import default_user_agent

if TYPE_CHECKING:  # loaded when they are used
    from kubeloop.config import Fetched

    from .websocket import WebSocket

__all__ = ["RequestHook", "SendRequest", "Transport", "TransportStats"]

log = get_logger(__name__)

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Different headers of requests, by media types; a program has a few.
_MAX_PREPARED = 64
_TARGET = re.compile(r"[!-~]+")
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")

SendRequest: TypeAlias = Callable[[Request], Awaitable[IncomingResponse]]
"""Sends a request and returns the head of its response."""

RequestHook: TypeAlias = Callable[[Request, SendRequest], Awaitable[IncomingResponse]]
"""Called for each attempt of a request with the function that sends it.

    async def add_request_id(request: Request, send: SendRequest) -> IncomingResponse:
        response = await send(request.with_headers({"X-Request-Id": new_id()}))
        log.info("%s: %d", request.action, response.status)
        return response
"""


class TransportStats(msgspec.Struct, frozen=True):
    """Numbers of one transport."""

    open: bool
    exchanges: int  # requests sent, unsuccessful ones included
    connections: int  # open now, idle or in use
    credential_refreshes: int  # after a 401
    tls_contexts: int
    ca_reloads: Mapping[tuple[str, str], int]


class _PreparedHeaders(msgspec.Struct, frozen=True, gc=False):
    """Headers that many requests have in common."""

    pairs: tuple[tuple[str, str], ...]
    encoded: bytes  # the lines of the head


@final
class Transport:
    """Sends single requests to one server."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        clock: Clock,
        credentials: Credentials | None = None,
        user_agent: str = "",
        headers: Headers = (),
        hooks: Iterable[RequestHook] = (),
        dial: DialFunction | None = None,
        metrics: RequestMetrics | None = None,
    ) -> None:
        # Stores its arguments: no file is read and no connection opened before the first request.
        self._config = config
        self._clock = clock
        self._metrics = metrics
        self._credentials = credentials
        self._identity: Identity | None = None  # of credentials that never change
        self._user_agent = user_agent or config.user_agent
        self._own_headers = header_pairs(headers)
        self.hooks = tuple(hooks)
        self._dial = dial
        self.base_url = config.base_url
        parts = urlsplit(self.base_url)
        self.server = redacted_url(self.base_url).rstrip("/")
        self.host = parts.netloc.rpartition("@")[2] or "none"
        self._base = self.base_url.rstrip("/")
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._user_info = parts.netloc.rpartition("@")[0]
        self._server_name = config.tls_server_name or (parts.hostname or "")
        self._tls = TlsSource(config, clock=clock) if config.uses_tls else None
        self._loop: asyncio.AbstractEventLoop | None = None  # set when it is opened
        self._process = 0  # in which it was opened
        self._dialer: Dialer | None = None
        self._forwards = False  # a proxy receives the requests themselves
        self._pool = ConnectionPool(clock)
        self._dials: dict[asyncio.Timeout, None] = {}  # connections that are being opened
        self._websockets: weakref.WeakSet[WebSocket] = weakref.WeakSet()
        # Reports a client that is not closed.
        self._unclosed: weakref.finalize[..., Any] | None = None
        self._closed = False
        self._headers: dict[tuple[str, str], _PreparedHeaders] = {}
        self._headers_of: Identity | None = None  # whose credentials `_headers` contain
        self._exchanges = 0
        self._credential_refreshes = 0
        self._reloads: dict[tuple[str, str], int] = {}

    async def __aenter__(self) -> Transport:
        self._open(None)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection; calls that still use one fail. Safe to repeat.

        A cancelled call closes them first, which takes a few iterations of the event loop.
        """
        self._closed = True
        if self._unclosed is not None:
            self._unclosed.detach()
        await run_to_completion(self._close())

    async def _close(self) -> None:
        now = asyncio.get_running_loop().time()
        for each in self._dials:
            if each.when() is None:  # not ended by an earlier call, which it may outlast
                each.reschedule(now)
        for socket in list(self._websockets):
            socket.abort(ClientClosed(f"{self.server}: the client was closed"))
        self._pool.abort()
        await self._pool.wait_closed(self._dials)

    def stats(self) -> TransportStats:
        tls = self._tls.stats() if self._tls else None
        return TransportStats(
            open=self._loop is not None and not self._closed,
            exchanges=self._exchanges,
            connections=len(self._pool.connections),
            credential_refreshes=self._credential_refreshes,
            tls_contexts=tls.contexts if tls else 0,
            ca_reloads=tls.ca_reloads if tls else {},
        )

    def __repr__(self) -> str:
        return f"Transport({self.server})"

    # --- requests

    def url(self, request: Request) -> str:
        """The whole URL that the request goes to."""
        return request.url(self._base, timeout=self._config.timeout)

    async def exchange(
        self,
        request: Request,
        codec: Codec,
        timeouts: Timeouts,
        began: float,
        deadline: float | None,
        *,
        budget: RequestBudget,
    ) -> IncomingResponse:
        """Send once, and once more if a 401 led to new credentials; follow redirects.

        `codec` has the media types for requests that name none; the head of the response is
        awaited from `began` to `deadline`, which are times on the clock. The first request is
        sent whatever is left of `budget`. Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there are no credentials, or no usable certificate.
            TransportError: there was no response.
        """
        credentials = self._credentials
        if credentials is None or self._closed or self._loop is not asyncio.get_running_loop():
            credentials = self._open(request)
        identity = self._identity or await credentials.identity()
        if request.params or request.timeout or self._config.timeout or request.path[:2] == "..":
            url = self.url(request)
        else:
            url = self._base + request.path
        accept = request.accept or codec.accept
        content_type = "" if request.body is None else request.content_type or codec.content_type
        headers = self._headers_for(identity, request, accept, content_type)
        if request.spacing is not None:
            await self._wait_for(request.spacing)
        budget.sent += 1
        incoming = await self._send(
            request, url, identity, headers, timeouts=timeouts, began=began, deadline=deadline
        )
        if incoming.status < 300:
            return incoming
        incoming = await self._follow(
            incoming, url, identity, headers, began=began, deadline=deadline, budget=budget
        )
        if incoming.status != 401 or _has_own_credentials(request):
            return incoming
        try:
            await credentials.refresh(identity)
            refreshed = await credentials.identity()
        except BaseException:
            incoming.close()
            raise
        if _same_credentials(identity, refreshed):
            return incoming
        self._credential_refreshes += 1
        if not budget.left:
            return incoming
        await self._prepare_next(incoming, budget, began=began, deadline=deadline)
        headers = self._headers_for(refreshed, request, accept, content_type)
        incoming = await self._send(
            request, url, refreshed, headers, timeouts=timeouts, began=began, deadline=deadline
        )
        return await self._follow(
            incoming, url, refreshed, headers, began=began, deadline=deadline, budget=budget
        )

    async def exchange_with_hooks(
        self,
        request: Request,
        codec: Codec,
        timeouts: Timeouts,
        began: float,
        deadline: float | None,
        *,
        budget: RequestBudget,
    ) -> IncomingResponse:
        """As `exchange`, through the hooks of the client; the first is the outermost.

        Responses that the hooks do not return are closed.
        """
        unused: list[IncomingResponse] = []

        async def send(changed: Request) -> IncomingResponse:
            incoming = await self.exchange(changed, codec, timeouts, began, deadline, budget=budget)
            unused.append(incoming)
            return incoming

        chain: SendRequest = send
        for hook in reversed(self.hooks):
            chain = _call_hook(hook, chain)
        try:
            returned = await chain(request)
            unused = [each for each in unused if each is not returned]
            return returned
        finally:
            for each in unused:
                each.close()

    async def probe(self, request: Request, timeouts: Timeouts) -> None:
        """Send once, and return when there is any response.

        It uses the credentials of the last request, even if they have expired: a probe must not
        run a plugin or refresh a token. Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there is no usable certificate.
            TransportError: there was no response.
        """
        credentials = self._open(request)
        identity = self._headers_of or await credentials.identity()
        headers = self._headers_for(identity, request, "*/*", "")
        url = self.url(request)
        incoming = await self._send(
            request,
            url,
            identity,
            headers,
            timeouts=timeouts,
            began=self._clock.now(),
            deadline=None,
        )
        await incoming.discard()

    async def websocket(
        self,
        request: Request,
        *,
        protocols: tuple[str, ...],
        timeouts: Timeouts,
        heartbeat: float | None,
        max_size: int | None,
    ) -> WebSocket | IncomingResponse:
        """Open a WebSocket with the same TLS, proxy and credentials as any request.

        Returns the response if the server does not switch protocols. Safe to cancel.

        Raises:
            ConfigError: there are no credentials, or no usable certificate.
            TransportError: there was no response.
        """
        from .websocket import WebSocket, check_handshake, handshake_headers

        credentials = self._open(request)
        identity = await credentials.identity()
        handshake, key = handshake_headers(protocols)
        request = request.replace(headers=(*request.headers, *handshake))
        headers = self._headers_for(identity, request, "*/*", "")
        url = self.url(request)
        began = self._clock.now()
        deadline = None if timeouts.response is None else began + timeouts.response
        incoming = await self._send(
            request, url, identity, headers, timeouts=timeouts, began=began, deadline=deadline
        )
        if incoming.status != 101:
            if incoming.status == 401:
                try:
                    await credentials.refresh(identity)
                except BaseException:
                    incoming.close()
                    raise
            return incoming
        try:
            pairs, where = incoming.headers.items(), f"{request.action}: {self.server}"
            subprotocol = check_handshake(pairs, key, protocols, action=where)
        except TransportError:
            incoming.close()
            raise
        socket = WebSocket(
            action=request.action,
            server=self.server,
            subprotocol=subprotocol,
            clock=self._clock,
            max_size=max_size,
            heartbeat=heartbeat,
        )
        socket.attach(*incoming.detach())
        self._websockets.add(socket)
        return socket

    # --- opening

    def _open(self, request: Request | None) -> Credentials:
        action = request.action if request else "open the client"
        if self._closed:
            raise ClientClosed(f"{action}: the client is closed (use it inside its block)")
        if self._credentials is None:
            self._credentials = open_credentials(self._config, clock=self._clock, fetch=_fetch)
        if isinstance(self._credentials, StaticCredentials):
            self._identity = self._credentials.current
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._open_in(loop, action)
        return self._credentials

    def _open_in(self, loop: asyncio.AbstractEventLoop, action: str) -> None:
        if self._unclosed is not None:
            # Of another loop that has ended, or of the process that this one was forked from: its
            # connections cannot be used here, and must not be closed by TLS messages of ours.
            is_forked = self._process != os.getpid()
            if self._loop is not None and self._loop.is_running() and not is_forked:
                raise InvalidArgument(
                    f"{action}: the client is used by another event loop (create a client for each)"
                )
            self._unclosed.detach()
            self._pool = ConnectionPool(self._clock)
            self._dials = {}
            self._websockets = weakref.WeakSet()
        self._dialer = Dialer(
            self.base_url,
            proxy=proxy_for(self.base_url, proxy_url=self._config.proxy_url),
            dial=self._dial,
            on_resolved=self._report_resolution if self._metrics else None,
        )
        self._forwards = self._dialer.forwards
        # Last, so that an invalid configuration leaves nothing open.
        self._loop, self._process = loop, os.getpid()
        self._unclosed = weakref.finalize(
            self, report_unclosed, self._pool, loop, server=self.server, owner=weakref.ref(self)
        )

    async def _connect(
        self,
        request: Request,
        tls: ssl.SSLContext | None,
        timeouts: Timeouts,
        deadline: float | None,
    ) -> Connection:
        """A new connection. Safe to cancel: nothing stays open."""
        assert self._dialer is not None
        connection = Connection(self._pool, tls)
        closing = asyncio.timeout(None)
        began = self._clock.now()
        within = sooner(timeouts.connect, None if deadline is None else deadline - began)
        try:
            async with closing, self._clock.timeout(within) as bound:
                self._dials[closing] = None
                await self._dialer.dial(connection, tls=tls, server_hostname=self._server_name)
        except (OSError, UnicodeError, ValueError) as error:
            if self._closed:
                raise self._closed_error(request) from error
            if within != timeouts.connect and bound.expired():
                raise self._late(request, deadline, began) from error
            raise connect_failure(
                error, action=request.action, server=self.server, timeouts=timeouts
            ) from error
        finally:
            self._dials.pop(closing, None)
        if self._closed:
            connection.abort()
            raise self._closed_error(request)
        return connection

    # --- sending

    async def _send(
        self,
        request: Request,
        url: str,
        identity: Identity,
        headers: bytes,
        *,
        timeouts: Timeouts,
        began: float,
        deadline: float | None,
    ) -> IncomingResponse:
        """Send once, whatever the response."""
        if self._closed:
            raise self._closed_error(request)
        body, method = request.body, request.method
        target = url[len(self._origin) :] or "/"
        if _TARGET.fullmatch(target) is None:
            raise TransportError(
                f"{request.action}: {self.server}: the path has a character that is not valid in"
                " HTTP (escape it)"
            )
        if self._forwards:
            target = f"{self._origin.partition('://')[0]}://{self.host}{target}"
        if body is not None:
            length = b"Content-Length: %d\r\n\r\n" % len(body)
        else:
            length = b"\r\n" if method in _WITHOUT_BODY else b"Content-Length: 0\r\n\r\n"
        head = b"%s %s HTTP/1.1\r\n%s%s" % (method.encode(), target.encode(), headers, length)
        tls = None if self._tls is None else self._context_for(identity)
        incoming = IncomingResponse(
            request, method=method, clock=self._clock, server=self.server, timeouts=timeouts
        )
        connection = self._pool.take(tls, began)
        if connection is None:
            connection = await self._connect(request, tls, timeouts, deadline)
        self._exchanges += 1
        connection.send(incoming, head, body)
        if not await incoming.wait_for_head(deadline):
            raise self._late(request, deadline, began)
        return incoming

    def _late(self, request: Request, deadline: float | None, began: float) -> TransportError:
        seconds = (deadline or began) - began
        return late_failure(
            action=request.action, server=self.server, seconds=seconds, what="a response"
        )

    def _context_for(self, identity: Identity) -> ssl.SSLContext:
        assert self._tls is not None
        context = self._tls.context_for(identity)
        if self._metrics is not None:
            self._report_reloads(self._metrics, self._tls)
        return context

    def _report_reloads(self, metrics: RequestMetrics, tls: TlsSource) -> None:
        for (result, reason), count in tls.stats().ca_reloads.items():
            for _ in range(count - self._reloads.get((result, reason), 0)):
                metrics.count_ca_reload(result=result, reason=reason)
            self._reloads[result, reason] = count

    def _report_resolution(self, host: str, seconds: float) -> None:
        assert self._metrics is not None
        self._metrics.observe_resolution(host=host, seconds=seconds)

    def _closed_error(self, request: Request) -> ClientClosed:
        return ClientClosed(f"{request.action}: the client was closed during the request")

    async def _follow(
        self,
        incoming: IncomingResponse,
        url: str,
        identity: Identity,
        headers: bytes,
        *,
        began: float,
        deadline: float | None,
        budget: RequestBudget,
    ) -> IncomingResponse:
        """Follow redirects within the same server."""
        request, visited = incoming.request, [url]
        while incoming.status in _REDIRECTS and request.method in {"GET", "HEAD"}:
            target = _within_server(visited[-1], incoming.headers.get("Location", ""))
            if target is None:
                break
            if target in visited or len(visited) > MAX_REDIRECTS or not budget.left:
                incoming.close()
                raise self._redirect_error(request, [*visited, target])
            visited.append(target)
            await self._prepare_next(incoming, budget, began=began, deadline=deadline)
            timeouts = incoming.timeouts
            incoming = await self._send(
                request,
                target,
                identity,
                headers,
                timeouts=timeouts,
                began=began,
                deadline=deadline,
            )
        return incoming

    async def _prepare_next(
        self,
        incoming: IncomingResponse,
        budget: RequestBudget,
        *,
        began: float,
        deadline: float | None,
    ) -> None:
        """Before the request that a response leads to. Raises: TimeoutExceeded."""
        await incoming.discard()
        wait, spacing = budget.delay, incoming.request.spacing
        if spacing is not None:
            wait = max(wait, spacing.delay(self._clock.now()))
        if deadline is not None and self._clock.now() + wait >= deadline:
            raise self._late(incoming.request, deadline, began)
        if wait:
            await self._clock.sleep(wait)
        if spacing is not None:
            await self._wait_for(spacing)
        budget.sent += 1

    async def _wait_for(self, spacing: RequestSpacing) -> None:
        while wait := spacing.delay(self._clock.now()):
            await self._clock.sleep(wait)
        spacing.begin(self._clock.now())

    def _redirect_error(self, request: Request, urls: list[str]) -> TransportError:
        paths = [redacted_url(url).removeprefix(self.server)[:100] for url in urls]
        problem = (
            "the redirects lead in a circle"
            if urls[-1] in urls[:-1]
            else f"still redirected after {len(urls) - 2} redirects"
        )
        return TransportError(
            f"{request.action}: {self.server}: {problem}: {' -> '.join(paths[-4:])}"
            " (check the server's address and the proxy in front of it)"
        )

    # --- headers

    def _headers_for(
        self, identity: Identity, request: Request, accept: str, content_type: str
    ) -> bytes:
        """The lines of the head, up to those about the body."""
        if identity is not self._headers_of:
            self._headers, self._headers_of = {}, identity
        prepared = self._headers.get((accept, content_type))
        if prepared is None:
            pairs = self._make_headers(identity, accept, content_type)
            prepared = _PreparedHeaders(pairs, self._encode(pairs, request))
            if len(self._headers) < _MAX_PREPARED:
                self._headers[accept, content_type] = prepared
        if not request.headers:
            return prepared.encoded
        return self._encode(_merge(prepared.pairs, request.headers), request)

    def _make_headers(
        self, identity: Identity, accept: str, content_type: str
    ) -> tuple[tuple[str, str], ...]:
        pairs = [("Host", self.host), ("Accept", accept)]
        pairs.append(("User-Agent", self._user_agent or default_user_agent()))
        if not self._config.disable_compression:
            pairs.append(("Accept-Encoding", "gzip"))
        if content_type:
            pairs.append(("Content-Type", content_type))
        if identity.authorization:
            pairs.append(("Authorization", identity.authorization))
        elif self._user_info:
            user, _, password = self._user_info.partition(":")
            pairs.append(("Authorization", basic(unquote(user), unquote(password))))
        if self._dialer is not None and self._dialer.forwards:
            # Without TLS the proxy receives the request itself, and no CONNECT.
            pairs += self._dialer.proxy_headers
        pairs += impersonation_headers(self._config.impersonate)
        return _merge(tuple(pairs), self._own_headers)

    def _encode(self, pairs: Iterable[tuple[str, str]], request: Request) -> bytes:
        for name, value in pairs:
            if _FIELD_NAME.fullmatch(name) is None or _FIELD_VALUE.fullmatch(value) is None:
                raise TransportError(
                    f"{request.action}: the header {name[:80]!r} has a character that is not"
                    " valid in HTTP (remove it)"
                )
        lines = "".join([f"{name}: {value}\r\n" for name, value in pairs])
        return lines.encode("utf-8", "surrogateescape")


async def _fetch(
    method: str, url: str, *, headers: Mapping[str, str], body: bytes, ca: bytes
) -> Fetched:
    """One request for OpenID Connect credentials; few programs need it."""
    from .fetch_url import fetch

    return await fetch(method, url, headers=headers, body=body, ca=ca)


_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})


def _call_hook(hook: RequestHook, send: SendRequest) -> SendRequest:
    return lambda request: hook(request, send)


def _within_server(url: str, location: str) -> str | None:
    """The target of a redirect; None if it is not on the same server."""
    if not location:
        return None
    try:
        target = urljoin(url, location).partition("#")[0]  # a fragment is not sent
        here, there = urlsplit(url), urlsplit(target)
    except ValueError:  # not a URL
        return None
    if not target.isascii() or not target.isprintable():
        return None
    # Another server must not receive our credentials.
    return target if there[:2] == here[:2] else None


def _merge(
    pairs: tuple[tuple[str, str], ...], own: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """The headers, overridden by `own`."""
    if not own:
        return pairs
    names = {name.lower() for name, _ in own}
    if "impersonate-user" in names:
        names |= {name.lower() for name, _ in pairs if name.lower().startswith("impersonate-")}
    return (*(pair for pair in pairs if pair[0].lower() not in names), *own)


def _has_own_credentials(request: Request) -> bool:
    """Whether the request has its own Authorization header: then there is nothing to refresh."""
    return any(name.lower() == "authorization" for name, _ in request.headers)


def _same_credentials(one: Identity, other: Identity) -> bool:
    return one.authorization == other.authorization and one.certificate == other.certificate
