"""Converts objects of built-in kinds between their versions.

Guarantees: pure; autoscalers, events and resource claims are converted field by field, and a
round trip is lossless; versions of other kinds differ only in `apiVersion`.
See also: which version is stored (`registry`).
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ..values.json_values import map_field, map_items, value_at, without
from .autoscaling import to_v1, to_v2

__all__ = ["convert"]


def convert(obj: dict[str, Any], group: str, kind: str, to_version: str) -> dict[str, Any]:
    """Convert `obj` to `to_version`; returns the same object if it has that version already.

    `group` is the one to convert to: events are served in two groups.
    """
    target = f"{group}/{to_version}" if group else to_version
    source = obj.get("apiVersion")
    if source == target:
        return obj
    match kind, source, target:
        case "HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2":
            obj = to_v2(obj)
        case "HorizontalPodAutoscaler", "autoscaling/v2", "autoscaling/v1":
            obj = to_v1(obj)
        case "Event", "v1", _:
            obj = _rename_fields(obj, _EVENT_NAMES)
        case "Event", _, "v1":
            obj = _rename_fields(obj, {new: old for old, new in _EVENT_NAMES.items()})
        case _, str(), _ if group == "resource.k8s.io":
            obj = _convert_devices(obj, kind, source, to_version)
    return {**obj, "apiVersion": target}


# --- events: the field names of core/v1 and of events.k8s.io/v1

_EVENT_NAMES: Final = {
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "source": "deprecatedSource",
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
}


def _rename_fields(obj: JsonObject, names: dict[str, str]) -> JsonObject:
    return {names.get(key, key): value for key, value in obj.items()}


# --- device claims: later versions nest fields that are flat in v1beta1

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


def _convert_devices(obj: JsonObject, kind: str, source: str, to_version: str) -> JsonObject:
    flat_before, flat_after = source.endswith("/v1beta1"), to_version == "v1beta1"
    if flat_before == flat_after:
        return obj
    # Requests became nested (`exactly`) after v1beta1, while devices became flat.
    request = _flat_request if flat_after else _deep_request
    device = _deep_device if flat_after else _flat_device
    match kind:
        case "ResourceClaim":
            return map_field(obj, "spec", lambda spec: _requests(spec, request))
        case "ResourceClaimTemplate":
            return map_field(
                obj,
                "spec",
                lambda spec: map_field(spec, "spec", lambda below: _requests(below, request)),
            )
        case "ResourceSlice":
            return map_field(obj, "spec", lambda spec: map_items(spec, "devices", device))
    return obj


def _requests(spec: JsonObject, change: Any) -> JsonObject:
    return map_field(spec, "devices", lambda devices: map_items(devices, "requests", change))


def _deep_request(request: JsonObject) -> JsonObject:
    exactly = {key: value for key, value in request.items() if key in _REQUEST_FIELDS}
    return {**without(request, *_REQUEST_FIELDS), "exactly": exactly} if exactly else request


def _flat_request(request: JsonObject) -> JsonObject:
    exactly = value_at(request, "exactly")
    return {**without(request, "exactly"), **exactly} if exactly else request


def _flat_device(device: JsonObject) -> JsonObject:
    basic = value_at(device, "basic")
    return {**without(device, "basic"), **basic} if basic is not None else device


def _deep_device(device: JsonObject) -> JsonObject:
    basic = without(device, "name")
    return {"name": device.get("name", ""), "basic": basic} if "basic" not in device else device
