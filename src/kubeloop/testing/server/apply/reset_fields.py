"""The fields that a write cannot change, by kind and subresource.

The facts are those of `PrepareForUpdate` and `GetResetFields` of kube-apiserver's strategies
(`pkg/registry/.../strategy.go`).

Guarantees: pure; objects that are passed in are never modified.
See also: the write itself (`verbs.objects`), the owners of fields (`managed`).
"""

from __future__ import annotations

import functools
from typing import Any, Final, TypeAlias

import msgspec

from ..registry import ServedResource
from ..values.json_values import map_field, without
from .fieldsets import FieldSet

__all__ = ["METADATA", "NO_RESETS", "ResetFields", "metadata_kept_by_status", "reset_fields"]

_Storage: TypeAlias = tuple[str, str]
_Path: TypeAlias = tuple[str, ...]

_CLIENT_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")
# What `ResetObjectMetaForStatus` keeps of the stored object.
METADATA: Final = (*_CLIENT_METADATA, "deletionTimestamp")
_ALL_METADATA: Final = (*METADATA, "deletionGracePeriodSeconds", "generateName")
_SIGNING_REQUESTS: Final = ("certificates.k8s.io", "certificatesigningrequests")

# Kinds whose status strategy keeps some of the stored metadata. All others take it from the
# request, as they did before `ResetObjectMetaForStatus` was introduced.
_KEPT_BY_STATUS: Final[dict[_Storage, tuple[str, ...]]] = {
    ("", "pods"): ("deletionTimestamp", "ownerReferences"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): METADATA,
    ("apiregistration.k8s.io", "apiservices"): _CLIENT_METADATA,
    ("apps", "deployments"): ("labels",),
    ("certificates.k8s.io", "podcertificaterequests"): METADATA,
    ("flowcontrol.apiserver.k8s.io", "flowschemas"): _ALL_METADATA,
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): _ALL_METADATA,
    ("internal.apiserver.k8s.io", "storageversions"): METADATA,
    ("networking.k8s.io", "servicecidrs"): METADATA,
    ("resource.k8s.io", "devicetaintrules"): METADATA,
    ("resource.k8s.io", "resourceclaims"): METADATA,
    ("resource.k8s.io", "resourcepoolstatusrequests"): METADATA,
    ("storage.k8s.io", "csinodes"): METADATA,
    ("storage.k8s.io", "volumeattachments"): METADATA,
    ("storagemigration.k8s.io", "storageversionmigrations"): METADATA,
}


def metadata_kept_by_status(served: ServedResource) -> tuple[str, ...]:
    """The metadata of the stored object that a write to its status keeps."""
    if served.custom is not None:
        return _ALL_METADATA  # statusStrategy of apiextensions keeps all of it
    return _KEPT_BY_STATUS.get(served.storage, ())


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
    has_status = "status" in served.subresources
    if served.custom is not None and part == "status":
        return _CUSTOM_STATUS
    return _reset_fields(served.storage, part if part or has_status else _NO_STATUS)


_CUSTOM_STATUS: Final = ResetFields((("spec",), ("metadata",)))
_NO_STATUS: Final = "no status"  # stands for the object itself of a kind without a status


@functools.lru_cache(1024)
def _reset_fields(storage: _Storage, part: str) -> ResetFields:
    if part in {"ephemeralcontainers", "resize"}:
        # Their strategies have filters, which kube-apiserver does not ask for: a write owns all
        # that it sends, though only one part is stored.
        return NO_RESETS
    if part == "approval":
        return ResetFields((("spec",), ("status", "certificate")))
    if part == "status":
        return ResetFields((("spec",), *_reset_by_status(storage)))
    if storage == _SIGNING_REQUESTS:
        return ResetFields((("spec",), ("status",)))
    return NO_RESETS if part == _NO_STATUS else ResetFields((("status",),))


def _reset_by_status(storage: _Storage) -> tuple[_Path, ...]:
    if storage == _SIGNING_REQUESTS:
        return (("status", "conditions"),)
    kept = _KEPT_BY_STATUS.get(storage, ())
    if set(kept) >= set(_CLIENT_METADATA):
        return (("metadata",),)
    return tuple(("metadata", field) for field in kept)


def _without_path(obj: dict[str, Any], path: _Path) -> dict[str, Any]:
    if len(path) == 1:
        return without(obj, path[0])
    return map_field(obj, path[0], lambda value: without(value, path[1]))
