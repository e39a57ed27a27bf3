"""Reads the OpenAPI v2 document into sorted facts about classes and fields.

Guarantees: everything that is written into a module is checked to be a name; an invalid document
raises `BadDocument`, and nothing is written.
See also: `render` (writes the modules), `discovery` (resources).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from .go_structs import go_fields
from .naming import Definition, attribute, split_definition

__all__ = ["BadDocument", "ClassFacts", "FieldFacts", "classes_in"]


class BadDocument(ValueError):
    """The input is not an OpenAPI v2 document of a Kubernetes API."""


class FieldFacts(msgspec.Struct, frozen=True):
    """One field of a class."""

    name: str
    wire: str
    hint: str
    default: str  # "UNSET" or "None"
    by_value: bool = False  # an optional object that Go holds by value
    uses: frozenset[str] = frozenset()  # modules that the hint names
    rules: tuple[Any, ...] = ()  # list type, keys, map type, patch strategies, merge key


class ClassFacts(msgspec.Struct, frozen=True):
    """One class: its module and name, its kind, its fields."""

    definition: Definition
    fields: tuple[FieldFacts, ...]
    gvk: tuple[str, str, str] | None = None
    has_metadata: bool = False


_SCALARS = {"string": "str", "boolean": "bool", "integer": "int", "number": "float"}
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
# Definitions that become a type of kubeloop.wire instead of a class.
_SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "dict[str, Any]",
    f"{_META}.Time": "Time",
    f"{_META}.MicroTime": "MicroTime",
    f"{_META}.FieldsV1": "dict[str, Any]",
    f"{_META}.Patch": "Any",
    f"{_EXTENSIONS}.JSON": "Any",
    f"{_EXTENSIONS}.JSONSchemaPropsOrArray": "Any",
    f"{_EXTENSIONS}.JSONSchemaPropsOrBool": "Any",
    f"{_EXTENSIONS}.JSONSchemaPropsOrStringArray": "Any",
}
# In Go these are plain strings, and empty means absent; users should not have to handle None.
_PLAIN_STRINGS = frozenset({f"{_META}.ObjectMeta", f"{_META}.ListMeta"})
# Users expect every kind to have these, even if they are pointers in Go.
_ALWAYS_SET = frozenset({"metadata", "spec", "status"})


def classes_in(document: Mapping[str, Any]) -> list[ClassFacts]:
    """Every class of the built-in groups, by module and name."""
    definitions = document.get("definitions")
    if not isinstance(definitions, dict) or not definitions:
        raise BadDocument("no definitions found: expected the response of /openapi/v2")
    found = [
        _class(key, definition, definitions)
        for key in definitions
        if key not in _SPECIAL and (definition := split_definition(key))
    ]
    return sorted(found, key=lambda facts: facts.definition)


def _class(key: str, definition: Definition, definitions: Mapping[str, Any]) -> ClassFacts:
    schema = definitions[key]
    properties = schema.get("properties", {})
    gvk = _gvk(schema)
    if not {"apiVersion", "kind"} <= properties.keys():
        gvk = None
    _check_names([*properties, *(gvk or ())])
    skipped = {"apiVersion", "kind"} if gvk else set()
    has_metadata = gvk is not None and _is_object_meta(properties.get("metadata", {}))
    if has_metadata:
        skipped.add("metadata")  # `Resource` has it
    fields = tuple(
        _field(key, wire, schema, definitions) for wire in sorted(properties) if wire not in skipped
    )
    _check_unique(key, fields)
    return ClassFacts(definition, fields, gvk, has_metadata)


def _is_object_meta(schema: Mapping[str, Any]) -> bool:
    return str(schema.get("$ref", "")).endswith(f"{_META}.ObjectMeta")


def _gvk(schema: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """The kind of the class. Options that every group accepts belong to the core group."""
    kinds = schema.get("x-kubernetes-group-version-kind") or []
    if not kinds:
        return None
    first = (
        kinds[0] if len(kinds) == 1 else {"group": "", "version": "v1", "kind": kinds[0]["kind"]}
    )
    return str(first["group"]), str(first["version"]), str(first["kind"])


def _check_unique(key: str, fields: tuple[FieldFacts, ...]) -> None:
    names = [field.name for field in fields]
    duplicates = {name for name in names if names.count(name) > 1}
    if duplicates:
        raise BadDocument(f"{key}: duplicate field names {sorted(duplicates)}")


def _field(
    key: str, wire: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> FieldFacts:
    prop = schema["properties"][wire]
    uses: set[str] = set()
    hint = _hint(prop, definitions, split_definition(key), uses)
    required = (
        wire in schema.get("required", ())
        or (wire in _ALWAYS_SET and "x-kubernetes-group-version-kind" in schema)
        or (key in _PLAIN_STRINGS and hint in {"str", "int"})
    )
    by_value = not required and _is_part_by_value(key, wire, prop)
    container = hint.startswith(("list[", "dict["))
    if hint in {"Time", "MicroTime"}:  # the zero time is null, even if it is required
        hint, default = f"{hint} | None", "None"
    elif hint == "Any":
        default = "None"
    elif required or by_value or container:
        default = "UNSET"
    else:
        hint, default = f"{hint} | None", "None"
    return FieldFacts(
        attribute(wire), wire, hint, default, by_value, frozenset(uses), _rules(prop, definitions)
    )


def _is_part_by_value(key: str, wire: str, prop: Mapping[str, Any]) -> bool:
    """Whether a field is an object that Go holds by value, possibly empty."""
    definition, part = (
        split_definition(key),
        str(prop.get("$ref", "")).removeprefix("#/definitions/"),
    )
    if definition is None or part in _SPECIAL or split_definition(part) is None:
        return False
    field = go_fields(f"{definition.module}.{definition.name}").get(wire)
    return field is not None and not field.is_pointer


def _hint(
    prop: Mapping[str, Any],
    definitions: Mapping[str, Any],
    current: Definition | None,
    uses: set[str],
) -> str:
    if "$ref" in prop:
        return _reference(str(prop["$ref"]).removeprefix("#/definitions/"), current, uses)
    match prop.get("type"):
        case "array":
            return f"list[{_hint(prop.get('items', {}), definitions, current, uses)}]"
        case "object":
            values = prop.get("additionalProperties")
            inner = _hint(values, definitions, current, uses) if isinstance(values, dict) else "Any"
            return f"dict[str, {inner}]"
        case "string" if prop.get("format") == "byte":
            return "bytes"
        case "string" if prop.get("format") == "int-or-string":
            return "IntOrString"
        case kind if kind in _SCALARS:
            return _SCALARS[kind]
    return "Any"


def _reference(key: str, current: Definition | None, uses: set[str]) -> str:
    if key in _SPECIAL:
        return _SPECIAL[key]
    definition = split_definition(key)
    if definition is None:
        return "Any"
    if current is not None and definition.module == current.module:
        return definition.name
    uses.add(definition.module)
    return f"{definition.module}.{definition.name}"


_NAME = re.compile(r"[A-Za-z$_][A-Za-z0-9$_.-]*")


def _rules(prop: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Any, ...]:
    """The merge rules of a field; the default is the map type of its definition."""
    referred = definitions.get(str(prop.get("$ref", "")).removeprefix("#/definitions/"), {})
    list_type = prop.get("x-kubernetes-list-type", "")
    keys = tuple(prop.get("x-kubernetes-list-map-keys", ()))
    map_type = prop.get("x-kubernetes-map-type", referred.get("x-kubernetes-map-type", ""))
    strategies = tuple(filter(None, prop.get("x-kubernetes-patch-strategy", "").split(",")))
    merge_key = prop.get("x-kubernetes-patch-merge-key", "")
    rules = (list_type, keys, map_type, strategies, merge_key)
    _check_names((list_type, *keys, map_type, *strategies, merge_key))
    return rules if any(rules) else ()


def _check_names(names: Iterable[str]) -> None:
    """Check everything that is written into a module, so that it cannot contain code."""
    for name in names:
        if name and not _NAME.fullmatch(name):
            raise BadDocument(f"not a name: {name!r}")
