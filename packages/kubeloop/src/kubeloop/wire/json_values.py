"""Names for JSON values, so that `Any` marks what is really unknown."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Json", "JsonObject"]

# Python's type system has no useful recursive type for decoded JSON.
Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Json]
