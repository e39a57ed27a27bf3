"""CronJob (batch): defaults, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import json_equal, map_field, value_at
from ..kind import Causes, Json, Kind, Since, Warnings, unchecked
from ..rules.cell_text import age_of, containers_text, items_at, name_of, or_else, selector_text
from ..rules.cells import WORKLOAD_COLUMNS
from ..rules.defaults import in_spec, spec_defaults, template_defaults
from ..rules.value_rules import check_choice, check_minimum
from ..rules.warnings import name_warnings
from .cron import problem_of_schedule, problem_of_time_zone
from .job_spec import check_job_spec, job_spec_warnings

__all__ = ["KIND"]


def _job_template(spec: JsonObject) -> JsonObject:
    return map_field(
        spec,
        "jobTemplate",
        lambda template: map_field(template, "spec", template_defaults, make=True),
        make=True,
    )


_CRON_JOB_NAME: Final = 52  # a label of 63 characters, without the suffix of its jobs


def _validate(obj: Json, old: Json | None) -> Causes:
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
    yield from check_job_spec(template, where)
    if template.get("selector"):
        rule = "`selector` will be auto-generated"
        yield causes.invalid(f"{where}.selector", template["selector"], rule)
    if template.get("manualSelector"):
        manual = template["manualSelector"]
        yield causes.not_supported(f"{where}.manualSelector", manual, ("nil", "false"))


def _schedule(spec: Json, before: Json) -> Causes:
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


def _warn(obj: Json, old: Json | None) -> Warnings:
    yield from name_warnings(obj, old)
    if old is None or not json_equal(obj.get("spec"), old.get("spec")):
        yield from job_spec_warnings(
            value_at(obj, "spec", "jobTemplate", "spec") or {}, "spec.jobTemplate.spec"
        )
    if old is not None and "TZ" in (value_at(obj, "spec", "schedule") or ""):
        yield "spec.schedule: use timeZone instead of TZ or CRON_TZ"


def _cells(obj: Json, since: Since) -> list[Any]:
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


KIND: Final = Kind(
    "batch",
    "CronJob",
    generation="counted",
    pod_template=("spec", "jobTemplate", "spec", "template"),
    defaults=(
        spec_defaults(
            concurrencyPolicy="Allow",
            suspend=False,
            successfulJobsHistoryLimit=3,
            failedJobsHistoryLimit=1,
        ),
        in_spec(_job_template),
    ),
    validate=_validate,
    validate_parts={"status": unchecked},
    warn=_warn,
    columns="Name, Schedule, Timezone, Suspend:boolean, Active:integer, Last Schedule, Age, "
    f"{WORKLOAD_COLUMNS}",
    cells=_cells,
)
