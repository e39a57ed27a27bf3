"""NetworkPolicy (networking.k8s.io): defaults, validation, warnings and columns."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_items, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.address_warnings import network_warnings
from ..rules.cell_text import age_of, name_of, selector_text
from ..rules.defaults import in_spec
from ..rules.value_rules import (
    check_choice,
    check_cidr,
    check_port,
    check_port_or_name,
    check_selector,
    enumerate_objects,
)

__all__ = ["KIND"]


def _network_policy(spec: JsonObject) -> JsonObject:
    # `SetDefaults_NetworkPolicy`: a policy affects egress only if it has egress rules.
    if not spec.get("policyTypes"):
        types = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        spec = {**spec, "policyTypes": types}
    return map_items(
        spec,
        ("ingress", "egress"),
        lambda rule: map_items(
            rule, "ports", lambda port: with_defaults(port, {"protocol": "TCP"})
        ),
    )


def _validate(obj: Json, _: Json | None) -> Causes:
    """What is wrong with a network policy."""
    # `ValidateNetworkPolicySpec`.
    spec = obj.get("spec") or {}
    yield from check_selector("spec.podSelector", spec.get("podSelector"))
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate_objects(spec.get(direction)):
            path = f"spec.{direction}[{index}]"
            for number, each in enumerate_objects(rule.get("ports")):
                yield from _policy_port(each, f"{path}.ports[{number}]")
            for number, each in enumerate_objects(rule.get(peers)):
                yield from _peer(each, f"{path}.{peers}[{number}]")
    types = spec.get("policyTypes") or []
    if len(types) > 2:
        yield causes.invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(types):
        yield from check_choice(f"spec.policyTypes[{index}]", kind, ("Ingress", "Egress"))


def _policy_port(each: Json, path: str) -> Causes:
    # `ValidateNetworkPolicyPort`.
    port, end = each.get("port"), each.get("endPort")
    yield from check_choice(f"{path}.protocol", each.get("protocol"), ("TCP", "UDP", "SCTP"))
    if port is None:
        if end is not None:
            yield causes.invalid(
                f"{path}.endPort", end, "may not be specified when `port` is not specified"
            )
        return
    yield from check_port_or_name(f"{path}.port", port)
    if end is None:
        return
    if isinstance(port, str):
        yield causes.invalid(
            f"{path}.endPort", end, "may not be specified when `port` is non-numeric"
        )
        return
    if end < port:
        rule = "must be greater than or equal to `port`"
        yield causes.invalid(f"{path}.endPort", end, rule)
    yield from check_port(f"{path}.endPort", end)


def _peer(peer: Json, path: str) -> Causes:
    # `ValidateNetworkPolicyPeer`.
    present = 0
    for field in ("podSelector", "namespaceSelector"):
        if peer.get(field) is not None:
            present += 1
            yield from check_selector(f"{path}.{field}", peer[field])
    block = peer.get("ipBlock")
    if isinstance(block, Mapping):
        present += 1
        yield from _ip_block(block, f"{path}.ipBlock")
        if present > 1:
            yield causes.forbidden(path, "may not specify both ipBlock and another peer")
    if not present:
        yield causes.required(path, "must specify a peer")


def _ip_block(block: Json, path: str) -> Causes:
    network = block.get("cidr") or ""
    if not network:
        yield causes.declared(causes.required(f"{path}.cidr"))
        return
    problems = list(check_cidr(f"{path}.cidr", network))
    yield from problems
    parsed = _network_of(network)
    if parsed is None:
        return
    for index, each in enumerate(block.get("except") or ()):
        where, inner = f"{path}.except[{index}]", _network_of(each)
        yield from check_cidr(where, each)
        if inner is None:
            continue
        is_within = (
            inner.version == parsed.version
            and inner.subnet_of(parsed)  # type: ignore[arg-type]  # of the same version
            and inner.prefixlen > parsed.prefixlen
        )
        if not is_within:
            yield causes.invalid(where, each, "must be a strict subset of `cidr`")


def _network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _warn(obj: Json, _: Json | None) -> Warnings:
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate_objects(value_at(obj, "spec", direction)):
            for number, peer in enumerate_objects(rule.get(peers)):
                block = peer.get("ipBlock") or {}
                path = f"spec.{direction}[{index}].{peers}[{number}].ipBlock"
                yield from network_warnings(f"{path}.cidr", block.get("cidr") or "")
                for order, each in enumerate(block.get("except") or ()):
                    yield from network_warnings(f"{path}.except[{order}]", each)


def _cells(obj: Json, since: Since) -> list[Any]:
    selector = value_at(obj, "spec", "podSelector") or {}
    return [name_of(obj), selector_text(selector), age_of(obj, since)]


KIND: Final = Kind(
    "networking.k8s.io",
    "NetworkPolicy",
    generation="counted",
    defaults=(in_spec(_network_policy),),
    validate=_validate,
    warn=_warn,
    columns="Name, Pod-Selector, Age",
    cells=_cells,
)
