"""ResourceSlice (resource.k8s.io): conversion, preparation, validation, warnings and columns."""

from __future__ import annotations

import re
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import json_equal, map_field, map_items, value_at, without
from ..kind import Causes, Json, Kind, Warnings, own_paths
from ..rules.cells import field_cells
from ..rules.field_rules import (
    check_driver_name,
    check_qualified_name,
    check_required,
    check_unique,
)
from ..rules.value_rules import check_name, check_unchanged, enumerate_objects
from .claims import is_flattened
from .device_rules import (
    check_attribute_name,
    check_device_name,
    check_pool_name,
    check_size,
    check_taint,
    with_taint_times,
)

__all__ = ["KIND"]


def _convert_slice(obj: JsonObject, source: str, target: str) -> JsonObject:
    # Devices became flat after v1beta1.
    becomes_flat = is_flattened(source, target)
    if becomes_flat is None:
        return obj
    change = _deep_device if becomes_flat else _flat_device
    return map_field(obj, "spec", lambda spec: map_items(spec, "devices", change))


def _flat_device(device: JsonObject) -> JsonObject:
    basic = value_at(device, "basic")
    return {**without(device, "basic"), **basic} if basic is not None else device


def _deep_device(device: JsonObject) -> JsonObject:
    basic = without(device, "name")
    return {"name": device.get("name", ""), "basic": basic} if "basic" not in device else device


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


def _validate(obj: Json, old: Json | None) -> Causes:
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


def _nodes(path: str, holder: Json, fields: tuple[str, ...]) -> Causes:
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


def _devices(spec: Json, before: Json) -> Causes:
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


def _is_advanced(device: Json) -> bool:
    attributes = (device.get("attributes") or {}).values()
    lists = any(key in each for each in attributes for key in _LISTS)
    return bool(device.get("taints") or device.get("consumesCounters")) or lists


def _device(path: str, device: Json, old: Json | None) -> Causes:
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


def _attribute(path: str, attribute: Json) -> Causes:
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


def _counters(path: str, field: str, counters: Json) -> Causes:
    name = counters.get(field) or ""
    yield from check_required(f"{path}.{field}", name)
    if name:
        yield from check_name(f"{path}.{field}", name, problems_of_dns_label)
    yield from check_required(f"{path}.counters", counters.get("counters"))
    for key in counters.get("counters") or ():
        yield from check_name(f"{path}.counters", key, problems_of_dns_label)


def _binding(path: str, device: Json) -> Causes:
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


def _warn(obj: Json, _: Json | None) -> Warnings:
    driver = value_at(obj, "spec", "driver") or ""
    if driver != driver.lower():
        yield "spec.driver: the names of drivers should be in lower case"


_cells = field_cells("spec.nodeName", "spec.driver", "spec.pool.name")


KIND: Final = Kind(
    "resource.k8s.io",
    "ResourceSlice",
    schemas_differ=True,
    generation="counted",
    returns_deleted=True,
    selectable=own_paths("spec.nodeName", "spec.driver"),
    selects_namespace=False,
    convert=_convert_slice,
    prepare_new=with_taint_times,
    validate=_validate,
    warn=_warn,
    columns="Name, Node, Driver, Pool, Age",
    cells=_cells,
)
