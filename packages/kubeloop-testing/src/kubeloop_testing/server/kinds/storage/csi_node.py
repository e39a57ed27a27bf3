"""CSINode (storage.k8s.io): validation and columns."""

from __future__ import annotations

from typing import Any, Final

from ...values import causes
from ...values.json_values import without
from ..kind import METADATA, Causes, Json, Kind, Since
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.field_rules import check_driver_name, check_qualified_name, check_required
from ..rules.value_rules import check_minimum, check_unchanged, enumerate_objects

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateCSINode` and `ValidateCSINodeUpdate`.
    drivers = (obj.get("spec") or {}).get("drivers")
    names: set[str] = set()
    for index, each in enumerate_objects(drivers):
        yield from _driver_of_node(f"spec.drivers[{index}]", each, names)
    if old is None:
        return
    before = {
        each.get("name"): without(dict(each), "allocatable")
        for _, each in enumerate_objects((old.get("spec") or {}).get("drivers"))
    }
    for _, each in enumerate_objects(drivers):
        if each.get("name") in before:
            own = without(dict(each), "allocatable")
            yield from check_unchanged("spec.drivers", own, before[each.get("name")])


def _driver_of_node(path: str, driver: Json, names: set[str]) -> Causes:
    name, identity = driver.get("name") or "", driver.get("nodeID") or ""
    yield from check_driver_name(f"{path}.name", name)
    yield from check_required(f"{path}.nodeID", identity)
    if len(identity) > 256:
        yield causes.invalid(f"{path}.nodeID", identity, "must be 256 characters or less")
    count = (driver.get("allocatable") or {}).get("count")
    yield from check_minimum(f"{path}.allocatable.count", count)
    if name in names:
        yield causes.duplicate(f"{path}.name", name)
    names.add(name)
    keys: set[str] = set()
    for key in driver.get("topologyKeys") or ():
        yield from check_required(path, key)
        if key in keys:
            yield causes.duplicate(path, key)
        keys.add(key)
        yield from check_qualified_name(path, key)


def _cells(obj: Json, since: Since) -> list[Any]:
    return [name_of(obj), len(items_at(obj, "spec", "drivers")), age_of(obj, since)]


KIND: Final = Kind(
    "storage.k8s.io",
    "CSINode",
    requires_version=True,
    returns_deleted=True,
    kept_by_status=METADATA,
    validate=_validate,
    columns="Name, Drivers:integer, Age",
    cells=_cells,
)
