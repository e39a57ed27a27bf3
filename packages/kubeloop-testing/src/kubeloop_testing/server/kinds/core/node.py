"""Node: defaults, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_label_value
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.go_values import printed
from ...values.json_values import map_field, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings, own_paths
from ..rules.address_warnings import network_warnings
from ..rules.cell_text import age_of, condition_of, items_at, name_of, or_else
from ..rules.resource_rules import check_amount
from ..rules.scheduling_validation import EFFECTS
from ..rules.value_rules import (
    check_choice,
    check_cidr,
    check_label_key,
    enumerate_objects,
    ip_family,
)

__all__ = ["KIND"]


def _node_networks(spec: JsonObject) -> JsonObject:
    # The conversion from the internal version keeps both fields equal.
    single, several = spec.get("podCIDR"), spec.get("podCIDRs")
    if single:
        is_same = several is not None and several[:1] == [single]
        return spec if is_same else {**spec, "podCIDRs": [single]}
    return {**spec, "podCIDR": several[0]} if several else spec


def _node_status(status: JsonObject) -> JsonObject:
    # `SetDefaults_NodeStatus`.
    capacity = status.get("capacity")
    return with_defaults(status, {"allocatable": dict(capacity)}) if capacity else status


def _validate(obj: Json, old: Json | None) -> Causes:
    """What is wrong with a node, or with its update."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    yield from _taints(spec)
    for part in ("capacity", "allocatable"):
        for name, value in (status.get(part) or {}).items():
            yield from check_amount(f"status.{part}.{name}", name, value)
    if old is None:
        yield from _networks(spec)
    else:
        yield from _change(spec, status, old.get("spec") or {})


def _taints(spec: Json) -> Causes:
    # `validateNodeTaints`; kube-apiserver reports taints under `metadata`.
    seen: set[tuple[Any, Any]] = set()
    for index, each in enumerate_objects(spec.get("taints")):
        path, key = f"metadata.taints[{index}]", each.get("key") or ""
        yield from check_label_key(f"{path}.key", key)
        problems = problems_of_label_value(each.get("value") or "")
        if problems:
            yield causes.invalid(f"{path}.value", each["value"], ";".join(problems))
        effect = each.get("effect")
        yield from check_choice(f"{path}.effect", effect, EFFECTS, required=True)
        if (effect, key) in seen:
            rule = "taints must be unique by key and effect pair"
            yield causes.duplicate(path, printed("core/v1.Taint", each), rule)
        seen.add((effect, key))


def _networks(spec: Json) -> Causes:
    networks, where = spec.get("podCIDRs") or [], "spec.podCIDRs"
    for index, each in enumerate(networks):
        yield from check_cidr(f"{where}[{index}]", each)
    if len(networks) > 1:
        families = {ip_family(each.partition("/")[0]) for each in networks}
        if len(families) != 2 or len(networks) > 2:
            rule = "may specify no more than one CIDR for each IP family"
            yield causes.invalid(where, networks, rule)


def _change(spec: Json, status: Json, before: Json) -> Causes:
    seen: list[Any] = []
    for index, each in enumerate_objects(status.get("addresses")):
        if each in seen:
            address = printed("core/v1.NodeAddress", each)
            yield causes.duplicate(f"status.addresses[{index}]", address)
        seen.append(each)
    former = before.get("podCIDRs")
    if former and spec.get("podCIDRs") != former:
        rule = 'node updates may not change podCIDR except from "" to valid'
        yield causes.forbidden("spec.podCIDRs", rule)
    provider = before.get("providerID")
    if provider and (spec.get("providerID") or "") != provider:
        yield causes.invalid("spec.providerID", None, "field cannot be modified once set")


def _warn(obj: Json, _: Json | None) -> Warnings:
    spec = obj.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for index, each in enumerate(spec.get("podCIDRs") or ()):
        yield from network_warnings(f"spec.podCIDRs[{index}]", each)


_ROLE: Final = "node-role.kubernetes.io/"


def _cells(obj: Json, since: Since) -> list[Any]:
    info = value_at(obj, "status", "nodeInfo")
    kernel, machine = (
        or_else(value_at(info, "kernelVersion"), "<unknown>"),
        value_at(info, "architecture"),
    )
    return [
        name_of(obj),
        _status_text(obj),
        _node_roles(obj),
        age_of(obj, since),
        value_at(info, "kubeletVersion") or "",
        _node_address(obj, "InternalIP"),
        _node_address(obj, "ExternalIP"),
        or_else(value_at(info, "osImage"), "<unknown>"),
        f"{kernel} ({machine})" if machine else kernel,
        or_else(value_at(info, "containerRuntimeVersion"), "<unknown>"),
    ]


def _status_text(obj: Json) -> str:
    # A cordoned node is marked, ready or not.
    ready = condition_of(obj, "Ready")
    status = "Unknown"
    if ready is not None:
        status = "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if value_at(obj, "spec", "unschedulable") else status


def _node_roles(obj: Json) -> str:
    # `findNodeRoles` of kube-apiserver's printers.
    labels = value_at(obj, "metadata", "labels") or {}
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    roles |= {str(labels.get("kubernetes.io/role") or "")}
    return ",".join(sorted(roles - {""})) or "<none>"


def _node_address(obj: Json, address_type: str) -> str:
    found = items_at(obj, "status", "addresses")
    addresses = (
        str(value_at(each, "address")) for each in found if value_at(each, "type") == address_type
    )
    return next(addresses, "<none>")


KIND: Final = Kind(
    "",
    "Node",
    selectable=own_paths("spec.unschedulable"),
    selects_namespace=False,
    defaults=(
        lambda obj: map_field(obj, "spec", _node_networks),
        lambda obj: map_field(obj, "status", _node_status),
    ),
    keeps_new_status=True,
    validate=_validate,
    validate_parts={"status": _validate},
    warn=_warn,
    columns="Name, Status, Roles, Age, Version, *Internal-IP, *External-IP, *OS-Image, "
    "*Kernel-Version, *Container-Runtime",
    cells=_cells,
)
