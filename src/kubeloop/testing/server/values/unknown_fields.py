"""Checks a body against a built-in class: unknown fields, and values of the wrong type.

Guarantees: never changes the object, and returns the same one if nothing had to be dropped;
nulls and empty metadata are dropped, and quantities and times are canonical, as after a round
trip through the API server's Go types. Creates no instance of the class. A body that already is
canonical takes a fast path (`is_clean`), which is compared with the slow one by property tests.
See also: the classes' fields (`kubeloop.wire.plan`), scalars (`scalars`), custom resources
(`schemas`).
"""

from __future__ import annotations

import functools
import json
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from kubeloop.wire import Duration, MicroTime, Model, Quantity
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.plan import ListOf, MapOf, Node, Object, Value, plan_of

from .scalars import (
    INT64_FIELDS,
    Finding,
    Findings,
    Reader,
    is_int_or_string,
    report_type,
    value_reader,
)

__all__ = ["TypeCheck", "check_types", "duplicate_fields", "is_clean"]


class TypeCheck(NamedTuple):
    """An object reduced to the fields of its class, and what was found in it."""

    object: dict[str, Any]
    unknown: list[str]  # paths: `spec.containers[0].imagee`
    problems: list[str]  # why it cannot be decoded at all, in the server's words


def check_types(cls: type[Model], obj: dict[str, Any]) -> TypeCheck:
    """`obj` without fields that `cls` does not have, their paths, and type errors.

    A problem follows `Pod in version "v1" cannot be handled as a Pod: ` in the response.
    """
    if is_clean(cls, obj):
        return TypeCheck(obj, [], [])
    found = Findings()
    try:
        typed = _object_reader(cls)(obj, found)
    except RecursionError:  # only the schemas of a CRD can be nested this deep
        return TypeCheck(obj, [], ["json: exceeded max depth"])
    return TypeCheck(
        typed if isinstance(typed, dict) else {},
        sorted(each.path for each in found.unknown),
        [each.message() for each in found.problems],
    )


# --- the slow path: readers that report and convert


@functools.cache
def _reader(node: Node, name: str) -> Reader:
    match node:
        case Object():
            return _object_reader(node.hint)
        case ListOf():
            return _list_reader(node, name)
        case MapOf():
            return _map_reader(node, name)
    return value_reader(node, name)


@functools.cache
def _object_reader(cls: type[Model]) -> Reader:
    fields: dict[str, Reader] = {}
    struct, keeps_empty = cls.__name__, cls is not ObjectMeta

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, dict):
            return report_type(found, value, _go_type(cls))
        if not fields:  # not earlier: classes refer to each other in cycles
            fields.update({k: _reader(each.node, k) for k, each in plan_of(cls).items()})
            fields.update(_schema_fields(cls))
        changed: dict[str, Any] | None = None  # a copy, made with the first change
        for key, item in value.items():
            reader = fields.get(key)
            if reader is not None and item is not None:
                before = found.count()
                since = (len(found.unknown), len(found.problems))
                new = reader(item, found)
                if found.count() > before:
                    found.prefix(key, since, struct=struct)
                if new is item and (keeps_empty or item or key in _KEPT_EMPTY):
                    continue
                changed = dict(value) if changed is None else changed
                changed[key] = new
                if keeps_empty or new or key in _KEPT_EMPTY:
                    continue
            elif reader is None:
                found.unknown.append(Finding(key))
            changed = dict(value) if changed is None else changed
            del changed[key]
        return value if changed is None else changed

    return read


def _schema_fields(cls: type[Model]) -> dict[str, Reader]:
    """The fields of a schema that contain schemas, though its class types them as Any."""
    if cls.__name__ != "JSONSchemaProps":
        return {}
    inner = _object_reader(cls)

    def read(value: Any, found: Findings) -> Any:
        if isinstance(value, bool):
            return value
        if not isinstance(value, list):
            return inner(value, found)
        return [inner(each, found) for each in value]

    return dict.fromkeys(("items", "additionalProperties", "additionalItems"), read)


# Metadata that is meaningful when empty: no grace period, and a reset of managedFields.
_KEPT_EMPTY: Final = frozenset({"deletionGracePeriodSeconds", "managedFields"})


def _list_reader(node: ListOf, name: str) -> Reader:
    inner, go_type, zero = _reader(node.item, name), _go_of(node, name), _zero(node.item)

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, list):
            return report_type(found, value, go_type)
        changed: list[Any] | None = None
        for index, item in enumerate(value):
            before, since = found.count(), (len(found.unknown), len(found.problems))
            new = zero if item is None else inner(item, found)
            if found.count() > before:
                found.prefix(f"[{index}]", since)
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[index] = new
        return value if changed is None else changed

    return read


def _map_reader(node: MapOf, name: str) -> Reader:
    inner, go_type, zero = _reader(node.value, name), _go_of(node, name), _zero(node.value)

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, dict):
            return report_type(found, value, go_type)
        changed: dict[str, Any] | None = None
        for key, item in value.items():
            before, since = found.count(), (len(found.unknown), len(found.problems))
            new = zero if item is None else inner(item, found)
            if found.count() > before:
                found.prefix(key, since)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        return value if changed is None else changed

    return read


def _zero(node: Node) -> Any:
    """What Go decodes a null element into, its zero value; free-form values keep the null."""
    match node:
        case Object() | MapOf():
            return {}
        case ListOf():
            return None
    return _ZEROS.get(node.hint)


_ZEROS: Final[dict[Any, Any]] = {str: "", bytes: "", int: 0, float: 0, bool: False, Quantity: "0"}


# --- the fast path


def is_clean(cls: type[Model], obj: dict[str, Any]) -> bool:
    """Whether `obj` certainly needs no change and has no error.

    True is certain: no unknown field, every type right, every scalar in the canonical form that
    the server writes, no null anywhere. False only means that the slow path must decide.
    """
    try:
        msgspec.convert(obj, _strict_class(cls))
    except (msgspec.ValidationError, RecursionError):
        return False
    return True


# A strict class has the fields of a model and narrower types. msgspec converts into it in one
# step, in C; whatever does not match, or is rare, is an error.

_NEVER: Final = Literal["\0"]
_DATE: Final = r"^[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
# Only quantities that are certainly canonical: 1000m, 1024Ki and the like have a shorter form.
_QUANTITY: Final = (
    r"^(0|[1-9]\d{0,2}(m|k|M|G|Ki|Mi|Gi)?|[1-9](?!000)\d{3}(m|k|M|G)?"
    r"|(?!(1024|2048|3072|4096|5120|6144|7168|8192|9216))[1-9]\d{3}(Ki|Mi|Gi))\Z"
)
_BASE64: Final = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z"
_SCALARS: Final[dict[Any, Any]] = {
    str: str,
    bool: bool,
    float: float,
    bytes: Annotated[str, Meta(pattern=_BASE64)],
    Quantity: Annotated[str, Meta(pattern=_QUANTITY)],
    MicroTime: Annotated[str, Meta(pattern=_DATE + r"\.\d{6}Z\Z")],
    datetime: Annotated[str, Meta(pattern=_DATE + r"Z\Z")],
    Duration: _NEVER,
}


@functools.cache
def _strict_class(cls: type[Model]) -> Any:
    if cls.__name__ == "JSONSchemaProps":
        return _NEVER  # recursive, with fields that its class types as Any
    strict_type = _non_empty if cls is ObjectMeta else _type
    fields = [
        (f"field_{number}", strict_type(each.node, wire), None)
        for number, (wire, each) in enumerate(plan_of(cls).items())
    ]
    names = {f"field_{number}": wire for number, wire in enumerate(plan_of(cls))}
    return msgspec.defstruct(
        cls.__name__, fields, rename=names, forbid_unknown_fields=True, gc=False
    )


def _type(node: Node, name: str) -> Any:
    match node:
        case Object():
            return _strict_class(node.hint)
        case ListOf():
            return list[_type(node.item, name)]  # type: ignore[misc]  # made at run time
        case MapOf():
            return dict[str, _type(node.value, name)]  # type: ignore[misc]  # as above
    return _scalar(node, name)


def _scalar(node: Value, name: str) -> Any:
    if is_int_or_string(node.hint):
        return _int(32) | str
    if node.hint is int:
        return _int(64 if name in INT64_FIELDS else 32)
    return _SCALARS.get(node.hint, Any)


def _int(bits: int) -> Any:
    return Annotated[int, Meta(ge=-(2 ** (bits - 1)), le=2 ** (bits - 1) - 1)]


def _non_empty(node: Node, name: str) -> Any:
    """The type of a metadata field; Go omits empty values there, so they do not match."""
    match node:
        case ListOf() | MapOf():
            return Annotated[_type(node, name), Meta(min_length=1)]
        case Value(hint=hint) if hint is str:
            return Annotated[str, Meta(min_length=1)]
        case Value(hint=hint) if hint is int:
            return Annotated[int, Meta(ge=1, le=2**63 - 1)]
    return _type(node, name)


# --- names of Go types, for messages


def _go_of(node: Node, name: str) -> str:
    match node:
        case Object():
            return _go_type(node.hint)
        case ListOf():
            return f"[]{_go_of(node.item, name)}"
        case MapOf():
            return f"map[string]{_go_of(node.value, name)}"
    return _GO_NAMES.get(node.hint, "interface {}")


_GO_NAMES: Final[dict[Any, str]] = {
    str: "string",
    int: "int32",
    bool: "bool",
    float: "float64",
    bytes: "[]uint8",
    Quantity: "resource.Quantity",
}


def _go_type(cls: type[Model]) -> str:
    """`v1.Container`: the package of a Go type is its version."""
    version = cls.__module__.rpartition("_")[2]
    return f"{version}.{cls.__name__}"


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
