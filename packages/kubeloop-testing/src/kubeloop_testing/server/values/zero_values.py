"""Objects of built-in kinds as Go writes them after it has read them.

kube-apiserver decodes every object into a Go struct and encodes that. So a field without
`omitempty` is always there, with its zero value if nothing set it (`rules: null`,
`restartCount: 0`); a struct is always there, because `omitempty` never omits one (`spec: {}`);
and an empty value with `omitempty` disappears (`labels: {}`, `hostNetwork: false`). A list or map
that is empty is the same as one that is missing: objects are stored as protobuf, which has no
difference between them.

Guarantees: pure and idempotent; the result shares what did not change, and an object that Go
would write as it is comes back itself. Free-form values (`RawExtension`, `JSON`) stay as they are,
and so does a value whose type is wrong, which is reported elsewhere.
See also: the facts (`go_types`), the other half of the round trip, which is reading: unknown
fields and canonical scalars (`unknown_fields`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from kubeloop.wire import JsonObject

from .go_types import (
    GoField,
    alias_of,
    fields_of,
    go_type_of,
    is_collection,
    is_struct,
    zero_of,
    zeros_of,
)
from .strict_types import is_complete

__all__ = ["complete", "complete_type", "is_built_in", "is_written_alike", "zero_object"]

Change: TypeAlias = Callable[[Any], Any]  # of a value that is not null


def complete(
    obj: JsonObject, *known: JsonObject, metadata: bool = False, stored: bool = True
) -> JsonObject:
    """`obj`, which has an apiVersion and a kind, as Go writes it.

    Fields that are those of an object in `known` are so already, and so is the metadata, as
    `unknown_fields` leaves it, unless `metadata` is set. An object of a kind that is not built in
    stays as it is. With `stored=False` an empty list without `omitempty` stays as it is, too.
    """
    changed: JsonObject | None = None  # a copy, made with the first change
    api_version, kind = str(obj.get("apiVersion")), str(obj.get("kind"))
    for name, rule in _rules_of_kind(api_version, kind, stored=stored):
        if name == "metadata" and not metadata and obj.get(name):
            continue
        value = obj.get(name)
        if value is None or (rule.can_be_empty and not value):
            new = rule.zero
            if name in obj if rule.is_omitted else (name not in obj or value is not new):
                changed = dict(obj) if changed is None else changed
                changed[name] = new
                if rule.is_omitted:
                    del changed[name]
        elif rule.change is not None and not _is_in(known, name, value):
            new = rule.change(value)
            if new is not value:
                changed = dict(obj) if changed is None else changed
                changed[name] = new
    return obj if changed is None else changed


def _is_in(known: tuple[JsonObject, ...], name: str, value: Any) -> bool:
    for each in known:  # noqa: SIM110  # a generator costs as much as a small change
        if each.get(name) is value:
            return True
    return False


def complete_type(go_type: str) -> Change:
    """A function that completes the values of a Go struct, such as `core/v1.PodSpec`."""
    return _change(go_type, stored=True) or _same


def is_built_in(obj: JsonObject) -> bool:
    """Whether the kind of `obj` has a Go type."""
    return bool(go_type_of(str(obj.get("apiVersion")), str(obj.get("kind"))))


@functools.cache
def zero_object(api_version: str, kind: str) -> JsonObject:
    """An object of a kind in which only the type is set."""
    return complete({"apiVersion": api_version, "kind": kind})


def _same(value: Any) -> Any:
    return value


@functools.cache
def is_written_alike(api_version: str, other: str, kind: str) -> bool:
    """Whether Go writes the objects of a kind alike in two versions."""
    return _are_alike(go_type_of(api_version, kind), go_type_of(other, kind), set())


def _are_alike(one: str, two: str, seen: set[tuple[str, str]]) -> bool:
    if one == two or (one, two) in seen:
        return True
    seen.add((one, two))
    mine, theirs = fields_of(_element(one)), fields_of(_element(two))
    return len(mine) == len(theirs) > 0 and all(
        (a.name, a.omits_empty, a.omits_zero) == (b.name, b.omits_empty, b.omits_zero)
        and a.type.count("*") == b.type.count("*")
        and _are_alike(a.type, b.type, seen)
        for a, b in zip(mine, theirs, strict=True)
    )


def _element(go_type: str) -> str:
    return go_type.rpartition("]")[2].lstrip("*")


# --- rules of fields


class _Rule(NamedTuple):
    """What becomes of a field."""

    change: Change | None  # of a value that is not empty; None if it stays as it is
    can_be_empty: bool  # an empty value is the same as none
    is_omitted: bool  # without a value; else it has its zero value
    zero: Any


def _rule(struct: str, field: GoField, *, stored: bool) -> _Rule:
    return _Rule(
        _change(field.type, stored=stored),
        can_be_empty=_can_be_empty(field, stored=stored),
        is_omitted=field.name not in zeros_of(struct),
        zero=zero_of(field.type),
    )


def _can_be_empty(field: GoField, *, stored: bool) -> bool:
    if is_collection(field.type):
        # Protobuf keeps bytes that are empty.
        return field.omits_empty or (stored and field.type != "bytes")
    return field.omits_empty and field.type in _SCALARS


_SCALARS: Final = frozenset({"string", "bool", "int", "int32", "int64", "float64"})


_TYPE: Final = frozenset({"apiVersion", "kind"})


@functools.cache
def _rules_of_kind(api_version: str, kind: str, *, stored: bool) -> tuple[tuple[str, _Rule], ...]:
    """The rules of the top-level fields."""
    go_type = go_type_of(api_version, kind)
    rules = {field.name: _rule(go_type, field, stored=stored) for field in fields_of(go_type)}
    return tuple((name, rule) for name, rule in rules.items() if name not in _TYPE)


# --- the change of a value, by its Go type; None if Go writes every value as it came
#
# `stored` says that the value was in etcd, where an empty list does not differ from none.


@functools.cache
def _change(go_type: str, *, stored: bool) -> Change | None:
    go_type = alias_of(go_type) or go_type
    if go_type.startswith("*"):
        return _change(go_type[1:], stored=stored)
    if go_type.startswith("[]"):
        return _list_change(go_type[2:], stored=stored)
    if go_type.startswith("map["):
        return _map_change(go_type.partition("]")[2], stored=stored)
    if go_type in _SCHEMAS:
        return _schema_change
    return _struct_change(go_type, stored=stored) if is_struct(go_type) else None


def _list_change(item_type: str, *, stored: bool) -> Change | None:
    inner = _change(item_type, stored=stored)
    if inner is None:
        return None

    def change(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        after = [inner(item) for item in value]
        return value if all(map(_is, after, value)) else after

    return change


def _map_change(value_type: str, *, stored: bool) -> Change | None:
    inner = _change(value_type, stored=stored)
    if inner is None:
        return None

    def change(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        after = {key: inner(item) for key, item in value.items()}
        return value if all(map(_is, after.values(), value.values())) else after

    return change


def _is(one: Any, two: Any) -> bool:
    return one is two


def _struct_change(struct: str, *, stored: bool) -> Change:
    rules: dict[str, _Rule] = {}
    always: JsonObject = {}

    def change(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if not rules:  # not earlier: structs refer to each other in cycles
            always.update(zeros_of(struct))
            rules.update(
                {field.name: _rule(struct, field, stored=stored) for field in fields_of(struct)}
            )
        changed: JsonObject | None = None  # a copy, made with the first change
        for key, item in value.items():
            rule = rules.get(key)
            if rule is None:  # unknown
                continue
            if item is None or (rule.can_be_empty and not item):
                if item is None and not rule.is_omitted and rule.zero is None:
                    continue
                changed = dict(value) if changed is None else changed
                del changed[key]  # what is always there is filled in below
            elif rule.change is not None:
                new = rule.change(item)
                if new is not item:
                    changed = dict(value) if changed is None else changed
                    changed[key] = new
        present = value if changed is None else changed
        return present if always.keys() <= present.keys() else {**always, **present}

    def change_if_needed(value: Any) -> Any:
        return value if is_complete(struct, value, stored=stored) else change(value)

    return change_if_needed if _is_large(struct) else change


def _is_large(struct: str) -> bool:
    """Whether a walk costs more than the check in C, which is useful once for an object only."""
    return struct.endswith(("Spec", "Status"))


# --- schemas of CRDs, which are a schema, a list of schemas, a boolean or a list of strings

_SCHEMAS: Final = frozenset({"schemaorarray", "schemaorbool", "schemaorstrings"})
_SCHEMA: Final = "apiextensions/v1.JSONSchemaProps"


def _schema_change(value: Any) -> Any:
    change = complete_type(_SCHEMA)
    if isinstance(value, dict):
        return change(value)
    if isinstance(value, list):
        after = [change(item) for item in value]
        return value if all(map(_is, after, value)) else after
    return value
