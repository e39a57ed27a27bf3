"""An object of one version as an object of another version of the same kind.

Promises: autoscalers, events and resource claims are converted field by field, there and
back without loss; every other kind differs between its versions in `apiVersion` alone.
Elsewhere: which version is stored (`registry`).
"""

from __future__ import annotations

from typing import Any, Final

from ..values.json_values import Json, map_field, map_items, value_at, without
from .autoscaling import to_first, to_second

__all__ = ["convert"]


def convert(obj: dict[str, Any], group: str, kind: str, to_version: str) -> dict[str, Any]:
    """`obj` as `kind` of `group` in `to_version`; the very object when it is that already.

    `group` is the one to convert to: events stand in two.
    """
    wanted = f"{group}/{to_version}" if group else to_version
    said = obj.get("apiVersion")
    if said == wanted:
        return obj
    match kind, said, wanted:
        case "HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2":
            obj = to_second(obj)
        case "HorizontalPodAutoscaler", "autoscaling/v2", "autoscaling/v1":
            obj = to_first(obj)
        case "Event", "v1", _:
            obj = _renamed(obj, _EVENT_NAMES)
        case "Event", _, "v1":
            obj = _renamed(obj, {new: old for old, new in _EVENT_NAMES.items()})
        case _, str(), _ if group == "resource.k8s.io":
            obj = _device_form(obj, kind, said, to_version)
    return {**obj, "apiVersion": wanted}


# --- events: the core group's names and those of events.k8s.io

_EVENT_NAMES: Final = {
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "source": "deprecatedSource",
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
}


def _renamed(obj: Json, names: dict[str, str]) -> Json:
    return {names.get(key, key): said for key, said in obj.items()}


# --- device claims: v1beta1 says flat what later versions say one level deeper

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


def _device_form(obj: Json, kind: str, said: str, to_version: str) -> Json:
    flat_before, flat_after = said.endswith("/v1beta1"), to_version == "v1beta1"
    if flat_before == flat_after:
        return obj
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


def _requests(spec: Json, change: Any) -> Json:
    return map_field(spec, "devices", lambda devices: map_items(devices, "requests", change))


def _deep_request(request: Json) -> Json:
    exactly = {key: said for key, said in request.items() if key in _REQUEST_FIELDS}
    return {**without(request, *_REQUEST_FIELDS), "exactly": exactly} if exactly else request


def _flat_request(request: Json) -> Json:
    exactly = value_at(request, "exactly")
    return {**without(request, "exactly"), **exactly} if exactly else request


def _flat_device(device: Json) -> Json:
    basic = value_at(device, "basic")
    return {**without(device, "basic"), **basic} if basic is not None else device


def _deep_device(device: Json) -> Json:
    basic = without(device, "name")
    return {"name": device.get("name", ""), "basic": basic} if "basic" not in device else device
