"""How connections are made: sockets, proxies, names, and a session that hides nothing.

Promises: the HTTP library bounds nothing but the making of a connection, and repeats no
request by itself; a proxy is told its own credentials and nobody else's.
Elsewhere: what goes over them (`transport`), which proxy (`kubeloop.config`).
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

from .failures import Cut
from .metrics import RequestMetrics

__all__ = [
    "KEEP_ALIVE",
    "UnderWay",
    "client_timeout",
    "kept_alive_socket",
    "open_session",
    "proxy_options",
    "report_unclosed",
]

log = get_logger(__name__)

# The server drops connections that were idle for 90 s. HTTP/1.1 has no way to say so in
# time, and a POST that meets it must not be repeated: ours go first.
KEEP_ALIVE = 85.0
# The kernel probes a peer that has been silent for 15 s, every 10 s, and ends the connection
# when three probes stay without an acknowledgement: a dead link is noticed after 45 s, as by
# client-go's HTTP/2 pings. A peer that lives acknowledges them, so quiet watches, logs and
# execs last. TCP_USER_TIMEOUT is not set: it would also end an exec whose process does not
# read its input for a while.
TCP_KEEP_IDLE = 15
TCP_KEEP_INTERVAL = 10
TCP_KEEP_PROBES = 3
_READ_BUFFER = 2**17
_LONGEST_HEADER = 2**16
# Turns of the loop that a request needs to notice that its client was closed.
_TURNS = 10

# The sockets that the request on its way has made.
_making: ContextVar[list[socket.socket]] = ContextVar("kubeloop sockets in the making")


def open_session(*, clock: Clock, metrics: RequestMetrics | None) -> aiohttp.ClientSession:
    """A session with a pool of connections; needs a running loop."""
    connector = aiohttp.TCPConnector(
        # Watches hold their connection for minutes: a limit here would be a deadlock.
        limit=0,
        keepalive_timeout=KEEP_ALIVE,
        socket_factory=_noted_socket,
        resolver=_TimedResolver(metrics, clock) if metrics else None,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        # No total: aiohttp's own five minutes would cut every watch.
        timeout=client_timeout(None),
        middlewares=(_only_once,),
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        raise_for_status=False,
        auto_decompress=False,  # `incoming` unpacks, in pieces
        trust_env=False,
        read_bufsize=_READ_BUFFER,
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
    )


def report_unclosed(
    session: aiohttp.ClientSession,
    loop: asyncio.AbstractEventLoop,
    *,
    server: str,
    owner: weakref.ref[object],
) -> None:
    """Say that a client was forgotten open, and close its connections.

    Called when the client is collected, in whatever thread that happens, or at exit. The HTTP
    library would report objects of which a user of kubeloop knows nothing.
    """
    is_exit = owner() is not None
    # At exit a loop that is not closed runs in another thread, whose owner closes its clients
    # (`kubeloop.blocking` does), or in the parent of this process.
    if session.closed or (is_exit and not loop.is_closed()):
        return
    fault = (
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
    log.warning("%s", fault)
    warnings.warn(fault, ResourceWarning, stacklevel=2)


def _close_connector(connector: aiohttp.BaseConnector) -> None:
    # One step closes them all; the others only wait for the end, and there is no one to wait.
    steps = connector.close().__await__()
    with suppress(StopIteration):
        next(steps)
    steps.close()


@final
class UnderWay:
    """Requests whose answer has not begun: each is a block, and all can be ended.

    The sockets that a block makes are in `sockets` once it is over, and not before: until a
    connection stands its socket is nobody's but the loop's. uvloop closes the file of one that
    was cut by then, and leaves the socket to close it once more.
    """

    def __init__(self) -> None:
        self.sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._ends: set[asyncio.Timeout] = set()

    def request(self) -> _Request:
        """A block around one request; it raises TimeoutError when it was ended."""
        return _Request(self._ends, self.sockets)

    async def end(self) -> None:
        """End them all; those that need longer than a few turns of the loop are left to it."""
        for each in self._ends:
            each.reschedule(asyncio.get_running_loop().time())
        for _ in range(_TURNS):
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
        self._token = _making.set(self._made)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _making.reset(self._token)
        self._ends.discard(self._end)
        if self._made:
            self._sockets.update(self._made)
        await self._end.__aexit__(kind, error, trace)


@functools.lru_cache(maxsize=64)
def client_timeout(connect: float | None) -> aiohttp.ClientTimeout:
    """The only bound that aiohttp keeps for us; the others are the clock's."""
    return aiohttp.ClientTimeout(total=None, connect=connect, sock_connect=connect, sock_read=None)


async def _only_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from repeating a request whose connection broke: PUT and DELETE, too.

    And from following redirects, which for websockets cannot be switched off.
    """
    try:
        response = await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise Cut from error
    if 300 <= response.status < 400 and "Sec-WebSocket-Key" in request.headers:
        response.close()
        raise aiohttp.WSServerHandshakeError(
            response.request_info,
            response.history,
            status=response.status,
            message="a redirect, which a websocket does not follow",
            headers=response.headers,
        )
    return response


def _noted_socket(address: Any) -> socket.socket:
    made = kept_alive_socket(address)
    _making.get([]).append(made)
    return made


def kept_alive_socket(address: Any) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _keep_alive_options().items():
        made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _keep_alive_options() -> dict[int, int]:
    """The options of this platform, with their values; macOS has another name for the first."""
    if sys.platform == "win32":
        return {}
    idle = "TCP_KEEPALIVE" if sys.platform == "darwin" else "TCP_KEEPIDLE"
    wanted = {
        idle: TCP_KEEP_IDLE,
        "TCP_KEEPINTVL": TCP_KEEP_INTERVAL,
        "TCP_KEEPCNT": TCP_KEEP_PROBES,
    }
    return {getattr(socket, name): value for name, value in wanted.items() if hasattr(socket, name)}


def proxy_options(base_url: str, proxy_url: str) -> dict[str, Any]:
    """aiohttp's options for the proxy, if there is one.

    Raises:
        ConfigError: it is of a kind that we do not speak.
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
    """Looks up names and reports how long it took."""

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
            self._metrics.resolved(host=host, seconds=self._clock.now() - began)

    async def close(self) -> None:
        await self._inner.close()
