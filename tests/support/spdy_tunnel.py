"""The client's side of a port-forward with SPDY in WebSocket messages."""

from __future__ import annotations

from typing import Any, final

import aiohttp

from kubeloop.kit import spdy

__all__ = ["Tunnel"]


@final
class Tunnel:
    """Opens streams over one WebSocket, and reads their frames."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.session = spdy.Session(is_server=False)
        self._events: list[spdy.Frame | spdy.Outgoing] = []

    async def open(self, kind: str, port: str, request: str = "0") -> int:
        """Open a stream, and wait until it is accepted."""
        stream_id = await self.start(kind, port, request)
        reply = await self.next(spdy.SynReply, spdy.RstStream)
        assert reply == spdy.SynReply(stream_id=stream_id), reply
        return stream_id

    async def start(self, kind: str, port: str, request: str = "0") -> int:
        """Open a stream, whatever the reply is."""
        headers = {"streamtype": kind, "port": port}
        if request:
            headers["requestid"] = request
        stream_id, data = self.session.open(headers)
        await self.socket.send_bytes(data)
        return stream_id

    async def next(self, *kinds: type) -> Any:
        """The next frame of a kind; others are dropped."""
        while True:
            while self._events:
                event = self._events.pop(0)
                if isinstance(event, kinds):
                    return event
            message = await self.socket.receive()
            assert message.type is aiohttp.WSMsgType.BINARY, message
            self._events.extend(self.session.receive(message.data))

    async def read(self, stream_id: int) -> bytes:
        """The data of a stream up to its end; that of other streams is dropped."""
        found = b""
        while True:
            event = await self.next(spdy.Data, spdy.RstStream)
            if event.stream_id == stream_id:
                found += getattr(event, "data", b"")
                if isinstance(event, spdy.RstStream) or event.fin:
                    return found

    async def send(self, stream_id: int, data: bytes, *, fin: bool = False) -> None:
        await self.socket.send_bytes(self.session.send(stream_id, data, fin=fin))
