"""Validation of workloads."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.testing.server.validation_helpers import CONTAINER, IMMUTABLE, messages, problems

Json = dict[str, Any]


def workload(**spec: Any) -> Json:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
    return {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec}}


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_a_valid_workload_has_no_problem(kind: str) -> None:
    assert problems("apps", kind, workload()) == []


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_a_selector_is_required_must_match_and_is_immutable(kind: str) -> None:
    missing = problems("apps", kind, workload(selector=None))
    other = problems("apps", kind, workload(selector={"matchLabels": {"a": "c"}}))
    wide = problems("apps", kind, workload(selector={}))
    moved = problems("apps", kind, workload(), workload(selector={"matchLabels": {"a": "z"}}))

    assert messages(missing)[-1:] == messages(other)
    assert (kind == "DaemonSet") == (messages(missing)[:-1] == [])
    assert messages(other) == [
        (
            "spec.template.metadata.labels",
            'Invalid value: {"a":"b"}: `selector` does not match template `labels`',
        )
    ]
    assert "empty selector is invalid for" in wide[0].message
    assert messages(moved) == [
        ("spec.selector", f'Invalid value: {{"matchLabels":{{"a":"b"}}}}: {IMMUTABLE}')
    ]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"replicas": -1},
            "spec.replicas",
            "Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            "spec.strategy.rollingUpdate.maxUnavailable",
            "Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ),
        (
            {"strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}},
            "spec.strategy.rollingUpdate.maxUnavailable",
            'Invalid value: "101%": must not be greater than 100%',
        ),
        (
            {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
            "spec.strategy.rollingUpdate",
            "Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            {"progressDeadlineSeconds": 5, "minReadySeconds": 5},
            "spec.progressDeadlineSeconds",
            "Invalid value: 5: must be greater than minReadySeconds",
        ),
    ],
)
def test_an_invalid_deployment_is_rejected(spec: Json, field: str, message: str) -> None:
    assert messages(problems("apps", "Deployment", workload(**spec))) == [(field, message)]


def test_a_deployments_pods_always_restart() -> None:
    obj = workload()
    obj["spec"]["template"]["spec"]["restartPolicy"] = "Never"

    assert messages(problems("apps", "Deployment", obj)) == [
        (
            "spec.template.spec.restartPolicy",
            'Unsupported value: "Never": supported values: "Always"',
        )
    ]


def test_most_fields_of_a_stateful_set_are_immutable() -> None:
    found = problems("apps", "StatefulSet", workload(serviceName="b"), workload(serviceName="a"))

    assert messages(found) == [("spec.serviceName", f'Invalid value: "b": {IMMUTABLE}')]


def job(**spec: Any) -> Json:
    obj = workload(**spec)
    obj["spec"]["template"]["spec"] = {"restartPolicy": "Never", "containers": [CONTAINER]}
    obj["spec"]["manualSelector"] = True
    return obj


def test_a_job_requires_a_restart_policy() -> None:
    obj = copy.deepcopy(job())
    del obj["spec"]["template"]["spec"]["restartPolicy"]

    assert problems("batch", "Job", job()) == []
    assert messages(problems("batch", "Job", obj)) == [
        ("spec.template.spec.restartPolicy", 'Required value: valid values: "OnFailure", "Never"')
    ]


def test_a_jobs_template_cannot_change() -> None:
    new = copy.deepcopy(job(parallelism=2))
    new["spec"]["template"]["spec"]["containers"] = [{**CONTAINER, "image": "other"}]

    found = problems("batch", "Job", new, job())

    assert [(each.field, each.reason) for each in found] == [
        ("spec.completions", "FieldValueInvalid"),
        ("spec.template", "FieldValueInvalid"),
    ]
    assert problems("batch", "Job", job(completions=1, parallelism=2), job()) == []


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("", "Required value"),
        ("* *", 'Invalid value: "* *": expected exactly 5 fields, found 2: [* *]'),
    ],
)
def test_a_cron_job_requires_a_valid_schedule(schedule: str, message: str) -> None:
    template = {"spec": {"template": job()["spec"]["template"]}}
    obj = {"spec": {"schedule": schedule, "jobTemplate": template}}

    assert messages(problems("batch", "CronJob", obj)) == [("spec.schedule", message)]


def test_a_cron_jobs_name_leaves_space_for_the_suffix_of_its_jobs() -> None:
    template = {"spec": {"template": job()["spec"]["template"]}}
    spec = {"schedule": "@daily", "jobTemplate": template}

    found = problems("batch", "CronJob", {"metadata": {"name": "x" * 53}, "spec": spec})

    assert found[0].message.endswith("must be no more than 52 characters")
