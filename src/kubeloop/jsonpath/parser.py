"""Reads JSONPath templates.

Guarantees: any text gives a template or a `JSONPathError` that names the place; what
can be known without data (unknown words, ranges that do not pair up) is said here.
See also: the parts (`syntax`); what they find (`walk`).
"""

from __future__ import annotations

import math
import re
from typing import Final, NoReturn, final

from .strings import unquote
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

_MOST_RANGES: Final = 50  # one in the other; Python's stack is finite

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


def parse(template: str) -> tuple[Piece, ...]:
    """The pieces of a template.

    Raises:
        JSONPathError: it cannot be read.
    """
    return _Template(template).read()


class _Block:
    """The template itself, or a range that waits for its end."""

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
                if len(self._blocks) > _MOST_RANGES:
                    self._fail(f"more than {_MOST_RANGES} ranges in one another", position)
                self._blocks.append(_Block(path, at=position))
            case "end":
                self._close(path, at=position)
            case _:
                self._blocks[-1].pieces.append(Action(path))
        return action.position

    def _close(self, path: Path, *, at: int) -> None:
        if path:
            self._fail("end stands alone in its action (write {end})", at)
        if len(self._blocks) == 1:
            self._fail("there is no range to end", at)
        block = self._blocks.pop()
        self._blocks[-1].pieces.append(Range(block.path, tuple(block.pieces)))

    def _fail(self, message: str, at: int) -> NoReturn:
        raise JSONPathError(message, template=self._template, position=at)


@final
class _Expression:
    """Reads what stands inside an action, or inside the brackets of one.

    `text` is the whole template or a cutting of it that begins at `offset`.
    """

    def __init__(self, text: str, *, template: str, position: int = 0, offset: int = 0) -> None:
        self._text = text
        self._template = template
        self._offset = offset
        self._steps: list[Step] = []
        self.position = position
        self.word = ""  # "range" or "end" in an action that says so

    def read_action(self) -> Path:
        """The steps up to the closing brace, which is read too."""
        while not self._text.startswith("}", self.position):
            if self.position >= len(self._text) or self._text[self.position] in "\r\n":
                self._fail("unclosed action (add })")
            self._read_step()
        self.position += 1
        return tuple(self._steps)

    def read_cutting(self) -> Path:
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
        elif char in " @$":  # the current object is where every path begins anyway
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
        elif _begins_word(char):
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
        if _begins_word(self._text[self.position : self.position + 1]):
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
            self._fail(f"cannot read the number {text or self._text[at]!r}", at)
        self._steps.append(Constant(value))

    def _read_quoted(self) -> None:
        at = self.position
        quoted = self._take(_QUOTED)
        if not quoted:
            self._fail("unterminated quoted string", at)
        text = unquote(quoted)
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
            # A key is read as if it were written `.key`, so its dots need a backslash too.
            return self._cutting(f".{text[1:-1]}", at).read_cutting()
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
            self._fail(f"cannot read the index {text!r} (write [0], [1:3] or ['key'])", at)
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
            return Filter(self._cutting(text, at).read_cutting(), "", (), self._offset + at)
        left, operator, right = found.groups()
        if operator not in _OPERATORS:
            self._fail(
                f"unknown operator {operator} (use one of {' '.join(_OPERATORS)})", at + len(left)
            )
        if not right:
            self._fail(f"nothing stands after {operator}", at + len(text))
        return Filter(
            self._cutting(left, at).read_cutting(),
            operator,
            self._cutting(right, at + found.start(3)).read_cutting(),
            self._offset + at,
        )

    def _cutting(self, text: str, at: int) -> _Expression:
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


def _begins_word(char: str) -> bool:
    return char == "_" or char.isalnum()


def _number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return None
