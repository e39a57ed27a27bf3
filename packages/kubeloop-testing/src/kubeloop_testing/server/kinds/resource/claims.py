"""What resource claims and their templates have in common: requests for devices.

Guarantees: the checks of kube-apiserver's `pkg/apis/resource/validation`, with its paths and
reasons.
See also: devices, names and taints (`device_rules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, map_items, value_at, with_defaults, without
from ..kind import Causes, Json
from ..rules.field_rules import check_known, check_required, check_unique
from ..rules.value_rules import check_name, enumerate_objects
from .device_rules import (
    check_attribute_name,
    check_configuration,
    check_selectors,
    check_size,
    check_toleration,
)

__all__ = [
    "RequestNames",
    "check_devices",
    "check_reference",
    "check_references",
    "convert_claim_spec",
    "default_devices",
    "is_flattened",
    "request_names",
]


def default_devices(spec: JsonObject) -> JsonObject:
    return map_field(
        spec, "devices", lambda devices: map_items(devices, "requests", _device_request)
    )


def _device_request(request: JsonObject) -> JsonObject:
    return map_items(map_field(request, "exactly", _device_count), "firstAvailable", _device_count)


def _device_count(wanted: JsonObject) -> JsonObject:
    # `SetDefaults_ExactDeviceRequest` and `SetDefaults_DeviceSubRequest`.
    wanted = with_defaults(wanted, {"allocationMode": "ExactCount"})
    if wanted["allocationMode"] == "ExactCount" and not wanted.get("count"):
        wanted = {**wanted, "count": 1}
    return map_items(
        wanted, "tolerations", lambda value: with_defaults(value, {"operator": "Equal"})
    )


_REQUEST_FIELDS: Final = frozenset(
    {
        "adminAccess",
        "allocationMode",
        "capacity",
        "count",
        "deviceClassName",
        "selectors",
        "tolerations",
    }
)


def is_flattened(source: str, target: str) -> bool | None:
    """Whether devices are converted to v1beta1, or from it; None if the versions are alike."""
    was_flat, is_flat = source.endswith("/v1beta1"), target.endswith("/v1beta1")
    return None if was_flat == is_flat else is_flat


def convert_claim_spec(spec: JsonObject, source: str, target: str) -> JsonObject:
    # Requests became nested (`exactly`) after v1beta1.
    becomes_flat = is_flattened(source, target)
    if becomes_flat is None:
        return spec
    change = _flat_request if becomes_flat else _deep_request
    return map_field(spec, "devices", lambda devices: map_items(devices, "requests", change))


def _deep_request(request: JsonObject) -> JsonObject:
    exactly = {key: value for key, value in request.items() if key in _REQUEST_FIELDS}
    return {**without(request, *_REQUEST_FIELDS), "exactly": exactly} if exactly else request


def _flat_request(request: JsonObject) -> JsonObject:
    exactly = value_at(request, "exactly")
    return {**without(request, "exactly"), **exactly} if exactly else request


_MOST: Final = 32  # requests, constraints, configurations, results
RequestNames: TypeAlias = Mapping[str, frozenset[str]]  # subrequests by request


def check_devices(path: str, devices: Json) -> Causes:
    # `validateDeviceClaim`.
    requests, names = devices.get("requests") or [], request_names(devices)
    yield from check_size(f"{path}.requests", requests, _MOST)
    for index, each in enumerate_objects(requests):
        yield from _request(f"{path}.requests[{index}]", each)
    yield from _unique_names(f"{path}.requests", requests)
    yield from check_size(f"{path}.constraints", devices.get("constraints"), _MOST)
    for index, each in enumerate_objects(devices.get("constraints")):
        yield from _constraint(f"{path}.constraints[{index}]", each, names)
    yield from check_size(f"{path}.config", devices.get("config"), _MOST)
    for index, each in enumerate_objects(devices.get("config")):
        yield from check_references(f"{path}.config[{index}].requests", each.get("requests"), names)
        yield from check_configuration(f"{path}.config[{index}]", each)


def request_names(devices: Json) -> RequestNames:
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


def _request(path: str, request: Json) -> Causes:
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


def _wanted(path: str, wanted: Json) -> Causes:
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


def _constraint(path: str, constraint: Json, names: RequestNames) -> Causes:
    # `validateDeviceConstraint`.
    yield from check_references(f"{path}.requests", constraint.get("requests"), names)
    for field in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.get(field)
        if attribute is not None:
            yield from check_attribute_name(f"{path}.{field}", attribute, is_full=True)
            return
    yield causes.required(path, "one of matchAttribute and distinctAttribute is required")


def check_references(path: str, references: Any, names: RequestNames) -> Causes:
    found = references or []
    yield from check_size(path, found, _MOST)
    for index, name in enumerate(found):
        yield from check_reference(f"{path}[{index}]", name, names)
    yield from check_unique(path, found)


def check_reference(path: str, name: str, names: RequestNames) -> Causes:
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
