"""Responses that are read piece by piece: logs, and long lists.

Guarantees: memory does not grow with the length of the body; an incomplete body is an error,
never a short result; closing is immediate, and a cancelled read closes the stream.
See also: `watch` (watches), `list_splitter` (splits a list into items).
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Self, final

from kubeloop.errors import DecodeError, ResponseTooLarge
from kubeloop.wire import RawList
from kubeloop.wire.protobuf_messages import MAGIC

from .incoming import IncomingResponse
from .list_splitter import ITEM_LIMIT, ListSplitter, ProtobufListSplitter
from .response import is_not_a_list
from .response_limits import DEFAULT_RESPONSE_LIMITS, SizeLimit

__all__ = ["ByteStream", "ItemStream"]

_MAX_LINE = 16 * 1024 * 1024


class _Stream:
    """A response that is opened when it is entered or first read."""

    def __init__(self, opener: Callable[[], Awaitable[IncomingResponse]], *, action: str) -> None:
        self._opener = opener
        self._action = action
        self._incoming: IncomingResponse | None = None
        self._ended = False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def open(self) -> None:
        """Send the request; does nothing if it was sent already.

        Safe to cancel: the connection is closed.

        Raises:
            ApiError: the response is not a success.
            TransportError: there was no response.
        """
        if self._incoming is None and not self._ended:
            self._set_response(await self._opener())

    def _set_response(self, incoming: IncomingResponse) -> None:
        self._incoming = incoming
        if self._ended:  # closed while it was opened
            self.close()

    def close(self) -> None:
        """Close it at once. Safe to repeat."""
        self._ended = True
        incoming, self._incoming = self._incoming, None
        if incoming is not None:
            incoming.close()

    async def aclose(self) -> None:
        """As `close`, for `contextlib.aclosing`."""
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_incoming", None) is not None:
            self.close()

    async def _chunk(self) -> bytes:
        """The next bytes; empty at the end."""
        await self.open()
        if self._incoming is None:
            return b""
        try:
            chunk = await self._incoming.chunk()
        except BaseException:
            self.close()
            raise
        if not chunk:
            self.close()
        return chunk


@final
class ByteStream(_Stream):
    """A body in chunks, as they arrive.

    ```python
    async with rest.stream(request) as log:
        async for line in log.lines():
            ...
    ```
    """

    def __init__(
        self,
        opener: Callable[[], Awaitable[IncomingResponse]],
        *,
        action: str,
        limit: SizeLimit | None = None,
    ) -> None:
        super().__init__(opener, action=action)
        self._limit = limit or DEFAULT_RESPONSE_LIMITS.for_document()

    async def __anext__(self) -> bytes:
        """The next chunk, never empty. Safe to cancel: the stream is closed."""
        chunk = await self._chunk()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines, without their newline.

        Raises:
            DecodeError: a line is longer than 16 MiB.
        """
        held = b""
        while chunk := await self._chunk():
            *whole, held = (held + chunk).split(b"\n") if b"\n" in chunk else [held + chunk]
            for line in whole:
                yield line
            if len(held) > _MAX_LINE:
                self.close()
                raise DecodeError(f"{self._action}: a line is longer than {_MAX_LINE} bytes")
        if held:
            yield held

    async def read(self) -> bytes:
        """The rest of the body. Safe to cancel: the stream is closed.

        Raises:
            ResponseTooLarge: the rest is larger than the limit for a document.
        """
        whole = io.BytesIO()
        async for chunk in self:
            whole.write(chunk)
            if self._limit.size is not None and whole.tell() > self._limit.size:
                self.close()
                raise ResponseTooLarge(
                    f"{self._action}: the response is larger than {self._limit.size} bytes, the"
                    " limit for a document"
                ).with_hint(
                    "request less",
                    python="read it piece by piece, or raise ResponseLimits(document=...)",
                )
        return whole.getvalue()


@final
class ItemStream(_Stream):
    """The items of a list, one by one, as bytes.

    ```python
    async with rest.items(request) as pods:
        async for pod in pods:
            ...
        version = pods.rest().version
    ```
    """

    def __init__(
        self,
        opener: Callable[[], Awaitable[IncomingResponse]],
        *,
        action: str,
        item_limit: int | None = ITEM_LIMIT,
    ) -> None:
        super().__init__(opener, action=action)
        self._item_limit = item_limit
        self._splitter: ListSplitter | ProtobufListSplitter = ListSplitter(item_limit=item_limit)
        self._has_begun = False
        self._ready: deque[bytes] = deque()
        self._rest: RawList | None = None
        self._any = False  # an item was received

    async def __anext__(self) -> bytes:
        """The next item. Safe to cancel: the list is closed.

        Raises:
            DecodeError: the response is not a list, or is incomplete.
            TransportError: the connection broke, or was silent for too long.
        """
        while not self._ready:
            if self._rest is not None or self._ended:
                raise StopAsyncIteration
            await self._fill()
        return self._ready.popleft()

    async def batch(self) -> list[bytes]:
        """All items received so far, at least one; empty at the end.

        Safe to cancel: the list is closed.
        """
        while not self._ready and self._rest is None and not self._ended:
            await self._fill()
        found = list(self._ready)
        self._ready.clear()
        return found

    def rest(self) -> RawList:
        """The list without its items (`version`, `next_page`), once all items were read.

        Raises:
            DecodeError: not all items were read.
        """
        if self._rest is None:
            raise DecodeError(f"{self._action}: the list has not been read to its end")
        return self._rest

    async def _fill(self) -> None:
        chunk = await self._chunk()
        try:
            if chunk:
                if not self._has_begun:
                    self._has_begun = True
                    if chunk[:1] == MAGIC[:1]:  # no JSON begins with it
                        self._splitter = ProtobufListSplitter(item_limit=self._item_limit)
                self._take(self._splitter.feed(chunk))
            else:
                self._take(self._splitter.close())
                self._rest = self._check_is_list(self._splitter.rest())
        except DecodeError as error:
            self.close()
            raise DecodeError(f"{self._action}: {error}") from error

    def _take(self, items: list[bytes]) -> None:
        self._ready.extend(items)
        self._any = self._any or bool(items)

    def _check_is_list(self, rest: RawList) -> RawList:
        if not self._any and is_not_a_list(rest, self._splitter.text_without_items()):
            raise DecodeError(f"the response is not a list, its kind is {rest.kind}")
        return rest
