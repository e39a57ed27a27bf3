"""Validation of jobs and cron jobs.

Guarantees: the causes of `ValidateJobCreate`, `ValidateJobUpdate`, `ValidateJobStatusUpdate` and
`ValidateCronJobCreate`.
See also: schedules (`cron`), the templates of pods (`pod_validation`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain

from ..statuses import Cause
from ..values import causes
from .cron import problem_of_schedule, problem_of_time_zone
from .job_policies import problems_of_failure_policy, problems_of_success_policy
from .template_validation import (
    matches,
    mismatch,
    problems_of_template,
    template_labels,
)
from .value_rules import Causes, check_choice, check_minimum, check_selector, check_unchanged

__all__ = ["JOBS", "JOB_STATUS"]

_Raw: TypeAlias = Mapping[str, Any]

_CRON_JOB_NAME: Final = 52  # a label of 63 characters, without the suffix of its jobs
_MAX_PARALLELISM: Final = 100_000  # of indexed jobs
_NUMBERS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_JOB_LABELS: Final = ("controller-uid", "job-name")
_is_path = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+").fullmatch


def _job(obj: _Raw, old: _Raw | None) -> Causes:
    # `preparation` has generated the selector.
    spec = obj.get("spec") or {}
    if old is None:
        yield from _generated_selector(obj, spec)
    yield from _job_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        yield causes.required("spec.selector")
        yield mismatch(spec, "spec.template")
    else:
        yield from check_selector("spec.selector", selector)
        if not matches(selector, template_labels(spec)):
            yield mismatch(spec, "spec.template")
    if old is not None:
        yield from _job_change(spec, old.get("spec") or {})
    elif spec.get("completionMode") == "Indexed" and (spec.get("completions") or 0) > 0:
        name = (obj.get("metadata") or {}).get("name") or ""
        last = f"{name}-{spec['completions'] - 1}"
        if problems_of_dns_label(last):
            rule = f"the name of the last pod would be invalid: {last}"
            yield causes.invalid("metadata.name", name, rule)


def _generated_selector(obj: _Raw, spec: _Raw) -> Causes:
    # `validateGeneratedSelector`: labels that a client sets must be those of this job.
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    meta, labels = obj.get("metadata") or {}, template_labels(spec)
    own = {"controller-uid": meta.get("uid"), "job-name": meta.get("name")}
    expected = {
        f"{prefix}{key}": str(own[key] or "")
        for prefix in ("", "batch.kubernetes.io/")
        for key in _JOB_LABELS
    }
    for key, value in expected.items():
        if labels.get(key) != value:
            where = "spec.template.metadata.labels"
            yield causes.invalid(where, labels, f"must be '{value}' for the key {key}")
    if not matches(spec["selector"], expected):
        yield causes.invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _job_spec(spec: _Raw, path: str) -> Causes:
    # `validateJobSpec`.
    for field in _NUMBERS:
        yield from check_minimum(f"{path}.{field}", spec.get(field))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        where = f"{path}.backoffLimitPerIndex"
        yield causes.required(where, "when maxFailedIndexes is specified")
    yield from _managed_by(spec, f"{path}.managedBy")
    yield from _completion_mode(spec, path)
    if isinstance(spec.get("podFailurePolicy"), Mapping):
        yield from problems_of_failure_policy(spec, f"{path}.podFailurePolicy")
    if isinstance(spec.get("successPolicy"), Mapping):
        yield from problems_of_success_policy(spec, f"{path}.successPolicy")
    has_policy = spec.get("podFailurePolicy") is not None
    policies = ("Failed",) if has_policy else ("Failed", "TerminatingOrFailed")
    where = f"{path}.podReplacementPolicy"
    yield from check_choice(where, spec.get("podReplacementPolicy"), policies)
    yield from problems_of_template(spec, f"{path}.template")
    yield from _restart_policy(spec, f"{path}.template.spec.restartPolicy", has_policy=has_policy)


def _restart_policy(spec: _Raw, path: str, *, has_policy: bool) -> Causes:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    # `Always` is the default, so kube-apiserver reports it as missing.
    if policy in {None, "", "Always"}:
        yield causes.required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in {"OnFailure", "Never"}:
        yield causes.not_supported(path, policy, ("OnFailure", "Never"))
    elif has_policy and policy != "Never":
        yield causes.invalid(
            path, policy, 'only "Never" is supported when podFailurePolicy is specified'
        )


def _managed_by(spec: _Raw, path: str) -> Causes:
    # `IsDomainPrefixedPath`.
    name = spec.get("managedBy")
    if name is None:
        return
    if not name:
        yield causes.required(path)
        return
    domain, slash, rest = name.partition("/")
    if not slash or not domain or not rest:
        yield causes.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
    elif problems_of_dns_subdomain(domain):
        yield causes.invalid(path, domain, "must begin with a domain")
    elif not _is_path(rest):
        yield causes.invalid(path, rest, "must end with a valid path")
    if len(name) > 63:
        yield causes.too_long(path, 63)


def _completion_mode(spec: _Raw, path: str) -> Causes:
    mode, completions = spec.get("completionMode"), spec.get("completions")
    failed, parallelism = spec.get("maxFailedIndexes"), spec.get("parallelism") or 0
    yield from check_choice(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        if completions is None:
            yield causes.required(f"{path}.completions", "when completion mode is Indexed")
        if parallelism > _MAX_PARALLELISM:
            rule = (
                f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
            )
            yield causes.invalid(f"{path}.parallelism", parallelism, rule)
        if completions is not None and failed is not None and failed > completions:
            rule = "must be less than or equal to completions"
            yield causes.invalid(f"{path}.maxFailedIndexes", failed, rule)
        if (failed or 0) > _MAX_PARALLELISM:
            rule = f"must be at most {_MAX_PARALLELISM}"
            yield causes.invalid(f"{path}.maxFailedIndexes", failed, rule)
    elif mode in {None, "", "NonIndexed"}:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(field) is not None:
                where = f"{path}.{field}"
                yield causes.invalid(where, spec[field], "requires indexed completion mode")


# --- updates


def _job_change(spec: _Raw, before: _Raw) -> Causes:
    # `ValidateJobSpecUpdate`: a suspended job may still be scheduled differently.
    yield from _completions_change(spec, before)
    yield from check_unchanged("spec.selector", spec.get("selector"), before.get("selector"))
    new, old = spec.get("template"), before.get("template")
    if before.get("suspend"):
        new, old = _immutable_template(new), _immutable_template(old)
        inner = (new or {}).get("spec"), (old or {}).get("spec")
        yield from check_unchanged("spec.template.spec", *inner, "core/v1.PodSpec")
    else:
        yield from check_unchanged("spec.template", new, old, "core/v1.PodTemplateSpec")
    names = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy")
    for field in (*names, "successPolicy"):
        yield from check_unchanged(f"spec.{field}", spec.get(field), before.get(field))


def _completions_change(spec: _Raw, before: _Raw) -> Causes:
    # Indexed jobs are elastic: completions follow parallelism.
    path, new, old = "spec.completions", spec.get("completions"), before.get("completions")
    if spec.get("completionMode") != "Indexed":
        yield from check_unchanged(path, new, old)
    elif new not in (old, None) and new != spec.get("parallelism"):
        yield causes.invalid(path, new, "can only be modified in tandem with spec.parallelism")


def _immutable_template(template: Any) -> Any:
    """A template without what is mutable while a job is suspended."""
    if not isinstance(template, Mapping):
        return template
    mutable = {"nodeSelector", "tolerations", "affinity", "schedulingGates"}
    spec = {key: value for key, value in (template.get("spec") or {}).items() if key not in mutable}
    for group in ("containers", "initContainers"):
        if group in spec:
            spec[group] = [
                {key: value for key, value in each.items() if key != "resources"}
                for each in spec[group]
            ]
    meta = {
        key: value
        for key, value in (template.get("metadata") or {}).items()
        if key not in {"labels", "annotations"}
    }
    return {"metadata": meta, "spec": spec}


# --- the status


def _job_status(obj: _Raw, old: _Raw) -> Causes:
    # The rules that do not depend on indexes, of `validateJobStatus` and its update.
    status, before = obj.get("status") or {}, old.get("status") or {}
    for field in ("active", "succeeded", "failed", "ready", "terminating"):
        yield from check_minimum(f"status.{field}", status.get(field))
    for rule in _condition_problems(obj, old):
        yield Cause("status.conditions", "FieldValueInvalid", f"Invalid value: {rule}")
    yield from _job_times(obj, status, before)
    active = status.get("active") or 0
    if active > 0 and (_is_true(obj, "Complete") or _is_true(obj, "Failed")):
        yield causes.invalid("status.active", active, "active>0 is invalid for finished job")
    if status.get("ready") is not None and status["ready"] > active:
        yield causes.invalid("status.ready", status["ready"], "must not exceed active")
    for field in ("failed", "succeeded"):
        if (status.get(field) or 0) < (before.get(field) or 0):
            rule = f"cannot decrease the {field} counter"
            yield causes.invalid(f"status.{field}", status.get(field) or 0, rule)


def _job_times(obj: _Raw, status: _Raw, before: _Raw) -> Causes:
    is_complete, is_failed = _is_true(obj, "Complete"), _is_true(obj, "Failed")
    end, start = status.get("completionTime"), status.get("startTime")
    where = "status.completionTime"
    if end and not is_complete:
        yield causes.invalid(
            where, end, "cannot set completionTime when there is no Complete=True condition"
        )
    if not end and is_complete:
        yield causes.required(where, "completionTime is required for Complete jobs")
    if end and start and end < start:
        yield causes.invalid(where, end, "must be equal to or after `startTime`")
    if not start and (is_complete or is_failed):
        yield causes.required("status.startTime", "startTime is required for finished job")
    if end and before.get("completionTime") not in (None, end):
        yield causes.invalid(where, end, causes.IMMUTABLE)
    is_suspended = (obj.get("spec") or {}).get("suspend")
    if before.get("startTime") not in (None, start) and not is_suspended:
        rule = f"{causes.IMMUTABLE} for unsuspended job once set"
        yield causes.invalid("status.startTime", start, rule)


def _condition_problems(obj: _Raw, old: _Raw) -> list[str]:
    names = ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet")
    complete, failed, target, met = (_is_true(obj, name) for name in names)
    found = {
        "cannot set Complete=True and Failed=true conditions": complete and failed,
        "cannot set Complete=True and FailureTarget=true conditions": complete and target,
        "cannot set Failed=True without FailureTarget=true": failed and not target,
        "cannot set Complete=True without SuccessCriteriaMet=true": complete and not met,
        "cannot set SuccessCriteriaMet=True and Failed=true conditions": met and failed,
        "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions": met and target,
    }
    for name in names:
        is_lost = _is_true(old, name) and not _is_true(obj, name)
        found[f"cannot disable the terminal {name}=True condition"] = is_lost
    return [rule for rule, applies in found.items() if applies]


def _is_true(job: _Raw, kind: str) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == kind and each.get("status") == "True" for each in conditions)


# --- cron jobs


def _cron_job(obj: _Raw, old: _Raw | None) -> Causes:
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name") or ""
    before = {} if old is None else old.get("spec") or {}
    # A job's name has a time suffix, and must still be a label.
    if old is None and len(name) > _CRON_JOB_NAME:
        rule = f"must be no more than {_CRON_JOB_NAME} characters"
        yield causes.invalid("metadata.name", name, rule)
    yield from _schedule(spec, before)
    zone = spec.get("timeZone")
    if zone is not None and (old is None or zone != before.get("timeZone")):
        problem = problem_of_time_zone(zone)
        if problem:
            yield causes.invalid("spec.timeZone", zone, problem)
    policies, policy = ("Allow", "Forbid", "Replace"), spec.get("concurrencyPolicy")
    yield from check_choice("spec.concurrencyPolicy", policy, policies, required=True)
    for field in (
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    template, where = (spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec"
    yield from _job_spec(template, where)
    if template.get("selector"):
        rule = "`selector` will be auto-generated"
        yield causes.invalid(f"{where}.selector", template["selector"], rule)
    if template.get("manualSelector"):
        manual = template["manualSelector"]
        yield causes.not_supported(f"{where}.manualSelector", manual, ("nil", "false"))


def _schedule(spec: _Raw, before: _Raw) -> Causes:
    schedule, where = spec.get("schedule") or "", "spec.schedule"
    if not schedule:
        yield causes.declared(causes.required(where))
        return
    problem = problem_of_schedule(schedule)
    if problem:
        yield causes.invalid(where, schedule, problem)
    if "TZ" in schedule:
        if "TZ" not in (before.get("schedule") or ""):
            rule = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            yield causes.invalid(where, schedule, rule)
        elif spec.get("timeZone") is not None:
            rule = "TZ and CRON_TZ exclude timeZone"
            yield causes.invalid(where, schedule, rule)


JOBS: Final[dict[tuple[str, str], Callable[[_Raw, _Raw | None], Causes]]] = {
    ("batch", "CronJob"): _cron_job,
    ("batch", "Job"): _job,
}
JOB_STATUS: Final[dict[tuple[str, str], Callable[[_Raw, _Raw], Causes]]] = {
    ("batch", "Job"): _job_status
}
