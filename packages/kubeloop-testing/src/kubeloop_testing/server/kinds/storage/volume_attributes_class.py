"""VolumeAttributesClass (storage.k8s.io): validation and columns."""

from __future__ import annotations

from typing import Final

from kubeloop.meta import problems_of_label_key

from ...values import causes
from ...values.json_values import json_equal
from ..kind import Causes, Json, Kind
from ..rules.cells import field_cells
from ..rules.field_rules import check_required
from ..rules.value_rules import check_name
from .storage_class import check_parameters

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateVolumeAttributesClass`.
    if old is not None:
        for field in ("driverName", "parameters"):
            if not json_equal(obj.get(field), old.get(field)):
                yield causes.forbidden(field, f"updates to {field} are forbidden.")
    driver = obj.get("driverName") or ""
    yield from check_required("driverName", driver)
    if driver:
        yield from check_name("driverName", driver.lower(), problems_of_label_key)
    yield from check_parameters(obj.get("parameters"))
    if not obj.get("parameters"):
        yield causes.required("parameters", "must contain at least one key/value pair")


KIND: Final = Kind(
    "storage.k8s.io",
    "VolumeAttributesClass",
    returns_deleted=True,
    validate=_validate,
    columns="Name, DriverName, Age",
    cells=field_cells("driverName"),
)
