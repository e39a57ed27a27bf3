"""A TCP proxy that breaks connections on demand: reset, silent, refused, or cut at any byte.

Guarantees: on a silent connection no byte passes ever again, and neither end gets an error;
`connections` are those that the client still has open.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, cast, final

from kubeloop.kit import listen

__all__ = ["Proxy"]


@final
class Proxy:
    """Listens on its own port and forwards all data, for one `async with` block.

    Call its methods in its event loop, or with `loop.call_soon_threadsafe`.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening: AsyncExitStack | None = None
        self._connecting: set[asyncio.Task[None]] = set()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.port = 0
        self.connections: set[_ClientEnd] = set()
        self.is_silent = False  # data is dropped, and its connection stays silent
        self.breaks_after: int | None = None  # bytes of responses, on each new connection

    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        await self.accept()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.refuse()

    async def accept(self) -> None:
        """Listen, again at the same port; idempotent."""
        if self._listening is not None:
            return
        listener = AsyncExitStack()
        self.port = await listener.enter_async_context(
            listen(lambda: _ClientEnd(self), "127.0.0.1", self.port, finish=self._end_connections)
        )
        self._listening = listener

    async def refuse(self) -> None:
        """Stop listening, and reset all connections."""
        listener, self._listening = self._listening, None
        if listener is not None:
            await listener.aclose()

    def cut(self) -> None:
        """Reset all connections."""
        for connection in list(self.connections):
            connection.abort()

    async def _end_connections(self) -> None:
        self.cut()
        for task in list(self._connecting):
            await task

    def connect(self, connection: _ClientEnd) -> None:
        task = asyncio.get_running_loop().create_task(self._connect(connection))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, connection: _ClientEnd) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: _ServerEnd(connection), "127.0.0.1", self._target)
        except OSError:
            connection.abort()


class _ClientEnd(asyncio.Protocol):
    """The connection of the client."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self.is_silent = False
        self._remaining = proxy.breaks_after
        self._transport: asyncio.Transport | None = None
        self.server: asyncio.Transport | None = None
        self._unsent: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._proxy.connections.add(self)
        self._proxy.connect(self)

    def connected(self, server: asyncio.Transport) -> None:
        self.server = server
        if self._transport is None:  # the client has disconnected
            server.abort()
        else:
            server.write(b"".join(self._unsent))

    def data_received(self, data: bytes) -> None:
        if not self.passes():
            return
        if self.server is None:  # not connected to the server yet
            self._unsent.append(data)
        else:
            self.server.write(data)

    def passes(self) -> bool:
        self.is_silent = self.is_silent or self._proxy.is_silent
        return not self.is_silent

    def response(self, data: bytes) -> None:
        if not self.passes() or self._transport is None:
            return
        self._transport.write(data[: self._remaining])
        if self._remaining is not None:
            self._remaining = max(self._remaining - len(data), 0)
            if not self._remaining:
                self._transport.close()

    def server_disconnected(self) -> None:
        self.server = None
        if self.passes() and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._proxy.connections.discard(self)
        if self.server is not None:
            self.server.abort()


class _ServerEnd(asyncio.Protocol):
    """The connection to the server."""

    def __init__(self, connection: _ClientEnd) -> None:
        self._client = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._client.connected(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        self._client.response(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._client.server_disconnected()
