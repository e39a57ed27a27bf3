"""Validation of workloads: deployments, sets, controllers, revisions.

Guarantees: the causes of kube-apiserver's apps group and of replication controllers, for
writes of the objects and of their status.
See also: jobs (`job_validation`), templates and selectors (`template_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label
from kubeloop.selectors import selector_from_map

from ..values import causes
from ..values.go_values import printed
from .claim_validation import problems_of_claim_spec
from .job_validation import JOB_STATUS, JOBS
from .template_validation import (
    mismatch,
    problems_of_selector,
    problems_of_template,
    template_labels,
)
from .value_rules import (
    Causes,
    check_at_most_all,
    check_choice,
    check_int_or_percent,
    check_minimum,
    check_name,
    check_unchanged,
    enumerate_objects,
    is_zero,
)

__all__ = ["WORKLOADS", "WORKLOAD_STATUS"]

_Raw: TypeAlias = Mapping[str, Any]


def _deployment(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateDeploymentSpec`.
    spec = obj.get("spec") or {}
    yield from check_minimum("spec.replicas", spec.get("replicas"))
    yield from problems_of_selector(spec, "deployment")
    yield from problems_of_template(spec, "spec.template", always="ReplicaSet")
    yield from _strategy_problems(spec.get("strategy") or {})
    for field in ("minReadySeconds", "revisionHistoryLimit"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    yield from _deadline_problems(spec)
    yield from _check_immutable(spec, old, "selector")


def _deadline_problems(spec: _Raw) -> Causes:
    # Otherwise the deadline would pass before a pod can be available.
    deadline = spec.get("progressDeadlineSeconds")
    yield from check_minimum("spec.progressDeadlineSeconds", deadline)
    if isinstance(deadline, int) and deadline <= (spec.get("minReadySeconds") or 0):
        rule = "must be greater than minReadySeconds"
        yield causes.invalid("spec.progressDeadlineSeconds", deadline, rule)


def _strategy_problems(strategy: _Raw) -> Causes:
    # `ValidateDeploymentStrategy`.
    path, rolling = "spec.strategy", strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate":
        if rolling is not None:
            rule = "may not be specified when strategy `type` is 'Recreate'"
            yield causes.forbidden(f"{path}.rollingUpdate", rule)
        return
    kinds = ("Recreate", "RollingUpdate")
    if strategy.get("type") not in (None, "", *kinds):
        shown = printed("apps/v1.DeploymentStrategy", strategy)
        yield causes.not_supported(path, shown, kinds)
    if isinstance(rolling, Mapping):
        yield from _rolling_problems(rolling, f"{path}.rollingUpdate")


def _rolling_problems(rolling: _Raw, path: str) -> Causes:
    # With both at zero no pod could ever be replaced.
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    yield from check_int_or_percent(f"{path}.maxUnavailable", unavailable)
    yield from check_int_or_percent(f"{path}.maxSurge", surge)
    if is_zero(unavailable) and is_zero(surge):
        rule = "may not be 0 when `maxSurge` is 0"
        yield causes.invalid(f"{path}.maxUnavailable", unavailable, rule)
    yield from check_at_most_all(f"{path}.maxUnavailable", unavailable)


def _replica_set(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateReplicaSetSpec`.
    spec = obj.get("spec") or {}
    for field in ("replicas", "minReadySeconds"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    yield from problems_of_selector(spec, "deployment")
    yield from problems_of_template(spec, "spec.template", always="ReplicaSet")
    yield from _check_immutable(spec, old, "selector")


def _stateful_set(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateStatefulSetSpec` and `ValidateStatefulSetUpdate`.
    spec = obj.get("spec") or {}
    policy = spec.get("podManagementPolicy")
    if policy not in (None, "", "OrderedReady", "Parallel"):
        rule = "must be 'OrderedReady' or 'Parallel'"
        yield causes.invalid("spec.podManagementPolicy", policy, rule)
    yield from _set_strategy(spec.get("updateStrategy") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        where = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
        yield from check_choice(where, retention.get(field), ("Retain", "Delete"))
    for index, claim in enumerate_objects(spec.get("volumeClaimTemplates")):
        where = f"spec.volumeClaimTemplates[{index}].spec"
        yield from problems_of_claim_spec(claim.get("spec") or {}, where)
    for field in ("replicas", "minReadySeconds"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    start = (spec.get("ordinals") or {}).get("start")
    yield from check_minimum("spec.ordinals.start", start)
    if spec.get("serviceName"):
        yield from check_name("spec.serviceName", spec["serviceName"], problems_of_dns_label)
    yield from problems_of_selector(spec, "statefulset")
    full = _with_claim_volumes(spec)
    yield from problems_of_template(full, "spec.template", always="StatefulSet")
    names = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")
    yield from _check_immutable(spec, old, *names)


def _set_strategy(strategy: _Raw) -> Causes:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    where = "spec.updateStrategy"
    if kind not in (None, "", "RollingUpdate", "OnDelete"):
        rule = "must be 'RollingUpdate' or 'OnDelete'"
        yield causes.invalid(where, printed("apps/v1.StatefulSetUpdateStrategy", strategy), rule)
    elif isinstance(rolling, Mapping):
        path = f"{where}.rollingUpdate"
        if kind == "OnDelete":
            rule = "only allowed for updateStrategy 'RollingUpdate'"
            shown = printed("apps/v1.RollingUpdateStatefulSetStrategy", rolling)
            yield causes.invalid(path, shown, rule)
            return
        yield from check_minimum(f"{path}.partition", rolling.get("partition"))
        most = rolling.get("maxUnavailable")
        yield from check_int_or_percent(f"{path}.maxUnavailable", most, at_most_all=True)
        if most is not None and is_zero(most):
            yield causes.invalid(f"{path}.maxUnavailable", most, "cannot be 0")


def _with_claim_volumes(spec: _Raw) -> _Raw:
    """A spec whose template has a volume for each claim, as the pods will have."""
    claims = [
        (each.get("metadata") or {}).get("name")
        for _, each in enumerate_objects(spec.get("volumeClaimTemplates"))
    ]
    template = spec.get("template")
    if not isinstance(template, Mapping):
        return spec
    pod = {
        key: value
        for key, value in (template.get("spec") or {}).items()
        if key not in {"subdomain", "hostname"}
    }
    if claims:
        added = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        own = [each for each in pod.get("volumes") or () if each.get("name") not in claims]
        pod["volumes"] = [*added, *own]
    return {**spec, "template": {**template, "spec": pod}}


def _daemon_set(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateDaemonSetSpec`.
    spec = obj.get("spec") or {}
    yield from problems_of_selector(spec, "daemonset")
    yield from problems_of_template(spec, "spec.template", always="DaemonSet")
    yield from check_minimum("spec.minReadySeconds", spec.get("minReadySeconds"))
    strategy, kinds = spec.get("updateStrategy") or {}, ("RollingUpdate", "OnDelete")
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") not in (None, "", *kinds):
        shown = printed("apps/v1.DaemonSetUpdateStrategy", strategy)
        yield causes.not_supported("spec.updateStrategy", shown, kinds)
    elif strategy.get("type") != "OnDelete" and isinstance(rolling, Mapping):
        yield from _daemon_rolling(rolling, "spec.updateStrategy.rollingUpdate")
    yield from check_minimum("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))
    yield from _check_immutable(spec, old, "selector")


def _daemon_rolling(rolling: _Raw, path: str) -> Causes:
    # A node runs either no pod or two pods during an update.
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    yield from check_int_or_percent(f"{path}.maxUnavailable", unavailable, at_most_all=True)
    yield from check_int_or_percent(f"{path}.maxSurge", surge, at_most_all=True)
    # A text that is no percentage counts as zero.
    has_unavailable, has_surge = (
        not is_zero(each) and (isinstance(each, int) or str(each).endswith("%"))
        for each in (unavailable, surge)
    )
    if has_unavailable and has_surge:
        rule = "may not be set when maxUnavailable is non-zero"
        yield causes.invalid(f"{path}.maxSurge", surge, rule)
    elif not has_unavailable and not has_surge:
        yield causes.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _replication_controller(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateReplicationControllerSpec`.
    spec = obj.get("spec") or {}
    for field in ("replicas", "minReadySeconds"):
        yield from map(causes.declared, check_minimum(f"spec.{field}", spec.get(field)))
    labels = spec.get("selector") or {}
    if not labels:
        yield causes.required("spec.selector")
    if not isinstance(spec.get("template"), Mapping):
        yield causes.required("spec.template")
        return
    if labels and not selector_from_map(labels, validate=False).matches(template_labels(spec)):
        yield mismatch(spec, "spec.template")
    yield from problems_of_template(spec, "spec.template", always="ReplicationController")


def _controller_revision(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateControllerRevisionCreate`; the data of a revision never change.
    data = obj.get("data")
    if old is None and not isinstance(data, dict):
        yield causes.required("data", "data is mandatory")
    yield from check_minimum("revision", obj.get("revision"))
    if old is not None:
        yield from check_unchanged("data", data, old.get("data"))


def _check_immutable(spec: _Raw, old: _Raw | None, *fields: str) -> Causes:
    if old is not None:
        before = old.get("spec") or {}
        for field in fields:
            yield from check_unchanged(f"spec.{field}", spec.get(field), before.get(field))


# --- the status


def _counts(*fields: str, bounded: tuple[str, ...] = ()) -> Callable[[_Raw, _Raw], Causes]:
    """A check of counts; `bounded` ones do not exceed the replicas, nor available the ready."""

    def check(obj: _Raw, old: _Raw) -> Causes:
        status, before = obj.get("status") or {}, old.get("status") or {}
        for field in (*fields, *bounded):
            yield from check_minimum(f"status.{field}", status.get(field))
        replicas, ready = status.get("replicas") or 0, status.get("readyReplicas") or 0
        for field in bounded:
            count = status.get(field) or 0
            if count > replicas:
                rule = "cannot be greater than status.replicas"
                yield causes.invalid(f"status.{field}", count, rule)
            if field == "availableReplicas" and count > ready:
                yield causes.invalid(
                    f"status.{field}", count, "cannot be greater than readyReplicas"
                )
        number, former = status.get("collisionCount"), before.get("collisionCount")
        if former is not None and (number or 0) < former:
            yield causes.invalid("status.collisionCount", number or 0, "cannot be decremented")

    return check


_AVAILABLE: Final = ("readyReplicas", "availableReplicas")
_COMMON: Final = ("replicas", "observedGeneration", "collisionCount", "terminatingReplicas")
_DAEMON_COUNTS: Final = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)

WORKLOADS: Final[dict[tuple[str, str], Callable[[_Raw, _Raw | None], Causes]]] = {
    **JOBS,
    ("", "ReplicationController"): _replication_controller,
    ("apps", "ControllerRevision"): _controller_revision,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "Deployment"): _deployment,
    ("apps", "ReplicaSet"): _replica_set,
    ("apps", "StatefulSet"): _stateful_set,
}
# The checks of writes to the subresource status.
WORKLOAD_STATUS: Final[dict[tuple[str, str], Callable[[_Raw, _Raw], Causes]]] = {
    **JOB_STATUS,
    ("", "ReplicationController"): _counts(*_COMMON, bounded=("fullyLabeledReplicas", *_AVAILABLE)),
    ("apps", "DaemonSet"): _counts(*_DAEMON_COUNTS),
    ("apps", "Deployment"): _counts(
        *_COMMON, "unavailableReplicas", bounded=("updatedReplicas", *_AVAILABLE)
    ),
    ("apps", "ReplicaSet"): _counts(*_COMMON, bounded=("fullyLabeledReplicas", *_AVAILABLE)),
    ("apps", "StatefulSet"): _counts(
        *_COMMON, bounded=("currentReplicas", "updatedReplicas", *_AVAILABLE)
    ),
}
