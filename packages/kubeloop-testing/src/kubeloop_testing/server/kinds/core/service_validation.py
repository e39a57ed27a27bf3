"""Validation of services.

Guarantees: the causes of `ValidateServiceCreate`, `ValidateServiceUpdate` and
`ValidateServiceStatusUpdate`.
See also: addresses and ports that the server allocates (`service_allocation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain

from ...values import causes
from ...values.go_values import printed
from ..kind import Causes, Json
from ..rules.value_rules import (
    check_choice,
    check_cidr,
    check_endpoint_ip,
    check_ip,
    check_label_key,
    check_labels,
    check_name,
    check_port,
    check_port_or_name,
    enumerate_objects,
    ip_family,
    is_ip_address,
)

__all__ = [
    "is_externally_accessible",
    "needs_health_check",
    "problems_of_addresses",
    "problems_of_load_balancer",
    "problems_of_service",
]

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_FAMILIES: Final = ("IPv4", "IPv6")
_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MODE: Final = "service.kubernetes.io/topology-mode"
_DAY: Final = 86400
_ONLY_BALANCERS: Final = "may only be used when `type` is 'LoadBalancer'"


def is_externally_accessible(spec: Json) -> bool:
    """Whether clients outside of the cluster can reach the service."""
    kind = spec.get("type")
    return kind in {"LoadBalancer", "NodePort"} or (
        kind == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def needs_health_check(spec: Json) -> bool:
    """Whether a load balancer has to ask each node for local endpoints."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def problems_of_service(obj: Json, old: Json | None) -> Causes:
    """What is wrong with a service, or with its update."""
    spec, annotations = obj.get("spec") or {}, _annotations(obj)
    if old is not None:
        yield from _change(spec, old.get("spec") or {})
    if _HINTS in annotations and annotations.get(_MODE, annotations[_HINTS]) != annotations[_HINTS]:
        where = f"metadata.annotations[{_MODE}]"
        yield causes.invalid(where, annotations[_MODE], f"must match annotations[{_HINTS}]")
    yield from _type_problems(spec)
    yield from _ports(spec)
    yield from check_labels("spec.selector", spec.get("selector"))
    yield from _affinity(spec)
    yield from problems_of_addresses(spec)
    former = set((old.get("spec") or {}).get("externalIPs") or ()) if old is not None else set()
    for index, each in enumerate(spec.get("externalIPs") or ()):
        where = f"spec.externalIPs[{index}]"
        found = [] if each in former else list(check_ip(where, each))
        yield from found or check_endpoint_ip(where, each)
    yield from check_choice("spec.type", spec.get("type"), _TYPES, required=True)
    yield from _source_ranges(spec, annotations, old)
    yield from _balancer_fields(spec)
    yield from _policies(spec)


def _annotations(obj: Json) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _type_problems(spec: Json) -> Causes:
    headless, kind = spec.get("clusterIP") == "None", spec.get("type")
    if not spec.get("ports") and not headless and kind != "ExternalName":
        yield causes.required("spec.ports")
    if headless and kind in {"LoadBalancer", "NodePort"}:
        rule = f"may not be set to 'None' for {kind} services"
        yield causes.invalid("spec.clusterIPs[0]", "None", rule)
    if kind != "ExternalName":
        return
    # An ExternalName service is a DNS alias, so it has no cluster IP.
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            yield causes.forbidden(f"spec.{field}", "may not be set for ExternalName services")
    target = (spec.get("externalName") or "").removesuffix(".")
    if target:
        yield from check_name("spec.externalName", target, problems_of_dns_subdomain)
    else:
        yield causes.required("spec.externalName")


def _ports(spec: Json) -> Causes:
    # With several ports each needs a name, to which endpoints refer.
    names: set[str] = set()
    ports: set[tuple[Any, Any]] = set()
    node_ports: set[tuple[Any, Any]] = set()
    several = len(spec.get("ports") or ()) > 1
    for index, each in enumerate_objects(spec.get("ports")):
        path = f"spec.ports[{index}]"
        yield from _one_port(each, path, names, needs_name=several)
        protocol, node_port = each.get("protocol"), each.get("nodePort")
        if node_port and spec.get("type") == "ClusterIP":
            rule = "may not be used when `type` is 'ClusterIP'"
            yield causes.forbidden(f"{path}.nodePort", rule)
        if node_port and (protocol, node_port) in node_ports:
            yield causes.duplicate(f"{path}.nodePort", node_port)
        node_ports.add((protocol, node_port))
        if (protocol, each.get("port")) in ports:
            port = {"port": each.get("port"), "protocol": protocol}  # nothing else is compared
            shown = printed("core/v1.ServicePort", port)
            yield causes.declared(causes.duplicate(path, shown))
        ports.add((protocol, each.get("port")))


def _one_port(each: Json, path: str, names: set[str], *, needs_name: bool) -> Causes:
    name = each.get("name") or ""
    if name:
        yield from check_name(f"{path}.name", name, problems_of_dns_label)
        if name in names:
            yield causes.duplicate(f"{path}.name", name)
        names.add(name)
    elif needs_name:
        yield causes.required(f"{path}.name")
    yield from check_port(f"{path}.port", each.get("port") or 0)
    yield from check_choice(f"{path}.protocol", each.get("protocol"), _PROTOCOLS, required=True)
    yield from check_port_or_name(f"{path}.targetPort", each.get("targetPort") or 0)
    if each.get("appProtocol") is not None:
        yield from check_label_key(f"{path}.appProtocol", each["appProtocol"])


def _affinity(spec: Json) -> Causes:
    affinity, config = spec.get("sessionAffinity"), spec.get("sessionAffinityConfig")
    where = "spec.sessionAffinityConfig"
    yield from check_choice("spec.sessionAffinity", affinity, ("ClientIP", "None"), required=True)
    if affinity == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if isinstance(seconds, int) and not 1 <= seconds <= _DAY:
            rule = f"must be greater than 0 and less than {_DAY}"
            yield causes.invalid(f"{where}.clientIP.timeoutSeconds", seconds, rule)
    elif affinity == "None" and config is not None:
        yield causes.forbidden(where, "must not be set when session affinity is None")


def problems_of_addresses(spec: Json) -> Causes:
    """What is wrong with the addresses and families of a service."""
    # `ValidateServiceClusterIPsRelatedFields`.
    if spec.get("type") == "ExternalName":
        return
    single, several = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    where, families = "spec.clusterIPs", spec.get("ipFamilies") or []
    if single:
        if not several:
            yield causes.required(where)
        elif several[0] != single:
            yield causes.invalid(where, several, "first value must match `clusterIP`")
    elif several:
        rule = "must be empty when `clusterIP` is not specified"
        yield causes.invalid(where, several, rule)
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            yield causes.not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        if family in families[:index]:
            yield causes.duplicate(f"spec.ipFamilies[{index}]", family)
    yield from check_choice("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), _POLICIES)
    yield from _address_values(several, families)


def _address_values(several: list[str], families: list[str]) -> Causes:
    where, has_invalid = "spec.clusterIPs", False
    for index, each in enumerate(several):
        if index == 0 and each == "None":
            if len(several) > 1:
                has_invalid = True
                yield causes.invalid(where, several, "'None' must be the first and only value")
            continue
        found = list(check_ip(f"{where}[{index}]", each))
        has_invalid = has_invalid or bool(found)
        yield from found
    if len(several) > 2:
        yield causes.invalid(where, several, "may only hold up to 2 values")
    if has_invalid or several[:1] == ["None"]:
        return
    if len(several) > 1 and not _is_dual_stack(several):
        rule = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
            "2001:db8::/64"
        )
        yield causes.invalid(where, several, rule)
    for index, (each, family) in enumerate(zip(several, families, strict=False)):
        if ip_family(each) != family:
            rule = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield causes.invalid(f"{where}[{index}]", each, rule)


def _is_dual_stack(addresses: list[str]) -> bool:
    return len({ip_family(each) for each in addresses}) == 2


def _change(spec: Json, before: Json) -> Causes:
    # Clients may have cached addresses, so that they do not change.
    kind, old_kind = spec.get("type"), before.get("type")
    if "ExternalName" not in {kind, old_kind}:
        yield from _address_change(spec, before)
    if kind == old_kind == "LoadBalancer":
        name = spec.get("loadBalancerClass")
        if name != before.get("loadBalancerClass"):
            yield causes.invalid("spec.loadBalancerClass", name, "may not change once set")
    if needs_health_check(spec) and needs_health_check(before):
        port = spec.get("healthCheckNodePort")
        if port != before.get("healthCheckNodePort"):
            yield causes.forbidden("spec.healthCheckNodePort", causes.IMMUTABLE)


def _address_change(spec: Json, before: Json) -> Causes:
    # `validateUpgradeDowngradeClusterIPs` and `validateUpgradeDowngradeIPFamilies`.
    new, old = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    if new == old == ["None"]:
        return
    where = "spec.clusterIPs"
    if len(new) == len(old):
        for index, (one, two) in enumerate(zip(new, old, strict=True)):
            if one != two:
                yield causes.invalid(f"{where}[{index}]", new, "may not change once set")
    elif not new:
        yield causes.invalid(f"{where}[0]", new or None, "primary clusterIP can not be unset")
    elif old and new[0] != old[0]:
        yield causes.invalid(f"{where}[0]", new, "may not change once set")
    if (new == ["None"]) != (old == ["None"]):
        return
    families, former = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
    if families and former and families[0] != former[0]:
        yield causes.invalid("spec.ipFamilies[0]", families, "may not change once set")


def _source_ranges(spec: Json, annotations: Mapping[str, str], old: Json | None) -> Causes:
    ranges, where = spec.get("loadBalancerSourceRanges"), "spec.LoadBalancerSourceRanges"
    is_balancer = spec.get("type") == "LoadBalancer"
    before = {} if old is None else old.get("spec") or {}
    if ranges:
        if not is_balancer:
            yield causes.forbidden(where, _ONLY_BALANCERS)
        former = {each.strip() for each in before.get("loadBalancerSourceRanges") or ()}
        for index, each in enumerate(ranges):
            if each.strip() not in former:
                yield from check_cidr(f"{where}[{index}]", each.strip())
    elif _RANGES in annotations:
        where, value = f"metadata.annotations[{_RANGES}]", annotations[_RANGES]
        if not is_balancer:
            yield causes.forbidden(where, _ONLY_BALANCERS)
        if value.strip() and (old is None or _annotations(old).get(_RANGES) != value):
            for each in value.split(","):
                yield from check_cidr(where, each.strip())


def _balancer_fields(spec: Json) -> Causes:
    name, is_balancer = spec.get("loadBalancerClass"), spec.get("type") == "LoadBalancer"
    if spec.get("allocateLoadBalancerNodePorts") is not None and not is_balancer:
        yield causes.forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCERS)
    if name is not None:
        if is_balancer:
            yield from check_label_key("spec.loadBalancerClass", name)
        else:
            yield causes.forbidden("spec.loadBalancerClass", _ONLY_BALANCERS)


def _policies(spec: Json) -> Causes:
    policy, port = spec.get("externalTrafficPolicy"), spec.get("healthCheckNodePort") or 0
    where, choices = "spec.externalTrafficPolicy", ("Cluster", "Local")
    if is_externally_accessible(spec):
        yield from check_choice(where, policy, choices, required=True)
    elif policy:
        rule = "may only be set for externally-accessible services"
        yield causes.invalid(where, policy, rule)
    if port and not needs_health_check(spec):
        rule = (
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        )
        yield causes.invalid("spec.healthCheckNodePort", port, rule)
    elif port:
        yield from check_port("spec.healthCheckNodePort", port)
    internal = spec.get("internalTrafficPolicy")
    yield from check_choice("spec.internalTrafficPolicy", internal, choices)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        yield causes.not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS)


def problems_of_load_balancer(obj: Json, old: Json) -> Causes:
    """What is wrong with the status of a load balancer."""
    # `ValidateLoadBalancerStatus`.
    path = "status.loadBalancer.ingress"
    entries = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    before = ((old.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    former = {each.get("ip") for _, each in enumerate_objects(before)}
    if entries and (obj.get("spec") or {}).get("type") != "LoadBalancer":
        yield causes.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for index, each in enumerate_objects(entries):
        where, address, mode = f"{path}[{index}]", each.get("ip") or "", each.get("ipMode")
        if address and address not in former:
            yield from check_ip(f"{where}.ip", address)
        if mode is not None and not address:
            yield causes.forbidden(f"{where}.ipMode", "may not be specified when `ip` is not set")
        elif mode is not None and mode not in {"Proxy", "VIP"}:
            yield causes.not_supported(f"{where}.ipMode", mode, ("Proxy", "VIP"))
        name = each.get("hostname") or ""
        if name:
            yield from check_name(f"{where}.hostname", name, problems_of_dns_subdomain)
            if is_ip_address(name):
                rule = "must be a DNS name, not an IP address"
                yield causes.invalid(f"{where}.hostname", name, rule)
