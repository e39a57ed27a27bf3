"""The fields that a write cannot change, by kind and subresource.

The facts of a kind (`kinds.kind`) are those of `PrepareForUpdate` and `GetResetFields` of
kube-apiserver's strategies (`pkg/registry/.../strategy.go`).

Guarantees: pure; objects that are passed in are never modified.
See also: the write itself (`verbs.objects`), the owners of fields (`managed`).
"""

from __future__ import annotations

import functools
from typing import Any, Final, TypeAlias

import msgspec

from ..kinds.kind import CLIENT_METADATA, Kind
from ..registry import ServedResource
from ..values.json_values import map_field, without
from .fieldsets import FieldSet

__all__ = ["NO_RESETS", "ResetFields", "reset_fields"]

_Path: TypeAlias = tuple[str, ...]


class ResetFields(msgspec.Struct, frozen=True):
    """The fields that a write cannot change."""

    paths: tuple[_Path, ...] = ()

    def strip(self, obj: dict[str, Any]) -> dict[str, Any]:
        """`obj` without these fields."""
        for path in self.paths:
            obj = _without_path(obj, path)
        return obj

    def filter(self, fields: FieldSet) -> FieldSet:
        """The fields of a stripped object, without those of objects that are empty now."""
        for path in self.paths:
            top = fields.tree.get(f"f:{path[0]}")
            if len(path) > 1 and top is not None and top.keys() <= {"."}:
                fields = fields.without(FieldSet.of([f"f:{path[0]}"]))
        return fields


NO_RESETS: Final = ResetFields()


def reset_fields(served: ServedResource, part: str) -> ResetFields:
    """The fields that a write to an object, or to one subresource, cannot change."""
    return _reset_fields(served.strategy, part, "status" in served.subresources)


@functools.lru_cache(1024)
def _reset_fields(kind: Kind, part: str, has_status: bool) -> ResetFields:  # noqa: FBT001 # a key
    match part:
        case "ephemeralcontainers" | "resize":
            # Their strategies have filters, which kube-apiserver does not ask for: a write owns
            # all that it sends, though only one part is stored.
            return NO_RESETS
        case "approval":
            return ResetFields((("spec",), ("status", "certificate")))
        case "status":
            return ResetFields((("spec",), *kind.reset_by_status, *_metadata_paths(kind)))
        case "":
            kept = (*kind.kept_by_update, *(("status",) if has_status else ()))
            return ResetFields(tuple((field,) for field in kept))
    return ResetFields((("status",),))


def _metadata_paths(kind: Kind) -> tuple[_Path, ...]:
    kept = kind.kept_by_status
    if set(kept) >= set(CLIENT_METADATA):
        return (("metadata",),)
    return tuple(("metadata", field) for field in kept)


def _without_path(obj: dict[str, Any], path: _Path) -> dict[str, Any]:
    if len(path) == 1:
        return without(obj, path[0])
    return map_field(obj, path[0], lambda value: without(value, path[1]))
