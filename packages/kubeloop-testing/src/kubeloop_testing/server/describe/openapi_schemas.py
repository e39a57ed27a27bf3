"""OpenAPI schemas of custom kinds, in both versions.

Guarantees: version 3 has the schema of the CRD as it is; version 2 what its keywords can say,
as `ToStructuralOpenAPIV2` of apiextensions.
See also: built-in kinds (`openapi_data`), the documents (`openapi`), the paths (`openapi_paths`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from ..registry import ServedResource
from .openapi_data import Schema

__all__ = ["Dialect", "custom_name", "custom_schemas"]

Dialect: TypeAlias = Literal["v2", "v3"]

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_ROOTS: Final[Mapping[Dialect, str]] = {"v2": "#/definitions/", "v3": "#/components/schemas/"}
_TEXT: Final[Schema] = {"type": "string"}


def custom_name(served: ServedResource) -> str:
    """`com.example.v1.Website` for the group example.com."""
    group = ".".join(reversed(served.group.split(".")))
    return f"{group}.{served.version}.{served.kind}"


def custom_schemas(served: ServedResource, dialect: Dialect) -> dict[str, Schema]:
    """The schemas of a custom kind and of its list, by name."""
    # apiextensions adds these fields to the schema of a definition.
    assert served.custom is not None
    name, raw = custom_name(served), served.custom.schema.raw
    own = dict(raw if dialect == "v3" else _downgrade(raw))
    meta = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _metadata("ObjectMeta", dialect)}
    own["properties"] = {**(own.get("properties") or {}), **meta}
    own["type"] = "object"
    items = {"type": "array", "items": _reference(name, dialect)}
    fields = {"apiVersion": _TEXT, "items": items, "kind": _TEXT}
    listed: Schema = {
        "type": "object",
        "required": ["items"],
        "properties": {**fields, "metadata": _metadata("ListMeta", dialect)},
    }
    return {
        name: {**own, **_gvk(served, served.kind)},
        f"{name}List": {**listed, **_gvk(served, served.list_kind)},
    }


def _reference(name: str, dialect: Dialect) -> Schema:
    return {"$ref": f"{_ROOTS[dialect]}{name}"}


def _metadata(name: str, dialect: Dialect) -> Schema:
    reference = _reference(f"{_META}.{name}", dialect)
    return reference if dialect == "v2" else {"allOf": [reference]}


def _gvk(served: ServedResource, kind: str) -> Schema:
    gvk = {"group": served.group, "kind": kind, "version": served.version}
    return {"x-kubernetes-group-version-kind": [gvk]}


_DROPPED: Final = frozenset({"allOf", "anyOf", "default", "not", "nullable", "oneOf"})


def _downgrade(schema: Mapping[str, Any]) -> Schema:
    """A schema for kubectl's reader of version 2, which rejects more than the version does."""
    found = {key: value for key, value in schema.items() if key not in _DROPPED}
    preserves = schema.get("x-kubernetes-preserve-unknown-fields")
    if schema.get("nullable"):
        found.pop("type", None)
    if schema.get("nullable") or preserves:
        found.pop("items", None)
        found.pop("properties", None)
    # Arrays need items, and objects that preserve fields may have none.
    if (found.get("type") == "array" and "items" not in found) or (
        found.get("type") == "object" and preserves
    ):
        del found["type"]
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), Mapping):
            found[key] = _downgrade(found[key])
    if found.get("properties"):
        _downgrade_properties(found)
    return found


def _downgrade_properties(schema: Schema) -> None:
    properties = schema["properties"]
    schema["properties"] = {name: _downgrade(each) for name, each in properties.items()}
    required = [
        name
        for name in schema.get("required") or ()
        if not (properties.get(name) or {}).get("nullable")
    ]
    schema.pop("required", None)
    if required:
        schema["required"] = required
