"""LimitRange: defaults and validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubeloop.wire import JsonObject, Quantity

from ...values import causes
from ...values.json_values import Change, map_items
from ..kind import Causes, Json, Kind
from ..rules.defaults import in_spec
from ..rules.resource_rules import (
    HUGE_PAGES,
    check_container_resource,
    check_resource_name,
    is_native,
)
from ..rules.value_rules import check_label_key, enumerate_objects, parse_quantity

__all__ = ["KIND"]


def _items_in_spec(key: str, change: Change) -> Change:
    return in_spec(lambda spec: map_items(spec, key, change))


def _limit(item: JsonObject) -> JsonObject:
    if item.get("type") != "Container":
        return item
    # Limits default to the maximum; requests to the limits, or to the minimum.
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    defaults = {"default": limits, "defaultRequest": requests}
    changed = {key: value for key, value in defaults.items() if value and item.get(key) != value}
    return {**item, **changed} if changed else item


_TYPES: Final = frozenset({"Pod", "Container", "PersistentVolumeClaim"})
_ONE: Final = Quantity("1")


def _validate(obj: Json, _: Json | None) -> Causes:
    """What is wrong with a limit range."""
    seen: set[str] = set()
    for index, item in enumerate_objects((obj.get("spec") or {}).get("limits")):
        path, kind = f"spec.limits[{index}]", item.get("type") or ""
        found = list(check_label_key(f"{path}.type", kind))
        yield from found
        if not found and "/" not in kind and kind not in _TYPES:
            yield causes.invalid(
                f"{path}.type", kind, "must be a standard limit type or fully qualified"
            )
        if kind in seen:
            yield causes.duplicate(f"{path}.type", kind)
        seen.add(kind)
        yield from _item(item, kind, path)


def _item(item: Json, kind: str, path: str) -> Causes:
    check = check_container_resource if kind in {"Pod", "Container"} else check_resource_name
    fields = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
    if kind == "Pod":
        # A pod as a whole has no defaults.
        for field in ("default", "defaultRequest"):
            fields.remove(field)
            if item.get(field):
                rule = "may not be specified when `type` is 'Pod'"
                yield causes.forbidden(f"{path}.{field}", rule)
    amounts: dict[str, dict[str, Quantity]] = {}
    for field in fields:
        values = item.get(field) or {}
        for name in values:
            yield from check(f"{path}.{field}[{name}]", name)
        parsed = {name: parse_quantity(value) for name, value in values.items()}
        amounts[field] = {name: value for name, value in parsed.items() if value is not None}
    storage = {*(item.get("min") or ()), *(item.get("max") or ())}
    if kind == "PersistentVolumeClaim" and "storage" not in storage:
        rule = "either minimum or maximum storage value is required, but neither was provided"
        yield causes.required(f"{path}.limits", rule)
    for name in dict.fromkeys(name for values in amounts.values() for name in values):
        yield from _amounts(name, {key: values.get(name) for key, values in amounts.items()}, path)


_TERMS: Final = {"defaultRequest": "default request"}
# Which amount must not exceed which; and which of them is reported, and where.
_ORDER: Final = (
    ("min", "max", "min", "min"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
    ("min", "default", "default", "min"),
    ("default", "max", "default", "max"),
)


def _amounts(name: str, found: Mapping[str, Quantity | None], path: str) -> Causes:
    for low, high, where, shown in _ORDER:
        one, two, value = found.get(low), found.get(high), found.get(shown)
        if one is not None and two is not None and value is not None and one > two:
            rule = (
                f"{_TERMS.get(low, low)} value {one.canonical()} is greater than "
                f"{_TERMS.get(high, high)} value {two.canonical()}"
            )
            yield causes.invalid(f"{path}.{where}[{name}]", value.canonical(), rule)
    ratio, low_value, high_value = (
        found.get(key) for key in ("maxLimitRequestRatio", "min", "max")
    )
    where = f"{path}.maxLimitRequestRatio[{name}]"
    if ratio is not None and ratio < _ONE:
        yield causes.invalid(where, ratio.canonical(), f"ratio {ratio.canonical()} is less than 1")
    if ratio is not None and low_value is not None and high_value is not None:
        limit = high_value.as_decimal() / (low_value.as_decimal() or 1)
        if ratio.as_decimal() > limit:
            yield causes.invalid(where, ratio.canonical(), "is greater than max/min")
    limits, requests = found.get("default"), found.get("defaultRequest")
    can_overcommit = is_native(name) and not name.startswith(HUGE_PAGES)
    if can_overcommit or limits is None or requests is None or limits == requests:
        return
    where = f"{path}.defaultRequest[{name}]"
    yield causes.invalid(where, requests.canonical(), "must equal the default")


KIND: Final = Kind(
    "",
    "LimitRange",
    creates_on_update=True,
    defaults=(_items_in_spec("limits", _limit),),
    validate=_validate,
)
