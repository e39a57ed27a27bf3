"""The admission plugin LimitRanger: default limits of containers, and limits of namespaces.

Guarantees: the amounts and the annotation that the plugin sets; 403 with every limit that a new
pod or claim exceeds.
See also: limit ranges themselves (`kinds.core.limit_range`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kubeloop.wire import JsonObject, Quantity

from ...identity import Objects
from ...kinds.kind import Json
from ...kinds.rules.value_rules import enumerate_objects, parse_quantity
from ...request.calls import Call
from ...statuses import forbidden
from ...values.json_values import map_field, value_at
from ..plugin import CLAIMS, PODS, Cluster, Plugin

__all__ = ["LIMIT_RANGER", "check_limits", "with_default_limits"]

_LIMIT_RANGES: Final = ("", "limitranges")
_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_GROUPS: Final = (("containers", "container"), ("initContainers", "init container"))


def with_default_limits(pod: JsonObject, objects: Objects) -> JsonObject:
    """A pod with the default limits of its namespace."""
    for each in _ranges(pod, objects):
        pod = _with_defaults(pod, each)
    return pod


def check_limits(obj: JsonObject, objects: Objects, plural: str) -> None:
    """Raises `StatusError` 403 if `obj` exceeds a limit of its namespace."""
    problems = [
        problem
        for each in _ranges(obj, objects)
        for _, item in enumerate_objects(value_at(each, "spec", "limits"))
        for problem in _problems(obj, item, plural)
    ]
    if problems:
        why = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise forbidden("", plural, value_at(obj, "metadata", "name") or "", why)


def _ranges(obj: Json, objects: Objects) -> Iterator[Json]:
    namespace = value_at(obj, "metadata", "namespace")
    for each in objects("", "limitranges"):
        if value_at(each, "metadata", "namespace") == namespace:
            yield each


def _with_defaults(pod: JsonObject, limit_range: Json) -> JsonObject:
    limits: dict[str, Any] = {}
    requests: dict[str, Any] = {}
    for _, item in enumerate_objects(value_at(limit_range, "spec", "limits")):
        if item.get("type") == "Container":
            limits |= item.get("default") or {}
            requests |= item.get("defaultRequest") or {}
    if not limits and not requests:
        return pod
    notes: list[str] = []

    def change(spec: JsonObject) -> JsonObject:
        for group, what in _GROUPS:
            if spec.get(group):
                filled = [_filled(each, limits, requests, notes, what) for each in spec[group]]
                spec = {**spec, group: filled}
        return spec

    pod = map_field(pod, "spec", change)
    if not notes:
        return pod
    note = {_ANNOTATION: f"LimitRanger plugin set: {'; '.join(notes)}"}
    return map_field(
        pod,
        "metadata",
        lambda meta: {**meta, "annotations": {**(meta.get("annotations") or {}), **note}},
    )


def _filled(
    container: JsonObject, limits: Json, requests: Json, notes: list[str], what: str
) -> JsonObject:
    resources = container.get("resources") or {}
    for field, defaults, name in (("requests", requests, "request"), ("limits", limits, "limit")):
        own = resources.get(field) or {}
        missing = {key: value for key, value in defaults.items() if key not in own}
        if missing:
            resources = {**resources, field: {**missing, **own}}
            notes.append(f"{', '.join(sorted(missing))} {name} for {what} {container.get('name')}")
    return {**container, "resources": resources}


def _problems(obj: Json, item: Json, plural: str) -> Iterator[str]:
    kind = item.get("type")
    if plural == "persistentvolumeclaims":
        if kind == "PersistentVolumeClaim":
            requests = value_at(obj, "spec", "resources", "requests") or {}
            yield from _low("PersistentVolumeClaim", item, requests, {})
            yield from _high("PersistentVolumeClaim", item, requests, requests, what="request")
        return
    containers = [
        each for group, _ in _GROUPS for _, each in enumerate_objects(value_at(obj, "spec", group))
    ]
    if kind == "Container":
        for each in containers:
            resources = each.get("resources") or {}
            amounts = resources.get("requests") or {}, resources.get("limits") or {}
            yield from _bounds("Container", item, *amounts)
    elif kind == "Pod":
        regular = [each for _, each in enumerate_objects(value_at(obj, "spec", "containers"))]
        yield from _bounds("Pod", item, _sum(regular, "requests"), _sum(regular, "limits"))


def _sum(containers: list[Json], field: str) -> dict[str, str]:
    """The amounts that all containers have, added up."""
    totals: dict[str, str] = {}
    every = [value_at(each, "resources", field) or {} for each in containers]
    for name in dict.fromkeys(name for amounts in every for name in amounts):
        if all(name in amounts for amounts in every):
            parsed = [parse_quantity(amounts[name]) for amounts in every]
            amounts = [each for each in parsed if each is not None]
            total = sum(each.milli_value() for each in amounts)
            found = Quantity.of(total, scale=-3, format=amounts[0].format) if amounts else None
            totals[name] = _text(found)
    return totals


def _bounds(kind: str, item: Json, requests: Json, limits: Json) -> Iterator[str]:
    yield from _low(kind, item, requests, limits)
    yield from _high(kind, item, requests, limits, what="limit")
    for name, value in (item.get("maxLimitRequestRatio") or {}).items():
        ratio, one, two = parse_quantity(value), _amount(requests, name), _amount(limits, name)
        rule = f"{name} max limit to request ratio per {kind} is {_text(ratio)}"
        if one is None or two is None or ratio is None or one.is_zero:
            yield f"{rule}, but no request is specified or request is 0"
        elif two.as_decimal() / one.as_decimal() > ratio.as_decimal():
            provided = float(two.as_decimal() / one.as_decimal())
            yield f"{rule}, but provided ratio is {provided:f}"


def _low(kind: str, item: Json, requests: Json, limits: Json) -> Iterator[str]:
    for name, value in (item.get("min") or {}).items():
        low, request, limit = parse_quantity(value), _amount(requests, name), _amount(limits, name)
        rule = f"minimum {name} usage per {kind} is {_text(low)}"
        if low is None:
            continue
        if request is None:
            yield f"{rule}.  No request is specified"
        elif request < low:
            yield f"{rule}, but request is {_text(request)}"
        elif limit is not None and limit < low:
            yield f"{rule}, but limit is {_text(limit)}"


def _high(kind: str, item: Json, requests: Json, limits: Json, *, what: str) -> Iterator[str]:
    for name, value in (item.get("max") or {}).items():
        high, request, limit = parse_quantity(value), _amount(requests, name), _amount(limits, name)
        rule = f"maximum {name} usage per {kind} is {_text(high)}"
        if high is None:
            continue
        if limit is None:
            yield f"{rule}.  No {what} is specified"
        elif limit > high:
            yield f"{rule}, but {what} is {_text(limit)}"
        elif request is not None and request > high:
            yield f"{rule}, but request is {_text(request)}"


def _amount(amounts: Json, name: str) -> Quantity | None:
    return parse_quantity(amounts[name]) if name in amounts else None


def _text(amount: Quantity | None) -> str:
    return "" if amount is None else amount.canonical()


# --- the plugin


def _mutate_pod(cluster: Cluster, _: Call, pod: JsonObject) -> JsonObject:
    if not cluster.store.collection(_LIMIT_RANGES).entries:
        return pod
    return with_default_limits(pod, cluster.store.objects)


def _check_pod(cluster: Cluster, call: Call, pod: JsonObject, old: JsonObject | None) -> list[str]:
    if old is None or call.part == "resize":
        _check(cluster, pod, old, "pods")
    return []


def _check_claim(
    cluster: Cluster, call: Call, claim: JsonObject, old: JsonObject | None
) -> list[str]:
    if not call.part:
        _check(cluster, claim, old, "persistentvolumeclaims")
    return []


def _check(cluster: Cluster, obj: JsonObject, old: JsonObject | None, plural: str) -> None:
    is_ending = old is not None and "deletionTimestamp" in old["metadata"]
    if cluster.store.collection(_LIMIT_RANGES).entries and not is_ending:
        check_limits(obj, cluster.store.objects, plural)


LIMIT_RANGER: Final = Plugin(
    "LimitRanger", mutate={PODS: _mutate_pod}, validate={PODS: _check_pod, CLAIMS: _check_claim}
)
