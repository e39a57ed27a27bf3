"""Quoted strings in JSONPath templates, with Go's escapes.

See also: where a quoted string may stand (`parser`).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["unquote"]

_PLAIN: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.?))", re.DOTALL
)


def unquote(quoted: str) -> str | None:
    """What a string in single or double quotes says; None when an escape is unknown."""
    quote, inner = quoted[0], quoted[1:-1]
    try:
        return _ESCAPE.sub(lambda escape: _unescape(escape, quote), inner)
    except LookupError:
        return None


def _unescape(escape: re.Match[str], quote: str) -> str:
    byte, short, long, octal, plain = escape.groups()
    if plain is not None:
        return quote if plain == quote else _PLAIN[plain]
    code = int(octal, 8) if octal else int(byte or short or long, 16)
    if (octal and code > 0xFF) or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise LookupError(escape[0])
    return chr(code)
