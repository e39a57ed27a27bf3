"""Finds the end of a JSON value in text that arrives in chunks.

Guarantees: no decoding; every byte is scanned once, however the text is chunked; text that is
nested too deeply is rejected early; for other text that is not JSON the end is arbitrary, and
decoding fails later.
See also: `frames` (events), `list_splitter` (lists).
"""

from __future__ import annotations

import re
from typing import final

from kubeloop.errors import DecodeError

__all__ = ["SPACE", "ValueScanner"]

SPACE = b" \t\r\n"
# As in Go, and far deeper than msgspec decodes.
_MAX_DEPTH = 10_000

_in_text = re.compile(rb'["\\]').search
# Everything up to the next bracket, whole strings included; possessive, so it never backtracks.
_skip = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL).match


@final
class ValueScanner:
    """Finds the end of one object or array, given its bytes from the first one on."""

    __slots__ = ("_depth", "_in_string", "_skip")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._skip = 0  # bytes of an escape that were not received yet

    def scan(self, text: bytes | bytearray, start: int) -> int:
        """The index after the value's last byte, or -1: scan again from the end of `text`.

        Raises:
            DecodeError: it is nested too deeply.
        """
        at, end = start, len(text)
        depth = self._depth
        if self._in_string:
            at = self._string_end(text, at)
        while at < end:
            found = _skip(text, at)
            assert found is not None  # it matches the empty text as well
            at = found.end() + 1
            if at > end:
                break
            byte = text[at - 1]
            if byte == 0x22:  # a string that does not end in this text
                self._in_string = True
                at = self._string_end(text, at)
            elif byte in b"{[":
                depth += 1
                if depth > _MAX_DEPTH:
                    raise DecodeError(f"it is nested deeper than {_MAX_DEPTH} levels")
            else:
                depth -= 1
                if depth <= 0:
                    return at
        self._depth = depth
        return -1

    def _string_end(self, text: bytes | bytearray, at: int) -> int:
        """The index after the current string, or the end of the text."""
        at, end = at + self._skip, len(text)
        self._skip = 0
        while at < end:
            found = _in_text(text, at)
            if found is None:
                return end
            at = found.end()
            if text[at - 1] == 0x22:
                self._in_string = False
                return at
            at += 1
        self._skip = at - end
        return end
