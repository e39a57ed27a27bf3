"""Columns and sort keys that the user chooses: `-o custom-columns`, `--sort-by`.

Guarantees: no I/O except of `read_columns`; values print and sort as in kubectl.
See also: `tables` (the layout of tables), `kubeloop.jsonpath` (the paths).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kubeloop.jsonpath import JSONPath, relaxed
from kubeloop.wire import InvalidArgument, Quantity, visible

from .tables import TextTable

__all__ = ["custom_table", "parse_columns", "read_columns", "sort_by"]

T = TypeVar("T")
Column = tuple[str, JSONPath]


# --- custom columns


def parse_columns(spec: str) -> list[Column]:
    """The columns of `NAME:.metadata.name,NODE:.spec.nodeName`. Raises: InvalidArgument."""
    parts = [part.split(":") for part in spec.split(",")]
    for part in parts:
        if len(part) != 2:
            raise InvalidArgument(
                f"custom column {':'.join(part)!r}: expected HEADER:PATH,… such as"
                " NAME:.metadata.name"
            )
    return [(header, _path(path)) for header, path in parts]


def read_columns(file: str) -> list[Column]:
    """The columns of a file: a line of headers, and a line of paths.

    Raises: InvalidArgument, OSError.
    """
    lines = [line.split() for line in Path(file).read_text(encoding="utf-8").splitlines()[:2]]
    if len(lines) < 2 or len(lines[0]) != len(lines[1]):
        raise InvalidArgument(
            f"custom columns in {file}: expected a line of headers and a line with as many paths"
        )
    return [(header, _path(path)) for header, path in zip(*lines, strict=True)]


def _path(text: str) -> JSONPath:
    return JSONPath(relaxed(text), allow_missing_keys=True)


def custom_table(columns: Sequence[Column], objects: Iterable[dict[str, Any]]) -> TextTable:
    """A row for each object. Raises: JSONPathError."""
    return TextTable(
        tuple(visible(header) for header, _ in columns),
        tuple(tuple(_cell(path, obj) for _, path in columns) for obj in objects),
    )


def _cell(path: JSONPath, obj: dict[str, Any]) -> str:
    return visible(",".join(map(_go_text, path.values(obj))) or "<none>")


def _go_text(value: Any) -> str:
    """A value as Go prints it: `map[a:1]`, `[x y]`, `<nil>`."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case dict():
            return f"map[{' '.join(f'{key}:{_go_text(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(_go_text, value))}]"
        case float():
            return repr(value).removesuffix(".0")
    return str(value)


# --- sorting


def sort_by(items: Sequence[T], field: str, object_of: Callable[[T], Any]) -> list[T]:
    """The items sorted by a field of their objects; those without it come first.

    Raises: InvalidArgument if the field is not a path, none of several objects has it, or its
    values have no order.
    """
    path = _path(field)
    keyed = [(_SortKey(path, object_of(item)), item) for item in items]
    if len(keyed) > 1 and not any(key.values for key, _ in keyed):
        raise InvalidArgument(f"sort by {field}: no object has such a field")
    return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]


class _SortKey:
    """Compares as kubectl does: quantities and numbers by value, text in natural order."""

    def __init__(self, path: JSONPath, obj: Any) -> None:
        self.values = path.values(obj)
        self._field = path.template

    def __lt__(self, other: _SortKey) -> bool:
        # An object without the field is less than all, also than another one without it.
        if not self.values or not other.values:
            return not self.values
        left, right = self.values[0], other.values[0]
        if left is None or right is None:
            return left is None and right is not None
        if isinstance(left, str) and isinstance(right, str):
            return _less_text(left, right)
        for value in (left, right):
            if isinstance(value, bool) or not isinstance(value, int | float):
                kind = type(value).__name__
                raise InvalidArgument(f"sort by {self._field}: values of type {kind} have no order")
        return bool(left < right)


def _less_text(left: str, right: str) -> bool:
    quantities = _quantity(left), _quantity(right)
    if quantities[0] is not None and quantities[1] is not None:
        return quantities[0] < quantities[1]
    return _natural(left) < _natural(right)


@functools.lru_cache(maxsize=1024)
def _quantity(text: str) -> Quantity | None:
    try:
        found = Quantity(text)
        found.as_decimal()
    except InvalidArgument:
        return None
    return found


def _natural(text: str) -> list[tuple[int, int]]:
    """A key that orders numbers in text by value: web-2 before web-10."""
    key: list[tuple[int, int]] = []
    for is_number, chars in itertools.groupby(text, key=lambda char: char in "0123456789"):
        if is_number:
            key.append((ord("0"), int("".join(chars))))
        else:
            key += [(ord(char), 0) for char in chars]
    return key
