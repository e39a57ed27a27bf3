"""Autoscalers in their first and second version.

The first version knows only a target for CPU; the rest travels in annotations, in the form
the first version would have given it.
Promises: there and back gives the same autoscaler.
Elsewhere: every other conversion (`conversion`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from ..values.causes import as_json
from ..values.json_values import Json, map_field, value_at, without

__all__ = ["to_first", "to_second"]

_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
_METRICS: Final = f"{_PREFIX}metrics"
_CURRENT: Final = f"{_PREFIX}current-metrics"
_CONDITIONS: Final = f"{_PREFIX}conditions"
_BEHAVIOR: Final = f"{_PREFIX}behavior"
_ALL: Final = (_METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR)
_USUAL_TARGET: Final = 80
_SOURCES: Final = ("resource", "containerResource", "pods", "object", "external")


def to_first(obj: Json) -> Json:
    """A `v2` autoscaler as `v1` says it."""
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    notes: dict[str, Any] = {}
    metrics = spec.pop("metrics", None) or []
    targets = [_cpu_target(each) for each in metrics]
    others = [each for each, target in zip(metrics, targets, strict=True) if target is None]
    first = next((target for target in targets if target is not None), None)
    if first is not None:
        spec["targetCPUUtilizationPercentage"] = first
    notes[_METRICS] = [_old_metric(each, "target") for each in others]
    notes[_BEHAVIOR] = spec.pop("behavior", None)
    current = status.pop("currentMetrics", None) or []
    notes[_CURRENT] = [_old_metric(each, "current") for each in current]
    notes[_CONDITIONS] = status.pop("conditions", None)
    percent = next((found for found in map(_cpu_current, current) if found is not None), None)
    if percent is not None:
        status["currentCPUUtilizationPercentage"] = percent
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    said = {key: as_json(value) for key, value in notes.items() if value}
    return _annotated({**obj, "spec": spec, "status": status}, said)


def to_second(obj: Json) -> Json:
    """A `v1` autoscaler as `v2` says it."""
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    notes = value_at(obj, "metadata", "annotations") or {}
    metrics = [_new_metric(each, "target") for each in _read(notes, _METRICS)]
    target = spec.pop("targetCPUUtilizationPercentage", None)
    if target is not None or not metrics:
        metrics.append(_cpu_metric(_USUAL_TARGET if target is None else target))
    spec["metrics"] = metrics
    behavior = _read(notes, _BEHAVIOR)
    if behavior:
        spec["behavior"] = behavior
    percent = status.pop("currentCPUUtilizationPercentage", None)
    current = [_new_metric(each, "current") for each in _read(notes, _CURRENT)]
    if not current and percent is not None:
        current = [_cpu_status(percent)]
    if current:
        status["currentMetrics"] = current
    conditions = _read(notes, _CONDITIONS)
    if conditions:
        status["conditions"] = conditions
    return _annotated({**obj, "spec": spec, **({"status": status} if status else {})}, {})


def _annotated(obj: Json, notes: dict[str, str]) -> Json:
    """`obj` with these annotations of ours and none that were there before."""

    def change(meta: Json) -> Json:
        known = without(meta.get("annotations") or {}, *_ALL)
        both = {**known, **notes}
        return {**meta, "annotations": both} if both else without(meta, "annotations")

    return map_field(obj, "metadata", change)


def _read(notes: dict[str, str], key: str) -> Any:
    """What an annotation holds; a text that is no JSON, or of another shape, holds nothing."""
    try:
        found = json.loads(notes.get(key, "[]"))
    except ValueError:
        return []
    wanted = dict if key == _BEHAVIOR else list
    return found if isinstance(found, wanted) else []


# --- metrics


def _cpu_target(metric: Json) -> int | None:
    if metric.get("type") != "Resource" or value_at(metric, "resource", "name") != "cpu":
        return None
    found: int | None = value_at(metric, "resource", "target", "averageUtilization")
    return found


def _cpu_current(metric: Json) -> int | None:
    if metric.get("type") != "Resource" or value_at(metric, "resource", "name") != "cpu":
        return None
    found: int | None = value_at(metric, "resource", "current", "averageUtilization")
    return found


def _cpu_metric(percent: int) -> Json:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _cpu_status(percent: int) -> Json:
    current = {"averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "current": current}}


def _source(metric: Json, change: Callable[[str, Json], Json]) -> Json:
    for name in _SOURCES:
        if isinstance(metric.get(name), dict):
            return {**metric, name: change(name, metric[name])}
    return metric


def _old_metric(metric: Json, part: str) -> Json:
    """A metric, or what was measured of it, in the first version's flat form."""

    def flatten(name: str, source: Json) -> Json:
        found = value_at(source, part) or {}
        flat = without(source, part, "metric", "describedObject")
        names = _flat_names(name, part)
        flat |= {names[key]: said for key, said in found.items() if key in names}
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


def _new_metric(metric: Json, part: str) -> Json:
    """The way back from `_old_metric`."""

    def deepen(name: str, source: Json) -> Json:
        names = {flat: key for key, flat in _flat_names(name, part).items()}
        values = {names[key]: said for key, said in source.items() if key in names}
        deep = {key: said for key, said in source.items() if key in {"name", "container"}}
        if part == "target":
            values = {"type": _target_type(values), **values}
        deep[part] = values
        identity = {"name": source["metricName"]} if "metricName" in source else {}
        chosen = source.get("metricSelector", source.get("selector"))
        if chosen is not None:
            identity["selector"] = chosen
        if identity:
            deep["metric"] = identity
        if name == "object" and "target" in source:
            deep["describedObject"] = source["target"]
        return deep

    return _source(metric, deepen)


def _target_type(values: Json) -> str:
    if "averageUtilization" in values:
        return "Utilization"
    return "Value" if "value" in values and "averageValue" not in values else "AverageValue"


def _flat_names(source: str, part: str) -> dict[str, str]:
    """What the first version calls a number of this source."""
    prefix = "target" if part == "target" else "current"
    names = {
        "averageUtilization": f"{prefix}AverageUtilization",
        "averageValue": f"{prefix}AverageValue",
        "value": f"{prefix}Value",
    }
    if source == "object":
        names["averageValue"] = "averageValue"
    return names
