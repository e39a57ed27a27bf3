"""Validation of the kinds of smaller groups: RBAC, webhooks, definitions and others.

Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: core kinds (`core_validation`), workloads (`workload_validation`), networking and
scaling (`network_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from kubeloop.meta import (
    problems_of_dns_subdomain,
    problems_of_path_segment,
)

from ..schema.crd_validation import problems_of_crd
from ..values import causes
from ..values.json_values import json_equal
from .value_rules import (
    Causes,
    check_choice,
    check_minimum,
    check_name,
    check_selector,
    check_unchanged,
    enumerate_objects,
)

__all__ = ["GROUPS"]

_Raw: TypeAlias = Mapping[str, Any]
_Check: TypeAlias = Callable[[_Raw, _Raw | None], Causes]

_RBAC: Final = "rbac.authorization.k8s.io"
_ADMISSION: Final = "admissionregistration.k8s.io"
_HIGHEST_PRIORITY: Final = 1_000_000_000


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
            yield from check_unchanged("roleRef", ref, old.get("roleRef"))

    return check


def _subject(subject: _Raw, path: str, *, namespaced: bool) -> Causes:
    # `ValidateRoleBindingSubject`.
    kind, group = subject.get("kind") or "", subject.get("apiGroup") or ""
    if not subject.get("name"):
        yield causes.required(f"{path}.name")
    if kind == "ServiceAccount":
        if group:
            yield causes.not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield causes.required(f"{path}.namespace")
    elif kind not in {"User", "Group"}:
        kinds = ("ServiceAccount", "User", "Group")
        yield causes.not_supported(f"{path}.kind", kind, kinds)
    elif group != _RBAC:
        yield causes.not_supported(f"{path}.apiGroup", group, (_RBAC,))


def _role(*, namespaced: bool) -> _Check:
    def check(obj: _Raw, _: _Raw | None) -> Causes:
        for index, rule in enumerate_objects(obj.get("rules")):
            yield from _rule(rule, f"rules[{index}]", namespaced=namespaced)

    return check


def _rule(rule: _Raw, path: str, *, namespaced: bool) -> Causes:
    # `ValidatePolicyRule`.
    urls, where = rule.get("nonResourceURLs"), f"{path}.nonResourceURLs"
    if not rule.get("verbs"):
        yield causes.required(f"{path}.verbs")
    if urls:
        if namespaced:
            detail = "namespaced rules cannot apply to non-resource URLs"
            yield causes.invalid(where, urls, detail)
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            yield causes.invalid(where, urls, detail)
        return
    if not rule.get("apiGroups"):
        detail = "resource rules must supply at least one api group"
        yield causes.required(f"{path}.apiGroups", detail)
    if not rule.get("resources"):
        detail = "resource rules must supply at least one resource"
        yield causes.required(f"{path}.resources", detail)


# --- leases and priorities


def _lease(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateLeaseSpec`.
    spec = obj.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if isinstance(seconds, int) and seconds <= 0:
        yield causes.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from check_minimum("spec.leaseTransitions", spec.get("leaseTransitions"))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        rule = "may only be specified if `strategy` is defined"
        yield causes.forbidden("spec.preferredHolder", rule)


def _priority_class(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidatePriorityClass`: higher values are reserved for system classes.
    name, value = (obj.get("metadata") or {}).get("name") or "", obj.get("value") or 0
    if value > _HIGHEST_PRIORITY and not name.startswith("system-"):
        rule = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        yield causes.forbidden("value", rule)
    policy = obj.get("preemptionPolicy")
    yield from check_choice("preemptionPolicy", policy, ("Never", "PreemptLowerPriority"))
    if old is not None:
        if value != (old.get("value") or 0):
            yield causes.forbidden("value", "may not be changed in an update.")
        yield from check_unchanged("preemptionPolicy", policy, old.get("preemptionPolicy"))


# --- webhooks and definitions


def _webhooks(obj: _Raw, _: _Raw | None) -> Causes:
    seen: set[str] = set()
    for index, each in enumerate_objects(obj.get("webhooks")):
        path, name = f"webhooks[{index}]", each.get("name") or ""
        yield from _check_qualified(name, f"{path}.name")
        if name in seen:
            yield causes.duplicate(f"{path}.name", name)
        seen.add(name)
        yield from _webhook(each, path)


def _check_qualified(name: str, path: str) -> Causes:
    if not name:
        yield causes.required(path)
        return
    yield from check_name(path, name, problems_of_dns_subdomain)
    if len(name.split(".")) < 3:
        rule = "should be a domain with at least three segments separated by dots"
        yield causes.invalid(path, name, rule)


def _webhook(each: _Raw, path: str) -> Causes:
    # `validateValidatingWebhook` and `validateMutatingWebhook`.
    effects, client = each.get("sideEffects"), each.get("clientConfig") or {}
    if not each.get("admissionReviewVersions"):
        where = f"{path}.admissionReviewVersions"
        yield causes.required(where, "must specify one of v1, v1beta1")
    yield from check_choice(f"{path}.failurePolicy", each.get("failurePolicy"), ("Fail", "Ignore"))
    yield from check_choice(f"{path}.matchPolicy", each.get("matchPolicy"), ("Equivalent", "Exact"))
    if effects is None:
        rule = "must specify one of None, NoneOnDryRun"
        yield causes.required(f"{path}.sideEffects", rule)
    yield from check_choice(f"{path}.sideEffects", effects, ("None", "NoneOnDryRun"))
    seconds = each.get("timeoutSeconds")
    if isinstance(seconds, int) and not 1 <= seconds <= 30:
        rule = "the timeout value must be between 1 and 30 seconds"
        yield causes.invalid(f"{path}.timeoutSeconds", seconds, rule)
    yield from check_selector(f"{path}.namespaceSelector", each.get("namespaceSelector"))
    yield from check_selector(f"{path}.objectSelector", each.get("objectSelector"))
    yield from _client_config(client, f"{path}.clientConfig")


def _client_config(client: _Raw, path: str) -> Causes:
    # `ValidateWebhookURL` and `ValidateWebhookService`.
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield causes.required(path, "exactly one of url or service is required")
    elif url is not None and urlsplit(url).scheme != "https":
        rule = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield causes.invalid(f"{path}.url", urlsplit(url).scheme, rule)
    elif isinstance(service, Mapping):
        for field in ("name", "namespace"):
            if not service.get(field):
                where = f"{path}.service.{field}"
                yield causes.required(where, f"service {field} is required")


def _definition(obj: _Raw, old: _Raw | None) -> Causes:
    if old is not None and json_equal(obj.get("spec"), old.get("spec")):
        return  # only status or metadata changed: an old definition need not be valid today
    yield from problems_of_crd(obj, old)


GROUPS: Final[dict[tuple[str, str], _Check]] = {
    (_ADMISSION, "MutatingWebhookConfiguration"): _webhooks,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("coordination.k8s.io", "Lease"): _lease,
    (_RBAC, "ClusterRole"): _role(namespaced=False),
    (_RBAC, "ClusterRoleBinding"): _binding(namespaced=False),
    (_RBAC, "Role"): _role(namespaced=True),
    (_RBAC, "RoleBinding"): _binding(namespaced=True),
    ("scheduling.k8s.io", "PriorityClass"): _priority_class,
}
