"""OpenAPI of the built-in kinds, as data: what kube-apiserver publishes, without descriptions.

`_generated/openapi.json.gz` is written by `tools/kubeloop_generate` (`make generate`).

Guarantees: read once, at the first use; callers do not change what they get.
See also: the documents (`openapi`), version 3 (`openapi_v3`).
"""

from __future__ import annotations

import functools
import gzip
from importlib import resources
from typing import Any, TypeAlias, final

import msgspec

__all__ = ["OpenAPIData", "Schema", "built_in_openapi", "document_key"]

Schema: TypeAlias = dict[str, Any]


@final
class OpenAPIData(msgspec.Struct, frozen=True):
    """The sections of the document of version 2, and what version 3 adds to them."""

    definitions: dict[str, Schema]
    parameters: dict[str, Schema]
    paths: dict[str, Schema]
    defaults: dict[str, dict[str, Any]]  # of fields, and of the items of fields (`ports[]`)
    undescribed: dict[str, list[str]]  # references that have no description


@functools.cache
def built_in_openapi() -> OpenAPIData:
    """The whole document."""
    file = resources.files(__package__).joinpath("_generated", "openapi.json.gz")
    return msgspec.json.decode(gzip.decompress(file.read_bytes()), type=OpenAPIData)


def document_key(path: str) -> str:
    """The document of version 3 that has a path: `apis/apps/v1` for all below it."""
    steps = path.strip("/").split("/")
    length = {"api": 2, "apis": 3}.get(steps[0], len(steps))
    return "/".join(steps[:length])
