"""Evaluates the paths of a template on data: JSON maps, lists and scalars.

Guarantees: data is only read; every error is a `JSONPathError` with the position of its step.
See also: the steps (`syntax`), the output (`template`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, final

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

__all__ = ["Evaluator", "plain"]

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Python compares 1 with True and 1.0; kubectl requires two values of the same type.
_KINDS: Final = (bool, int, float, str)


def plain(value: Any) -> Any:
    """`value` as maps and lists: `to_dict()` of a model, a list for a tuple."""
    if value is None or isinstance(value, dict | list | str | int | float):
        return value
    if isinstance(value, tuple):
        return list(value)
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if callable(to_dict) else value


@final
class Evaluator:
    """Evaluates the paths of one template."""

    def __init__(self, template: str, *, allow_missing_keys: bool) -> None:
        self._template = template
        self._allow_missing_keys = allow_missing_keys

    def results(self, pieces: Iterable[Piece], data: Any) -> list[list[Any]]:
        """One list for each text and action, with ranges expanded."""
        found: list[list[Any]] = []
        for piece in pieces:
            match piece:
                case Text(text):
                    found.append([text])
                case Action(path):
                    found.append(self._follow(path, [data]))
                case Range(path, body):
                    for item in self._follow(path, [data]):
                        found.extend(self.results(body, item))
        return found

    def _follow(self, path: Path, values: list[Any]) -> list[Any]:
        for step in path:
            values = self._apply(step, values)
        return values

    def _apply(self, step: Step, values: list[Any]) -> list[Any]:
        match step:
            case Field():
                return self._field(step, values)
            case Slice():
                return [item for value in values for item in self._slice(step, plain(value))]
            case Filter():
                return [item for value in values for item in self._filter(step, plain(value))]
            case Union(paths):
                return [found for path in paths for found in self._follow(path, values)]
            case Wildcard():
                return [child for value in values for child in _children(plain(value))]
            case Descent():
                return [inner for value in values for inner in _containers(value)]
            case Constant(value):
                return [value for _ in values]
            case Text(text):
                return [text]

    def _field(self, step: Field, values: list[Any]) -> list[Any]:
        maps = [found for found in map(plain, values) if isinstance(found, dict)]
        found = [value[step.name] for value in maps if step.name in value]
        # One of several inputs with the key is enough; without inputs none is missing.
        if values and not found and not self._allow_missing_keys:
            self._fail(f"{step.name!r} is not found", step.at)
        return found

    def _slice(self, step: Slice, value: Any) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            self._fail(f"{_kind(value)} cannot be indexed, only a list can", step.at)
        start, stop = _bounds(step, len(value))
        if start == stop:  # an empty slice is never out of range
            return []
        self._check_bounds(step, start, stop, length=len(value))
        if step.step is not None and step.step <= 0:
            self._fail(f"the step must be greater than 0, not {step.step}", step.at)
        return value[start : stop : step.step]

    def _check_bounds(self, step: Slice, start: int, stop: int, *, length: int) -> None:
        if not 0 <= start < length:
            self._fail(f"index {start} is out of range, the list has {length} items", step.at)
        if not 0 <= stop <= length:
            self._fail(f"index {stop - 1} is out of range, the list has {length} items", step.at)
        if start > stop:
            self._fail(f"the start {start} is after the end {stop}", step.at)

    def _filter(self, step: Filter, value: Any) -> list[Any]:
        if not isinstance(value, list):
            self._fail(f"{_kind(value)} cannot be filtered, only a list can", step.at)
        if not step.operator:
            return [item for item in value if self._exists(step.left, item)]
        return [item for item in value if self._passes(step, item)]

    def _exists(self, path: Path, item: Any) -> bool:
        try:
            return bool(self._follow(path, [item]))
        except JSONPathError:  # a path that cannot be evaluated does not exist
            return False

    def _passes(self, step: Filter, item: Any) -> bool:
        left = self._follow(step.left, [item])
        if not left:
            return False
        right = self._follow(step.right, [item])
        if not right:
            return False
        if len(left) > 1 or len(right) > 1:
            self._fail("a filter compares one value with one value, found several", step.at)
        return self._compare(step, plain(left[0]), plain(right[0]))

    def _compare(self, step: Filter, left: Any, right: Any) -> bool:
        kinds = type(left), type(right)
        if kinds[0] is not kinds[1] or kinds[0] not in _KINDS:
            hint = " (write 1.0 to compare with floats)" if {*kinds} == {int, float} else ""
            self._fail(f"cannot compare {_kind(left)} with {_kind(right)}{hint}", step.at)
        if kinds[0] is bool and step.operator not in ("==", "!="):
            self._fail(f"booleans cannot be compared with {step.operator}", step.at)
        return _COMPARE[step.operator](left, right)

    def _fail(self, message: str, at: int) -> NoReturn:
        raise JSONPathError(message, template=self._template, position=at)


def _bounds(step: Slice, length: int) -> tuple[int, int]:
    """Start and end of a slice in a list of `length`; not checked yet."""
    start = step.start or 0
    if start < 0:
        start += length
    if step.single:
        return start, start + 1
    stop = length if step.stop is None else step.stop
    return start, stop + length if stop < 0 else stop


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _containers(value: Any) -> list[Any]:
    """`value` and all non-empty maps, lists and strings in it, parents first."""
    found = []
    pending = [value]  # no recursion: data may be deeper than Python's stack
    while pending:
        outer = plain(pending.pop())
        if isinstance(outer, dict | list | str) and outer:
            found.append(outer)
        pending.extend(reversed(list(_children(outer))))
    return found


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", float: "float", str: "string", dict: "map"}
    if type(value) is int:
        return "an integer"
    return f"a {names.get(type(value), type(value).__name__)}"
