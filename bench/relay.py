"""Passes bytes on between clients and a server, and remembers when.

Guarantees: nothing is read, held back or changed, so TLS goes through; a moment is noted just
before the bytes are handed to the client's socket.
"""

from __future__ import annotations

import bisect
import contextlib
import socket
import threading
import time
from types import TracebackType
from typing import Final, Self, final

from bench.measure import Failed

__all__ = ["Relay"]

_CHUNK: Final = 1 << 18


@final
class Relay:
    """Listens on a port of its own for one `with` block, and passes on to `port`."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._moments: list[int] = []  # when the server's bytes were handed on, in order
        self._open: list[socket.socket] = [self._listener]

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
                for ends in ((client, server, []), (server, client, self._moments)):
                    threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket, moments: list[int]) -> None:
    with contextlib.suppress(OSError):  # one of them is gone, and so is the other
        while data := source.recv(_CHUNK):
            moments.append(time.time_ns())
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
