"""Validation of the kinds of networking.k8s.io and discovery.k8s.io.

Guarantees: the causes of kube-apiserver's rules for ingresses, network policies, addresses and
endpoint slices.
See also: services and endpoints (`service_validation`, `core_validation`), autoscalers and
budgets (`autoscaler_validation`).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import (
    problems_of_dns_label,
    problems_of_dns_subdomain,
    problems_of_label_value,
    problems_of_path_segment,
)

from ..values import causes
from ..values.json_values import json_equal
from .autoscaler_validation import SCALING, SCALING_STATUS
from .network_policy_validation import problems_of_network_policy
from .value_rules import (
    Causes,
    check_choice,
    check_cidr,
    check_endpoint_ip,
    check_ip,
    check_label_key,
    check_name,
    check_port,
    check_port_or_name,
    check_unchanged,
    enumerate_objects,
    ip_family,
    is_ip_address,
    is_network,
)

__all__ = ["NETWORK", "NETWORK_STATUS"]

_Raw: TypeAlias = Mapping[str, Any]
_Check: TypeAlias = Callable[[_Raw, _Raw | None], Causes]

_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_INVALID_PARTS: Final = ("//", "/./", "/../", "%2f", "%2F")
_INVALID_SUFFIXES: Final = ("/..", "/.")
_CLASS: Final = "kubernetes.io/ingress.class"
_is_path = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+").fullmatch


# --- networking


def _ingress(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateIngressSpec`.
    spec = obj.get("spec") or {}
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    name = spec.get("ingressClassName")
    if old is None and _CLASS in annotations and name is not None and annotations[_CLASS] != name:
        rule = "must match `ingressClassName` when both are specified"
        yield causes.invalid(f"annotations.{_CLASS}", annotations[_CLASS], rule)
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        rule = "either `defaultBackend` or `rules` must be specified"
        yield causes.invalid("spec", None, rule)
    if isinstance(spec.get("defaultBackend"), Mapping):
        yield from _backend(spec["defaultBackend"], "spec.defaultBackend")
    for index, each in enumerate_objects(spec.get("rules")):
        path, host = f"spec.rules[{index}]", each.get("host") or ""
        if is_ip_address(host):
            yield causes.invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        yield from _host(f"{path}.host", host)
        http = each.get("http")
        if isinstance(http, Mapping):
            yield from _paths(http, f"{path}.http.paths")
    for index, each in enumerate_objects(spec.get("tls")):
        for number, host in enumerate(each.get("hosts") or ()):
            yield from _host(f"spec.tls[{index}].hosts[{number}]", host)
        if each.get("secretName"):
            where = f"spec.tls[{index}].secretName"
            yield from check_name(where, each["secretName"], problems_of_dns_subdomain)
    if name is not None:
        yield from check_name("spec.ingressClassName", name, problems_of_dns_subdomain)


def _host(path: str, host: str) -> Causes:
    # A wildcard stands for the first part of a name.
    if "*" in host:
        if not host.startswith("*.") or problems_of_dns_subdomain(host.removeprefix("*.")):
            yield causes.invalid(path, host, _WILDCARD)
    elif host:
        yield from check_name(path, host, problems_of_dns_subdomain)


_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_WILDCARD: Final = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    "character (e.g. '*.example.com', regex used for validation is "
    rf"'\*\.{_LABEL}(\.{_LABEL})*')"
)


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
    elif isinstance(resource, Mapping):
        yield from _typed_reference(resource, f"{path}.resource")


def _typed_reference(ref: _Raw, path: str) -> Causes:
    # `validateIngressTypedLocalObjectReference`.
    if ref.get("apiGroup") is not None:
        yield from check_name(f"{path}.apiGroup", ref["apiGroup"], problems_of_dns_subdomain)
    for field in ("kind", "name"):
        if not ref.get(field):
            yield causes.declared(causes.required(f"{path}.{field}"))
        else:
            yield from check_name(f"{path}.{field}", ref[field], problems_of_path_segment)


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


def _ingress_status(obj: _Raw, _: _Raw) -> Causes:
    # `ValidateIngressLoadBalancerStatus`.
    balancer = (obj.get("status") or {}).get("loadBalancer") or {}
    for index, each in enumerate_objects(balancer.get("ingress")):
        path = f"status.loadBalancer.ingress[{index}]"
        if each.get("ip"):
            yield from check_ip(f"{path}.ip", each["ip"])
        name = each.get("hostname") or ""
        if name:
            yield from check_name(f"{path}.hostname", name, problems_of_dns_subdomain)
            if is_ip_address(name):
                rule = "must be a DNS name, not an IP address"
                yield causes.invalid(f"{path}.hostname", name, rule)


def _ingress_class(obj: _Raw, old: _Raw | None) -> Causes:
    # `validateIngressClassSpec`: who implements a class does not change.
    spec = obj.get("spec") or {}
    controller, where = spec.get("controller") or "", "spec.controller"
    if old is not None:
        former = (old.get("spec") or {}).get("controller") or ""
        yield from check_unchanged(where, controller, former)
    if len(controller) > 250:
        yield causes.too_long(where, 250)
    if not controller:
        yield causes.required(where)
    elif not _is_domain_path(controller):
        rule = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield causes.invalid(where, controller, rule)
    parameters = spec.get("parameters")
    if isinstance(parameters, Mapping):
        yield from _class_parameters(parameters, "spec.parameters")


def _is_domain_path(text: str) -> bool:
    domain, slash, rest = text.partition("/")
    return bool(slash and rest) and not problems_of_dns_subdomain(domain) and bool(_is_path(rest))


def _class_parameters(parameters: _Raw, path: str) -> Causes:
    yield from _typed_reference(parameters, path)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    yield from check_choice(f"{path}.scope", scope, ("Cluster", "Namespace"), required=True)
    if scope == "Namespace":
        if not namespace:
            rule = "`parameters.scope` is set to 'Namespace'"
            yield causes.required(f"{path}.namespace", rule)
        else:
            yield from check_name(f"{path}.namespace", namespace, problems_of_dns_label)
    elif scope == "Cluster" and namespace is not None:
        rule = "`parameters.scope` is set to 'Cluster'"
        yield causes.forbidden(f"{path}.namespace", rule)


# --- addresses and service networks


def _ip_address(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateIPAddress`.
    spec = obj.get("spec") or {}
    parent, where = spec.get("parentRef"), "spec.parentRef"
    if not isinstance(parent, Mapping):
        yield causes.required(where)
        return
    if parent.get("group"):
        yield from check_name(f"{where}.group", parent["group"], problems_of_dns_subdomain)
    for field in ("resource", "name", "namespace"):
        value = parent.get(field)
        if value:
            yield from check_name(f"{where}.{field}", value, problems_of_path_segment)
        elif field != "namespace":
            yield causes.required(f"{where}.{field}")
    if old is not None:
        yield from check_unchanged(where, parent, (old.get("spec") or {}).get("parentRef"))


def _service_network(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateServiceCIDR`: networks can be added, not changed.
    networks, where = (obj.get("spec") or {}).get("cidrs") or [], "spec.cidrs"
    if old is not None:
        former = (old.get("spec") or {}).get("cidrs") or []
        for index, (one, two) in enumerate(zip(networks, former, strict=False)):
            yield from check_unchanged(f"{where}[{index}]", one, two)
        if networks == former:
            return
    if not networks:
        yield causes.required(where, "at least one CIDR required")
        return
    if len(networks) > 2:
        yield causes.invalid(where, None, "may only hold up to 2 values")
        return
    for index, each in enumerate(networks):
        yield from check_cidr(f"{where}[{index}]", each)
    families = [ip_family(each.partition("/")[0]) for each in networks]
    if len(networks) == 2 and all(map(is_network, networks)) and families[0] == families[1]:
        rule = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
            "2001:db8::/64"
        )
        yield causes.invalid(where, networks, rule)


# --- slices


def _endpoint_slice(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateEndpointSlice`.
    kind = obj.get("addressType")
    yield from check_choice("addressType", kind, ("FQDN", "IPv4", "IPv6"), required=True)
    seen: set[str] = set()
    for index, each in enumerate_objects(obj.get("ports")):
        path, name = f"ports[{index}]", each.get("name") or ""
        if name:
            yield from check_name(f"{path}.name", name, problems_of_dns_label)
        if name in seen:
            yield causes.duplicate(f"{path}.name", name)
        seen.add(name)
        protocol, protocols = each.get("protocol"), ("SCTP", "TCP", "UDP")
        yield from check_choice(f"{path}.protocol", protocol, protocols, required=True)
        if each.get("appProtocol") is not None:
            yield from check_label_key(f"{path}.appProtocol", each["appProtocol"])
    # Endpoints that an update leaves alone need not be valid.
    if old is None or not json_equal(obj.get("endpoints"), old.get("endpoints")):
        for index, each in enumerate_objects(obj.get("endpoints")):
            yield from _endpoint(each, kind, f"endpoints[{index}]")
    if old is not None and kind != old.get("addressType"):
        # A declarative rule, which does not print the value.
        yield causes.invalid("addressType", None, causes.IMMUTABLE)


def _endpoint(each: _Raw, kind: Any, path: str) -> Causes:
    addresses = each.get("addresses") or []
    if not addresses:
        yield causes.declared(causes.required(f"{path}.addresses"))
    elif len(addresses) > 100:
        yield causes.too_many(f"{path}.addresses", len(addresses), 100)
    for index, address in enumerate(addresses):
        yield from _address(address, kind, f"{path}.addresses", index)
    if each.get("nodeName") is not None:
        yield from check_name(f"{path}.nodeName", each["nodeName"], problems_of_dns_subdomain)
    if each.get("hostname") is not None:
        yield from check_name(f"{path}.hostname", each["hostname"], problems_of_dns_label)
    for field, key in (("forZones", "zones"), ("forNodes", "nodes")):
        yield from _hints(each, path, field, key)


def _hints(each: _Raw, path: str, field: str, what: str) -> Causes:
    hints = (each.get("hints") or {}).get(field) or []
    where, seen = f"{path}.hints.{field}", set()
    if len(hints) > 8:
        yield causes.too_many(where, len(hints), 8)
        return
    for index, hint in enumerate_objects(hints):
        name = hint.get("name") or ""
        if name in seen:
            yield causes.duplicate(f"{where}[{index}].name", name)
        seen.add(name)
        if name and what == "zones":
            yield from check_name(f"{where}[{index}].name", name, problems_of_label_value)


def _address(address: str, kind: Any, path: str, index: int) -> Causes:
    where = f"{path}[{index}]"
    if kind == "FQDN":
        name = address.removesuffix(".")
        problems = problems_of_dns_subdomain(name)
        yield from (causes.invalid(where, address, problem) for problem in problems)
        if not problems and "." not in name:
            rule = "should be a domain with at least two segments separated by dots"
            yield causes.invalid(where, address, rule)
    elif kind in {"IPv4", "IPv6"}:
        found = list(check_ip(where, address))
        if found:
            yield from found
            return
        if kind == "IPv6" and str(ipaddress.ip_address(address)) != address:
            yield causes.invalid(
                where, address, f'must be in canonical form ("{ipaddress.ip_address(address)}")'
            )
            return
        if ip_family(address) != kind:
            yield causes.invalid(path, address, f"must be an {kind} address")
        yield from check_endpoint_ip(where, address)


NETWORK: Final[dict[tuple[str, str], _Check]] = {
    **SCALING,
    ("discovery.k8s.io", "EndpointSlice"): _endpoint_slice,
    ("networking.k8s.io", "IPAddress"): _ip_address,
    ("networking.k8s.io", "Ingress"): _ingress,
    ("networking.k8s.io", "IngressClass"): _ingress_class,
    ("networking.k8s.io", "NetworkPolicy"): problems_of_network_policy,
    ("networking.k8s.io", "ServiceCIDR"): _service_network,
}
# The checks of writes to the subresource status.
NETWORK_STATUS: Final[dict[tuple[str, str], Callable[[_Raw, _Raw], Causes]]] = {
    **SCALING_STATUS,
    ("networking.k8s.io", "Ingress"): _ingress_status,
}
