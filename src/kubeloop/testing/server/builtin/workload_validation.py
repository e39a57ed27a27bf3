"""Validation of workloads: deployments, sets, jobs.

Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: the specs of their templates (`pod_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.selectors import selector_from_map, selector_from_wire
from kubeloop.wire import InvalidArgument

from ..statuses import Cause
from ..values import causes
from .cron import problem_of_schedule
from .pod_validation import problems_of_pod_spec
from .value_rules import (
    Causes,
    check_choice,
    check_int_or_percent,
    check_labels,
    check_minimum,
    check_selector,
    check_unchanged,
    is_zero,
)

__all__ = ["WORKLOADS"]

_Raw: TypeAlias = Mapping[str, Any]
_CRON_JOB_NAME: Final = 52  # a label of 63 characters, without the suffix of its jobs


def _deployment(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateDeploymentSpec`.
    spec = obj.get("spec") or {}
    yield from check_minimum("spec.replicas", spec.get("replicas"))
    yield from _selector_problems(spec, "deployment")
    yield from _template_problems(spec, "spec.template", always=True)
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
        yield causes.not_supported(path, dict(strategy), kinds)
    if isinstance(rolling, Mapping):
        yield from _rolling_problems(rolling, f"{path}.rollingUpdate")


def _rolling_problems(rolling: _Raw, path: str) -> Causes:
    # With both at zero no pod could ever be replaced.
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    yield from check_int_or_percent(f"{path}.maxUnavailable", unavailable, at_most_all=True)
    yield from check_int_or_percent(f"{path}.maxSurge", surge)
    if is_zero(unavailable) and is_zero(surge):
        rule = "may not be 0 when `maxSurge` is 0"
        yield causes.invalid(f"{path}.maxUnavailable", unavailable, rule)


def _replica_set(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateReplicaSetSpec`.
    spec = obj.get("spec") or {}
    for field in ("replicas", "minReadySeconds"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    yield from _selector_problems(spec, "deployment")
    yield from _template_problems(spec, "spec.template", always=True)
    yield from _check_immutable(spec, old, "selector")


def _stateful_set(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateStatefulSetSpec` and `ValidateStatefulSetUpdate`.
    spec = obj.get("spec") or {}
    policy = spec.get("podManagementPolicy")
    if policy not in (None, "", "OrderedReady", "Parallel"):
        rule = "must be 'OrderedReady' or 'Parallel'"
        yield causes.invalid("spec.podManagementPolicy", policy, rule)
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") not in (None, "", "RollingUpdate", "OnDelete"):
        rule = "must be 'RollingUpdate' or 'OnDelete'"
        yield causes.invalid("spec.updateStrategy", dict(strategy), rule)
    yield from check_minimum("spec.replicas", spec.get("replicas"))
    yield from _selector_problems(spec, "statefulset")
    yield from _template_problems(spec, "spec.template", always=True)
    names = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")
    yield from _check_immutable(spec, old, *names)


def _daemon_set(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateDaemonSetSpec`.
    spec = obj.get("spec") or {}
    yield from _selector_problems(spec, "daemonset")
    yield from _template_problems(spec, "spec.template", always=True)
    strategy, kinds = spec.get("updateStrategy") or {}, ("RollingUpdate", "OnDelete")
    if strategy.get("type") not in (None, "", *kinds):
        yield causes.not_supported("spec.updateStrategy", dict(strategy), kinds)
    for field in ("minReadySeconds", "revisionHistoryLimit"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    yield from _check_immutable(spec, old, "selector")


def _replication_controller(obj: _Raw, _: _Raw | None) -> Causes:
    spec = obj.get("spec") or {}
    yield from check_minimum("spec.replicas", spec.get("replicas"))
    labels = spec.get("selector") or {}
    if not labels:
        yield causes.required("spec.selector")
    elif not selector_from_map(labels, validate=False).matches(_template_labels(spec)):
        yield _mismatch(spec, "spec.template")
    yield from _template_problems(spec, "spec.template", always=True)


# --- jobs


def _job(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateJobCreate` and `ValidateJobUpdate`; the selector was generated by `preparation`.
    spec = obj.get("spec") or {}
    yield from _job_spec(spec, "spec")
    if not spec.get("selector"):
        yield causes.required("spec.selector")
    elif not _matches(spec["selector"], _template_labels(spec)):
        yield _mismatch(spec, "spec.template")
    if old is not None:
        yield from _job_change(spec, old.get("spec") or {})


def _job_spec(spec: _Raw, path: str) -> Causes:
    numbers = (
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    )
    for field in numbers:
        yield from check_minimum(f"{path}.{field}", spec.get(field))
    mode = spec.get("completionMode")
    yield from check_choice(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed" and spec.get("completions") is None:
        yield causes.required(f"{path}.completions", "when completion mode is Indexed")
    yield from _template_problems(spec, f"{path}.template", always=False)
    where = f"{path}.template.spec.restartPolicy"
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    # `Always` is the default, so kube-apiserver reports it as missing.
    if policy in {None, "", "Always"}:
        yield causes.required(where, 'valid values: "OnFailure", "Never"')
    else:
        yield from check_choice(where, policy, ("OnFailure", "Never"))


def _job_change(spec: _Raw, before: _Raw) -> Causes:
    # `ValidateJobSpecUpdate`: a suspended job may still be scheduled differently.
    yield from _completions_change(spec, before)
    yield from check_unchanged("spec.selector", spec.get("selector"), before.get("selector"))
    new, old = spec.get("template"), before.get("template")
    if before.get("suspend"):
        new, old = _immutable_template(new), _immutable_template(old)
        inner = (new or {}).get("spec"), (old or {}).get("spec")
        yield from check_unchanged("spec.template.spec", *inner)
    else:
        yield from check_unchanged("spec.template", new, old)
    names = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy")
    for field in (*names, "successPolicy"):
        yield from check_unchanged(f"spec.{field}", spec.get(field), before.get(field))


def _completions_change(spec: _Raw, before: _Raw) -> Causes:
    # Indexed jobs are elastic: completions follow parallelism.
    path, new, old = "spec.completions", spec.get("completions"), before.get("completions")
    if spec.get("completionMode") != "Indexed" or new is None or old is None:
        yield from check_unchanged(path, new, old)
    elif new != old and new != spec.get("parallelism"):
        yield causes.invalid(path, new, "can only be modified in tandem with spec.parallelism")


def _immutable_template(template: Any) -> Any:
    """A template without the scheduling directives, mutable while a job is suspended."""
    if not isinstance(template, Mapping):
        return template
    mutable = {"nodeSelector", "tolerations", "affinity", "schedulingGates"}
    spec = {key: value for key, value in (template.get("spec") or {}).items() if key not in mutable}
    meta = {
        key: value
        for key, value in (template.get("metadata") or {}).items()
        if key not in {"labels", "annotations"}
    }
    return {"metadata": meta, "spec": spec}


def _cron_job(obj: _Raw, old: _Raw | None) -> Causes:
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name") or ""
    # A job's name has a time suffix, and must still be a label.
    if old is None and len(name) > _CRON_JOB_NAME:
        rule = f"must be no more than {_CRON_JOB_NAME} characters"
        yield causes.invalid("metadata.name", name, rule)
    schedule = spec.get("schedule") or ""
    problem = problem_of_schedule(schedule)
    if not schedule:
        yield causes.required("spec.schedule")
    elif problem:
        yield causes.invalid("spec.schedule", schedule, problem)
    policies, policy = ("Allow", "Forbid", "Replace"), spec.get("concurrencyPolicy")
    yield from check_choice("spec.concurrencyPolicy", policy, policies, required=True)
    for field in (
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    template = (spec.get("jobTemplate") or {}).get("spec") or {}
    yield from _job_spec(template, "spec.jobTemplate.spec")
    if template.get("selector"):
        where = "spec.jobTemplate.spec.selector"
        yield causes.invalid(where, template["selector"], "`selector` will be auto-generated")


# --- shared checks


def _selector_problems(spec: _Raw, kind: str) -> Causes:
    path, selector = "spec.selector", spec.get("selector")
    if selector is None:
        if kind != "daemonset":
            yield causes.required(path)
        yield _mismatch(spec, "spec.template")
        return
    yield from check_selector(path, selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield causes.invalid(path, selector, f"empty selector is invalid for {kind}")
    elif not _matches(selector, _template_labels(spec)):
        yield _mismatch(spec, "spec.template")


def _mismatch(spec: _Raw, path: str) -> Cause:
    rule = "`selector` does not match template `labels`"
    return causes.invalid(f"{path}.metadata.labels", _template_labels(spec) or None, rule)


def _template_labels(spec: _Raw) -> dict[str, str]:
    return dict(((spec.get("template") or {}).get("metadata") or {}).get("labels") or {})


def _matches(selector: Any, labels: Mapping[str, str]) -> bool:
    """Whether a selector matches; an invalid one has been reported already."""
    try:
        return selector_from_wire(selector).matches(labels)
    except InvalidArgument:
        return True


def _template_problems(spec: _Raw, path: str, *, always: bool) -> Causes:
    # `ValidatePodTemplateSpecForReplicaSet`; only jobs allow other restart policies.
    template = spec.get("template")
    if not isinstance(template, Mapping):
        yield causes.required(path)
        return
    yield from check_labels(f"{path}.labels", (template.get("metadata") or {}).get("labels"))
    below = template.get("spec") or {}
    yield from problems_of_pod_spec(below, f"{path}.spec")
    if always:
        where = f"{path}.spec.restartPolicy"
        yield from check_choice(where, below.get("restartPolicy"), ("Always",))
        if below.get("activeDeadlineSeconds") is not None:
            where = f"{path}.spec.activeDeadlineSeconds"
            yield causes.forbidden(where, "activeDeadlineSeconds in ReplicaSet is not Supported")


def _check_immutable(spec: _Raw, old: _Raw | None, *fields: str) -> Causes:
    if old is not None:
        before = old.get("spec") or {}
        for field in fields:
            yield from check_unchanged(f"spec.{field}", spec.get(field), before.get(field))


WORKLOADS: Final[dict[tuple[str, str], Callable[[_Raw, _Raw | None], Causes]]] = {
    ("", "ReplicationController"): _replication_controller,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "Deployment"): _deployment,
    ("apps", "ReplicaSet"): _replica_set,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "CronJob"): _cron_job,
    ("batch", "Job"): _job,
}
