"""Decodes JSON that is nested as deeply as Go accepts, which is more than Python's stack holds.

A value below `WALKED` levels becomes one opaque `msgspec.Raw`: every function that walks an object
sees a scalar, the encoder writes its text. Only free-form fields of custom kinds can have such
values; so what is lost is that their parts have no owners and are patched as a whole.
Guarantees: no recursion; linear time; a document of more than `MAX_DEPTH` levels is a ValueError.
"""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Iterator
from typing import Final

import msgspec

from kubeloop.wire import Json

__all__ = ["MAX_DEPTH", "WALKED", "TooDeep", "decode", "is_deep"]

MAX_DEPTH: Final = 10_000  # maxNestingDepth of encoding/json
WALKED: Final = 100  # levels; about a third of what fits into Python's stack
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"{}[]"))
_STEP: Final = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
# Without backtracking, and the last one may be open: a hostile text takes linear time, too.
_QUOTED: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRING: Final = re.compile(_QUOTED, re.DOTALL)
_BLANKS: Final = re.compile(rb"(%b)|[ \t\r\n]+" % _QUOTED, re.DOTALL)
_TOKEN: Final = re.compile(rb"%b|[{}\[\]]" % _QUOTED, re.DOTALL)


class TooDeep(ValueError):
    """A document of more than `MAX_DEPTH` levels."""


_decode = msgspec.json.Decoder().decode


def is_deep(raw: bytes) -> bool:
    """Whether a JSON text has more than `WALKED` levels."""
    return raw.count(b"{") + raw.count(b"[") > WALKED and _depth(raw) > WALKED


def decode(raw: bytes) -> Json:
    """The value of a JSON text.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    return _decode_deep(raw) if is_deep(raw) else _decode(raw)


def _depth(raw: bytes) -> int:
    return max(_levels(_brackets(raw)), default=0)


def _brackets(raw: bytes) -> bytes:
    return _STRING.sub(b"", raw).translate(None, _NOT_BRACKETS)


def _levels(brackets: bytes) -> Iterator[int]:
    """The level after each bracket."""
    return itertools.accumulate(map(_STEP.__getitem__, brackets))


def _check_depth(raw: bytes) -> None:
    brackets = _brackets(raw)
    for bracket, level in zip(brackets, _levels(brackets), strict=True):
        if level > MAX_DEPTH:
            raise TooDeep(f"invalid character '{chr(bracket)}' exceeded max depth")


def _decode_deep(raw: bytes) -> Json:
    _check_depth(raw)
    text = _BLANKS.sub(rb"\1", raw)
    mark = uuid.uuid4().hex  # no string of the document has it
    deep: list[bytes] = []  # the values below `WALKED` levels
    pieces: list[_Piece] = [_Piece(0)]
    depth = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case b"{" | b"[":
                if depth and depth % WALKED == 0:
                    pieces.append(_Piece(token.start()))
                depth += 1
            case b"}" | b"]":
                depth -= 1
                if depth and depth % WALKED == 0 and len(pieces) > 1:
                    piece, outer = pieces.pop(), pieces[-1]
                    _decode(piece.close(text, token.end()))  # only to find what is not JSON
                    if len(pieces) == 1:
                        outer.cut(
                            text, piece.start, token.end(), b'"%b%d"' % (mark.encode(), len(deep))
                        )
                        deep.append(text[piece.start : token.end()])
                    else:
                        outer.cut(text, piece.start, token.end(), b"null")
    if len(pieces) > 1:
        raise ValueError("unexpected end of JSON input")
    return _with_deep(_decode(pieces[0].close(text, len(text))), mark, deep)


class _Piece:
    """A part of a text of at most `WALKED` levels, in which deeper parts are replaced."""

    def __init__(self, start: int) -> None:
        self.start = start
        self._position = start
        self._parts: list[bytes] = []

    def cut(self, text: bytes, start: int, end: int, replacement: bytes) -> None:
        self._parts += text[self._position : start], replacement
        self._position = end

    def close(self, text: bytes, end: int) -> bytes:
        return b"".join([*self._parts, text[self._position : end]])


def _with_deep(value: Json, mark: str, deep: list[bytes]) -> Json:
    """`value` with the deep values in the places of their marks."""
    match value:
        case dict():
            return {key: _with_deep(item, mark, deep) for key, item in value.items()}
        case list():
            return [_with_deep(item, mark, deep) for item in value]
        case str() if value.startswith(mark):
            return msgspec.Raw(deep[int(value.removeprefix(mark))])
    return value
