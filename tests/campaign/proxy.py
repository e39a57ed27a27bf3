"""A line between client and server that breaks on demand: cut, dead without a word, refused,
or broken off at any byte.

Promises: on a line that died, no byte comes through ever again, and neither end is told;
who goes away is noticed, so `lines` is what the client still holds open.
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
    """Listens on a port of its own and passes everything on, for one `async with` block.

    Its switches are for the loop it lives in, or for `loop.call_soon_threadsafe`.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._door: AsyncExitStack | None = None
        self._connecting: set[asyncio.Task[None]] = set()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.port = 0
        self.lines: set[_ClientEnd] = set()
        self.is_dead = False  # whatever is sent meanwhile is lost, and its line with it
        self.breaks_after: int | None = None  # so many bytes of answers, on each new line

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
        """Listen, again at the same port; no matter whether it does already."""
        if self._door is not None:
            return
        door = AsyncExitStack()
        self.port = await door.enter_async_context(
            listen(lambda: _ClientEnd(self), "127.0.0.1", self.port, finish=self._end_lines)
        )
        self._door = door

    async def refuse(self) -> None:
        """Listen no more, and cut all lines."""
        door, self._door = self._door, None
        if door is not None:
            await door.aclose()

    def cut(self) -> None:
        """Break all lines."""
        for line in list(self.lines):
            line.abort()

    async def _end_lines(self) -> None:
        self.cut()
        for task in list(self._connecting):
            await task

    def connect(self, line: _ClientEnd) -> None:
        task = asyncio.get_running_loop().create_task(self._connect(line))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, line: _ClientEnd) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: _ServerEnd(line), "127.0.0.1", self._target)
        except OSError:
            line.abort()


class _ClientEnd(asyncio.Protocol):
    """The end of a line that the client holds."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self.is_dead = False
        self._room = proxy.breaks_after
        self._transport: asyncio.Transport | None = None
        self.server: asyncio.Transport | None = None
        self._early: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._proxy.lines.add(self)
        self._proxy.connect(self)

    def connected(self, server: asyncio.Transport) -> None:
        self.server = server
        if self._transport is None:  # gone again
            server.abort()
        else:
            server.write(b"".join(self._early))

    def data_received(self, data: bytes) -> None:
        if not self.passes():
            return
        if self.server is None:  # until there is somebody to pass it on to
            self._early.append(data)
        else:
            self.server.write(data)

    def passes(self) -> bool:
        self.is_dead = self.is_dead or self._proxy.is_dead
        return not self.is_dead

    def answer(self, data: bytes) -> None:
        if not self.passes() or self._transport is None:
            return
        self._transport.write(data[: self._room])
        if self._room is not None:
            self._room = max(self._room - len(data), 0)
            if not self._room:
                self._transport.close()

    def server_is_gone(self) -> None:
        self.server = None
        if self.passes() and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._proxy.lines.discard(self)
        if self.server is not None:
            self.server.abort()


class _ServerEnd(asyncio.Protocol):
    """The end of a line that the server holds."""

    def __init__(self, line: _ClientEnd) -> None:
        self._line = line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._line.connected(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        self._line.answer(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._line.server_is_gone()
