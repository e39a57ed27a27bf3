"""ResourceQuota: validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_label_key

from ...values import causes
from ...values.go_values import printed
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.cell_text import age_of, name_of
from ..rules.resource_rules import HUGE_PAGES, STANDARD_RESOURCES, check_amount, check_resource_name
from ..rules.value_rules import enumerate_objects, parse_quantity

__all__ = ["KIND"]

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


def _validate(obj: Json, old: Json | None) -> Causes:
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


def _validate_status(obj: Json, _: Json) -> Causes:
    """What is wrong with the status of a quota."""
    status = obj.get("status") or {}
    for part in ("hard", "used"):
        yield from _hard(status.get(part) or {}, f"status.{part}")


def _hard(amounts: Json, path: str) -> Causes:
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


def _selector(selector: Json, hard: Json) -> Causes:
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


def _warn(obj: Json, old: Json | None) -> Warnings:
    hard = value_at(obj, "spec", "hard") or {}
    for name in ("cpu", "memory", "storage", "ephemeral-storage") if old is None else ():
        request = f"requests.{name}"
        if request not in hard and name in {"cpu", "memory"} and name in hard:
            request = name
        low, high = (parse_quantity(hard.get(key, "0")) for key in (request, f"limits.{name}"))
        has_both = request in hard and f"limits.{name}" in hard
        if has_both and low is not None and high is not None and low > high:
            yield (
                f"ResourceQuota {request} ({low.canonical()}) should be less than limits.{name} "
                f"({high.canonical()})"
            )


def _cells(obj: Json, since: Since) -> list[Any]:
    # `printResourceQuota` splits requests and limits into two columns.
    hard, used = value_at(obj, "status", "hard") or {}, value_at(obj, "status", "used") or {}
    texts = {name: f"{name}: {used.get(name, 0)}/{hard[name]}" for name in sorted(hard)}
    requests = [text for name, text in texts.items() if not name.startswith("limits.")]
    limits = [text for name, text in texts.items() if name.startswith("limits.")]
    return [name_of(obj), ", ".join(requests), ", ".join(limits), age_of(obj, since)]


KIND: Final = Kind(
    "",
    "ResourceQuota",
    returns_deleted=True,
    validate=_validate,
    validate_parts={"status": _validate_status},
    warn=_warn,
    columns="Name, Request, Limit, Age",
    cells=_cells,
)
