"""Role (rbac.authorization.k8s.io): validation."""

from __future__ import annotations

from typing import Final

from ...values import causes
from ..kind import Causes, Check, Json, Kind
from ..rules.names import path_name
from ..rules.value_rules import check_selector, enumerate_objects

__all__ = ["KIND", "check_role"]


def check_role(*, namespaced: bool) -> Check:
    def check(obj: Json, _: Json | None) -> Causes:
        for index, rule in enumerate_objects(obj.get("rules")):
            yield from _rule(rule, f"rules[{index}]", namespaced=namespaced)
        if not namespaced and obj.get("aggregationRule") is not None:
            yield from _aggregation(obj["aggregationRule"])

    return check


def _aggregation(rule: Json) -> Causes:
    # `ValidateClusterRole` reports a selector with invalid labels twice.
    path, selectors = "aggregationRule.clusterRoleSelectors", rule.get("clusterRoleSelectors")
    if not selectors:
        yield causes.required(
            path, "at least one clusterRoleSelector required if aggregationRule is non-nil"
        )
    for index, selector in enumerate_objects(selectors):
        found = list(check_selector(f"{path}[{index}]", selector))
        yield from found
        if found:
            yield causes.invalid(f"{path}[{index}]", None, "invalid label selector.")


def _rule(rule: Json, path: str, *, namespaced: bool) -> Causes:
    # `ValidatePolicyRule`.
    urls, where = rule.get("nonResourceURLs"), f"{path}.nonResourceURLs"
    if urls:
        if namespaced:
            detail = "namespaced rules cannot apply to non-resource URLs"
            yield causes.invalid(where, urls, detail)
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            yield causes.invalid(where, urls, detail)
    else:
        for field, name in (("apiGroups", "api group"), ("resources", "resource")):
            if not rule.get(field):
                detail = f"resource rules must supply at least one {name}"
                yield causes.required(f"{path}.{field}", detail)
    # By the declarative validation, whose causes come last.
    if not rule.get("verbs"):
        yield causes.required(f"{path}.verbs")


KIND: Final = Kind(
    "rbac.authorization.k8s.io",
    "Role",
    creates_on_update=True,
    name_rule=path_name,
    validate=check_role(namespaced=True),
)
