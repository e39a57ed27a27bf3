"""Values of a type that the merge schema does not have, reported as structured-merge-diff does.

Guarantees: pure; values are quoted in Go's notations: `&{x}` is `%v` of its value, and
`&value.valueUnstructured{Value:1}` is `%#v`.
See also: the types (`shapes`), other problems of an applied object (`merging`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from .shapes import ValueType

__all__ = ["type_problem"]

_PYTHON_TYPES: Final[Mapping[ValueType, type | tuple[type, ...]]] = {
    "boolean": bool,
    "list": list,
    "map": dict,
    "numeric": (int, float),
    "string": str,
}


def type_problem(value: Any, expected: ValueType) -> str:
    """Why a value, which is not null, does not have the type; empty if it has."""
    fits = isinstance(value, _PYTHON_TYPES[expected])
    if expected == "numeric" and isinstance(value, bool):  # which is an int in Python
        fits = False
    return "" if fits else _TEXTS[expected](value)


def _go_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "[]interface {}"
    return "map[string]interface {}"


def _go_syntax(value: Any) -> str:
    """`%#v` of a JSON value."""
    match value:
        case list():
            return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
        case dict():
            items = (f"{_go_syntax(key)}:{_go_syntax(each)}" for key, each in sorted(value.items()))
            return f"map[string]interface {{}}{{{', '.join(items)}}}"
        case None:
            return "interface {}(nil)"
    return msgspec.json.encode(value).decode()


def _go_text(value: Any) -> str:
    """`%v` of a JSON value."""
    match value:
        case str():
            return value
        case list():
            return f"[{' '.join(map(_go_text, value))}]"
        case dict():
            items = (f"{key}:{_go_text(each)}" for key, each in sorted(value.items()))
            return f"map[{' '.join(items)}]"
        case None:
            return "<nil>"
    return msgspec.json.encode(value).decode()


_TEXTS: Final[Mapping[ValueType, Callable[[Any], str]]] = {
    "boolean": lambda value: f"expected boolean, got &{{{_go_text(value)}}}",
    "list": lambda value: f"expected list, got &{{{_go_text(value)}}}",
    "map": lambda value: f"expected map, got &{{{_go_text(value)}}}",
    "numeric": lambda value: f"expected numeric (int or float), got {_go_type(value)}",
    "string": lambda value: (
        f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
    ),
}
