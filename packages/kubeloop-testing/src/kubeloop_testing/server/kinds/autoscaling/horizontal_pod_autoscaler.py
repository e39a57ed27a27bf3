"""HorizontalPodAutoscaler (autoscaling): conversion, defaults, validation and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubeloop.meta import GroupVersion, problems_of_dns_label, problems_of_path_segment
from kubeloop.wire import InvalidArgument, JsonObject

from ...values import causes
from ...values.json_values import map_field, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, items_at, name_of, or_else
from ..rules.cells import count_at
from ..rules.defaults import in_spec, spec_defaults
from ..rules.resource_rules import check_container_resource
from ..rules.value_rules import (
    check_choice,
    check_minimum,
    check_name,
    enumerate_objects,
    parse_quantity,
)
from .conversion import to_v1, to_v2

__all__ = ["KIND"]


# --- defaults


def _autoscaler(obj: JsonObject) -> JsonObject:
    # v1 has no metrics in its spec; they are in annotations.
    obj = spec_defaults(minReplicas=1)(obj)
    if str(obj.get("apiVersion", "")).endswith("/v1"):
        return obj
    return in_spec(_scaling)(obj)


def _scaling(spec: JsonObject) -> JsonObject:
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        metric = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
        spec = {**spec, "metrics": [metric]}
    return map_field(spec, "behavior", _behavior)


_PERCENT: Final = {"type": "Percent", "value": 100, "periodSeconds": 15}
_PODS: Final = {"type": "Pods", "value": 4, "periodSeconds": 15}


def _behavior(behavior: JsonObject) -> JsonObject:
    # `GenerateHPAScaleUpRules` and `GenerateHPAScaleDownRules`.
    up = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [_PODS, _PERCENT],
    }
    down = {"selectPolicy": "Max", "policies": [_PERCENT]}
    behavior = map_field(behavior, "scaleUp", lambda value: with_defaults(value, up), make=True)
    return map_field(behavior, "scaleDown", lambda value: with_defaults(value, down), make=True)


# --- conversion


def _convert_autoscaler(obj: JsonObject, source: str, target: str) -> JsonObject:
    match source, target:
        case "autoscaling/v1", "autoscaling/v2":
            return to_v2(obj)
        case "autoscaling/v2", "autoscaling/v1":
            return to_v1(obj)
    return obj


# --- validation

_MAX_PERIOD: Final = 1800
_MAX_WINDOW: Final = 3600
# The field of each type of a metric, in the order of kube-apiserver's checks.
_SOURCES: Final = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_TARGETS: Final = ("Utilization", "Value", "AverageValue")


def _validate(obj: Json, _: Json | None) -> Causes:
    # `validateHorizontalPodAutoscalerSpec`.
    spec = obj.get("spec") or {}
    lowest, highest = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    yield from check_minimum("spec.minReplicas", lowest)
    if isinstance(lowest, int) and highest < lowest:
        rule = "must be greater than or equal to `minReplicas`"
        yield causes.invalid("spec.maxReplicas", highest, rule)
    target = spec.get("scaleTargetRef") or {}
    yield from _reference(target, "spec.scaleTargetRef", needs_group=True)
    metrics = enumerate_objects(spec.get("metrics"))
    for index, metric in metrics:
        yield from _metric(metric, f"spec.metrics[{index}]")
    if lowest == 0 and not any(each.get("type") in {"Object", "External"} for _, each in metrics):
        rule = (
            "must specify at least one Object or External metric to support scaling to zero "
            "replicas"
        )
        yield causes.forbidden("spec.metrics", rule)
    # Declarative rules are reported after the others.
    if highest == 0:
        yield causes.required("spec.maxReplicas", "")
    else:
        yield from check_minimum("spec.maxReplicas", highest, 1)
    behavior = spec.get("behavior") or {}
    for field in ("scaleUp", "scaleDown"):
        if isinstance(behavior.get(field), Mapping):
            yield from _scaling_rules(behavior[field], f"spec.behavior.{field}")


def _reference(ref: Json, path: str, *, needs_group: bool) -> Causes:
    # `ValidateCrossVersionObjectReference`.
    for field in ("kind", "name"):
        if not ref.get(field):
            yield causes.required(f"{path}.{field}")
        else:
            yield from check_name(f"{path}.{field}", ref[field], problems_of_path_segment)
    version = ref.get("apiVersion") or ""
    if not needs_group:
        return
    # Controllers are found by their groups; only replication controllers have none.
    try:
        has_group = bool(GroupVersion.parse(version).group) if version else False
    except InvalidArgument:
        has_group = False
    is_core = version == "v1" and ref.get("kind") == "ReplicationController"
    if not has_group and not is_core:
        yield causes.invalid(f"{path}.apiVersion", version, _version_problem(version))


def _metric(metric: Json, path: str) -> Causes:
    # `validateMetricSpec`: one source, that of the type.
    kind = metric.get("type") or ""
    if not kind:
        yield causes.required(f"{path}.type", "must specify a metric source type")
    if kind not in _SOURCES:
        yield causes.not_supported(f"{path}.type", kind, sorted(_SOURCES))
    present = [each for each in _SOURCES.values() if isinstance(metric.get(each), Mapping)]
    if present:
        yield from _CHECKS[present[0]](metric[present[0]], f"{path}.{present[0]}")
    expected = _SOURCES.get(kind)
    if expected and expected not in present:
        rule = "must populate information for the given metric source"
        yield causes.required(f"{path}.{expected}", rule)
    if len(present) != 1:
        for each in present:
            if each != expected:
                rule = "must populate the given metric source only"
                yield causes.forbidden(f"{path}.{each}", rule)


def _identifier(source: Json, path: str) -> Causes:
    name = (source.get("metric") or {}).get("name")
    if not name:
        yield causes.required(f"{path}.metric.name", "must specify a metric name")
    else:
        yield from check_name(f"{path}.metric.name", name, problems_of_path_segment)


def _target(source: Json, path: str) -> Causes:
    # `validateMetricTarget`.
    target, where = source.get("target") or {}, f"{path}.target"
    kind = target.get("type") or ""
    if not kind:
        yield causes.required(f"{where}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        rule = "must be either Utilization, Value, or AverageValue"
        yield causes.invalid(f"{where}.type", kind, rule)
    for field in ("value", "averageValue"):
        amount = parse_quantity(target[field]) if target.get(field) is not None else None
        if amount is not None and amount.milli_value() <= 0:
            yield causes.invalid(f"{where}.{field}", amount.canonical(), "must be positive")
    percent = target.get("averageUtilization")
    if isinstance(percent, int) and percent < 1:
        yield causes.invalid(f"{where}.averageUtilization", percent, "must be greater than 0")


def _object(source: Json, path: str) -> Causes:
    described = source.get("describedObject") or {}
    yield from _reference(described, f"{path}.describedObject", needs_group=False)
    yield from _identifier(source, path)
    yield from _target(source, path)
    yield from _value_or_average(source, path)


def _value_or_average(source: Json, path: str) -> Causes:
    target = source.get("target") or {}
    if target.get("value") is None and target.get("averageValue") is None:
        where = f"{path}.target.averageValue"
        yield causes.required(where, "must set either a target value or averageValue")


def _external(source: Json, path: str) -> Causes:
    target = source.get("target") or {}
    yield from _identifier(source, path)
    yield from _target(source, path)
    yield from _value_or_average(source, path)
    if target.get("value") is not None and target.get("averageValue") is not None:
        rule = "may not set both a target value for metric and a per-pod target"
        yield causes.forbidden(f"{path}.target.value", rule)


def _pods(source: Json, path: str) -> Causes:
    yield from _identifier(source, path)
    yield from _target(source, path)
    if (source.get("target") or {}).get("averageValue") is None:
        where = f"{path}.target.averageValue"
        yield causes.required(where, "must specify a positive target averageValue")


def _resource(source: Json, path: str) -> Causes:
    if not source.get("name"):
        yield causes.required(f"{path}.name", "must specify a resource name")
    yield from _target(source, path)
    target, where = source.get("target") or {}, f"{path}.target"
    has_percent = target.get("averageUtilization") is not None
    has_value = target.get("averageValue") is not None
    if not has_percent and not has_value:
        rule = "must set either a target raw value or a target utilization"
        yield causes.required(f"{where}.averageUtilization", rule)
    if has_percent and has_value:
        rule = "may not set both a target raw value and a target utilization"
        yield causes.forbidden(f"{where}.averageValue", rule)


def _container_resource(source: Json, path: str) -> Causes:
    if source.get("name"):
        yield from check_container_resource(f"{path}.name", source["name"])
    else:
        yield causes.required(f"{path}.name", "must specify a resource name")
    if not source.get("container"):
        yield causes.required(f"{path}.container", "must specify a container")
    else:
        yield from check_name(f"{path}.container", source["container"], problems_of_dns_label)
    yield from _resource(source, path)


_CHECKS: Final[dict[str, Callable[[Json, str], Causes]]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}


def _scaling_rules(rules: Json, path: str) -> Causes:
    # `validateScalingRules`.
    window, where = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if (window or 0) < 0:
        yield causes.invalid(where, window, "must be greater than or equal to zero")
    if (window or 0) > _MAX_WINDOW:
        yield causes.invalid(where, window, f"must be less than or equal to {_MAX_WINDOW}")
    policy = rules.get("selectPolicy")
    yield from check_choice(f"{path}.selectPolicy", policy, ("Disabled", "Max", "Min"))
    if not rules.get("policies"):
        yield causes.required(f"{path}.policies", "must specify at least one Policy")
    for index, each in enumerate_objects(rules.get("policies")):
        yield from _scaling_policy(each, f"{path}.policies[{index}]")
    tolerance = parse_quantity(rules["tolerance"]) if rules.get("tolerance") is not None else None
    if tolerance is not None and tolerance.milli_value() < 0:
        rule = "must be greater than or equal to 0"
        yield causes.invalid(f"{path}.tolerance", tolerance.canonical(), rule)


def _scaling_policy(policy: Json, path: str) -> Causes:
    kind, period = policy.get("type") or "", policy.get("periodSeconds") or 0
    if kind not in {"Pods", "Percent"}:
        yield causes.not_supported(f"{path}.type", kind, ("Percent", "Pods"))
    if (policy.get("value") or 0) <= 0:
        yield causes.invalid(f"{path}.value", policy.get("value") or 0, "must be greater than zero")
    if period <= 0:
        yield causes.invalid(f"{path}.periodSeconds", period, "must be greater than zero")
    if period > _MAX_PERIOD:
        rule = f"must be less than or equal to {_MAX_PERIOD}"
        yield causes.invalid(f"{path}.periodSeconds", period, rule)


def _validate_status(obj: Json, _: Json) -> Causes:
    status = obj.get("status") or {}
    for field in ("currentReplicas", "desiredReplicas"):
        yield from check_minimum(f"status.{field}", status.get(field))


def _version_problem(version: str) -> str:
    if version.count("/") > 1:
        return f"unexpected GroupVersion string: {version}"
    return "apiVersion must specify API group"


# --- cells


def _cells(obj: Json, since: Since) -> list[Any]:
    target = value_at(obj, "spec", "scaleTargetRef")
    return [
        name_of(obj),
        f"{value_at(target, 'kind') or ''}/{value_at(target, 'name') or ''}",
        _metrics(obj),
        or_else(value_at(obj, "spec", "minReplicas"), "<unset>"),
        count_at(obj, "spec", "maxReplicas"),
        count_at(obj, "status", "currentReplicas"),
        age_of(obj, since),
    ]


_METRICS_LIMIT: Final = 2


def _metrics(obj: Json) -> str:
    specs, found = items_at(obj, "spec", "metrics"), items_at(obj, "status", "currentMetrics")
    texts = [_metric_text(spec, value_at(found, index)) for index, spec in enumerate(specs)]
    old = value_at(obj, "spec", "targetCPUUtilizationPercentage")  # the field of autoscaling/v1
    if old is not None:
        current = value_at(obj, "status", "currentCPUUtilizationPercentage")
        texts = [f"cpu: {_percent(current, '<unknown>')}/{_percent(old, '<auto>')}", *texts]
    text = ", ".join(texts[:_METRICS_LIMIT])
    more = len(texts) - _METRICS_LIMIT
    return f"{text} + {more} more..." if more > 0 else text or "<none>"


_METRIC_SOURCES: Final = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


def _metric_text(spec: Any, status: Any) -> str:
    # `formatHPAMetrics` of kube-apiserver's printers.
    source = _METRIC_SOURCES.get(str(value_at(spec, "type")))
    if source is None:
        return "<unknown type>"
    metric, current = value_at(spec, source), value_at(status, source, "current")
    target = value_at(metric, "target")
    average = value_at(target, "averageValue")
    if source in {"resource", "containerResource"}:
        return f"{value_at(metric, 'name')}: {_resource_metric(target, current)}"
    if source == "pods":
        return f"{or_else(value_at(current, 'averageValue'), '<unknown>')}/{average}"
    if average is not None:
        return f"{or_else(value_at(current, 'averageValue'), '<unknown>')}/{average} (avg)"
    return f"{or_else(value_at(current, 'value'), '<unknown>')}/{value_at(target, 'value')}"


def _resource_metric(target: Any, current: Any) -> str:
    if value_at(target, "averageValue") is not None:
        return f"{or_else(value_at(current, 'averageValue'), '<unknown>')}/{target['averageValue']}"
    found = _percent(value_at(current, "averageUtilization"), "<unknown>")
    return f"{found}/{_percent(value_at(target, 'averageUtilization'), '<auto>')}"


def _percent(value: object, default: str) -> str:
    return default if value is None else f"{value}%"


KIND: Final = Kind(
    "autoscaling",
    "HorizontalPodAutoscaler",
    schemas_differ=True,
    generation="counted",
    convert=_convert_autoscaler,
    defaults=(_autoscaler,),
    validate=_validate,
    validate_parts={"status": _validate_status},
    columns="Name, Reference, Targets, MinPods, MaxPods, Replicas, Age",
    cells=_cells,
)
