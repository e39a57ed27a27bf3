"""Validation of resource slices, device classes and device taint rules.

Guarantees: the checks of kube-apiserver's `pkg/apis/resource/validation`, with its paths and
reasons, except that CEL expressions are not compiled and policies of capacities not computed.
See also: claims (`resource_claim_validation`), shared checks (`device_rules`).
"""

from __future__ import annotations

import re
from typing import Any, Final

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
    check_taint,
)
from .field_rules import (
    Check,
    Raw,
    check_conditions,
    check_driver_name,
    check_qualified_name,
    check_required,
    check_unique,
)
from .value_rules import Causes, check_name, check_unchanged, enumerate_objects

__all__ = ["SLICES", "SLICE_STATUSES"]

_GROUP: Final = "resource.k8s.io"
_DEVICES: Final = 128
_ADVANCED_DEVICES: Final = 64  # with taints, counters or lists of values
_VALUE_LENGTH: Final = 64
_NUMBER: Final = r"(0|[1-9]\d*)"
_PRERELEASE: Final = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)
_SCALARS: Final = ("bool", "int", "string", "version")
_LISTS: Final = ("bools", "ints", "strings", "versions")
_ALL_KINDS: Final = ", ".join(f"`{each}`" for each in (*_SCALARS, *_LISTS))


# --- slices


def _slice(obj: Raw, old: Raw | None) -> Causes:
    # `validateResourceSliceSpec`.
    spec, before = obj.get("spec") or {}, (old or {}).get("spec") or {}
    pool = spec.get("pool") or {}
    yield from check_driver_name("spec.driver", spec.get("driver") or "")
    yield from check_pool_name("spec.pool.name", pool.get("name") or "")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        yield causes.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        rule = "must be greater than or equal to zero"
        yield causes.invalid("spec.pool.generation", generation, rule)
    if old is not None:
        name = (before.get("pool") or {}).get("name")
        yield from check_unchanged("spec.pool.name", pool.get("name"), name)
        for field in ("driver", "nodeName"):
            yield from check_unchanged(f"spec.{field}", spec.get(field), before.get(field))
    fields = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
    yield from _nodes("spec", spec, fields)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        rule = "only one of `sharedCounters` or `devices` is allowed"
        yield causes.invalid("spec", "", rule)
    yield from _devices(spec, before)
    for index, each in enumerate_objects(spec.get("sharedCounters")):
        path = f"spec.sharedCounters[{index}]"
        yield from _counters(path, "name", each)


def _nodes(path: str, holder: Raw, fields: tuple[str, ...]) -> Causes:
    """Exactly one of the ways to say on which nodes devices are."""
    found = []
    rule = f"exactly one of {', '.join(f'`{each}`' for each in fields)} is required"
    for field in fields:
        value = holder.get(field)
        if value is None:
            continue
        if value is False or value == "":
            what = "true" if value is False else "a non-empty string"
            must = f"must be either unset or set to {what}"
            yield causes.invalid(f"{path}.{field}", value, must)
            continue
        found.append(f"`{field}`")
        if field == "nodeName":
            yield from check_name(f"{path}.{field}", value, problems_of_dns_subdomain)
        elif field == "nodeSelector" and path == "spec":
            terms = value.get("nodeSelectorTerms") or []
            if len(terms) != 1:
                where = f"{path}.{field}.nodeSelectorTerms"
                yield causes.invalid(where, terms, "must have exactly one node selector term")
    if not found:
        yield causes.required(path, rule)
    elif len(found) > 1:
        yield causes.invalid(path, f"{{{', '.join(found)}}}", rule)


def _devices(spec: Raw, before: Raw) -> Causes:
    devices = spec.get("devices") or []
    is_advanced = any(_is_advanced(each) for _, each in enumerate_objects(devices))
    yield from check_size("spec.devices", devices, _ADVANCED_DEVICES if is_advanced else _DEVICES)
    old = {each.get("name"): each for _, each in enumerate_objects(before.get("devices"))}
    names: list[str] = []
    for index, each in enumerate_objects(devices):
        path = f"spec.devices[{index}]"
        yield from _device(path, each, old.get(each.get("name")))
        if spec.get("perDeviceNodeSelection"):
            yield from _nodes(path, each, ("nodeName", "nodeSelector", "allNodes"))
        elif any(each.get(key) is not None for key in ("nodeName", "nodeSelector", "allNodes")):
            rule = "nodes of a device need `perDeviceNodeSelection` in the spec"
            yield causes.invalid(path, None, rule)
        yield from _binding(path, each)
        names.append(each.get("name") or "")
    yield from check_unique("spec.devices", names)


def _is_advanced(device: Raw) -> bool:
    attributes = (device.get("attributes") or {}).values()
    lists = any(key in each for each in attributes for key in _LISTS)
    return bool(device.get("taints") or device.get("consumesCounters")) or lists


def _device(path: str, device: Raw, old: Raw | None) -> Causes:
    # `validateDevice`.
    yield from check_device_name(f"{path}.name", device.get("name") or "")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    if len(attributes) + len(capacity) > 32:
        rule = "a device has at most 32 attributes and capacities"
        yield causes.invalid(path, len(attributes) + len(capacity), rule)
    for name, value in attributes.items():
        yield from check_attribute_name(f"{path}.attributes", name)
        yield from _attribute(f"{path}.attributes[{name}]", value)
    for name, value in capacity.items():
        yield from check_attribute_name(f"{path}.capacity", name)
        if value.get("requestPolicy") is not None and not device.get("allowMultipleAllocations"):
            where = f"{path}.capacity[{name}].requestPolicy"
            yield causes.forbidden(where, "allowMultipleAllocations must be true")
    if old is None or not json_equal(old.get("taints"), device.get("taints")):
        yield from check_size(f"{path}.taints", device.get("taints"), 16)
        for index, each in enumerate_objects(device.get("taints")):
            yield from check_taint(f"{path}.taints[{index}]", each)
    for index, each in enumerate_objects(device.get("consumesCounters")):
        yield from _counters(f"{path}.consumesCounters[{index}]", "counterSet", each)


def _attribute(path: str, attribute: Raw) -> Causes:
    # `validateDeviceAttribute`.
    found = [key for key in (*_SCALARS, *_LISTS) if attribute.get(key) is not None]
    for key in found:
        value = attribute[key]
        if key in _LISTS and not value:
            yield causes.invalid(f"{path}.{key}", value, "must not be empty if specified")
        values = value if isinstance(value, list) else [value]
        for index, each in enumerate(values):
            where = f"{path}.{key}[{index}]" if key in _LISTS else f"{path}.{key}"
            yield from _value(where, key, each)
    if not found:
        yield causes.invalid(path, "", f"must specify one of: {_ALL_KINDS}")
    elif len(found) > 1:
        shown = f"{{{', '.join(found)}}}"
        yield causes.invalid(path, shown, f"must specify exactly one of: {_ALL_KINDS}")


def _value(path: str, kind: str, value: Any) -> Causes:
    if not isinstance(value, str):
        return
    if kind.startswith("version") and not _VERSION.fullmatch(value):
        yield causes.invalid(path, value, "must be a string compatible with semver.org spec 2.0.0")
    if len(value) > _VALUE_LENGTH:
        yield causes.too_long(path, _VALUE_LENGTH)


def _counters(path: str, field: str, counters: Raw) -> Causes:
    name = counters.get(field) or ""
    yield from check_required(f"{path}.{field}", name)
    if name:
        yield from check_name(f"{path}.{field}", name, problems_of_dns_label)
    yield from check_required(f"{path}.counters", counters.get("counters"))
    for key in counters.get("counters") or ():
        yield from check_name(f"{path}.counters", key, problems_of_dns_label)


def _binding(path: str, device: Raw) -> Causes:
    # `validateDeviceBindingParameters`.
    fields = ("bindingConditions", "bindingFailureConditions")
    conditions, failures = (device.get(field) for field in fields)
    for field, values in zip(fields, (conditions, failures), strict=True):
        yield from check_size(f"{path}.{field}", values, 4)
        for index, each in enumerate(values or ()):
            yield from check_qualified_name(f"{path}.{field}[{index}]", each)
        yield from check_unique(f"{path}.{field}", values or ())
    for index, each in enumerate(failures or ()):
        if each in (conditions or ()):
            rule = "bindingFailureConditions must not overlap with bindingConditions"
            yield causes.invalid(f"{path}.bindingFailureConditions[{index}]", each, rule)
    for field, values, others in (
        ("bindingConditions", conditions, failures),
        ("bindingFailureConditions", failures, conditions),
    ):
        if others and not values:
            yield causes.invalid(
                f"{path}.{field}",
                values,
                "bindingFailureConditions are required to use bindingConditions",
            )


# --- classes and taint rules


def _class(obj: Raw, _: Raw | None) -> Causes:
    # `validateDeviceClassSpec`.
    spec = obj.get("spec") or {}
    yield from check_selectors("spec.selectors", spec.get("selectors"))
    yield from check_size("spec.config", spec.get("config"), 32)
    for index, each in enumerate_objects(spec.get("config")):
        yield from check_configuration(f"spec.config[{index}]", each)
    name = spec.get("extendedResourceName")
    if name is not None and not _is_extended(name):
        rule = "must be a valid extended resource name"
        yield causes.invalid("spec.extendedResourceName", name, rule)


def _is_extended(name: str) -> bool:
    # `IsExtendedResourceName`: a domain of its own, which quotas can prefix.
    domain, slash, _ = name.partition("/")
    is_native = not slash or domain.endswith("kubernetes.io") or domain.startswith("requests.")
    return not is_native and not list(check_qualified_name("", f"requests.{name}"))


def _taint_rule(obj: Raw, old: Raw | None) -> Causes:
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


def _taint_rule_status(obj: Raw, _: Raw | None) -> Causes:
    conditions = (obj.get("status") or {}).get("conditions")
    yield from check_conditions("status.conditions", conditions)
    yield from check_size("status.conditions", conditions, 8)


SLICES: Final[dict[tuple[str, str], Check]] = {
    (_GROUP, "DeviceClass"): _class,
    (_GROUP, "DeviceTaintRule"): _taint_rule,
    (_GROUP, "ResourceSlice"): _slice,
}
SLICE_STATUSES: Final[dict[tuple[str, str, str], Check]] = {
    (_GROUP, "DeviceTaintRule", "status"): _taint_rule_status,
}
