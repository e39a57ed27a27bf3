"""WebSocket messages on a connection that was upgraded by an HTTP response 101.

Guarantees: memory is bounded in both directions, a slow reader pauses the socket and a slow peer
pauses the sender; messages are sent in the order of the calls, each whole or not at all; pings
are answered while no one receives; closing ends within 2 s; no exception of the frame library
leaves this module.
Compression is not offered, and frames are never logged: they may contain what users type.
See also: `dial` (opens connections), RFC 6455 (the protocol), the library `websockets` (frames).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Self, final

import msgspec

from kubeloop.errors import (
    InvalidArgument,
    ResponseTooLarge,
    StreamBroken,
    TimeoutExceeded,
    TransportError,
)
from kubeloop.kit import Clock, Timer

if TYPE_CHECKING:
    from websockets.frames import Frame

__all__ = ["WebSocket", "WebSocketStats", "check_handshake", "handshake_headers"]

CLOSE_SECONDS = 2.0
# kubectl pings every 5 s, and gives up after 61 s without a pong.
_SILENT_HEARTBEATS = 12
_SILENT_EXTRA = 1.0
# The socket is paused while messages of this size wait, and read again below half of it.
_MAX_WAITING = 1024 * 1024
# What a waiting message costs beside its bytes, so that empty ones are bounded too.
_MESSAGE_COST = 100
# A peer that reads as fast as we send never blocks `send`, which must yield nevertheless.
_YIELD_AFTER = 256 * 1024
# The largest payload of a control frame. The library applies its limit for messages to them too.
_CONTROL_SIZE = 125
_PONG = 0x8A  # the first byte of a pong frame
# Close codes of RFC 6455.
_NORMAL, _ABNORMAL, _INVALID_DATA, _TOO_BIG = 1000, 1006, 1007, 1009
# Sums of floats are inexact.
_SLACK = 1e-9
_ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def handshake_headers(protocols: Sequence[str]) -> tuple[list[tuple[str, str]], str]:
    """The headers that request the upgrade, and the key for `check_handshake`."""
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    headers = [
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Key", key),
        ("Sec-WebSocket-Version", "13"),
    ]
    if protocols:
        headers.append(("Sec-WebSocket-Protocol", ", ".join(protocols)))
    return headers, key


def check_handshake(
    headers: Iterable[tuple[str, str]],
    key: str,
    protocols: Sequence[str],
    *,
    action: str = "open a WebSocket",
) -> str:
    """The subprotocol that the response 101 selected; empty if it selected none.

    Raises:
        TransportError: the response does not belong to our handshake.
    """
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value.strip())

    def tokens(name: str) -> list[str]:
        listed = ",".join(values.get(name, ()))
        return [token.strip().lower() for token in listed.split(",")]

    def refuse(problem: str) -> TransportError:
        return TransportError(f"{action}: {problem} (does a proxy change the response?)")

    if tokens("upgrade") != ["websocket"]:
        raise refuse("the response 101 has no header Upgrade: websocket")
    if "upgrade" not in tokens("connection"):
        raise refuse("the response 101 has no header Connection: Upgrade")
    accept = base64.b64encode(hashlib.sha1((key + _ACCEPT_SUFFIX).encode()).digest())  # noqa: S324
    if values.get("sec-websocket-accept") != [accept.decode()]:
        raise refuse("the response 101 has a wrong Sec-WebSocket-Accept")
    if any(values.get("sec-websocket-extensions", ())):
        raise refuse("the server selected a WebSocket extension, and none was offered")
    selected = values.get("sec-websocket-protocol", [""])
    if len(selected) != 1 or (selected[0] and selected[0] not in protocols):
        name = ", ".join(selected)[:80]
        raise refuse(
            f"the server selected the subprotocol {name!r}; offered: {', '.join(protocols) or '-'}"
        )
    return selected[0]


class WebSocketStats(msgspec.Struct, frozen=True):
    """What was sent and received, and what waits."""

    messages_sent: int
    bytes_sent: int
    messages_received: int
    bytes_received: int
    pings_sent: int
    waiting: int  # messages that were not returned by `receive()` yet
    waiting_bytes: int
    reading_paused: bool  # too many wait
    writing_paused: bool  # the peer reads slowly
    closed: bool


@final
class WebSocket(asyncio.Protocol):
    """One WebSocket; `attach` gives it the connection.

    A connection that is lost without a close frame, a violation of the protocol, a message
    larger than `max_size` and a silent peer are errors of `receive()`, after the messages that
    arrived before, and of `send()`.
    """

    def __init__(
        self,
        *,
        action: str,
        server: str,
        subprotocol: str,
        clock: Clock,
        max_size: int | None,
        heartbeat: float | None,
    ) -> None:
        # Here, because only programs that open a WebSocket need the library.
        from websockets.protocol import Protocol, Side

        self.subprotocol = subprotocol
        self.close_code: int | None = None  # of the peer; 1005: none given, 1006: no close frame
        self.close_reason = ""
        self._prefix = f"{action}: {server}" if server else action
        self._clock = clock
        self._max_size = max_size
        self._heartbeat = heartbeat
        self._max_silence = (heartbeat or 0.0) * _SILENT_HEARTBEATS + _SILENT_EXTRA
        library_limit = None if max_size is None else max_size + _CONTROL_SIZE
        self._frames = Protocol(Side.CLIENT, max_size=library_limit)
        self._frames.debug = False  # it would log the content of frames
        self._transport: asyncio.Transport | None = None  # None before `attach`, and once lost
        self._lost = False  # the connection; no callback of the transport follows
        self._is_closing = False  # `close()` was called: messages are dropped
        self._failure: TransportError | None = None
        self._messages: deque[bytes | str] = deque()
        self._waiting_size = 0  # of `_messages`, with _MESSAGE_COST for each
        self._fragments: bytearray | None = None  # of the message that is being received
        self._is_text = False  # the message of `_fragments`
        self._reading_paused = False
        self._writing_paused = False
        self._unyielded = 0  # bytes sent since `send` yielded to the loop
        self._sending = asyncio.Lock()  # senders that wait are served in their order
        self._waiters: list[asyncio.Future[None]] = []  # woken by every change of the state
        self._received_at = 0.0
        self._next_ping = 0.0
        self._heartbeat_timer: Timer | None = None
        self._end_timer: Timer | None = None  # aborts when the peer does not close the connection
        self._messages_sent = self._bytes_sent = 0
        self._messages_received = self._bytes_received = 0
        self._pings_sent = 0

    def __repr__(self) -> str:
        state = "closed" if self._lost else "closing" if self._is_ended() else "open"
        return f"WebSocket({self._prefix!r}, {self.subprotocol!r}, {state})"

    def attach(self, transport: asyncio.Transport, received: bytes) -> None:
        """Take over a connection after its response 101; `received` came after the head."""
        if self._lost:  # closed before it was opened
            transport.abort()
            return
        self._transport = transport
        self._received_at = self._clock.now()
        transport.set_protocol(self)
        if self._heartbeat is not None:
            self._next_ping = self._received_at + self._heartbeat
            self._arm_heartbeat(self._received_at)
        if received:
            self.data_received(received)
        if transport.is_closing():  # lost before its protocol was set
            self.connection_lost(None)
        elif not self._reading_paused:
            transport.resume_reading()

    # ---- for callers

    async def send(self, data: bytes | str | Callable[[], bytes]) -> None:
        """Send one message, text for a str; waits while the peer reads slowly.

        Messages are sent in the order of the calls. A function is called when it is the turn of
        its message: for data whose encoding depends on what was sent before. Safe to cancel: the
        message was sent whole, or not at all and its function was not called.

        Raises:
            TransportError: the connection failed, or is closed.
        """
        # Always with the lock, which costs no wait if it is free: `locked()` is false between a
        # release and the next holder, so a caller that looks at it would overtake those that wait.
        async with self._sending:
            if self._unyielded > _YIELD_AFTER:
                self._unyielded = 0
                await asyncio.sleep(0)
            while self._writing_paused and not self._is_ended():
                await self._change()
            self._check_open()
            self._send_now(data() if callable(data) else data)

    async def receive(self) -> bytes | str | None:
        """The next message; None after the close handshake.

        Safe to cancel: no message is lost.

        Raises:
            ResponseTooLarge: a message is larger than the limit.
            StreamBroken: the connection was closed without a close frame.
            TimeoutExceeded: the peer was silent for too long.
            TransportError: the peer violated the protocol.
        """
        while not self._messages:
            if self._failure is not None:
                raise self._failure.with_traceback(None)
            if self._is_ended():
                return None
            await self._change()
        message = self._messages.popleft()
        self._waiting_size -= len(message) + _MESSAGE_COST
        if self._reading_paused and self._waiting_size <= _MAX_WAITING // 2:
            self._resume_reading()
        return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes | str:
        message = await self.receive()
        if message is None:
            raise StopAsyncIteration
        return message

    async def close(self, code: int = _NORMAL, reason: str = "") -> None:
        """Do the close handshake, for 2 s at most; then the connection is aborted.

        Messages that were not received are dropped. Safe to repeat. A cancelled call aborts the
        connection.

        Raises:
            InvalidArgument: the code or the reason cannot be sent.
        """
        if code in {1004, 1005, _ABNORMAL} or not (1000 <= code < 1015 or 3000 <= code < 5000):
            raise InvalidArgument(f"close a WebSocket: {code} is not a close code (use 1000)")
        if len(reason.encode()) > _CONTROL_SIZE - 2:
            raise InvalidArgument(
                f"close a WebSocket: the reason is longer than {_CONTROL_SIZE - 2} bytes"
            )
        was_ended, self._is_closing = self._is_ended(), True
        self._messages.clear()
        self._waiting_size = 0
        if self._transport is None or self._failure is not None:
            self._end()
            return
        if not was_ended:
            self._frames.send_close(code, reason)
            self._flush_frames()
            self._end_soon()
            self._notify()
        self._resume_reading()
        try:
            while not self._lost:
                await self._change()
        finally:
            self._end()

    def abort(self, failure: TransportError | None = None) -> None:
        """Close the connection at once. Safe to repeat.

        Calls that wait, and later ones, raise `failure`, unless the WebSocket was closed before.
        """
        if not self._is_ended() and self._failure is None:
            self._failure = failure or StreamBroken(f"{self._prefix}: the WebSocket was aborted")
        self._end()

    def stats(self) -> WebSocketStats:
        """A snapshot."""
        return WebSocketStats(
            messages_sent=self._messages_sent,
            bytes_sent=self._bytes_sent,
            messages_received=self._messages_received,
            bytes_received=self._bytes_received,
            pings_sent=self._pings_sent,
            waiting=len(self._messages),
            waiting_bytes=self._waiting_size - len(self._messages) * _MESSAGE_COST,
            reading_paused=self._reading_paused,
            writing_paused=self._writing_paused,
            closed=self._lost,
        )

    # ---- for the transport

    def data_received(self, data: bytes) -> None:
        self._received_at = self._clock.now()
        if self._lost or self._transport is None:
            return
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            # An event of a client is always a frame.
            self._take(event)  # type: ignore[arg-type]
            if self._failure is not None:
                break
        self._flush_frames()
        frame = self._frames.close_rcvd
        if frame is not None and self.close_code is None:
            self.close_code, self.close_reason = int(frame.code), frame.reason
            self._end_soon()
        problem = self._frames.parser_exc
        if problem is not None and self._failure is None:
            self._fail(self._violation(problem))
        if self._waiting_size > _MAX_WAITING and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()
        self._notify()

    def eof_received(self) -> bool:
        self._end()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._end(exc)

    def pause_writing(self) -> None:
        self._writing_paused = True

    def resume_writing(self) -> None:
        self._writing_paused = False
        self._notify()

    # ---- sending

    def _check_open(self) -> None:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if self._transport is None or self._is_ended():
            if self.close_code is None:
                raise StreamBroken(f"{self._prefix}: the WebSocket is closed")
            reason = f" {self.close_reason!r}" if self.close_reason else ""
            raise StreamBroken(
                f"{self._prefix}: the server closed the WebSocket: {self.close_code}{reason}"
            )

    def _send_now(self, data: bytes | str) -> None:
        if isinstance(data, str):
            payload = data.encode()
            self._frames.send_text(payload)
        else:
            payload = data
            self._frames.send_binary(payload)
        self._unyielded += len(payload)
        self._messages_sent += 1
        self._bytes_sent += len(payload)
        self._flush_frames()

    def _flush_frames(self) -> None:
        """Give the transport what the library wants to send."""
        transport = self._transport
        for data in self._frames.data_to_send():
            # Empty is the end of the stream. Pongs for a peer that does not read are dropped:
            # they would fill the memory.
            if data and transport is not None and not (self._writing_paused and data[0] == _PONG):
                transport.write(data)

    # ---- receiving

    def _take(self, frame: Frame) -> None:
        opcode = int(frame.opcode)
        if opcode > 2:  # a control frame
            return
        data = frame.data
        # The library has checked the order of fragments. They are joined when they arrive: any
        # number of empty ones costs nothing.
        if opcode != 0:
            self._is_text = opcode == 1
        held = self._fragments
        if self._max_size is not None and len(data) + len(held or b"") > self._max_size:
            self._frames.fail(_TOO_BIG)
            self._fail(self._too_large())
            return
        if held is not None:
            held += data
            data = held
        if not frame.fin:
            self._fragments = data if isinstance(data, bytearray) else bytearray(data)
            return
        self._fragments = None
        self._bytes_received += len(data)
        self._messages_received += 1
        if self._is_closing:
            return
        message: bytes | str
        if self._is_text:
            try:
                message = bytes(data).decode()
            except UnicodeDecodeError as error:
                self._frames.fail(_INVALID_DATA)
                self._fail(self._violation(error))
                return
        else:
            message = bytes(data)
        self._messages.append(message)
        self._waiting_size += len(message) + _MESSAGE_COST

    def _violation(self, problem: Exception) -> TransportError:
        from websockets.exceptions import PayloadTooBig

        if isinstance(problem, PayloadTooBig):
            return self._too_large()
        detail = "text that is not UTF-8" if isinstance(problem, UnicodeError) else str(problem)
        return TransportError(
            f"{self._prefix}: the server violated the WebSocket protocol: {detail}"
            " (does a proxy change the connection?)"
        )

    def _too_large(self) -> ResponseTooLarge:
        return ResponseTooLarge(
            f"{self._prefix}: a message of the WebSocket is larger than {self._max_size} bytes,"
            " the limit for an object"
        ).with_hint("request less", python="raise ResponseLimits(object=...)")

    def _resume_reading(self) -> None:
        if self._reading_paused:
            self._reading_paused = False
            self._received_at = self._clock.now()  # it was us who did not read
            if self._transport is not None:
                self._transport.resume_reading()

    # ---- the end

    def _is_ended(self) -> bool:
        """Whether a close frame was sent or received, or the connection is gone."""
        return self._lost or self._is_closing or self.close_code is not None

    def _fail(self, failure: TransportError) -> None:
        self._failure = failure
        if self.close_code is None:
            self.close_code = _ABNORMAL
        self._end_soon()

    def _end_soon(self) -> None:
        """Give the peer a short time to close the connection, as the protocol wants it."""
        if self._end_timer is None and not self._lost:
            self._end_timer = self._clock.timer(CLOSE_SECONDS, self._end)

    def _end(self, cause: Exception | None = None) -> None:
        """Abort the connection; a failure unless a close frame was sent or received."""
        if self._lost:
            return
        if not self._is_ended() and self._failure is None:
            self._failure = StreamBroken(
                f"{self._prefix}: the connection was closed without a close frame"
            ).with_hint("the server or a proxy closed the connection")
            self._failure.__cause__ = cause
        self._lost = True
        if self.close_code is None:
            self.close_code = _ABNORMAL
        self._fragments = None
        for timer in (self._end_timer, self._heartbeat_timer):
            if timer is not None:
                timer.cancel()
        self._end_timer = self._heartbeat_timer = None
        transport, self._transport = self._transport, None
        if transport is not None:
            # Not close(): a TLS close handshake would wait for the peer.
            transport.abort()
        self._notify()

    def _arm_heartbeat(self, now: float) -> None:
        due = min(self._next_ping, self._received_at + self._max_silence)
        self._heartbeat_timer = self._clock.timer(due - now, self._beat)

    def _beat(self) -> None:
        """Send a ping if it is due, or give up."""
        if self._lost or self._heartbeat is None:
            return
        now = self._clock.now()
        if self._reading_paused:
            self._received_at = now
        if now - self._received_at >= self._max_silence - _SLACK:
            self._fail(
                TimeoutExceeded(
                    f"{self._prefix}: nothing was received for {self._max_silence:g} s, not even"
                    " a response to a ping (the connection is probably dead)"
                )
            )
            self._end()
            return
        if now >= self._next_ping - _SLACK:
            self._next_ping = now + self._heartbeat
            # Behind a full buffer it would only use memory.
            if not self._writing_paused and not self._is_ended():
                self._frames.send_ping(b"")
                self._pings_sent += 1
                self._flush_frames()
        self._arm_heartbeat(now)

    # ---- waiting

    async def _change(self) -> None:
        """Wait until something changes; the caller checks what."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            self._waiters.remove(waiter)

    def _notify(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
