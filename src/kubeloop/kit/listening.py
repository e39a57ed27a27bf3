"""A listening socket that leaves no open connection behind.

Guarantees: when the block ends, every connection that was accepted in it is closed, whatever
the peer does: in the middle of a handshake, without answering the TLS close handshake, or just
accepted.
Why not `asyncio.Server` alone: before Python 3.13 it does not know its connections. Each
connection is passed on by a protocol of this module, which knows it from the first moment on;
only `create_server` and `start_tls` of the loop are used, so that any event loop can serve.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import ssl
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, cast, final

from .tasks import cancel_and_wait

__all__ = ["listen"]

log = logging.getLogger(__name__)

_Factory: TypeAlias = Callable[[], asyncio.BaseProtocol]

_FEED = 16384  # bytes that any TLS protocol accepts at once
_BACKLOG = 128  # connections that may wait to be accepted
_NO_SUCH_FAMILY = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}
_CLOSE_GRACE = 0.25  # s, for a connection to close by itself
_CHECKS = 25  # of that, within the grace
_ITERATIONS = 10  # of the event loop; a transport needs four to see that its peer is gone


@contextlib.asynccontextmanager
async def listen(
    protocol: _Factory,
    host: str,
    port: int,
    *,
    finish: Callable[[], Awaitable[object]],
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Accept connections while the block lasts; yields the port, which the system chose for 0.

    At its end no more connections are accepted, then `finish` lets the open ones end, and those
    that remain are aborted. `finish` is called in any case.

    Raises: OSError, OverflowError when the address cannot be bound.
    """
    listener = _Listener(protocol, tls)
    try:
        sockets = await _bind(host, port)
        await listener.open(sockets)
        yield sockets[0].getsockname()[1]
    finally:
        try:
            await listener.stop()
            await finish()
        finally:
            await listener.abort_connections()


@final
class _Listener:
    """Accepts connections and knows each one that is open."""

    def __init__(self, protocol: _Factory, tls: ssl.SSLContext | None) -> None:
        self._protocol = protocol
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._servers: list[asyncio.AbstractServer] = []
        self._sockets: list[socket.socket] = []
        # Those below TLS, from the first moment on.
        self._connections: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()
        self._handshakes: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    async def open(self, sockets: list[socket.socket]) -> None:
        self._sockets = sockets
        for each in sockets:
            server = await self._loop.create_server(
                lambda: _Accepted(self), sock=each, backlog=_BACKLOG
            )
            self._servers.append(server)

    async def stop(self) -> None:
        """Accept no more connections, and abort those that are still in their handshake."""
        self._is_stopped = True
        # asyncio loses a connection that was accepted and is not served yet when its server
        # closes: stop accepting first, and wait until those are known.
        for listening in self._sockets:
            with contextlib.suppress(NotImplementedError, RuntimeError):  # other event loops
                self._loop.remove_reader(listening)
        try:
            for _ in range(_ITERATIONS):
                await asyncio.sleep(0)
        finally:
            for server in self._servers:
                server.close()
            for listening in self._sockets:
                listening.close()
        await asyncio.sleep(0)
        for task in list(self._handshakes):
            await cancel_and_wait(task)

    async def abort_connections(self) -> None:
        """Abort what has not closed after a short grace; last bytes may still be in flight."""
        for pause in [0.0] * _ITERATIONS + [_CLOSE_GRACE / _CHECKS] * _CHECKS:
            if all(map(_is_closed, self._connections)):
                break
            await asyncio.sleep(pause)
        for each in list(self._connections):
            each.abort()
        for _ in range(_ITERATIONS):
            await asyncio.sleep(0)

    def serve(self, transport: asyncio.Transport, accepted: _Accepted) -> None:
        """Pass a connection that was accepted to its protocol."""
        self._connections.add(transport)
        if self._is_stopped:
            transport.abort()
            return
        try:
            protocol = self._protocol()
        except Exception:
            log.exception("cannot create the protocol of a connection, closing it")
            transport.abort()
            return
        if self._tls is None:
            transport.set_protocol(protocol)
            protocol.connection_made(transport)
            return
        transport.pause_reading()  # the first bytes are for `start_tls`
        task = self._loop.create_task(self._handshake(transport, accepted, protocol, self._tls))
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _handshake(
        self,
        transport: asyncio.Transport,
        accepted: _Accepted,
        protocol: asyncio.BaseProtocol,
        tls: ssl.SSLContext,
    ) -> None:
        try:
            transport.pause_reading()
            start = self._loop.create_task(
                self._loop.start_tls(transport, protocol, tls, server_side=True)
            )
            await asyncio.sleep(0)
            if accepted.early:
                # After the callback that `start_tls` has scheduled, and before more bytes are read.
                self._loop.call_soon(_feed, transport, accepted.early)
            secure = await start
        except OSError as error:  # ssl.SSLError is one
            log.debug("a connection failed in its handshake: %s", error)
            transport.abort()
        except BaseException:
            transport.abort()
            raise
        else:
            if secure is None:  # the peer was faster
                transport.abort()
            else:
                protocol.connection_made(secure)


@final
class _Accepted(asyncio.Protocol):
    """The protocol of a connection until it has its own one."""

    def __init__(self, listener: _Listener) -> None:
        self._listener = listener
        self.early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._listener.serve(cast("asyncio.Transport", transport), self)

    def data_received(self, data: bytes) -> None:
        # uvloop starts to read after `connection_made`, also if that has paused it.
        self.early += data


def _feed(transport: asyncio.Transport, data: bytes) -> None:
    """Pass bytes to the TLS protocol of a connection, as if they had been read now."""
    protocol = cast("asyncio.BufferedProtocol", transport.get_protocol())
    for start in range(0, len(data), _FEED):
        part = data[start : start + _FEED]
        memoryview(protocol.get_buffer(len(part)))[: len(part)] = part
        protocol.buffer_updated(len(part))


def _is_closed(transport: asyncio.Transport) -> bool:
    return transport.is_closing() and not transport.get_write_buffer_size()


async def _bind(host: str, port: int) -> list[socket.socket]:
    """A socket for every address of `host`; an address family that the system lacks is skipped."""
    kind, flags = socket.SOCK_STREAM, socket.AI_PASSIVE
    try:
        found = socket.getaddrinfo(
            host or None, port, type=kind, flags=flags | socket.AI_NUMERICHOST
        )
    except socket.gaierror:  # a name: resolve it without blocking the loop
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=kind, flags=flags)
    sockets: list[socket.socket] = []
    missing: list[OSError] = []
    try:
        for family, _, proto, _, address in dict.fromkeys(found):
            try:
                sockets.append(_bind_to(address, family, proto))
            except OSError as error:
                if error.errno not in _NO_SUCH_FAMILY:
                    raise
                missing.append(error)
        if missing and not sockets:
            raise missing[0]
    except BaseException:
        for each in sockets:
            each.close()
        raise
    return sockets


def _bind_to(address: Any, family: int, proto: int) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM, proto)
    try:
        bound.settimeout(0)
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except BaseException:
        bound.close()
        raise
    return bound
