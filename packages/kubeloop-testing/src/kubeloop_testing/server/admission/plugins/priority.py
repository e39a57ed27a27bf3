"""The admission plugin Priority: the priority of a pod comes from its class.

Guarantees: a pod cannot have another priority than its class; there is one default class; the
classes of the system cannot be deleted.
See also: pods without any class, which have priority 0 (`kinds.core.pod`).
"""

from __future__ import annotations

from typing import Final

from ...kinds.scheduling.priority_class import SYSTEM_PRIORITIES
from ...request.calls import Call
from ...statuses import forbidden
from ...storage.store import Object
from ...values.json_values import map_field, value_at
from ..plugin import PODS, Cluster, Plugin, rejection

__all__ = ["PRIORITY"]

_CLASSES: Final = ("scheduling.k8s.io", "priorityclasses")
# Fields of pods that a class sets or checks.
_FIELDS: Final = frozenset({"priorityClassName", "priority", "preemptionPolicy"})


def _mutate_pod(cluster: Cluster, call: Call, pod: Object) -> Object:
    # Most pods name no class.
    if _FIELDS.isdisjoint(pod.get("spec") or ()) and not _default_class(cluster):
        return pod
    return map_field(pod, "spec", lambda spec: _with_priority(cluster, call, pod, spec))


def _with_priority(cluster: Cluster, call: Call, pod: Object, spec: Object) -> Object:
    # `admitPod` of the plugin.
    name = spec.get("priorityClassName")
    if name:
        named = cluster.find(*_CLASSES, name)
        if named is None:
            raise rejection(call, pod, f"no PriorityClass with name {name} was found")
        priority_class = named
    else:
        priority_class = _default_class(cluster)
    value = priority_class.get("value") or 0
    policy = priority_class.get("preemptionPolicy") or "PreemptLowerPriority"
    for field, own in (("priority", value), ("preemptionPolicy", policy)):
        if spec.get(field) not in (None, own):
            what = "integer" if field == "priority" else "string"
            shown = field if field == "priority" else "PreemptionPolicy"
            why = (
                f"the {what} value of {shown} ({spec[field]}) must not be provided in pod "
                f"spec; priority admission controller computed {own} from the given "
                "PriorityClass name"
            )
            raise rejection(call, pod, why)
    if not priority_class:
        return spec
    return {
        **spec,
        "priorityClassName": name or priority_class["metadata"]["name"],
        "priority": value,
        "preemptionPolicy": policy,
    }


def _default_class(cluster: Cluster) -> Object:
    """The class of pods without one; {} if there is none."""
    classes = (entry.obj for entry in cluster.store.collection(_CLASSES).entries.values())
    defaults = (each for each in classes if each.get("globalDefault"))
    return min(defaults, key=lambda each: int(each.get("value") or 0), default={})


def _validate_class(cluster: Cluster, call: Call, obj: Object, old: Object | None) -> list[str]:
    default = _default_class(cluster) if obj.get("globalDefault") else {}
    name = value_at(default, "metadata", "name")
    if default and (old is None or name != obj["metadata"]["name"]):
        why = f"PriorityClass {name} is already marked as default. Only one default can exist"
        raise rejection(call, obj, why)
    return []


def _check_delete(_: Cluster, call: Call) -> None:
    if call.name in SYSTEM_PRIORITIES:
        why = "this is a system priority class and cannot be deleted"
        raise forbidden(call.served.group, call.served.plural, call.name, why)


PRIORITY: Final = Plugin(
    "Priority",
    mutate={PODS: _mutate_pod},
    validate={_CLASSES: _validate_class},
    delete={_CLASSES: _check_delete},
)
