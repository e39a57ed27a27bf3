"""A listening socket that leaves no open connection behind.

Guarantees: when the block ends, every connection that was accepted in it is closed, whatever
the peer does: in the middle of a handshake, without answering the TLS close handshake, or just
accepted.
Without TLS it needs only `create_server` of the loop, so that any event loop can serve, a
simulated one included. Connections with TLS are accepted here: a server of asyncio does not
know those in their handshake, and uvloop reads the first bytes of a connection before its
protocol could start TLS.
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
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, cast, final

from .tasks import cancel_and_wait

__all__ = ["listen"]

log = logging.getLogger(__name__)

_Factory: TypeAlias = Callable[[], asyncio.BaseProtocol]

_BACKLOG = 128  # connections that may wait to be accepted
_BATCH = 16  # accepted in one iteration of the event loop
_RETRY_DELAY = 1.0  # s, after accept() has failed
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
        self._listening: list[socket.socket] = []
        self._servers: list[asyncio.AbstractServer] = []  # without TLS
        # A dict, and no set: its order is that of the connections, in every process.
        self._transports: weakref.WeakKeyDictionary[asyncio.Transport, None] = (
            weakref.WeakKeyDictionary()
        )
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()  # with TLS
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    async def open(self, sockets: list[socket.socket]) -> None:
        self._listening = sockets
        for each in sockets:
            if self._tls is None:
                server = await self._loop.create_server(
                    lambda: _Accepted(self), sock=each, backlog=_BACKLOG
                )
                self._servers.append(server)
            else:
                each.listen(_BACKLOG)
                try:
                    self._start_accepting(each)
                except NotImplementedError:  # Windows' own loop
                    self._spawn(self._accept_forever(each))

    async def stop(self) -> None:
        """Accept no more connections, and abort those that are still in their handshake."""
        self._is_stopped = True
        # asyncio loses a connection that was accepted and is not served yet when its server
        # closes: stop accepting first, and wait until those are known.
        for each in self._listening:
            self._stop_accepting(each)
        try:
            for _ in range(_ITERATIONS):
                await asyncio.sleep(0)
            for task in self._tasks:
                task.cancel()
            for task in list(self._tasks):
                await cancel_and_wait(task)
        finally:
            for server in self._servers:
                server.close()
            for each in self._listening:
                each.close()

    async def abort_connections(self) -> None:
        """Abort what has not closed after a short grace; last bytes may still be in flight."""
        for pause in [0.0] * _ITERATIONS + [_CLOSE_GRACE / _CHECKS] * _CHECKS:
            if self._are_closed():
                break
            await asyncio.sleep(pause)
        for transport in list(self._transports):
            # One that has sent all ends by itself; asyncio's fails if it has done so already.
            if not _has_sent_all(transport):
                transport.abort()
        for each in list(self._sockets):
            # The TLS transport waits for the peer's close_notify; a shutdown ends that.
            if each.fileno() != -1:
                with contextlib.suppress(OSError):  # the peer was faster
                    each.shutdown(socket.SHUT_RDWR)
        for _ in range(_ITERATIONS):
            await asyncio.sleep(0)

    def _are_closed(self) -> bool:
        return all(map(_has_sent_all, list(self._transports))) and all(
            each.fileno() == -1 for each in self._sockets
        )

    # --- without TLS

    def serve(self, transport: asyncio.Transport) -> None:
        """Pass a connection that was accepted to its protocol."""
        self._transports[transport] = None
        protocol = None if self._is_stopped else self._new_protocol()
        if protocol is None:
            transport.abort()
            return
        transport.set_protocol(protocol)
        protocol.connection_made(transport)

    def _new_protocol(self) -> asyncio.BaseProtocol | None:
        try:
            return self._protocol()
        except Exception:
            log.exception("cannot create the protocol of a connection, closing it")
            return None

    # --- with TLS

    def _start_accepting(self, listening: socket.socket) -> None:
        if not self._is_stopped:
            self._loop.add_reader(listening, self._accept, listening)

    def _stop_accepting(self, listening: socket.socket) -> None:
        with contextlib.suppress(NotImplementedError, RuntimeError):  # other event loops
            self._loop.remove_reader(listening)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_BATCH):
            try:
                connection, _address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # such as too many open files
                log.warning("accept a connection: %s, will retry in %g s", error, _RETRY_DELAY)
                self._stop_accepting(listening)
                self._loop.call_later(_RETRY_DELAY, self._start_accepting, listening)
                return
            self._serve_tls(connection)

    async def _accept_forever(self, listening: socket.socket) -> None:
        while True:
            connection, _ = await self._loop.sock_accept(listening)
            self._serve_tls(connection)

    def _serve_tls(self, connection: socket.socket) -> None:
        connection.settimeout(0)
        protocol = self._new_protocol()
        if protocol is None:
            connection.close()
            return
        self._sockets.add(connection)
        self._spawn(self._handshake(connection, protocol))

    async def _handshake(self, connection: socket.socket, protocol: asyncio.BaseProtocol) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=self._tls)
        except OSError as error:  # ssl.SSLError is one
            log.debug("a connection failed in its handshake: %s", error)

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@final
class _Accepted(asyncio.Protocol):
    """The protocol of a connection without TLS until it has its own one."""

    def __init__(self, listener: _Listener) -> None:
        self._listener = listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._listener.serve(cast("asyncio.Transport", transport))


async def _bind(host: str, port: int) -> list[socket.socket]:
    """A socket for every address of `host`; an address family that the system lacks is skipped."""
    bind = getattr(asyncio.get_running_loop(), "bind", None)
    if bind is not None:  # a simulated loop, which has a network of its own
        return [bind(host, port)]
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


def _has_sent_all(transport: asyncio.Transport) -> bool:
    return transport.is_closing() and not transport.get_write_buffer_size()
