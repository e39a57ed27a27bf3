"""Which keywords a schema of a CustomResourceDefinition may use, and how.

Promises: causes have kube-apiserver's paths, reasons and words. CEL rules are looked at for
their shape only.
Elsewhere: what makes a schema structural, and its defaults (`crd_schemas`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, final

from ..statuses import Cause
from ..values import causes
from .schema_nodes import META_FIELDS

__all__ = ["problems_of_keywords"]

_Raw: TypeAlias = Mapping[str, Any]

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED: Final = ("id", "additionalItems", "patternProperties", "definitions", "dependencies")


def problems_of_keywords(schema: _Raw, path: str) -> Iterator[Cause]:
    """What is wrong with the keywords of a resource's schema that stands at `path`."""
    return _keyword_problems(schema, path, place=_Place(root=True))


def _properties(schema: _Raw) -> list[tuple[str, _Raw]]:
    said = schema.get("properties")
    return list(said.items()) if isinstance(said, Mapping) else []


@final
class _Place:
    """Where in a resource a schema stands, as far as the keywords' rules mind."""

    __slots__ = ("in_metadata", "no_default", "root")

    def __init__(
        self, *, root: bool = False, in_metadata: bool = False, no_default: str = ""
    ) -> None:
        self.root = root
        self.in_metadata = in_metadata
        self.no_default = no_default  # why none may be here; empty where one may

    def inside(self, *, in_metadata: bool = False, no_default: str = "") -> _Place:
        return _Place(
            in_metadata=self.in_metadata or in_metadata, no_default=no_default or self.no_default
        )


def _keyword_problems(schema: _Raw, path: str, *, place: _Place) -> Iterator[Cause]:
    yield from _refused_keywords(schema, path, place)
    yield from _map_problems(schema, path)
    yield from _list_problems(schema, path)
    yield from _rule_problems(schema, path)
    yield from _keyword_children(schema, path, place)


def _keyword_children(schema: _Raw, path: str, place: _Place) -> Iterator[Cause]:
    rest, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(rest, Mapping):
        why = "inside additionalProperties applying to object metadata"
        below = place.inside(no_default=why if place.in_metadata else "")
        yield from _keyword_problems(rest, f"{path}.additionalProperties", place=below)
    for name, each in _properties(schema):
        meta = name in META_FIELDS and (
            place.root or bool(schema.get("x-kubernetes-embedded-resource"))
        )
        why = f"in top-level {name}" if meta and place.root else ""
        below = place.inside(in_metadata=meta, no_default=why)
        yield from _keyword_problems(each, f"{path}.properties[{name}]", place=below)
    if isinstance(items, Mapping):
        yield from _keyword_problems(items, f"{path}.items", place=place.inside())
    if isinstance(schema.get("not"), Mapping):
        yield from _keyword_problems(schema["not"], f"{path}.not", place=place.inside())
    for word in ("allOf", "oneOf", "anyOf"):
        for index, each in enumerate(schema.get(word) or ()):
            yield from _keyword_problems(each, f"{path}.{word}[{index}]", place=place.inside())


def _refused_keywords(schema: _Raw, path: str, place: _Place) -> Iterator[Cause]:
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        yield causes.not_supported(f"{path}.type", kind, _TYPES)
    if schema.get("default") is not None and place.no_default:
        yield causes.forbidden(f"{path}.default", f"must not be set {place.no_default}")
    for word in (*_UNSUPPORTED, "$ref"):
        if schema.get(word):
            yield causes.forbidden(f"{path}.{word}", f"{word} is not supported")
    if kind == "null":
        rule = "type cannot be set to null, use nullable as an alternative"
        yield causes.forbidden(f"{path}.type", rule)
    if isinstance(schema.get("items"), list):
        rule = "items must be a schema object and not an array"
        yield causes.forbidden(f"{path}.items", rule)
    if place.in_metadata and schema.get("x-kubernetes-embedded-resource"):
        rule = "must not be used inside of resource meta"
        yield causes.forbidden(f"{path}.x-kubernetes-embedded-resource", rule)
    if schema.get("uniqueItems"):
        rule = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield causes.forbidden(f"{path}.uniqueItems", rule)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        where = f"{path}.x-kubernetes-preserve-unknown-fields"
        yield causes.invalid(where, False, "must be true or undefined")  # noqa: FBT003


def _map_problems(schema: _Raw, path: str) -> Iterator[Cause]:
    rest, kind = schema.get("additionalProperties"), schema.get("type") or ""
    if rest is not None and rest is not True and schema.get("properties"):
        rule = "additionalProperties and properties are mutual exclusive"
        yield causes.forbidden(f"{path}.additionalProperties", rule)
    said = schema.get("x-kubernetes-map-type")
    if said is None:
        return
    if kind != "object":
        yield _must_be(path, kind, "object", "x-kubernetes-map-type")
    if said not in {"atomic", "granular"}:
        where = f"{path}.x-kubernetes-map-type"
        yield causes.not_supported(where, said, ("atomic", "granular"))


def _must_be(path: str, kind: str, wanted: str, because: str) -> Cause:
    rule = f"must be {wanted} if {because} is specified"
    where = f"{path}.type"
    return causes.invalid(where, kind, rule) if kind else causes.required(where, rule)


def _list_problems(schema: _Raw, path: str) -> Iterator[Cause]:
    said, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys")
    where, kind = f"{path}.x-kubernetes-list-type", schema.get("type") or ""
    if said is not None and kind != "array":
        yield _must_be(path, kind, "array", "x-kubernetes-list-type")
    elif said == "set" and isinstance(schema.get("items"), Mapping):
        yield from _set_problems(schema["items"], f"{path}.items")
    if said is not None and said not in {"atomic", "set", "map"}:
        yield causes.not_supported(where, said, ("atomic", "set", "map"))
    if keys and said != "map":
        rule = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield causes.required(where, rule) if said is None else causes.invalid(where, said, rule)
    if said == "map":
        yield from _list_map_problems(schema, path, list(keys or ()))
    items = schema.get("items")
    if said in {"set", "map"} and isinstance(items, Mapping) and items.get("nullable"):
        rule = f"cannot be nullable when x-kubernetes-list-type is {said}"
        yield causes.forbidden(f"{path}.items.nullable", rule)


def _set_problems(items: _Raw, path: str) -> Iterator[Cause]:
    rule = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type, map_type = items.get("x-kubernetes-list-type"), items.get("x-kubernetes-map-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield causes.invalid(f"{path}.x-kubernetes-list-type", list_type, rule)
    if items.get("type") == "object" and map_type != "atomic":
        yield causes.invalid(f"{path}.x-kubernetes-map-type", map_type, rule)


def _list_map_problems(schema: _Raw, path: str, keys: list[str]) -> Iterator[Cause]:
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


def _map_key_problems(items: _Raw, path: str, keys: list[str], key: str) -> Iterator[Cause]:
    said = dict(_properties(items)).get(key)
    where = f"{path}.items.properties[{key}]"
    if said is None:
        rule = "entries must all be names of item properties"
        yield causes.invalid(f"{path}.x-kubernetes-list-map-keys", keys, rule)
        return
    if said.get("type") in {"array", "object"}:
        rule = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        yield causes.invalid(f"{where}.type", said["type"], rule)
    if key not in (items.get("required") or ()) and said.get("default") is None:
        yield causes.required(
            f"{where}.default",
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
            "required property",
        )
    if said.get("nullable"):
        rule = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
        yield causes.forbidden(f"{where}.nullable", rule)


def _rule_problems(schema: _Raw, path: str) -> Iterator[Cause]:
    """The shape of CEL rules; what they say is not read."""
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        where = f"{path}.x-kubernetes-validations[{index}]"
        text, message = str(rule.get("rule") or ""), str(rule.get("message") or "")
        if not text.strip():
            yield causes.required(f"{where}.rule", "rule is not specified")
        elif message and not message.strip():
            yield causes.invalid(f"{where}.message", message, "must be non-empty if specified")
        elif re.search(r"[\n\r]", message.strip()):
            yield causes.invalid(f"{where}.message", message, "must not contain line breaks")
        elif re.search(r"[\n\r]", text.strip()) and not message:
            said = "message must be specified if rule contains line breaks"
            yield causes.required(f"{where}.message", said)
