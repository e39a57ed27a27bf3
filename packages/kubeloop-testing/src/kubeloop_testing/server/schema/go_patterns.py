"""Translates regular expressions with Go's syntax (RE2) for Python's `re`.

Guarantees: a translated pattern matches what Go's `regexp` matches; one that Go does not parse
(look-around, backreferences, possessive quantifiers, repetitions over 1000) is an error. So is
what `re` cannot do safely or at all: a repetition of a group with repetitions or alternatives, for
which it may need exponential time, and the class of a script (`\\p{Greek}`).
See also: the patterns of users (`patterns`), which need this only where RE2 is not installed.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Final, NamedTuple, final

__all__ = ["MAX_DEPTH", "PatternError", "translate"]

MAX_DEPTH: Final = 999  # of groups

_MAX_REPEAT: Final = 1000
_MAX_TRANSLATED_DEPTH: Final = 50  # the parser and `re` are recursive
# Without brackets: the classes are also used inside others.
_CLASSES: Final = {
    "d": "0-9",
    "s": r"\t\n\f\r ",
    "w": "0-9A-Za-z_",
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\x0b\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_REPEAT: Final = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII)
_GROUP: Final = re.compile(r"\(\?(?:P?<([A-Za-z0-9_]+)>|([imsU]*(?:-[imsU]+)?)([:)]))", re.ASCII)
_POSIX: Final = re.compile(r"\[:(\^?)(\w+):\]", re.ASCII)
_NUMBER: Final = re.compile(r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_PROPERTY: Final = re.compile(r"([pP])(?:\{(\^?)(\w+)\}|(\w))")
_LAST_CHARACTER: Final = 0x10FFFF


_NEEDS_RE2: Final = "(install google-re2)"


class PatternError(Exception):
    """A pattern that is refused; the text says why, as Go says it."""


def translate(text: str) -> str:
    """The pattern `text` in the syntax of `re`.

    Raises:
        PatternError: Go does not accept it, or `re` cannot evaluate it.
    """
    return _Parser(text).parse()


class _Part(NamedTuple):
    """A translated part of a pattern."""

    text: str
    size: int = 1  # the largest number of repetitions
    is_ambiguous: bool = False  # it may match the same text in several ways


@final
class _Parser:
    """Translates one pattern; `flags` are those at the current position."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._flags = frozenset[str]()
        self._depth = 0

    def parse(self) -> str:
        translated = self._alternatives().text
        if self._at < len(self._text):
            raise PatternError("unexpected )")
        return translated

    def _alternatives(self) -> _Part:
        """Everything up to the end of the group."""
        parts: list[_Part] = []
        before = self._flags
        while self._at < len(self._text) and self._text[self._at] != ")":
            if self._text[self._at] == "|":
                parts.append(_Part("|", is_ambiguous=True))
                self._at += 1
                continue
            atom = self._atom()
            if atom is not None:
                parts.append(self._repeat(atom))
        self._flags = before
        return _Part(
            "".join(part.text for part in parts),
            max((part.size for part in parts), default=1),
            any(part.is_ambiguous for part in parts),
        )

    def _atom(self) -> _Part | None:
        """One atom; None for flags, which nothing matches."""
        character = self._text[self._at]
        if character == "(":
            return self._group()
        if character == "[":
            return _Part(self._cased(self._class()))
        if character == "\\":
            return _Part(self._escape())
        if character in "*+?" or _REPEAT.match(self._text, self._at):
            raise PatternError(f"missing argument to repetition operator: {character}")
        self._at += 1
        return _Part(self._plain(character))

    def _plain(self, character: str) -> str:
        is_multiline = "m" in self._flags
        match character:
            case "^":
                return "(?m:^)" if is_multiline else r"\A"
            case "$":
                return "(?m:$)" if is_multiline else r"\Z"
            case ".":
                return "(?s:.)" if "s" in self._flags else "."
        return self._cased(re.escape(character))

    def _cased(self, translated: str) -> str:
        return f"(?i:{translated})" if "i" in self._flags else translated

    # --- groups and repetitions

    def _group(self) -> _Part | None:
        self._depth += 1
        if self._depth > _MAX_TRANSLATED_DEPTH:
            raise PatternError(f"groups nest too deeply for Python {_NEEDS_RE2}")
        found, before = _GROUP.match(self._text, self._at), self._flags
        opening = "("
        if found is None:
            if self._text.startswith("(?", self._at):
                raise PatternError("invalid or unsupported Perl syntax")
            self._at += 1
        elif found[1]:
            self._at = found.end()
        else:
            self._at = found.end()
            added, _, removed = found[2].partition("-")
            self._flags = (self._flags | set(added)) - set(removed)
            if found[3] == ")":
                self._depth -= 1
                return None  # until the end of the group
            opening = "(?:"
        inner = self._alternatives()
        if self._at == len(self._text):
            raise PatternError("missing closing )")
        self._at += 1
        self._depth -= 1
        self._flags = before
        return inner._replace(text=f"{opening}{inner.text})")

    def _repeat(self, atom: _Part) -> _Part:
        operator, count = self._operator()
        if not operator:
            return atom
        is_lazy = self._text.startswith("?", self._at)
        self._at += is_lazy
        if self._operator()[0]:
            raise PatternError("invalid nested repetition operator")
        size = atom.size * max(count, 1)
        if size > _MAX_REPEAT:
            raise PatternError("invalid repeat count")
        if atom.is_ambiguous and operator != "?":
            raise PatternError(f"nested repetition may block Python {_NEEDS_RE2}")
        swapped = "U" in self._flags
        repeated = f"(?:{atom.text}){operator}{'?' if is_lazy != swapped else ''}"
        return _Part(repeated, size, is_ambiguous=not _is_fixed(operator))

    def _operator(self) -> tuple[str, int]:
        """The repetition at the position, which moves behind it, and its largest count."""
        if self._at < len(self._text) and self._text[self._at] in "*+?":
            self._at += 1
            return self._text[self._at - 1], 1
        found = _REPEAT.match(self._text, self._at)
        if found is None:
            return "", 1
        self._at = found.end()
        low, high = int(found[1]), int(found[3]) if found[3] else None
        if low > _MAX_REPEAT or (high is not None and not low <= high <= _MAX_REPEAT):
            raise PatternError(f"invalid repeat count: {found[0]}")
        return found[0], low if high is None else high

    # --- characters and classes

    def _escape(self) -> str:
        text, at = self._text, self._at + 1
        if at == len(text):
            raise PatternError("trailing backslash at end of expression")
        character = text[at]
        if character == "Q":
            literal, _, _ = text[at + 1 :].partition(r"\E")
            self._at = min(len(text), at + 1 + len(literal) + 2)
            return self._cased(f"(?:{re.escape(literal)})")
        fixed = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}.get(character)
        if fixed is not None:
            self._at = at + 1
            return fixed
        found = self._class_escape()
        if found is not None:
            return self._cased(f"[{found}]")
        return self._cased(_literal(self._character()))

    def _class_escape(self) -> str | None:
        """The content of the class at the position, such as `\\d` or `\\pL`, if there is one."""
        text, at = self._text, self._at + 1
        name = text[at : at + 1]
        if name and name in "dDsSwW":
            self._at = at + 1
            content = _CLASSES[name.lower()]
            return content if name.islower() else _complement(content)
        found = _PROPERTY.match(text, at)
        if found is None:
            return None
        self._at = found.end()
        is_negated = (found[1] == "P") != bool(found[2])
        return _category(found[3] or found[4], negated=is_negated)

    def _character(self) -> int:
        """The code point of an escaped character."""
        text, at = self._text, self._at + 1
        character = text[at : at + 1]
        number = _NUMBER.match(text, at)
        if number is not None:
            self._at = number.end()
            point = int(number[3], 8) if number[3] else int(number[1] or number[2], 16)
            if point > _LAST_CHARACTER:
                raise PatternError("invalid escape sequence")
            return point
        if character in _CONTROLS:
            self._at = at + 1
            return _CONTROLS[character]
        if character.isascii() and character and not character.isalnum():
            self._at = at + 1
            return ord(character)
        raise PatternError(rf"invalid escape sequence: \{character}")

    def _class(self) -> str:
        self._at += 1
        is_negated = self._text.startswith("^", self._at)
        self._at += is_negated
        parts: list[str] = []
        is_first = True
        while is_first or not self._text.startswith("]", self._at):
            if self._at >= len(self._text):
                raise PatternError("missing closing ]")
            parts.append(self._class_item())
            is_first = False
        self._at += 1
        return f"[{'^' if is_negated else ''}{''.join(parts)}]"

    def _class_item(self) -> str:
        found = _POSIX.match(self._text, self._at)
        if found is not None:
            if found[2] not in _CLASSES or len(found[2]) == 1:
                raise PatternError(f"invalid character class range: {found[0]}")
            self._at = found.end()
            content = _CLASSES[found[2]]
            return _complement(content) if found[1] else content
        if self._text[self._at] == "\\":
            content_of_escape = self._class_escape()
            if content_of_escape is not None:
                return content_of_escape
        low = self._class_character()
        is_range = self._text.startswith("-", self._at) and not self._text.startswith(
            "-]", self._at
        )
        if not is_range:
            return _literal(low)
        self._at += 1
        if self._at >= len(self._text):
            raise PatternError("missing closing ]")
        high = self._class_character()
        if high < low:
            raise PatternError("invalid character class range")
        return f"{_literal(low)}-{_literal(high)}"

    def _class_character(self) -> int:
        if self._text[self._at] == "\\":
            return self._character()
        self._at += 1
        return ord(self._text[self._at - 1])


def _is_fixed(operator: str) -> bool:
    """Whether an operator repeats always the same number of times, as `{3}`."""
    return operator.startswith("{") and "," not in operator


def _literal(point: int) -> str:
    """One character, within a class or outside."""
    return f"\\x{point:02x}" if point < 0x100 else f"\\U{point:08x}"


@functools.cache
def _complement(content: str) -> str:
    """The content of the class of all characters that are not in an ASCII class."""
    included = re.compile(f"[{content}]")
    others = _ranges(lambda point: not included.match(chr(point)), end=0x80)
    return f"{others}{_literal(0x80)}-{_literal(_LAST_CHARACTER)}"


@functools.cache
def _category(name: str, *, negated: bool) -> str:
    """The content of the class of a Unicode category, such as `L` or `Nd`."""

    def contains(point: int) -> bool:
        return unicodedata.category(chr(point)).startswith(name)

    if name == "Any":
        return "" if negated else _ranges(lambda _: True)
    if len(name) > 2 or not any(map(contains, range(sys.maxunicode + 1))):
        raise PatternError(f"invalid character class range: \\p{{{name}}} {_NEEDS_RE2}")
    return _ranges(lambda point: contains(point) != negated)


def _ranges(contains: Callable[[int], bool], *, end: int = _LAST_CHARACTER + 1) -> str:
    parts: list[str] = []
    start = -1
    for point in range(end + 1):
        is_inside = point < end and contains(point)
        if is_inside and start < 0:
            start = point
        elif not is_inside and start >= 0:
            parts.append(f"{_literal(start)}-{_literal(point - 1)}")
            start = -1
    return "".join(parts)
