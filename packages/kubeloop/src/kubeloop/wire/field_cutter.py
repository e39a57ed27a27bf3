"""Cuts fields out of an object's JSON text, without decoding the rest.

Guarantees: the result decodes to the object without the fields, whatever the order, spacing,
escapes or duplicates of its keys; every other value keeps its bytes. Text that is not JSON is a
`DecodeError`.
How: msgspec, which is much faster than a scan in Python, returns the text of the field, and a
search for its key finds the position. A key that occurs once, in text without escapes of letters,
is the right one. Otherwise the result is checked; text that fails the check, or has spaces around
the field, is scanned.
See also: `projection` (reads fields).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, final

import msgspec

from .errors import DecodeError
from .model import Model
from .projection import FieldTree, Projection, field_tree, parse_path

__all__ = ["FieldCutter", "overlaps"]

# An escape that may stand for a character of a key. Go escapes <, > and & as well, which
# are in annotations and in no name of a field.
_find_escape = re.compile(rb"\\(?:/|u00(?:2[^6]|3[^cCeE]|[4-7]))").search
_space = re.compile(rb"[ \t\r\n]*").match
_string = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL).match
_scalar = re.compile(rb"[^ \t\r\n,}\]]+").match
# Everything up to the next bracket, whole strings included; possessive, so it never backtracks.
_no_bracket = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL).match

_any_json = msgspec.json.Decoder(msgspec.Raw)
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


@final
class FieldCutter:
    """Cuts the fields at `paths`, if an object has them.

        cutter = FieldCutter("metadata.managedFields", of=Pod)
        text = cutter.cut(text)

    With `of`, each path must exist in that class; a path into a list is rejected.
    """

    def __init__(self, *paths: str, of: type[Model] | None = None) -> None:
        # A path inside another one has nothing left to cut.
        self.paths = tuple(path for path in dict.fromkeys(paths) if not _is_inside(path, paths))
        steps = [parse_path(path) for path in self.paths]
        self.types = dict.fromkeys(self.paths, msgspec.Raw)
        self._tree = field_tree(steps)
        if of is not None:
            Projection(*paths, of=of)  # checks the paths
        self._projection = Projection(*self.paths, types=self.types)
        self._keys = [msgspec.json.encode(names[-1]) for names in steps]
        self._nothing = (None,) * len(steps)
        # msgspec writes other characters as they are, and Go does not.
        self._is_simple = all(key.isascii() and b"\\" not in key for key in self._keys)

    def __repr__(self) -> str:
        return f"FieldCutter({', '.join(map(repr, self.paths))})"

    def cut(self, text: bytes) -> bytes:
        """The text without the fields. Raises `DecodeError` for text that is not JSON."""
        found = self._find(text)
        return self._scan(text) if found is None else self.cut_found(text, found)

    def cut_found(self, text: bytes, found: Sequence[msgspec.Raw | None]) -> bytes:
        """As `cut`, with the texts of the fields, which a projection of `types` has read."""
        if not self._is_simple:
            return self._cut_and_check(text, found)
        result = text
        for key, raw in zip(self._keys, found, strict=True):
            if raw is None:
                continue
            value = bytes(raw)
            at = result.find(key)
            start = at + len(key) + 1
            end = start + len(value)
            # `rfind` takes a third of the time that `find` takes.
            is_only_one = result.startswith(value, start) and result.rfind(key, end) < 0
            # A quote after a comma opens a string, so this is a key, in some object.
            if not is_only_one or result[at - 1] != 0x2C or result[start - 1] != 0x3A:
                return self._cut_and_check(text, found)
            result = result[: at - 1] + result[end:]
        if result is not text and b"\\" in result and _find_escape(result) is not None:
            return self._cut_and_check(text, found)
        return result

    def _cut_and_check(self, text: bytes, found: Sequence[msgspec.Raw | None]) -> bytes:
        """The same for text in which a key occurs more than once, or may."""
        result = text
        for key, value in zip(self._keys, found, strict=True):
            if value is not None:
                without = _cut_first(result, key, bytes(value)) if self._is_simple else None
                if without is None:
                    return self._scan(text)
                result = without
        if self._may_be_in(result) and self._find(result) != self._nothing:
            return self._scan(text)
        return result

    def _may_be_in(self, text: bytes) -> bool:
        """Whether a key is in the text: of another field, or a duplicate of one that was cut."""
        for key in self._keys:
            if key in text:
                return True
        return b"\\" in text and _find_escape(text) is not None

    def _find(self, text: bytes) -> tuple[msgspec.Raw | None, ...] | None:
        """The texts of the fields; None if the parent of one is not an object."""
        try:
            row = self._projection.decode_strictly(text)
        except msgspec.ValidationError:
            return None
        except _NOT_JSON as error:
            raise DecodeError(f"the text is not JSON: {error}") from error
        return self._projection.values(row)

    def _scan(self, text: bytes) -> bytes:
        try:
            _any_json.decode(text)
        except _NOT_JSON as error:
            raise DecodeError(f"the text is not JSON: {error}") from error
        start = _end(_space, text, 0)
        if text[start : start + 1] != b"{":
            return text
        spans = list(_spans(text, start, self._tree))
        ends = [0, *(end for _, end in spans)]
        starts = [*(start for start, _ in spans), len(text)]
        return b"".join(text[a:b] for a, b in zip(ends, starts, strict=True))


def overlaps(path: str, other: str) -> bool:
    """Whether the fields are the same, or one of them is inside the other."""
    mine, theirs = parse_path(path), parse_path(other)
    length = min(len(mine), len(theirs))
    return mine[:length] == theirs[:length]


def _is_inside(path: str, others: Iterable[str]) -> bool:
    steps = parse_path(path)
    longer = [parse_path(other) for other in others]
    return any(len(other) < len(steps) and steps[: len(other)] == other for other in longer)


def _cut_first(text: bytes, key: bytes, value: bytes) -> bytes | None:
    """The text without the first pair of `key` and `value`, and its comma; None if none is usual.

    A quote after a comma or an opening brace opens a string, so this is a key, in some object.
    """
    at = text.find(key)
    while at > 0:
        start = at + len(key)
        end = start + 1 + len(value)
        if text.startswith(value, start + 1) and text[start] == 0x3A:
            before, after = text[at - 1 : at], text[end : end + 1]
            if before == b"," and after in (b",", b"}"):
                return text[: at - 1] + text[end:]
            if before == b"{" and after == b",":
                return text[:at] + text[end + 1 :]
            if before == b"{" and after == b"}":
                return text[:at] + text[end:]
        at = text.find(key, start)
    return None


class _Member(NamedTuple):
    key: str
    start: int  # of the key
    value: int
    end: int


def _spans(text: bytes, start: int, tree: FieldTree) -> Iterator[tuple[int, int]]:
    """What to cut of the object at `start`, in order."""
    members = list(_members(text, start))
    kept_until = -1
    for index, member in enumerate(members):
        below = tree.get(member.key, _KEEP)
        if below is not None:
            kept_until = member.end
            if below is not _KEEP and text[member.value] == 0x7B:
                yield from _spans(text, member.value, below)
        elif kept_until >= 0:  # with the comma before it
            yield kept_until, member.end
            kept_until = member.end
        elif index + 1 < len(members):  # with the comma after it
            yield member.start, members[index + 1].start
        else:
            yield member.start, member.end


_KEEP: FieldTree = {}


def _members(text: bytes, start: int) -> Iterator[_Member]:
    """The members of the object at `start`, duplicates included; the text is known to be JSON."""
    at = _end(_space, text, start + 1)
    while text[at] != 0x7D:
        name_end = _end(_string, text, at)
        value = _end(_space, text, _end(_space, text, name_end) + 1)
        end = _value_end(text, value)
        yield _Member(msgspec.json.decode(text[at:name_end]), at, value, end)
        at = _end(_space, text, end)
        if text[at] == 0x2C:
            at = _end(_space, text, at + 1)


def _value_end(text: bytes, at: int) -> int:
    if text[at] == 0x22:
        return _end(_string, text, at)
    if text[at] not in b"{[":
        return _end(_scalar, text, at)
    depth = 0
    while True:
        at = _end(_no_bracket, text, at) + 1
        depth += 1 if text[at - 1] in b"{[" else -1
        if not depth:
            return at


def _end(match: Any, text: bytes, at: int) -> int:
    end: int = match(text, at).end()
    return end
