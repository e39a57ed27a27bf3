"""Validation of nodes.

Guarantees: the causes of `ValidateNode` and `ValidateNodeUpdate`.
See also: resource names (`resource_rules`), the other core kinds (`core_validation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from kubeloop.meta import problems_of_label_value

from ..values import causes
from ..values.go_values import printed
from .resource_rules import check_amount
from .scheduling_validation import EFFECTS
from .value_rules import (
    Causes,
    check_choice,
    check_cidr,
    check_label_key,
    enumerate_objects,
    ip_family,
)

__all__ = ["problems_of_node"]

_Raw: TypeAlias = Mapping[str, Any]


def problems_of_node(obj: _Raw, old: _Raw | None) -> Causes:
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


def _taints(spec: _Raw) -> Causes:
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


def _networks(spec: _Raw) -> Causes:
    networks, where = spec.get("podCIDRs") or [], "spec.podCIDRs"
    for index, each in enumerate(networks):
        yield from check_cidr(f"{where}[{index}]", each)
    if len(networks) > 1:
        families = {ip_family(each.partition("/")[0]) for each in networks}
        if len(families) != 2 or len(networks) > 2:
            rule = "may specify no more than one CIDR for each IP family"
            yield causes.invalid(where, networks, rule)


def _change(spec: _Raw, status: _Raw, before: _Raw) -> Causes:
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
