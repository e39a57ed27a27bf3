"""Objects of built-in kinds as Go writes them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import resources
from kubeloop_testing.server.values.go_types import fields_of, go_type_of, source_version, zeros_of
from kubeloop_testing.server.values.strict_types import is_complete
from kubeloop_testing.server.values.unknown_fields import check_types
from kubeloop_testing.server.values.zero_values import (
    complete,
    complete_type,
    is_written_alike,
    zero_object,
)

Json = dict[str, Any]

KINDS = sorted({(f"{r.group}/{r.version}".removeprefix("/"), r.kind) for r in resources()})


def pod(**spec: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}


def test_what_go_always_writes_is_there() -> None:
    assert complete(pod()) == {**pod(containers=None), "status": {}}
    assert zero_object("rbac.authorization.k8s.io/v1", "Role")["rules"] is None
    assert zero_object("v1", "Event")["eventTime"] is None
    node = zero_object("v1", "Node")
    assert node["spec"] == {}
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert node["status"]["nodeInfo"]["kubeletVersion"] == ""


def test_nested_structs_are_completed_in_lists_and_maps() -> None:
    complete_status = complete_type("core/v1.PodStatus")

    found = complete_status({"containerStatuses": [{"name": "a", "state": {"running": {}}}]})

    assert found == {
        "containerStatuses": [
            {
                "name": "a",
                "state": {"running": {"startedAt": None}},
                "lastState": {},
                "ready": False,
                "restartCount": 0,
                "image": "",
                "imageID": "",
            }
        ]
    }


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {}},
        {"hostNetwork": False},
        {"hostname": ""},
        {"volumes": []},
        {"priority": None},
    ],
)
def test_empty_values_that_go_omits_are_dropped(spec: Json) -> None:
    found = complete(pod(containers=[{"name": "a", "resources": {}}], **spec))

    assert found["spec"] == {"containers": [{"name": "a", "resources": {}}]}


def test_pointers_keep_their_zero_values() -> None:
    spec = {"containers": [{"name": "a", "resources": {}}], "priority": 0, "securityContext": {}}
    obj = {**pod(**spec, automountServiceAccountToken=False), "status": {}}

    assert complete(obj) is obj


def test_an_empty_list_without_omitempty_is_null() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {}}

    assert complete({**role, "rules": []}) == {**role, "rules": None}


def test_known_fields_are_not_looked_at() -> None:
    obj = {**pod(hostname=""), "status": {"phase": ""}}

    found = complete(obj, {"spec": obj["spec"]})

    assert found["spec"] is obj["spec"]
    assert found["status"] == {}


def test_metadata_is_completed_on_request() -> None:
    obj = {**pod(containers=None), "metadata": {"name": "web", "labels": {}}, "status": {}}

    assert complete(obj) is obj
    assert complete(obj, metadata=True)["metadata"] == {"name": "web"}


def test_custom_kinds_stay_as_they_are() -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"size": 0}}

    assert complete(obj) is obj


def test_schemas_are_completed_at_every_depth() -> None:
    complete_schema = complete_type("apiextensions/v1.JSONSchemaProps")
    schema = {"properties": {"a": {"items": {"type": "object", "required": []}, "default": {}}}}

    found = complete_schema(schema)

    assert found == {"properties": {"a": {"items": {"type": "object"}, "default": {}}}}


def test_versions_that_go_writes_differently_are_known() -> None:
    assert not is_written_alike("autoscaling/v1", "autoscaling/v2", "HorizontalPodAutoscaler")
    assert is_written_alike("v1", "v1", "Pod")


@pytest.mark.parametrize(("api_version", "kind"), KINDS)
def test_a_complete_object_is_returned_itself(api_version: str, kind: str) -> None:
    zero = zero_object(api_version, kind)

    assert zero.keys() == zeros_of(go_type_of(api_version, kind)).keys() | {"apiVersion", "kind"}
    assert complete(zero) is zero
    assert complete(zero, metadata=True) is zero


values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from(["", "a"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from([field.name for field in fields_of("core/v1.PodSpec")[:12]]), inner
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), values))
def test_completing_is_idempotent_and_changes_no_object(fields: Json) -> None:
    obj = {"apiVersion": "v1", "kind": "Pod", **fields}
    before = copy.deepcopy(obj)

    once = complete(obj, metadata=True)

    assert obj == before
    assert complete(once, metadata=True) is once


@given(values)
def test_nothing_is_complete_that_a_walk_would_change(value: Any) -> None:
    walk = complete_type("core/v1.Container")
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and is_complete("core/v1.Container", item):
            assert walk(item) is item


RECORDED = json.loads((Path(__file__).parent / "round_trips.json").read_bytes())


def test_the_recording_belongs_to_the_table() -> None:
    assert RECORDED["version"] == source_version()
    assert {(sent["apiVersion"], sent["kind"]) for sent, _ in RECORDED["pairs"]} == set(KINDS)


@pytest.mark.parametrize(
    ("sent", "written"),
    RECORDED["pairs"],
    ids=[f"{sent['apiVersion']}/{sent['kind']}" for sent, _ in RECORDED["pairs"]],
)
def test_random_objects_are_read_and_written_as_go_does(sent: Json, written: Json) -> None:
    found = check_types(go_type_of(sent["apiVersion"], sent["kind"]), sent)

    assert found.problems == found.unknown == []
    assert complete(found.object, metadata=True) == written
