"""How a connection is opened: names, addresses, proxies, TLS. One way for all requests.

Guarantees: a call that fails or is cancelled leaves no socket and no task; the event loop is
never blocked by the resolver; a proxy receives its own credentials and no others, and no error
contains them.
See also: `websocket` (what follows an upgrade), `kubeloop.config` (which proxy is used).
"""

from __future__ import annotations

import asyncio
import base64
import errno
import ipaddress
import os
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol, cast, final
from urllib.parse import unquote, urlsplit

from kubeloop.config import redacted_url
from kubeloop.errors import ConfigError

__all__ = ["DialFunction", "Dialer", "ProxyRefused", "ProxyUnreachable"]

DialFunction = Callable[[str, int], Awaitable[socket.socket]]
"""A way of the user's to connect to a host and port, such as a tunnel: a connected socket."""

# The kernel probes a peer that has been silent for 15 s, every 10 s, and closes the connection
# after three probes without acknowledgement: a dead link is detected after 45 s, as with
# client-go's HTTP/2 pings. A live peer acknowledges them, so quiet watches, logs and execs
# stay open. TCP_USER_TIMEOUT is not set: it would also close an exec whose process does not
# read its input for a while.
TCP_KEEP_IDLE = 15
TCP_KEEP_INTERVAL = 10
TCP_KEEP_PROBES = 3
# RFC 8305: how long an address may take before the next one is tried beside it.
_STAGGER = 0.25
_MAX_PROXY_HEAD = 64 * 1024
_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
# python-socks requires a timeout; the caller of `dial` has its own, which is shorter.
_SOCKS_SECONDS = 3600.0


class DialedProtocol(Protocol):
    """A protocol of asyncio that also takes bytes which arrived before it had the connection."""

    def connection_made(self, transport: asyncio.BaseTransport, /) -> None: ...
    def data_received(self, data: bytes, /) -> None: ...


class ProxyUnreachable(OSError):
    """There is no connection to the proxy, or it closed the connection without a response."""


class ProxyRefused(OSError):
    """The proxy responded that it does not connect to the server.

    `status` is that of HTTP, or the reply code of SOCKS; 0 if the response is unusable.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the proxy responded with {status or 'an error'}: {reason}")
        self.status = status
        self.reason = reason


@final
class _Proxy:
    """The parts of a proxy's URL."""

    def __init__(self, url: str) -> None:
        self.name = redacted_url(url)
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            self.scheme = parts.scheme
            self.host = parts.hostname or ""
            self.port = parts.port or _PORTS.get(self.scheme, 0)
        except ValueError as error:
            raise ConfigError(f"proxy {self.name}: not a URL (check proxy-url)") from error
        if self.scheme not in _PORTS:
            raise ConfigError(
                f"proxy {self.name}: {self.scheme} proxies are not supported"
                " (use http, https, socks5 or socks5h)"
            )
        if not self.host:
            raise ConfigError(f"proxy {self.name}: the URL has no host (check proxy-url)")
        self.user = None if parts.username is None else unquote(parts.username)
        self.password = unquote(parts.password or "")
        secrets = (self.user or "", self.password)
        if self.is_socks and any(len(each) > 255 or not each.isascii() for each in secrets):
            raise ConfigError(
                f"proxy {self.name}: the user and the password of a SOCKS proxy are ASCII, and not"
                " longer than 255 characters"
            )

    @property
    def is_socks(self) -> bool:
        return self.scheme.startswith("socks")

    def authorization(self) -> list[tuple[str, str]]:
        if self.user is None:
            return []
        token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return [("Proxy-Authorization", f"Basic {token}")]


@final
class Dialer:
    """Opens connections to one server."""

    def __init__(
        self,
        base_url: str,
        *,
        proxy: str | None,
        dial: DialFunction | None = None,
        on_resolved: Callable[[str, float], None] | None = None,
    ) -> None:
        """Store the addresses; `dial` replaces TCP, to the proxy if there is one.

        `on_resolved` receives each name that was resolved, and the seconds it took.

        Raises:
            ConfigError: the URL or the proxy cannot be used, or its extra is not installed.
        """
        try:
            parts = urlsplit(base_url)
            self._is_plain = parts.scheme == "http"
            self._host = _host_name(parts.hostname or "")
            self._port = parts.port or _PORTS.get(parts.scheme, 443)
        except ValueError as error:
            raise ConfigError(
                f"server {redacted_url(base_url)}: the URL has no valid host name and port"
            ) from error
        self._proxy = _Proxy(proxy) if proxy else None
        self._dial = dial
        self._on_resolved = on_resolved
        self._proxy_tls: ssl.SSLContext | None = None  # made when it is needed
        if self._proxy is not None and self._proxy.is_socks:
            _import_socks(self._proxy.name)

    @property
    def forwards(self) -> bool:
        """Whether requests go to an HTTP proxy, with the absolute URL as their target."""
        return self._is_plain and self._proxy is not None and not self._proxy.is_socks

    @property
    def proxy_headers(self) -> list[tuple[str, str]]:
        """The headers for the proxy, if it forwards requests; the server must not see them."""
        return self._proxy.authorization() if self._proxy is not None and self.forwards else []

    def __repr__(self) -> str:
        through = f" through {self._proxy.name}" if self._proxy else ""
        return f"Dialer({self._host}:{self._port}{through})"

    async def dial(
        self, protocol: DialedProtocol, *, tls: ssl.SSLContext | None, server_hostname: str
    ) -> asyncio.Transport:
        """Open a connection for `protocol`, whose `connection_made` is called.

        Safe to cancel: the connection is aborted. End a connection with `abort()`: `close()`
        waits for the TLS close handshake of the peer.

        Raises:
            socket.gaierror: the host is unknown.
            ssl.SSLError: the TLS handshake failed.
            ProxyUnreachable: there is no connection to the proxy.
            ProxyRefused: the proxy does not connect to the server.
            OSError: there is no connection.
        """
        transport = tcp = await self._open()
        try:
            proxy = self._proxy
            if proxy is not None and not proxy.is_socks:
                transport = await self._pass_proxy(transport, proxy)
            if tls is not None:
                transport = await _start_tls(transport, tls, server_hostname)
            _hand_over(transport, protocol)
        except BaseException:
            # The lowest one: this closes the socket at once, whatever TLS is doing.
            tcp.abort()
            raise
        return transport

    async def _open(self) -> asyncio.Transport:
        """A connection to the server, or to the HTTP proxy."""
        proxy = self._proxy
        if proxy is None:
            transport = await self._connect(self._host, self._port)
        elif proxy.is_socks:
            transport = await self._connect_socks(proxy)
        else:
            try:
                transport = await self._connect(proxy.host, proxy.port)
            except OSError as error:
                raise ProxyUnreachable(f"proxy {proxy.name}: {error}") from error
        _set_options(transport)
        return transport

    # ---- TCP

    async def _connect(self, host: str, port: int) -> asyncio.Transport:
        if self._dial is not None:
            return await _adopt(await self._dial(host, port))
        addresses = await self._resolve(host, port)
        race = _Race(addresses, port)
        return await race.run()

    async def _resolve(self, host: str, port: int) -> list[str]:
        """The addresses of a host, the families by turns (RFC 8305)."""
        if _is_address(host):
            return [host]
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError as error:
            raise socket.gaierror(socket.EAI_NONAME, f"not a host name: {host!r}") from error
        finally:
            if self._on_resolved is not None:
                self._on_resolved(host, loop.time() - began)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        return _interleave([(family, str(address[0])) for family, _, _, _, address in found])

    # ---- proxies

    async def _connect_socks(self, proxy: _Proxy) -> asyncio.Transport:
        # As in Go, the proxy resolves the name, with "socks5" as well: it is often the only one
        # that can.
        library = _import_socks(proxy.name)
        via: Any = None if self._dial is None else _DialedProxy(self._dial)
        client = library.async_.asyncio.Proxy(
            library.ProxyType.SOCKS5,
            proxy.host,
            proxy.port,
            username=proxy.user,
            password=proxy.password,
            rdns=True,
            forward=via,
        )
        try:
            made: socket.socket = await client.connect(
                self._host, self._port, timeout=_SOCKS_SECONDS
            )
        except library.ProxyError as error:
            raise ProxyRefused(error.error_code or 0, _printable(str(error))) from error
        except OSError as error:
            raise ProxyUnreachable(f"proxy {proxy.name}: {error}") from error
        return await _adopt(made)

    async def _pass_proxy(self, transport: asyncio.Transport, proxy: _Proxy) -> asyncio.Transport:
        """Through an HTTP proxy: TLS with the proxy if it wants it, and a tunnel."""
        try:
            if proxy.scheme == "https":
                context = self._proxy_tls
                if context is None:
                    context = self._proxy_tls = ssl.create_default_context()
                    context.set_alpn_protocols(["http/1.1"])
                transport = await _start_tls(transport, context, proxy.host)
            if not self.forwards:
                await _request_tunnel(transport, self._host, self._port, proxy.authorization())
        except (ProxyRefused, ProxyUnreachable):
            raise
        except OSError as error:
            raise ProxyUnreachable(f"proxy {proxy.name}: {error}") from error
        return transport


@final
class _Race:
    """Connects to several addresses, a new one every 250 ms, until one is connected."""

    def __init__(self, addresses: list[str], port: int) -> None:
        self._addresses = addresses
        self._port = port
        self._changed = asyncio.Event()
        self._failures: list[tuple[str, OSError]] = []
        self._winner: asyncio.Transport | None = None

    async def run(self) -> asyncio.Transport:
        """Safe to cancel: all connections are closed.

        Raises:
            OSError: none is connected: the first failure, with the others in its text.
        """
        try:
            if len(self._addresses) == 1:
                await self._attempt(self._addresses[0])
            else:
                await self._run_attempts()
        except BaseException:
            if self._winner is not None:
                self._winner.abort()
            raise
        if self._winner is None:
            raise _joined(self._failures)
        return self._winner

    async def _run_attempts(self) -> None:
        async with asyncio.TaskGroup() as group:
            attempts = []
            for address in self._addresses:
                self._changed.clear()
                attempts.append(group.create_task(self._attempt(address)))
                with suppress(TimeoutError):
                    async with asyncio.timeout(_STAGGER):
                        await self._changed.wait()
                if self._winner is not None:
                    break
            while self._winner is None and len(self._failures) < len(self._addresses):
                self._changed.clear()
                await self._changed.wait()
            for attempt in attempts:
                attempt.cancel()

    async def _attempt(self, address: str) -> None:
        try:
            transport, _ = await asyncio.get_running_loop().create_connection(
                _Opening, host=address, port=self._port
            )
        except OSError as error:
            self._failures.append((address, error))
        else:
            if self._winner is None:
                self._winner = transport
            else:
                transport.abort()
        self._changed.set()


def _joined(failures: list[tuple[str, OSError]]) -> OSError:
    """The first failure, with the others in its text."""
    texts = [f"{address}: {_os_text(error)}" for address, error in failures]
    first = failures[0][1]
    # With a number, Python selects the class: ConnectionRefusedError, TimeoutError, ...
    failure = OSError(first.errno or errno.ENOTCONN, "; ".join(texts))
    failure.__cause__ = first
    return failure


def _os_text(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def _interleave(found: list[tuple[int, str]]) -> list[str]:
    """The addresses, the families by turns; the resolver's order within a family."""
    families: dict[int, list[str]] = {}
    for family, address in dict.fromkeys(found):
        families.setdefault(family, []).append(address)
    longest = max(len(each) for each in families.values())
    return [
        each[number]
        for number in range(longest)
        for each in families.values()
        if number < len(each)
    ]


def _host_name(host: str) -> str:
    """The host of a URL as it is sent: in ASCII, and without the escapes of an IPv6 zone.

    Raises:
        ValueError: it has characters that would break the head of a request, or is empty.
    """
    # The codec is imported only for names that need it.
    name = unquote(host) if host.isascii() else host.encode("idna").decode()
    if not name.isascii() or not name.isprintable() or " " in name or not name:
        raise ValueError
    return name


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


# ---- transports


@final
class _Opening(asyncio.Protocol):
    """The protocol of a connection while it is opened: keeps what arrives."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.ended: Exception | None = None
        self._arrived: asyncio.Future[None] | None = None

    def data_received(self, data: bytes) -> None:
        self.received += data
        self._wake()

    def eof_received(self) -> bool:
        self.connection_lost(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if self.ended is None:
            self.ended = exc or ConnectionResetError(
                errno.ECONNRESET, "the connection was closed by the peer"
            )
        self._wake()

    def _wake(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    async def head(self) -> bytes:
        """The head of an HTTP response. Safe to cancel.

        Raises:
            OSError: the connection was closed.
            ProxyRefused: it is too long, or bytes follow that were not requested.
        """
        while (end := self.received.find(b"\r\n\r\n")) < 0:
            if len(self.received) > _MAX_PROXY_HEAD:
                raise ProxyRefused(0, f"the head is longer than {_MAX_PROXY_HEAD} bytes")
            if self.ended is not None:
                raise self.ended
            self._arrived = asyncio.get_running_loop().create_future()
            await self._arrived
        return bytes(self.received[:end])


def _opening_of(transport: asyncio.Transport) -> _Opening:
    protocol = transport.get_protocol()
    assert isinstance(protocol, _Opening)
    return protocol


def _hand_over(transport: asyncio.Transport, protocol: DialedProtocol) -> None:
    """Give a connection to its user, with what arrived meanwhile."""
    opening = _opening_of(transport)
    if opening.ended is not None:
        raise opening.ended
    transport.set_protocol(cast("asyncio.BaseProtocol", protocol))
    protocol.connection_made(transport)
    if opening.received:
        protocol.data_received(bytes(opening.received))


async def _start_tls(
    transport: asyncio.Transport, context: ssl.SSLContext, server_hostname: str
) -> asyncio.Transport:
    """Do the TLS handshake; the caller aborts `transport` if this fails."""
    before = _opening_of(transport)
    if before.ended is not None:
        raise before.ended
    # A protocol for the transport: data may arrive with the end of the handshake.
    secured = await asyncio.get_running_loop().start_tls(
        transport, _Opening(), context, server_hostname=server_hostname or None
    )
    if secured is None:
        raise ConnectionResetError(errno.ECONNRESET, "closed during the TLS handshake")
    # While its user has paused reading, bytes stay in the socket: uvloop drops those that it holds
    # when the server closes the connection meanwhile.
    limit = getattr(secured, "set_read_buffer_limits", None)
    if limit is not None:  # a simulated loop has none
        limit(high=1, low=0)
    # The transport keeps the server's certificate as some 40 objects, which no one reads: 2 kB
    # for each of hundreds of watches.
    certificate = secured.get_extra_info("peercert")
    if isinstance(certificate, dict):
        certificate.clear()
    return secured


async def _request_tunnel(
    transport: asyncio.Transport, host: str, port: int, headers: list[tuple[str, str]]
) -> None:
    """CONNECT; after it the bytes of the connection are those of the server."""
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    lines += [f"{name}: {value}" for name, value in headers]
    transport.write("\r\n".join([*lines, "", ""]).encode())
    opening = _opening_of(transport)
    head = await opening.head()
    version, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
    status, _, reason = rest.partition(" ")
    if version not in {"HTTP/1.0", "HTTP/1.1"} or not (
        len(status) == 3 and status.isascii() and status.isdigit()
    ):
        raise ProxyRefused(0, "the response is not HTTP")
    if not status.startswith("2"):
        raise ProxyRefused(int(status), _printable(reason))
    if len(opening.received) > len(head) + 4:
        # The server speaks after the client: so these bytes are not the server's.
        raise ProxyRefused(int(status), "data follows the response to CONNECT")


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)[:200].strip()


async def _adopt(made: socket.socket) -> asyncio.Transport:
    """A transport for a connected socket; closes the socket if that fails."""
    loop = asyncio.get_running_loop()
    try:
        made.settimeout(0)
        if made.family == getattr(socket, "AF_UNIX", None):
            local, _ = await loop.create_unix_connection(_Opening, sock=made)
            return local
        transport, _ = await loop.create_connection(_Opening, sock=made)
    except BaseException:
        made.close()
        raise
    return transport


def _set_options(transport: asyncio.Transport) -> None:
    """Keep-alive and no delay, where the transport has a socket for them."""
    made = transport.get_extra_info("socket")
    if made is None:  # a simulated loop
        return
    with suppress(OSError, AttributeError, TypeError):  # a Unix socket, a socket of a tunnel
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option, value in _keep_alive_options().items():
            made.setsockopt(socket.IPPROTO_TCP, option, value)


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


# ---- SOCKS


@final
class _DialedProxy:
    """For python-socks: connects to the proxy with the user's function."""

    def __init__(self, dial: DialFunction) -> None:
        self._dial = dial

    async def connect(self, dest_host: str, dest_port: int, **_: object) -> socket.socket:
        made = await self._dial(dest_host, dest_port)
        made.settimeout(0)
        return made


def _import_socks(name: str) -> Any:
    try:
        import python_socks.async_.asyncio
    except ImportError as error:
        raise ConfigError(
            f"proxy {name}: SOCKS proxies need python-socks (install kubeloop[socks])"
        ) from error
    return python_socks
