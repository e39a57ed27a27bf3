"""EndpointSlice (discovery.k8s.io): defaults, validation, warnings and columns."""

from __future__ import annotations

import ipaddress
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain, problems_of_label_value
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import json_equal, map_items, value_at
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
    enumerate_objects,
    ip_family,
)

__all__ = ["KIND"]

_SERVICE_PORT: Final = {"name": "", "protocol": "TCP"}


def _endpoint_port(port: JsonObject) -> JsonObject:
    # `SetDefaults_EndpointPort` writes the empty name too.
    return {**_SERVICE_PORT, **port} if _SERVICE_PORT.keys() - port.keys() else port


def _validate(obj: Json, old: Json | None) -> Causes:
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


def _endpoint(each: Json, kind: Any, path: str) -> Causes:
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


def _hints(each: Json, path: str, field: str, what: str) -> Causes:
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


def _warn(obj: Json, old: Json | None) -> Warnings:
    kind = obj.get("addressType")
    if old is None and kind == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    if kind not in {"IPv4", "IPv6"}:
        return
    for index, each in enumerate_objects(obj.get("endpoints")):
        for number, address in enumerate(each.get("addresses") or ()):
            yield from address_warnings(f"endpoints[{index}].addresses[{number}]", address)


def _cells(obj: Json, since: Since) -> list[Any]:
    ports = [_slice_port(each) for each in items_at(obj, "ports")]
    found = items_at(obj, "endpoints")
    hosts = [str(host) for each in found for host in items_at(each, "addresses")]
    return [
        name_of(obj),
        value_at(obj, "addressType") or "",
        with_more(ports, limit=ITEMS_LIMIT) or "<unset>",
        with_more(hosts, limit=ITEMS_LIMIT) or "<unset>",
        age_of(obj, since),
    ]


def _slice_port(port: Any) -> str:
    number, name = value_at(port, "port"), value_at(port, "name")
    return str(number) if number is not None else (str(name) if name is not None else "*")


KIND: Final = Kind(
    "discovery.k8s.io",
    "EndpointSlice",
    generation="counted",
    counted_metadata="labels",
    defaults=(lambda obj: map_items(obj, "ports", _endpoint_port),),
    validate=_validate,
    warn=_warn,
    columns="Name, AddressType, Ports, Endpoints, Age",
    cells=_cells,
)
