"""Validation of the kinds of smaller groups: networking, RBAC, scaling and others.

Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: core kinds (`core_validation`), workloads (`workload_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import (
    problems_of_dns_label,
    problems_of_dns_subdomain,
    problems_of_path_segment,
)

from ..schema.crd_validation import problems_of_crd
from ..values import causes
from ..values.json_values import json_equal
from .value_rules import (
    Causes,
    check_choice,
    check_int_or_percent,
    check_minimum,
    check_name,
    check_port,
    check_port_or_name,
    check_selector,
    check_unchanged,
    enumerate_objects,
    is_ip_address,
)

__all__ = ["GROUPS"]

_Raw: TypeAlias = Mapping[str, Any]
_Check: TypeAlias = Callable[[_Raw, _Raw | None], Causes]

_RBAC: Final = "rbac.authorization.k8s.io"
_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_INVALID_PARTS: Final = ("//", "/./", "/../", "%2f", "%2F")
_INVALID_SUFFIXES: Final = ("/..", "/.")


# --- networking


def _ingress(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateIngressSpec`.
    spec = obj.get("spec") or {}
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        rule = "either `defaultBackend` or `rules` must be specified"
        yield causes.invalid("spec", None, rule)
    if isinstance(spec.get("defaultBackend"), Mapping):
        yield from _backend(spec["defaultBackend"], "spec.defaultBackend")
    for index, each in enumerate_objects(spec.get("rules")):
        path, host = f"spec.rules[{index}]", each.get("host") or ""
        if is_ip_address(host):
            yield causes.invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        elif host:
            plain = host.removeprefix("*.")
            yield from check_name(f"{path}.host", plain, problems_of_dns_subdomain)
        http = each.get("http")
        if isinstance(http, Mapping):
            yield from _paths(http, f"{path}.http.paths")
    if spec.get("ingressClassName"):
        where = "spec.ingressClassName"
        yield from check_name(where, spec["ingressClassName"], problems_of_dns_subdomain)


def _paths(http: _Raw, path: str) -> Causes:
    if not http.get("paths"):
        yield causes.required(path)
    for index, each in enumerate_objects(http.get("paths")):
        yield from _ingress_path(each, f"{path}[{index}]")


def _ingress_path(each: _Raw, path: str) -> Causes:
    # `validateHTTPIngressPath`: ambiguous paths are rejected.
    kind, url_path = each.get("pathType"), each.get("path") or ""
    if not kind:
        yield causes.required(f"{path}.pathType", "pathType must be specified")
        return
    yield from check_choice(f"{path}.pathType", kind, _PATH_TYPES)
    optional = kind == "ImplementationSpecific" and not url_path
    if not url_path.startswith("/") and not optional:
        yield causes.invalid(f"{path}.path", url_path, "must be an absolute path")
    if kind in {"Exact", "Prefix"}:
        for part in _INVALID_PARTS:
            if part in url_path:
                yield causes.invalid(f"{path}.path", url_path, f"must not contain '{part}'")
        for suffix in _INVALID_SUFFIXES:
            if url_path.endswith(suffix):
                yield causes.invalid(f"{path}.path", url_path, f"cannot end with '{suffix}'")
    yield from _backend(each.get("backend") or {}, f"{path}.backend")


def _backend(backend: _Raw, path: str) -> Causes:
    # `validateIngressBackend`.
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield causes.invalid(path, "", "cannot set both resource and service backends")
    elif service is None and resource is None:
        yield causes.invalid(path, "", "resource or service backend is required")
    elif isinstance(service, Mapping):
        yield from _service_backend(service, path)


def _service_backend(service: _Raw, path: str) -> Causes:
    port = service.get("port") or {}
    if not service.get("name"):
        yield causes.required(f"{path}.service.name")
    else:
        yield from check_name(f"{path}.service.name", service["name"], problems_of_dns_label)
    if port.get("name") and port.get("number"):
        yield causes.invalid(path, "", "cannot set both port name & port number")
    elif port.get("name"):
        yield from check_port_or_name(f"{path}.service.port.name", port["name"])
    elif port.get("number"):
        yield from check_port(f"{path}.service.port.number", port["number"])
    else:
        yield causes.required(path, "port name or number is required")


def _network_policy(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateNetworkPolicySpec`.
    spec = obj.get("spec") or {}
    yield from check_selector("spec.podSelector", spec.get("podSelector"))
    for index, kind in enumerate(spec.get("policyTypes") or ()):
        yield from check_choice(f"spec.policyTypes[{index}]", kind, ("Egress", "Ingress"))
    for direction in ("ingress", "egress"):
        for index, rule in enumerate_objects(spec.get(direction)):
            for number, each in enumerate_objects(rule.get("ports")):
                where = f"spec.{direction}[{index}].ports[{number}].port"
                if each.get("port") is not None:
                    yield from check_port_or_name(where, each["port"])


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
        yield causes.required(path, "at least one selector is required")
    for index, selector in enumerate_objects(selectors):
        found = list(check_selector(f"{path}[{index}]", selector))
        yield from found
        if found:
            yield causes.invalid(f"{path}[{index}]", None, "invalid label selector")


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


# --- scaling and disruption


def _autoscaler(obj: _Raw, _: _Raw | None) -> Causes:
    # `validateHorizontalPodAutoscalerSpec`.
    spec = obj.get("spec") or {}
    lowest, highest = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    yield from check_minimum("spec.minReplicas", lowest, 1)
    if isinstance(lowest, int) and highest < lowest:
        rule = "must be greater than or equal to `minReplicas`"
        yield causes.invalid("spec.maxReplicas", highest, rule)
    if highest == 0:
        yield causes.required("spec.maxReplicas")
    else:
        yield from check_minimum("spec.maxReplicas", highest, 1)
    target = spec.get("scaleTargetRef") or {}
    for field in ("kind", "name"):
        if not target.get(field):
            yield causes.required(f"spec.scaleTargetRef.{field}")


def _budget(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidatePodDisruptionBudgetSpec`.
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        rule = "minAvailable and maxUnavailable cannot be both set"
        yield causes.invalid("spec", dict(spec), rule)
    yield from check_int_or_percent("spec.minAvailable", least, at_most_all=True)
    yield from check_int_or_percent("spec.maxUnavailable", most, at_most_all=True)
    yield from check_selector("spec.selector", spec.get("selector"))


def _endpoint_slice(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateEndpointSlice`.
    kind = obj.get("addressType")
    yield from check_choice("addressType", kind, ("FQDN", "IPv4", "IPv6"), required=True)
    for index, each in enumerate_objects(obj.get("endpoints")):
        if not each.get("addresses"):
            rule = "must contain at least 1 address"
            yield causes.required(f"endpoints[{index}].addresses", rule)
    if old is not None:
        yield from check_unchanged("addressType", kind, old.get("addressType"))


# --- definitions


def _definition(obj: _Raw, old: _Raw | None) -> Causes:
    if old is not None and json_equal(obj.get("spec"), old.get("spec")):
        return  # only status or metadata changed: an old definition need not be valid today
    yield from problems_of_crd(obj, old)


GROUPS: Final[dict[tuple[str, str], _Check]] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
    ("discovery.k8s.io", "EndpointSlice"): _endpoint_slice,
    ("networking.k8s.io", "Ingress"): _ingress,
    ("networking.k8s.io", "NetworkPolicy"): _network_policy,
    ("policy", "PodDisruptionBudget"): _budget,
    (_RBAC, "ClusterRole"): _role(namespaced=False),
    (_RBAC, "ClusterRoleBinding"): _binding(namespaced=False),
    (_RBAC, "Role"): _role(namespaced=True),
    (_RBAC, "RoleBinding"): _binding(namespaced=True),
}
