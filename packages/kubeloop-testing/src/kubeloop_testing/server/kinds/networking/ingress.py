"""Ingress (networking.k8s.io): validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain, problems_of_path_segment

from ...values import causes
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.cell_text import age_of, items_at, name_of, or_else, with_more
from ..rules.cells import ITEMS_LIMIT, balancer_addresses
from ..rules.value_rules import (
    check_choice,
    check_ip,
    check_name,
    check_port,
    check_port_or_name,
    enumerate_objects,
    is_ip_address,
)
from ..rules.warnings import annotations_of, balancer_warnings

__all__ = ["KIND", "check_typed_reference"]

_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_INVALID_PARTS: Final = ("//", "/./", "/../", "%2f", "%2F")
_INVALID_SUFFIXES: Final = ("/..", "/.")
_CLASS: Final = "kubernetes.io/ingress.class"


def _validate(obj: Json, old: Json | None) -> Causes:
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


def _paths(http: Json, path: str) -> Causes:
    if not http.get("paths"):
        yield causes.required(path)
    for index, each in enumerate_objects(http.get("paths")):
        yield from _ingress_path(each, f"{path}[{index}]")


def _ingress_path(each: Json, path: str) -> Causes:
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


def _backend(backend: Json, path: str) -> Causes:
    # `validateIngressBackend`.
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield causes.invalid(path, "", "cannot set both resource and service backends")
    elif service is None and resource is None:
        yield causes.invalid(path, "", "resource or service backend is required")
    elif isinstance(service, Mapping):
        yield from _service_backend(service, path)
    elif isinstance(resource, Mapping):
        yield from check_typed_reference(resource, f"{path}.resource")


def check_typed_reference(ref: Json, path: str) -> Causes:
    # `validateIngressTypedLocalObjectReference`.
    if ref.get("apiGroup") is not None:
        yield from check_name(f"{path}.apiGroup", ref["apiGroup"], problems_of_dns_subdomain)
    for field in ("kind", "name"):
        if not ref.get(field):
            yield causes.declared(causes.required(f"{path}.{field}"))
        else:
            yield from check_name(f"{path}.{field}", ref[field], problems_of_path_segment)


def _service_backend(service: Json, path: str) -> Causes:
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


def _validate_status(obj: Json, _: Json) -> Causes:
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


_INGRESS_CLASS: Final = "kubernetes.io/ingress.class"


def _warn(obj: Json, old: Json | None) -> Warnings:
    is_set = value_at(obj, "spec", "ingressClassName") is not None
    if old is None and _INGRESS_CLASS in annotations_of(obj) and not is_set:
        yield (
            f'annotation "{_INGRESS_CLASS}" is deprecated, please use '
            "'spec.ingressClassName' instead"
        )


def _cells(obj: Json, since: Since) -> list[Any]:
    # Without hosts the rules apply to all, hence `*`.
    rules = items_at(obj, "spec", "rules")
    hosts = [str(value_at(each, "host")) for each in rules if value_at(each, "host")]
    return [
        name_of(obj),
        or_else(value_at(obj, "spec", "ingressClassName"), "<none>"),
        with_more(hosts, limit=ITEMS_LIMIT, total=len(rules)) or "*",
        ",".join(balancer_addresses(obj)),
        "80, 443" if items_at(obj, "spec", "tls") else "80",
        age_of(obj, since),
    ]


KIND: Final = Kind(
    "networking.k8s.io",
    "Ingress",
    generation="counted",
    validate=_validate,
    validate_parts={"status": _validate_status},
    warn=_warn,
    warn_status=balancer_warnings,
    columns="Name, Class, Hosts, Address, Ports, Age",
    cells=_cells,
)
