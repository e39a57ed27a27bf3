"""Custom kinds of the tests: a shared one, and new ones on request.

Guarantees: a kind is served when `define` returns.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, final

import msgspec

from tests.conformance.raw_client import RawClient

__all__ = ["DEFINITIONS", "GROUP", "WIDGETS", "CustomKind", "define", "definition", "version"]

GROUP = "conformance.example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = f"{GROUP}/v1/widgets"

Object = dict[str, Any]
_numbers = itertools.count(1)

_SPEC: Object = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 0, "maximum": 10},
        "color": {"type": "string", "enum": ["blue", "red"], "default": "blue"},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8, "minLength": 2},
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
        "unique": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "port": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"},
                },
            },
        },
        "limit": {"x-kubernetes-int-or-string": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "when": {"type": "string", "format": "date-time"},
        "nothing": {"type": "string", "nullable": True},
        "ratio": {"type": "number", "multipleOf": 0.5},
        "either": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        "inner": {"type": "object", "properties": {"depth": {"type": "integer", "default": 3}}},
    },
}
_STATUS: Object = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "selector": {"type": "string"},
        "note": {"type": "string"},
    },
}


def version(name: str = "v1", *, spec: Object | None = None, **more: Any) -> Object:
    """One version of a definition; `more` replaces parts of it."""
    schema = {"type": "object", "properties": {"spec": spec or _SPEC, "status": _STATUS}}
    return {
        "name": name,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.size",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            },
        },
        "selectableFields": [{"jsonPath": ".spec.color"}],
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Color", "type": "string", "jsonPath": ".spec.color", "priority": 1},
        ],
        **more,
    }


def definition(
    plural: str = "widgets",
    kind: str = "Widget",
    *,
    versions: list[Object] | None = None,
    **spec: Any,
) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": versions or [version()],
            **spec,
        },
    }


@final
class CustomKind(msgspec.Struct, frozen=True):
    """A custom kind that is served."""

    plural: str
    kind: str
    versions: tuple[str, ...] = ("v1",)

    @property
    def resource(self) -> str:
        return f"{GROUP}/{self.versions[0]}/{self.plural}"

    @property
    def path(self) -> str:
        return f"{DEFINITIONS}/{self.plural}.{GROUP}"

    def new(self, name: str, *, api: str = "", **body: Any) -> Object:
        version = f"{GROUP}/{api or self.versions[0]}"
        return {"apiVersion": version, "kind": self.kind, "metadata": {"name": name}, **body}


async def define(api: RawClient, *, plural: str = "", **spec: Any) -> CustomKind:
    """Define a kind, by default with a unique name, and wait until it is served."""
    number = next(_numbers)
    plural = plural or f"gadgets{number}"
    kind = plural.capitalize().rstrip("s") if plural == "widgets" else f"Gadget{number}"
    body = definition(plural, kind, **spec)
    await api.create(DEFINITIONS, body)
    names = tuple(each["name"] for each in body["spec"]["versions"] if each["served"])
    defined = CustomKind(plural, kind, names)
    for name in names:
        while (await api.get(f"/apis/{GROUP}/{name}/{plural}")).code != 200:
            await asyncio.sleep(0.02)
    return defined
