"""A response whose head was received and whose body is read from the connection.

Guarantees: every wait for bytes is bounded; closing is immediate, safe to repeat and never
waits; an incomplete body is `StreamBroken`, a silent one `TimeoutExceeded`, one beyond its limit
`ResponseTooLarge`, and the connection is closed; a compressed body is decompressed in pieces,
and yields to the event loop between them.
See also: `transport` (sends the request), `response` and `watch` (what the bytes mean).
"""

from __future__ import annotations

import asyncio
import io
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import final

import aiohttp

from kubeloop.errors import ResponseTooLarge, StreamBroken, TransportError
from kubeloop.kit import Clock

from .decompression import GzipDecompressor
from .failures import failure_of, idle_failure, late_failure
from .request import Request
from .response_limits import RATIO_APPLIES_FROM, SizeLimit
from .timeouts import Timeouts

__all__ = ["IncomingResponse", "PendingReads", "sooner"]

# A body that is not needed is read up to this size, so that its connection can be reused.
_DISCARD_LIMIT = 2048
_DISCARD_SECONDS = 1.0
_GZIP = frozenset({"gzip", "x-gzip"})
_NOT_ENCODED = frozenset({"", "identity"})
# What the limits of `ResponseLimits` are for.
_KINDS = {
    "error": "errors",
    "object": "an object",
    "document": "a document",
    "list": "a list",
}


@final
class PendingReads:
    """The responses whose bodies are being read, so that closing the client can end them.

    When aiohttp closes a connection, it does not wake a task that waits for a body.
    """

    def __init__(self) -> None:
        self.closed = False
        self.responses: set[IncomingResponse] = set()

    def close(self) -> None:
        """Close them all, and those that follow."""
        self.closed = True
        for incoming in list(self.responses):
            incoming.close()


@final
class IncomingResponse:
    """The head of a response, and the reader of its body."""

    __slots__ = (
        "_clock",
        "_compressed_size",
        "_decompressor",
        "_encoding",
        "_limit",
        "_reads",
        "_request",
        "_response",
        "_server",
        "_size",
        "_timeouts",
        "before",
        "headers",
        "status",
    )

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        *,
        clock: Clock,
        request: Request,
        server: str,
        timeouts: Timeouts,
        reads: PendingReads,
    ) -> None:
        self._response = response
        self._reads = reads
        self._clock = clock
        self._request = request
        self._server = server
        self._timeouts = timeouts
        self.before = ""  # the failure of an earlier attempt
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._limit: SizeLimit | None = None
        self._size = 0  # bytes returned
        self._compressed_size = 0  # bytes received of a compressed body
        self._encoding = ", ".join(self.all_of("Content-Encoding")).strip().lower()
        self._decompressor = GzipDecompressor() if self._encoding in _GZIP else None

    @property
    def request(self) -> Request:
        return self._request

    def all_of(self, header: str) -> list[str]:
        """All values of a header that may occur more than once."""
        return self._response.headers.getall(header, [])

    def limit_to(self, limit: SizeLimit) -> None:
        """Limit the size of the body.

        Raises:
            ResponseTooLarge: the Content-Length is larger; the connection is closed.
        """
        self._limit = limit
        announced = self._response.content_length
        if announced is not None and limit.size is not None and announced > limit.size:
            self.close()
            raise self._too_large(limit, f"Content-Length: {announced}")

    async def read(self, *, deadline: float | None = None) -> bytes:
        """The whole body; `deadline` is a time on the clock. A cancelled call closes it.

        Raises:
            ResponseTooLarge: it is larger than its limit.
            TransportError: it is incomplete, or late.
        """
        try:
            first = await self.chunk(deadline=deadline)
            if not first or (self._decompressor is None and self._response.content.at_eof()):
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
        decompressor = self._decompressor
        if decompressor is None:
            if self._encoding not in _NOT_ENCODED:
                raise self._unknown_encoding()
            chunk = await self._receive(deadline, idle)
            self._count(len(chunk))
            return chunk
        while True:
            if decompressor.has_more:
                await asyncio.sleep(0)
                compressed = b""
            elif not (compressed := await self._receive(deadline, idle)):
                if not decompressor.is_whole:
                    raise self._decompression_error("the body is incomplete")
                return b""
            self._compressed_size += len(compressed)
            found = self._decompress(decompressor, compressed)
            self._count(len(found))
            if found:
                return found

    def _decompress(self, decompressor: GzipDecompressor, compressed: bytes) -> bytes:
        try:
            return decompressor.feed(compressed)
        except zlib.error as error:
            raise self._decompression_error(str(error)) from error

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
        if allowed is None or self._decompressor is None or self._size <= RATIO_APPLIES_FROM:
            return
        if self._size > allowed * self._compressed_size:
            self.close()
            raise ResponseTooLarge(
                f"{self._request.action}: {self._server}: the response grows more than"
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
            f"{self._request.action}: {self._server}: the response is larger than"
            f" {limit.size} bytes, the limit for {_KINDS[limit.option]} ({detail})"
        ).with_hint("request less", python=f"raise ResponseLimits({limit.option}=...)")

    def _unknown_encoding(self) -> TransportError:
        return TransportError(
            f"{self._request.action}: {self._server}: the response has the Content-Encoding"
            f" {self._encoding[:60]!r}, which was not requested"
            " (does a proxy change responses?)"
        )

    def _decompression_error(self, why: str) -> StreamBroken:
        return StreamBroken(
            f"{self._request.action}: {self._server}: cannot decompress the response: {why}"
            " (does a proxy change responses?)"
        )

    def _read_available(self) -> bytes:
        """The bytes that were received and not read yet, without waiting."""
        try:
            return self._response.content.read_nowait()
        except (aiohttp.ClientError, OSError) as error:
            raise self._failure(error) from error

    async def _receive(self, deadline: float | None, idle: float | None) -> bytes:
        """The next bytes, not decompressed."""
        content = self._response.content
        if chunk := self._read_available():
            return chunk
        if content.at_eof():
            return b""
        if self._reads.closed:
            raise StreamBroken(
                f"{self._request.action}: the client was closed before the end of the response"
            )
        idle = self._timeouts.idle if idle is None else idle
        left = None if deadline is None else deadline - self._clock.now()
        self._reads.responses.add(self)
        try:
            async with self._clock.timeout(sooner(idle, left)) as bound:
                return await content.readany()
        except (aiohttp.ClientError, OSError) as error:
            if not bound.expired():
                raise self._failure(error) from error
        finally:
            self._reads.responses.discard(self)
        if left is not None and (idle is None or left < idle):
            raise late_failure(
                action=self._request.action,
                server=self._server,
                seconds=left,
                what="the rest of the response",
            )
        raise idle_failure(action=self._request.action, server=self._server, seconds=idle or 0.0)

    async def discard(self) -> None:
        """Skip the body; a short one is read, so that the connection can be reused."""
        length = self._response.content_length
        if length is not None and length <= _DISCARD_LIMIT:
            with suppress(TransportError):  # the body is not needed
                await self.read(deadline=self._clock.now() + _DISCARD_SECONDS)
        self.close()

    def close(self) -> None:
        """Close it at once, with the connection if the body was not read to its end."""
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            # The TLS close handshake would wait for the server, longer than the event loop may run.
            connection.transport.abort()
        self._response.close()

    def _failure(self, error: BaseException) -> TransportError:
        if isinstance(error, aiohttp.ClientConnectionError | ConnectionError):
            return StreamBroken(
                f"{self._request.action}: {self._server}: the connection was closed before the"
                " end of the response"
            )
        return failure_of(
            error, action=self._request.action, server=self._server, timeouts=self._timeouts
        )


def sooner(one: float | None, other: float | None) -> float | None:
    """The shorter of two bounds; None is no bound."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
