"""What of a schema can be noted on an annotation: bounds and merge rules.

Guarantees: only what msgspec and `FieldFacts` take as it is; the rest is left where it was.
See also: who asks (`class_sketches`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from typing import Any

from .class_text import literal

__all__ = ["bounds_of", "facts_arguments", "merge_rules"]

_Raw = Mapping[str, Any]

_NOTES = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "minProperties": "min_length",
    "maxProperties": "max_length",
    "multipleOf": "multiple_of",
}
_LEAST = {"minimum": -math.inf, "maximum": -math.inf, "multipleOf": 1}  # zero for all others
_INT64 = 2**63


def bounds_of(
    schema: _Raw, keys: Iterable[str], *, whole: bool
) -> tuple[dict[str, float], set[str]]:
    """Those bounds among `keys` that msgspec can check, as arguments of Meta, and their keywords.

    With `whole` only integers will do.
    """
    notes: dict[str, float] = {}
    said: set[str] = set()
    for key in sorted(schema.keys() & set(keys), reverse=True):  # the lower bound first
        value = _bound(schema[key], whole=whole)
        if value is None or value < _LEAST.get(key, 0):
            continue
        exclusive = f"exclusive{key.title()}"
        notes[_name_of(key, strict=schema.get(exclusive) is True)] = value
        said |= {key, exclusive}
    return notes, said


def _name_of(key: str, *, strict: bool) -> str:
    match key:
        case "minimum":
            return "gt" if strict else "ge"
        case "maximum":
            return "lt" if strict else "le"
    return _NOTES[key]


def _bound(value: Any, *, whole: bool) -> float | None:
    """A bound as msgspec takes it; None for one that it does not."""
    if type(value) not in (int, float) or not abs(value) < _INT64 - 1:
        return None
    if value == int(value):
        return int(value)  # models hold the bounds of a schema as floats
    return None if whole else value


# A list's own words for how it is merged; elsewhere than on a field they are data.
_RULES = {
    "x-kubernetes-list-type": "list_type",
    "x-kubernetes-list-map-keys": "list_map_keys",
    "x-kubernetes-map-type": "map_type",
}
_RULE_VALUES = {
    "x-kubernetes-list-type": ("atomic", "set", "map"),
    "x-kubernetes-map-type": ("atomic", "granular"),
}


def merge_rules(schema: _Raw) -> dict[str, Any]:
    """The merge rules that FieldFacts can say; none where there is one it cannot."""
    rules = {key: schema[key] for key in _RULES if key in schema}
    sound = all(rules.get(key, words[0]) in words for key, words in _RULE_VALUES.items())
    keys = rules.get("x-kubernetes-list-map-keys", [])
    kinds = {"x-kubernetes-map-type": "object"}
    fitting = all(schema.get("type") == kinds.get(key, "array") for key in rules)
    is_map = rules.get("x-kubernetes-list-type") == "map"
    known = _properties_of_items(schema)
    named = isinstance(keys, list) and all(isinstance(key, str) and key in known for key in keys)
    return rules if sound and fitting and named and is_map == bool(keys) else {}


def _properties_of_items(schema: _Raw) -> set[str]:
    """The fields of a list's items that are always there: fit to be keys."""
    item = schema.get("items")
    if not isinstance(item, Mapping) or not isinstance(item.get("properties"), Mapping):
        return set()
    required = item.get("required")
    required = required if isinstance(required, list) else []
    return {
        key
        for key, inner in item["properties"].items()
        if key in required or (isinstance(inner, Mapping) and inner.get("default") is not None)
    }


def facts_arguments(rules: _Raw) -> dict[str, ast.expr]:
    """Merge rules as arguments of FieldFacts."""
    return {
        _RULES[key]: literal(tuple(value) if isinstance(value, list) else value)
        for key, value in rules.items()
    }
