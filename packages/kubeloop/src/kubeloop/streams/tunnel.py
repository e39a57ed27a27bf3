"""Connections to the ports of a pod, through the API server.

Current servers carry any number of connections in one WebSocket, as SPDY streams
(`SPDY/3.1+portforward.k8s.io`). Older ones speak `v4.channel.k8s.io`: one connection for each
WebSocket, which cannot be closed in one direction only.

Guarantees: bytes are passed on in order and unchanged; what is not read waits in a bounded
buffer, and then all connections of the tunnel wait; an error that the pod reports, such as a
refused connection, is raised where the connection is read or written. A connection that was
reset or lost never looks as if the pod had closed it.
See also: `kubeloop.kit.spdy` (frames), `port_forward` (local listeners).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol, Self, final

from kubeloop.errors import KubeError, StreamBroken, TimeoutExceeded, TransportError
from kubeloop.kit import Clock, TaskOwner
from kubeloop.kit.spdy import (
    Data,
    Frame,
    GoAway,
    Outgoing,
    RstStream,
    Session,
    SPDYError,
    StreamClosed,
    SynReply,
)

from .channels import V4
from .pods import PodAccess
from .process import MessageConnection, UnsupportedByServer, open_socket

__all__ = ["PortConnection", "PortForwardFailed", "SpdyTunnel", "Tunnel", "V4Tunnel", "open_tunnel"]

SPDY = "SPDY/3.1+portforward.k8s.io"
_BUFFER = 1024 * 1024  # bytes of a connection that no one has read yet
_WRITE = 32 * 1024
_MAX_ERROR = 4096
_REPLY_SECONDS = 30.0


class PortForwardFailed(KubeError):
    """The pod could not connect to the port, or the connection failed there."""


class Tunnel(Protocol):
    """Opens connections to a pod."""

    @property
    def is_open(self) -> bool: ...
    async def open(self, port: int) -> PortConnection: ...
    async def run(self) -> None: ...
    def abort(self) -> None: ...


class Carrier(Protocol):
    """How a connection sends and waits: a SPDY stream, or a WebSocket of its own."""

    async def send(self, data: bytes) -> None: ...
    async def finish(self) -> None: ...
    def abort(self) -> None: ...
    async def receive(self) -> None: ...  # until something has changed for the connection
    def resume(self) -> None: ...  # the reader has taken data from a full buffer


@final
class PortConnection:
    """One connection to a port of a pod: read and write bytes."""

    def __init__(self, carrier: Carrier, action: str) -> None:
        self._carrier = carrier
        self._action = action
        self._unread: deque[bytes] = deque()
        self._size = 0
        self._message = b""  # what the pod reported as an error
        self._error: KubeError | None = None
        self._is_ended = False  # the pod sends nothing more

    def __repr__(self) -> str:
        return f"PortConnection({self._action})"

    async def read(self) -> bytes:
        """The next bytes; empty when the pod has closed its side. Safe to cancel.

        Raises: PortForwardFailed when the pod reported an error; StreamBroken.
        """
        while not self._unread:
            self._check()
            if self._is_ended:
                return b""
            await self._carrier.receive()
        chunk = self._unread.popleft()
        was_full, self._size = self.is_full, self._size - len(chunk)
        if was_full and not self.is_full:
            self._carrier.resume()
        return chunk

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """As `read`."""
        chunk = await self.read()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def write(self, data: bytes) -> None:
        """Send bytes; waits while the pod reads slowly. A cancelled call may send a part.

        Raises: PortForwardFailed, StreamBroken.
        """
        for at in range(0, len(data), _WRITE):
            self._check()
            await self._carrier.send(data[at : at + _WRITE])

    async def write_eof(self) -> None:
        """Close the sending direction; the pod may go on to send. Safe to cancel.

        Raises: UnsupportedByServer on v4.channel.k8s.io; StreamBroken.
        """
        self._check()
        await self._carrier.finish()

    def close(self) -> None:
        """End the connection at once. Idempotent."""
        if self._error is None:
            self._error = StreamBroken(f"{self._action}: the connection was closed")
        self._carrier.abort()

    # --- for the carrier

    @property
    def is_full(self) -> bool:
        return self._size >= _BUFFER

    def feed(self, data: bytes) -> None:
        """Bytes of the pod."""
        if data:
            self._unread.append(data)
            self._size += len(data)

    def feed_error(self, data: bytes) -> None:
        """A part of an error message of the pod."""
        self._message = (self._message + data)[:_MAX_ERROR]

    def end(self) -> None:
        """The pod sends nothing more."""
        self._is_ended = True

    def fail(self, error: KubeError) -> None:
        """The connection was lost."""
        if self._error is None and not self._is_ended:
            self._error = error

    def is_usable(self) -> bool:
        """Whether neither an error nor the end was received."""
        return not (self._message or self._error or self._is_ended)

    def _check(self) -> None:
        if self._message:
            text = self._message.decode(errors="replace").strip()
            raise PortForwardFailed(f"{self._action}: {text}")
        if self._error is not None:
            raise self._error


# --- many connections in one WebSocket


@final
class _SpdyCarrier:
    """The two SPDY streams of one connection: data and errors."""

    def __init__(self, tunnel: SpdyTunnel, data_id: int, error_id: int, action: str) -> None:
        self._tunnel = tunnel
        self.data_id = data_id
        self.error_id = error_id
        # Until both have ended, the pod may still report an error: a runtime may end the data
        # before it does.
        self.unfinished = {data_id, error_id}
        self.connection = PortConnection(self, action)
        self.is_accepted = False
        self.has_changed = asyncio.Event()

    async def send(self, data: bytes) -> None:
        await self._tunnel.send(self.data_id, data)

    async def finish(self) -> None:
        await self._tunnel.send(self.data_id, b"", fin=True)

    def abort(self) -> None:
        self._tunnel.forget(self)
        self.has_changed.set()

    async def receive(self) -> None:
        self.has_changed.clear()
        await self.has_changed.wait()

    def resume(self) -> None:
        self._tunnel.resume(self)


@final
class SpdyTunnel:
    """Connections as SPDY streams in one WebSocket, while `run()` runs."""

    def __init__(self, socket: MessageConnection, pod: str, clock: Clock) -> None:
        self._socket = socket
        self._pod = pod
        self._clock = clock
        self._session = Session(is_server=False)
        self._carriers: dict[int, _SpdyCarrier] = {}  # by both of their streams
        self._next_request = 0
        self._posted: deque[bytes] = deque()  # frames that no caller waits for
        self._has_posted = asyncio.Event()
        self._full: set[_SpdyCarrier] = set()  # whose readers are slow
        self._has_capacity = asyncio.Event()
        self._error: KubeError | None = None

    @property
    def is_open(self) -> bool:
        """Whether connections can be opened."""
        return self._error is None

    async def open(self, port: int) -> PortConnection:
        """Open a connection, and wait until the server has accepted it.

        If cancelled, it is reset. Raises: PortForwardFailed, StreamBroken, TimeoutExceeded.
        """
        action = f"forward port {port} of {self._pod}"
        carrier = await self._start(port, action)
        try:
            async with self._clock.timeout(_REPLY_SECONDS) as bound:
                while not carrier.is_accepted and carrier.connection.is_usable():
                    await carrier.receive()
        except BaseException as error:
            carrier.connection.close()
            if isinstance(error, TimeoutError) and bound.expired():
                raise TimeoutExceeded(
                    f"{action}: the server did not accept the connection within"
                    f" {_REPLY_SECONDS:g} s"
                ) from None
            raise
        return carrier.connection

    async def _start(self, port: int, action: str) -> _SpdyCarrier:
        """Send the two SYN_STREAM of a connection; if cancelled, nothing was sent."""
        carrier: _SpdyCarrier | None = None

        def encode() -> bytes:
            nonlocal carrier
            self._session.check_open(2)
            headers = {"port": str(port), "requestid": str(self._next_request)}
            self._next_request += 1
            error_id, first = self._session.open(headers | {"streamtype": "error"}, fin=True)
            data_id, second = self._session.open(headers | {"streamtype": "data"})
            carrier = _SpdyCarrier(self, data_id, error_id, action)
            self._carriers[data_id] = self._carriers[error_id] = carrier
            return first + second

        try:
            await self._send(encode)
        except SPDYError as error:
            raise StreamBroken(f"{action}: {error}") from error
        assert carrier is not None, "a message that was sent was encoded"
        return carrier

    async def run(self) -> None:
        """Pass on what the server sends, until it is cancelled; all connections end with it.

        Raises: StreamBroken when the connection is lost, TransportError.
        """
        failure: KubeError = StreamBroken(f"port-forward to {self._pod}: it was closed")
        try:
            async with TaskOwner() as tasks:
                tasks.spawn(self._send_posted(), name=f"frames to {self._pod}")
                await self._receive()
        except KubeError as error:
            failure = error
            raise
        except SPDYError as error:
            failure = TransportError(
                f"port-forward to {self._pod}: the server violated the SPDY protocol: {error}"
            )
            raise failure from error
        finally:
            self._fail(failure)

    def abort(self) -> None:
        """Close the WebSocket at once."""
        self._fail(StreamBroken(f"port-forward to {self._pod}: it was closed"))
        self._socket.abort()

    # --- for carriers

    async def send(self, stream_id: int, data: bytes, *, fin: bool = False) -> None:
        """Send data of a stream."""
        try:
            await self._send(lambda: self._session.send(stream_id, data, fin=fin))
        except StreamClosed as error:
            if fin:
                return  # both sides have ended it
            raise StreamBroken(f"port-forward to {self._pod}: {error}") from error

    async def _send(self, encode: Callable[[], bytes]) -> None:
        """Encode frames when it is their turn.

        The numbers of streams and the compression of their headers depend on the order on the
        wire, so frames that are encoded are sent, even if the caller is cancelled.
        """

        def encode_if_open() -> bytes:
            if self._error is not None:
                raise self._error
            return encode()

        await self._socket.send(encode_if_open)

    def forget(self, carrier: _SpdyCarrier) -> None:
        """Reset the streams of a connection, and drop what arrives for them."""
        for stream_id in (carrier.data_id, carrier.error_id):
            if self._carriers.pop(stream_id, None) is not None and self._error is None:
                self._post(self._session.reset(stream_id))
        self.resume(carrier)

    def resume(self, carrier: _SpdyCarrier) -> None:
        """The buffer of a connection has capacity again."""
        self._full.discard(carrier)
        self._has_capacity.set()

    # --- receiving

    async def _receive(self) -> None:
        while True:
            while self._full:
                self._has_capacity.clear()
                await self._has_capacity.wait()
            message = await self._socket.receive()
            if message is None:
                reason = f": {self._socket.close_reason}" if self._socket.close_reason else ""
                raise StreamBroken(
                    f"port-forward to {self._pod}: lost connection to the pod"
                    f" (close code {self._socket.close_code}{reason})"
                )
            if isinstance(message, str):
                raise TransportError(
                    f"port-forward to {self._pod}: received a text message, expected SPDY frames"
                )
            for event in self._session.receive(message):
                self._handle(event)

    def _handle(self, event: Frame | Outgoing) -> None:
        if isinstance(event, Outgoing):
            self._post(event.data)
            return
        if isinstance(event, GoAway):
            self._error = self._error or StreamBroken(
                f"port-forward to {self._pod}: the server accepts no more connections"
            )
            return
        if not isinstance(event, Data | SynReply | RstStream):
            return
        carrier = self._carriers.get(event.stream_id)
        if carrier is None:
            return  # a connection that was closed here
        connection, is_data = carrier.connection, event.stream_id == carrier.data_id
        match event:
            case Data(data=data):
                (connection.feed if is_data else connection.feed_error)(data)
                if connection.is_full:
                    self._full.add(carrier)
            case SynReply():
                carrier.is_accepted = carrier.is_accepted or is_data
            case RstStream():
                connection.fail(
                    StreamBroken(f"port-forward to {self._pod}: the server reset the connection")
                )
        if not isinstance(event, RstStream) and event.fin:
            carrier.unfinished.discard(event.stream_id)
            if not carrier.unfinished:
                connection.end()
        carrier.has_changed.set()

    def _fail(self, error: KubeError) -> None:
        self._error = self._error or error
        for carrier in self._carriers.values():
            carrier.connection.fail(error)
            carrier.has_changed.set()
        self._has_capacity.set()

    def _post(self, frames: bytes) -> None:
        if frames:
            self._posted.append(frames)
            self._has_posted.set()

    async def _send_posted(self) -> None:
        """Send frames that no caller waits for, so that receiving does not wait for sending."""
        while True:
            await self._has_posted.wait()
            self._has_posted.clear()
            while self._posted:
                await self._socket.send(self._posted.popleft())


# --- one connection in a WebSocket


@final
class _V4Carrier:
    """A WebSocket with one connection: channel 0 is data, channel 1 errors."""

    def __init__(self, socket: MessageConnection, action: str) -> None:
        self._socket = socket
        self._action = action
        self.connection = PortConnection(self, action)
        self._prefixes = {0: 2, 1: 2}  # bytes of the port, before the first data of a channel

    async def send(self, data: bytes) -> None:
        await self._socket.send(b"\0" + data)

    async def finish(self) -> None:
        raise UnsupportedByServer(
            f"{self._action}: one direction cannot be closed: the server speaks only {V4}"
            " (close the connection, or use Kubernetes 1.31 or newer)"
        )

    def abort(self) -> None:
        self._socket.abort()

    async def receive(self) -> None:
        try:
            message = await self._socket.receive()
        except TransportError as error:
            self.connection.fail(error)
            return
        if message is None:
            if self._socket.close_code in {None, 1000}:
                self.connection.end()
            else:
                code = self._socket.close_code
                self.connection.fail(
                    StreamBroken(f"{self._action}: the server closed it with code {code}")
                )
            return
        if isinstance(message, str) or not message or message[0] not in self._prefixes:
            self.connection.fail(
                TransportError(f"{self._action}: received a message without a known channel")
            )
            return
        channel = message[0]
        skipped = min(self._prefixes[channel], len(message) - 1)
        self._prefixes[channel] -= skipped
        data = message[1 + skipped :]
        (self.connection.feed_error if channel else self.connection.feed)(data)

    def resume(self) -> None:
        pass  # nothing is received before a read


@final
class V4Tunnel:
    """Opens a WebSocket for each connection."""

    def __init__(
        self,
        opener: Callable[[int], Awaitable[MessageConnection]],
        pod: str,
        first: tuple[int, MessageConnection],
    ) -> None:
        self._opener = opener
        self._pod = pod
        self._first: tuple[int, MessageConnection] | None = first  # opened to find the protocol

    @property
    def is_open(self) -> bool:
        return True

    async def open(self, port: int) -> PortConnection:
        """Open a connection. Raises: ApiError, TransportError."""
        first, self._first = self._first, None
        if first is not None and first[0] == port:
            socket = first[1]
        else:
            if first is not None:
                first[1].abort()
            socket = await self._opener(port)
        return _V4Carrier(socket, f"forward port {port} of {self._pod}").connection

    async def run(self) -> None:
        """Wait: each connection is received where it is read."""
        await asyncio.Event().wait()

    def abort(self) -> None:
        """Close the connection that is not used yet; the others belong to their readers."""
        if self._first is not None:
            self._first[1].abort()


async def open_tunnel(access: PodAccess, pod: str, port: int) -> SpdyTunnel | V4Tunnel:
    """A tunnel to a pod; `port` is for servers that connect at once. Safe to cancel.

    Raises: NotFound, UnsupportedByServer, TransportError.
    """

    async def opener(port: int, protocols: tuple[str, ...] = (V4,)) -> MessageConnection:
        request = await access.requests.request(
            "get", name=pod, subresource="portforward", params={"ports": str(port)}
        )
        return await open_socket(access.requests.rest, request, protocols)

    socket = await opener(port, (SPDY, V4))
    if socket.subprotocol == SPDY:
        return SpdyTunnel(socket, pod, access.requests.rest.clock)
    return V4Tunnel(opener, pod, (port, socket))
