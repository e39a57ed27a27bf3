"""Unpacks a body that comes compressed, while it comes.

Promises: plain code; what was packed comes out the same wherever the pieces were cut; what
comes out at once is bounded, however well it was packed, and so is the time it takes.
Why here: the HTTP library unpacks all that one read of the socket brought before anybody is
asked, which for a watch are hundreds of objects and 20 ms.
Elsewhere: who reads bodies (`incoming`), who asks for compression (`transport`).
"""

from __future__ import annotations

import zlib
from typing import final

__all__ = ["PIECE", "Unpacking"]

PIECE = 256 * 1024  # bytes that come out at once, which takes about a millisecond
_GZIP = 16 + zlib.MAX_WBITS


@final
class Unpacking:
    """The content of one gzip body."""

    __slots__ = ("_began", "_inflate", "_left", "has_more")

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP)
        self._left = b""
        self._began = False
        self.has_more = False  # whether `feed` may give more without being given anything

    @property
    def is_whole(self) -> bool:
        """Whether what came so far has come to its end, checksum included; nothing has, too."""
        return self._inflate.eof or not self._began

    def feed(self, packed: bytes) -> bytes:
        """The next of what was packed, at most a `PIECE`; the rest comes with later calls.

        Raises:
            zlib.error: this is not gzip.
        """
        self._began = True
        if self._inflate.eof and (self._left or packed):
            self._inflate = zlib.decompressobj(_GZIP)  # one body may be several, end to end
        found = self._inflate.decompress(self._left + packed if self._left else packed, PIECE)
        self._left = self._inflate.unconsumed_tail or self._inflate.unused_data
        self.has_more = len(found) == PIECE or bool(self._left)
        return found
