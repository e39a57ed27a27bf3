"""Parses JSONPath templates.

Guarantees: any text gives a template or a `JSONPathError` with the position; errors that do
not depend on data (unknown words, unpaired ranges) are raised here.
See also: the syntax tree (`syntax`), its evaluation (`evaluator`).
"""

from __future__ import annotations

import math
import re
from typing import Final, NoReturn, final

from .syntax import (
    Action,
    Constant,
    Descent,
    Field,
    Filter,
    JSONPathError,
    Path,
    Piece,
    Range,
    Slice,
    Step,
    Text,
    Union,
    Wildcard,
)

__all__ = ["parse"]

_OPERATORS: Final = ("==", "!=", "<", "<=", ">", ">=")

_MAX_NESTED_RANGES: Final = 50  # bounds the recursion of the evaluation

_LITERAL: Final = re.compile(r"[^{]*")
_NAME: Final = re.compile(r"(?:\\.|[^ \t\r\n.,\[\]$@{}\\])*", re.DOTALL)
_WORD: Final = re.compile(r"[^ \t\r\n.,\[\]$@{}]*")
_ARRAY: Final = re.compile(r"\[([^\]\n]*)\]")
_SLICE: Final = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
_FILTER: Final = re.compile(
    r"""\[\?\(((?:[^)"'\n]|"(?:\\[^\n]|[^"\\\n])*"|'(?:\\[^\n]|[^'\\\n])*')*)\)"""
)
_COMPARISON: Final = re.compile(r"([^!<>=]+)([!<>=]+)(.*)", re.DOTALL)
_QUOTED: Final = re.compile(r""""(?:\\[^\n]|[^"\\\n])*"|'(?:\\[^\n]|[^'\\\n])*'""")
_NUMBER: Final = re.compile(r"[+-]?[0-9.]*")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_ESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.?))", re.DOTALL
)


def parse(template: str) -> tuple[Piece, ...]:
    """The pieces of a template.

    Raises:
        JSONPathError: it cannot be parsed.
    """
    return _Template(template).read()


class _Block:
    """The template itself, or a range that is not closed yet."""

    def __init__(self, path: Path = (), *, at: int = 0) -> None:
        self.path = path
        self.at = at
        self.pieces: list[Piece] = []


@final
class _Template:
    """Splits a template into text and actions, and pairs each range with its end."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._blocks = [_Block()]  # never empty; the innermost open range is last

    def read(self) -> tuple[Piece, ...]:
        position = 0
        while position < len(self._template):
            if self._template[position] == "{":
                position = self._read_action(position)
            else:
                position = self._read_text(position)
        if len(self._blocks) > 1:
            self._fail("this range is never closed (add {end})", self._blocks[-1].at)
        return tuple(self._blocks[0].pieces)

    def _read_text(self, position: int) -> int:
        found = _LITERAL.match(self._template, position)
        assert found is not None  # the pattern matches anything
        self._blocks[-1].pieces.append(Text(found[0]))
        return found.end()

    def _read_action(self, position: int) -> int:
        action = _Expression(self._template, template=self._template, position=position + 1)
        path = action.read_action()
        match action.word:
            case "range":
                if len(self._blocks) > _MAX_NESTED_RANGES:
                    self._fail(f"more than {_MAX_NESTED_RANGES} nested ranges", position)
                self._blocks.append(_Block(path, at=position))
            case "end":
                self._close(path, at=position)
            case _:
                self._blocks[-1].pieces.append(Action(path))
        return action.position

    def _close(self, path: Path, *, at: int) -> None:
        if path:
            self._fail("end must be alone in its action (write {end})", at)
        if len(self._blocks) == 1:
            self._fail("end without a range", at)
        block = self._blocks.pop()
        self._blocks[-1].pieces.append(Range(block.path, tuple(block.pieces)))

    def _fail(self, message: str, at: int) -> NoReturn:
        raise JSONPathError(message, template=self._template, position=at)


@final
class _Expression:
    """Parses the content of an action, or of brackets in one.

    `text` is the whole template or a fragment of it that begins at `offset`.
    """

    def __init__(self, text: str, *, template: str, position: int = 0, offset: int = 0) -> None:
        self._text = text
        self._template = template
        self._offset = offset
        self._steps: list[Step] = []
        self.position = position
        self.word = ""  # "range" or "end" if the action begins with it

    def read_action(self) -> Path:
        """The steps up to the closing brace, which is consumed."""
        while not self._text.startswith("}", self.position):
            if self.position >= len(self._text) or self._text[self.position] in "\r\n":
                self._fail("unclosed action (add })")
            self._read_step()
        self.position += 1
        return tuple(self._steps)

    def read_fragment(self) -> Path:
        """The steps up to the end of the text."""
        while self.position < len(self._text):
            self._read_step()
        if self.word:
            self._fail(f"{self.word} must be the first word of an action")
        return tuple(self._steps)

    def _read_step(self) -> None:
        char = self._text[self.position]
        if self._text.startswith("[?(", self.position):
            self._read_filter()
        elif self._text.startswith("..", self.position):
            self._read_descent()
        elif char in " @$":  # every path begins at the current object anyway
            self.position += 1
        elif char == "[":
            self._read_array()
        elif char in "\"'":
            self._read_quoted()
        elif char == ".":
            self.position += 1
            self._read_field()
        elif char in "+-" or char.isdecimal():
            self._read_number()
        elif _starts_word(char):
            self._read_word()
        else:
            self._fail(f"unexpected {char!r}")

    def _read_field(self) -> None:
        at = self._offset + self.position
        raw = self._take(_NAME)
        name = re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL)
        self._steps.append(Wildcard() if raw == "*" else Field(name, at))

    def _read_descent(self) -> None:
        if self._steps and isinstance(self._steps[-1], Descent):
            self._fail("one recursive descent cannot follow another")
        self._steps.append(Descent())
        self.position += 2
        if _starts_word(self._text[self.position : self.position + 1]):
            self._read_field()

    def _read_word(self) -> None:
        at = self.position
        match self._take(_WORD):
            case "true":
                self._steps.append(Constant(value=True))
            case "false":
                self._steps.append(Constant(value=False))
            case ("range" | "end") as word if not self._steps and not self.word:
                self.word = word
            case "range" | "end":
                self._fail("range and end must be the first word of an action", at)
            case word:
                self._fail(f"unknown word {word!r} (a field begins with a dot: .{word})", at)

    def _read_number(self) -> None:
        at = self.position
        text = self._take(_NUMBER)
        value = _number(text)
        if value is None:
            self._fail(f"cannot parse the number {text or self._text[at]!r}", at)
        self._steps.append(Constant(value))

    def _read_quoted(self) -> None:
        at = self.position
        quoted = self._take(_QUOTED)
        if not quoted:
            self._fail("unterminated quoted string", at)
        text = _unquote(quoted)
        if text is None:
            self._fail(f"unknown escape in {quoted}", at)
        self._steps.append(Text(text))

    def _read_array(self) -> None:
        found = _ARRAY.match(self._text, self.position)
        if found is None:
            self._fail("unterminated array (add ])")
        self._steps.extend(self._inside_brackets(found[1], self.position + 1))
        self.position = found.end()

    def _inside_brackets(self, text: str, at: int) -> Path:
        if "," in text:
            return (Union(tuple(self._choices(text, at))),)
        if len(text) >= 2 and text[0] == text[-1] == "'" and "'" not in text[1:-1]:
            # As in kubectl, a key is parsed like `.key`, so its dots need a backslash too.
            return self._fragment(f".{text[1:-1]}", at).read_fragment()
        return (self._slice(":" if text == "*" else text, at),)

    def _choices(self, text: str, at: int) -> list[Path]:
        paths = []
        for part in text.split(","):
            spaces = len(part) - len(part.lstrip(" "))
            paths.append(self._inside_brackets(part.strip(" "), at + spaces))
            at += len(part) + 1
        return paths

    def _slice(self, text: str, at: int) -> Slice:
        found = _SLICE.fullmatch(text)
        if found is None:
            self._fail(f"cannot parse the index {text!r} (write [0], [1:3] or ['key'])", at)
        start, stop, step = found.groups()
        return Slice(
            self._index(start, at),
            self._index((stop or "")[1:], at),
            self._index((step or "")[1:], at),
            self._offset + at,
            single=stop is None,
        )

    def _index(self, text: str, at: int) -> int | None:
        if not text:
            return None
        if _INTEGER.fullmatch(text) is None:
            self._fail(f"the index {text!r:.40} is not a number", at)
        return int(text)

    def _read_filter(self) -> None:
        found = _FILTER.match(self._text, self.position)
        if found is None:
            self._fail("unterminated filter (add )])")
        if not self._text.startswith("]", found.end()):
            self._fail("a filter must be closed by )]", found.end())
        self._steps.append(self._filter(found[1], self.position + 3))
        self.position = found.end() + 1

    def _filter(self, text: str, at: int) -> Filter:
        found = _COMPARISON.fullmatch(text)
        if found is None:
            return Filter(self._fragment(text, at).read_fragment(), "", (), self._offset + at)
        left, operator, right = found.groups()
        if operator not in _OPERATORS:
            self._fail(
                f"unknown operator {operator} (use one of {' '.join(_OPERATORS)})", at + len(left)
            )
        if not right:
            self._fail(f"no operand after {operator}", at + len(text))
        return Filter(
            self._fragment(left, at).read_fragment(),
            operator,
            self._fragment(right, at + found.start(3)).read_fragment(),
            self._offset + at,
        )

    def _fragment(self, text: str, at: int) -> _Expression:
        return _Expression(text, template=self._template, offset=self._offset + at)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self.position)
        if found is None:
            return ""
        self.position = found.end()
        return found[0]

    def _fail(self, message: str, at: int | None = None) -> NoReturn:
        position = self._offset + (self.position if at is None else at)
        raise JSONPathError(message, template=self._template, position=position)


def _starts_word(char: str) -> bool:
    return char == "_" or char.isalnum()


def _number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return None


def _unquote(quoted: str) -> str | None:
    """The value of a string in single or double quotes, with Go's escapes.

    None if an escape is unknown.
    """
    quote, inner = quoted[0], quoted[1:-1]
    try:
        return _ESCAPE.sub(lambda escape: _unescape(escape, quote), inner)
    except LookupError:
        return None


def _unescape(escape: re.Match[str], quote: str) -> str:
    byte, short, long, octal, plain = escape.groups()
    if plain is not None:
        return quote if plain == quote else _ESCAPES[plain]
    code = int(octal, 8) if octal else int(byte or short or long, 16)
    if (octal and code > 0xFF) or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise LookupError(escape[0])
    return chr(code)
