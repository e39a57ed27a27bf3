"""The admission plugin PersistentVolumeClaimResize: which claims may grow."""

from __future__ import annotations

from typing import Final

from ...kinds.rules.value_rules import parse_quantity
from ...request.calls import Call
from ...storage.store import Object
from ...values.json_values import value_at
from ..plugin import CLAIMS, Cluster, Plugin, rejection
from .default_storage_class import CLASS_ANNOTATION, STORAGE_CLASSES

__all__ = ["PERSISTENT_VOLUME_CLAIM_RESIZE"]


def _validate(cluster: Cluster, call: Call, claim: Object, old: Object | None) -> list[str]:
    if old is None or call.part or not _grows(claim, old):
        return []
    if value_at(old, "status", "phase") != "Bound":
        raise rejection(call, claim, "a claim can grow only while it is bound")
    name = _class_of(claim)
    storage_class = cluster.find(*STORAGE_CLASSES, name) if name == _class_of(old) else None
    if not name or storage_class is None or not storage_class.get("allowVolumeExpansion"):
        raise rejection(
            call,
            claim,
            "only dynamically provisioned pvc can be resized and the storageclass that "
            "provisions the pvc must support resize",
        )
    return []


def _class_of(claim: Object) -> str:
    annotations = claim["metadata"].get("annotations") or {}
    return annotations.get(CLASS_ANNOTATION) or value_at(claim, "spec", "storageClassName") or ""


def _grows(claim: Object, old: Object) -> bool:
    path = ("spec", "resources", "requests", "storage")
    new, before = (parse_quantity(value_at(each, *path) or "0") for each in (claim, old))
    return new is not None and before is not None and before < new


PERSISTENT_VOLUME_CLAIM_RESIZE: Final = Plugin(
    "PersistentVolumeClaimResize", validate={CLAIMS: _validate}
)
