"""Checks of a body against a built-in class."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.values.unknown_fields import check_types, duplicate_fields

Json = dict[str, Any]


def pod(**container: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "c", **container}]},
    }


def test_an_object_without_findings_is_returned_itself() -> None:
    obj = pod(image="nginx")

    assert check_types("core/v1.Pod", obj).object is obj


def test_unknown_fields_are_dropped_and_reported_by_path() -> None:
    obj = {**pod(imagee="x"), "specc": {}}
    before = copy.deepcopy(obj)

    found = check_types("core/v1.Pod", obj)

    assert found.object == pod()
    assert found.unknown == ["spec.containers[0].imagee", "specc"]
    assert obj == before


@pytest.mark.parametrize(
    ("go_type", "obj", "problem"),
    [
        (
            "apps/v1.Deployment",
            {"spec": {"replicas": "three"}},
            (
                "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of "
                "type int32"
            ),
        ),
        (
            "core/v1.Pod",
            pod(ports=[{"containerPort": "80"}]),
            (
                "json: cannot unmarshal string into Go struct field "
                "ContainerPort.spec.containers.ports.containerPort of type int32"
            ),
        ),
        (
            "core/v1.Pod",
            {"spec": {"containers": {}}},
            (
                "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
                "[]v1.Container"
            ),
        ),
        (
            "core/v1.ConfigMap",
            {"data": {"a": 1}},
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            "apps/v1.Deployment",
            {"spec": {"replicas": 2**31}},
            (
                "json: cannot unmarshal number 2147483648 into Go struct field "
                "DeploymentSpec.spec.replicas of type int32"
            ),
        ),
        ("core/v1.Secret", {"data": {"a": "!"}}, "illegal base64 data at input byte 0"),
        (
            "core/v1.Pod",
            {"metadata": {"creationTimestamp": "now"}},
            'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
        ),
    ],
)
def test_a_decoding_error_has_the_servers_message(go_type: str, obj: Json, problem: str) -> None:
    assert check_types(go_type, obj).problems == [problem]


def test_a_malformed_quantity_cannot_be_decoded() -> None:
    """API-15: the syntax of quantities."""
    found = check_types("core/v1.Pod", pod(resources={"limits": {"cpu": "x"}}))
    suffix = check_types("core/v1.Pod", pod(resources={"limits": {"cpu": "1K"}}))

    assert found.problems[0].startswith("quantities must match the regular expression")
    assert suffix.problems == ["unable to parse quantity's suffix"]


def test_scalars_are_returned_in_canonical_form() -> None:
    """API-21, API-23, API-C5, API-C6: numbers are quantities, times are UTC seconds."""
    obj = pod(resources={"limits": {"cpu": 0.5, "memory": "1024Mi"}})
    obj["metadata"]["deletionTimestamp"] = "2024-01-02T03:04:05.999+02:00"

    found = check_types("core/v1.Pod", obj).object

    assert found["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "500m", "memory": "1Gi"}
    assert found["metadata"]["deletionTimestamp"] == "2024-01-02T01:04:05Z"


def test_nulls_and_empty_metadata_are_dropped() -> None:
    """API-26: a creationTimestamp of null is dropped."""
    obj = pod(command=None)
    obj["metadata"] |= {"creationTimestamp": None, "labels": {}, "namespace": ""}

    assert check_types("core/v1.Pod", obj).object == pod()


def test_ports_may_be_numbers_or_names() -> None:
    """API-22: IntOrString."""
    ports = [{"port": 80, "targetPort": "http"}, {"port": 81, "targetPort": 8081}]

    assert check_types("core/v1.Service", {"spec": {"ports": ports}}).problems == []
    assert check_types("core/v1.Service", {"spec": {"ports": [{"targetPort": 1.5}]}}).problems != []


def test_schemas_inside_of_schemas_are_checked() -> None:
    schema = {"type": "array", "items": {"type": 5, "maxItemz": 1}}
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]

    found = check_types(
        "apiextensions/v1.CustomResourceDefinition", {"spec": {"versions": versions}}
    )

    place = "spec.versions[0].schema.openAPIV3Schema.items"
    assert found.unknown == [f"{place}.maxItemz"]
    assert found.problems[0].endswith(".items.type of type string")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('{"a": 1}', []),
        ('{"a": 1, "a": 2}', ["a"]),
        ('{"s": {"c": [{}, {"x": 1, "x": 2, "x": 3}]}}', ["s.c[1].x"]),
        ("no json", []),
    ],
)
def test_duplicate_keys_are_found(text: str, paths: list[str]) -> None:
    assert duplicate_fields(text.encode()) == paths


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "spec", "containers", "name", "resources", "limits", "x"]),
            below,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status", "kind"]), json_values))
def test_any_json_can_be_checked_and_checking_is_idempotent(obj: Json) -> None:
    once = check_types("core/v1.Pod", obj)

    assert check_types("core/v1.Pod", once.object).unknown == []
    if not once.problems:
        assert check_types("core/v1.Pod", once.object).object == once.object


@given(json_values)
def test_json_without_duplicates_has_none(value: Any) -> None:
    assert duplicate_fields(json.dumps(value).encode()) == []
