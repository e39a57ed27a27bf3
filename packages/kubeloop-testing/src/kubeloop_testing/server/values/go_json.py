"""Why Go's encoding/json cannot read a text or a value, in its own sentences.

Guarantees: pure; the sentence that Go has for the first byte that cannot continue the text.
See also: values of the wrong type (`scalars`), bodies (`request.negotiation`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ..statuses import ESCAPES
from .causes import go_number, quoted

__all__ = [
    "base64_error",
    "go_kind",
    "go_text",
    "json_type",
    "struct_error",
    "syntax_error",
    "time_error",
]

_END: Final = "unexpected end of JSON input"
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_PLAIN: Final = re.compile(rb'[^"\\\x00-\x1f]*')
_DIGITS: Final = re.compile(rb"[0-9]*")
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")
_LITERALS: Final = (b"true", b"false", b"null")
_VALUE: Final = "looking for beginning of value"
_KEY: Final = "looking for beginning of object key string"
_NUMBER: Final = "in numeric literal"


class _SyntaxError(Exception):
    """The sentence of Go's `json.SyntaxError`."""


def syntax_error(raw: bytes) -> str:
    """The error for the first byte that is no JSON; empty if the text is valid."""
    try:
        _Scanner(raw).scan()
    except _SyntaxError as error:
        return str(error)
    except RecursionError:
        return "exceeded max depth"
    return ""


def base64_error(text: str, *, padded: bool = True) -> str:
    """The error of Go's base64 decoder; empty if the text is base64."""
    corrupt = re.search(r"[^A-Za-z0-9+/=]" if padded else r"[^A-Za-z0-9+/]", text)
    size = len(text)
    if corrupt:
        offset = corrupt.start()
    elif padded and size % 4:
        offset = size - size % 4
    elif padded and not re.fullmatch(r"[^=]*={0,2}", text):
        offset = text.index("=")
    elif not padded and size % 4 == 1:
        offset = size - 1
    else:
        return ""
    return f"illegal base64 data at input byte {offset}"


_TIME_PARTS: Final = (
    ("2006", "[0-9]{4}"),
    ("-", "-"),
    ("01", "[0-9]{2}"),
    ("-", "-"),
    ("02", "[0-9]{2}"),
    ("T", "T"),
    ("15", "[0-9]{1,2}"),
    (":", ":"),
    ("04", "[0-9]{2}"),
    (":", ":"),
    ("05", "[0-9]{2}"),
)
_ZONE: Final = ("Z07:00", "Z|[+-][0-9]{2}:[0-9]{2}")


def time_error(text: str, fraction: str = "") -> str:
    """Why Go's `time.Parse` cannot read a time of RFC 3339; `fraction` is part of the layout."""
    parts = [*_TIME_PARTS, *([(fraction, r"\.[0-9]{6}")] if fraction else []), _ZONE]
    layout, rest = "".join(part for part, _ in parts), text
    problem = f"parsing time {quoted(text)} as {quoted(layout)}"
    for part, pattern in parts:
        match = re.match(pattern, rest)
        if match is None:
            return f"{problem}: cannot parse {quoted(rest)} as {quoted(part)}"
        rest = rest[match.end() :]
        if part == "05" and not fraction and (more := re.match(r"[.,][0-9]+", rest)):
            rest = rest[more.end() :]  # Go accepts a fraction that the layout does not have
    if rest:
        return f"parsing time {quoted(text)}: extra text: {quoted(rest)}"
    month, day = int(text[5:7]), int(text[8:10])
    if not 1 <= month <= 12:
        return f"parsing time {quoted(text)}: month out of range"
    unit = "day" if not 1 <= day <= 28 else "hour" if int(text[11:13]) > 23 else "minute"
    return f"parsing time {quoted(text)}: {unit} out of range"


# --- types


def go_text(value: Any) -> str:
    """A value as Go's format %v prints it: `map[a:1 b:[x <nil>]]`."""
    match value:
        case dict():
            return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(go_text, value))}]"
        case None:
            return "<nil>"
        case str():
            return value
    return go_number(value)


def go_kind(value: Any) -> str:
    """The kind of the Go value that a JSON value is decoded into."""
    kinds = {"array": "slice", "object": "map", "number": "int64"}
    found = "float64" if isinstance(value, float) else json_type(value)
    return kinds.get(found, found)


def json_type(value: object) -> str:
    """The type of a JSON value as encoding/json's errors name it."""
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return "number"


def struct_error(
    value: Any, struct: str, fields: Mapping[str, str], *, name: str | None = None
) -> str:
    """Why a value cannot be decoded into a Go struct with these fields; empty if it can."""
    if value is None:
        return ""
    if not isinstance(value, dict):
        return f"json: cannot unmarshal {json_type(value)} into Go value of type {struct}"
    name = struct.rpartition(".")[2] if name is None else name
    for field, go_type in fields.items():
        item = value.get(field)
        if item is None or _fits(item, go_type):
            continue
        found = json_type(item)
        if found == "number" and go_type.startswith("int"):
            found = f"number {go_number(item)}"
        return (
            f"json: cannot unmarshal {found} into Go struct field {name}.{field} of type {go_type}"
        )
    return ""


def _fits(value: Any, go_type: str) -> bool:
    if go_type.startswith("int"):
        return type(value) is int and -(2**63) <= value < 2**63
    return isinstance(value, bool if go_type == "bool" else str)


# --- syntax


class _Scanner:
    """Reads one JSON value; stops at the first byte that cannot continue it."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def scan(self) -> None:
        self._value()
        self._skip(_SPACE)
        if self._at < len(self._raw):
            raise self._error("after top-level value")

    def _error(self, where: str) -> _SyntaxError:
        if self._at >= len(self._raw):
            return _SyntaxError(_END)
        return _SyntaxError(f"invalid character {_quoted(self._raw[self._at])} {where}")

    def _peek(self) -> bytes:
        return self._raw[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[bytes]) -> bool:
        match = pattern.match(self._raw, self._at)
        before, self._at = self._at, match.end() if match else self._at
        return self._at > before

    def _value(self) -> None:
        self._skip(_SPACE)
        match self._peek():
            case b"{":
                self._object()
            case b"[":
                self._array()
            case b'"':
                self._string()
            case byte if byte and byte in b"-0123456789":
                self._number()
            case byte:
                literal = next((each for each in _LITERALS if byte and each[:1] == byte), None)
                if literal is None:
                    raise self._error(_VALUE)
                self._literal(literal)

    def _object(self) -> None:
        self._at += 1
        self._skip(_SPACE)
        if self._peek() == b"}":
            self._at += 1
            return
        while True:
            self._skip(_SPACE)
            if self._peek() != b'"':
                raise self._error(_KEY)
            self._string()
            self._skip(_SPACE)
            if self._peek() != b":":
                raise self._error("after object key")
            self._at += 1
            self._value()
            if self._ends(b"}", "after object key:value pair"):
                return

    def _array(self) -> None:
        self._at += 1
        self._skip(_SPACE)
        if self._peek() == b"]":
            self._at += 1
            return
        while True:
            self._value()
            if self._ends(b"]", "after array element"):
                return

    def _ends(self, end: bytes, where: str) -> bool:
        self._skip(_SPACE)
        if self._peek() not in {end, b","}:
            raise self._error(where)
        self._at += 1
        return self._raw[self._at - 1 : self._at] == end

    def _string(self) -> None:
        self._at += 1
        while True:
            self._skip(_PLAIN)
            match self._peek():
                case b'"':
                    self._at += 1
                    return
                case b"\\":
                    self._escape()
                case _:
                    raise self._error("in string literal")

    def _escape(self) -> None:
        self._at += 1
        code = self._peek()
        if not code or code not in b'"\\/bfnrtu':
            raise self._error("in string escape code")
        self._at += 1
        for _ in range(4 if code == b"u" else 0):
            if self._at >= len(self._raw) or self._raw[self._at] not in _HEX:
                raise self._error("in \\u hexadecimal character escape")
            self._at += 1

    def _number(self) -> None:
        if self._peek() == b"-":
            self._at += 1
            self._require_digit(_NUMBER)
        if self._peek() == b"0":
            self._at += 1
        else:
            self._skip(_DIGITS)
        if self._peek() == b".":
            self._at += 1
            self._require_digit("after decimal point in numeric literal")
            self._skip(_DIGITS)
        if self._peek() in {b"e", b"E"}:
            self._at += 1
            if self._peek() in {b"+", b"-"}:
                self._at += 1
            self._require_digit("in exponent of numeric literal")
            self._skip(_DIGITS)

    def _require_digit(self, where: str) -> None:
        if not self._peek().isdigit():
            raise self._error(where)

    def _literal(self, literal: bytes) -> None:
        for byte in literal:
            if self._at >= len(self._raw) or self._raw[self._at] != byte:
                text, expected = literal.decode(), chr(byte)
                raise self._error(f"in literal {text} (expecting '{expected}')")
            self._at += 1


def _quoted(byte: int) -> str:
    # Go quotes a byte as the rune of its number.
    special = {ord("'"): "'\\''", ord('"'): "'\"'", ord("\\"): "'\\\\'"}
    if byte in special:
        return special[byte]
    letter = chr(byte)
    if letter in ESCAPES:
        return f"'{ESCAPES[letter]}'"
    return (
        f"'{letter}'"
        if letter.isprintable()
        else f"'\\x{byte:02x}'"
        if byte < 0x80
        else f"'\\u{byte:04x}'"
    )
