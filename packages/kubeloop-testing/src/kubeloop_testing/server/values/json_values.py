"""JSON values: access by path, equality, and copy-on-write edits.

Guarantees: pure; the result of an edit shares everything that did not change, and an edit that
changes nothing returns the same object, so that callers can compare with `is`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from kubeloop.wire import JsonObject

__all__ = [
    "Change",
    "Json",
    "go_numbers",
    "json_equal",
    "map_field",
    "map_items",
    "value_at",
    "whole_numbers",
    "with_defaults",
    "without",
]

Json: TypeAlias = Mapping[str, Any]  # a JSON object that is only read
Change: TypeAlias = Callable[[JsonObject], JsonObject]


def value_at(obj: Any, *path: str | int) -> Any:
    """The value at a path of keys and list indexes; None if there is none."""
    for step in path:
        if isinstance(obj, Mapping):
            obj = obj.get(step)
        elif isinstance(obj, list) and isinstance(step, int):
            obj = obj[step] if len(obj) > step else None
        else:
            return None
    return obj


def json_equal(one: Any, two: Any) -> bool:
    """Whether two JSON values are equal as the API compares them: 1 is 1.0, but not true."""
    if one is two:
        return True
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(json_equal(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(json_equal, one, two))
    return isinstance(one, bool) == isinstance(two, bool) and bool(one == two)


def whole_numbers(value: Any) -> Any:
    """`value` with an int for each whole float, as Go converts YAML and unstructured objects."""
    match value:
        case dict():
            return {key: whole_numbers(each) for key, each in value.items()}
        case list():
            return [whole_numbers(each) for each in value]
        case float() if value.is_integer() and abs(value) < 2**63:
            return int(value)
    return value


def with_defaults(obj: JsonObject, defaults: Mapping[str, Any]) -> JsonObject:
    """`obj` with `defaults` for keys that are missing, null, or an empty string."""
    missing = {key: value for key, value in defaults.items() if obj.get(key) in (None, "")}
    changed = {key: value for key, value in missing.items() if key not in obj or obj[key] != value}
    return {**obj, **changed} if changed else obj


def without(obj: JsonObject, *keys: str) -> JsonObject:
    """`obj` without some keys."""
    if not obj.keys() & keys:
        return obj
    return {key: value for key, value in obj.items() if key not in keys}


def map_field(obj: JsonObject, key: str, change: Change, *, make: bool = False) -> JsonObject:
    """`obj` with the object under `key` changed; `make` starts from {} if there is none."""
    before = obj.get(key)
    if not isinstance(before, dict):
        if not make or before is not None:
            return obj
        before = {}
    after = change(before)
    return obj if after is obj.get(key) else {**obj, key: after}


def map_items(obj: JsonObject, keys: str | Iterable[str], change: Change) -> JsonObject:
    """`obj` with every element of the lists under `keys` changed."""
    for key in (keys,) if isinstance(keys, str) else keys:
        before = obj.get(key)
        if isinstance(before, list):
            after = [change(item) if isinstance(item, dict) else item for item in before]
            if any(new is not old for new, old in zip(after, before, strict=True)):
                obj = {**obj, key: after}
    return obj


_INT64 = range(-(2**63), 2**63)
_MAX_WHOLE = 2**53 - 1  # up to here every whole number is a float


def go_numbers(value: Any) -> Any:
    """`value` with the numbers that Go makes of them; the same value if that changes nothing.

    Go writes a float that is a whole number without a fraction, and reads an integer beyond 64
    bits as a float.
    """
    if isinstance(value, dict):
        new = {key: each for key, item in value.items() if (each := _go_number(item)) is not item}
        return {**value, **new} if new else value
    items = [_go_number(item) for item in value]
    is_same = all(left is right for left, right in zip(items, value, strict=True))
    return value if is_same else items


def _go_number(value: Any) -> Any:
    # Called for every value of an object, so the most frequent types come first.
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is int:
        return value if value in _INT64 else float(value)
    if kind is float:
        return int(value) if value.is_integer() and abs(value) <= _MAX_WHOLE else value
    return go_numbers(value) if kind is dict or kind is list else value
