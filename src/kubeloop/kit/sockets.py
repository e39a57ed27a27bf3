"""Aborts connections whose peer does not respond.

Guarantees: an aborted connection is closed after a few iterations of the event loop, whatever
its peer does.
See also: accepting connections (`listening`).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterable

__all__ = ["abort_connections"]

_ITERATIONS = 10  # of the event loop; a transport needs four to see that its peer is gone
_CHECKS = 25  # within the grace


async def abort_connections(sockets: Iterable[socket.socket], *, after: float = 0.0) -> None:
    """Abort the connections of these sockets that are still open after `after` seconds.

    For transports that were closed already. A TLS transport sends close_notify first and waits
    for the reply, 30 s if the peer is dead. An event loop that ends meanwhile logs an error
    (asyncio) or never ends (uvloop). Shutting the socket down lets the transport close.
    """
    left = await _open_after(sockets, after)
    for each in left:
        with contextlib.suppress(OSError):  # the peer was faster
            each.shutdown(socket.SHUT_RDWR)
    await _open_after(left, 0.0)


async def _open_after(sockets: Iterable[socket.socket], seconds: float) -> list[socket.socket]:
    """The sockets that are still open after `seconds`; returns early when none is."""
    left = [each for each in sockets if each.fileno() != -1]
    pauses = [0.0] * _ITERATIONS + ([seconds / _CHECKS] * _CHECKS if seconds else [])
    for pause in pauses:
        if not left:
            break
        await asyncio.sleep(pause)
        left = [each for each in left if each.fileno() != -1]
    return left
