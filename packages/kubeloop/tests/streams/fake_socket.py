"""A WebSocket in memory: a test sends what the server would, and reads what it received."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kubeloop.errors import StreamBroken, TransportError


class FakeSocket:
    """Implements `MessageConnection`. `serve` queues messages, `finish` closes."""

    def __init__(self, subprotocol: str = "v5.channel.k8s.io") -> None:
        self.subprotocol = subprotocol
        self.close_code: int | None = None
        self.close_reason = ""
        self.sent: list[bytes | str] = []
        self.received = 0  # messages that were taken
        self.state = "open"
        self._incoming: asyncio.Queue[bytes | str | TransportError | None] = asyncio.Queue()

    def serve(self, *messages: bytes | str) -> None:
        for message in messages:
            self._incoming.put_nowait(message)

    def finish(self, code: int = 1000, reason: str = "") -> None:
        self.close_code, self.close_reason = code, reason
        self._incoming.put_nowait(None)

    def break_with(self, error: TransportError) -> None:
        self._incoming.put_nowait(error)

    async def send(self, data: bytes | str | Callable[[], bytes]) -> None:
        if self.state != "open":
            raise StreamBroken("the WebSocket is closed")
        self.sent.append(data() if callable(data) else data)

    async def receive(self) -> bytes | str | None:
        message = await self._incoming.get()
        if isinstance(message, TransportError):
            raise message
        self.received += 1
        return message

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self.state = "closed"

    def abort(self) -> None:
        self.state = "aborted"
