"""Validation of the kinds of smaller groups: RBAC and definitions.


Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: core kinds (`core_validation`), workloads (`workload_validation`), networking and
scaling (`network_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import (
    problems_of_dns_subdomain,
    problems_of_path_segment,
)

from ..schema.crd_validation import problems_of_crd
from ..values import causes
from ..values.json_values import json_equal
from .value_rules import (
    Causes,
    check_name,
    check_selector,
    check_unchanged,
    enumerate_objects,
)

__all__ = ["GROUPS"]

_Raw: TypeAlias = Mapping[str, Any]
_Check: TypeAlias = Callable[[_Raw, _Raw | None], Causes]

_RBAC: Final = "rbac.authorization.k8s.io"


# --- RBAC


def _binding(*, namespaced: bool) -> _Check:
    # The role of a binding is immutable: subjects must not gain other rights unnoticed.
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)

    def check(obj: _Raw, old: _Raw | None) -> Causes:
        ref = obj.get("roleRef") or {}
        group, kind = ref.get("apiGroup") or "", ref.get("kind") or ""
        if group != _RBAC:
            yield causes.not_supported("roleRef.apiGroup", group, (_RBAC,))
        if kind not in kinds:
            yield causes.not_supported("roleRef.kind", kind, kinds)
        if not ref.get("name"):
            yield causes.required("roleRef.name")
        else:
            yield from check_name("roleRef.name", ref["name"], problems_of_path_segment)
        for index, subject in enumerate_objects(obj.get("subjects")):
            yield from _subject(subject, f"subjects[{index}]", namespaced=namespaced)
        if old is not None:
            before = old.get("roleRef")
            yield from check_unchanged("roleRef", ref, before, "rbac/v1.RoleRef")

    return check


def _subject(subject: _Raw, path: str, *, namespaced: bool) -> Causes:
    # `ValidateRoleBindingSubject`.
    kind, group = subject.get("kind") or "", subject.get("apiGroup") or ""
    name = subject.get("name") or ""
    if kind == "ServiceAccount":
        if name:
            yield from check_name(f"{path}.name", name, problems_of_dns_subdomain)
        if group:
            yield causes.not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield causes.required(f"{path}.namespace")
    elif kind not in {"User", "Group"}:
        kinds = ("ServiceAccount", "User", "Group")
        yield causes.not_supported(f"{path}.kind", kind, kinds)
    elif group != _RBAC:
        yield causes.not_supported(f"{path}.apiGroup", group, (_RBAC,))
    if not name:
        yield causes.required(f"{path}.name")


def _role(*, namespaced: bool) -> _Check:
    def check(obj: _Raw, _: _Raw | None) -> Causes:
        for index, rule in enumerate_objects(obj.get("rules")):
            yield from _rule(rule, f"rules[{index}]", namespaced=namespaced)
        if not namespaced and obj.get("aggregationRule") is not None:
            yield from _aggregation(obj["aggregationRule"])

    return check


def _aggregation(rule: _Raw) -> Causes:
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


def _rule(rule: _Raw, path: str, *, namespaced: bool) -> Causes:
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


# --- leases and priorities


# --- definitions


def _definition(obj: _Raw, old: _Raw | None) -> Causes:
    if old is not None and json_equal(obj.get("spec"), old.get("spec")):
        return  # only status or metadata changed: an old definition need not be valid today
    yield from problems_of_crd(obj, old)


GROUPS: Final[dict[tuple[str, str], _Check]] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    (_RBAC, "ClusterRole"): _role(namespaced=False),
    (_RBAC, "ClusterRoleBinding"): _binding(namespaced=False),
    (_RBAC, "Role"): _role(namespaced=True),
    (_RBAC, "RoleBinding"): _binding(namespaced=True),
}
