"""DeviceTaintRule (resource.k8s.io): preparation and validation."""

from __future__ import annotations

from typing import Final

from ..kind import METADATA, Causes, Json, Kind
from ..rules.field_rules import check_conditions, check_driver_name
from .device_rules import (
    check_device_name,
    check_pool_name,
    check_size,
    check_taint,
    with_taint_times,
)

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `validateDeviceTaintRuleSpec`.
    spec, before = obj.get("spec") or {}, (old or {}).get("spec") or {}
    selector, path = spec.get("deviceSelector") or {}, "spec.deviceSelector"
    for field, check in (
        ("driver", check_driver_name),
        ("pool", check_pool_name),
        ("device", check_device_name),
    ):
        if selector.get(field) is not None:
            yield from check(f"{path}.{field}", selector[field])
    taint = spec.get("taint") or {}
    yield from check_taint("spec.taint", taint, None if old is None else before.get("taint"))


def _validate_status(obj: Json, _: Json | None) -> Causes:
    conditions = (obj.get("status") or {}).get("conditions")
    yield from check_conditions("status.conditions", conditions)
    yield from check_size("status.conditions", conditions, 8)


KIND: Final = Kind(
    "resource.k8s.io",
    "DeviceTaintRule",
    generation="counted",
    kept_by_status=METADATA,
    prepare_new=with_taint_times,
    validate=_validate,
    validate_parts={"status": _validate_status},
)
