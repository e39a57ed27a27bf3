"""Validation of resource claims and their templates (dynamic resource allocation).

Guarantees: the checks of kube-apiserver's `pkg/apis/resource/validation`, with its paths and
reasons, except that CEL expressions are not compiled.
See also: slices, classes and taint rules (`slice_validation`), shared checks (`device_rules`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain

from ..values import causes
from ..values.json_values import json_equal
from .device_rules import (
    check_attribute_name,
    check_configuration,
    check_device_name,
    check_pool_name,
    check_selectors,
    check_size,
    check_toleration,
)
from .field_rules import (
    Check,
    Raw,
    check_conditions,
    check_driver_name,
    check_fixed,
    check_known,
    check_required,
    check_unique,
)
from .value_rules import Causes, check_labels, check_name, check_unchanged, enumerate_objects

__all__ = ["CLAIMS", "CLAIM_STATUSES"]

_GROUP: Final = "resource.k8s.io"
_MOST: Final = 32  # requests, constraints, configurations, results
_Names: TypeAlias = Mapping[str, frozenset[str]]  # subrequests by request


def _claim(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateResourceClaim`; afterwards the spec cannot change.
    spec = obj.get("spec") or {}
    if old is not None:
        yield from check_fixed("spec", spec, old.get("spec") or {})
    else:
        yield from _devices("spec.devices", spec.get("devices") or {})


def _template(obj: Raw, old: Raw | None) -> Causes:
    spec = obj.get("spec") or {}
    if old is not None:
        yield from check_unchanged("spec", spec, old.get("spec") or {})
        return
    labels = (spec.get("metadata") or {}).get("labels")
    yield from check_labels("spec.metadata.labels", labels)
    yield from _devices("spec.spec.devices", (spec.get("spec") or {}).get("devices") or {})


def _devices(path: str, devices: Raw) -> Causes:
    # `validateDeviceClaim`.
    requests, names = devices.get("requests") or [], _names(devices)
    yield from check_size(f"{path}.requests", requests, _MOST)
    for index, each in enumerate_objects(requests):
        yield from _request(f"{path}.requests[{index}]", each)
    yield from _unique_names(f"{path}.requests", requests)
    yield from check_size(f"{path}.constraints", devices.get("constraints"), _MOST)
    for index, each in enumerate_objects(devices.get("constraints")):
        yield from _constraint(f"{path}.constraints[{index}]", each, names)
    yield from check_size(f"{path}.config", devices.get("config"), _MOST)
    for index, each in enumerate_objects(devices.get("config")):
        yield from _references(f"{path}.config[{index}].requests", each.get("requests"), names)
        yield from check_configuration(f"{path}.config[{index}]", each)


def _names(devices: Raw) -> _Names:
    return {
        each.get("name") or "": frozenset(
            sub.get("name") or "" for _, sub in enumerate_objects(each.get("firstAvailable"))
        )
        for _, each in enumerate_objects(devices.get("requests"))
    }


def _unique_names(path: str, items: Any) -> Causes:
    seen: set[str] = set()
    for index, each in enumerate_objects(items):
        name = each.get("name") or ""
        if name in seen:
            yield causes.duplicate(f"{path}[{index}]", dict(each))
        seen.add(name)


def _request(path: str, request: Raw) -> Causes:
    # `validateDeviceRequest`.
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable")
    yield from check_name(f"{path}.name", request.get("name") or "", problems_of_dns_label)
    rule = "exactly one of `exactly` or `firstAvailable` is required"
    if exactly is None and not alternatives:
        yield causes.required(path, rule)
    elif exactly is not None and alternatives:
        yield causes.invalid(path, None, f"{rule}, but multiple fields are set")
    elif exactly is not None:
        yield from _wanted(f"{path}.exactly", exactly)
    else:
        where = f"{path}.firstAvailable"
        yield from check_size(where, alternatives, 8)
        for index, each in enumerate_objects(alternatives):
            name = each.get("name") or ""
            yield from check_name(f"{where}[{index}].name", name, problems_of_dns_label)
            yield from _wanted(f"{where}[{index}]", each)
        yield from _unique_names(where, alternatives)


def _wanted(path: str, wanted: Raw) -> Causes:
    # `validateExactDeviceRequest` and `validateDeviceSubRequest`.
    name, where = wanted.get("deviceClassName") or "", f"{path}.deviceClassName"
    yield from check_required(where, name)
    if name:
        yield from check_name(where, name, problems_of_dns_subdomain)
    yield from check_selectors(f"{path}.selectors", wanted.get("selectors"))
    mode, count = wanted.get("allocationMode") or "", wanted.get("count") or 0
    if mode == "All" and count:
        yield causes.invalid(
            f"{path}.count", count, "must not be specified when allocationMode is 'All'"
        )
    elif mode == "ExactCount" and count <= 0:
        yield causes.invalid(f"{path}.count", count, "must be greater than zero")
    yield from check_known(f"{path}.allocationMode", mode, ("All", "ExactCount"))
    for index, each in enumerate_objects(wanted.get("tolerations")):
        yield from check_toleration(f"{path}.tolerations[{index}]", each)


def _constraint(path: str, constraint: Raw, names: _Names) -> Causes:
    # `validateDeviceConstraint`.
    yield from _references(f"{path}.requests", constraint.get("requests"), names)
    for field in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.get(field)
        if attribute is not None:
            yield from check_attribute_name(f"{path}.{field}", attribute, is_full=True)
            return
    yield causes.required(path, "one of matchAttribute and distinctAttribute is required")


def _references(path: str, references: Any, names: _Names) -> Causes:
    found = references or []
    yield from check_size(path, found, _MOST)
    for index, name in enumerate(found):
        yield from _reference(f"{path}[{index}]", name, names)
    yield from check_unique(path, found)


def _reference(path: str, name: str, names: _Names) -> Causes:
    # `validateRequestNameRef`.
    rule = (
        "must be the name of a request in the claim or the name of a request and a subrequest "
        "separated by '/'"
    )
    parts = name.split("/")
    if len(parts) > 2:
        yield causes.invalid(path, name, rule)
        return
    for part in parts:
        yield from check_name(path, part, problems_of_dns_label)
    if parts[0] not in names or (len(parts) == 2 and parts[1] not in names[parts[0]]):
        yield causes.invalid(path, name, rule)


# --- status


def _claim_status(obj: Raw, old: Raw | None) -> Causes:
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
        names = _names((obj.get("spec") or {}).get("devices") or {})
        yield from _allocation("status.allocation.devices", allocation.get("devices") or {}, names)


def _reservations(obj: Raw, reserved: list[Any], before: Raw) -> Causes:
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


def _device(each: Raw) -> tuple[Any, ...]:
    return tuple(each.get(field) or "" for field in ("driver", "pool", "device", "shareID"))


def _device_statuses(status: Raw, allocation: Raw) -> Causes:
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


def _network_data(path: str, data: Raw) -> Causes:
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


def _allocation(path: str, devices: Raw, names: _Names) -> Causes:
    # `validateDeviceAllocationResult`.
    for index, each in enumerate_objects(devices.get("results")):
        where = f"{path}.results[{index}]"
        yield from _reference(f"{where}.request", each.get("request") or "", names)
        yield from check_device_name(f"{where}.device", each.get("device") or "")
        yield from check_driver_name(f"{where}.driver", each.get("driver") or "")
        yield from check_pool_name(f"{where}.pool", each.get("pool") or "")
    for index, each in enumerate_objects(devices.get("config")):
        where, source = f"{path}.config[{index}]", each.get("source") or ""
        yield from _references(f"{where}.requests", each.get("requests"), names)
        yield from check_configuration(where, each)
        yield from check_required(f"{where}.source", source)
        yield from check_known(f"{where}.source", source or None, ("FromClaim", "FromClass"))


def _unchanged_status(obj: Raw, old: Raw | None) -> Causes:
    if old is None or not json_equal(obj.get("status"), old.get("status")):
        yield from _claim_status(obj, old)


CLAIMS: Final[dict[tuple[str, str], Check]] = {
    (_GROUP, "ResourceClaim"): _claim,
    (_GROUP, "ResourceClaimTemplate"): _template,
}
CLAIM_STATUSES: Final[dict[tuple[str, str, str], Check]] = {
    (_GROUP, "ResourceClaim", "status"): _unchanged_status,
}
