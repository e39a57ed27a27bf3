"""Service: defaults, allocation, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values.json_values import map_field, map_items, value_at, with_defaults, without
from ..kind import Json, Kind, Since, Warnings, own_paths
from ..rules.address_warnings import address_warnings, network_warnings
from ..rules.cell_text import age_of, items_at, labels_text, name_of, or_else
from ..rules.cells import balancer_addresses
from ..rules.defaults import in_spec
from ..rules.names import label_name
from ..rules.warnings import annotations_of, balancer_warnings
from .service_allocation import allocate_service, update_service
from .service_validation import problems_of_load_balancer, problems_of_service

__all__ = ["KIND"]


def _service(spec: JsonObject) -> JsonObject:
    # `SetDefaults_Service`.
    spec = with_defaults(spec, {"sessionAffinity": "None", "type": "ClusterIP"})
    spec = _affinity(spec)
    kind = spec["type"]
    if kind in {"NodePort", "LoadBalancer"} or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec = with_defaults(spec, {"externalTrafficPolicy": "Cluster"})
    if kind in {"ClusterIP", "NodePort", "LoadBalancer"}:
        spec = with_defaults(spec, {"internalTrafficPolicy": "Cluster"})
    if kind == "LoadBalancer":
        spec = with_defaults(spec, {"allocateLoadBalancerNodePorts": True})
    return map_items(spec, "ports", _service_port)


def _affinity(spec: JsonObject) -> JsonObject:
    # Sticky sessions last three hours by default.
    if spec["sessionAffinity"] == "None":
        return without(spec, "sessionAffinityConfig")
    if spec["sessionAffinity"] != "ClientIP":
        return spec
    if value_at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") is not None:
        return spec
    return {**spec, "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}}


def _service_port(port: JsonObject) -> JsonObject:
    # The target defaults to the port itself.
    port = with_defaults(port, {"protocol": "TCP"})
    if port.get("targetPort") in (None, 0, "") and "port" in port:
        port = {**port, "targetPort": port["port"]}
    return port


def _ip_modes(obj: JsonObject) -> JsonObject:
    # `SetDefaults_ServiceLoadBalancerIngress`, part of `SetDefaults_Service`.
    entries = value_at(obj, "status", "loadBalancer", "ingress")
    if value_at(obj, "spec", "type") != "LoadBalancer" or not entries:
        return obj

    def fill(entry: JsonObject) -> JsonObject:
        return with_defaults(entry, {"ipMode": "VIP"}) if entry.get("ip") else entry

    return map_field(
        obj,
        "status",
        lambda status: map_field(
            status, "loadBalancer", lambda balancer: map_items(balancer, "ingress", fill)
        ),
    )


_HINTS: Final = "service.kubernetes.io/topology-aware-hints"


def _warn(obj: Json, _: Json | None) -> Warnings:
    spec = obj.get("spec") or {}
    kind = spec.get("type")
    is_headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if _HINTS in annotations_of(obj):
        yield (
            f"annotation {_HINTS} is deprecated, please use "
            "service.kubernetes.io/topology-mode instead"
        )
    if not is_headless:
        for index, each in enumerate(spec.get("clusterIPs") or ()):
            yield from address_warnings(f"spec.clusterIPs[{index}]", each)
    yield from _ignored_fields(spec, is_headless=is_headless)
    if spec.get("loadBalancerIP"):
        yield from address_warnings("spec.loadBalancerIP", spec["loadBalancerIP"])
    for index, each in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from network_warnings(f"spec.loadBalancerSourceRanges[{index}]", each)
    if kind != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _ignored_fields(spec: Json, *, is_headless: bool) -> Warnings:
    addresses = spec.get("externalIPs") or []
    ignored = {
        "loadBalancerIP": spec.get("loadBalancerIP"),
        "externalIPs": addresses,
        "SessionAffinity": spec.get("sessionAffinity") not in (None, "None"),
    }
    for field, value in ignored.items():
        if is_headless and value:
            yield f"spec.{field} is ignored for headless services"
    for index, each in enumerate(addresses):
        yield from address_warnings(f"spec.externalIPs[{index}]", each)
    if addresses and spec.get("type") == "ExternalName":
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    elif addresses and not is_headless:
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"


def _cells(obj: Json, since: Since) -> list[Any]:
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


def _external_ip(obj: Json) -> str:
    # `getServiceExternalIP`.
    addresses = [str(each) for each in items_at(obj, "spec", "externalIPs")]
    match value_at(obj, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return ",".join(addresses) or "<none>"
        case "LoadBalancer":
            return ",".join([*balancer_addresses(obj), *addresses]) or "<pending>"
        case "ExternalName":
            return str(value_at(obj, "spec", "externalName") or "")
    return "<unknown>"


def _port(port: Any) -> str:
    node_port = value_at(port, "nodePort")
    number = f"{value_at(port, 'port')}:{node_port}" if node_port else f"{value_at(port, 'port')}"
    return f"{number}/{value_at(port, 'protocol') or 'TCP'}"


KIND: Final = Kind(
    "",
    "Service",
    creates_on_update=True,
    returns_deleted=True,
    name_rule=label_name,
    selectable=own_paths("spec.clusterIP", "spec.type"),
    defaults=(in_spec(_service), _ip_modes),
    allocate_new=allocate_service,
    allocate_update=update_service,
    validate=problems_of_service,
    validate_parts={"status": problems_of_load_balancer},
    warn=_warn,
    warn_status=balancer_warnings,
    columns="Name, Type, Cluster-IP, External-IP, Port(s), Age, *Selector",
    cells=_cells,
)
