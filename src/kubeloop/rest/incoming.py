"""An answer whose head has come and whose body is still on the way.

Promises: every wait for bytes is bounded; closing is immediate, safe to repeat and never
waits; a body that breaks off is `StreamBroken`, one that goes silent `TimeoutExceeded`; one
that comes compressed is unpacked piece by piece, and the event loop goes on between them;
one that grows beyond its limit is `ResponseTooLarge`, and its connection is closed.
Elsewhere: what sends the request (`transport`), what the bytes mean (`answer`, `watch`).
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

from .failures import failure_of, idle_failure, late_failure
from .request import Request
from .response_limits import RATIO_APPLIES_FROM, SizeLimit
from .timeouts import Timeouts
from .unpacking import Unpacking

__all__ = ["Incoming", "Waiting", "sooner"]

# So much of an answer that nobody wants is read, to keep its connection.
_WORTH_READING = 2048
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
class Waiting:
    """The answers that somebody waits for, so that closing the client can end them.

    aiohttp closes their connections then, and does not wake who waits for a body.
    """

    def __init__(self) -> None:
        self.closed = False
        self.answers: set[Incoming] = set()

    def close(self) -> None:
        """End them all, and those to come."""
        self.closed = True
        for incoming in list(self.answers):
            incoming.close()


@final
class Incoming:
    """The head of an answer, and the way to its body."""

    __slots__ = (
        "_clock",
        "_encoding",
        "_limit",
        "_packed_size",
        "_request",
        "_response",
        "_server",
        "_size",
        "_timeouts",
        "_unpacking",
        "_waiting",
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
        waiting: Waiting,
    ) -> None:
        self._response = response
        self._waiting = waiting
        self._clock = clock
        self._request = request
        self._server = server
        self._timeouts = timeouts
        self.before = ""  # what an earlier attempt came to
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._limit: SizeLimit | None = None
        self._size = 0  # bytes handed out
        self._packed_size = 0  # bytes received of a compressed body
        self._encoding = ", ".join(self.all_of("Content-Encoding")).strip().lower()
        self._unpacking = Unpacking() if self._encoding in _GZIP else None

    def all_of(self, header: str) -> list[str]:
        """Every value of a header that may come more than once."""
        return self._response.headers.getall(header, [])

    def limit_to(self, limit: SizeLimit) -> None:
        """Read no more than `limit` from now on.

        Raises:
            ResponseTooLarge: the head announces more; the connection is closed.
        """
        self._limit = limit
        announced = self._response.content_length
        if announced is not None and limit.size is not None and announced > limit.size:
            self.close()
            raise self._too_large(limit, f"Content-Length: {announced}")

    async def read(self, *, deadline: float | None = None) -> bytes:
        """The whole body; `deadline` is a moment on the clock. Closes when cancelled.

        Raises:
            ResponseTooLarge: it is larger than its limit.
            TransportError: it did not come whole, or not in time.
        """
        try:
            first = await self.chunk(deadline=deadline)
            if not first or (self._unpacking is None and self._response.content.at_eof()):
                return first
            # Unlike a join at the end, this copies each chunk when it comes, and the value of
            # a buffer is not copied: one of 64 MiB would hold the event loop for long.
            whole = io.BytesIO()
            whole.write(first)
            while chunk := await self.chunk(deadline=deadline):
                whole.write(chunk)
        except BaseException:
            self.close()
            raise
        return whole.getvalue()

    async def chunk(self, *, deadline: float | None = None, idle: float | None = None) -> bytes:
        """The next bytes, as many as there are; empty at the end.

        `idle` bounds the silence in place of `Timeouts.idle`. Safe to cancel, and to call again
        after a timeout: nothing is lost.

        Raises:
            ResponseTooLarge: the body is larger than its limit; the connection is closed.
            TransportError: the body broke off, went silent, or `deadline` has come.
        """
        unpacking = self._unpacking
        if unpacking is None:
            if self._encoding not in _NOT_ENCODED:
                raise self._unknown_encoding()
            chunk = await self._received(deadline, idle)
            self._count(len(chunk))
            return chunk
        while True:
            if unpacking.has_more:
                await asyncio.sleep(0)
                packed = b""
            elif not (packed := await self._received(deadline, idle)):
                if not unpacking.is_whole:
                    raise self._not_unpacked("it was cut off before its end")
                return b""
            self._packed_size += len(packed)
            found = self._unpacked(unpacking, packed)
            self._count(len(found))
            if found:
                return found

    def _unpacked(self, unpacking: Unpacking, packed: bytes) -> bytes:
        try:
            return unpacking.feed(packed)
        except zlib.error as error:
            raise self._not_unpacked(str(error)) from error

    def _count(self, size: int) -> None:
        """Count bytes that were read, and refuse to go on beyond the limit."""
        self._size += size
        limit = self._limit
        if limit is None:
            return
        # Compressed bytes that expand to nothing count, too: they can come without end.
        most = max(self._size, self._packed_size)
        if limit.size is not None and most > limit.size:
            self.close()
            raise self._too_large(limit)
        allowed = limit.ratio
        if allowed is None or self._unpacking is None or self._size <= RATIO_APPLIES_FROM:
            return
        if self._size > allowed * self._packed_size:
            self.close()
            raise ResponseTooLarge(
                f"{self._request.action}: {self._server}: the response grows more than"
                f" {allowed} times by decompression: {self._packed_size} bytes became"
                f" {self._size}, and the rest was not read"
            ).with_hint(
                "check what answers at this address",
                python="raise ResponseLimits(compression_ratio=...)",
            )

    def _too_large(
        self, limit: SizeLimit, detail: str = "the rest was not read"
    ) -> ResponseTooLarge:
        return ResponseTooLarge(
            f"{self._request.action}: {self._server}: the response is larger than"
            f" {limit.size} bytes, the limit for {_KINDS[limit.option]} ({detail})"
        ).with_hint("ask for less", python=f"raise ResponseLimits({limit.option}=...)")

    def _unknown_encoding(self) -> TransportError:
        return TransportError(
            f"{self._request.action}: {self._server}: the response has the Content-Encoding"
            f" {self._encoding[:60]!r}, which was not requested"
            " (does something between us and the server change it?)"
        )

    def _not_unpacked(self, why: str) -> StreamBroken:
        return StreamBroken(
            f"{self._request.action}: {self._server}: the answer cannot be unpacked: {why}"
            " (does something between us and the server change it?)"
        )

    def _ready(self) -> bytes:
        """What has come and was not read yet, without waiting."""
        try:
            return self._response.content.read_nowait()
        except (aiohttp.ClientError, OSError) as error:
            raise self._failure(error) from error

    async def _received(self, deadline: float | None, idle: float | None) -> bytes:
        """The next bytes as they came."""
        content = self._response.content
        if chunk := self._ready():
            return chunk
        if content.at_eof():
            return b""
        if self._waiting.closed:
            raise StreamBroken(f"{self._request.action}: the client was closed inside the answer")
        idle = self._timeouts.idle if idle is None else idle
        left = None if deadline is None else deadline - self._clock.now()
        self._waiting.answers.add(self)
        try:
            async with self._clock.timeout(sooner(idle, left)) as bound:
                return await content.readany()
        except (aiohttp.ClientError, OSError) as error:
            if not bound.expired():
                raise self._failure(error) from error
        finally:
            self._waiting.answers.discard(self)
        if left is not None and (idle is None or left < idle):
            raise late_failure(
                action=self._request.action,
                server=self._server,
                seconds=left,
                what="the rest of the answer",
            )
        raise idle_failure(action=self._request.action, server=self._server, seconds=idle or 0.0)

    async def discard(self) -> None:
        """Give up the body: read it where it is short, so that the connection can be kept."""
        length = self._response.content_length
        if length is not None and length <= _WORTH_READING:
            with suppress(TransportError):  # nobody wanted it
                await self.read(deadline=self._clock.now() + _DISCARD_SECONDS)
        self.close()

    def close(self) -> None:
        """End it now; a connection in the middle of a body is cut with it."""
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            # TLS would say goodbye and wait for an answer, longer than the loop may last.
            connection.transport.abort()
        self._response.close()

    def _failure(self, error: BaseException) -> TransportError:
        if isinstance(error, aiohttp.ClientConnectionError | ConnectionError):
            return StreamBroken(
                f"{self._request.action}: {self._server}: the connection ended inside the answer"
            )
        return failure_of(
            error, action=self._request.action, server=self._server, timeouts=self._timeouts
        )


def sooner(one: float | None, other: float | None) -> float | None:
    """The shorter of two bounds; None is no bound."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
