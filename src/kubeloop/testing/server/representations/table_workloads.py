"""The cells of workload kinds, autoscalers and disruption budgets.

See also: pods (`table_pods`), the names of the columns (`table_kinds`).
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import InvalidArgument
from kubeloop.wire.times import parse_time

from ..values.json_values import value_at
from .cell_text import (
    Obj,
    Since,
    age_of,
    condition_of,
    containers_text,
    human_duration,
    items_at,
    labels_text,
    name_of,
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

_TEMPLATE: Final = ("spec", "template", "spec")


def _count(obj: Obj, *path: str) -> int:
    return int(value_at(obj, *path) or 0)


def deployment_cells(obj: Obj, since: Since) -> list[Any]:
    ready, desired = _count(obj, "status", "readyReplicas"), _count(obj, "spec", "replicas")
    return [
        name_of(obj),
        f"{ready}/{desired}",
        _count(obj, "status", "updatedReplicas"),
        _count(obj, "status", "availableReplicas"),
        age_of(obj, since),
        *containers_text(value_at(obj, *_TEMPLATE)),
        selector_text(value_at(obj, "spec", "selector"), none=""),
    ]


def replica_set_cells(obj: Obj, since: Since) -> list[Any]:
    return [*_replicas(obj, since), selector_text(value_at(obj, "spec", "selector"))]


def replication_controller_cells(obj: Obj, since: Since) -> list[Any]:
    return [*_replicas(obj, since), labels_text(value_at(obj, "spec", "selector"))]


def _replicas(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        _count(obj, "spec", "replicas"),
        _count(obj, "status", "replicas"),
        _count(obj, "status", "readyReplicas"),
        age_of(obj, since),
        *containers_text(value_at(obj, *_TEMPLATE)),
    ]


def stateful_set_cells(obj: Obj, since: Since) -> list[Any]:
    ready, desired = _count(obj, "status", "readyReplicas"), _count(obj, "spec", "replicas")
    names = containers_text(value_at(obj, *_TEMPLATE))
    return [name_of(obj), f"{ready}/{desired}", age_of(obj, since), *names]


def daemon_set_cells(obj: Obj, since: Since) -> list[Any]:
    counters = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name_of(obj),
        *(_count(obj, "status", each) for each in counters),
        labels_text(value_at(obj, *_TEMPLATE, "nodeSelector")),
        age_of(obj, since),
        *containers_text(value_at(obj, *_TEMPLATE)),
        selector_text(value_at(obj, "spec", "selector")),
    ]


def job_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        _job_status(obj),
        _job_completions(obj),
        _job_duration(obj, since),
        age_of(obj, since),
        *containers_text(value_at(obj, *_TEMPLATE)),
        selector_text(value_at(obj, "spec", "selector")),
    ]


# `printJob` reports the first of these conditions that is true.
_TERMINAL: Final = ("Complete", "Failed")
_INTERIM: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _job_status(obj: Obj) -> str:
    def is_true(name: str) -> bool:
        found = condition_of(obj, name)
        return found is not None and found.get("status") == "True"

    finished = next(filter(is_true, _TERMINAL), "")
    if finished or value_at(obj, "metadata", "deletionTimestamp"):
        return finished or "Terminating"
    return next(filter(is_true, _INTERIM), "Running")


def _job_completions(obj: Obj) -> str:
    # Without completions the job ends with the first success.
    done, desired = _count(obj, "status", "succeeded"), value_at(obj, "spec", "completions")
    if desired is not None:
        return f"{done}/{desired}"
    parallel = _count(obj, "spec", "parallelism")
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _job_duration(obj: Obj, since: Since) -> str:
    # A running job counts until now.
    started, ended = value_at(obj, "status", "startTime"), value_at(obj, "status", "completionTime")
    if not started:
        return ""
    if not ended:
        return since(started)
    try:
        return human_duration((parse_time(ended) - parse_time(started)).total_seconds())
    except InvalidArgument:
        return "<invalid>"


def cron_job_cells(obj: Obj, since: Since) -> list[Any]:
    suspended, last = value_at(obj, "spec", "suspend"), value_at(obj, "status", "lastScheduleTime")
    job = value_at(obj, "spec", "jobTemplate", "spec")
    return [
        name_of(obj),
        value_at(obj, "spec", "schedule"),
        or_else(value_at(obj, "spec", "timeZone"), "<none>"),
        "<unset>" if suspended is None else str(bool(suspended)),
        len(items_at(obj, "status", "active")),
        since(last) if last else "<none>",
        age_of(obj, since),
        *containers_text(value_at(job, "template", "spec")),
        selector_text(value_at(job, "selector")),
    ]


def pod_template_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    template = value_at(obj, "template")
    labels = labels_text(value_at(template, "metadata", "labels"))
    return [name_of(obj), *containers_text(value_at(template, "spec")), labels]


def disruption_budget_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        or_else(value_at(obj, "spec", "minAvailable"), "N/A"),
        or_else(value_at(obj, "spec", "maxUnavailable"), "N/A"),
        _count(obj, "status", "disruptionsAllowed"),
        age_of(obj, since),
    ]


def scale_cells(obj: Obj, since: Since) -> list[Any]:
    desired, found = _count(obj, "spec", "replicas"), _count(obj, "status", "replicas")
    return [name_of(obj), desired, found, age_of(obj, since)]


def revision_cells(obj: Obj, since: Since) -> list[Any]:
    owners = items_at(obj, "metadata", "ownerReferences")
    owner = next((each for each in owners if value_at(each, "controller")), None)
    return [
        name_of(obj),
        _owner_text(owner) if owner else "<none>",
        _count(obj, "revision"),
        age_of(obj, since),
    ]


def _owner_text(owner: Obj) -> str:
    """`statefulset.apps/web`."""
    group = str(owner.get("apiVersion", "")).rpartition("/")[0]
    kind = str(owner.get("kind", "")).lower()
    return f"{kind}.{group}/{owner.get('name')}" if group else f"{kind}/{owner.get('name')}"


def hpa_cells(obj: Obj, since: Since) -> list[Any]:
    target = value_at(obj, "spec", "scaleTargetRef")
    return [
        name_of(obj),
        f"{value_at(target, 'kind') or ''}/{value_at(target, 'name') or ''}",
        _metrics(obj),
        or_else(value_at(obj, "spec", "minReplicas"), "<unset>"),
        _count(obj, "spec", "maxReplicas"),
        _count(obj, "status", "currentReplicas"),
        age_of(obj, since),
    ]


_METRICS_LIMIT: Final = 2


def _metrics(obj: Obj) -> str:
    specs, found = items_at(obj, "spec", "metrics"), items_at(obj, "status", "currentMetrics")
    texts = [_metric(spec, value_at(found, index)) for index, spec in enumerate(specs)]
    old = value_at(obj, "spec", "targetCPUUtilizationPercentage")  # the field of autoscaling/v1
    if old is not None:
        current = value_at(obj, "status", "currentCPUUtilizationPercentage")
        texts = [f"cpu: {_percent(current, '<unknown>')}/{_percent(old, '<auto>')}", *texts]
    text = ", ".join(texts[:_METRICS_LIMIT])
    more = len(texts) - _METRICS_LIMIT
    return f"{text} + {more} more..." if more > 0 else text or "<none>"


_SOURCES: Final = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


def _metric(spec: Any, status: Any) -> str:
    # `formatHPAMetrics` of kube-apiserver's printers.
    source = _SOURCES.get(str(value_at(spec, "type")))
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
