"""Create, get and update."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map, deployment, pod, service

CONFIG_MAPS = "configmaps"


async def test_a_created_object_is_returned_with_201_and_its_kind(api: RawClient) -> None:
    reply = await api("POST", api.at(CONFIG_MAPS), {"metadata": {"name": "a"}})

    assert reply.code == 201
    assert (reply.body["kind"], reply.body["apiVersion"]) == ("ConfigMap", "v1")


async def test_a_created_object_gets_uid_version_time_and_namespace(api: RawClient) -> None:
    meta = (await api.create(api.at(CONFIG_MAPS), config_map("a"))).meta

    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", meta["uid"])
    assert re.fullmatch(r"[1-9][0-9]*", meta["resourceVersion"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["creationTimestamp"])
    assert meta["namespace"] == api.namespace


async def test_fields_of_the_server_cannot_be_set_on_create(api: RawClient) -> None:
    body = config_map("a")
    body["metadata"] |= {
        "uid": "11111111-1111-1111-1111-111111111111",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "selfLink": "/somewhere",
    }

    meta = (await api.create(api.at(CONFIG_MAPS), body)).meta

    assert meta["uid"] != body["metadata"]["uid"]
    assert meta["creationTimestamp"] != body["metadata"]["creationTimestamp"]
    assert not {"deletionTimestamp", "selfLink"} & meta.keys()


async def test_a_kind_without_generations_keeps_the_one_it_was_given(api: RawClient) -> None:
    body = config_map("a")
    body["metadata"]["generation"] = 77

    assert (await api.create(api.at(CONFIG_MAPS), body)).meta["generation"] == 77


async def test_a_get_returns_the_object_of_the_create(api: RawClient) -> None:
    created = await api.create(api.at(CONFIG_MAPS), config_map("a", color="blue"))

    assert (await api.get(api.at(CONFIG_MAPS, "a"))).body == created.body


async def test_kind_and_version_may_be_omitted_for_built_in_kinds(api: RawClient) -> None:
    reply = await api(
        "POST",
        api.at("apps/v1/deployments"),
        {key: value for key, value in deployment().items() if key not in {"kind", "apiVersion"}},
    )

    assert (reply.code, reply.body["kind"]) == (201, "Deployment")


async def test_a_null_in_the_body_is_dropped(api: RawClient) -> None:
    meta: dict[str, Any] = {"name": "a", "labels": None, "annotations": {}}
    body = {"metadata": meta, "data": None}

    reply = await api.create(api.at(CONFIG_MAPS), body)

    assert not {"labels", "annotations"} & reply.meta.keys()
    assert "data" not in reply.body


async def test_a_generated_name_is_the_prefix_and_five_characters(api: RawClient) -> None:
    """API-48: generated names."""
    reply = await api.create(api.at(CONFIG_MAPS), {"metadata": {"generateName": "web-"}})

    assert re.fullmatch(r"web-[a-z0-9]{5}", reply.meta["name"])
    assert reply.meta["generateName"] == "web-"


async def test_a_long_generate_name_is_cut_to_63(api: RawClient) -> None:
    """API-48: generated names."""
    reply = await api.create(api.at(CONFIG_MAPS), {"metadata": {"generateName": "x" * 80}})

    assert re.fullmatch(r"x{58}[a-z0-9]{5}", reply.meta["name"])


async def test_a_generate_name_is_validated_with_the_generated_name(api: RawClient) -> None:
    reply = await api("POST", api.at(CONFIG_MAPS), {"metadata": {"generateName": "Web-"}})

    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.causes == [
        ("metadata.generateName", "FieldValueInvalid"),
        ("metadata.name", "FieldValueInvalid"),
    ]


async def test_a_name_takes_precedence_over_a_generate_name(api: RawClient) -> None:
    body = {"metadata": {"name": "fixed", "generateName": "web-"}}

    assert (await api.create(api.at(CONFIG_MAPS), body)).meta["name"] == "fixed"


async def test_a_name_in_use_is_rejected_also_with_a_generate_name(api: RawClient) -> None:
    body = {"metadata": {"name": "fixed", "generateName": "web-"}}
    await api.create(api.at(CONFIG_MAPS), body)

    reply = await api("POST", api.at(CONFIG_MAPS), body)

    assert (reply.code, reply.reason) == (409, "AlreadyExists")


async def test_every_write_increases_the_resource_version(api: RawClient) -> None:
    path = api.at(CONFIG_MAPS, "a")
    first = await api.create(api.at(CONFIG_MAPS), config_map("a", n="1"))
    second = await api("PUT", path, config_map("a", n="2"))
    third = await api.patch(path, {"data": {"n": "3"}})

    versions = [int(reply.meta["resourceVersion"]) for reply in (first, second, third)]
    assert versions == sorted(set(versions))


async def test_an_update_that_changes_nothing_keeps_the_version(api: RawClient) -> None:
    created = await api.create(api.at(CONFIG_MAPS), config_map("a", n="1"))

    reply = await api("PUT", api.at(CONFIG_MAPS, "a"), created.body)

    assert reply.code == 200
    assert reply.meta["resourceVersion"] == created.meta["resourceVersion"]


async def test_a_patch_that_changes_nothing_keeps_the_version(api: RawClient) -> None:
    created = await api.create(api.at(CONFIG_MAPS), config_map("a", n="1"))

    reply = await api.patch(api.at(CONFIG_MAPS, "a"), {"data": {"n": "1"}})

    assert reply.meta["resourceVersion"] == created.meta["resourceVersion"]


async def test_an_update_with_the_current_version_succeeds(api: RawClient) -> None:
    created = await api.create(api.at(CONFIG_MAPS), config_map("a", n="1"))

    reply = await api("PUT", api.at(CONFIG_MAPS, "a"), {**created.body, "data": {"n": "2"}})

    assert (reply.code, reply.body["data"]) == (200, {"n": "2"})


async def test_an_update_from_an_old_version_is_a_conflict(api: RawClient) -> None:
    created = await api.create(api.at(CONFIG_MAPS), config_map("a", n="1"))
    await api.patch(api.at(CONFIG_MAPS, "a"), {"data": {"n": "2"}})

    reply = await api("PUT", api.at(CONFIG_MAPS, "a"), {**created.body, "data": {"n": "3"}})

    assert (reply.code, reply.reason) == (409, "Conflict")
    assert reply.message.endswith("please apply your changes to the latest version and try again")


async def test_an_update_without_a_version_is_unconditional(api: RawClient) -> None:
    await api.create(api.at(CONFIG_MAPS), config_map("a", n="1"))

    reply = await api("PUT", api.at(CONFIG_MAPS, "a"), config_map("a", m="2"))

    assert (reply.code, reply.body["data"]) == (200, {"m": "2"})


async def test_an_update_keeps_uid_and_time_of_creation(api: RawClient) -> None:
    created = await api.create(api.at(CONFIG_MAPS), config_map("a"))
    body = config_map("a", n="1")
    body["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z"

    reply = await api("PUT", api.at(CONFIG_MAPS, "a"), body)

    assert reply.meta["uid"] == created.meta["uid"]
    assert reply.meta["creationTimestamp"] == created.meta["creationTimestamp"]


async def test_an_update_drops_labels_it_does_not_name(api: RawClient) -> None:
    await api.create(api.at(CONFIG_MAPS), config_map("a", labels={"x": "y"}))

    assert "labels" not in (await api("PUT", api.at(CONFIG_MAPS, "a"), config_map("a"))).meta


async def test_a_lease_is_created_by_an_update(api: RawClient) -> None:
    body = {"metadata": {"name": "lock"}, "spec": {"holderIdentity": "me"}}

    reply = await api("PUT", api.at("coordination.k8s.io/v1/leases", "lock"), body)

    assert reply.code == 201
    assert reply.spec == {"holderIdentity": "me"}


async def test_the_generation_begins_at_one(api: RawClient) -> None:
    reply = await api.create(api.at("apps/v1/deployments"), deployment())

    assert reply.meta["generation"] == 1


@pytest.mark.parametrize(
    ("change", "generation"),
    [
        ({"spec": {"replicas": 5}}, 2),
        ({"metadata": {"labels": {"a": "b"}}}, 1),
        ({"metadata": {"annotations": {"a": "b"}}}, 2),
        ({"status": {"replicas": 5}}, 1),
        ({"metadata": {"generation": 9}}, 1),
    ],
    ids=["spec", "labels", "annotations", "status", "generation"],
)
async def test_the_generation_of_a_deployment_counts_changes_of_its_spec(
    api: RawClient, change: Any, generation: int
) -> None:
    await api.create(api.at("apps/v1/deployments"), deployment())

    reply = await api.patch(api.at("apps/v1/deployments", "web"), change)

    assert (reply.code, reply.meta["generation"]) == (200, generation)


async def test_a_status_sent_with_a_create_is_not_kept(api: RawClient) -> None:
    body = {**pod(), "status": {"phase": "Running", "podIP": "1.2.3.4"}}

    reply = await api.create(api.at("pods"), body)

    assert reply.body["status"]["phase"] == "Pending"
    assert "podIP" not in reply.body["status"]


async def test_a_status_sent_with_an_update_is_not_kept(api: RawClient) -> None:
    created = await api.create(api.at("apps/v1/deployments"), deployment())
    body = {**created.body, "status": {"replicas": 7}}

    reply = await api("PUT", api.at("apps/v1/deployments", "web"), body)

    assert reply.body["status"] == {}


async def test_an_update_of_the_status_changes_nothing_else(api: RawClient) -> None:
    created = await api.create(api.at("apps/v1/deployments"), deployment())
    body = {**created.body, "status": {"replicas": 7}}
    body["spec"] = {**body["spec"], "replicas": 9}

    reply = await api("PUT", api.at("apps/v1/deployments", "web", "status"), body)

    assert reply.body["status"] == {"replicas": 7}
    assert reply.spec["replicas"] == 1
    assert reply.meta["generation"] == 1


async def test_a_patch_of_the_status_changes_the_status(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())

    reply = await api.patch(api.at("pods", "web", "status"), {"status": {"podIP": "10.0.0.1"}})

    assert (reply.code, reply.body["status"]["podIP"]) == (200, "10.0.0.1")


async def test_the_status_is_read_as_the_whole_object(api: RawClient) -> None:
    created = await api.create(api.at("pods"), pod())

    assert (await api.get(api.at("pods", "web", "status"))).body == created.body


async def test_secrets_accept_plain_text_and_return_it_encoded(api: RawClient) -> None:
    body = {"metadata": {"name": "a"}, "stringData": {"word": "open"}}

    reply = await api.create(api.at("secrets"), body)

    assert reply.body["data"] == {"word": "b3Blbg=="}
    assert "stringData" not in reply.body
    assert reply.body["type"] == "Opaque"


async def test_a_namespace_labels_itself_with_its_name(api: RawClient) -> None:
    reply = await api.get("/api/v1/namespaces/{ns}")

    assert reply.meta["labels"]["kubernetes.io/metadata.name"] == api.namespace
    assert reply.spec == {"finalizers": ["kubernetes"]}
    assert reply.body["status"] == {"phase": "Active"}


async def test_a_service_gets_an_address(api: RawClient) -> None:
    reply = await api.create(api.at("services"), service())

    assert reply.spec["clusterIP"].startswith("10.")
    assert reply.spec["clusterIPs"] == [reply.spec["clusterIP"]]


async def test_a_service_keeps_its_address_when_an_update_does_not_name_it(api: RawClient) -> None:
    created = await api.create(api.at("services"), service())
    body = service(selector={"app": "other"})

    reply = await api("PUT", api.at("services", "web"), body)

    assert reply.code == 200
    assert reply.spec["clusterIP"] == created.spec["clusterIP"]


async def test_a_headless_service_has_no_address(api: RawClient) -> None:
    reply = await api.create(api.at("services"), service(clusterIP="None"))

    assert (reply.spec["clusterIP"], reply.spec["clusterIPs"]) == ("None", ["None"])


async def test_a_service_of_type_node_port_gets_a_port(api: RawClient) -> None:
    reply = await api.create(api.at("services"), service(type="NodePort"))

    assert 30000 <= reply.spec["ports"][0]["nodePort"] <= 32767


async def test_one_object_can_be_read_in_every_version_of_its_group(api: RawClient) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    body = {"metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}}
    await api.create(api.at("autoscaling/v2/horizontalpodautoscalers"), body)

    reply = await api.get(api.at("autoscaling/v1/horizontalpodautoscalers", "a"))

    assert reply.body["apiVersion"] == "autoscaling/v1"
    assert reply.spec["maxReplicas"] == 3


async def test_the_metrics_of_an_autoscaler_are_converted_between_versions(api: RawClient) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 70}
    body = {"metadata": {"name": "a"}, "spec": spec}
    await api.create(api.at("autoscaling/v1/horizontalpodautoscalers"), body)

    reply = await api.get(api.at("autoscaling/v2/horizontalpodautoscalers", "a"))

    usage = {"type": "Utilization", "averageUtilization": 70}
    assert reply.spec["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": usage}}
    ]


async def test_an_event_of_one_group_can_be_read_in_the_other(api: RawClient) -> None:
    about = {"kind": "Pod", "name": "web", "namespace": api.namespace}
    body = {
        "metadata": {"name": "a"},
        "involvedObject": about,
        "reason": "Because",
        "message": "so",
    }
    await api.create(api.at("events"), body)

    reply = await api.get(api.at("events.k8s.io/v1/events", "a"))

    assert reply.code == 200
    assert (reply.body["note"], reply.body["regarding"]) == ("so", about)


async def test_head_is_not_supported_for_objects(api: RawClient) -> None:
    await api.create(api.at(CONFIG_MAPS), config_map("a"))

    assert (await api("HEAD", api.at(CONFIG_MAPS, "a"))).code == 405
