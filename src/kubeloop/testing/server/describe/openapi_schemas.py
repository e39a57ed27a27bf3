"""OpenAPI schemas of objects: from the wire's classes, and from CRDs.

Guarantees: a schema has the fields of the class, and the merge rules that `kubectl apply` needs,
but no descriptions. Imports only classes that are used.
See also: the documents (`openapi`), the paths (`openapi_paths`).
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from kubeloop.wire import Duration, FieldFacts, Kind, MicroTime, Model, Quantity, facts_of
from kubeloop.wire.meta.v1 import ListMeta, ObjectMeta
from kubeloop.wire.plan import ListOf, MapOf, Node, Object, Value, plan_of

from ..registry import ServedResource

__all__ = [
    "Dialect",
    "custom_name",
    "custom_schemas",
    "definition_name",
    "reference",
    "schemas_of",
]

Dialect: TypeAlias = Literal["v2", "v3"]
Schema: TypeAlias = dict[str, Any]

_GO_PACKAGES: Final = {
    "meta": "io.k8s.apimachinery.pkg.apis.meta",
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
}
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_TIME: Final = f"{_META}.Time"
_MICRO_TIME: Final = f"{_META}.MicroTime"
_DURATION: Final = f"{_META}.Duration"
_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
# A named schema, because `kubectl explain` fails for a field with an empty one.
_JSON: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"
_INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"

_PLAIN: Final[Mapping[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number", "format": "double"},
    bytes: {"type": "string", "format": "byte"},
}
_NAMED: Final[Mapping[Any, str]] = {
    datetime: _TIME,
    MicroTime: _MICRO_TIME,
    Duration: _DURATION,
    Quantity: _QUANTITY,
}
_SCALARS: Final[Mapping[Dialect, Mapping[str, Schema]]] = {
    "v2": {
        _TIME: {"type": "string", "format": "date-time"},
        _MICRO_TIME: {"type": "string", "format": "date-time"},
        _DURATION: {"type": "string"},
        _QUANTITY: {"type": "string"},
        _INT_OR_STRING: {"type": "string", "format": "int-or-string"},
        _JSON: {"description": "Any value of JSON."},
    },
    "v3": {
        _TIME: {"type": "string", "format": "date-time"},
        _MICRO_TIME: {"type": "string", "format": "date-time"},
        _DURATION: {"type": "string"},
        _QUANTITY: {"oneOf": [{"type": "string"}, {"type": "number"}]},
        _INT_OR_STRING: {
            "oneOf": [{"type": "integer"}, {"type": "string"}],
            "format": "int-or-string",
        },
        _JSON: {"description": "Any value of JSON."},
    },
}
_TYPE_META: Final = frozenset({"apiVersion", "kind"})
_UNIONS: Final = (typing.Union, types.UnionType)
_ROOTS: Final[Mapping[Dialect, str]] = {"v2": "#/definitions/", "v3": "#/components/schemas/"}


def reference(name: str, dialect: Dialect) -> Schema:
    """A reference to a named schema."""
    return {"$ref": f"{_ROOTS[dialect]}{name}"}


def definition_name(cls: type[Model]) -> str:
    """`io.k8s.api.core.v1.Pod`."""
    # The names of kube-openapi: the reversed Go package, the version and the type.
    package, _, version = cls.__module__.rpartition(".")[2].rpartition("_")
    return f"{_GO_PACKAGES.get(package, f'io.k8s.api.{package}')}.{version}.{cls.__name__}"


def schemas_of(classes: Iterable[type[Model]], dialect: Dialect) -> dict[str, Schema]:
    """The schemas of some classes and of all classes they refer to, by name."""
    found: dict[str, Schema] = {}
    waiting = list(classes)
    while waiting:
        cls = waiting.pop()
        name = definition_name(cls)
        if name not in found:
            found[name] = _schema(cls, dialect, waiting.append)
    return dict(sorted({**found, **_SCALARS[dialect]}.items()))


def _schema(cls: type[Model], dialect: Dialect, use: Callable[[type[Model]], None]) -> Schema:
    facts = facts_of(cls)
    plan = plan_of(cls)
    schema: Schema = {"type": "object"}
    properties = {
        wire: _with_rules(_of(field.node, dialect, use), facts.field(wire), dialect)
        for wire, field in plan.items()
    }
    if properties:
        schema["properties"] = properties
    required = [wire for wire, field in plan.items() if _is_required(cls, wire, field.node)]
    if required:
        schema["required"] = required
    options = getattr(cls, "__kind_options__", {})
    if "group" in options and "version" in options:
        gvk = {key: options[key] for key in ("group", "kind", "version")}
        schema["x-kubernetes-group-version-kind"] = [gvk]
    return schema


def _is_required(cls: type[Model], wire: str, node: Node) -> bool:
    # Known for scalars only: the classes read a missing list, map or object as empty.
    if cls in {ObjectMeta, ListMeta} or (issubclass(cls, Kind) and wire in _TYPE_META):
        return False
    return isinstance(node, Value) and not node.optional


def _of(node: Node, dialect: Dialect, use: Callable[[type[Model]], None]) -> Schema:
    match node:
        case Object(hint):
            use(hint)
            return reference(definition_name(hint), dialect)
        case ListOf():
            return {"type": "array", "items": _of(node.item, dialect, use)}
        case MapOf():
            return {"type": "object", "additionalProperties": _of(node.value, dialect, use)}
    return _scalar(node.hint, dialect)


def _scalar(hint: Any, dialect: Dialect) -> Schema:
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if hint in _NAMED:
        return reference(_NAMED[hint], dialect)
    if typing.get_origin(hint) in _UNIONS:
        return reference(_INT_OR_STRING, dialect)
    return reference(_JSON, dialect)


def _with_rules(schema: Schema, facts: FieldFacts, dialect: Dialect) -> Schema:
    extensions = {
        "x-kubernetes-list-type": facts.list_type,
        "x-kubernetes-list-map-keys": list(facts.list_map_keys),
        "x-kubernetes-map-type": facts.map_type,
        "x-kubernetes-patch-strategy": ",".join(facts.patch_strategies),
        "x-kubernetes-patch-merge-key": facts.patch_merge_key,
    }
    rules = {key: value for key, value in extensions.items() if value}
    if rules and dialect == "v3" and "$ref" in schema:
        # OpenAPI 3.0 ignores everything beside a `$ref`.
        return {"allOf": [schema], **rules}
    return {**schema, **rules}


# --- custom kinds


def custom_name(served: ServedResource) -> str:
    """`com.example.v1.Website` for the group example.com."""
    group = ".".join(reversed(served.group.split(".")))
    return f"{group}.{served.version}.{served.kind}"


def custom_schemas(served: ServedResource, dialect: Dialect) -> dict[str, Schema]:
    """The schemas of a custom kind and of its list, by name; metadata comes from `schemas_of`."""
    # apiextensions adds these fields to the schema of a definition.
    assert served.custom is not None
    name, raw = custom_name(served), served.custom.schema.raw
    own = dict(raw if dialect == "v3" else _downgrade(raw))
    own["type"] = "object"
    own["properties"] = {
        **(own.get("properties") or {}),
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": reference(definition_name(ObjectMeta), dialect),
    }
    listed: Schema = {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "items": {"type": "array", "items": reference(name, dialect)},
            "kind": {"type": "string"},
            "metadata": reference(definition_name(ListMeta), dialect),
        },
    }
    return {
        name: {**own, **_gvk(served, served.kind)},
        f"{name}List": {**listed, **_gvk(served, served.list_kind)},
    }


def _gvk(served: ServedResource, kind: str) -> Schema:
    gvk = {"group": served.group, "kind": kind, "version": served.version}
    return {"x-kubernetes-group-version-kind": [gvk]}


# The keywords that OpenAPI version 2 does not have.
_V3_ONLY: Final = frozenset({"allOf", "anyOf", "not", "nullable", "oneOf"})


def _downgrade(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_downgrade(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    simple = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, Mapping):
            simple[key] = {name: _downgrade(each) for name, each in value.items()}
        elif key not in _V3_ONLY:
            simple[key] = _downgrade(value) if key not in {"default", "enum", "example"} else value
    return simple
