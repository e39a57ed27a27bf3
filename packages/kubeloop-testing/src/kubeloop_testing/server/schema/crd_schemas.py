"""Validates that the schema of a CustomResourceDefinition is structural.

Guarantees: causes have kube-apiserver's paths, reasons and messages; a schema without causes can
be compiled (`schema_nodes`), and its defaults are valid.
See also: single keywords (`crd_keywords`), the rest of a definition (`crd_validation`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..statuses import Cause, StatusError
from ..values import causes
from ..values.json_values import Json
from .crd_keywords import problems_of_keywords, properties_of
from .patterns import PatternError, matcher
from .schema_nodes import Node
from .schema_validation import problems_of
from .schemas import Schema, embedded_problems

__all__ = ["problems_of_schema", "schema_of"]


# Keywords that are forbidden within allOf, anyOf, oneOf and not (`validateNestedValueValidation`).
_NOT_NESTED: Final = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_EMPTY_TYPE: Final = {
    "root": "must not be empty at the root",
    "items": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
# The other keywords would make no sense for a resource with a status subresource.
_AT_ROOT_WITH_STATUS: Final = frozenset(
    [
        "description",
        "type",
        "format",
        "title",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ]
)


def schema_of(version: Json) -> Any:
    """The schema of a version of a definition."""
    return (version.get("schema") or {}).get("openAPIV3Schema")


def problems_of_schema(schema: Json, path: str, *, has_status: bool) -> list[Cause]:
    """What is wrong with an `openAPIV3Schema` at `path`."""
    found = [*_root_problems(schema, path, has_status=has_status)]
    structural = sorted(
        [
            *_structural(schema, path, level="root"),
            *_completeness(schema, schema, path, path),
        ],
        key=lambda each: f"{each.field}: {each.message}",
    )
    # Defaults are only checked in a structural schema: only that can be compiled.
    found += structural or _default_problems(schema, path, is_root=True)
    found += problems_of_keywords(schema, path)
    return found


def _root_problems(schema: Json, path: str, *, has_status: bool) -> Iterator[Cause]:
    # With a status subresource only some keywords are allowed at the root.
    kind = schema.get("type") or ""
    if has_status and kind and kind != "object":
        rule = (
            'only "object" is allowed as the type at the root of the schema if the status '
            "subresource is enabled"
        )
        yield causes.invalid(f"{path}.type", kind, rule)
    others = {key for key, value in schema.items() if value} - _AT_ROOT_WITH_STATUS
    if has_status and others - {"nullable"}:
        names = ", ".join(sorted(_AT_ROOT_WITH_STATUS))
        rule = (
            f"only [{names}] fields are allowed at the root of the schema if the status "
            "subresource is enabled"
        )
        yield causes.invalid(path, dict(schema), rule)
    if schema.get("nullable"):
        yield causes.forbidden(f"{path}.nullable", "nullable cannot be true at the root")


# --- structural rules


def _structural(schema: Json, path: str, *, level: str) -> Iterator[Cause]:
    """What keeps a schema from being structural (`ValidateStructural` of apiextensions)."""
    yield from _structural_children(schema, path, level)
    yield from _extension_clashes(schema, path)
    yield from _value_rules(schema, path, may_list_types=True)
    yield from _type_problems(schema, path, level)
    yield from _meta_problems(schema, path, root=level == "root")


def _structural_children(schema: Json, path: str, level: str) -> Iterator[Cause]:
    items, rest = schema.get("items"), schema.get("additionalProperties")
    if schema.get("type") == "array" and items is None:
        yield causes.required(f"{path}.items", "must be specified")
    if isinstance(items, Mapping):
        yield from _structural(items, f"{path}.items", level="items")
    for name, each in properties_of(schema):
        yield from _structural(each, f"{path}.properties[{name}]", level="field")
    if rest is not None and level == "root":
        yield causes.forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(rest, Mapping):
        yield from _structural(rest, f"{path}.additionalProperties", level="field")


def _extension_clashes(schema: Json, path: str) -> Iterator[Cause]:
    # An int-or-string has no fields to preserve and is no resource.
    if schema.get("x-kubernetes-int-or-string"):
        for other in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
            if schema.get(other):
                rule = "must be false if x-kubernetes-int-or-string is true"
                yield causes.invalid(f"{path}.{other}", schema[other], rule)


def _type_problems(schema: Json, path: str, level: str) -> Iterator[Cause]:
    # Every value has one type, so that pruning and defaulting are well-defined.
    kind, embedded = schema.get("type") or "", schema.get("x-kubernetes-embedded-resource")
    open_type = schema.get("x-kubernetes-int-or-string") or schema.get(
        "x-kubernetes-preserve-unknown-fields"
    )
    if embedded and kind != "object":
        rule = "must be object if x-kubernetes-embedded-resource is true"
        where = f"{path}.type"
        yield causes.invalid(where, kind, rule) if kind else causes.required(where, rule)
    elif not kind and not open_type and not schema.get("$ref"):
        yield causes.required(f"{path}.type", _EMPTY_TYPE[level])
    if embedded and schema.get("additionalProperties") is not None:
        rule = "must not be used if x-kubernetes-embedded-resource is set"
        yield causes.forbidden(f"{path}.additionalProperties", rule)
    if level == "root" and kind and kind != "object":
        yield causes.invalid(f"{path}.type", kind, "must be object at the root")


def _meta_problems(schema: Json, path: str, *, root: bool) -> Iterator[Cause]:
    """`apiVersion`, `kind` and `metadata` of a resource have fixed types."""
    embedded, properties = schema.get("x-kubernetes-embedded-resource"), dict(properties_of(schema))
    if root or embedded:
        for name, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
            field = properties.get(name)
            if field is not None and field.get("type") != kind:
                where = f"{path}.properties[{name}].type"
                yield causes.invalid(where, field.get("type") or "", f"must be {kind}")
    if root and "metadata" in properties and not _is_plain_metadata(properties["metadata"]):
        yield causes.forbidden(
            f"{path}.properties[metadata]",
            "must not specify anything other than name and generateName, but metadata is "
            "implicitly specified",
        )
    if embedded and not properties and not schema.get("x-kubernetes-preserve-unknown-fields"):
        yield causes.required(
            f"{path}.properties",
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields",
        )


def _is_plain_metadata(schema: Json) -> bool:
    names = {name for name, _ in properties_of(schema)}
    others = {key for key, value in schema.items() if value} - {"type", "properties", "default"}
    return names <= {"name", "generateName"} and not others


def _value_rules(schema: Json, path: str, *, may_list_types: bool) -> Iterator[Cause]:
    # `validateValueValidation`.
    for word in ("anyOf", "allOf", "oneOf"):
        for index, each in enumerate(schema.get(word) or ()):
            # The one pattern that may contain types: controller-gen writes int-or-string so.
            if word == "anyOf" and may_list_types and schema["anyOf"] == _INT_OR_STRING:
                continue
            listed = word == "allOf" and index == 0 and may_list_types
            yield from _nested(each, f"{path}.{word}[{index}]", may_list_types=listed)
    if isinstance(schema.get("not"), Mapping):
        yield from _nested(schema["not"], f"{path}.not", may_list_types=False)
    if schema.get("pattern"):
        yield from _pattern_problems(schema["pattern"], f"{path}.pattern")


def _pattern_problems(pattern: str, path: str) -> Iterator[Cause]:
    try:
        matcher(pattern)
    except PatternError as error:
        rule = f"must be a valid regular expression, but isn't: error parsing regexp: {error}"
        yield causes.invalid(path, pattern, rule)


def _nested(schema: Json, path: str, *, may_list_types: bool) -> Iterator[Cause]:
    # `validateNestedValueValidation`: alternatives restrict values, and never define them.
    yield from _value_rules(schema, path, may_list_types=may_list_types)
    if isinstance(schema.get("items"), Mapping):
        yield from _nested(schema["items"], f"{path}.items", may_list_types=False)
    for name, each in properties_of(schema):
        yield from _nested(each, f"{path}.properties[{name}]", may_list_types=False)
    for word, rule in _NOT_NESTED.items():
        if schema.get(word) not in (None, "", False, []):
            yield causes.forbidden(f"{path}.{word}", rule)
    if "metadata" in dict(properties_of(schema)):
        rule = "must not be specified in a nested context"
        yield causes.forbidden(f"{path}.properties[metadata]", rule)


def _completeness(nested: Json, schema: Json | None, path: str, source: str) -> Iterator[Cause]:
    """Each field in allOf, anyOf, oneOf and not must also be declared outside of them."""
    if schema is None:
        yield causes.required(path, f"because it is defined in {source}")
        return
    below = [(f"{source}.not", nested.get("not"))]
    for word in ("allOf", "anyOf", "oneOf"):
        nodes = nested.get(word) or ()
        below += [(f"{source}.{word}[{index}]", each) for index, each in enumerate(nodes)]
    for where, each in below:
        if isinstance(each, Mapping):
            yield from _completeness(each, schema, path, where)
            yield from _complete_children(each, schema, path, where)


def _complete_children(nested: Json, schema: Json, path: str, source: str) -> Iterator[Cause]:
    items = schema.get("items")
    if isinstance(nested.get("items"), Mapping):
        outer = items if isinstance(items, Mapping) else None
        yield from _complete_child(nested["items"], outer, f"{path}.items", f"{source}.items")
    declared = dict(properties_of(schema))
    for name, each in properties_of(nested):
        step = f"properties[{name}]"
        yield from _complete_child(each, declared.get(name), f"{path}.{step}", f"{source}.{step}")


def _complete_child(nested: Json, schema: Json | None, path: str, source: str) -> Iterator[Cause]:
    yield from _completeness(nested, schema, path, source)
    if schema is not None:
        yield from _complete_children(nested, schema, path, source)


# --- defaults


def _default_problems(schema: Json, path: str, *, is_root: bool = False) -> Iterator[Cause]:
    """Each default must be valid for its own schema, and must not be pruned by it."""
    default = schema.get("default")
    if default is not None:
        node, where = Node(schema), f"{path}.default"
        try:
            if isinstance(default, dict | list) and _prunes(schema, default):
                yield causes.invalid(where, default, "must not have unknown fields")
        except StatusError as error:
            metadata = default.get("metadata") if isinstance(default, dict) else default
            yield causes.invalid(f"{where}.metadata", metadata, str(error))
            return
        yield from problems_of(node, default, under=where)
        node.embedded = node.embedded or is_root
        yield from embedded_problems(node, default, where)
    if isinstance(schema.get("items"), Mapping):
        yield from _default_problems(schema["items"], f"{path}.items")
    for name, each in properties_of(schema):
        yield from _default_problems(each, f"{path}.properties[{name}]")


def _prunes(schema: Json, default: Any) -> bool:
    """Whether pruning would remove something from a default."""
    wrapped = Schema({"type": "object", "properties": {"value": dict(schema)}})
    return bool(wrapped.prune({"value": default})[1])
