"""How connections are opened: sockets, proxies, name resolution, the aiohttp session.

Guarantees: the HTTP library has no timeout except for opening a connection, and never repeats a
request; a proxy receives its own credentials and no others.
See also: `transport` (what is sent), `kubeloop.config` (which proxy is used).
"""

from __future__ import annotations

import asyncio
import base64
import functools
import socket
import sys
import warnings
import weakref
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, final
from urllib.parse import unquote, urlsplit, urlunsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from kubeloop.config import proxy_for, redacted_url
from kubeloop.errors import ConfigError
from kubeloop.kit import Clock
from kubeloop.wire import get_logger

from .failures import ConnectionCut
from .metrics import RequestMetrics

__all__ = [
    "KEEP_ALIVE",
    "PendingRequests",
    "client_timeout",
    "keep_alive_socket",
    "open_session",
    "proxy_options",
    "report_unclosed",
]

log = get_logger(__name__)

# kube-apiserver closes connections that were idle for 90 s. HTTP/1.1 cannot announce it, and a
# POST on such a connection must not be repeated: so the client closes them first.
KEEP_ALIVE = 85.0
# The kernel probes a peer that has been silent for 15 s, every 10 s, and closes the connection
# after three probes without acknowledgement: a dead link is detected after 45 s, as with
# client-go's HTTP/2 pings. A live peer acknowledges them, so quiet watches, logs and execs
# stay open. TCP_USER_TIMEOUT is not set: it would also close an exec whose process does not
# read its input for a while.
TCP_KEEP_IDLE = 15
TCP_KEEP_INTERVAL = 10
TCP_KEEP_PROBES = 3
_READ_BUFFER = 2**17
_MAX_HEADER = 2**16
# Steps of the event loop until a request has ended after its client was closed.
_CLOSE_STEPS = 10

# The sockets that the current request has created.
_new_sockets: ContextVar[list[socket.socket]] = ContextVar("kubeloop_new_sockets")


def open_session(*, clock: Clock, metrics: RequestMetrics | None) -> aiohttp.ClientSession:
    """A session with a pool of connections; needs a running loop."""
    connector = aiohttp.TCPConnector(
        # Watches keep their connection for minutes: a limit here would be a deadlock.
        limit=0,
        keepalive_timeout=KEEP_ALIVE,
        socket_factory=_tracked_socket,
        resolver=_TimedResolver(metrics, clock) if metrics else None,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        # No total: aiohttp's default of five minutes would end every watch.
        timeout=client_timeout(None),
        middlewares=(_only_once,),
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        raise_for_status=False,
        auto_decompress=False,  # `incoming` decompresses, in pieces
        trust_env=False,
        read_bufsize=_READ_BUFFER,
        max_line_size=_MAX_HEADER,
        max_field_size=_MAX_HEADER,
    )


def report_unclosed(
    session: aiohttp.ClientSession,
    loop: asyncio.AbstractEventLoop,
    *,
    server: str,
    owner: weakref.ref[object],
) -> None:
    """Warn that a client was not closed, and close its connections.

    Called when the client is garbage collected, in any thread, or at exit. The warnings of the
    HTTP library would name objects that a user of kubeloop does not know.
    """
    is_exit = owner() is not None
    # At exit a loop that is not closed runs in another thread, whose owner closes its clients
    # (`kubeloop.blocking` does), or in the parent of this process.
    if session.closed or (is_exit and not loop.is_closed()):
        return
    message = (
        f"a kubeloop client for {server} was not closed"
        ' (use "async with Client() as client:", or await client.aclose())'
    )
    connector = session.connector
    session.detach()
    if connector is not None:
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is loop or loop.is_closed():
            _close_connector(connector)
        else:
            loop.call_soon_threadsafe(_close_connector, connector)
    log.warning("%s", message)
    warnings.warn(message, ResourceWarning, stacklevel=2)


def _close_connector(connector: aiohttp.BaseConnector) -> None:
    # The first step closes them all; the others only wait for the end.
    steps = connector.close().__await__()
    with suppress(StopIteration):
        next(steps)
    steps.close()


@final
class PendingRequests:
    """Requests without a response yet: each is a block, and all can be ended.

    `sockets` has the sockets that a block created, once the block has ended and not before:
    until a connection is established, its socket belongs to the event loop. uvloop closes the
    file descriptor of a socket that was closed too early, and the socket closes it again.
    """

    def __init__(self) -> None:
        self.sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._ends: set[asyncio.Timeout] = set()

    def request(self) -> _Request:
        """A block around one request; it raises TimeoutError after `end()`."""
        return _Request(self._ends, self.sockets)

    async def end(self) -> None:
        """End them all, and wait a few steps of the event loop for it."""
        for each in self._ends:
            each.reschedule(asyncio.get_running_loop().time())
        for _ in range(_CLOSE_STEPS):
            if not self._ends:
                break
            await asyncio.sleep(0)


@final
class _Request:
    __slots__ = ("_end", "_ends", "_made", "_sockets", "_token")

    def __init__(self, ends: set[asyncio.Timeout], sockets: weakref.WeakSet[socket.socket]) -> None:
        self._ends = ends
        self._sockets = sockets
        self._end = asyncio.timeout(None)
        self._made: list[socket.socket] = []

    async def __aenter__(self) -> None:
        await self._end.__aenter__()
        self._ends.add(self._end)
        self._token = _new_sockets.set(self._made)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _new_sockets.reset(self._token)
        self._ends.discard(self._end)
        if self._made:
            self._sockets.update(self._made)
        await self._end.__aexit__(kind, error, trace)


@functools.lru_cache(maxsize=64)
def client_timeout(connect: float | None) -> aiohttp.ClientTimeout:
    """The only timeout that is left to aiohttp; the others use the clock."""
    return aiohttp.ClientTimeout(total=None, connect=connect, sock_connect=connect, sock_read=None)


async def _only_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from repeating a request whose connection broke, even PUT and DELETE.

    Also from following redirects, which aiohttp cannot switch off for WebSockets.
    """
    try:
        response = await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise ConnectionCut from error
    if 300 <= response.status < 400 and "Sec-WebSocket-Key" in request.headers:
        response.close()
        raise aiohttp.WSServerHandshakeError(
            response.request_info,
            response.history,
            status=response.status,
            message="redirected (redirects of WebSockets are not followed)",
            headers=response.headers,
        )
    return response


def _tracked_socket(address: Any) -> socket.socket:
    made = keep_alive_socket(address)
    _new_sockets.get([]).append(made)
    return made


def keep_alive_socket(address: Any) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _keep_alive_options().items():
        made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _keep_alive_options() -> dict[int, int]:
    """The socket options of this platform; macOS has another name for the first."""
    if sys.platform == "win32":
        return {}
    idle = "TCP_KEEPALIVE" if sys.platform == "darwin" else "TCP_KEEPIDLE"
    options = {
        idle: TCP_KEEP_IDLE,
        "TCP_KEEPINTVL": TCP_KEEP_INTERVAL,
        "TCP_KEEPCNT": TCP_KEEP_PROBES,
    }
    return {getattr(socket, key): value for key, value in options.items() if hasattr(socket, key)}


def proxy_options(base_url: str, proxy_url: str) -> dict[str, Any]:
    """aiohttp's options for the proxy, if there is one.

    Raises:
        ConfigError: the scheme of the proxy is not supported.
    """
    found = proxy_for(base_url, proxy_url=proxy_url)
    if found is None:
        return {}
    parts = urlsplit(found)
    if parts.scheme not in {"http", "https"}:
        raise ConfigError(
            f"proxy {redacted_url(found)}: {parts.scheme} proxies are not supported"
            " (use an http proxy)"
        )
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    options: dict[str, Any] = {"proxy": URL(bare)}
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        token = base64.b64encode(pair.encode()).decode()
        options["proxy_headers"] = {"Proxy-Authorization": f"Basic {token}"}
    return options


@final
class _TimedResolver(AbstractResolver):
    """Resolves names, and reports the duration to the metrics."""

    def __init__(self, metrics: RequestMetrics, clock: Clock) -> None:
        self._inner = aiohttp.DefaultResolver()
        self._metrics = metrics
        self._clock = clock

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        began = self._clock.now()
        try:
            return await self._inner.resolve(host, port, family)
        finally:
            self._metrics.observe_resolution(host=host, seconds=self._clock.now() - began)

    async def close(self) -> None:
        await self._inner.close()
