"""Writes the OpenAPI document of the built-in kinds as data, for the embedded server.

Guarantees: no descriptions; the same document gives the same bytes before compression.
See also: `kubeloop.testing.server.describe.openapi_data` (reads it).
"""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["NAME", "compressed", "openapi_data"]

NAME = "openapi.json.gz"


@functools.cache
def _v3_facts() -> Mapping[str, Any]:
    """What version 3 says about fields and version 2 does not.

    `defaults` has the default of a field, and of its items (`field[]`); `undescribed` the
    references without a description. Taken from /openapi/v3 of kube-apiserver 1.37.1 with
    --runtime-config=api/all=true.
    """
    path = Path(__file__).with_name("openapi_v3_facts.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def openapi_data(document: Mapping[str, Any], *, source: str) -> bytes:
    """The content of the file, before compression."""
    sections = ("definitions", "parameters", "paths")
    data = {
        "source": source,
        **{name: _without_texts(document.get(name, {})) for name in sections},
        **_v3_facts(),
    }
    return json.dumps(data, separators=(",", ":"), sort_keys=True).encode()


def compressed(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=9, mtime=0)


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
