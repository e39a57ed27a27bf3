"""The syntax tree of a JSONPath template, and the error with a position in it.

Guarantees: every node is a frozen value; `at` is its position in the template.
See also: parsing (`parser`), evaluation (`evaluator`).
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kubeloop.wire.errors import InvalidArgument

__all__ = [
    "Action",
    "Constant",
    "Descent",
    "Field",
    "Filter",
    "JSONPathError",
    "Path",
    "Piece",
    "Range",
    "Slice",
    "Step",
    "Text",
    "Union",
    "Wildcard",
]


class JSONPathError(InvalidArgument):
    """A template cannot be parsed, or cannot be evaluated on the given data."""

    def __init__(self, message: str, *, template: str, position: int) -> None:
        super().__init__(f"jsonpath {template!r:.200}, character {position + 1}: {message}")
        self.template = template
        self.position = position

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickle, (self.args[0], self.template, self.position)


def _unpickle(message: str, template: str, position: int) -> JSONPathError:
    error = JSONPathError.__new__(JSONPathError, message)
    error.template, error.position = template, position
    return error


class Text(msgspec.Struct, frozen=True):
    """Literal text: between actions, or quoted in one."""

    text: str


class Constant(msgspec.Struct, frozen=True):
    """A number or a boolean, once for each input."""

    value: int | float | bool


class Field(msgspec.Struct, frozen=True):
    """`.name` or `['name']`."""

    name: str
    at: int


class Wildcard(msgspec.Struct, frozen=True):
    """`.*`: every value of a map or a list."""


class Descent(msgspec.Struct, frozen=True):
    """`..`: every map, list and string at any depth, parents first."""


class Slice(msgspec.Struct, frozen=True):
    """`[n]` or `[start:stop:step]`; None for a part that the template omits."""

    start: int | None
    stop: int | None
    step: int | None
    at: int
    single: bool = False  # `[n]`: then `stop` is unused


class Filter(msgspec.Struct, frozen=True):
    """`[?(left operator right)]`; without an operator, items that have `left` are kept."""

    left: Path
    operator: str
    right: Path
    at: int


class Union(msgspec.Struct, frozen=True):
    """`[x,y]`: all results of the first path, then all of the second."""

    paths: tuple[Path, ...]


Step: TypeAlias = Text | Constant | Field | Wildcard | Descent | Slice | Filter | Union
Path: TypeAlias = tuple[Step, ...]


class Action(msgspec.Struct, frozen=True):
    """`{...}`: evaluates to one list of results."""

    path: Path


class Range(msgspec.Struct, frozen=True):
    """`{range path}body{end}`: the body, once for each result of the path."""

    path: Path
    body: tuple[Piece, ...]


Piece: TypeAlias = Text | Action | Range
