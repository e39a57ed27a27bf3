"""The admission plugins that look up other objects for a new pod or claim.

Guarantees: the effects of kube-apiserver's plugins Priority, RuntimeClass and LimitRanger, in
their order; nothing is looked up for a pod without a class in a cluster without such objects.
See also: plugins that depend on the pod alone (`preparation`), webhooks (`admission.webhooks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubeloop.wire import JsonObject

from ..identity import Objects, find_object
from ..statuses import forbidden
from ..values.json_values import map_field, value_at
from .limit_admission import admit_limits

__all__ = ["ADMIT"]

_SYSTEM_CLASSES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
_PREEMPT: Final = "PreemptLowerPriority"


def _admit_pod(pod: JsonObject, objects: Objects) -> JsonObject:
    pod = admit_limits(pod, objects, "pods")
    pod = map_field(pod, "spec", lambda spec: _with_priority(pod, spec, objects))
    return map_field(pod, "spec", lambda spec: _with_runtime(pod, spec, objects))


def _admit_claim(claim: JsonObject, objects: Objects) -> JsonObject:
    return admit_limits(claim, objects, "persistentvolumeclaims")


def _reject(pod: Mapping[str, Any], why: str) -> Exception:
    return forbidden("", "pods", value_at(pod, "metadata", "name") or "", why)


# --- priority


def _with_priority(pod: JsonObject, spec: JsonObject, objects: Objects) -> JsonObject:
    name = spec.get("priorityClassName") or ""
    found = _priority_class(pod, name, objects)
    priority = found.get("value") or 0
    policy = found.get("preemptionPolicy") or _PREEMPT
    if spec.get("priority") not in (None, priority):
        raise _reject(
            pod,
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name",
        )
    if spec.get("preemptionPolicy") not in (None, policy):
        raise _reject(
            pod,
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be "
            f"provided in pod spec; priority admission controller computed {policy} from the "
            "given PriorityClass name",
        )
    if not found:
        return spec  # the defaults of `preparation`
    own = {"priorityClassName": value_at(found, "metadata", "name")}
    return {**spec, **own, "priority": priority, "preemptionPolicy": policy}


def _priority_class(pod: JsonObject, name: str, objects: Objects) -> Mapping[str, Any]:
    """The class of a pod; empty if there is none, neither named nor default."""
    if not name:
        defaults = [
            each
            for each in objects("scheduling.k8s.io", "priorityclasses")
            if each.get("globalDefault")
        ]
        return min(defaults, key=lambda each: each.get("value") or 0, default={})
    found = find_object(objects, "scheduling.k8s.io", "priorityclasses", name)
    if found is not None:
        return found
    if name in _SYSTEM_CLASSES:
        return {"metadata": {"name": name}, "value": _SYSTEM_CLASSES[name]}
    raise _reject(pod, f"no PriorityClass with name {name} was found")


# --- runtime classes


def _with_runtime(pod: JsonObject, spec: JsonObject, objects: Objects) -> JsonObject:
    name = spec.get("runtimeClassName")
    found: Mapping[str, Any] | None = {}
    if name:
        found = find_object(objects, "node.k8s.io", "runtimeclasses", name)
        if found is None:
            raise _reject(pod, f'pod rejected: RuntimeClass "{name}" not found')
    overhead = value_at(found, "overhead", "podFixed")
    if spec.get("overhead") and not overhead:
        why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise _reject(pod, f"pod rejected: {why}")
    if overhead:
        if spec.get("overhead") not in (None, overhead):
            why = "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
            raise _reject(pod, f"pod rejected: {why}")
        spec = {**spec, "overhead": overhead}
    return _with_scheduling(pod, spec, value_at(found, "scheduling") or {})


def _with_scheduling(
    pod: JsonObject, spec: JsonObject, scheduling: Mapping[str, Any]
) -> JsonObject:
    selector, own = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key, value in selector.items():
        if own.get(key, value) != value:
            why = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
            raise _reject(pod, f"{why}pod.spec.nodeSelector[{key}] = {own[key]}")
    if selector:
        spec = {**spec, "nodeSelector": {**own, **selector}}
    added = scheduling.get("tolerations") or []
    if added:
        former = spec.get("tolerations") or []
        more = [each for each in added if each not in former]
        spec = {**spec, "tolerations": [*former, *more]}
    return spec


ADMIT: Final[dict[tuple[str, str], Callable[[JsonObject, Objects], JsonObject]]] = {
    ("", "persistentvolumeclaims"): _admit_claim,
    ("", "pods"): _admit_pod,
}
