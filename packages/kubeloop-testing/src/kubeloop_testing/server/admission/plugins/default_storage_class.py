"""The admission plugin DefaultStorageClass: the class of claims that name none."""

from __future__ import annotations

from typing import Final

from ...request.calls import Call
from ...storage.store import Object
from ..plugin import CLAIMS, Cluster, Plugin, default_class

__all__ = ["CLASS_ANNOTATION", "DEFAULT_STORAGE_CLASS", "STORAGE_CLASSES"]

STORAGE_CLASSES: Final = ("storage.k8s.io", "storageclasses")
CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"  # before the field existed
_DEFAULT: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _mutate(cluster: Cluster, _: Call, claim: Object) -> Object:
    spec, annotations = claim.get("spec") or {}, claim["metadata"].get("annotations") or {}
    if spec.get("storageClassName") is not None or CLASS_ANNOTATION in annotations:
        return claim
    name = default_class(cluster, STORAGE_CLASSES, _DEFAULT)
    return {**claim, "spec": {**spec, "storageClassName": name}} if name else claim


DEFAULT_STORAGE_CLASS: Final = Plugin("DefaultStorageClass", mutate={CLAIMS: _mutate})
