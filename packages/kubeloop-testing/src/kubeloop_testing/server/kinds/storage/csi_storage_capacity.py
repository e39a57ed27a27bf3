"""CSIStorageCapacity (storage.k8s.io): validation and warnings."""

from __future__ import annotations

from typing import Final

from kubeloop.meta import problems_of_dns_subdomain

from ..kind import Causes, Json, Kind, Warnings
from ..rules.pod_warnings import DEPRECATED_LABELS, term_warnings
from ..rules.value_rules import check_name, check_quantity, check_selector, check_unchanged

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateCSIStorageCapacity`.
    name = obj.get("storageClassName") or ""
    yield from check_selector("nodeTopology", obj.get("nodeTopology"))
    yield from check_name("storageClassName", name, problems_of_dns_subdomain)
    if obj.get("capacity") is not None:
        yield from check_quantity("capacity", obj["capacity"])
    if old is not None:
        for field in ("nodeTopology", "storageClassName"):
            yield from check_unchanged(field, obj.get(field), old.get(field))


def _warn(obj: Json, _: Json | None) -> Warnings:
    topology = obj.get("nodeTopology") or {}
    yield from term_warnings(topology, "nodeTopology")
    for key in topology.get("matchLabels") or ():
        if key in DEPRECATED_LABELS:
            yield f"nodeTopology.matchLabels.{key}: {DEPRECATED_LABELS[key]}"


KIND: Final = Kind(
    "storage.k8s.io",
    "CSIStorageCapacity",
    requires_version=True,
    validate=_validate,
    warn=_warn,
)
