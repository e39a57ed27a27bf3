"""The cells of network kinds: services, endpoints, ingresses, policies.

See also: the names of the columns (`table_kinds`).
"""

from __future__ import annotations

from typing import Any, Final

from ..values.json_values import value_at
from .cell_text import (
    Obj,
    Since,
    age_of,
    items_at,
    labels_text,
    name_of,
    or_else,
    selector_text,
    with_more,
)

__all__ = [
    "endpoint_slice_cells",
    "endpoints_cells",
    "ingress_cells",
    "ingress_class_cells",
    "ip_address_cells",
    "network_policy_cells",
    "service_cells",
    "service_cidr_cells",
]

_LIMIT: Final = 3  # addresses, ports or hosts in one cell


def service_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "spec", "type") or "",
        or_else(
            value_at(obj, "spec", "clusterIPs", 0) or value_at(obj, "spec", "clusterIP"), "<none>"
        ),
        _external_ip(obj),
        ",".join(map(_port, items_at(obj, "spec", "ports"))) or "<none>",
        age_of(obj, since),
        labels_text(value_at(obj, "spec", "selector")),
    ]


def _external_ip(obj: Obj) -> str:
    # `getServiceExternalIP`.
    addresses = [str(each) for each in items_at(obj, "spec", "externalIPs")]
    match value_at(obj, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return ",".join(addresses) or "<none>"
        case "LoadBalancer":
            return ",".join([*_load_balancer(obj), *addresses]) or "<pending>"
        case "ExternalName":
            return str(value_at(obj, "spec", "externalName") or "")
    return "<unknown>"


def _load_balancer(obj: Obj) -> list[str]:
    found = items_at(obj, "status", "loadBalancer", "ingress")
    return sorted({str(value_at(e, "ip") or value_at(e, "hostname") or "") for e in found} - {""})


def _port(port: Any) -> str:
    node_port = value_at(port, "nodePort")
    number = f"{value_at(port, 'port')}:{node_port}" if node_port else f"{value_at(port, 'port')}"
    return f"{number}/{value_at(port, 'protocol') or 'TCP'}"


def endpoints_cells(obj: Obj, since: Since) -> list[Any]:
    subsets = items_at(obj, "subsets")
    addresses = [text for subset in subsets for text in _addresses(subset)]
    text = with_more(addresses, limit=_LIMIT) if subsets else "<none>"
    return [name_of(obj), text, age_of(obj, since)]


def _addresses(subset: Any) -> list[str]:
    # `formatEndpoints` lists each port with each address.
    hosts = [str(value_at(each, "ip")) for each in items_at(subset, "addresses")]
    ports = [value_at(each, "port") for each in items_at(subset, "ports")]
    if not ports:
        return hosts
    return [_host_port(host, port) for port in ports for host in hosts]


def _host_port(host: str, port: object) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def endpoint_slice_cells(obj: Obj, since: Since) -> list[Any]:
    ports = [_slice_port(each) for each in items_at(obj, "ports")]
    found = items_at(obj, "endpoints")
    hosts = [str(host) for each in found for host in items_at(each, "addresses")]
    return [
        name_of(obj),
        value_at(obj, "addressType") or "",
        with_more(ports, limit=_LIMIT) or "<unset>",
        with_more(hosts, limit=_LIMIT) or "<unset>",
        age_of(obj, since),
    ]


def _slice_port(port: Any) -> str:
    number, name = value_at(port, "port"), value_at(port, "name")
    return str(number) if number is not None else (str(name) if name is not None else "*")


def ingress_cells(obj: Obj, since: Since) -> list[Any]:
    # Without hosts the rules apply to all, hence `*`.
    rules = items_at(obj, "spec", "rules")
    hosts = [str(value_at(each, "host")) for each in rules if value_at(each, "host")]
    return [
        name_of(obj),
        or_else(value_at(obj, "spec", "ingressClassName"), "<none>"),
        with_more(hosts, limit=_LIMIT, total=len(rules)) or "*",
        ",".join(_load_balancer(obj)),
        "80, 443" if items_at(obj, "spec", "tls") else "80",
        age_of(obj, since),
    ]


def ingress_class_cells(obj: Obj, since: Since) -> list[Any]:
    annotations = value_at(obj, "metadata", "annotations") or {}
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    name = f"{name_of(obj)} (default)" if default else name_of(obj)
    parameters = value_at(obj, "spec", "parameters")
    text = "<none>"
    if parameters is not None:
        group = value_at(parameters, "apiGroup")
        kind = (
            f"{value_at(parameters, 'kind')}.{group}"
            if group
            else f"{value_at(parameters, 'kind')}"
        )
        text = f"{kind}/{value_at(parameters, 'name')}"
    return [name, value_at(obj, "spec", "controller") or "", text, age_of(obj, since)]


def network_policy_cells(obj: Obj, since: Since) -> list[Any]:
    selector = value_at(obj, "spec", "podSelector") or {}
    return [name_of(obj), selector_text(selector), age_of(obj, since)]


def service_cidr_cells(obj: Obj, since: Since) -> list[Any]:
    blocks = ",".join(map(str, items_at(obj, "spec", "cidrs")))
    return [name_of(obj), blocks, age_of(obj, since)]


def ip_address_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    # `printIPAddress`.
    parent = value_at(obj, "spec", "parentRef")
    if parent is None:
        return [name_of(obj), "<none>"]
    resource, group = value_at(parent, "resource") or "", value_at(parent, "group")
    parts = [f"{resource}.{group}".lower() if group else resource.lower()]
    parts += [each for each in (value_at(parent, "namespace"), value_at(parent, "name")) if each]
    return [name_of(obj), "/".join(parts)]
