"""One session, its connections, and what every request carries: who asks, and for whom.

Promises: nothing is opened before the first request; new certificates, CAs and tokens
are taken up by the next request, while whatever runs keeps its connection; on a 401 the
credentials are renewed and the request repeated, once; no request is repeated by the
HTTP library behind our back; a redirect is followed only on the same server, only for
what is read, and never to where the request has been already.
Elsewhere: retries (`client`), where credentials come from (`kubeloop.config`).
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
    UnderWay,
    client_timeout,
    open_session,
    proxy_options,
    report_unclosed,
)
from .failures import failure_of, late_failure, without_headers
from .fetching import fetch
from .incoming import Incoming, Waiting, sooner
from .metrics import RequestMetrics
from .request import Request
from .timeouts import Timeouts
from .user_agent import default_user_agent

__all__ = ["Errand", "Transport", "TransportStats"]

log = get_logger(__name__)

# client-go follows as many.
_MOST_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# So long a websocket waits for the server's farewell.
_FAREWELL = 2.0
# aiohttp objects to larger ones as bytes, since it writes them at once.
_LARGE_BODY = 2**20


class TransportStats(msgspec.Struct, frozen=True):
    """What a transport has been through."""

    open: bool
    exchanges: int  # requests that went out, refused ones included
    renewals: int  # 401s after which the credentials were renewed
    tls_contexts: int
    ca_reloads: Mapping[tuple[str, str], int]


class Errand(msgspec.Struct, frozen=True, gc=False):
    """A request on its way: where it goes, in what format, for how long."""

    request: Request
    url: str
    accept: str
    content_type: str
    timeouts: Timeouts
    within: float | None  # bounds the time to each answer's first line
    deadline: float | None = None  # a moment on the clock that bounds all of them


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
        # Keeps its arguments and no more: no file, no session before the first request.
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
        self._unclosed: weakref.finalize[..., Any] | None = None  # watches over the session
        self._under_way = UnderWay()
        self._closed = False
        self._waiting = Waiting()
        self._proxy: dict[str, Any] = {}
        self._headers: dict[tuple[str, str], CIMultiDict[str]] = {}
        self._headers_of: Identity | None = None  # whom `_headers` were made for
        self._exchanges = 0
        self._renewals = 0
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
        """Close every connection; what still runs on them ends. Safe to repeat.

        Cancelled, it closes them first: that takes a few turns of the loop.
        """
        self._closed = True
        self._waiting.close()
        session, self._session = self._session, None
        if self._unclosed is not None:
            self._unclosed.detach()
        if session is not None:
            await run_to_completion(self._close(session))

    async def _close(self, session: aiohttp.ClientSession) -> None:
        await self._under_way.end()
        await session.close()
        # Those of requests that were given up are still saying farewell.
        await abort_connections(self._under_way.sockets)

    async def exchange(self, errand: Errand) -> Incoming:
        """Send once, and once more after a 401 that renewed the credentials.

        Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there are no credentials, or no usable certificate.
            TransportError: no answer came.
        """
        credentials = self._open(errand.request)
        identity = await credentials.identity()
        incoming = await self._follow(errand, identity)
        if incoming.status != 401 or _speaks_for_itself(errand.request):
            return incoming
        await credentials.refused(identity)
        renewed = await credentials.identity()
        if _same(identity, renewed):
            return incoming
        self._renewals += 1
        await incoming.discard()
        return await self._follow(errand, renewed)

    async def probe(self, errand: Errand) -> None:
        """Send once, and return when there is any response.

        It shows the credentials of the last request, whether or not they have expired: a probe
        must not run a plugin or renew a token. Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there is no usable certificate.
            TransportError: no response came.
        """
        credentials = self._open(errand.request)
        identity = self._headers_of or await credentials.identity()
        headers = self._headers_for(identity, errand.request, errand.accept, "")
        incoming = await self._send(errand, errand.url, identity, headers)
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
        """Open a websocket with the same trust, proxy and credentials as any request.

        Raises:
            aiohttp.WSServerHandshakeError: the server answered something else.
            TransportError: no answer came.
        """
        credentials = self._open(request)
        identity = await credentials.identity()
        assert self._session is not None
        headers = self._headers_for(identity, request, "*/*", "")
        try:
            async with self._clock.timeout(timeouts.answer), self._under_way.request():
                socket_: aiohttp.ClientWebSocketResponse = await self._session.ws_connect(
                    self._target(url, headers),
                    method=request.method,
                    protocols=protocols,
                    headers=headers,
                    heartbeat=heartbeat,
                    max_msg_size=max_size,
                    timeout=aiohttp.ClientWSTimeout(ws_receive=None, ws_close=_FAREWELL),
                    **self._way(identity),
                )
                return socket_
        except aiohttp.WSServerHandshakeError as error:
            without_headers(error)
            if error.status == 401:
                await credentials.refused(identity)
            raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if self._closed:
                raise self._closed_meanwhile(request) from error
            raise self._failure(error, request, timeouts) from error

    def stats(self) -> TransportStats:
        tls = self._tls.stats() if self._tls else None
        return TransportStats(
            open=self._session is not None,
            exchanges=self._exchanges,
            renewals=self._renewals,
            tls_contexts=tls.contexts if tls else 0,
            ca_reloads=tls.ca_reloads if tls else {},
        )

    def __repr__(self) -> str:
        return f"Transport({self.server})"

    # --- opening

    def _open(self, request: Request | None) -> Credentials:
        if self._closed:
            tried = request.action if request else "open the client"
            raise ClientClosed(f"{tried}: the client is closed (use it inside its block)")
        if self._credentials is None:
            self._credentials = open_credentials(self._config, clock=self._clock, fetch=fetch)
        if self._session is None:
            self._proxy = proxy_options(self.base_url, self._config.proxy_url)
            # Last: a configuration that cannot be used leaves nothing open behind it.
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

    async def _follow(self, errand: Errand, identity: Identity) -> Incoming:
        """Send, and again where the server says that it has moved within itself."""
        request, url = errand.request, errand.url
        content_type = "" if request.body is None else request.content_type or errand.content_type
        accept = request.accept or errand.accept
        headers = self._headers_for(identity, request, accept, content_type)
        visited = [url]
        while True:
            incoming = await self._send(errand, url, identity, headers)
            if incoming.status not in _REDIRECTS or request.method not in {"GET", "HEAD"}:
                return incoming
            target = _within_server(url, incoming.headers.get("Location", ""))
            if target is None:
                return incoming
            if target in visited or len(visited) > _MOST_REDIRECTS:
                incoming.close()
                raise self._redirected_too_often(request, [*visited, target])
            await incoming.discard()
            visited.append(target)
            url = target

    def _redirected_too_often(self, request: Request, urls: list[str]) -> TransportError:
        paths = [redacted_url(url).removeprefix(self.server) for url in urls]
        fault = (
            "the redirects lead in a circle"
            if urls[-1] in urls[:-1]
            else f"more than {_MOST_REDIRECTS} redirects"
        )
        shown = " -> ".join(path[:100] for path in paths[-4:])
        return TransportError(
            f"{request.action}: {self.server}: {fault}: {shown}"
            " (check the server's address and the proxy before it)"
        )

    async def _send(
        self, errand: Errand, url: str, identity: Identity, headers: CIMultiDict[str]
    ) -> Incoming:
        request, session = errand.request, self._session
        if session is None:
            raise self._closed_meanwhile(request)
        self._exchanges += 1
        body = request.body
        left = None if errand.deadline is None else errand.deadline - self._clock.now()
        within = sooner(errand.within, left)
        try:
            async with self._clock.timeout(within) as bound, self._under_way.request():
                response = await session.request(
                    request.method,
                    self._target(url, headers),
                    data=io.BytesIO(body) if body and len(body) > _LARGE_BODY else body,
                    headers=headers,
                    allow_redirects=False,
                    timeout=client_timeout(errand.timeouts.connect),
                    **self._way(identity),
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if self._closed:
                raise self._closed_meanwhile(request) from error
            if within is not None and bound.expired():
                raise late_failure(
                    action=request.action,
                    server=self.server,
                    seconds=within,
                    what="an answer",
                ) from error
            raise self._failure(error, request, errand.timeouts) from error
        return Incoming(
            response,
            clock=self._clock,
            request=request,
            server=self.server,
            timeouts=errand.timeouts,
            waiting=self._waiting,
        )

    def _closed_meanwhile(self, request: Request) -> ClientClosed:
        return ClientClosed(f"{request.action}: the client was closed meanwhile")

    def _target(self, url: str, headers: CIMultiDict[str]) -> URL:
        target = URL(url, encoded=True)
        # aiohttp reads a user in the URL as credentials, and would have two of them.
        return target.with_user(None) if self._names_user and "Authorization" in headers else target

    def _way(self, identity: Identity) -> dict[str, Any]:
        """How the connection is made; connections of another context are not used again."""
        if self._tls is None:
            return self._proxy
        way = dict(self._proxy)
        way["ssl"] = self._tls.context_for(identity)
        if self._config.tls_server_name:
            way["server_hostname"] = self._config.tls_server_name
        if self._metrics is not None:
            self._report_reloads(self._metrics, self._tls)
        return way

    def _report_reloads(self, metrics: RequestMetrics, tls: TlsSource) -> None:
        for (result, reason), count in tls.stats().ca_reloads.items():
            for _ in range(count - self._reloads.get((result, reason), 0)):
                metrics.ca_reloaded(result=result, reason=reason)
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
        return _overridden(headers, request.headers) if request.headers else headers

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
            # Without TLS the proxy reads the request itself.
            headers.extend(self._proxy["proxy_headers"])
        for name, value in impersonation_headers(self._config.impersonate):
            headers.add(name, value)
        return headers


def _within_server(url: str, location: str) -> str | None:
    """Where a redirect leads to; None for what is no place on the same server."""
    if not location:
        return None
    try:
        target = urljoin(url, location)
        here, there = urlsplit(url), urlsplit(target)
    except ValueError:  # it is no URL
        return None
    if not target.isascii() or not target.isprintable():
        return None
    # Elsewhere our credentials would be somebody else's.
    return target if there[:2] == here[:2] else None


def _overridden(headers: CIMultiDict[str], own: tuple[tuple[str, str], ...]) -> CIMultiDict[str]:
    """The headers with a request's own, which win."""
    mixed = headers.copy()
    names = {name.lower() for name, _ in own}
    if "impersonate-user" in names:
        names |= {name.lower() for name in mixed if name.lower().startswith("impersonate-")}
    for name in names:
        mixed.popall(name, None)
    mixed.extend(own)
    return mixed


def _speaks_for_itself(request: Request) -> bool:
    """Whether the request brought its own Authorization: then there is nothing to renew."""
    return any(name.lower() == "authorization" for name, _ in request.headers)


def _same(one: Identity, other: Identity) -> bool:
    return one.authorization == other.authorization and one.certificate == other.certificate
