"""Validation of priority classes, runtime classes and leases.

Guarantees: the checks of kube-apiserver's `pkg/apis/{scheduling,node,coordination}/validation`,
with its paths, reasons and order.
See also: pods that use these classes (`access.plugins`), shared checks (`field_rules`).
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_label_key

from ..values import causes
from .field_rules import Check, Raw, check_fixed
from .scheduling_validation import check_toleration
from .value_rules import (
    Causes,
    check_labels,
    check_minimum,
    check_name,
    check_quantity,
    check_unchanged,
    enumerate_objects,
)

__all__ = ["CLASSES", "SYSTEM_PRIORITIES"]

_HIGHEST_PRIORITY: Final = 1_000_000_000
# The classes that kube-apiserver creates at its start.
SYSTEM_PRIORITIES: Final = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}


def _system_problem(name: str, value: int) -> str:
    known = SYSTEM_PRIORITIES.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if known != value:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false"


_STANDARD_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})


def _priority_class(obj: Raw, old: Raw | None) -> Causes:
    # `ValidatePriorityClass` and `ValidatePriorityClassUpdate`.
    value, policy = obj.get("value") or 0, obj.get("preemptionPolicy")
    if old is not None:
        if value != (old.get("value") or 0):
            yield causes.forbidden("value", "may not be changed in an update.")
        yield from check_unchanged("preemptionPolicy", policy, old.get("preemptionPolicy"))
        return
    name = (obj.get("metadata") or {}).get("name") or ""
    if name.startswith("system-"):
        if SYSTEM_PRIORITIES.get(name) != value or obj.get("globalDefault"):
            rule = (
                "priority class names with 'system-' prefix are reserved for system use only. "
                f"error: {_system_problem(name, value)}"
            )
            yield causes.forbidden("metadata.name", rule)
    elif value > _HIGHEST_PRIORITY:
        rule = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        yield causes.forbidden("value", rule)
    if policy == "":
        yield causes.required("preemptionPolicy")
    elif policy is not None and policy not in ("PreemptLowerPriority", "Never"):
        policies = ("PreemptLowerPriority", "Never")
        yield causes.not_supported("preemptionPolicy", policy, policies)


# --- runtime classes


def _runtime_class(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateRuntimeClass`; an update checks nothing but the handler, and new labels.
    handler = obj.get("handler") or ""
    yield from _overhead((obj.get("overhead") or {}).get("podFixed"))
    scheduling = obj.get("scheduling") or {}
    yield from check_labels("scheduling.nodeSelector", scheduling.get("nodeSelector"))
    yield from _tolerations(scheduling.get("tolerations"))
    if not handler:
        yield causes.required("handler")
    else:
        yield from check_name("handler", handler, problems_of_dns_label)
    if old is not None:
        yield from check_fixed("handler", handler, old.get("handler"))


def _overhead(resources: Any) -> Causes:
    # `ValidateContainerResourceRequirements` with the overhead as limits.
    for name, value in (resources or {}).items():
        path = f"overhead.limits[{name}]"
        yield from check_name(path, name, problems_of_label_key)
        if "/" not in name and name not in _STANDARD_RESOURCES and "hugepages-" not in name:
            for rule in ("must be a standard resource type or fully qualified",) * 2:
                yield causes.invalid(path, name, rule)
        yield from check_quantity(path, value)


def _tolerations(tolerations: Any) -> Causes:
    # `ValidateTolerations`, and each combination may occur once.
    keys: list[tuple[Any, ...]] = []
    for index, each in enumerate_objects(tolerations):
        yield from check_toleration(f"scheduling.tolerations[{index}]", each)
        key = tuple(each.get(field) or "" for field in ("key", "operator", "value", "effect"))
        if key in keys:
            yield causes.duplicate(f"scheduling.tolerations[{index}]", dict(each))
        keys.append(key)
    for index, each in enumerate_objects(tolerations):
        if each.get("key"):
            where = f"scheduling.tolerations[{index}].key"
            yield from check_name(where, each["key"], problems_of_label_key)


# --- leases


def _lease(obj: Raw, _: Raw | None) -> Causes:
    # `ValidateLeaseSpec`; strategy and preferredHolder are dropped before, because coordinated
    # leader election is not enabled.
    spec = obj.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if isinstance(seconds, int) and seconds <= 0:
        yield causes.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from check_minimum("spec.leaseTransitions", spec.get("leaseTransitions"))


CLASSES: Final[dict[tuple[str, str], Check]] = {
    ("coordination.k8s.io", "Lease"): _lease,
    ("node.k8s.io", "RuntimeClass"): _runtime_class,
    ("scheduling.k8s.io", "PriorityClass"): _priority_class,
}
