"""Passes bytes on between clients and a server, and remembers when, or holds them back for a while.

Guarantees: nothing is interpreted or changed, so TLS goes through; a moment is noted just before
the bytes are handed to the client's socket; bytes that were held are handed over in their order.
"""

from __future__ import annotations

import bisect
import contextlib
import socket
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

from bench.measure import Failed

__all__ = ["Relay"]

_CHUNK: Final = 1 << 18
_QUIET: Final = 0.0015  # seconds without bytes after which a message has ended
_SOCKETS: Final = Path("/proc/net/tcp")


@final
class Relay:
    """Listens on a port of its own for one `with` block, and passes on to `port`."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._moments: list[int] = []  # when the server's bytes were handed on, in order
        self._open: list[socket.socket] = [self._listener]
        # What the server has sent while it is held, one entry a read; None: handed on at once.
        self._held: list[tuple[socket.socket, bytes]] | None = None

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def last_before(self, moment: int, *, after: int) -> int:
        """When the last bytes before `moment` were handed on, in nanoseconds since 1970.

        Raises: Failed, when there were none since `after`.
        """
        index = bisect.bisect_right(self._moments, moment)
        if not index or self._moments[index - 1] < after:
            raise Failed("an event was seen that did not come through the relay")
        return self._moments[index - 1]

    def hold(self) -> None:
        """Keep what the server sends from now on, until `release_each`."""
        self._held = []

    def await_message(self, count: int, *, timeout: float) -> int:
        """Wait until more than `count` reads are held, and no more come; the number of reads.

        Raises: Failed, when nothing comes.
        """
        assert self._held is not None
        deadline = time.monotonic() + timeout
        while len(self._held) == count:
            if time.monotonic() > deadline:
                raise Failed(f"nothing came through the relay within {timeout:.0f} s")
            time.sleep(_QUIET / 4)
        while count != len(self._held):
            count = len(self._held)
            time.sleep(_QUIET)
        return count

    def release_each(self, ends: Sequence[int]) -> None:
        """Hand on what is held up to each of `ends`, once the client has read what was before."""
        assert self._held is not None
        start = 0
        for end in ends:
            pieces = self._held[start:end]
            sink = pieces[0][0]
            sink.sendall(b"".join(data for _, data in pieces))
            while _unread(sink):
                pass  # a look takes as long as a client needs for an event
            start = end
        held, self._held = self._held, None
        for sink, data in held[start:]:
            sink.sendall(data)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # ends the reads
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it has been closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._upstream))
                for each in (client, server):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._open.append(each)
                for source, sink in ((client, server), (server, client)):
                    passing = partial(self._pass_on, source, sink, to_client=sink is client)
                    threading.Thread(target=passing, daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, *, to_client: bool) -> None:
        with contextlib.suppress(OSError):  # one of them is gone, and so is the other
            while data := source.recv(_CHUNK):
                if to_client:
                    if self._held is not None:
                        self._held.append((sink, data))
                        continue
                    self._moments.append(time.time_ns())
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


def _unread(sink: socket.socket) -> int:
    """Bytes that lie in the client's socket, which its program has not read yet. Linux only."""
    ours, theirs = (f":{end[1]:04X}" for end in (sink.getsockname(), sink.getpeername()))
    for line in _SOCKETS.read_text().splitlines():
        _, local, remote, _, queues, *_ = line.split(None, 5)
        if local.endswith(theirs) and remote.endswith(ours):
            return int(queues.partition(":")[2], 16)
    return 0
