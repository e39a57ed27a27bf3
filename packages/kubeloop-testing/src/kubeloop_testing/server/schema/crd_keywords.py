"""Validates the keywords in the schema of a CustomResourceDefinition.

This is `ValidateCustomResourceDefinitionOpenAPISchema` of apiextensions-apiserver.
Guarantees: causes have kube-apiserver's paths, reasons and messages.
See also: CEL rules (`crd_rules`), what makes a schema structural, and its defaults (`crd_schemas`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, final

from ..statuses import Cause
from ..values import causes
from ..values.json_values import Json
from .crd_rules import problems_of_rules
from .schema_nodes import META_FIELDS

__all__ = ["problems_of_keywords", "properties_of"]


_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED: Final = ("id", "additionalItems", "patternProperties", "definitions", "dependencies")


def problems_of_keywords(schema: Json, path: str) -> Iterator[Cause]:
    """What is wrong with the keywords of a resource's schema at `path`."""
    return _keyword_problems(schema, path, context=_Context(root=True))


def properties_of(schema: Json) -> list[tuple[str, Json]]:
    """The properties of a schema; none if it is malformed."""
    properties = schema.get("properties")
    return list(properties.items()) if isinstance(properties, Mapping) else []


@final
class _Context:
    """What the rules need to know about the parents of a schema."""

    __slots__ = ("in_metadata", "no_default", "root")

    def __init__(
        self, *, root: bool = False, in_metadata: bool = False, no_default: str = ""
    ) -> None:
        self.root = root
        self.in_metadata = in_metadata
        self.no_default = no_default  # why a default is forbidden; empty if it is allowed

    def inside(self, *, in_metadata: bool = False, no_default: str = "") -> _Context:
        return _Context(
            in_metadata=self.in_metadata or in_metadata, no_default=no_default or self.no_default
        )


def _keyword_problems(schema: Json, path: str, *, context: _Context) -> Iterator[Cause]:
    yield from _forbidden_keywords(schema, path, context)
    yield from _map_problems(schema, path)
    yield from _list_problems(schema, path)
    yield from problems_of_rules(schema, path)
    yield from _keyword_children(schema, path, context)


def _keyword_children(schema: Json, path: str, context: _Context) -> Iterator[Cause]:
    rest, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(rest, Mapping):
        reason = "inside additionalProperties applying to object metadata"
        below = context.inside(no_default=reason if context.in_metadata else "")
        yield from _keyword_problems(rest, f"{path}.additionalProperties", context=below)
    for name, each in properties_of(schema):
        meta = name in META_FIELDS and (
            context.root or bool(schema.get("x-kubernetes-embedded-resource"))
        )
        reason = f"in top-level {name}" if meta and context.root else ""
        below = context.inside(in_metadata=meta, no_default=reason)
        yield from _keyword_problems(each, f"{path}.properties[{name}]", context=below)
    if isinstance(items, Mapping):
        yield from _keyword_problems(items, f"{path}.items", context=context.inside())
    if isinstance(schema.get("not"), Mapping):
        yield from _keyword_problems(schema["not"], f"{path}.not", context=context.inside())
    for word in ("allOf", "oneOf", "anyOf"):
        for index, each in enumerate(schema.get(word) or ()):
            yield from _keyword_problems(each, f"{path}.{word}[{index}]", context=context.inside())


def _forbidden_keywords(schema: Json, path: str, context: _Context) -> Iterator[Cause]:
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        yield causes.not_supported(f"{path}.type", kind, _TYPES)
    if schema.get("default") is not None and context.no_default:
        yield causes.forbidden(f"{path}.default", f"must not be set {context.no_default}")
    for word in (*_UNSUPPORTED, "$ref"):
        if schema.get(word) or (word == "additionalItems" and word in schema):
            yield causes.forbidden(f"{path}.{word}", f"{word} is not supported")
    if kind == "null":
        rule = "type cannot be set to null, use nullable as an alternative"
        yield causes.forbidden(f"{path}.type", rule)
    if isinstance(schema.get("items"), list):
        rule = "items must be a schema object and not an array"
        yield causes.forbidden(f"{path}.items", rule)
    if context.in_metadata and schema.get("x-kubernetes-embedded-resource"):
        rule = "must not be used inside of resource meta"
        yield causes.forbidden(f"{path}.x-kubernetes-embedded-resource", rule)
    if schema.get("uniqueItems"):
        rule = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield causes.forbidden(f"{path}.uniqueItems", rule)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        where = f"{path}.x-kubernetes-preserve-unknown-fields"
        yield causes.invalid(where, False, "must be true or undefined")  # noqa: FBT003


def _map_problems(schema: Json, path: str) -> Iterator[Cause]:
    rest, kind = schema.get("additionalProperties"), schema.get("type") or ""
    if rest is not None and rest is not True and schema.get("properties"):
        rule = "additionalProperties and properties are mutual exclusive"
        yield causes.forbidden(f"{path}.additionalProperties", rule)
    map_type = schema.get("x-kubernetes-map-type")
    if map_type is None:
        return
    if kind != "object":
        yield _type_problem(path, kind, "object", "x-kubernetes-map-type")
    if map_type not in {"atomic", "granular"}:
        where = f"{path}.x-kubernetes-map-type"
        yield causes.not_supported(where, map_type, ("atomic", "granular"))


def _type_problem(path: str, kind: str, expected: str, keyword: str) -> Cause:
    rule = f"must be {expected} if {keyword} is specified"
    where = f"{path}.type"
    return causes.invalid(where, kind, rule) if kind else causes.required(where, rule)


def _list_problems(schema: Json, path: str) -> Iterator[Cause]:
    list_type = schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys")
    where, kind = f"{path}.x-kubernetes-list-type", schema.get("type") or ""
    if list_type is not None and kind != "array":
        yield _type_problem(path, kind, "array", "x-kubernetes-list-type")
    elif list_type == "set" and isinstance(schema.get("items"), Mapping):
        yield from _set_problems(schema["items"], f"{path}.items")
    if list_type is not None and list_type not in {"atomic", "set", "map"}:
        yield causes.not_supported(where, list_type, ("atomic", "set", "map"))
    if keys and list_type != "map":
        rule = "must be map if x-kubernetes-list-map-keys is non-empty"
        is_missing = list_type is None
        yield causes.required(where, rule) if is_missing else causes.invalid(where, list_type, rule)
    if list_type == "map":
        yield from _list_map_problems(schema, path, list(keys or ()))
    items = schema.get("items")
    if list_type in {"set", "map"} and isinstance(items, Mapping) and items.get("nullable"):
        rule = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        yield causes.forbidden(f"{path}.items.nullable", rule)


def _set_problems(items: Json, path: str) -> Iterator[Cause]:
    # Elements of a set are compared as a whole, so they must be atomic.
    rule = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type, map_type = items.get("x-kubernetes-list-type"), items.get("x-kubernetes-map-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield causes.invalid(f"{path}.x-kubernetes-list-type", list_type, rule)
    if items.get("type") == "object" and map_type != "atomic":
        yield causes.invalid(f"{path}.x-kubernetes-map-type", map_type, rule)


def _list_map_problems(schema: Json, path: str, keys: list[str]) -> Iterator[Cause]:
    # Elements are identified by their keys, so they must be objects.
    items, where = schema.get("items"), f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield causes.required(where, "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        rule = "must have a schema if x-kubernetes-list-type is map"
        yield causes.required(f"{path}.items", rule)
    if not isinstance(items, Mapping):
        return
    if items.get("type") != "object":
        rule = "must be object if parent array's x-kubernetes-list-type is map"
        yield causes.invalid(f"{path}.items.type", items.get("type") or "", rule)
        return
    if len(set(keys)) < len(keys):
        yield causes.invalid(where, keys, "must not contain duplicate entries")
    for key in keys:
        yield from _map_key_problems(items, path, keys, key)
    for key in keys:
        yield from _map_key_value_problems(items, path, key)


def _map_key_problems(items: Json, path: str, keys: list[str], key: str) -> Iterator[Cause]:
    # A key must be a field that can be compared.
    key_schema = dict(properties_of(items)).get(key)
    if key_schema is None:
        rule = "entries must all be names of item properties"
        yield causes.invalid(f"{path}.x-kubernetes-list-map-keys", keys, rule)
    elif key_schema.get("type") in {"array", "object"}:
        rule = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        yield causes.invalid(f"{path}.items.properties[{key}].type", key_schema["type"], rule)


def _map_key_value_problems(items: Json, path: str, key: str) -> Iterator[Cause]:
    # A key must always have a value.
    key_schema = dict(properties_of(items)).get(key)
    where = f"{path}.items.properties[{key}]"
    if key_schema is None:
        return
    if key not in (items.get("required") or ()) and key_schema.get("default") is None:
        yield causes.required(
            f"{where}.default",
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
            "required property",
        )
    if key_schema.get("nullable"):
        rule = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
        yield causes.forbidden(f"{where}.nullable", rule)
