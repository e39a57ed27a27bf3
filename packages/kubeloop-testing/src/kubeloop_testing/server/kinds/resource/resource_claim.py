"""ResourceClaim (resource.k8s.io): conversion, defaults, validation and columns."""

from __future__ import annotations

import ipaddress
from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import json_equal, map_field, value_at
from ..kind import METADATA, Causes, Json, Kind, Since
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.defaults import in_spec
from ..rules.field_rules import (
    check_conditions,
    check_driver_name,
    check_fixed,
    check_known,
    check_required,
    check_unique,
)
from ..rules.value_rules import enumerate_objects
from .claims import (
    RequestNames,
    check_devices,
    check_reference,
    check_references,
    convert_claim_spec,
    default_devices,
    request_names,
)
from .device_rules import check_configuration, check_device_name, check_pool_name

__all__ = ["KIND"]


def _convert_claim(obj: JsonObject, source: str, target: str) -> JsonObject:
    return map_field(obj, "spec", lambda spec: convert_claim_spec(spec, source, target))


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateResourceClaim`; afterwards the spec cannot change.
    spec = obj.get("spec") or {}
    if old is not None:
        yield from check_fixed("spec", spec, old.get("spec") or {})
    else:
        yield from check_devices("spec.devices", spec.get("devices") or {})


def _claim_status(obj: Json, old: Json | None) -> Causes:
    # `validateResourceClaimStatusUpdate`.
    status, before = obj.get("status") or {}, (old or {}).get("status") or {}
    reserved, allocation = status.get("reservedFor") or [], status.get("allocation")
    for index, each in enumerate_objects(reserved):
        for field in ("resource", "name", "uid"):
            yield from check_required(f"status.reservedFor[{index}].{field}", each.get(field))
    yield from _unique_consumers(reserved)
    yield from _device_statuses(status, allocation or {})
    yield from _reservations(obj, reserved, before)
    if allocation is None:
        return
    if before.get("allocation") is not None:
        yield from check_fixed("status.allocation", allocation, before["allocation"])
    else:
        names = request_names((obj.get("spec") or {}).get("devices") or {})
        yield from _allocation("status.allocation.devices", allocation.get("devices") or {}, names)


def _reservations(obj: Json, reserved: list[Any], before: Json) -> Causes:
    if not reserved:
        return
    if (obj.get("status") or {}).get("allocation") is None:
        rule = "may not be specified when `allocated` is not set"
        yield causes.forbidden("status.reservedFor", rule)
    elif (obj.get("metadata") or {}).get("deletionTimestamp"):
        known = before.get("reservedFor") or []
        if any(each not in known for each in reserved):
            rule = "no entries may be added while the claim is being deleted"
            yield causes.forbidden("status.reservedFor", rule)


def _unique_consumers(reserved: list[Any]) -> Causes:
    seen: set[Any] = set()
    for index, each in enumerate_objects(reserved):
        if each.get("uid") in seen:
            yield causes.duplicate(f"status.reservedFor[{index}]", dict(each))
        seen.add(each.get("uid"))


def _device(each: Json) -> tuple[Any, ...]:
    return tuple(each.get(field) or "" for field in ("driver", "pool", "device", "shareID"))


def _device_statuses(status: Json, allocation: Json) -> Causes:
    # `validateDeviceStatus`.
    results = (allocation.get("devices") or {}).get("results")
    allocated = {_device(each) for _, each in enumerate_objects(results)}
    seen: list[Any] = []
    for index, each in enumerate_objects(status.get("devices")):
        path, device = f"status.devices[{index}]", _device(each)
        yield from check_driver_name(f"{path}.driver", device[0])
        yield from check_pool_name(f"{path}.pool", device[1])
        yield from check_device_name(f"{path}.device", device[2])
        if device not in allocated:
            yield causes.invalid(path, dict(each), "must be an allocated device in the claim")
        if device in seen:
            yield causes.duplicate(path, dict(each))
        seen.append(device)
        yield from check_conditions(f"{path}.conditions", each.get("conditions"))
        yield from _network_data(f"{path}.networkData", each.get("networkData") or {})


def _network_data(path: str, data: Json) -> Causes:
    for field, limit in (("interfaceName", 256), ("hardwareAddress", 128)):
        if len(data.get(field) or "") > limit:
            yield causes.too_long(f"{path}.{field}", limit)
    addresses = data.get("ips") or []
    for index, address in enumerate(addresses):
        try:
            is_valid = "/" in address and bool(ipaddress.ip_interface(address))
        except ValueError:
            is_valid = False
        if not is_valid:
            rule = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
            yield causes.invalid(f"{path}.ips[{index}]", address, rule)
    yield from check_unique(f"{path}.ips", addresses)


def _allocation(path: str, devices: Json, names: RequestNames) -> Causes:
    # `validateDeviceAllocationResult`.
    for index, each in enumerate_objects(devices.get("results")):
        where = f"{path}.results[{index}]"
        yield from check_reference(f"{where}.request", each.get("request") or "", names)
        yield from check_device_name(f"{where}.device", each.get("device") or "")
        yield from check_driver_name(f"{where}.driver", each.get("driver") or "")
        yield from check_pool_name(f"{where}.pool", each.get("pool") or "")
    for index, each in enumerate_objects(devices.get("config")):
        where, source = f"{path}.config[{index}]", each.get("source") or ""
        yield from check_references(f"{where}.requests", each.get("requests"), names)
        yield from check_configuration(where, each)
        yield from check_required(f"{where}.source", source)
        yield from check_known(f"{where}.source", source or None, ("FromClaim", "FromClass"))


def _validate_status(obj: Json, old: Json | None) -> Causes:
    if old is None or not json_equal(obj.get("status"), old.get("status")):
        yield from _claim_status(obj, old)


def _cells(obj: Json, since: Since) -> list[Any]:
    # `resourceClaimState`.
    deleted = value_at(obj, "metadata", "deletionTimestamp")
    states = ["deleted"] if deleted else []
    if value_at(obj, "status", "allocation") is not None:
        states += ["allocated"]
        states += ["reserved"] if items_at(obj, "status", "reservedFor") else []
    elif not deleted:
        states += ["pending"]
    return [name_of(obj), ",".join(states), age_of(obj, since)]


KIND: Final = Kind(
    "resource.k8s.io",
    "ResourceClaim",
    schemas_differ=True,
    returns_deleted=True,
    kept_by_status=METADATA,
    convert=_convert_claim,
    defaults=(in_spec(default_devices),),
    validate=_validate,
    validate_parts={"status": _validate_status},
    columns="Name, State, Age",
    cells=_cells,
)
