"""Decompresses a gzip body while it is received.

Guarantees: no I/O; the result is the same however the body is chunked; the output of one call
is bounded, whatever the compression ratio, and so is its time.
Why in pieces: one read of the socket may expand to hundreds of objects of a watch, which would
block the event loop for 20 ms.
See also: `incoming` (reads bodies), `transport` (requests compression).
"""

from __future__ import annotations

import zlib
from typing import final

__all__ = ["PIECE", "GzipDecompressor"]

PIECE = 256 * 1024  # bytes of output per call, which take about a millisecond
_GZIP = 16 + zlib.MAX_WBITS
# Input of one call of zlib: it copies what it leaves, after each of many short members.
_WINDOW = 64 * 1024
# Empty members in a row. No server sends any, and to decompress them costs far more than to
# send them.
_MAX_EMPTY_MEMBERS = 16


@final
class GzipDecompressor:
    """Decompresses one gzip body."""

    __slots__ = ("_at", "_began", "_empty", "_inflate", "_left", "has_more")

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP)
        self._left = b""  # input that is not decompressed yet, from `_at` on
        self._at = 0
        self._began = False
        self._empty = 0  # members that have started since the last output
        self.has_more = False  # whether `feed(b"")` may return more

    @property
    def is_whole(self) -> bool:
        """Whether the body is complete, checksum included; an empty one is as well."""
        return self._inflate.eof or not self._began

    def feed(self, compressed: bytes) -> bytes:
        """The next bytes, at most a `PIECE`; later calls return the rest.

        Raises:
            zlib.error: this is not gzip, or has too many empty members.
        """
        self._began = True
        if self._inflate.eof and (compressed or self._at < len(self._left)):
            self._inflate = zlib.decompressobj(_GZIP)  # a body may consist of several members
            self._empty += 1
            if self._empty > _MAX_EMPTY_MEMBERS:
                raise zlib.error("too many empty gzip members")
        if compressed:
            self._left = (
                self._left[self._at :] + compressed if self._at < len(self._left) else compressed
            )
            self._at = 0
        window = self._left[self._at : self._at + _WINDOW]
        found = self._inflate.decompress(window, PIECE)
        if found:
            self._empty = 0
        rest = self._inflate.unconsumed_tail or self._inflate.unused_data
        self._at += len(window) - len(rest)
        self.has_more = len(found) == PIECE or self._at < len(self._left)
        return found
