"""What a JSONPath template is made of, once parsed, and the error that names a place in it.

Guarantees: every part is a frozen value; `at` is where it stands in the template.
See also: how the parts come about (`parser`) and what they find (`walk`).
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
    """A template that cannot be read, or that does not fit the data it was given."""

    def __init__(self, message: str, *, template: str, position: int) -> None:
        super().__init__(f"jsonpath {template!r:.200}, character {position + 1}: {message}")
        self.template = template
        self.position = position

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.args[0], self.template, self.position)


def _unpickled(message: str, template: str, position: int) -> JSONPathError:
    error = JSONPathError.__new__(JSONPathError, message)
    error.template, error.position = template, position
    return error


class Text(msgspec.Struct, frozen=True):
    """Literal text: around the actions, or quoted in one."""

    text: str


class Constant(msgspec.Struct, frozen=True):
    """A number or a truth value, once for each input."""

    value: int | float | bool


class Field(msgspec.Struct, frozen=True):
    """`.name` or `['name']`."""

    name: str
    at: int


class Wildcard(msgspec.Struct, frozen=True):
    """`.*`: every value of a map or a list."""


class Descent(msgspec.Struct, frozen=True):
    """`..`: every map, list and string at any depth, the outer before the inner."""


class Slice(msgspec.Struct, frozen=True):
    """`[n]` or `[start:stop:step]`; None is what the template leaves out."""

    start: int | None
    stop: int | None
    step: int | None
    at: int
    single: bool = False  # `[n]`: then `stop` says nothing


class Filter(msgspec.Struct, frozen=True):
    """`[?(left operator right)]`; without an operator, what has a `left` stays."""

    left: Path
    operator: str
    right: Path
    at: int


class Union(msgspec.Struct, frozen=True):
    """`[x,y]`: all that the first path finds, then all that the second finds."""

    paths: tuple[Path, ...]


Step: TypeAlias = Text | Constant | Field | Wildcard | Descent | Slice | Filter | Union
Path: TypeAlias = tuple[Step, ...]


class Action(msgspec.Struct, frozen=True):
    """`{...}`: finds one list of results."""

    path: Path


class Range(msgspec.Struct, frozen=True):
    """`{range path}body{end}`: the body, once for each result of the path."""

    path: Path
    body: tuple[Piece, ...]


Piece: TypeAlias = Text | Action | Range
