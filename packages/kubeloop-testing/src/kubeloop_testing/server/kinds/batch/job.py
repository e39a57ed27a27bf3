"""Job (batch): defaults, preparation, validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label
from kubeloop.wire import InvalidArgument, JsonObject
from kubeloop.wire.times import parse_time

from ...statuses import Cause
from ...values import causes
from ...values.json_values import json_equal, map_field, map_items, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.cell_text import (
    age_of,
    condition_of,
    containers_text,
    human_duration,
    name_of,
    selector_text,
)
from ..rules.cells import TEMPLATE_SPEC, WORKLOAD_COLUMNS, count_at
from ..rules.defaults import in_spec, labels_of_template, template_defaults
from ..rules.template_validation import matches, mismatch, template_labels
from ..rules.value_rules import check_minimum, check_selector, check_unchanged
from ..rules.warnings import name_warnings
from .job_spec import check_job_spec, job_spec_warnings

__all__ = ["KIND"]


def _job(spec: JsonObject) -> JsonObject:
    # `SetDefaults_Job`.
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec = {**spec, "completions": 1}
    per_index = spec.get("backoffLimitPerIndex") is not None
    has_failure_policy = spec.get("podFailurePolicy") is not None
    spec = with_defaults(
        spec,
        {
            "parallelism": 1,
            "backoffLimit": 2**31 - 1 if per_index else 6,
            "completionMode": "NonIndexed",
            "suspend": False,
            "podReplacementPolicy": "Failed" if has_failure_policy else "TerminatingOrFailed",
            "manualSelector": False,
        },
    )
    return map_field(
        spec, "podFailurePolicy", lambda policy: map_items(policy, "rules", _failure_rule)
    )


def _failure_rule(rule: JsonObject) -> JsonObject:
    return map_items(
        rule, "onPodConditions", lambda pattern: with_defaults(pattern, {"status": "True"})
    )


_JOB: Final = "batch.kubernetes.io/"


def _new_job(obj: JsonObject) -> JsonObject:
    """A job selects its pods by its uid, unless `manualSelector` is set."""
    uid, name = value_at(obj, "metadata", "uid"), value_at(obj, "metadata", "name")
    if value_at(obj, "spec", "manualSelector") or not uid:
        return obj
    labels = {"controller-uid": uid, f"{_JOB}controller-uid": uid}
    if name:
        labels |= {"job-name": name, f"{_JOB}job-name": name}

    def mark(meta: JsonObject) -> JsonObject:
        return {**meta, "labels": {**labels, **(meta.get("labels") or {})}}

    def select(selector: JsonObject) -> JsonObject:
        own = {f"{_JOB}controller-uid": uid}
        return {**selector, "matchLabels": {**own, **(selector.get("matchLabels") or {})}}

    def change(spec: JsonObject) -> JsonObject:
        spec = map_field(spec, "selector", select, make=True)
        return map_field(
            spec, "template", lambda value: map_field(value, "metadata", mark, make=True)
        )

    job = map_field(obj, "spec", change)
    own, inner = (
        value_at(obj, "metadata", "labels"),
        value_at(obj, "spec", "template", "metadata", "labels"),
    )
    # Defaulting copied the labels of the template to a job without labels: keep them equal.
    return job if own and own != inner else map_field(job, "metadata", mark)


_JOB_LABELS: Final = ("controller-uid", "job-name")


def _validate(obj: Json, old: Json | None) -> Causes:
    # The preparation has generated the selector.
    spec = obj.get("spec") or {}
    if old is None:
        yield from _generated_selector(obj, spec)
    yield from check_job_spec(spec, "spec")
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


def _generated_selector(obj: Json, spec: Json) -> Causes:
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


def _job_change(spec: Json, before: Json) -> Causes:
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


def _completions_change(spec: Json, before: Json) -> Causes:
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


def _validate_status(obj: Json, old: Json) -> Causes:
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


def _job_times(obj: Json, status: Json, before: Json) -> Causes:
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


def _condition_problems(obj: Json, old: Json) -> list[str]:
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


def _is_true(job: Json, kind: str) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == kind and each.get("status") == "True" for each in conditions)


def _warn(obj: Json, old: Json | None) -> Warnings:
    yield from name_warnings(obj, old)
    if old is None or not json_equal(obj.get("spec"), old.get("spec")):
        yield from job_spec_warnings(obj.get("spec") or {}, "spec")


def _cells(obj: Json, since: Since) -> list[Any]:
    return [
        name_of(obj),
        _job_status(obj),
        _job_completions(obj),
        _job_duration(obj, since),
        age_of(obj, since),
        *containers_text(value_at(obj, *TEMPLATE_SPEC)),
        selector_text(value_at(obj, "spec", "selector")),
    ]


# `printJob` reports the first of these conditions that is true.
_TERMINAL: Final = ("Complete", "Failed")
_INTERIM: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _job_status(obj: Json) -> str:
    def is_true(name: str) -> bool:
        found = condition_of(obj, name)
        return found is not None and found.get("status") == "True"

    finished = next(filter(is_true, _TERMINAL), "")
    if finished or value_at(obj, "metadata", "deletionTimestamp"):
        return finished or "Terminating"
    return next(filter(is_true, _INTERIM), "Running")


def _job_completions(obj: Json) -> str:
    # Without completions the job ends with the first success.
    done, desired = count_at(obj, "status", "succeeded"), value_at(obj, "spec", "completions")
    if desired is not None:
        return f"{done}/{desired}"
    parallel = count_at(obj, "spec", "parallelism")
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _job_duration(obj: Json, since: Since) -> str:
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


_ORPHANS: Final = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning"
)
KIND: Final = Kind(
    "batch",
    "Job",
    generation="counted",
    orphans_by_default=True,
    orphan_warning=_ORPHANS,
    selectable={"status.successful": "status.succeeded"},
    unsupported_field='field label "{field}" not supported for Job',
    pod_template=("spec", "template"),
    defaults=(labels_of_template, in_spec(_job), in_spec(template_defaults)),
    prepare_new=_new_job,
    validate=_validate,
    validate_parts={"status": _validate_status},
    warn=_warn,
    columns=f"Name, Status, Completions, Duration, Age, {WORKLOAD_COLUMNS}",
    cells=_cells,
)
