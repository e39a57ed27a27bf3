"""Writes the OpenAPI document of the built-in kinds as data, for the embedded server.

Guarantees: no descriptions; the same document gives the same bytes before compression.
See also: `kubeloop_testing.server.describe.openapi_data` (reads it).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["NAME", "compressed", "openapi_data"]

NAME = "openapi.json.gz"

Json = Mapping[str, Any]


def openapi_data(document: Json, documents_v3: Iterable[Json], *, source: str) -> bytes:
    """The content of the file, before compression: version 2, and what only version 3 says."""
    sections = ("definitions", "parameters", "paths")
    data = {
        "source": source,
        **{name: _without_texts(document.get(name, {})) for name in sections},
        **_v3_facts(documents_v3),
    }
    return json.dumps(data, separators=(",", ":"), sort_keys=True).encode()


def compressed(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=9, mtime=0)


def _v3_facts(documents: Iterable[Json]) -> dict[str, Any]:
    """What version 3 says about fields and version 2 does not.

    `defaults` has the default of a field, and of its items (`field[]`); `undescribed` the
    references without a description, which stand alone in version 3.
    """
    schemas = {
        name: schema.get("properties", {})
        for document in documents
        for name, schema in document.get("components", {}).get("schemas", {}).items()
    }
    defaults = {name: dict(_defaults(fields)) for name, fields in schemas.items()}
    undescribed = {
        name: sorted(field for field, schema in fields.items() if "$ref" in schema)
        for name, fields in schemas.items()
    }
    return {
        "defaults": {name: row for name, row in defaults.items() if row},
        "undescribed": {name: row for name, row in undescribed.items() if row},
    }


def _defaults(fields: Json) -> Iterator[tuple[str, Any]]:
    for field, schema in fields.items():
        items = schema.get("items") or schema.get("additionalProperties")
        if "default" in schema:
            yield field, schema["default"]
        if isinstance(items, dict) and "default" in items:
            yield f"{field}[]", items["default"]


def _without_texts(value: Any) -> Any:
    """`value` without descriptions; a property may be named `description`."""
    if isinstance(value, list):
        return [_without_texts(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_texts(each)
        for key, each in value.items()
        if key != "description" or isinstance(each, dict)
    }
