"""Finds where a JSON value ends, in text that comes in pieces.

Promises: plain code, no decoding; every byte is looked at once, wherever the pieces are
cut; what is nested too deeply to be decoded is refused early; other text that is not JSON
ends up somewhere, and decoding says so later.
Elsewhere: events (`frames`), lists (`listing`).
"""

from __future__ import annotations

import re
from typing import final

from kubeloop.errors import DecodeError

__all__ = ["SPACE", "ValueEnd"]

SPACE = b" \t\r\n"
# As deep as Go reads JSON, and far deeper than we do.
_DEEPEST = 10_000

_in_text = re.compile(rb'["\\]').search
# Everything up to the next bracket, whole texts included; it never looks back.
_skip = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL).match


@final
class ValueEnd:
    """Looks for the end of one object or array, fed with the bytes from its first one on."""

    __slots__ = ("_depth", "_in_string", "_skip")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._skip = 0  # bytes of an escape that are still to come

    def look(self, text: bytes | bytearray, start: int) -> int:
        """The index behind the value's last byte, or -1: look again from the end of `text`.

        Raises:
            DecodeError: it is nested too deeply.
        """
        at, end = start, len(text)
        depth = self._depth
        if self._in_string:
            at = self._string_end(text, at)
        while at < end:
            found = _skip(text, at)
            assert found is not None  # it matches nothing, too
            at = found.end() + 1
            if at > end:
                break
            byte = text[at - 1]
            if byte == 0x22:  # a text that does not end here
                self._in_string = True
                at = self._string_end(text, at)
            elif byte in b"{[":
                depth += 1
                if depth > _DEEPEST:
                    raise DecodeError(f"it is nested deeper than {_DEEPEST} levels")
            else:
                depth -= 1
                if depth <= 0:
                    return at
        self._depth = depth
        return -1

    def _string_end(self, text: bytes | bytearray, at: int) -> int:
        """The index behind the text that we are in, or that of the end of all."""
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
