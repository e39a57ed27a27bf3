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
# Bytes given to zlib at once: it copies what it leaves, after each of many short members.
_WINDOW = 64 * 1024
# Members of a body that hold nothing, one after the other. No server sends any, and taking
# them apart costs far more than sending them.
_MOST_EMPTY_MEMBERS = 16


@final
class Unpacking:
    """The content of one gzip body."""

    __slots__ = ("_at", "_began", "_empty", "_inflate", "_left", "has_more")

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP)
        self._left = b""  # what came and is not unpacked, from `_at` on
        self._at = 0
        self._began = False
        self._empty = 0  # members that have begun since the last bytes came out
        self.has_more = False  # whether `feed` may give more without being given anything

    @property
    def is_whole(self) -> bool:
        """Whether what came so far has come to its end, checksum included; nothing has, too."""
        return self._inflate.eof or not self._began

    def feed(self, packed: bytes) -> bytes:
        """The next of what was packed, at most a `PIECE`; the rest comes with later calls.

        Raises:
            zlib.error: this is not gzip, or nothing but empty members.
        """
        self._began = True
        if self._inflate.eof and (packed or self._at < len(self._left)):
            self._inflate = zlib.decompressobj(_GZIP)  # one body may be several, end to end
            self._empty += 1
            if self._empty > _MOST_EMPTY_MEMBERS:
                raise zlib.error("too many empty gzip members")
        if packed:
            self._left = self._left[self._at :] + packed if self._at < len(self._left) else packed
            self._at = 0
        window = self._left[self._at : self._at + _WINDOW]
        found = self._inflate.decompress(window, PIECE)
        if found:
            self._empty = 0
        rest = self._inflate.unconsumed_tail or self._inflate.unused_data
        self._at += len(window) - len(rest)
        self.has_more = len(found) == PIECE or self._at < len(self._left)
        return found
