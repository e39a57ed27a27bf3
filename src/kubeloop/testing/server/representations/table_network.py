"""The rows of services and what leads traffic to pods.

Elsewhere: the columns' names (`table_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from .human import at, items_at, labels_text, or_else, selector_text, with_more

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

Obj: TypeAlias = Mapping[str, Any]
Since: TypeAlias = Callable[[object], str]

_SHOWN: Final = 3


def _name(obj: Obj) -> Any:
    return at(obj, "metadata", "name")


def _age(obj: Obj, since: Since) -> str:
    return since(at(obj, "metadata", "creationTimestamp"))


def service_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        _name(obj),
        at(obj, "spec", "type") or "",
        or_else(at(obj, "spec", "clusterIPs", 0) or at(obj, "spec", "clusterIP"), "<none>"),
        _external_ip(obj),
        ",".join(map(_port, items_at(obj, "spec", "ports"))) or "<none>",
        _age(obj, since),
        labels_text(at(obj, "spec", "selector")),
    ]


def _external_ip(obj: Obj) -> str:
    addresses = [str(each) for each in items_at(obj, "spec", "externalIPs")]
    match at(obj, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return ",".join(addresses) or "<none>"
        case "LoadBalancer":
            return ",".join([*_load_balancer(obj), *addresses]) or "<pending>"
        case "ExternalName":
            return str(at(obj, "spec", "externalName") or "")
    return "<unknown>"


def _load_balancer(obj: Obj) -> list[str]:
    found = items_at(obj, "status", "loadBalancer", "ingress")
    return sorted({str(at(e, "ip") or at(e, "hostname") or "") for e in found} - {""})


def _port(port: Any) -> str:
    node_port = at(port, "nodePort")
    number = f"{at(port, 'port')}:{node_port}" if node_port else f"{at(port, 'port')}"
    return f"{number}/{at(port, 'protocol') or 'TCP'}"


def endpoints_cells(obj: Obj, since: Since) -> list[Any]:
    subsets = items_at(obj, "subsets")
    told = [text for subset in subsets for text in _addresses(subset)]
    text = with_more(told, shown=_SHOWN) if subsets else "<none>"
    return [_name(obj), text, _age(obj, since)]


def _addresses(subset: Any) -> list[str]:
    hosts = [str(at(each, "ip")) for each in items_at(subset, "addresses")]
    ports = [at(each, "port") for each in items_at(subset, "ports")]
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
        _name(obj),
        at(obj, "addressType") or "",
        with_more(ports, shown=_SHOWN) or "<unset>",
        with_more(hosts, shown=_SHOWN) or "<unset>",
        _age(obj, since),
    ]


def _slice_port(port: Any) -> str:
    number, name = at(port, "port"), at(port, "name")
    return str(number) if number is not None else (str(name) if name is not None else "*")


def ingress_cells(obj: Obj, since: Since) -> list[Any]:
    rules = items_at(obj, "spec", "rules")
    hosts = [str(at(each, "host")) for each in rules if at(each, "host")]
    return [
        _name(obj),
        or_else(at(obj, "spec", "ingressClassName"), "<none>"),
        with_more(hosts, shown=_SHOWN, total=len(rules)) or "*",
        ",".join(_load_balancer(obj)),
        "80, 443" if items_at(obj, "spec", "tls") else "80",
        _age(obj, since),
    ]


def ingress_class_cells(obj: Obj, since: Since) -> list[Any]:
    annotations = at(obj, "metadata", "annotations") or {}
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    name = f"{_name(obj)} (default)" if default else _name(obj)
    parameters = at(obj, "spec", "parameters")
    text = "<none>"
    if parameters is not None:
        group = at(parameters, "apiGroup")
        kind = f"{at(parameters, 'kind')}.{group}" if group else f"{at(parameters, 'kind')}"
        text = f"{kind}/{at(parameters, 'name')}"
    return [name, at(obj, "spec", "controller") or "", text, _age(obj, since)]


def network_policy_cells(obj: Obj, since: Since) -> list[Any]:
    selector = at(obj, "spec", "podSelector") or {}
    return [_name(obj), selector_text(selector), _age(obj, since)]


def service_cidr_cells(obj: Obj, since: Since) -> list[Any]:
    blocks = ",".join(map(str, items_at(obj, "spec", "cidrs")))
    return [_name(obj), blocks, _age(obj, since)]


def ip_address_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    parent = at(obj, "spec", "parentRef")
    if parent is None:
        return [_name(obj), "<none>"]
    resource, group = at(parent, "resource") or "", at(parent, "group")
    parts = [f"{resource}.{group}".lower() if group else resource.lower()]
    parts += [each for each in (at(parent, "namespace"), at(parent, "name")) if each]
    return [_name(obj), "/".join(parts)]
