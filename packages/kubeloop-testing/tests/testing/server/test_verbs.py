"""Create, get, update and patch, as a client sees them over HTTP."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    config_map,
    deployment,
    pod,
)


async def test_a_created_object_gets_what_only_the_server_gives(api: Api) -> None:
    response = await api.create(PODS, {**pod("web"), "status": {"phase": "Running"}})

    meta = response.json["metadata"]
    assert meta["namespace"] == "default"
    assert {"uid", "creationTimestamp", "resourceVersion", "managedFields"} <= meta.keys()
    assert meta["generation"] == 1
    assert response.json["status"]["phase"] == "Pending"


async def test_what_is_read_is_what_was_answered(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map("a", key="value"))

    assert (await api.get(f"{CONFIG_MAPS}/a")).json == created.json


async def test_a_name_is_generated_from_generate_name(api: Api) -> None:
    body = {"metadata": {"generateName": "web-"}}

    response = await api.create(CONFIG_MAPS, body)

    name = response.json["metadata"]["name"]
    assert name.startswith("web-")
    assert len(name) == len("web-") + 5


@pytest.mark.parametrize(
    ("body", "code", "reason", "message"),
    [
        (
            b"{",
            400,
            "BadRequest",
            "the object provided is unrecognized (must be of type ConfigMap)",
        ),
        (
            b"[]",
            400,
            "BadRequest",
            "the object provided is unrecognized (must be of type ConfigMap)",
        ),
        (
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}},
            400,
            "BadRequest",
            'Pod in version "v1" cannot be handled as a ConfigMap: ',
        ),
        (
            {"apiVersion": "apps/v1", "metadata": {"name": "a"}},
            400,
            "BadRequest",
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is',
        ),
        (
            {"metadata": {"name": "a", "namespace": "other"}},
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            {"metadata": {"name": "A_"}},
            422,
            "Invalid",
            'ConfigMap "A_" is invalid: metadata.name: ',
        ),
        ({"metadata": {}}, 422, "Invalid", 'ConfigMap "" is invalid: metadata.name: Required'),
    ],
)
async def test_a_bad_body_is_refused_and_nothing_is_stored(
    api: Api, body: Any, code: int, reason: str, message: str
) -> None:
    response = await api("POST", CONFIG_MAPS, body)

    assert (response.code, response.reason) == (code, reason)
    assert response.json["message"].startswith(message), response.json["message"]
    assert (await api.get(CONFIG_MAPS)).json["items"] == []


async def test_the_name_of_a_check_is_unique(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a"))

    response = await api("POST", CONFIG_MAPS, config_map("a"))

    assert (response.code, response.reason) == (409, "AlreadyExists")
    assert response.json["message"] == 'configmaps "a" already exists'
    assert response.json["details"] == {"name": "a", "kind": "configmaps"}


async def test_what_is_not_there_is_not_found(api: Api) -> None:
    response = await api.get(f"{DEPLOYMENTS}/web")

    assert (response.code, response.reason) == (404, "NotFound")
    assert response.json["message"] == 'deployments.apps "web" not found'
    assert response.json["details"] == {"name": "web", "group": "apps", "kind": "deployments"}


async def test_nothing_is_created_in_a_namespace_that_is_not_there(api: Api) -> None:
    response = await api("POST", "/api/v1/namespaces/nowhere/configmaps", config_map("a"))

    assert response.code == 404
    assert response.json["message"] == 'namespaces "nowhere" not found'


async def test_an_unknown_field_is_warned_of_and_dropped(api: Api) -> None:
    response = await api.create(CONFIG_MAPS, {**config_map("a"), "colour": "red"})

    assert response.warnings == ['299 - "unknown field \\"colour\\""']
    assert "colour" not in response.json


async def test_strict_validation_refuses_unknown_and_double_fields(api: Api) -> None:
    unknown = await api(
        "POST", CONFIG_MAPS, {**config_map("a"), "colour": "red"}, fieldValidation="Strict"
    )
    double = await api(
        "POST",
        CONFIG_MAPS,
        b'{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}',
        fieldValidation="Strict",
    )

    assert unknown.code == double.code == 400
    assert 'strict decoding error: unknown field "colour"' in unknown.json["message"]
    assert 'duplicate field "data.x"' in double.json["message"]


async def test_a_dry_run_answers_and_stores_nothing(api: Api) -> None:
    response = await api("POST", CONFIG_MAPS, config_map("a"), dryRun="All")

    assert response.code == 201
    assert "resourceVersion" not in response.json["metadata"]
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 404


async def test_an_old_version_conflicts(api: Api) -> None:
    first = (await api.create(CONFIG_MAPS, config_map("a"))).json
    await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "1"}})

    response = await api("PUT", f"{CONFIG_MAPS}/a", first)

    assert (response.code, response.reason) == (409, "Conflict")
    assert response.json["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please '
        "apply your changes to the latest version and try again"
    )


async def test_an_update_that_changes_nothing_gives_no_new_version(api: Api) -> None:
    first = (await api.create(CONFIG_MAPS, config_map("a", x="1"))).json

    response = await api("PUT", f"{CONFIG_MAPS}/a", first)

    assert response.json == first


async def test_generation_counts_changes_of_the_spec_only(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment("web"))

    labelled = await api.patch(f"{DEPLOYMENTS}/web", {"metadata": {"labels": {"a": "b"}}})
    scaled = await api.patch(f"{DEPLOYMENTS}/web", {"spec": {"replicas": 3}})

    assert labelled.json["metadata"]["generation"] == 1
    assert scaled.json["metadata"]["generation"] == 2


async def test_an_update_cannot_change_what_only_the_server_gives(api: Api) -> None:
    first = (await api.create(PODS, pod("web"))).json
    changed = {**first, "metadata": {**first["metadata"], "creationTimestamp": None}}
    changed["metadata"]["generation"] = 77

    response = await api("PUT", f"{PODS}/web", changed)

    assert response.code == 200
    assert response.json["metadata"]["creationTimestamp"] == first["metadata"]["creationTimestamp"]
    assert response.json["metadata"]["generation"] == 1


async def test_the_name_in_the_body_is_the_name_in_the_url(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a"))

    response = await api("PUT", f"{CONFIG_MAPS}/a", config_map("b"))

    assert response.code == 400
    assert response.json["message"] == (
        "the name of the object (b) does not match the name on the URL (a)"
    )


async def test_another_uid_conflicts(api: Api) -> None:
    first = (await api.create(CONFIG_MAPS, config_map("a"))).json
    first["metadata"]["uid"] = "other"

    response = await api("PUT", f"{CONFIG_MAPS}/a", first)

    assert response.code == 409
    assert "Precondition failed: UID in precondition: other" in response.json["message"]


async def test_leases_are_created_by_an_update_and_configmaps_are_not(api: Api) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

    lease = await api("PUT", f"{leases}/leader", {"metadata": {"name": "leader"}, "spec": {}})
    other = await api("PUT", f"{CONFIG_MAPS}/a", config_map("a"))

    assert (lease.code, other.code) == (201, 404)


@pytest.mark.parametrize(
    ("patch_type", "patch", "expected"),
    [
        (
            "application/json-patch+json",
            [{"op": "add", "path": "/data/y", "value": "2"}],
            {"x": "1", "y": "2"},
        ),
        ("application/merge-patch+json", {"data": {"x": None, "y": "2"}}, {"y": "2"}),
        ("application/strategic-merge-patch+json", {"data": {"y": "2"}}, {"x": "1", "y": "2"}),
    ],
)
async def test_each_sort_of_patch_changes_the_object(
    api: Api, patch_type: str, patch: Any, expected: dict[str, str]
) -> None:
    """API-27, API-28, API-30: the computed patches."""
    await api.create(CONFIG_MAPS, config_map("a", x="1"))

    response = await api.patch(f"{CONFIG_MAPS}/a", patch, patch_type)

    assert response.code == 200, response
    assert response.json["data"] == expected


@pytest.mark.parametrize(
    ("patch_type", "patch", "code"),
    [
        ("application/json-patch+json", [{"op": "test", "path": "/data/x", "value": "9"}], 422),
        ("application/json-patch+json", [{"op": "remove", "path": "/data/none"}], 422),
        ("application/json-patch+json", {"op": "add"}, 400),
        ("application/merge-patch+json", b"nonsense", 400),
        ("application/merge-patch+json", {"metadata": {"name": "b"}}, 400),
        ("application/merge-patch+json", {"metadata": {"resourceVersion": "1"}}, 409),
        ("application/merge-patch+json", {"data": {"x": 5}}, 422),
        ("text/plain", {}, 415),
        ("application/json", {}, 415),
    ],
)
async def test_a_bad_patch_leaves_the_object_alone(
    api: Api, patch_type: str, patch: Any, code: int
) -> None:
    created = (await api.create(CONFIG_MAPS, config_map("a", x="1"))).json

    response = await api.patch(f"{CONFIG_MAPS}/a", patch, patch_type)

    assert response.code == code, response
    assert (await api.get(f"{CONFIG_MAPS}/a")).json == created


async def test_apply_creates_merges_and_names_the_manager_in_a_conflict(api: Api) -> None:
    """API-36, API-38: server-side apply over HTTP."""
    patch_type = "application/apply-patch+yaml"
    body = b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {x: '1'}\n"
    theirs = body.replace(b"'1'", b"'2'")

    created = await api.patch(f"{CONFIG_MAPS}/a", body, patch_type, fieldManager="me")
    refused = await api.patch(f"{CONFIG_MAPS}/a", theirs, patch_type, fieldManager="you")
    forced = await api.patch(
        f"{CONFIG_MAPS}/a", theirs, patch_type, fieldManager="you", force="true"
    )

    assert created.code == 201
    assert refused.code == 409
    assert 'conflict with "me"' in refused.json["message"]
    assert refused.json["details"]["causes"][0]["field"] == ".data.x"
    assert (forced.code, forced.json["data"]) == (200, {"x": "2"})


async def test_apply_needs_a_field_manager(api: Api) -> None:
    response = await api.patch(f"{CONFIG_MAPS}/a", {}, "application/apply-patch+yaml")

    assert response.code == 422
    assert response.json["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for '
        "apply patch"
    )


async def test_a_yaml_body_is_read_and_a_yaml_answer_is_written(api: Api) -> None:
    response = await api(
        "POST",
        CONFIG_MAPS,
        b"metadata:\n  name: a\ndata:\n  x: 'yes'\n",
        headers={"Content-Type": "application/yaml", "Accept": "application/yaml"},
    )

    assert response.code == 201
    assert response.headers["Content-Type"] == "application/yaml"
    assert b"name: a" in response.raw


@pytest.mark.parametrize(
    ("headers", "code"),
    [({"Content-Type": "text/html"}, 415), ({"Accept": "application/xml"}, 406)],
)
async def test_what_cannot_be_read_or_written_is_refused(
    api: Api, headers: dict[str, str], code: int
) -> None:
    response = await api("POST", CONFIG_MAPS, config_map("a"), headers=headers)

    assert response.code == code
    assert (await api.get(CONFIG_MAPS)).json["items"] == []


async def test_metadata_only_answers_carry_metadata_only(api: Api) -> None:
    """API-47: PartialObjectMetadata and its list."""
    await api.create(CONFIG_MAPS, config_map("a", x="1"))
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

    one = await api.get(f"{CONFIG_MAPS}/a", headers={"Accept": accept})
    all_ = await api.get(CONFIG_MAPS, headers={"Accept": accept.replace("ta;g", "taList;g")})

    assert one.json["kind"] == "PartialObjectMetadata"
    assert one.json.keys() == {"kind", "apiVersion", "metadata"}
    assert all_.json["kind"] == "PartialObjectMetadataList"
    assert all_.json["items"][0]["metadata"]["name"] == "a"


async def test_a_table_is_answered_where_one_is_wanted(api: Api) -> None:
    """API-46: Table."""
    await api.create(PODS, pod("web"))
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json"

    response = await api.get(PODS, headers={"Accept": accept})

    assert response.json["kind"] == "Table"
    assert response.json["rows"][0]["cells"][0] == "web"
    assert response.json["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/v1/nothings", 404),
        ("GET", "/apis/apps/v1/namespaces/default/nothings", 404),
        ("GET", "/apis/nowhere/v1/things", 404),
        ("GET", "/nowhere", 404),
        ("PUT", "/api/v1/namespaces/default/pods", 405),
        ("POST", "/api/v1/pods", 405),
        ("POST", "/api/v1/componentstatuses", 405),
        ("DELETE", "/version", 405),
        ("GET", "/api/v1/pods/web", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
    ],
)
async def test_a_path_or_method_that_means_nothing_is_refused(
    api: Api, method: str, path: str, code: int
) -> None:
    assert (await api(method, path)).code == code


async def test_a_body_beyond_the_limit_is_refused(api: Api) -> None:
    big = io.BytesIO(b'{"data":{"x":"' + b"a" * 3_200_000 + b'"}}')

    async with api.session.post(CONFIG_MAPS, data=big) as response:
        status = await response.json()

    assert response.status == 413
    assert status["reason"] == "RequestEntityTooLarge"
    assert status["message"] == "Request entity too large: limit is 3145728"


async def test_events_are_one_collection_in_two_groups(api: Api) -> None:
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default"},
        "reason": "Started",
        "message": "it runs",
        "type": "Normal",
    }
    await api.create("/api/v1/namespaces/default/events", event)

    response = await api.get("/apis/events.k8s.io/v1/namespaces/default/events/e")

    assert response.json["apiVersion"] == "events.k8s.io/v1"
    assert response.json["note"] == "it runs"
    assert response.json["regarding"]["name"] == "web"


async def test_an_autoscaler_is_converted_between_its_versions(api: Api) -> None:
    spec = {
        "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
        "maxReplicas": 5,
        "targetCPUUtilizationPercentage": 70,
    }
    path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
    await api.create(path, {"metadata": {"name": "web"}, "spec": spec})

    first = await api.get(f"{path}/web")
    second = await api.get(f"{path.replace('v1', 'v2')}/web")

    assert first.json["spec"]["targetCPUUtilizationPercentage"] == 70
    assert second.json["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 70


@pytest.mark.parametrize(
    ("patch_type", "code"),
    [
        ("application/merge-patch+json", 422),
        ("application/strategic-merge-patch+json", 200),
    ],
)
async def test_only_a_strategic_patch_may_have_a_whole_float_for_an_integer(
    api: Api, patch_type: str, code: int
) -> None:
    await api.create(DEPLOYMENTS, deployment("web"))

    response = await api.patch(f"{DEPLOYMENTS}/web", {"spec": {"replicas": 3.0}}, patch_type)

    assert response.code == code


async def test_the_deployment_controller_keeps_its_revision_through_the_status(api: Api) -> None:
    body = (await api.create(DEPLOYMENTS, deployment("web"))).json
    revision = {"deployment.kubernetes.io/revision": "1"}
    body["metadata"]["annotations"] = revision

    written = await api("PUT", f"{DEPLOYMENTS}/web/status", body)

    assert written.json["metadata"]["annotations"] == revision
    assert written.json["metadata"]["generation"] == 1
    assert (await api.get(f"{DEPLOYMENTS}/web")).json == written.json
