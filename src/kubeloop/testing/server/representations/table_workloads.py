"""The rows of workloads: what runs pods, and what scales or guards them.

Elsewhere: pods themselves (`table_pods`), the columns' names (`table_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.wire import InvalidArgument
from kubeloop.wire.times import parse_time

from .human import (
    at,
    condition_of,
    containers_text,
    human_duration,
    items_at,
    labels_text,
    or_else,
    selector_text,
)

__all__ = [
    "cron_job_cells",
    "daemon_set_cells",
    "deployment_cells",
    "disruption_budget_cells",
    "hpa_cells",
    "job_cells",
    "pod_template_cells",
    "replica_set_cells",
    "replication_controller_cells",
    "revision_cells",
    "scale_cells",
    "stateful_set_cells",
]

Obj: TypeAlias = Mapping[str, Any]
Since: TypeAlias = Callable[[object], str]

_TEMPLATE: Final = ("spec", "template", "spec")


def _name(obj: Obj) -> Any:
    return at(obj, "metadata", "name")


def _age(obj: Obj, since: Since) -> str:
    return since(at(obj, "metadata", "creationTimestamp"))


def _count(obj: Obj, *path: str) -> int:
    return int(at(obj, *path) or 0)


def deployment_cells(obj: Obj, since: Since) -> list[Any]:
    ready, wanted = _count(obj, "status", "readyReplicas"), _count(obj, "spec", "replicas")
    return [
        _name(obj),
        f"{ready}/{wanted}",
        _count(obj, "status", "updatedReplicas"),
        _count(obj, "status", "availableReplicas"),
        _age(obj, since),
        *containers_text(at(obj, *_TEMPLATE)),
        selector_text(at(obj, "spec", "selector"), none=""),
    ]


def replica_set_cells(obj: Obj, since: Since) -> list[Any]:
    return [*_replicas(obj, since), selector_text(at(obj, "spec", "selector"))]


def replication_controller_cells(obj: Obj, since: Since) -> list[Any]:
    return [*_replicas(obj, since), labels_text(at(obj, "spec", "selector"))]


def _replicas(obj: Obj, since: Since) -> list[Any]:
    return [
        _name(obj),
        _count(obj, "spec", "replicas"),
        _count(obj, "status", "replicas"),
        _count(obj, "status", "readyReplicas"),
        _age(obj, since),
        *containers_text(at(obj, *_TEMPLATE)),
    ]


def stateful_set_cells(obj: Obj, since: Since) -> list[Any]:
    ready, wanted = _count(obj, "status", "readyReplicas"), _count(obj, "spec", "replicas")
    names = containers_text(at(obj, *_TEMPLATE))
    return [_name(obj), f"{ready}/{wanted}", _age(obj, since), *names]


def daemon_set_cells(obj: Obj, since: Since) -> list[Any]:
    counted = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        _name(obj),
        *(_count(obj, "status", each) for each in counted),
        labels_text(at(obj, *_TEMPLATE, "nodeSelector")),
        _age(obj, since),
        *containers_text(at(obj, *_TEMPLATE)),
        selector_text(at(obj, "spec", "selector")),
    ]


def job_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        _name(obj),
        _job_status(obj),
        _job_completions(obj),
        _job_duration(obj, since),
        _age(obj, since),
        *containers_text(at(obj, *_TEMPLATE)),
        selector_text(at(obj, "spec", "selector")),
    ]


_ENDINGS: Final = ("Complete", "Failed")
_STATES: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _job_status(obj: Obj) -> str:
    def is_true(sort: str) -> bool:
        found = condition_of(obj, sort)
        return found is not None and found.get("status") == "True"

    ended = next(filter(is_true, _ENDINGS), "")
    if ended or at(obj, "metadata", "deletionTimestamp"):
        return ended or "Terminating"
    return next(filter(is_true, _STATES), "Running")


def _job_completions(obj: Obj) -> str:
    done, wanted = _count(obj, "status", "succeeded"), at(obj, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallel = _count(obj, "spec", "parallelism")
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _job_duration(obj: Obj, since: Since) -> str:
    started, ended = at(obj, "status", "startTime"), at(obj, "status", "completionTime")
    if not started:
        return ""
    if not ended:
        return since(started)
    try:
        return human_duration((parse_time(ended) - parse_time(started)).total_seconds())
    except InvalidArgument:
        return "<invalid>"


def cron_job_cells(obj: Obj, since: Since) -> list[Any]:
    suspended, last = at(obj, "spec", "suspend"), at(obj, "status", "lastScheduleTime")
    job = at(obj, "spec", "jobTemplate", "spec")
    return [
        _name(obj),
        at(obj, "spec", "schedule"),
        or_else(at(obj, "spec", "timeZone"), "<none>"),
        "<unset>" if suspended is None else str(bool(suspended)),
        len(items_at(obj, "status", "active")),
        since(last) if last else "<none>",
        _age(obj, since),
        *containers_text(at(job, "template", "spec")),
        selector_text(at(job, "selector")),
    ]


def pod_template_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    template = at(obj, "template")
    labels = labels_text(at(template, "metadata", "labels"))
    return [_name(obj), *containers_text(at(template, "spec")), labels]


def disruption_budget_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        _name(obj),
        or_else(at(obj, "spec", "minAvailable"), "N/A"),
        or_else(at(obj, "spec", "maxUnavailable"), "N/A"),
        _count(obj, "status", "disruptionsAllowed"),
        _age(obj, since),
    ]


def scale_cells(obj: Obj, since: Since) -> list[Any]:
    wanted, found = _count(obj, "spec", "replicas"), _count(obj, "status", "replicas")
    return [_name(obj), wanted, found, _age(obj, since)]


def revision_cells(obj: Obj, since: Since) -> list[Any]:
    owners = items_at(obj, "metadata", "ownerReferences")
    owner = next((each for each in owners if at(each, "controller")), None)
    return [
        _name(obj),
        _owner_text(owner) if owner else "<none>",
        _count(obj, "revision"),
        _age(obj, since),
    ]


def _owner_text(owner: Obj) -> str:
    """`statefulset.apps/web`."""
    group = str(owner.get("apiVersion", "")).rpartition("/")[0]
    kind = str(owner.get("kind", "")).lower()
    return f"{kind}.{group}/{owner.get('name')}" if group else f"{kind}/{owner.get('name')}"


def hpa_cells(obj: Obj, since: Since) -> list[Any]:
    target = at(obj, "spec", "scaleTargetRef")
    return [
        _name(obj),
        f"{at(target, 'kind') or ''}/{at(target, 'name') or ''}",
        _metrics(obj),
        or_else(at(obj, "spec", "minReplicas"), "<unset>"),
        _count(obj, "spec", "maxReplicas"),
        _count(obj, "status", "currentReplicas"),
        _age(obj, since),
    ]


_METRICS_SHOWN: Final = 2


def _metrics(obj: Obj) -> str:
    specs, found = items_at(obj, "spec", "metrics"), items_at(obj, "status", "currentMetrics")
    told = [_metric(spec, at(found, index)) for index, spec in enumerate(specs)]
    old = at(obj, "spec", "targetCPUUtilizationPercentage")  # the field of autoscaling/v1
    if old is not None:
        current = at(obj, "status", "currentCPUUtilizationPercentage")
        told = [f"cpu: {_percent(current, '<unknown>')}/{_percent(old, '<auto>')}", *told]
    text = ", ".join(told[:_METRICS_SHOWN])
    more = len(told) - _METRICS_SHOWN
    return f"{text} + {more} more..." if more > 0 else text or "<none>"


_SOURCES: Final = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


def _metric(spec: Any, status: Any) -> str:
    source = _SOURCES.get(str(at(spec, "type")))
    if source is None:
        return "<unknown type>"
    said, current = at(spec, source), at(status, source, "current")
    target = at(said, "target")
    average = at(target, "averageValue")
    if source in {"resource", "containerResource"}:
        return f"{at(said, 'name')}: {_resource_metric(target, current)}"
    if source == "pods":
        return f"{or_else(at(current, 'averageValue'), '<unknown>')}/{average}"
    if average is not None:
        return f"{or_else(at(current, 'averageValue'), '<unknown>')}/{average} (avg)"
    return f"{or_else(at(current, 'value'), '<unknown>')}/{at(target, 'value')}"


def _resource_metric(target: Any, current: Any) -> str:
    if at(target, "averageValue") is not None:
        return f"{or_else(at(current, 'averageValue'), '<unknown>')}/{target['averageValue']}"
    found = _percent(at(current, "averageUtilization"), "<unknown>")
    return f"{found}/{_percent(at(target, 'averageUtilization'), '<auto>')}"


def _percent(value: object, otherwise: str) -> str:
    return otherwise if value is None else f"{value}%"
