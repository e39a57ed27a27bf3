"""Connections to one server: each carries one request at a time, and is used again afterwards.

Guarantees: a connection is used again only after a complete response that allows it, for at most
`KEEP_ALIVE` seconds of rest, and only with the TLS context of the next request; so after new
certificates the old connections are not cut, but end with what they carry. A request is written
once. Nothing waits for a peer that does not respond: connections are aborted, not closed by a
handshake. Reading stops while a body is read slowly, writing while the peer reads slowly.
See also: `dial` (opens them), `http1` (reads responses), `incoming` (one response).
"""

from __future__ import annotations

import asyncio
import select
import ssl
import warnings
import weakref
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, cast, final

from kubeloop.kit import Clock, Timer
from kubeloop.wire import get_logger

from .failures import ClosedByClient
from .http1 import ProtocolError, ResponseHeaders, ResponseParser, TruncatedResponse

if TYPE_CHECKING:
    from .incoming import IncomingResponse

__all__ = ["KEEP_ALIVE", "Connection", "ConnectionPool", "report_unclosed"]

log = get_logger(__name__)

# kube-apiserver closes connections that were idle for 90 s. HTTP/1.1 cannot announce it, and a
# POST on such a connection must not be repeated: so the client closes them first.
KEEP_ALIVE = 85.0
# Larger bodies are written piece by piece, so that a response that arrives meanwhile is read
# before the peer resets the connection.
_PIECE = 128 * 1024
_READ = 256 * 1024  # bytes read at once, at most
# A timer may fire early by the resolution of the clock.
_SLACK = 0.001
_poll = getattr(select, "poll", None)  # not on Windows
# Iterations of the event loop until an aborted connection has ended.
_CLOSE_STEPS = 10


@final
class Connection(asyncio.BufferedProtocol):
    """One connection. Its owner is the pool, or the response that it carries.

    It reads into a buffer of the pool: for any other protocol, a TLS transport allocates 256 kB
    for each read, which for a single event costs more than everything else.
    """

    __slots__ = (
        "_clock",
        "_deadline",
        "_is_paused",
        "_parser",
        "_pool",
        "_response",
        "_socket",
        "_timer",
        "_timer_at",
        "_unsent",
        "_write_paused",
        "is_lost",
        "tls",
        "transport",
    )

    def __init__(self, pool: ConnectionPool, tls: ssl.SSLContext | None) -> None:
        self._pool = pool
        self._clock = pool.clock
        self.tls = tls
        self.is_lost = False
        self.transport: asyncio.Transport | None = None
        self._parser = ResponseParser(self)
        self._response: IncomingResponse | None = None
        self._unsent: memoryview | None = None
        self._write_paused = False
        self._is_paused = False
        self._socket: select.poll | None = None  # says whether there is something to read
        # One timer for the whole life of a connection: it is not moved with each request, but
        # looks at the deadline when it fires.
        self._deadline: float | None = None
        self._timer: Timer | None = None
        self._timer_at = 0.0

    # --- requests

    def send(self, response: IncomingResponse, head: bytes, body: bytes | None) -> None:
        """Write a request whose response is `response`."""
        assert self.transport is not None
        self._response = response
        response.connection = self
        self._parser.expect(response.method)
        if body is None:
            self.transport.write(head)
        elif len(body) <= _PIECE:
            self.transport.write(head + body)
        else:
            self.transport.write(head)
            self._unsent = memoryview(body)
            self._send_more()

    def _send_more(self) -> None:
        while self._unsent is not None and not self._write_paused:
            assert self.transport is not None
            piece, rest = self._unsent[:_PIECE], self._unsent[_PIECE:]
            self._unsent = rest or None
            self.transport.write(piece)

    def is_usable(self, now: float) -> bool:
        """Whether an idle connection may carry a request.

        Its timer is late if the process was suspended or the event loop blocked; a connection
        that was lost is reported an iteration later; and bytes that the event loop has not read
        yet would be taken for the response to the next request.
        """
        assert self.transport is not None
        if now >= (self._deadline or 0.0) or self.transport.is_closing():
            return False
        if self._socket is None:
            socket = self.transport.get_extra_info("socket")
            if _poll is None or socket is None or socket.fileno() < 0:
                return True
            self._socket = _poll()
            self._socket.register(socket.fileno(), select.POLLIN)
        return not self._socket.poll(0)

    def wake_at(self, deadline: float | None) -> None:
        """Call the response's `on_deadline` at this time on the clock, or the next one set."""
        self._deadline = deadline
        if deadline is not None and (self._timer is None or deadline < self._timer_at - _SLACK):
            self._arm(deadline)

    def _arm(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self._clock.timer(deadline - self._clock.now(), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        deadline = self._deadline
        if deadline is None:
            return
        if self._clock.now() < deadline - _SLACK:
            self._arm(deadline)
        elif self._response is not None:
            self._deadline = None
            self._response.on_deadline()
        else:
            self.abort()  # it was idle for too long

    def pause(self) -> None:
        """Stop reading: the peer is slowed down by its own send buffer."""
        if not self._is_paused and self.transport is not None and not self.is_lost:
            self._is_paused = True
            self.transport.pause_reading()

    def resume(self) -> None:
        if self._is_paused and self.transport is not None and not self.is_lost:
            self._is_paused = False
            self.transport.resume_reading()

    def abort(self) -> None:
        """Close it at once, whatever the peer does. Safe to repeat."""
        self._parser.abandon()
        self._response = None
        self._unsent = None
        self._pool.forget(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.transport is not None:
            self.transport.abort()

    def detach(self) -> asyncio.Transport:
        """The transport after a switch of protocols: this connection has no part in it now."""
        assert self.transport is not None
        self._response = None
        self._pool.connections.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return self.transport

    # --- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._pool.connections[self] = None

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - of the base class
        return self._pool.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Read bytes of the server."""
        try:
            self._parser.feed(bytes(self._pool.buffer[:nbytes]))
        except ProtocolError as error:
            self.fail(error)

    def data_received(self, data: bytes) -> None:
        """As `buffer_updated`, for what arrived while the connection was opened."""
        try:
            self._parser.feed(data)
        except ProtocolError as error:
            self.fail(error)

    def eof_received(self) -> None:
        """The peer has closed it; the transport does the same, an iteration later."""
        if self._response is None:
            self.abort()  # no request must be written to it meanwhile

    def pause_writing(self) -> None:
        self._write_paused = True

    def resume_writing(self) -> None:
        self._write_paused = False
        if self._unsent is not None:
            self._send_more()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._pool.connections.pop(self, None)
        try:
            if exc is None:
                self._read_rest()
                self._parser.close()
        except ProtocolError as error:
            exc = error
        self.fail(exc or ConnectionResetError("the connection was closed"))

    def _read_rest(self) -> None:
        """Read what TLS still holds after the end, which only a close_notify makes one.

        Event loops report the end of TCP in the same way, and anyone on the way can send that.
        Raises: ProtocolError if there was no close_notify.
        """
        tls = self.transport.get_extra_info("ssl_object") if self.transport else None
        try:
            while tls is not None and self._response is not None:
                data = tls.read(_READ)
                if not data:
                    break
                self._parser.feed(data)
        except ssl.SSLZeroReturnError:  # as no data, after a close_notify of ours
            pass
        except ssl.SSLError:
            raise TruncatedResponse("the connection was closed without a close_notify") from None

    def fail(self, error: Exception) -> None:
        """Abort it; its response fails with `error`."""
        response = self._response
        self.abort()
        if response is not None:
            response.on_failure(error)

    # --- called by the parser

    def on_response(
        self, status: int, headers: ResponseHeaders, body: bytes, *, reusable: bool
    ) -> None:
        response, self._response = self._response, None
        if reusable and self._unsent is None:
            self._pool.put(self)
        else:
            self._release(reusable=reusable)
        if response is not None:
            response.on_response(status, headers, body)

    def on_head(self, status: int, headers: ResponseHeaders) -> None:
        if self._response is not None:
            self._response.on_head(status, headers)

    def on_body(self, data: bytes) -> None:
        if self._response is not None:
            self._response.on_body(data)

    def on_end(self, *, reusable: bool) -> None:
        response, self._response = self._response, None
        self._release(reusable=reusable)
        if response is not None:
            response.on_end()

    def _release(self, *, reusable: bool) -> None:
        # After an early response the rest of the request would be taken for the next one.
        if reusable and self._unsent is None and not self.is_lost:
            if self._is_paused:
                self.resume()
            self._pool.put(self)
        else:
            self.abort()

    def on_upgrade(self, status: int, headers: ResponseHeaders, received: bytes) -> None:
        if self._response is not None:
            self._response.on_upgrade(status, headers, received)


@final
class ConnectionPool:
    """The connections of one client, idle or in use; the newest idle one is used first."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        # Of all connections: what is read is copied out before the event loop reads again.
        self.buffer = memoryview(bytearray(_READ))
        self.connections: dict[Connection, None] = {}  # all that are open, in order
        self.idle: list[Connection] = []
        self.tls: ssl.SSLContext | None = None  # of the newest request, and of all idle ones

    def take(self, tls: ssl.SSLContext | None, now: float) -> Connection | None:
        """An idle connection with this TLS context, if there is one that can be used."""
        if tls is not self.tls:
            self.tls = tls
            for each in list(self.idle):
                if each.tls is not tls:
                    each.abort()
        while self.idle:
            connection = self.idle.pop()
            if connection.is_usable(now):
                return connection
            connection.abort()
        return None

    def put(self, connection: Connection) -> None:
        """A connection has become idle."""
        if connection.tls is not self.tls:
            connection.abort()
            return
        connection.wake_at(self.clock.now() + KEEP_ALIVE)
        self.idle.append(connection)

    def forget(self, connection: Connection) -> None:
        """A connection is being closed."""
        if connection in self.idle:
            self.idle.remove(connection)

    def abort(self) -> None:
        """Abort all connections; responses that are read fail. Safe to repeat."""
        for each in list(self.connections):
            each.fail(ClosedByClient("the client was closed"))

    async def wait_closed(self, dials: Collection[object]) -> None:
        """Wait a few iterations of the event loop until connections and dials have ended."""
        for _ in range(_CLOSE_STEPS):
            if not self.connections and not dials:
                break
            await asyncio.sleep(0)


def report_unclosed(
    pool: ConnectionPool,
    loop: asyncio.AbstractEventLoop,
    *,
    server: str,
    owner: weakref.ref[object],
) -> None:
    """Warn that a client was not closed, and close its connections.

    Called when the client is garbage collected, in any thread, or at exit.
    """
    is_exit = owner() is not None
    # At exit a loop that is not closed runs in another thread, whose owner closes its clients
    # (`kubeloop.blocking` does), or in the parent of this process.
    if is_exit and not loop.is_closed():
        return
    message = (
        f"a kubeloop client for {server} was not closed"
        ' (use "async with Client() as client:", or await client.aclose())'
    )
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    with suppress(RuntimeError):  # a loop that is closed has closed nothing
        if running is loop or loop.is_closed():
            pool.abort()
        else:
            loop.call_soon_threadsafe(pool.abort)
    log.warning("%s", message)
    warnings.warn(message, ResourceWarning, stacklevel=2)
