"""Helpers of the tests of schemas: a schema, its objects, and their problems."""

from __future__ import annotations

from typing import Any

from kubeloop_testing.server.schema.schemas import Schema
from kubeloop_testing.server.statuses import Cause

Json = dict[str, Any]

SPEC: Json = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
        "note": {"type": "string", "nullable": True, "default": "hello"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "share": {"x-kubernetes-int-or-string": True},
        "names": {
            "type": "array",
            "x-kubernetes-list-type": "set",
            "items": {"type": "string"},
        },
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port"],
            "items": {
                "type": "object",
                "required": ["port"],
                "properties": {
                    "port": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"},
                },
            },
        },
        "limits": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "additionalProperties": {"type": "object", "properties": {"max": {"type": "integer"}}},
        },
    },
}


def schema(spec: Json | None = None, **more: Any) -> Schema:
    return Schema({"type": "object", "properties": {"spec": spec or SPEC}, **more})


def website(**spec: Any) -> Json:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Website",
        "metadata": {"name": "shop"},
        "spec": spec,
    }


def messages(causes: list[Cause]) -> list[tuple[str, str]]:
    return [(each.field, each.message) for each in causes]
