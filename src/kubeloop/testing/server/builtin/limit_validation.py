"""Validation of limit ranges and resource quotas.

Guarantees: the causes of `ValidateLimitRange`, `ValidateResourceQuota` and its update.
See also: the names and amounts of resources (`resource_rules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_label_key
from kubeloop.wire import Quantity

from ..values import causes
from ..values.go_values import printed
from .resource_rules import (
    HUGE_PAGES,
    STANDARD_RESOURCES,
    check_amount,
    check_container_resource,
    check_resource_name,
    is_native,
)
from .value_rules import Causes, check_label_key, enumerate_objects, parse_quantity

__all__ = ["problems_of_limit_range", "problems_of_quota", "problems_of_quota_status"]

_Raw: TypeAlias = Mapping[str, Any]

_TYPES: Final = frozenset({"Pod", "Container", "PersistentVolumeClaim"})
_SCOPES: Final = frozenset(
    {
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    }
)
_PAIRS: Final = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_POD_RESOURCES: Final = frozenset(
    {
        "pods",
        *(
            f"{prefix}{name}"
            for prefix in ("", "requests.", "limits.")
            for name in ("cpu", "memory")
        ),
    }
)
_ONE: Final = Quantity("1")


# --- limit ranges


def problems_of_limit_range(obj: _Raw, _: _Raw | None) -> Causes:
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


def _item(item: _Raw, kind: str, path: str) -> Causes:
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


# --- quotas


def problems_of_quota(obj: _Raw, old: _Raw | None) -> Causes:
    """What is wrong with a quota, or with its update."""
    spec = obj.get("spec") or {}
    hard, scopes = spec.get("hard") or {}, spec.get("scopes") or []
    yield from _hard(hard, "spec.hard")
    for scope in scopes:
        if scope not in _SCOPES:
            yield causes.invalid("spec.scopes", scopes, "unsupported scope")
        for name in sorted(hard):
            if _is_quota_resource(name) and not _is_scoped(scope, name):
                yield causes.invalid("spec.scopes", scopes, "unsupported scope applied to resource")
    for pair in _PAIRS:
        if {*pair} <= {*scopes}:
            yield causes.invalid("spec.scopes", scopes, "conflicting scopes")
    selector = spec.get("scopeSelector")
    if isinstance(selector, Mapping):
        yield from _selector(selector, hard)
    if old is not None and {*scopes} != {*((old.get("spec") or {}).get("scopes") or ())}:
        yield causes.invalid("spec.scopes", scopes, causes.IMMUTABLE)


def problems_of_quota_status(obj: _Raw, _: _Raw) -> Causes:
    """What is wrong with the status of a quota."""
    status = obj.get("status") or {}
    for part in ("hard", "used"):
        yield from _hard(status.get(part) or {}, f"status.{part}")


def _hard(amounts: _Raw, path: str) -> Causes:
    for name, value in amounts.items():
        where = f"{path}[{name}]"
        yield from check_resource_name(where, name)
        if "/" not in name and not _is_quota_resource(name):
            rule = "must be a standard resource for quota"
            yield causes.invalid(where, name, rule)
        yield from check_amount(where, name, value)


def _is_quota_resource(name: str) -> bool:
    if name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}")):
        return True
    return name in STANDARD_RESOURCES and name != "storage" and not problems_of_label_key(name)


def _is_scoped(scope: str, name: str) -> bool:
    # `IsResourceQuotaScopeValidForResource`.
    match scope:
        case "BestEffort":
            return name == "pods"
        case "VolumeAttributesClass":
            return name in {"persistentvolumeclaims", "requests.storage"}
        case "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass":
            return name in _POD_RESOURCES or "ephemeral-storage" in name
        case "CrossNamespacePodAffinity":
            return name in _POD_RESOURCES or "ephemeral-storage" in name
    return True


def _selector(selector: _Raw, hard: _Raw) -> Causes:
    # All entries are reported under the path of the list.
    path, scopes = "spec.scopeSelector.matchExpressions", set()
    for _, each in enumerate_objects(selector.get("matchExpressions")):
        scope, operator = each.get("scopeName") or "", each.get("operator") or ""
        values = each.get("values") or []
        scopes.add(scope)
        if scope not in _SCOPES:
            yield causes.invalid(f"{path}.scopeName", scope, "unsupported scope")
        for name in sorted(hard):
            if _is_quota_resource(name) and not _is_scoped(scope, name):
                shown = printed("core/v1.ScopeSelector", selector)
                yield causes.invalid(path, shown, "unsupported scope applied to resource")
        is_plain = scope in _SCOPES - {"PriorityClass", "VolumeAttributesClass"}
        if is_plain and operator != "Exists":
            rule = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            yield causes.invalid(f"{path}.operator", operator, rule)
        if operator in {"In", "NotIn"}:
            if not values:
                rule = (
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                    "selector"
                )
                yield causes.required(f"{path}.values", rule)
        elif operator in {"Exists", "DoesNotExist"}:
            if values:
                rule = "must be no value when `operator` is 'Exists' or 'DoesNotExist'"
                yield causes.invalid(f"{path}.values", values, rule)
        else:
            yield causes.invalid(f"{path}.operator", operator, "not a valid selector operator")
    for pair in _PAIRS:
        if {*pair} <= scopes:
            yield causes.invalid(path, None, "conflicting scopes")
