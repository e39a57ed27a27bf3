"""The layouts of services, endpoint slices, ingresses and network policies."""

from __future__ import annotations

from collections.abc import Sequence

from .page import Json, Page, go_bool, labels_text, selector_text

__all__ = [
    "describe_endpoint_slice",
    "describe_endpoints",
    "describe_ingress",
    "describe_ingress_class",
    "describe_network_policy",
    "describe_service",
]

_MOST_ENDPOINTS = 3  # that are shown


def describe_service(page: Page, service: Json, slices: Sequence[Json]) -> None:
    spec = service.get("spec") or {}
    page.add_metadata(service)
    page.add(0, "Selector:", labels_text(spec.get("selector")))
    page.add(0, "Type:", spec.get("type") or "")
    if spec.get("ipFamilyPolicy"):
        page.add(0, "IP Family Policy:", spec["ipFamilyPolicy"])
    page.add(0, "IP Families:", ",".join(spec.get("ipFamilies") or ()) or "<none>")
    page.add(0, "IP:", spec.get("clusterIP") or "")
    page.add(0, "IPs:", ",".join(spec.get("clusterIPs") or ()) or "<none>")
    if spec.get("externalIPs"):
        page.add(0, "External IPs:", ",".join(spec["externalIPs"]))
    if spec.get("loadBalancerIP"):
        page.add(0, "Desired LoadBalancer IP:", spec["loadBalancerIP"])
    if spec.get("externalName"):
        page.add(0, "External Name:", spec["externalName"])
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    if ingress:
        page.add(0, "LoadBalancer Ingress:", _load_balancer_text(ingress))
    for port in spec.get("ports") or ():
        _add_port(page, port, slices)
    page.add(0, "Session Affinity:", spec.get("sessionAffinity") or "")
    for title, field in (
        ("External Traffic Policy:", "externalTrafficPolicy"),
        ("Internal Traffic Policy:", "internalTrafficPolicy"),
        ("Traffic Distribution:", "trafficDistribution"),
        ("HealthCheck NodePort:", "healthCheckNodePort"),
    ):
        if spec.get(field):
            page.add(0, title, spec[field])
    if spec.get("loadBalancerSourceRanges"):
        page.add(0, "LoadBalancer Source Ranges:", ",".join(spec["loadBalancerSourceRanges"]))


def _add_port(page: Page, port: Json, slices: Sequence[Json]) -> None:
    name, protocol = port.get("name") or "<unset>", port.get("protocol") or "TCP"
    page.add(0, "Port:", name, f"{port.get('port')}/{protocol}")
    page.add(0, "TargetPort:", f"{port.get('targetPort') or port.get('port')}/{protocol}")
    if port.get("nodePort"):
        page.add(0, "NodePort:", name, f"{port['nodePort']}/{protocol}")
    page.add(0, "Endpoints:", _endpoints_text(slices, port.get("name") or ""))


def _load_balancer_text(ingress: Sequence[Json]) -> str:
    found = []
    for each in ingress:
        mode = f" ({each['ipMode']})" if each.get("ipMode") else ""
        found.append(f"{each['ip']}{mode}" if each.get("ip") else str(each.get("hostname") or ""))
    return ", ".join(found)


def _endpoints_text(slices: Sequence[Json], port_name: str) -> str:
    """The ready addresses with the port of this name."""
    if not slices:
        return "<none>"
    found = [
        f"[{address}]:{port['port']}" if ":" in address else f"{address}:{port['port']}"
        for each in slices
        for port in each.get("ports") or ()
        if port.get("port") is not None and (port.get("name") or "") == port_name
        for endpoint in each.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint.get("addresses") or ()
    ]
    shown = ",".join(found[:_MOST_ENDPOINTS])
    left = len(found) - _MOST_ENDPOINTS
    return f"{shown} + {left} more..." if left > 0 else shown


def describe_endpoint_slice(page: Page, obj: Json) -> None:
    page.add_metadata(obj)
    page.add(0, "AddressType:", obj.get("addressType") or "")
    if obj.get("ports"):
        page.add(0, "Ports:")
        page.add_table(1, ("Name", "Port", "Protocol"))
        for port in obj["ports"]:
            number = port.get("port")
            protocol = port.get("protocol") or "<unset>"
            page.add(
                1, port.get("name") or "<unset>", "<unset>" if number is None else number, protocol
            )
    else:
        page.add(0, "Ports:", "<unset>")
    endpoints = obj.get("endpoints") or ()
    page.add(0, "Endpoints:", *([] if endpoints else ["<none>"]))
    for endpoint in endpoints:
        page.add(1, "- Addresses:", ", ".join(endpoint.get("addresses") or ()) or "<none>")
        page.add(2, "Conditions:")
        ready = (endpoint.get("conditions") or {}).get("ready")
        page.add(3, "Ready:", "<unset>" if ready is None else go_bool(ready))
        page.add(2, "Hostname:", endpoint.get("hostname") or "<unset>")
        if target := endpoint.get("targetRef"):
            page.add(2, "TargetRef:", f"{target.get('kind')}/{target.get('name')}")
        page.add(2, "NodeName:", endpoint.get("nodeName") or "<unset>")
        page.add(2, "Zone:", endpoint.get("zone") or "<unset>")


def describe_endpoints(page: Page, obj: Json) -> None:
    page.add_metadata(obj)
    page.add(0, "Subsets:")
    for subset in obj.get("subsets") or ():
        for title, field in (
            ("Addresses:", "addresses"),
            ("NotReadyAddresses:", "notReadyAddresses"),
        ):
            found = ",".join(str(each.get("ip")) for each in subset.get(field) or ())
            page.add(1, title, found or "<none>")
        if subset.get("ports"):
            page.add(1, "Ports:")
            page.add_table(2, ("Name", "Port", "Protocol"))
            for port in subset["ports"]:
                name = port.get("name") or "<unset>"
                page.add(2, name, port.get("port"), port.get("protocol") or "TCP")
        page.add_blank()


# --- ingresses


def describe_ingress_class(page: Page, obj: Json) -> None:
    spec = obj.get("spec") or {}
    page.add_metadata(obj, namespace=False)
    page.add(0, "Controller:", spec.get("controller") or "")
    if given := spec.get("parameters"):
        page.add(0, "Parameters:")
        for title, field in (("APIGroup:", "apiGroup"), ("Kind:", "kind"), ("Name:", "name")):
            if field != "apiGroup" or given.get(field):
                page.add(1, title, given.get(field) or "")


def describe_ingress(
    page: Page, ingress: Json, services: Sequence[Json], slices: Sequence[Json]
) -> None:
    metadata, spec = ingress["metadata"], ingress.get("spec") or {}

    def backend_text(backend: Json) -> str:
        return _backend_text(backend, services, slices)

    page.add(0, "Name:", metadata.get("name") or "")
    page.add_labels("Labels", metadata.get("labels"))
    page.add(0, "Namespace:", metadata.get("namespace") or "")
    addresses = ((ingress.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    found = [str(each.get("ip") or each.get("hostname") or "") for each in addresses]
    page.add(0, "Address:", ",".join(found))
    page.add(0, "Ingress Class:", spec.get("ingressClassName") or "<none>")
    default = spec.get("defaultBackend")
    page.add(0, "Default backend:", backend_text(default) if default else "<default>")
    if spec.get("tls"):
        page.add(0, "TLS:")
        for each in spec["tls"]:
            hosts = ",".join(each.get("hosts") or ())
            secret = each.get("secretName")
            page.add(1, f"{secret} terminates {hosts}" if secret else f"SNI routes {hosts}")
    page.add(0, "Rules:")
    page.add_table(1, ("Host", "Path", "Backends"))
    rules = [rule for rule in spec.get("rules") or () if rule.get("http")]
    for rule in rules:
        page.add(1, rule.get("host") or "*", "")
        for path in rule["http"].get("paths") or ():
            page.add(2, "", f"{path.get('path') or ''} ", backend_text(path.get("backend") or {}))
    if not rules:
        page.add(1, "*", "*", backend_text(default) if default else "<default>")
    page.add_annotations(metadata.get("annotations"))


def _backend_text(backend: Json, services: Sequence[Json], slices: Sequence[Json]) -> str:
    if resource := backend.get("resource"):
        group = resource.get("apiGroup") or "<none>"
        return f"APIGroup: {group}, Kind: {resource.get('kind')}, Name: {resource.get('name')}"
    target = backend.get("service") or {}
    port = target.get("port") or {}
    name = target.get("name")
    title = f"{name}:{port.get('name') or port.get('number') or ''}"
    service = next((each for each in services if each["metadata"].get("name") == name), None)
    if service is None:
        return f'{title} (<error: services "{name}" not found>)'
    port_name = port.get("name") or next(
        (
            each.get("name") or ""
            for each in (service.get("spec") or {}).get("ports") or ()
            if each.get("port") == port.get("number")
        ),
        "",
    )
    key = "kubernetes.io/service-name"
    own = [each for each in slices if (each["metadata"].get("labels") or {}).get(key) == name]
    return f"{title} ({_endpoints_text(own, port_name)})"


# --- network policies


def describe_network_policy(page: Page, obj: Json) -> None:
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    page.add(0, "Name:", metadata.get("name") or "")
    page.add(0, "Namespace:", metadata.get("namespace") or "")
    created = str(metadata.get("creationTimestamp") or "")
    page.add(0, "Created on:", f"{created.replace('T', ' ').removesuffix('Z')} +0000 UTC")
    page.add_labels("Labels", metadata.get("labels"))
    page.add_annotations(metadata.get("annotations"))
    page.add(0, "Spec:")
    selector = selector_text(spec.get("podSelector") or {})
    everything = "<none> (Allowing the specific traffic to all pods in this namespace)"
    page.add_text([f"  PodSelector:     {everything if selector == '<none>' else selector}"])
    kinds = spec.get("policyTypes") or ["Ingress"]
    for direction, peer, peers in (("Ingress", "From", "from"), ("Egress", "To", "to")):
        if direction not in kinds:
            page.add(1, f"Not affecting {direction.lower()} traffic")
            continue
        page.add(1, f"Allowing {direction.lower()} traffic:")
        rules = spec.get(direction.lower()) or ()
        if not rules:
            what = f"Selected pods are isolated for {direction.lower()} connectivity"
            page.add(2, f"<none> ({what})")
        for number, rule in enumerate(rules):
            if number:
                page.add(2, "----------")
            _add_rule(page, rule, peer, rule.get(peers) or ())
    page.add(1, f"Policy Types: {', '.join(kinds)}")


def _add_rule(page: Page, rule: Json, peer: str, peers: Sequence[Json]) -> None:
    ports = rule.get("ports") or ()
    for port in ports:
        number, protocol = port.get("port", "<nil>"), port.get("protocol") or "TCP"
        if port.get("endPort"):
            page.add(2, f"To Port Range: {number}-{port['endPort']}/{protocol}")
        else:
            page.add(2, f"To Port: {number}/{protocol}")
    if not ports:
        page.add(2, "To Port: <any> (traffic allowed to all ports)")
    if not peers:
        restricted = "source" if peer == "From" else "destination"
        page.add(2, f"{peer}: <any> (traffic not restricted by {restricted})")
    else:
        page.add(2, f"{peer}:")
    for number, each in enumerate(peers):
        if number:
            page.add(2, f"{peer}:")
        if block := each.get("ipBlock"):
            page.add(3, "IPBlock:")
            page.add(4, f"CIDR: {block.get('cidr')}")
            page.add(4, f"Except: {', '.join(block.get('except') or ())}")
            continue
        for title, field in (
            ("NamespaceSelector", "namespaceSelector"),
            ("PodSelector", "podSelector"),
        ):
            if each.get(field) is not None:
                page.add(3, f"{title}: {selector_text(each[field])}")
