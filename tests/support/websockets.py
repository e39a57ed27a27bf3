"""WebSockets without a server: frames that may break any rule, and a connection in memory."""

from __future__ import annotations

import asyncio
import struct

from kubeloop.kit import Clock, SystemClock
from kubeloop.rest.websocket import WebSocket

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10


def frame(
    opcode: int, payload: bytes = b"", *, fin: bool = True, rsv: int = 0, mask: bytes = b""
) -> bytes:
    """A frame of the server, which may break any rule."""
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    size = len(payload)
    masked = 0x80 if mask else 0
    if size < 126:
        head += bytes([masked | size])
    elif size < 2**16:
        head += struct.pack("!BH", masked | 126, size)
    else:
        head += struct.pack("!BQ", masked | 127, size)
    if mask:
        payload = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
    return head + mask + payload


def new_socket(
    clock: Clock | None = None, *, max_size: int | None = None, heartbeat: float | None = None
) -> WebSocket:
    return WebSocket(
        action="GET pods/web/exec in shop",
        server="https://example.test:6443",
        subprotocol="v5.channel.k8s.io",
        clock=clock or SystemClock(),
        max_size=max_size,
        heartbeat=heartbeat,
    )


class Wire(asyncio.Transport):
    """A transport in memory: for every split of a stream, without sockets."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.aborted = False
        self.paused = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        pass

    def is_closing(self) -> bool:
        return self.aborted

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def abort(self) -> None:
        self.aborted = True
