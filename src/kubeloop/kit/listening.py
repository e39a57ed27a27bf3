"""An address that is listened at, and that nobody is left standing at afterwards.

Promises: when the block ends, so has every connection that came in during it, whatever the
peer does about it: in the middle of a handshake, deaf to TLS's farewell, or just accepted.
Why not the loop's own server: before Python 3.13 it has no list of its connections, and one
that is closed between a connection's arrival and its handing over loses it.
Elsewhere: what is said over a connection (whoever brings the protocol), cutting it (`sockets`).
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

from .sockets import cut_off
from .tasks import cancel_and_wait

__all__ = ["listening"]

log = logging.getLogger(__name__)

_Factory: TypeAlias = Callable[[], asyncio.BaseProtocol]

_BACKLOG = 128  # peers that may wait to be let in
_AT_ONCE = 16  # of them in one turn of the loop
_NO_SUCH_FAMILY = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}
_PAUSE = 1.0  # s, when the system gives no connection
_MOMENT = 0.25  # s, for a connection to come to its end once that was asked for


@contextlib.asynccontextmanager
async def listening(
    protocol: _Factory,
    host: str,
    port: int,
    *,
    finish: Callable[[], Awaitable[object]],
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Accept connections while the block lasts; the block is told the port, also for 0.

    At its end no more come in, then `finish` lets those that are open come to theirs, and
    what is left is cut. `finish` is called in any case.

    Raises: OSError, OverflowError when the address cannot be had.
    """
    door = _Door(protocol, tls)
    try:
        sockets = await _bound(host, port)
        door.open(sockets)
        yield sockets[0].getsockname()[1]
    finally:
        try:
            await door.shut()
            await finish()
        finally:
            await door.clear()


@final
class _Door:
    """Lets peers in, and knows all whom it let in."""

    def __init__(self, protocol: _Factory, tls: ssl.SSLContext | None) -> None:
        self._protocol = protocol
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._sockets: list[socket.socket] = []
        self._guests: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_shut = False

    def open(self, sockets: list[socket.socket]) -> None:
        self._sockets = sockets
        for each in sockets:
            each.listen(_BACKLOG)
            try:
                self._admit(each)
            except NotImplementedError:  # Windows' own loop
                self._own(self._wait_for_guests(each))

    async def shut(self) -> None:
        """Let nobody in any more; a handshake that is not over by now will not be."""
        self._is_shut = True
        for each in self._sockets:
            self._keep_waiting(each)
        try:
            await asyncio.sleep(0)  # a guest of this moment: a task that never began ends nothing
            for task in self._tasks:
                task.cancel()
            for task in list(self._tasks):
                await cancel_and_wait(task)
        finally:
            for each in self._sockets:
                each.close()

    async def clear(self) -> None:
        """Cut whoever has not left in a moment; last words may still be on their way."""
        await cut_off(self._guests, after=_MOMENT)

    # --- at the door

    def _admit(self, entrance: socket.socket) -> None:
        if not self._is_shut:
            self._loop.add_reader(entrance, self._let_in, entrance)

    def _keep_waiting(self, entrance: socket.socket) -> None:
        with contextlib.suppress(NotImplementedError):
            self._loop.remove_reader(entrance)

    def _let_in(self, entrance: socket.socket) -> None:
        for _ in range(_AT_ONCE):
            try:
                guest, _address = entrance.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # the process has no file left, say
                log.warning("accept a connection: %s (trying again in %g s)", error, _PAUSE)
                self._keep_waiting(entrance)
                self._loop.call_later(_PAUSE, self._admit, entrance)
                return
            self._welcome(guest)

    async def _wait_for_guests(self, entrance: socket.socket) -> None:
        while True:
            guest, _ = await self._loop.sock_accept(entrance)
            self._welcome(guest)

    # --- inside

    def _welcome(self, guest: socket.socket) -> None:
        guest.settimeout(0)
        try:
            protocol = self._protocol()
        except Exception:
            log.exception("a connection cannot be served")
            guest.close()
            return
        self._guests.add(guest)
        self._own(self._hand_over(guest, protocol))

    async def _hand_over(self, guest: socket.socket, protocol: asyncio.BaseProtocol) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: protocol, guest, ssl=self._tls)
        except OSError as error:  # TLS's errors are some
            log.debug("a connection ended before it began: %s", error)

    def _own(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _bound(host: str, port: int) -> list[socket.socket]:
    """A socket for every address of a host; "localhost" may be one that the system lacks."""
    kind, flags = socket.SOCK_STREAM, socket.AI_PASSIVE
    try:
        found = socket.getaddrinfo(
            host or None, port, type=kind, flags=flags | socket.AI_NUMERICHOST
        )
    except socket.gaierror:  # a name, which may take a while
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=kind, flags=flags)
    sockets: list[socket.socket] = []
    missing: list[OSError] = []
    try:
        for family, _, proto, _, address in dict.fromkeys(found):
            try:
                sockets.append(_bound_to(address, family, proto))
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


def _bound_to(address: Any, family: int, proto: int) -> socket.socket:
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
