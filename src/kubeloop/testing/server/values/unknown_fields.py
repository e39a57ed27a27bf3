"""Reads a body against a built-in class: what it does not know, what has the wrong type.

Promises: the object given is never changed, and handed back itself where nothing had to go;
nulls and empty metadata are left out and quantities and times are written the one way, as
after a round trip through the API server's own types. No instance of a class is made.
Elsewhere: the classes' fields (`kubeloop.wire.plan`), scalars (`scalar_reading`), custom
resources (`schemas`).
"""

from __future__ import annotations

import functools
import json
from typing import Any, Final, NamedTuple

from kubeloop.wire import Model, Quantity
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.plan import ListOf, MapOf, Node, Object, plan_of

from .clean_types import is_clean
from .scalar_reading import Findings, Place, Reader, value_reader, wrong_type

__all__ = ["Checked", "check_types", "duplicate_fields"]


class Checked(NamedTuple):
    """An object as its class knows it, and what was found on the way."""

    object: dict[str, Any]
    unknown: list[str]  # paths: `spec.containers[0].imagee`
    problems: list[str]  # why it cannot be decoded at all, in the server's words


def check_types(cls: type[Model], obj: dict[str, Any]) -> Checked:
    """`obj` without what `cls` does not know, the paths of that, and problems of type.

    A problem reads as after `Pod in version "v1" cannot be handled as a Pod: `.
    """
    if is_clean(cls, obj):
        return Checked(obj, [], [])
    found = Findings()
    try:
        known = _object_reader(cls)(obj, found)
    except RecursionError:  # only schemas in schemas go this deep
        return Checked(obj, [], ["json: exceeded max depth"])
    return Checked(
        known if isinstance(known, dict) else {},
        sorted(each.path for each in found.unknown),
        [each.told() for each in found.problems],
    )


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
            return wrong_type(found, value, _go_type(cls))
        if not fields:
            fields.update({k: _reader(each.node, k) for k, each in plan_of(cls).items()})
            fields.update(_schema_fields(cls))
        changed: dict[str, Any] | None = None
        for key, item in value.items():
            known = fields.get(key)
            if known is not None and item is not None:
                before = found.count()
                marks = (len(found.unknown), len(found.problems))
                new = known(item, found)
                if found.count() > before:
                    found.prefix(key, marks, struct=struct)
                if new is item and (keeps_empty or item or key in _KEPT_EMPTY):
                    continue
                changed = dict(value) if changed is None else changed
                changed[key] = new
                if keeps_empty or new or key in _KEPT_EMPTY:
                    continue
            elif known is None:
                found.unknown.append(Place(key))
            changed = dict(value) if changed is None else changed
            del changed[key]
        return value if changed is None else changed

    return read


def _schema_fields(cls: type[Model]) -> dict[str, Reader]:
    """The fields of a schema that hold schemas, though its class lets anything be there."""
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


# What of the metadata means something when it is empty: no grace, and nobody owns anything.
_KEPT_EMPTY: Final = frozenset({"deletionGracePeriodSeconds", "managedFields"})


def _list_reader(node: ListOf, name: str) -> Reader:
    inner, wanted, empty = _reader(node.item, name), _go_of(node, name), _zero(node.item)

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, list):
            return wrong_type(found, value, wanted)
        changed: list[Any] | None = None
        for index, item in enumerate(value):
            before, marks = found.count(), (len(found.unknown), len(found.problems))
            new = empty if item is None else inner(item, found)
            if found.count() > before:
                found.prefix(f"[{index}]", marks)
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[index] = new
        return value if changed is None else changed

    return read


def _map_reader(node: MapOf, name: str) -> Reader:
    inner, wanted, empty = _reader(node.value, name), _go_of(node, name), _zero(node.value)

    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, dict):
            return wrong_type(found, value, wanted)
        changed: dict[str, Any] | None = None
        for key, item in value.items():
            before, marks = found.count(), (len(found.unknown), len(found.problems))
            new = empty if item is None else inner(item, found)
            if found.count() > before:
                found.prefix(key, marks)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        return value if changed is None else changed

    return read


def _zero(node: Node) -> Any:
    """What a null among elements is read as; free-form values keep it."""
    match node:
        case Object() | MapOf():
            return {}
        case ListOf():
            return None
    return _ZEROS.get(node.hint)


_ZEROS: Final[dict[Any, Any]] = {str: "", bytes: "", int: 0, float: 0, bool: False, Quantity: "0"}


# --- Go's names of types, for messages


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


# --- keys that are said twice


def duplicate_fields(raw: bytes) -> list[str]:
    """The paths of keys that stand twice in one object of a JSON text, each once.

    A text that is no JSON has none; whoever decodes it says what is wrong.
    """
    found: dict[str, None] = {}
    try:
        _collect(json.loads(raw, object_pairs_hook=_Pairs), "", found)
    except (ValueError, RecursionError):
        return []
    return list(found)


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written: keys in order, duplicates kept."""


def _collect(value: Any, path: str, found: dict[str, None]) -> None:
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
