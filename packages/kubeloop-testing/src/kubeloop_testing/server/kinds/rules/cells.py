"""Columns and cells of tables that several kinds share.

See also: the text of a cell (`cell_text`), the Table itself (`representations.tables`).
"""

from __future__ import annotations

from typing import Any, Final

from ...values.json_values import value_at
from ..kind import Cells, Json, Since
from .cell_text import age_of, containers_text, items_at, name_of, or_else

__all__ = [
    "CONTAINER_COLUMNS",
    "ITEMS_LIMIT",
    "REPLICA_COLUMNS",
    "TEMPLATE_SPEC",
    "WORKLOAD_COLUMNS",
    "balancer_addresses",
    "count_at",
    "field_cells",
    "modes_text",
    "name_and_age",
    "phase_text",
    "replica_cells",
    "storage_class_of",
]


def name_and_age(obj: Json, since: Since) -> list[Any]:
    return [name_of(obj), age_of(obj, since)]


def field_cells(*paths: str, age: bool = True) -> Cells:
    """Cells that are values of fields: `field_cells("spec.leaseName")`."""
    split = [path.split(".") for path in paths]

    def cells(obj: Json, since: Since) -> list[Any]:
        values = [or_else(value_at(obj, *path), "") for path in split]
        return [name_of(obj), *values, *([age_of(obj, since)] if age else [])]

    return cells


ITEMS_LIMIT: Final = 3  # addresses, ports or hosts in one cell


def balancer_addresses(obj: Json) -> list[str]:
    found = items_at(obj, "status", "loadBalancer", "ingress")
    return sorted({str(value_at(e, "ip") or value_at(e, "hostname") or "") for e in found} - {""})


_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS: Final = "volume.beta.kubernetes.io/storage-class"  # still takes precedence over the field


def phase_text(obj: Json) -> str:
    # A claim or volume in deletion keeps its phase, but is shown as terminating.
    deleted = value_at(obj, "metadata", "deletionTimestamp")
    return "Terminating" if deleted else str(value_at(obj, "status", "phase") or "")


def modes_text(modes: list[Any]) -> str:
    # In the fixed order of `GetAccessModesAsString`.
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def storage_class_of(obj: Json) -> str:
    old = value_at(obj, "metadata", "annotations", _CLASS)
    return str(old if old is not None else value_at(obj, "spec", "storageClassName") or "")


TEMPLATE_SPEC: Final = ("spec", "template", "spec")


def count_at(obj: Json, *path: str) -> int:
    return int(value_at(obj, *path) or 0)


def replica_cells(obj: Json, since: Since) -> list[Any]:
    return [
        name_of(obj),
        count_at(obj, "spec", "replicas"),
        count_at(obj, "status", "replicas"),
        count_at(obj, "status", "readyReplicas"),
        age_of(obj, since),
        *containers_text(value_at(obj, *TEMPLATE_SPEC)),
    ]


# A column is `Name` or `Name:type`; a star marks a column of `-o wide`.
CONTAINER_COLUMNS: Final = "*Containers, *Images"
WORKLOAD_COLUMNS: Final = f"{CONTAINER_COLUMNS}, *Selector"
REPLICA_COLUMNS: Final = (
    f"Name, Desired:integer, Current:integer, Ready:integer, Age, {WORKLOAD_COLUMNS}"
)
