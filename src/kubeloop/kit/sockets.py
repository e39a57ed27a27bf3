"""Connections that have to end now.

Promises: a connection that was cut is closed a few turns of the loop later, whatever its peer
does.
Elsewhere: who lets peers in (`listening`); connections to a server are the caller's.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterable

__all__ = ["cut_off"]

_TURNS = 10  # of the loop; a transport that is told of an end needs four
_LOOKS = 25  # within the moment that a connection is given


async def cut_off(sockets: Iterable[socket.socket], *, after: float = 0.0) -> None:
    """End the connections of these sockets that have not ended by themselves after a moment.

    For transports that were closed already. One of TLS says farewell first, and waits for
    an answer: 30 s where the peer is dead. A loop that ends meanwhile complains of it
    (asyncio), or never ends (uvloop). The transport sees the end of the line, and closes.
    """
    left = await _staying(sockets, after)
    for each in left:
        with contextlib.suppress(OSError):  # the peer was faster
            each.shutdown(socket.SHUT_RDWR)
    await _staying(left, 0.0)


async def _staying(sockets: Iterable[socket.socket], seconds: float) -> list[socket.socket]:
    """Which are still open after so long: at once where there are none, and no earlier."""
    left = [each for each in sockets if each.fileno() != -1]
    pauses = [0.0] * _TURNS + ([seconds / _LOOKS] * _LOOKS if seconds else [])
    for pause in pauses:
        if not left:
            break
        await asyncio.sleep(pause)
        left = [each for each in left if each.fileno() != -1]
    return left
