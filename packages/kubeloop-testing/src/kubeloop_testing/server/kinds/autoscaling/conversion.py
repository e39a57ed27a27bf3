"""Converts HorizontalPodAutoscalers between autoscaling/v1 and autoscaling/v2.

v1 has only a target for CPU; kube-apiserver keeps the rest in annotations, in the format of v1.
Guarantees: a round trip returns the same autoscaler.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values.causes import as_json
from ...values.json_values import map_field, value_at, without

__all__ = ["to_v1", "to_v2"]

_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
_METRICS: Final = f"{_PREFIX}metrics"
_CURRENT: Final = f"{_PREFIX}current-metrics"
_CONDITIONS: Final = f"{_PREFIX}conditions"
_BEHAVIOR: Final = f"{_PREFIX}behavior"
_ALL: Final = (_METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR)
_DEFAULT_TARGET: Final = 80
_SOURCES: Final = ("resource", "containerResource", "pods", "object", "external")


def to_v1(obj: JsonObject) -> JsonObject:
    """Convert from `v2` to `v1`."""
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    annotations: dict[str, Any] = {}
    metrics = spec.pop("metrics", None) or []
    targets = [_cpu_target(each) for each in metrics]
    others = [each for each, target in zip(metrics, targets, strict=True) if target is None]
    first = next((target for target in targets if target is not None), None)
    if first is not None:
        spec["targetCPUUtilizationPercentage"] = first
    annotations[_METRICS] = [_flat_metric(each, "target") for each in others]
    annotations[_BEHAVIOR] = spec.pop("behavior", None)
    current = status.pop("currentMetrics", None) or []
    annotations[_CURRENT] = [_flat_metric(each, "current") for each in current]
    annotations[_CONDITIONS] = status.pop("conditions", None)
    percent = next((found for found in map(_cpu_current, current) if found is not None), None)
    if percent is not None:
        status["currentCPUUtilizationPercentage"] = percent
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    annotations[_BEHAVIOR] = _go_behavior(annotations[_BEHAVIOR])
    encoded = {key: _go_json(value) for key, value in annotations.items() if value}
    return _with_annotations({**obj, "spec": spec, "status": status}, encoded)


def to_v2(obj: JsonObject) -> JsonObject:
    """Convert from `v1` to `v2`."""
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    annotations = value_at(obj, "metadata", "annotations") or {}
    metrics = [_nested_metric(each, "target") for each in _read(annotations, _METRICS)]
    target = spec.pop("targetCPUUtilizationPercentage", None)
    if target is not None or not metrics:
        metrics.append(_cpu_metric(_DEFAULT_TARGET if target is None else target))
    spec["metrics"] = metrics
    behavior = _read(annotations, _BEHAVIOR)
    if behavior:
        spec["behavior"] = behavior
    percent = status.pop("currentCPUUtilizationPercentage", None)
    current = [_nested_metric(each, "current") for each in _read(annotations, _CURRENT)]
    if not current and percent is not None:
        current = [_cpu_status(percent)]
    if current:
        status["currentMetrics"] = current
    conditions = _read(annotations, _CONDITIONS)
    if conditions:
        status["conditions"] = conditions
    return _with_annotations({**obj, "spec": spec, **({"status": status} if status else {})}, {})


def _with_annotations(obj: JsonObject, annotations: dict[str, str]) -> JsonObject:
    """`obj` with these conversion annotations instead of the old ones."""

    def change(meta: JsonObject) -> JsonObject:
        others = without(meta.get("annotations") or {}, *_ALL)
        both = {**others, **annotations}
        return {**meta, "annotations": both} if both else without(meta, "annotations")

    return map_field(obj, "metadata", change)


def _read(annotations: dict[str, str], key: str) -> Any:
    """The decoded value of an annotation; empty if it is invalid or of another type."""
    try:
        found = json.loads(annotations.get(key, "[]"))
    except ValueError:
        return []
    if key == _BEHAVIOR:
        return _wire_behavior(found) if isinstance(found, dict) else {}
    return found if isinstance(found, list) else []


# The order of the fields in Go's types, in which kube-apiserver writes them.
_ORDER: Final = (
    *("type", "object", "pods", "resource", "containerResource", "external"),
    *("target", "name", "metricName", "metricSelector", "targetAverageUtilization"),
    *("targetValue", "targetAverageValue", "currentAverageUtilization", "currentValue"),
    *("currentAverageValue", "selector", "averageValue", "container"),
)
_RULES: Final = ("ScaleUp", "ScaleDown")
_RULE_FIELDS: Final = ("StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance")
_POLICY_FIELDS: Final = ("Type", "Value", "PeriodSeconds")


def _go_json(value: Any) -> str:
    """Compact JSON with the fields of metrics in Go's order."""
    return as_json(_sorted_fields(value), sort=False)


def _sorted_fields(value: Any) -> Any:
    if isinstance(value, list):
        return [_sorted_fields(each) for each in value]
    if not isinstance(value, dict):
        return value
    ranks = {key: index for index, key in enumerate(_ORDER)}
    keys = sorted(value, key=lambda key: ranks[key]) if value.keys() <= ranks.keys() else value
    return {key: _sorted_fields(value[key]) for key in keys}


def _go_behavior(behavior: Any) -> Any:
    # The behavior is written in the internal version, whose fields have no JSON names.
    if not isinstance(behavior, dict):
        return None

    def rules(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        found = {field: value.get(_lower(field)) for field in _RULE_FIELDS}
        if found["Policies"] is None:
            return found
        policies = [
            {field: each.get(_lower(field)) for field in _POLICY_FIELDS}
            for each in found["Policies"]
        ]
        return {**found, "Policies": policies}

    return {field: rules(behavior.get(_lower(field))) for field in _RULES}


def _wire_behavior(value: Any) -> Any:
    """The inverse of `_go_behavior`: names in lower case, no nulls."""
    if isinstance(value, list):
        return [_wire_behavior(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {_lower(key): _wire_behavior(each) for key, each in value.items() if each is not None}


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def _cpu_target(metric: JsonObject) -> int | None:
    if metric.get("type") != "Resource" or value_at(metric, "resource", "name") != "cpu":
        return None
    found: int | None = value_at(metric, "resource", "target", "averageUtilization")
    return found


def _cpu_current(metric: JsonObject) -> int | None:
    if metric.get("type") != "Resource" or value_at(metric, "resource", "name") != "cpu":
        return None
    found: int | None = value_at(metric, "resource", "current", "averageUtilization")
    return found


def _cpu_metric(percent: int) -> JsonObject:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _cpu_status(percent: int) -> JsonObject:
    current = {"averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "current": current}}


def _source(metric: JsonObject, change: Callable[[str, JsonObject], JsonObject]) -> JsonObject:
    for name in _SOURCES:
        if isinstance(metric.get(name), dict):
            return {**metric, name: change(name, metric[name])}
    return metric


def _flat_metric(metric: JsonObject, part: str) -> JsonObject:
    """A metric spec or status in the flat format of v1."""

    def flatten(name: str, source: JsonObject) -> JsonObject:
        found = value_at(source, part) or {}
        flat = without(source, part, "metric", "describedObject")
        names = _flat_names(name, part)
        flat |= {names[key]: value for key, value in found.items() if key in names}
        metric_name, selector = (
            value_at(source, "metric", "name"),
            value_at(source, "metric", "selector"),
        )
        if metric_name is not None:
            flat["metricName"] = metric_name
        if selector is not None:
            flat["metricSelector" if name == "external" else "selector"] = selector
        if "describedObject" in source:
            flat["target"] = source["describedObject"]
        return flat

    return _source(metric, flatten)


def _nested_metric(metric: JsonObject, part: str) -> JsonObject:
    """The inverse of `_flat_metric`."""

    def deepen(name: str, source: JsonObject) -> JsonObject:
        names = {flat: key for key, flat in _flat_names(name, part).items()}
        values = {names[key]: value for key, value in source.items() if key in names}
        deep = {key: value for key, value in source.items() if key in {"name", "container"}}
        if part == "target":
            values = {"type": _target_type(values), **values}
        deep[part] = values
        identity = {"name": source["metricName"]} if "metricName" in source else {}
        selector = source.get("metricSelector", source.get("selector"))
        if selector is not None:
            identity["selector"] = selector
        if identity:
            deep["metric"] = identity
        if name == "object" and "target" in source:
            deep["describedObject"] = source["target"]
        return deep

    return _source(metric, deepen)


def _target_type(values: JsonObject) -> str:
    if "averageUtilization" in values:
        return "Utilization"
    return "Value" if "value" in values and "averageValue" not in values else "AverageValue"


def _flat_names(source: str, part: str) -> dict[str, str]:
    """The v1 names of the numbers of a metric source."""
    prefix = "target" if part == "target" else "current"
    names = {
        "averageUtilization": f"{prefix}AverageUtilization",
        "averageValue": f"{prefix}AverageValue",
        "value": f"{prefix}Value",
    }
    if source == "object":
        names["averageValue"] = "averageValue"
    return names
