"""Sends single requests: session, connections, credentials, headers, redirects.

Guarantees: nothing is opened before the first request; the next request uses new certificates,
CAs and tokens, while running ones keep their connection; after a 401 the credentials are
refreshed and the request is sent once more; the HTTP library never repeats a request itself; a
redirect is followed only on the same server, only for GET and HEAD, and never in a circle.
See also: `attempts` (retries), `kubeloop.config` (sources of credentials).
"""

from __future__ import annotations

import asyncio
import io
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import Any, final
from urllib.parse import urljoin, urlsplit

import aiohttp
import msgspec
from multidict import CIMultiDict
from yarl import URL

from kubeloop.config import (
    ClusterConfig,
    Credentials,
    Identity,
    TlsSource,
    impersonation_headers,
    open_credentials,
    redacted_url,
)
from kubeloop.errors import ClientClosed, TransportError
from kubeloop.kit import Clock, abort_connections, run_to_completion
from kubeloop.wire import get_logger

from .connections import (
    PendingRequests,
    client_timeout,
    open_session,
    proxy_options,
    report_unclosed,
)
from .failures import failure_of, late_failure, without_headers
from .fetch_url import fetch
from .incoming import IncomingResponse, PendingReads, sooner
from .metrics import RequestMetrics
from .request import Request
from .timeouts import Timeouts
from .user_agent import default_user_agent

__all__ = ["PreparedRequest", "Transport", "TransportStats"]

log = get_logger(__name__)

# As client-go.
_MAX_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Seconds that a WebSocket waits for the server's close frame.
_CLOSE_TIMEOUT = 2.0
# aiohttp warns about larger bodies as bytes, since it writes them in one go.
_LARGE_BODY = 2**20


class TransportStats(msgspec.Struct, frozen=True):
    """Numbers of one transport."""

    open: bool
    exchanges: int  # requests sent, unsuccessful ones included
    credential_refreshes: int  # after a 401
    tls_contexts: int
    ca_reloads: Mapping[tuple[str, str], int]


class PreparedRequest(msgspec.Struct, frozen=True, gc=False):
    """A request with its URL, formats and timeouts, ready to send."""

    request: Request
    url: str
    accept: str
    content_type: str
    timeouts: Timeouts
    within: float | None  # seconds until the head of each response
    deadline: float | None = None  # on the clock, for all attempts


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
        metrics: RequestMetrics | None = None,
    ) -> None:
        # Stores its arguments: no file is read and no session opened before the first request.
        self._config = config
        self._clock = clock
        self._metrics = metrics
        self._credentials = credentials
        self._user_agent = user_agent or config.user_agent
        self.base_url = config.base_url
        self.server = redacted_url(self.base_url).rstrip("/")
        self.host = urlsplit(self.base_url).netloc.rpartition("@")[2] or "none"
        self._names_user = "@" in urlsplit(self.base_url).netloc
        self._tls = TlsSource(config, clock=clock) if config.uses_tls else None
        self._session: aiohttp.ClientSession | None = None
        # Reports a session that is not closed.
        self._unclosed: weakref.finalize[..., Any] | None = None
        self._pending = PendingRequests()
        self._closed = False
        self._reads = PendingReads()
        self._proxy: dict[str, Any] = {}
        self._headers: dict[tuple[str, str], CIMultiDict[str]] = {}
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

        A cancelled call closes them first, which takes a few steps of the event loop.
        """
        self._closed = True
        self._reads.close()
        session, self._session = self._session, None
        if self._unclosed is not None:
            self._unclosed.detach()
        if session is not None:
            await run_to_completion(self._close(session))

    async def _close(self, session: aiohttp.ClientSession) -> None:
        await self._pending.end()
        await session.close()
        # Connections of cancelled requests may still be in their TLS close handshake.
        await abort_connections(self._pending.sockets)

    async def exchange(self, prepared: PreparedRequest) -> IncomingResponse:
        """Send once, and once more if a 401 led to new credentials.

        Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there are no credentials, or no usable certificate.
            TransportError: there was no response.
        """
        credentials = self._open(prepared.request)
        identity = await credentials.identity()
        incoming = await self._follow(prepared, identity)
        if incoming.status != 401 or _has_own_credentials(prepared.request):
            return incoming
        await credentials.refresh(identity)
        refreshed = await credentials.identity()
        if _same_credentials(identity, refreshed):
            return incoming
        self._credential_refreshes += 1
        await incoming.discard()
        return await self._follow(prepared, refreshed)

    async def probe(self, prepared: PreparedRequest) -> None:
        """Send once, and return when there is any response.

        It uses the credentials of the last request, even if they have expired: a probe must not
        run a plugin or refresh a token. Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there is no usable certificate.
            TransportError: there was no response.
        """
        credentials = self._open(prepared.request)
        identity = self._headers_of or await credentials.identity()
        headers = self._headers_for(identity, prepared.request, prepared.accept, "")
        incoming = await self._send(prepared, prepared.url, identity, headers)
        await incoming.discard()

    async def websocket(
        self,
        request: Request,
        url: str,
        *,
        protocols: tuple[str, ...],
        timeouts: Timeouts,
        heartbeat: float | None,
        max_size: int,
    ) -> aiohttp.ClientWebSocketResponse:
        """Open a WebSocket with the same TLS, proxy and credentials as any request.

        Raises:
            aiohttp.WSServerHandshakeError: the server rejected the upgrade.
            TransportError: there was no response.
        """
        credentials = self._open(request)
        identity = await credentials.identity()
        assert self._session is not None
        headers = self._headers_for(identity, request, "*/*", "")
        try:
            async with self._clock.timeout(timeouts.response), self._pending.request():
                socket_: aiohttp.ClientWebSocketResponse = await self._session.ws_connect(
                    self._target(url, headers),
                    method=request.method,
                    protocols=protocols,
                    headers=headers,
                    heartbeat=heartbeat,
                    max_msg_size=max_size,
                    timeout=aiohttp.ClientWSTimeout(ws_receive=None, ws_close=_CLOSE_TIMEOUT),
                    **self._connection_options(identity),
                )
                return socket_
        except aiohttp.WSServerHandshakeError as error:
            without_headers(error)
            if error.status == 401:
                await credentials.refresh(identity)
            raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if self._closed:
                raise self._closed_error(request) from error
            raise self._failure(error, request, timeouts) from error

    def stats(self) -> TransportStats:
        tls = self._tls.stats() if self._tls else None
        return TransportStats(
            open=self._session is not None,
            exchanges=self._exchanges,
            credential_refreshes=self._credential_refreshes,
            tls_contexts=tls.contexts if tls else 0,
            ca_reloads=tls.ca_reloads if tls else {},
        )

    def __repr__(self) -> str:
        return f"Transport({self.server})"

    # --- opening

    def _open(self, request: Request | None) -> Credentials:
        if self._closed:
            action = request.action if request else "open the client"
            raise ClientClosed(f"{action}: the client is closed (use it inside its block)")
        if self._credentials is None:
            self._credentials = open_credentials(self._config, clock=self._clock, fetch=fetch)
        if self._session is None:
            self._proxy = proxy_options(self.base_url, self._config.proxy_url)
            # Last, so that an invalid configuration leaves nothing open.
            self._session = open_session(clock=self._clock, metrics=self._metrics)
            self._unclosed = weakref.finalize(
                self,
                report_unclosed,
                self._session,
                asyncio.get_running_loop(),
                server=self.server,
                owner=weakref.ref(self),
            )
        return self._credentials

    # --- sending

    async def _follow(self, prepared: PreparedRequest, identity: Identity) -> IncomingResponse:
        """Send, and follow redirects within the same server."""
        request, url = prepared.request, prepared.url
        content_type = "" if request.body is None else request.content_type or prepared.content_type
        accept = request.accept or prepared.accept
        headers = self._headers_for(identity, request, accept, content_type)
        visited = [url]
        while True:
            incoming = await self._send(prepared, url, identity, headers)
            if incoming.status not in _REDIRECTS or request.method not in {"GET", "HEAD"}:
                return incoming
            target = _within_server(url, incoming.headers.get("Location", ""))
            if target is None:
                return incoming
            if target in visited or len(visited) > _MAX_REDIRECTS:
                incoming.close()
                raise self._redirect_error(request, [*visited, target])
            await incoming.discard()
            visited.append(target)
            url = target

    def _redirect_error(self, request: Request, urls: list[str]) -> TransportError:
        paths = [redacted_url(url).removeprefix(self.server) for url in urls]
        problem = (
            "the redirects lead in a circle"
            if urls[-1] in urls[:-1]
            else f"more than {_MAX_REDIRECTS} redirects"
        )
        shown = " -> ".join(path[:100] for path in paths[-4:])
        return TransportError(
            f"{request.action}: {self.server}: {problem}: {shown}"
            " (check the server's address and the proxy in front of it)"
        )

    async def _send(
        self, prepared: PreparedRequest, url: str, identity: Identity, headers: CIMultiDict[str]
    ) -> IncomingResponse:
        request, session = prepared.request, self._session
        if session is None:
            raise self._closed_error(request)
        self._exchanges += 1
        body = request.body
        left = None if prepared.deadline is None else prepared.deadline - self._clock.now()
        within = sooner(prepared.within, left)
        try:
            async with self._clock.timeout(within) as bound, self._pending.request():
                response = await session.request(
                    request.method,
                    self._target(url, headers),
                    data=io.BytesIO(body) if body and len(body) > _LARGE_BODY else body,
                    headers=headers,
                    allow_redirects=False,
                    timeout=client_timeout(prepared.timeouts.connect),
                    **self._connection_options(identity),
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if self._closed:
                raise self._closed_error(request) from error
            if within is not None and bound.expired():
                raise late_failure(
                    action=request.action,
                    server=self.server,
                    seconds=within,
                    what="a response",
                ) from error
            raise self._failure(error, request, prepared.timeouts) from error
        return IncomingResponse(
            response,
            clock=self._clock,
            request=request,
            server=self.server,
            timeouts=prepared.timeouts,
            reads=self._reads,
        )

    def _closed_error(self, request: Request) -> ClientClosed:
        return ClientClosed(f"{request.action}: the client was closed during the request")

    def _target(self, url: str, headers: CIMultiDict[str]) -> URL:
        target = URL(url, encoded=True)
        # aiohttp reads a user in the URL as credentials, and rejects two of them.
        return target.with_user(None) if self._names_user and "Authorization" in headers else target

    def _connection_options(self, identity: Identity) -> dict[str, Any]:
        """TLS and proxy; aiohttp reuses a connection only with the same TLS context."""
        if self._tls is None:
            return self._proxy
        options = dict(self._proxy)
        options["ssl"] = self._tls.context_for(identity)
        if self._config.tls_server_name:
            options["server_hostname"] = self._config.tls_server_name
        if self._metrics is not None:
            self._report_reloads(self._metrics, self._tls)
        return options

    def _report_reloads(self, metrics: RequestMetrics, tls: TlsSource) -> None:
        for (result, reason), count in tls.stats().ca_reloads.items():
            for _ in range(count - self._reloads.get((result, reason), 0)):
                metrics.count_ca_reload(result=result, reason=reason)
            self._reloads[result, reason] = count

    def _failure(
        self, error: BaseException, request: Request, timeouts: Timeouts
    ) -> TransportError:
        return failure_of(error, action=request.action, server=self.server, timeouts=timeouts)

    # --- headers

    def _headers_for(
        self, identity: Identity, request: Request, accept: str, content_type: str
    ) -> CIMultiDict[str]:
        if identity is not self._headers_of:
            self._headers, self._headers_of = {}, identity
        headers = self._headers.get((accept, content_type))
        if headers is None:
            headers = self._make_headers(identity, accept, content_type)
            if len(self._headers) < 64:
                self._headers[accept, content_type] = headers
        return _with_own_headers(headers, request.headers) if request.headers else headers

    def _make_headers(self, identity: Identity, accept: str, content_type: str) -> CIMultiDict[str]:
        headers = CIMultiDict({"Accept": accept})
        headers["User-Agent"] = self._user_agent or default_user_agent()
        if not self._config.disable_compression:
            headers["Accept-Encoding"] = "gzip"
        if content_type:
            headers["Content-Type"] = content_type
        if identity.authorization:
            headers["Authorization"] = identity.authorization
        if self._tls is None and "proxy_headers" in self._proxy:
            # Without TLS the proxy receives the request itself, and no CONNECT.
            headers.extend(self._proxy["proxy_headers"])
        for name, value in impersonation_headers(self._config.impersonate):
            headers.add(name, value)
        return headers


def _within_server(url: str, location: str) -> str | None:
    """The target of a redirect; None if it is not on the same server."""
    if not location:
        return None
    try:
        target = urljoin(url, location)
        here, there = urlsplit(url), urlsplit(target)
    except ValueError:  # not a URL
        return None
    if not target.isascii() or not target.isprintable():
        return None
    # Another server must not receive our credentials.
    return target if there[:2] == here[:2] else None


def _with_own_headers(
    headers: CIMultiDict[str], own: tuple[tuple[str, str], ...]
) -> CIMultiDict[str]:
    """The headers, overridden by those of the request."""
    merged = headers.copy()
    names = {name.lower() for name, _ in own}
    if "impersonate-user" in names:
        names |= {name.lower() for name in merged if name.lower().startswith("impersonate-")}
    for name in names:
        merged.popall(name, None)
    merged.extend(own)
    return merged


def _has_own_credentials(request: Request) -> bool:
    """Whether the request has its own Authorization header: then there is nothing to refresh."""
    return any(name.lower() == "authorization" for name, _ in request.headers)


def _same_credentials(one: Identity, other: Identity) -> bool:
    return one.authorization == other.authorization and one.certificate == other.certificate
