"""The rows of volumes, claims, and what provides them.

Elsewhere: the columns' names (`table_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from .human import at, items_at, or_else

__all__ = [
    "capacity_cells",
    "claim_cells",
    "csi_driver_cells",
    "csi_node_cells",
    "storage_class_cells",
    "volume_attachment_cells",
    "volume_cells",
]

Obj: TypeAlias = Mapping[str, Any]
Since: TypeAlias = Callable[[object], str]

_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"


def _name(obj: Obj) -> Any:
    return at(obj, "metadata", "name")


def _age(obj: Obj, since: Since) -> str:
    return since(at(obj, "metadata", "creationTimestamp"))


def _phase(obj: Obj) -> str:
    deleted = at(obj, "metadata", "deletionTimestamp")
    return "Terminating" if deleted else str(at(obj, "status", "phase") or "")


def _modes(modes: list[Any]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _class_of(obj: Obj) -> str:
    old = at(obj, "metadata", "annotations", _CLASS)
    return str(old if old is not None else at(obj, "spec", "storageClassName") or "")


def volume_cells(obj: Obj, since: Since) -> list[Any]:
    claim = at(obj, "spec", "claimRef")
    return [
        _name(obj),
        str(at(obj, "spec", "capacity", "storage") or "0"),
        _modes(items_at(obj, "spec", "accessModes")),
        at(obj, "spec", "persistentVolumeReclaimPolicy") or "",
        _phase(obj),
        f"{at(claim, 'namespace') or ''}/{at(claim, 'name') or ''}" if claim else "",
        _class_of(obj),
        or_else(at(obj, "spec", "volumeAttributesClassName"), "<unset>"),
        at(obj, "status", "reason") or "",
        _age(obj, since),
        or_else(at(obj, "spec", "volumeMode"), "<unset>"),
    ]


def claim_cells(obj: Obj, since: Since) -> list[Any]:
    volume = at(obj, "spec", "volumeName") or ""
    return [
        _name(obj),
        _phase(obj),
        volume,
        str(at(obj, "status", "capacity", "storage") or "0") if volume else "",
        _modes(items_at(obj, "status", "accessModes")) if volume else "",
        _class_of(obj),
        or_else(at(obj, "spec", "volumeAttributesClassName"), "<unset>"),
        _age(obj, since),
        or_else(at(obj, "spec", "volumeMode"), "<unset>"),
    ]


def storage_class_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        _name(obj),
        at(obj, "provisioner") or "",
        at(obj, "reclaimPolicy") or "Delete",
        at(obj, "volumeBindingMode") or "Immediate",
        bool(at(obj, "allowVolumeExpansion")),
        _age(obj, since),
    ]


def volume_attachment_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        _name(obj),
        at(obj, "spec", "attacher") or "",
        at(obj, "spec", "source", "persistentVolumeName") or "",
        at(obj, "spec", "nodeName") or "",
        bool(at(obj, "status", "attached")),
        _age(obj, since),
    ]


def csi_node_cells(obj: Obj, since: Since) -> list[Any]:
    return [_name(obj), len(items_at(obj, "spec", "drivers")), _age(obj, since)]


def csi_driver_cells(obj: Obj, since: Since) -> list[Any]:
    attach, requests = at(obj, "spec", "attachRequired"), at(obj, "spec", "tokenRequests")
    audiences = ",".join(str(at(each, "audience") or "") for each in requests or ())
    return [
        _name(obj),
        True if attach is None else bool(attach),
        bool(at(obj, "spec", "podInfoOnMount")),
        bool(at(obj, "spec", "storageCapacity")),
        "<unset>" if requests is None else audiences,
        bool(at(obj, "spec", "requiresRepublish")),
        ",".join(map(str, items_at(obj, "spec", "volumeLifecycleModes"))) or "<none>",
        _age(obj, since),
    ]


def capacity_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    capacity = or_else(at(obj, "capacity"), "<unset>")
    return [_name(obj), at(obj, "storageClassName") or "", capacity]
