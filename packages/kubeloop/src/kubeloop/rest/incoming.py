"""One response: its head, and the reader of its body.

Guarantees: every wait for bytes is bounded; closing is immediate, safe to repeat and never
waits; an incomplete body is `StreamBroken`, a silent one `TimeoutExceeded`, one beyond its limit
`ResponseTooLarge`, and the connection is closed; a compressed body is decompressed in pieces,
and yields to the event loop between them; a body that is read slowly does not fill the memory.
See also: `connections` (calls `on_head` and so on), `response` and `watch` (what the bytes mean).
"""

from __future__ import annotations

import asyncio
import io
import zlib
from contextlib import suppress
from typing import Protocol, final

from kubeloop.errors import ResponseTooLarge, StreamBroken, TransportError
from kubeloop.kit import Clock

from .connections import Connection
from .decompression import GzipDecompressor
from .failures import failure_of, idle_failure, late_failure
from .http1 import ProtocolError, ResponseHeaders
from .request import Request
from .response_limits import RATIO_APPLIES_FROM, SizeLimit
from .timeouts import Timeouts

__all__ = ["BodySink", "IncomingResponse", "sooner"]

# A body that is not needed is read up to this size, so that its connection can be reused.
_DISCARD_LIMIT = 2048
_DISCARD_SECONDS = 1.0
# While more bytes than this wait for a reader, nothing is read from the socket.
_MAX_WAITING = 256 * 1024
_GZIP = frozenset({"gzip", "x-gzip"})
_NOT_ENCODED = frozenset({"", "identity"})
_NO_HEADERS = ResponseHeaders()
# What the limits of `ResponseLimits` are for.
_KINDS = {
    "error": "errors",
    "object": "an object",
    "document": "a document",
    "list": "a list",
}


class BodySink(Protocol):
    """Receives a body in the callbacks that brought its bytes."""

    def on_bytes(self, data: bytes) -> None: ...
    def on_end(self, failure: TransportError | None) -> None: ...


@final
class IncomingResponse:
    """The response to one request. A hook may change `status` and `headers`."""

    # Defaults of the class: a response that arrives at once sets few of them.
    status = 0
    headers = _NO_HEADERS
    before = ""  # the failure of an earlier attempt
    connection: Connection | None = None  # until the response is complete
    _is_complete = False
    _error: BaseException | None = None  # why the connection was lost
    _waiter: asyncio.Future[bool] | None = None
    _waiting = 0  # bytes received and not read
    _sink: BodySink | None = None
    _upgraded: bytes | None = None  # received after a switch of protocols
    _limit: SizeLimit | None = None
    _size = 0  # bytes returned
    _compressed_size = 0  # bytes received of a compressed body
    _encoding = ""
    decompressor: GzipDecompressor | None = None  # of the body, if it is compressed

    def __init__(
        self, request: Request, *, method: str, clock: Clock, server: str, timeouts: Timeouts
    ) -> None:
        self.request = request
        self.method = method  # of HTTP, of the request that was sent
        self._clock = clock
        self._server = server
        self.timeouts = timeouts
        self._pieces: list[bytes] = []  # received and not read

    # --- the head

    async def wait_for_head(self, deadline: float | None) -> bool:
        """Wait for status and headers; False if `deadline`, a time on the clock, came first.

        A call that fails, is late or is cancelled closes the connection.

        Raises:
            TransportError: the connection was lost.
        """
        try:
            while not self.status:
                if self._error is not None:
                    raise self._failure(self._error) from self._error
                waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
                self._waiter = waiter
                if self.connection is not None:
                    self.connection.wake_at(deadline)
                if not await waiter:
                    self.close()
                    return False
        except BaseException:
            self.close()
            raise
        finally:
            self._waiter = None
        return True

    async def _wait(self, deadline: float | None) -> bool:
        """Wait until the connection brings something; False if `deadline` came first."""
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiter = waiter
        if self.connection is not None:
            self.connection.wake_at(deadline)
        try:
            return await waiter
        finally:
            self._waiter = None

    def _wake(self, result: bool = True) -> None:  # noqa: FBT001, FBT002 - a future's result
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(result)

    # --- called by the connection

    def on_response(self, status: int, headers: ResponseHeaders, body: bytes) -> None:
        self._is_complete = True
        self.connection = None
        if body:
            self._pieces.append(body)
        if "content-encoding" in headers.first:
            self.on_head(status, headers)
            return
        self.status = status
        self.headers = headers
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(True)

    def on_head(self, status: int, headers: ResponseHeaders) -> None:
        self.status = status
        self.headers = headers
        if "content-encoding" in headers.first:
            self._encoding = ", ".join(headers.all_of("content-encoding")).strip().lower()
            if self._encoding in _GZIP:
                self.decompressor = GzipDecompressor()
        self._wake()

    def on_body(self, data: bytes) -> None:
        if self._sink is not None:
            self._sink.on_bytes(data)
            return
        self._pieces.append(data)
        self._waiting += len(data)
        if self._waiting > _MAX_WAITING and self.connection is not None:
            self.connection.pause()
        self._wake()

    def on_end(self) -> None:
        self._is_complete = True
        self.connection = None
        if self._sink is not None:
            self._sink.on_end(None)
        self._wake()

    def on_failure(self, error: BaseException) -> None:
        self._error = error
        self.connection = None
        if self._sink is not None:
            self._sink.on_end(self._failure(error))
        self._wake()

    def on_deadline(self) -> None:
        self._wake(result=False)

    def on_upgrade(self, status: int, headers: ResponseHeaders, received: bytes) -> None:
        self.status, self.headers, self._upgraded = status, headers, received
        # For a caller that reads it as a response: no body follows.
        self._error = ProtocolError("the server switched protocols, which was not requested")
        self._wake()

    # --- the body

    def limit_to(self, limit: SizeLimit) -> None:
        """Limit the size of the body.

        Raises:
            ResponseTooLarge: the Content-Length is larger; the connection is closed.
        """
        self._limit = limit
        length = self.headers.first.get("content-length")
        if limit.size is None or length is None:
            return
        if int(length) > limit.size and self.method != "HEAD":
            self.close()
            raise self._too_large(limit, f"Content-Length: {length}")

    async def read(self, limit: SizeLimit | None = None, *, deadline: float | None = None) -> bytes:
        """The whole body; `deadline` is a time on the clock. A cancelled call closes it.

        Raises:
            ResponseTooLarge: it is larger than its limit.
            TransportError: it is incomplete, or late.
        """
        if self._is_complete and len(self._pieces) == 1 and not self._encoding:
            found = self._pieces.pop()  # the usual case: it arrived together with the head
            if limit is None or limit.size is None or len(found) <= limit.size:
                return found
            raise self._too_large(limit)
        if limit is not None:
            self.limit_to(limit)
        try:
            first = await self.chunk(deadline=deadline)
            if not first or (self.decompressor is None and self._is_complete and not self._pieces):
                return first
            # Copies each chunk when it arrives, and the value of the buffer is not copied: to
            # join 64 MiB at the end would block the event loop for long.
            whole = io.BytesIO()
            whole.write(first)
            while chunk := await self.chunk(deadline=deadline):
                whole.write(chunk)
        except BaseException:
            self.close()
            raise
        return whole.getvalue()

    async def chunk(self, *, deadline: float | None = None, idle: float | None = None) -> bytes:
        """The bytes that were received, at least one; empty at the end.

        `idle` bounds the silence in place of `Timeouts.idle`. Safe to cancel, and to call again
        after a timeout: no byte is lost.

        Raises:
            ResponseTooLarge: the body is larger than its limit; the connection is closed.
            TransportError: the body is incomplete or silent, or `deadline` has passed.
        """
        self.check_encoding()
        decompressor = self.decompressor
        if decompressor is None:
            chunk = await self._receive(deadline, idle)
            self._count(len(chunk))
            return chunk
        while True:
            if decompressor.has_more:
                await asyncio.sleep(0)
                compressed = b""
            elif not (compressed := await self._receive(deadline, idle)):
                self.check_decompressed()
                return b""
            found = self.decompress(compressed)
            self._count(len(found))
            if found:
                return found

    def push_to(self, sink: BodySink) -> None:
        """Pass the body to `sink` from now on, as received: compressed if it is.

        Bytes that wait for a reader, and the end, are passed before this returns.
        """
        self._sink = sink
        pieces, self._pieces = self._pieces, []
        self._waiting = 0
        self.resume()  # before the sink, which may pause it
        for piece in pieces:
            sink.on_bytes(piece)
        if self._is_complete:
            sink.on_end(None)
        elif self._error is not None:
            sink.on_end(self._failure(self._error))

    def pause(self) -> None:
        """Read nothing from the socket until `resume`; a sink may still receive a little."""
        if self.connection is not None:
            self.connection.pause()

    def resume(self) -> None:
        if self.connection is not None:
            self.connection.resume()

    def decompress(self, compressed: bytes) -> bytes:
        """Decompress a piece. Raises: StreamBroken."""
        assert self.decompressor is not None
        self._compressed_size += len(compressed)
        try:
            return self.decompressor.feed(compressed)
        except zlib.error as error:
            raise self._decompression_error(str(error)) from error

    def check_encoding(self) -> None:
        """Raises: TransportError when the body has an encoding that was not requested."""
        if self._encoding and self.decompressor is None and self._encoding not in _NOT_ENCODED:
            raise TransportError(
                f"{self.request.action}: {self._server}: the response has the Content-Encoding"
                f" {self._encoding[:60]!r}, which was not requested"
                " (does a proxy change responses?)"
            )

    def check_decompressed(self) -> None:
        """Raises: StreamBroken when the body has ended in the middle of a compressed piece."""
        if self.decompressor is not None and not self.decompressor.is_whole:
            raise self._decompression_error("the body is incomplete")

    def _decompression_error(self, why: str) -> StreamBroken:
        return StreamBroken(
            f"{self.request.action}: {self._server}: cannot decompress the response: {why}"
            " (does a proxy change responses?)"
        )

    def _count(self, size: int) -> None:
        """Count bytes, and raise beyond the limit."""
        self._size += size
        limit = self._limit
        if limit is None:
            return
        # Compressed bytes that expand to nothing count as well: a server could send them forever.
        total = max(self._size, self._compressed_size)
        if limit.size is not None and total > limit.size:
            self.close()
            raise self._too_large(limit)
        allowed = limit.ratio
        if allowed is None or self.decompressor is None or self._size <= RATIO_APPLIES_FROM:
            return
        if self._size > allowed * self._compressed_size:
            self.close()
            raise ResponseTooLarge(
                f"{self.request.action}: {self._server}: the response grows more than"
                f" {allowed} times by decompression: {self._compressed_size} bytes became"
                f" {self._size}, and the rest was not read"
            ).with_hint(
                "check which server this address belongs to",
                python="raise ResponseLimits(compression_ratio=...)",
            )

    def _too_large(
        self, limit: SizeLimit, detail: str = "the rest was not read"
    ) -> ResponseTooLarge:
        return ResponseTooLarge(
            f"{self.request.action}: {self._server}: the response is larger than"
            f" {limit.size} bytes, the limit for {_KINDS[limit.option]} ({detail})"
        ).with_hint("request less", python=f"raise ResponseLimits({limit.option}=...)")

    async def _receive(self, deadline: float | None, idle: float | None) -> bytes:
        """The next bytes, not decompressed."""
        while not self._pieces:
            if self._is_complete:
                return b""
            if self._error is not None:
                raise self._failure(self._error) from self._error
            now = self._clock.now()
            idle = self.timeouts.idle if idle is None else idle
            until = sooner(None if idle is None else now + idle, deadline)
            if not await self._wait(until):
                raise self._late(deadline, now, idle)
        pieces, self._pieces = self._pieces, []
        self._waiting = 0
        if self.connection is not None:
            self.connection.resume()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _late(self, deadline: float | None, began: float, idle: float | None) -> TransportError:
        left = None if deadline is None else deadline - began
        if left is not None and (idle is None or left < idle):
            return late_failure(
                action=self.request.action,
                server=self._server,
                seconds=left,
                what="the rest of the response",
            )
        return idle_failure(action=self.request.action, server=self._server, seconds=idle or 0.0)

    # --- the end

    def forget_headers(self) -> None:
        """Free what is needed no more of a response that lasts: a program has many watches."""
        self.headers = _NO_HEADERS

    async def discard(self) -> None:
        """Skip the body; a short one is read, so that the connection can be reused."""
        length = self.headers.get("content-length")
        if length is not None and int(length) <= _DISCARD_LIMIT:
            with suppress(TransportError):  # the body is not needed
                await self.read(deadline=self._clock.now() + _DISCARD_SECONDS)
        self.close()

    def close(self) -> None:
        """Close it at once, with the connection if the body was not received to its end."""
        self._pieces = []
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.abort()
            self._error = self._error or ConnectionAbortedError("it was closed here")
            self._wake()

    def detach(self) -> tuple[asyncio.Transport, bytes]:
        """The transport after a switch of protocols, and what was received on it.

        Raises:
            TransportError: the connection was lost meanwhile, such as when the client was closed.
        """
        assert self._upgraded is not None
        if self.connection is None:
            assert self._error is not None
            raise self._failure(self._error) from self._error
        connection, self.connection = self.connection, None
        return connection.detach(), self._upgraded

    def _failure(self, error: BaseException) -> TransportError:
        return failure_of(
            error, action=self.request.action, server=self._server, has_head=self.status != 0
        )


def sooner(one: float | None, other: float | None) -> float | None:
    """The shorter of two bounds; None is no bound."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
