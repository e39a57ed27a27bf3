"""The layouts of workloads: deployments, sets, jobs and their like.

Each function takes the object, and the objects that `LOOKUPS` in `command` names for its kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeloop.wire import InvalidArgument, parse_time
from kubeloop_cli.live_table import age_text

from .page import Json, Page, go_bool, labels_text, local_time, quantity, selector_text
from .pods import add_template

__all__ = [
    "describe_autoscaler",
    "describe_cron_job",
    "describe_daemon_set",
    "describe_deployment",
    "describe_disruption_budget",
    "describe_job",
    "describe_replica_set",
    "describe_stateful_set",
]


def _add_names(page: Page, obj: Json) -> None:
    page.add(0, "Name:", obj["metadata"].get("name") or "")
    page.add(0, "Namespace:", obj["metadata"].get("namespace") or "")


def _add_labels(page: Page, obj: Json) -> None:
    page.add_labels("Labels", obj["metadata"].get("labels"))
    page.add_annotations(obj["metadata"].get("annotations"))


def _add_pod_template(page: Page, template: Json) -> None:
    page.add(0, "Pod Template:")
    add_template(page, template)


def _add_conditions(page: Page, status: Json) -> None:
    if status.get("conditions"):
        page.add(0, "Conditions:")
        page.add_table(1, ("Type", "Status", "Reason"), ("----", "------", "------"))
        for each in status["conditions"]:
            page.add(1, f"{each.get('type')} ", each.get("status"), each.get("reason") or "")


def _is_owned(obj: Json, owner: Json) -> bool:
    return any(
        each.get("controller") and each.get("uid") == owner["metadata"].get("uid")
        for each in obj["metadata"].get("ownerReferences") or ()
    )


def _pod_phases(owner: Json, pods: Sequence[Json]) -> str:
    phases = [(pod.get("status") or {}).get("phase") for pod in pods if _is_owned(pod, owner)]
    names = (("Running", "Running"), ("Pending", "Waiting"), ("Succeeded",) * 2, ("Failed",) * 2)
    return " / ".join(f"{phases.count(phase)} {title}" for phase, title in names)


# --- kinds


def describe_deployment(page: Page, deployment: Json, replica_sets: Sequence[Json]) -> None:
    spec, status = deployment.get("spec") or {}, deployment.get("status") or {}
    _add_names(page, deployment)
    page.add(0, "CreationTimestamp:", local_time(deployment["metadata"].get("creationTimestamp")))
    _add_labels(page, deployment)
    page.add(0, "Selector:", selector_text(spec.get("selector")))
    counts = (
        f"{spec.get('replicas', 1)} desired | {status.get('updatedReplicas') or 0} updated"
        f" | {status.get('replicas') or 0} total | {status.get('availableReplicas') or 0} available"
        f" | {status.get('unavailableReplicas') or 0} unavailable"
    )
    page.add(0, "Replicas:", counts)
    strategy = spec.get("strategy") or {}
    page.add(0, "StrategyType:", strategy.get("type") or "")
    page.add(0, "MinReadySeconds:", spec.get("minReadySeconds") or 0)
    if rolling := strategy.get("rollingUpdate"):
        text = (
            f"{rolling.get('maxUnavailable')} max unavailable, {rolling.get('maxSurge')} max surge"
        )
        page.add(0, "RollingUpdateStrategy:", text)
    _add_pod_template(page, spec.get("template") or {})
    _add_conditions(page, status)
    owned = [each for each in replica_sets if _is_owned(each, deployment)]
    owned.sort(key=lambda each: str(each["metadata"].get("creationTimestamp")))
    template = _without_hash(spec.get("template") or {})
    new = next(
        (each for each in owned if _without_hash(each["spec"]["template"]) == template), None
    )
    if owned:
        page.add(0, "OldReplicaSets:", _set_names([each for each in owned if each is not new]))
        page.add(0, "NewReplicaSet:", _set_names([new] if new else []))


def _without_hash(template: Json) -> tuple[object, object]:
    metadata = template.get("metadata") or {}
    labels = dict(metadata.get("labels") or {})
    labels.pop("pod-template-hash", None)
    return labels, {**template, "metadata": {**metadata, "labels": None}}


def _set_names(sets: Sequence[Json]) -> str:
    return ", ".join(
        f"{each['metadata']['name']} ({(each.get('status') or {}).get('replicas') or 0}/"
        f"{each['spec'].get('replicas', 1)} replicas created)"
        for each in sets
    ) or "<none>"  # fmt: skip


def describe_replica_set(page: Page, obj: Json, pods: Sequence[Json]) -> None:
    """A replica set, or a replication controller."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    _add_names(page, obj)
    selector = spec.get("selector") or {}
    is_controller = obj.get("kind") == "ReplicationController"
    page.add(0, "Selector:", labels_text(selector) if is_controller else selector_text(selector))
    _add_labels(page, obj)
    page.add_controller(obj)
    desired = spec.get("replicas", 1)
    page.add(0, "Replicas:", f"{status.get('replicas') or 0} current / {desired} desired")
    page.add(0, "Pods Status:", _pod_phases(obj, pods))
    _add_pod_template(page, spec.get("template") or {})
    _add_conditions(page, status)


def describe_stateful_set(page: Page, obj: Json, pods: Sequence[Json]) -> None:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    _add_names(page, obj)
    page.add(0, "CreationTimestamp:", local_time(obj["metadata"].get("creationTimestamp")))
    page.add(0, "Selector:", selector_text(spec.get("selector")))
    _add_labels(page, obj)
    page.add(0, "Service Name:", spec.get("serviceName") or "")
    page.add(0, "Pod Management Policy:", spec.get("podManagementPolicy") or "")
    desired = spec.get("replicas", 1)
    page.add(0, "Replicas:", f"{desired} desired | {status.get('replicas') or 0} total")
    strategy = spec.get("updateStrategy") or {}
    page.add(0, "Update Strategy:", strategy.get("type") or "")
    for title, field in (("Partition:", "partition"), ("MaxUnavailable:", "maxUnavailable")):
        value = (strategy.get("rollingUpdate") or {}).get(field)
        if value is not None:
            page.add(1, title, value)
    if policy := spec.get("persistentVolumeClaimRetentionPolicy"):
        page.add(0, "Persistent Volume Claim Retention Policy:")
        page.add(1, "WhenDeleted:", policy.get("whenDeleted") or "")
        page.add(1, "WhenScaled:", policy.get("whenScaled") or "")
    page.add(0, "Pods Status:", _pod_phases(obj, pods))
    _add_pod_template(page, spec.get("template") or {})
    claims = spec.get("volumeClaimTemplates") or ()
    page.add(0, "Volume Claims:", *([] if claims else ["<none>"]))
    for claim in claims:
        _add_claim_template(page, claim)


def _add_claim_template(page: Page, claim: Json) -> None:
    metadata, spec = claim.get("metadata") or {}, claim.get("spec") or {}
    page.add(1, "Name:", metadata.get("name") or "")
    page.add(1, "StorageClass:", spec.get("storageClassName") or "")
    page.add_labels("Labels", metadata.get("labels"), indent="  ")
    page.add_annotations(metadata.get("annotations"), indent="  ")
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    page.add(1, "Capacity:", quantity(size) if size else "<default>")
    modes = spec.get("accessModes")
    page.add(1, "Access Modes:", f"[{' '.join(modes)}]" if modes else "<default>")


def describe_daemon_set(page: Page, obj: Json, pods: Sequence[Json]) -> None:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    _add_names(page, obj)
    page.add(0, "Selector:", selector_text(spec.get("selector")))
    template = spec.get("template") or {}
    page.add(0, "Node-Selector:", labels_text((template.get("spec") or {}).get("nodeSelector")))
    _add_labels(page, obj)
    for title, field in (
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ):
        page.add(0, f"{title}: {status.get(field) or 0}")
    page.add(0, "Pods Status:", _pod_phases(obj, pods))
    _add_pod_template(page, template)


def describe_job(page: Page, job: Json) -> None:
    spec, status = job.get("spec") or {}, job.get("status") or {}
    _add_names(page, job)
    if spec.get("selector"):
        page.add(0, "Selector:", selector_text(spec["selector"]))
    _add_labels(page, job)
    page.add_controller(job)
    page.add(0, "Parallelism:", spec.get("parallelism", "<unset>"))
    page.add(0, "Completions:", spec.get("completions", "<unset>"))
    if spec.get("completionMode"):
        page.add(0, "Completion Mode:", spec["completionMode"])
    if spec.get("suspend") is not None:
        page.add(0, "Suspend:", go_bool(spec["suspend"]))
    if spec.get("backoffLimit") is not None:
        page.add(0, "Backoff Limit:", spec["backoffLimit"])
    if spec.get("ttlSecondsAfterFinished") is not None:
        page.add(0, "TTL Seconds After Finished:", spec["ttlSecondsAfterFinished"])
    start, end = status.get("startTime"), status.get("completionTime")
    if start:
        page.add(0, "Start Time:", local_time(start))
    if end:
        page.add(0, "Completed At:", local_time(end))
    if start and end:
        page.add(0, "Duration:", _duration(start, end))
    if spec.get("activeDeadlineSeconds") is not None:
        page.add(0, "Active Deadline Seconds:", f"{spec['activeDeadlineSeconds']}s")
    ready = status.get("ready")
    page.add(
        0,
        "Pods Statuses:",
        f"{status.get('active') or 0} Active{'' if ready is None else f' ({ready} Ready)'}"
        f" / {status.get('succeeded') or 0} Succeeded / {status.get('failed') or 0} Failed",
    )
    if spec.get("completionMode") == "Indexed":
        page.add(0, "Completed Indexes:", status.get("completedIndexes") or "<none>")
    _add_pod_template(page, spec.get("template") or {})


def _duration(start: str, end: str) -> str:
    try:
        return age_text((parse_time(end) - parse_time(start)).total_seconds())
    except InvalidArgument:
        return "<unknown>"


def describe_cron_job(page: Page, obj: Json) -> None:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    page.add_metadata(obj)
    page.add(0, "Schedule:", spec.get("schedule") or "")
    page.add(0, "Concurrency Policy:", spec.get("concurrencyPolicy") or "")
    suspend = spec.get("suspend")
    page.add(0, "Suspend:", "<unset>" if suspend is None else str(bool(suspend)))
    page.add(0, "Time Zone:", spec.get("timeZone") or "<unset>")
    page.add(0, "Successful Job History Limit:", spec.get("successfulJobsHistoryLimit", "<unset>"))
    page.add(0, "Failed Job History Limit:", spec.get("failedJobsHistoryLimit", "<unset>"))
    deadline = spec.get("startingDeadlineSeconds")
    page.add(0, "Starting Deadline Seconds:", "<unset>" if deadline is None else f"{deadline}s")
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    page.add(0, "Selector:", selector_text(job["selector"]) if job.get("selector") else "<unset>")
    page.add(0, "Parallelism:", job.get("parallelism", "<unset>"))
    page.add(0, "Completions:", job.get("completions", "<unset>"))
    if job.get("activeDeadlineSeconds") is not None:
        page.add(0, "Active Deadline Seconds:", f"{job['activeDeadlineSeconds']}s")
    _add_pod_template(page, job.get("template") or {})
    page.add(0, "Last Schedule Time:", local_time(status.get("lastScheduleTime")))
    names = ", ".join(str(each.get("name")) for each in status.get("active") or ())
    page.add(0, "Active Jobs:", names or "<none>")


def describe_disruption_budget(page: Page, obj: Json) -> None:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    _add_names(page, obj)
    for title, field in (
        ("Min available:", "minAvailable"),
        ("Max unavailable:", "maxUnavailable"),
    ):
        if spec.get(field) is not None:
            page.add(0, title, spec[field])
    selector = spec.get("selector")
    page.add(0, "Selector:", "<unset>" if selector is None else selector_text(selector))
    page.add(0, "Status:")
    for title, field in (
        ("Allowed disruptions:", "disruptionsAllowed"),
        ("Current:", "currentHealthy"),
        ("Desired:", "desiredHealthy"),
        ("Total:", "expectedPods"),
    ):
        page.add(2, title, status.get(field) or 0)


# --- autoscalers


def describe_autoscaler(page: Page, obj: Json) -> None:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    page.add_metadata(obj)
    page.add(0, "CreationTimestamp:", local_time(obj["metadata"].get("creationTimestamp")))
    target = spec.get("scaleTargetRef") or {}
    page.add(0, "Reference:", f"{target.get('kind')}/{target.get('name')}")
    page.add(0, "Metrics:", "( current / target )")
    current = status.get("currentMetrics") or ()
    for number, metric in enumerate(spec.get("metrics") or ()):
        _add_metric(page, metric, current[number] if number < len(current) else {})
    page.add(0, "Min replicas:", spec.get("minReplicas", "<unset>"))
    page.add(0, "Max replicas:", spec.get("maxReplicas") or 0)
    if spec.get("behavior"):
        page.add(0, "Behavior:")
        for title, field in (("Scale Up:", "scaleUp"), ("Scale Down:", "scaleDown")):
            if rules := spec["behavior"].get(field):
                page.add(1, title)
                _add_scaling_rules(page, rules)
    replicas, desired = status.get("currentReplicas") or 0, status.get("desiredReplicas") or 0
    page.add(0, f"{target.get('kind')} pods:", f"{replicas} current / {desired} desired")
    if status.get("conditions"):
        page.add(0, "Conditions:")
        page.add_table(1, ("Type", "Status", "Reason", "Message"))
        for each in status["conditions"]:
            names = ("type", "status", "reason", "message")
            page.add(1, *(each.get(name) or "" for name in names))


def _add_metric(page: Page, metric: Json, current: Json) -> None:
    kind = str(metric.get("type") or "")
    field = kind[:1].lower() + kind[1:]
    source = metric.get(field) or {}
    found = (current.get(field) or {}).get("current") or {}
    target = source.get("target") or {}
    name = (source.get("metric") or {}).get("name")
    described = source.get("describedObject") or {}
    container = f' of container "{source.get("container")}"' if "container" in source else ""
    average = target.get("averageValue") is not None
    title = {
        "resource": f"resource {source.get('name')}{container} on pods",
        "containerResource": f"resource {source.get('name')}{container} on pods",
        "pods": f'"{name}" on pods',
        "object": f'"{name}" on {described.get("kind")}/{described.get("name")}',
        "external": f'"{name}"',
    }.get(field, kind)
    if field in ("object", "external"):
        title += f" (target {'average ' if average else ''}value)"
    if target.get("averageUtilization") is not None:
        used = found.get("averageUtilization")
        amount = quantity(found.get("averageValue") or "0")
        shown = "<unknown>" if used is None else f"{used}% ({amount})"
        text = f"{shown} / {target['averageUtilization']}%"
        page.add(1, f"{title}  (as a percentage of request):", text)
        return
    key = "averageValue" if average else "value"
    shown = quantity(found[key]) if found.get(key) is not None else "<unknown>"
    page.add(1, f"{title}:", f"{shown} / {quantity(target.get(key) or '0')}")


def _add_scaling_rules(page: Page, rules: Json) -> None:
    if rules.get("stabilizationWindowSeconds") is not None:
        page.add(2, f"Stabilization Window: {rules['stabilizationWindowSeconds']} seconds")
    if rules.get("policies"):
        page.add(2, f"Select Policy: {rules.get('selectPolicy') or 'Max'}")
        page.add(2, "Policies:")
        for each in rules["policies"]:
            value, period = each.get("value"), each.get("periodSeconds")
            kind = f"- Type: {each.get('type')}"
            page.add(3, kind, f"Value: {value}", f"Period: {period} seconds")
