"""A listening socket that leaves no open connection behind.

Guarantees: when the block ends, every connection that was accepted in it is closed, whatever
the peer does: in the middle of a handshake, without answering the TLS close handshake, or just
accepted.
Why not `loop.create_server`: before Python 3.13 it does not know its connections, and it loses
one that arrives while it is being closed. With 3.13 as the oldest supported version this module
can go (`Server.close_clients`).
See also: closing connections (`sockets`).
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
from typing import Any, TypeAlias, final

from .sockets import abort_connections
from .tasks import cancel_and_wait

__all__ = ["listen"]

log = logging.getLogger(__name__)

_Factory: TypeAlias = Callable[[], asyncio.BaseProtocol]

_BACKLOG = 128  # connections that may wait to be accepted
_BATCH = 16  # accepted in one iteration of the event loop
_NO_SUCH_FAMILY = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}
_RETRY_DELAY = 1.0  # s, after accept() has failed
_CLOSE_GRACE = 0.25  # s, for a connection to close by itself


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
        listener.open(sockets)
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
        self._sockets: list[socket.socket] = []
        self._connections: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    def open(self, sockets: list[socket.socket]) -> None:
        self._sockets = sockets
        for each in sockets:
            each.listen(_BACKLOG)
            try:
                self._start_accepting(each)
            except NotImplementedError:  # Windows' own loop
                self._spawn(self._accept_forever(each))

    async def stop(self) -> None:
        """Accept no more connections, and abort those that are still in their handshake."""
        self._is_stopped = True
        for each in self._sockets:
            self._stop_accepting(each)
        try:
            # A connection accepted just now: a task that never began would not close it.
            await asyncio.sleep(0)
            for task in self._tasks:
                task.cancel()
            for task in list(self._tasks):
                await cancel_and_wait(task)
        finally:
            for each in self._sockets:
                each.close()

    async def abort_connections(self) -> None:
        """Abort what has not closed after a short grace; last bytes may still be in flight."""
        await abort_connections(self._connections, after=_CLOSE_GRACE)

    # --- accepting

    def _start_accepting(self, listening: socket.socket) -> None:
        if not self._is_stopped:
            self._loop.add_reader(listening, self._accept, listening)

    def _stop_accepting(self, listening: socket.socket) -> None:
        with contextlib.suppress(NotImplementedError):
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
            self._serve(connection)

    async def _accept_forever(self, listening: socket.socket) -> None:
        while True:
            connection, _ = await self._loop.sock_accept(listening)
            self._serve(connection)

    # --- serving

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(0)
        try:
            protocol = self._protocol()
        except Exception:
            log.exception("cannot create the protocol of a connection, closing it")
            connection.close()
            return
        self._connections.add(connection)
        self._spawn(self._connect(connection, protocol))

    async def _connect(self, connection: socket.socket, protocol: asyncio.BaseProtocol) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=self._tls)
        except OSError as error:  # ssl.SSLError is one
            log.debug("a connection failed in its handshake: %s", error)

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


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
