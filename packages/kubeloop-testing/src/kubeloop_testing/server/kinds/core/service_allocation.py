"""Allocates the addresses and ports of services, at creation and at changes of their types.

Guarantees: the families, addresses, node ports and health check ports that kube-apiserver
allocates in a cluster with IPv4 only. A write that fails releases them (`allocation`).
See also: what is free (`allocation`), the rules (`service_validation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.wire import JsonObject

from ...statuses import Cause, internal_error, invalid
from ...values import causes
from ...values.json_values import map_field, map_items, value_at, with_defaults, without
from .allocation import Reservation
from .service_validation import is_externally_accessible, needs_health_check, problems_of_addresses

__all__ = ["allocate_service", "update_service"]

_ADDRESSES: Final = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
_WITH_PORTS: Final = frozenset({"NodePort", "LoadBalancer"})


def allocate_service(obj: JsonObject, reservation: Reservation) -> JsonObject:
    """A new service with its addresses and ports.

    Raises:
        StatusError: a requested address or port cannot be allocated (422).
    """
    spec = obj.get("spec") or {}
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec = {**spec, "clusterIPs": [spec["clusterIP"]]}
    return _allocate({**obj, "spec": spec}, None, reservation)


def update_service(new: JsonObject, old: JsonObject, reservation: Reservation) -> JsonObject:
    """`new` with the allocations of `old` that it does not mention.

    Raises:
        StatusError: a requested address or port cannot be allocated (422).
    """
    before = old.get("spec") or {}
    new = map_field(new, "spec", lambda spec: _normalized(_patched(spec, before), before))
    if _changes_address(new.get("spec") or {}, before):
        return _without_type_fields(new, before)  # validation will reject it
    reservation.own(old)
    return _without_type_fields(_allocate(new, old, reservation), before)


def _allocate(
    obj: JsonObject, old: Mapping[str, Any] | None, reservation: Reservation
) -> JsonObject:
    problems: list[Cause] = []
    name = value_at(obj, "metadata", "name") or ""
    spec = obj.get("spec") or {}
    if spec.get("type") != "ExternalName":
        spec = _with_families(spec, old, problems)
        if problems:
            raise invalid("", "Service", name, problems)
        spec = _with_addresses(spec, reservation, problems)
    if not problems:
        spec = _with_ports(spec, reservation, problems)
    if not problems:
        spec = _with_health_check(spec, reservation)
    if problems:
        raise invalid("", "Service", name, problems)
    return {**obj, "spec": spec}


def _with_families(
    spec: JsonObject, old: Mapping[str, Any] | None, problems: list[Cause]
) -> JsonObject:
    # `initIPFamilyFields`, for a cluster whose only family is IPv4.
    is_free = spec.get("clusterIP") == "None" and not spec.get("selector")
    former = value_at(old, "spec", "ipFamilyPolicy") if old is not None else None
    policy = spec.get("ipFamilyPolicy") or former
    policy = policy or ("RequireDualStack" if is_free else "SingleStack")
    problems += problems_of_addresses({**spec, "ipFamilyPolicy": policy})
    if problems:
        return spec
    families = list(spec.get("ipFamilies") or ["IPv4"])
    if is_free:
        # A headless service without a selector can have endpoints of any family.
        if len(families) < 2 and policy != "SingleStack":
            families.append("IPv6" if families[0] == "IPv4" else "IPv4")
    else:
        _check_families(spec, families, policy, problems)
    return {**spec, "ipFamilies": families, "ipFamilyPolicy": policy}


def _check_families(
    spec: JsonObject, families: list[str], policy: str, problems: list[Cause]
) -> None:
    if policy == "SingleStack":
        for field, several in (("clusterIPs", "addresses"), ("ipFamilies", "families")):
            if len(spec.get(field) or ()) == 2:
                rule = f"must be 'RequireDualStack' or 'PreferDualStack' for several {several}"
                problems.append(causes.invalid("spec.ipFamilyPolicy", policy, rule))
    elif policy == "RequireDualStack":
        rule = "this cluster is not configured for dual-stack services"
        problems.append(causes.invalid("spec.ipFamilyPolicy", policy, rule))
    for index, family in enumerate(families):
        if family != "IPv4":
            where = f"spec.ipFamilies[{index}]"
            problems.append(causes.invalid(where, family, "not configured on this cluster"))


def _with_addresses(
    spec: JsonObject, reservation: Reservation, problems: list[Cause]
) -> JsonObject:
    # A headless service has the literal address "None".
    requested = spec.get("clusterIP") or ""
    try:
        address = requested if requested == "None" else reservation.allocate_address(requested)
    except ValueError as error:
        detail = f"failed to allocate IP {requested}: {error}"
        problems.append(causes.invalid("spec.clusterIPs", spec.get("clusterIPs"), detail))
        return without(spec, "clusterIP", "clusterIPs")
    return {**spec, "clusterIP": address, "clusterIPs": [address]}


def _changes_address(spec: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a service requests another address than it has."""
    address = before.get("clusterIP")
    is_external = "ExternalName" in {spec.get("type"), before.get("type")}
    return bool(address) and not is_external and spec.get("clusterIP") != address


def _with_ports(spec: JsonObject, reservation: Reservation, problems: list[Cause]) -> JsonObject:
    # `initNodePorts`: the protocols of one port share a node port.
    kind, ports = spec.get("type"), spec.get("ports") or []
    if kind not in _WITH_PORTS:
        return spec
    is_automatic = kind == "NodePort" or spec.get("allocateLoadBalancerNodePorts") is not False
    shared: dict[Any, int] = {}
    result: list[Any] = []
    for index, port in enumerate(ports):
        number, requested = shared.get(port.get("port"), 0), port.get("nodePort") or 0
        if not requested and not is_automatic:
            result.append(port)
            continue
        if not number or (requested and requested != number):
            wanted = requested or _requested_by_other(port, ports)
            try:
                number = reservation.allocate_port(wanted)
            except ValueError as error:
                where = f"spec.ports[{index}].nodePort"
                problems.append(causes.invalid(where, wanted, str(error)))
                result.append(without(port, "nodePort"))
                result += [without(each, "nodePort") for each in ports[index + 1 :]]
                break
        shared.setdefault(port.get("port"), number)
        result.append({**port, "nodePort": number})
    return {**spec, "ports": result}


def _requested_by_other(port: Mapping[str, Any], ports: list[Any]) -> int:
    """The node port that another protocol of the same port requests."""
    for each in ports:
        if each.get("port") == port.get("port") and each.get("nodePort"):
            return int(each["nodePort"])
    return 0


def _with_health_check(spec: JsonObject, reservation: Reservation) -> JsonObject:
    if not needs_health_check(spec):
        return spec
    requested = spec.get("healthCheckNodePort") or 0
    try:
        return {**spec, "healthCheckNodePort": reservation.allocate_port(requested)}
    except ValueError as error:
        why = f"failed to allocate requested HealthCheck NodePort {requested}: {error}"
        raise internal_error(why) from None


def _patched(spec: JsonObject, before: Mapping[str, Any]) -> JsonObject:
    # `patchAllocatedValues`: a client need not repeat what the server allocated.
    kinds = spec.get("type"), before.get("type")
    if "ExternalName" not in kinds:
        names = ("clusterIP", "clusterIPs", "ipFamilies")
        kept = {key: before[key] for key in names if before.get(key) and not spec.get(key)}
        spec = {**spec, **kept} if kept else spec
    if kinds[0] in _WITH_PORTS and kinds[1] in _WITH_PORTS:
        former = {port.get("name"): port.get("nodePort") for port in before.get("ports") or ()}
        used = {port.get("nodePort") for port in spec.get("ports") or ()}

        def keep(port: JsonObject) -> JsonObject:
            number = former.get(port.get("name"))
            is_free = number and number not in used
            return {**port, "nodePort": number} if is_free and not port.get("nodePort") else port

        spec = map_items(spec, "ports", keep)
    if needs_health_check(before) and needs_health_check(spec):
        number = before.get("healthCheckNodePort")
        spec = with_defaults(spec, {"healthCheckNodePort": number}) if number else spec
    return spec


def _normalized(spec: JsonObject, before: Mapping[str, Any]) -> JsonObject:
    # `normalizeClusterIPs`: old clients know only the single address.
    new, old = spec.get("clusterIP") or "", before.get("clusterIP") or ""
    if new == old or spec.get("clusterIPs") != before.get("clusterIPs"):
        if new and not spec.get("clusterIPs"):
            return {**spec, "clusterIPs": [new]}
        return spec
    return {**spec, "clusterIPs": [new]} if new else without(spec, "clusterIP", "clusterIPs")


def _without_type_fields(obj: JsonObject, before: Mapping[str, Any]) -> JsonObject:
    # `dropTypeDependentFields`: a client that changes the type need not remove the fields of
    # the former type, if it sends them back unchanged.
    spec = obj.get("spec") or {}
    kind, old_kind = spec.get("type"), before.get("type")
    drop: list[str] = []
    if kind == "ExternalName":
        drop.append("internalTrafficPolicy")
        if old_kind != "ExternalName":
            drop += _same(spec, before, *_ADDRESSES)
    if needs_health_check(before) and not needs_health_check(spec):
        drop += _same(spec, before, "healthCheckNodePort")
    if old_kind == "LoadBalancer" != kind:
        drop += _same(spec, before, "allocateLoadBalancerNodePorts", "loadBalancerClass")
    if is_externally_accessible(before) and not is_externally_accessible(spec):
        drop += _same(spec, before, "externalTrafficPolicy")
    spec = without(spec, *drop)
    if old_kind in _WITH_PORTS and kind not in _WITH_PORTS and _has_only_ports_of(spec, before):
        spec = map_items(spec, "ports", lambda port: without(port, "nodePort"))
    obj = {**obj, "spec": spec}
    if kind != "LoadBalancer" and value_at(obj, "status", "loadBalancer"):
        obj = {**obj, "status": {**obj["status"], "loadBalancer": {}}}
    return obj


def _same(spec: JsonObject, before: Mapping[str, Any], *fields: str) -> list[str]:
    return [field for field in fields if spec.get(field) == before.get(field)]


def _has_only_ports_of(spec: JsonObject, before: Mapping[str, Any]) -> bool:
    former, new = (
        {port.get("nodePort") for port in each.get("ports") or ()} for each in (before, spec)
    )
    return new - {None, 0} <= former
