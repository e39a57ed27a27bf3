"""The cells of storage kinds: volumes, claims, classes, CSI drivers.

See also: the names of the columns (`table_kinds`).
"""

from __future__ import annotations

from typing import Any, Final

from ..values.json_values import value_at
from .cell_text import Obj, Since, age_of, items_at, name_of, or_else

__all__ = [
    "claim_cells",
    "csi_driver_cells",
    "csi_node_cells",
    "storage_class_cells",
    "volume_attachment_cells",
    "volume_cells",
]

_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"  # still takes precedence over the field


def _phase(obj: Obj) -> str:
    # A claim or volume in deletion keeps its phase, but is shown as terminating.
    deleted = value_at(obj, "metadata", "deletionTimestamp")
    return "Terminating" if deleted else str(value_at(obj, "status", "phase") or "")


def _modes(modes: list[Any]) -> str:
    # In the fixed order of `GetAccessModesAsString`.
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _class_of(obj: Obj) -> str:
    old = value_at(obj, "metadata", "annotations", _CLASS)
    return str(old if old is not None else value_at(obj, "spec", "storageClassName") or "")


def volume_cells(obj: Obj, since: Since) -> list[Any]:
    claim = value_at(obj, "spec", "claimRef")
    return [
        name_of(obj),
        str(value_at(obj, "spec", "capacity", "storage") or "0"),
        _modes(items_at(obj, "spec", "accessModes")),
        value_at(obj, "spec", "persistentVolumeReclaimPolicy") or "",
        _phase(obj),
        f"{value_at(claim, 'namespace') or ''}/{value_at(claim, 'name') or ''}" if claim else "",
        _class_of(obj),
        or_else(value_at(obj, "spec", "volumeAttributesClassName"), "<unset>"),
        value_at(obj, "status", "reason") or "",
        age_of(obj, since),
        or_else(value_at(obj, "spec", "volumeMode"), "<unset>"),
    ]


def claim_cells(obj: Obj, since: Since) -> list[Any]:
    volume = value_at(obj, "spec", "volumeName") or ""
    return [
        name_of(obj),
        _phase(obj),
        volume,
        str(value_at(obj, "status", "capacity", "storage") or "0") if volume else "",
        _modes(items_at(obj, "status", "accessModes")) if volume else "",
        _class_of(obj),
        or_else(value_at(obj, "spec", "volumeAttributesClassName"), "<unset>"),
        age_of(obj, since),
        or_else(value_at(obj, "spec", "volumeMode"), "<unset>"),
    ]


def storage_class_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "provisioner") or "",
        value_at(obj, "reclaimPolicy") or "Delete",
        value_at(obj, "volumeBindingMode") or "Immediate",
        bool(value_at(obj, "allowVolumeExpansion")),
        age_of(obj, since),
    ]


def volume_attachment_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "spec", "attacher") or "",
        value_at(obj, "spec", "source", "persistentVolumeName") or "",
        value_at(obj, "spec", "nodeName") or "",
        bool(value_at(obj, "status", "attached")),
        age_of(obj, since),
    ]


def csi_node_cells(obj: Obj, since: Since) -> list[Any]:
    return [name_of(obj), len(items_at(obj, "spec", "drivers")), age_of(obj, since)]


def csi_driver_cells(obj: Obj, since: Since) -> list[Any]:
    attach, requests = (
        value_at(obj, "spec", "attachRequired"),
        value_at(obj, "spec", "tokenRequests"),
    )
    audiences = ",".join(str(value_at(each, "audience") or "") for each in requests or ())
    return [
        name_of(obj),
        True if attach is None else bool(attach),
        bool(value_at(obj, "spec", "podInfoOnMount")),
        bool(value_at(obj, "spec", "storageCapacity")),
        "<unset>" if requests is None else audiences,
        bool(value_at(obj, "spec", "requiresRepublish")),
        ",".join(map(str, items_at(obj, "spec", "volumeLifecycleModes"))) or "<none>",
        age_of(obj, since),
    ]
