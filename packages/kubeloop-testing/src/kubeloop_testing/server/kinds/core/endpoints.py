"""Endpoints: defaults, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import json_equal, map_items, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.address_warnings import address_warnings
from ..rules.cell_text import age_of, items_at, name_of, with_more
from ..rules.cells import ITEMS_LIMIT
from ..rules.value_rules import (
    check_choice,
    check_endpoint_ip,
    check_ip,
    check_label_key,
    check_name,
    check_port,
    enumerate_objects,
)

__all__ = ["KIND"]


def _subset(subset: JsonObject) -> JsonObject:
    return map_items(subset, "ports", lambda port: with_defaults(port, {"protocol": "TCP"}))


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateEndpoints`; unchanged subsets need not be valid.
    if old is not None and json_equal(obj.get("subsets"), old.get("subsets")):
        return
    for index, subset in enumerate_objects(obj.get("subsets")):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            rule = "must specify `addresses` or `notReadyAddresses`"
            yield causes.required(path, rule)
        for field in ("addresses", "notReadyAddresses"):
            for number, each in enumerate_objects(subset.get(field)):
                yield from _endpoint_address(each, f"{path}.{field}[{number}]")
        several = len(subset.get("ports") or ()) > 1
        for number, each in enumerate_objects(subset.get("ports")):
            yield from _endpoint_port(each, f"{path}.ports[{number}]", needs_name=several)


def _endpoint_address(each: Json, path: str) -> Causes:
    address = str(each.get("ip") or "")
    yield from check_ip(f"{path}.ip", address)
    if each.get("hostname"):
        yield from check_name(f"{path}.hostname", each["hostname"], problems_of_dns_label)
    if each.get("nodeName") is not None:
        yield from check_name(f"{path}.nodeName", each["nodeName"], problems_of_dns_subdomain)
    yield from check_endpoint_ip(f"{path}.ip", address)


def _endpoint_port(each: Json, path: str, *, needs_name: bool) -> Causes:
    name = each.get("name") or ""
    if name:
        yield from check_name(f"{path}.name", name, problems_of_dns_label)
    elif needs_name:
        yield causes.required(f"{path}.name")
    yield from check_port(f"{path}.port", each.get("port") or 0)
    protocols = ("SCTP", "TCP", "UDP")
    yield from check_choice(f"{path}.protocol", each.get("protocol"), protocols, required=True)
    if each.get("appProtocol") is not None:
        yield from check_label_key(f"{path}.appProtocol", each["appProtocol"])


_MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"


def _warn(obj: Json, _: Json | None) -> Warnings:
    if value_at(obj, "metadata", "labels", _MANAGED_BY) == "endpoint-controller":
        return
    for index, subset in enumerate_objects(obj.get("subsets")):
        for field in ("addresses", "notReadyAddresses"):
            for number, each in enumerate_objects(subset.get(field)):
                path = f"subsets[{index}].{field}[{number}].ip"
                yield from address_warnings(path, each.get("ip") or "")


def _cells(obj: Json, since: Since) -> list[Any]:
    subsets = items_at(obj, "subsets")
    addresses = [text for subset in subsets for text in _addresses(subset)]
    text = with_more(addresses, limit=ITEMS_LIMIT) if subsets else "<none>"
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


KIND: Final = Kind(
    "",
    "Endpoints",
    deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    creates_on_update=True,
    defaults=(lambda obj: map_items(obj, "subsets", _subset),),
    validate=_validate,
    warn=_warn,
    columns="Name, Endpoints, Age",
    cells=_cells,
)
