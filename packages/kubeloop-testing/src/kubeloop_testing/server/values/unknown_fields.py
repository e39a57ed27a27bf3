"""Checks a body against the Go type of a built-in kind: unknown fields, and wrong types.

Guarantees: never changes the object, and returns the same one if nothing had to be dropped;
nulls and empty values that Go omits are dropped, and quantities and times are canonical, as after
the API server's Go types have read them. A body that already is so takes a fast path
(`strict_types`), which is compared with the slow one by property tests.
See also: what Go adds when it writes an object (`zero_values`), scalars (`scalars`), custom
resources (`schemas`).
"""

from __future__ import annotations

import functools
import json
from typing import Any, Final, NamedTuple

from .go_types import GoField, alias_of, fields_of, is_collection, is_struct, zero_of
from .scalars import Finding, Findings, Reader, report_type, value_reader
from .strict_types import is_clean

__all__ = ["TypeCheck", "check_types", "duplicate_fields"]


class TypeCheck(NamedTuple):
    """An object reduced to the fields of its type, and what was found in it."""

    object: dict[str, Any]
    unknown: list[str]  # paths: `spec.containers[0].imagee`
    problems: list[str]  # why it cannot be decoded at all, in the server's words


def check_types(go_type: str, obj: dict[str, Any], *, keep_empty: bool = False) -> TypeCheck:
    """`obj` without fields that a struct such as `core/v1.Pod` does not have, their paths, and
    type errors.

    With `keep_empty`, empty values and nulls stay: an apply owns them, although they are not
    stored.

    A problem follows `Pod in version "v1" cannot be handled as a Pod: ` in the response.
    """
    if is_clean(go_type, obj):
        return TypeCheck(obj, [], [])
    found = Findings(keep_empty=keep_empty)
    try:
        typed = struct_reader(go_type)(obj, found)
    except RecursionError:  # only the schemas of a CRD can be nested this deep
        return TypeCheck(obj, [], ["json: exceeded max depth"])
    return TypeCheck(
        typed if isinstance(typed, dict) else {},
        [each.path for each in found.unknown],
        [each.message() for each in found.problems],
    )


# --- readers that report and convert


@functools.cache
def _reader(go_type: str) -> Reader:
    alias = alias_of(go_type)
    if alias:
        return _reader(alias)
    if go_type.startswith("*"):
        return _reader(go_type[1:])
    if go_type.startswith("[]"):
        return _list_reader(go_type)
    if go_type.startswith("map["):
        return _map_reader(go_type)
    if go_type in _SCHEMAS:
        return _read_schema
    return struct_reader(go_type) if is_struct(go_type) else value_reader(go_type)


@functools.cache
def struct_reader(struct: str) -> Reader:
    """The reader of a Go struct."""
    fields: dict[str, Reader] = {}
    steps: dict[str, str] = {}
    omitted: set[str] = set()
    name = struct.rpartition(".")[2]

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, dict):
            return report_type(found, value, _go_name(struct))
        if not fields:  # not earlier: structs refer to each other in cycles
            fields.update({each.name: _reader(each.type) for each in fields_of(struct)})
            steps.update({each.name: f"{each.inlined}{each.name}" for each in fields_of(struct)})
            omitted.update(each.name for each in fields_of(struct) if _is_omitted(struct, each))
        changed: dict[str, Any] | None = None  # a copy, made with the first change
        for key, item in value.items():
            reader = fields.get(key)
            if reader is not None and item is not None:
                before = found.count()
                since = (len(found.unknown), len(found.problems))
                new = reader(item, found)
                if found.count() > before:
                    found.prefix(key, since, struct=name, go_step=steps[key])
                if new or key not in omitted or found.keep_empty:
                    if new is not item:
                        changed = dict(value) if changed is None else changed
                        changed[key] = new
                    continue
            elif reader is None:
                found.unknown.append(Finding(key))
            elif found.keep_empty:
                continue
            changed = dict(value) if changed is None else changed
            del changed[key]
        return value if changed is None else changed

    return read


_OMITTED_SCALARS: Final = frozenset({"string", "bool", "int", "int32", "int64", "float64"})


# Lists that mean something if they are empty, although Go omits them.
_MEANINGFUL_LISTS: Final = frozenset(
    {
        ("meta/v1.ObjectMeta", "managedFields"),  # resets the managers
        ("autoscaling/v2.HPAScalingRules", "policies"),  # not the default ones, and not valid
    }
)


def _is_omitted(struct: str, field: GoField) -> bool:
    """Whether Go omits a field if it is empty."""
    can_be_empty = is_collection(field.type) or field.type in _OMITTED_SCALARS
    is_meaningful = (struct, field.name) in _MEANINGFUL_LISTS
    return field.omits_empty and can_be_empty and not is_meaningful


def _list_reader(go_type: str) -> Reader:
    item_type, name = go_type[2:], _go_name(go_type)
    inner, zero = _reader(item_type), _zero(item_type)

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, list):
            return report_type(found, value, name)
        changed: list[Any] | None = None
        for index, item in enumerate(value):
            if item is None and found.keep_empty:
                continue
            before, since = found.count(), (len(found.unknown), len(found.problems))
            new = zero if item is None else inner(item, found)
            if found.count() > before:
                found.prefix(f"[{index}]", since, go_step="")  # nor indexes
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[index] = new
        return value if changed is None else changed

    return read


def _map_reader(go_type: str) -> Reader:
    value_type, name = go_type.partition("]")[2], _go_name(go_type)
    inner, zero = _reader(value_type), _zero(value_type)

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, dict):
            return report_type(found, value, name)
        changed: dict[str, Any] | None = None
        for key, item in value.items():
            before, since = found.count(), (len(found.unknown), len(found.problems))
            new = zero if item is None else inner(item, found)
            if found.count() > before:
                found.prefix(key, since, go_step="")  # Go's paths have no keys of maps
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        return value if changed is None else changed

    return read


def _zero(go_type: str) -> Any:
    """What Go decodes a null element into, its zero value; free-form values keep the null."""
    if is_struct(go_type):
        return {}
    if alias_of(go_type):
        return []  # a message of its own in protobuf
    return "" if go_type == "bytes" else zero_of(go_type)


# --- schemas of CRDs, which are a schema, a list of schemas, a boolean or a list of strings

_SCHEMAS: Final = frozenset({"schemaorarray", "schemaorbool", "schemaorstrings"})
_SCHEMA: Final = "apiextensions/v1.JSONSchemaProps"


def _read_schema(value: Any, found: Findings) -> Any:
    inner = struct_reader(_SCHEMA)
    if isinstance(value, bool):
        return value
    if not isinstance(value, list):
        return inner(value, found)
    return [each if isinstance(each, str) else inner(each, found) for each in value]


# --- names of Go types, for messages


def _go_name(go_type: str) -> str:
    """`[]v1.Container`: the package of a Go type is its version."""
    if go_type.startswith("[]"):
        return f"[]{_go_name(go_type[2:])}"
    if go_type.startswith("map["):
        head, _, value_type = go_type.partition("]")
        return f"{head}]{_go_name(value_type)}"
    return _GO_NAMES.get(go_type) or go_type.rpartition("/")[2]


_GO_NAMES: Final = {
    "any": "interface {}",
    "bytes": "[]uint8",
    "intstr": "intstr.IntOrString",
    "json": "v1.JSON",
    "microtime": "v1.MicroTime",
    "quantity": "resource.Quantity",
    "raw": "runtime.RawExtension",
    "time": "v1.Time",
}


# --- duplicate keys


def duplicate_fields(raw: bytes) -> list[str]:
    """The paths of keys that occur more than once in an object of a JSON text, each once.

    Invalid JSON has none; decoding it reports the error.
    """
    found: dict[str, None] = {}
    try:
        _collect(json.loads(raw, object_pairs_hook=_Pairs), "", found)
    except (ValueError, RecursionError):
        return []
    return list(found)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its duplicate keys, in order."""


def _collect(value: Any, path: str, found: dict[str, None]) -> None:
    # Paths have the format of the server's warnings.
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value:
            below = f"{path}.{key}" if path else key
            if key in seen:
                found[below] = None
            seen.add(key)
            _collect(item, below, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _collect(item, f"{path}[{index}]", found)
