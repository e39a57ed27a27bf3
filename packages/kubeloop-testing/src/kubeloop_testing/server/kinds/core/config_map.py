"""ConfigMap: validation and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...values import causes
from ...values.json_values import json_equal, value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, name_of
from ..rules.value_rules import check_config_key

__all__ = ["DATA_LIMIT", "KIND", "check_immutable", "check_keys", "decoded_size"]

DATA_LIMIT: Final = 1024 * 1024
_IMMUTABLE: Final = "field is immutable when `immutable` is set"


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateConfigMap` and `ValidateConfigMapUpdate`.
    if old is not None:
        yield from check_immutable(obj, old, "data", "binaryData")
    text, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    yield from check_keys("data", text)
    for key in text.keys() & binary.keys():
        yield causes.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    yield from check_keys("binaryData", binary)
    size = sum(len(value.encode()) for value in text.values()) + decoded_size(binary)
    if size > DATA_LIMIT:
        yield causes.too_long("[]", DATA_LIMIT)  # how Go prints an empty field path


def check_immutable(obj: Json, old: Json, *fields: str) -> Causes:
    """An object with `immutable: true` cannot change, nor become mutable."""
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        yield causes.forbidden("immutable", _IMMUTABLE)
    for field in fields:
        if not json_equal(obj.get(field) or {}, old.get(field) or {}):
            yield causes.forbidden(field, _IMMUTABLE)


def check_keys(path: str, data: Mapping[str, Any]) -> Causes:
    for key in data:
        yield from check_config_key(f"{path}[{key}]", key)


def decoded_size(data: Mapping[str, str]) -> int:
    """The number of bytes that base64 texts decode to."""
    return sum(len(text) * 3 // 4 - text.count("=", -2) for text in data.values())


def _cells(obj: Json, since: Since) -> list[Any]:
    size = len(value_at(obj, "data") or {}) + len(value_at(obj, "binaryData") or {})
    return [name_of(obj), size, age_of(obj, since)]


KIND: Final = Kind(
    "",
    "ConfigMap",
    validate=_validate,
    columns="Name, Data, Age",
    cells=_cells,
)
