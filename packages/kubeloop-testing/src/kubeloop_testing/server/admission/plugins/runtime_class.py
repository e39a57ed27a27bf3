"""The admission plugin RuntimeClass: overhead and scheduling of pods with a runtime class."""

from __future__ import annotations

from typing import Final

from ...kinds.rules.tolerations import with_default_tolerations
from ...kinds.rules.value_rules import parse_quantity
from ...request.calls import Call
from ...storage.store import Object
from ...values.json_values import map_field, value_at
from ..plugin import PODS, Cluster, Plugin, rejection

__all__ = ["RUNTIME_CLASS"]

_CLASSES: Final = ("node.k8s.io", "runtimeclasses")


def _mutate(cluster: Cluster, call: Call, pod: Object) -> Object:
    if value_at(pod, "spec", "runtimeClassName") is None:
        return pod
    return map_field(pod, "spec", lambda spec: _with_class(cluster, call, pod, spec))


def _with_class(cluster: Cluster, call: Call, pod: Object, spec: Object) -> Object:
    # `setOverhead` and `setScheduling` of the plugin.
    runtime_class = cluster.find(*_CLASSES, spec["runtimeClassName"])
    if runtime_class is None:
        why = f'pod rejected: RuntimeClass "{spec["runtimeClassName"]}" not found'
        raise rejection(call, pod, why)
    scheduling = runtime_class.get("scheduling") or {}
    overhead = value_at(runtime_class, "overhead", "podFixed")
    if overhead:
        _check_overhead(call, pod, overhead, spec.get("overhead") or overhead)
        spec = {**spec, "overhead": overhead}
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.setdefault(key, value) != value:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise rejection(call, pod, why)
    if selector:
        spec = {**spec, "nodeSelector": selector}
    if not scheduling:
        return spec
    # DefaultTolerationSeconds runs before this plugin.
    spec = with_default_tolerations(spec)
    own = spec["tolerations"]
    more = [each for each in scheduling.get("tolerations") or () if each not in own]
    return {**spec, "tolerations": [*own, *more]} if more else spec


def _validate(cluster: Cluster, call: Call, pod: Object, old: Object | None) -> list[str]:
    spec = pod.get("spec") or {}
    if old is not None or not spec.get("overhead"):
        return []
    name = spec.get("runtimeClassName")
    runtime_class = cluster.find(*_CLASSES, name) if name else None
    overhead = value_at(runtime_class, "overhead", "podFixed") if runtime_class else None
    if not overhead:
        why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise rejection(call, pod, why)
    _check_overhead(call, pod, overhead, spec["overhead"])
    return []


def _check_overhead(call: Call, pod: Object, defined: Object, sent: Object) -> None:
    amounts = {key: parse_quantity(value) for key, value in sent.items()}
    if amounts != {key: parse_quantity(value) for key, value in defined.items()}:
        why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        raise rejection(call, pod, why)


RUNTIME_CLASS: Final = Plugin("RuntimeClass", mutate={PODS: _mutate}, validate={PODS: _validate})
