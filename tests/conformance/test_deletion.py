"""Deletion: responses, finalizers, grace periods, propagation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map, deployment, pod
from tests.conformance.widgets import WIDGETS, CustomKind

Object = dict[str, Any]
MAPS = "configmaps"


def held(name: str = "a", *finalizers: str) -> Object:
    body = config_map(name)
    body["metadata"]["finalizers"] = list(finalizers or ("example.com/hold",))
    return body


def options(**more: Any) -> Object:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **more}


async def test_a_finished_deletion_returns_success(api: RawClient) -> None:
    created = await api.create(api.at(MAPS), config_map("a"))

    reply = await api("DELETE", api.at(MAPS, "a"))

    assert reply.code == 200
    assert (reply.body["kind"], reply.body["status"]) == ("Status", "Success")
    assert reply.details == {"name": "a", "kind": MAPS, "uid": created.meta["uid"]}


async def test_success_of_a_group_names_the_group(api: RawClient) -> None:
    created = await api.create(api.at("apps/v1/deployments"), deployment())

    reply = await api("DELETE", api.at("apps/v1/deployments", "web"))

    uid = created.meta["uid"]
    assert reply.details == {"name": "web", "group": "apps", "kind": "deployments", "uid": uid}


async def test_a_deleted_object_is_not_found(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))
    await api("DELETE", api.at(MAPS, "a"))

    assert (await api.get(api.at(MAPS, "a"))).code == 404
    assert (await api("DELETE", api.at(MAPS, "a"))).code == 404


async def test_a_recreated_object_has_another_uid(api: RawClient) -> None:
    first = await api.create(api.at(MAPS), config_map("a"))
    await api("DELETE", api.at(MAPS, "a"))

    second = await api.create(api.at(MAPS), config_map("a"))

    assert second.meta["uid"] != first.meta["uid"]


async def test_an_object_with_finalizers_stays_with_a_deletion_timestamp(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())

    reply = await api("DELETE", api.at(MAPS, "a"))

    assert (reply.code, reply.body["kind"]) == (200, "ConfigMap")
    assert reply.meta["deletionTimestamp"]
    assert reply.meta["deletionGracePeriodSeconds"] == 0
    assert (await api.get(api.at(MAPS, "a"))).body == reply.body


async def test_a_second_deletion_changes_nothing(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())
    first = await api("DELETE", api.at(MAPS, "a"))

    second = await api("DELETE", api.at(MAPS, "a"))

    assert second.body == first.body


async def test_the_object_is_removed_with_its_last_finalizer(api: RawClient) -> None:
    await api.create(api.at(MAPS), held("a", "example.com/x", "example.com/y"))
    await api("DELETE", api.at(MAPS, "a"))

    await api.patch(api.at(MAPS, "a"), {"metadata": {"finalizers": ["example.com/y"]}})
    still = await api.get(api.at(MAPS, "a"))
    last = await api.patch(api.at(MAPS, "a"), {"metadata": {"finalizers": None}})

    assert (still.code, last.code) == (200, 200)
    assert (await api.get(api.at(MAPS, "a"))).code == 404


async def test_the_last_finalizer_may_be_removed_by_an_update(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())
    deleted = await api("DELETE", api.at(MAPS, "a"))
    body = deleted.body
    del body["metadata"]["finalizers"]

    reply = await api("PUT", api.at(MAPS, "a"), body)

    assert reply.code == 200
    assert (await api.get(api.at(MAPS, "a"))).code == 404


async def test_a_terminating_object_accepts_no_new_finalizers(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())
    await api("DELETE", api.at(MAPS, "a"))

    patch = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    reply = await api.patch(api.at(MAPS, "a"), patch)

    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.causes == [("metadata.finalizers", "FieldValueForbidden")]
    assert "no new finalizers can be added if the object is being deleted" in reply.message


async def test_a_terminating_object_can_still_be_updated(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())
    await api("DELETE", api.at(MAPS, "a"))

    reply = await api.patch(api.at(MAPS, "a"), {"data": {"x": "1"}})

    assert (reply.code, reply.body["data"]) == (200, {"x": "1"})


async def test_a_name_is_in_use_until_its_object_is_removed(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())
    await api("DELETE", api.at(MAPS, "a"))

    reply = await api("POST", api.at(MAPS), config_map("a"))

    assert (reply.code, reply.reason) == (409, "AlreadyExists")
    assert reply.message.startswith("object is being deleted: configmaps")


async def test_a_deletion_timestamp_cannot_be_set_or_removed(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())
    deleted = await api("DELETE", api.at(MAPS, "a"))

    reply = await api.patch(api.at(MAPS, "a"), {"metadata": {"deletionTimestamp": None}})

    assert reply.meta["deletionTimestamp"] == deleted.meta["deletionTimestamp"]


async def test_a_deletion_timestamp_increments_the_generation(api: RawClient) -> None:
    body = deployment()
    body["metadata"]["finalizers"] = ["example.com/hold"]
    await api.create(api.at("apps/v1/deployments"), body)

    reply = await api("DELETE", api.at("apps/v1/deployments", "web"))

    assert reply.meta["generation"] == 2


async def test_a_deletion_with_matching_preconditions_succeeds(api: RawClient) -> None:
    meta = (await api.create(api.at(MAPS), config_map("a"))).meta
    conditions = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}

    reply = await api("DELETE", api.at(MAPS, "a"), options(preconditions=conditions))

    assert reply.code == 200


async def test_a_pod_without_a_node_is_removed_immediately(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())

    reply = await api("DELETE", api.at("pods", "web"))

    assert (reply.code, reply.body["kind"]) == (200, "Pod")
    assert (await api.get(api.at("pods", "web"))).code == 404


async def bound(api: RawClient) -> None:
    body = pod()
    body["spec"]["nodeName"] = "node-1"
    await api.create(api.at("pods"), body)


async def test_a_pod_on_a_node_gets_its_grace_period(api: RawClient) -> None:
    await bound(api)

    reply = await api("DELETE", api.at("pods", "web"))

    assert reply.code == 200
    assert reply.meta["deletionGracePeriodSeconds"] == 30
    assert reply.meta["deletionTimestamp"] > reply.meta["creationTimestamp"]


async def test_a_grace_period_may_be_set(api: RawClient) -> None:
    await bound(api)

    reply = await api("DELETE", api.at("pods", "web"), query={"gracePeriodSeconds": 7})

    assert reply.meta["deletionGracePeriodSeconds"] == 7


async def test_a_grace_period_may_be_shortened(api: RawClient) -> None:
    await bound(api)
    await api("DELETE", api.at("pods", "web"), options(gracePeriodSeconds=20))

    reply = await api("DELETE", api.at("pods", "web"), options(gracePeriodSeconds=5))

    assert reply.meta["deletionGracePeriodSeconds"] == 5


async def test_a_grace_period_is_not_made_longer(api: RawClient) -> None:
    await bound(api)
    await api("DELETE", api.at("pods", "web"), options(gracePeriodSeconds=5))

    reply = await api("DELETE", api.at("pods", "web"), options(gracePeriodSeconds=20))

    assert reply.meta["deletionGracePeriodSeconds"] == 5


async def test_a_pod_on_a_node_is_removed_immediately_with_a_grace_period_of_zero(
    api: RawClient,
) -> None:
    await bound(api)

    reply = await api("DELETE", api.at("pods", "web"), options(gracePeriodSeconds=0))

    assert reply.code == 200
    assert (await api.get(api.at("pods", "web"))).code == 404


async def test_a_foreground_deletion_adds_a_finalizer(api: RawClient) -> None:
    owner = await api.create(api.at(MAPS), config_map("owner"))
    await api.create(api.at(MAPS), owned_by(owner.body, block=True))

    reply = await api("DELETE", api.at(MAPS, "owner"), options(propagationPolicy="Foreground"))

    assert (reply.code, reply.body["kind"]) == (200, "ConfigMap")
    assert reply.meta["finalizers"] == ["foregroundDeletion"]
    assert reply.meta["deletionTimestamp"]


async def test_an_orphaning_deletion_adds_a_finalizer(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("owner"))

    reply = await api("DELETE", api.at(MAPS, "owner"), options(propagationPolicy="Orphan"))

    assert reply.meta["finalizers"] == ["orphan"]
    assert reply.meta["deletionTimestamp"]


async def test_the_propagation_policy_may_be_in_the_query(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("owner"))

    reply = await api("DELETE", api.at(MAPS, "owner"), query={"propagationPolicy": "Orphan"})

    assert reply.meta["finalizers"] == ["orphan"]


async def test_a_background_deletion_is_done_immediately(api: RawClient) -> None:
    owner = await api.create(api.at(MAPS), config_map("owner"))
    await api.create(api.at(MAPS), owned_by(owner.body))

    reply = await api("DELETE", api.at(MAPS, "owner"), options(propagationPolicy="Background"))

    assert reply.body["status"] == "Success"


def owned_by(owner: Object, *, block: bool = False) -> Object:
    body = config_map("dependent")
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": block,
    }
    body["metadata"]["ownerReferences"] = [reference]
    return body


async def test_deleting_a_collection_deletes_all_of_it(api: RawClient) -> None:
    for name in "abc":
        await api.create(api.at(MAPS), config_map(name))

    reply = await api("DELETE", api.at(MAPS))

    assert (reply.code, reply.body["kind"]) == (200, "ConfigMapList")
    assert sorted(reply.names) == ["a", "b", "c"]
    assert (await api.get(api.at(MAPS))).names == []


async def test_deleting_a_collection_respects_the_selector(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a", labels={"x": "y"}))
    await api.create(api.at(MAPS), config_map("b"))

    await api("DELETE", api.at(MAPS), query={"labelSelector": "x=y"})

    assert (await api.get(api.at(MAPS))).names == ["b"]


async def test_deleting_a_collection_respects_finalizers(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())
    await api.create(api.at(MAPS), config_map("b"))

    await api("DELETE", api.at(MAPS))

    left = await api.get(api.at(MAPS))
    assert left.names == ["a"]
    assert left.items[0]["metadata"]["deletionTimestamp"]


async def test_deleting_an_empty_collection_succeeds(api: RawClient) -> None:
    reply = await api("DELETE", api.at(MAPS))

    assert (reply.code, reply.items) == (200, [])


async def test_a_custom_kind_is_deleted_like_any_other(api: RawClient, widgets: CustomKind) -> None:
    created = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))

    reply = await api("DELETE", api.at(WIDGETS, "a"))

    assert (reply.code, reply.body["status"]) == (200, "Success")
    assert reply.details == {
        "name": "a",
        "group": "conformance.example.com",
        "kind": "widgets",
        "uid": created.meta["uid"],
    }


async def test_a_deletion_may_request_a_dry_run_in_the_body(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    reply = await api("DELETE", api.at(MAPS, "a"), options(dryRun=["All"]))

    assert reply.code == 200
    assert (await api.get(api.at(MAPS, "a"))).code == 200


async def test_a_deleted_namespace_is_terminating(api: RawClient) -> None:
    reply = await api("DELETE", "/api/v1/namespaces/{ns}")

    assert reply.code == 200
    assert reply.body["kind"] == "Namespace"
    assert reply.body["status"]["phase"] == "Terminating"
    assert reply.meta["deletionTimestamp"]


async def test_no_object_can_be_created_in_a_terminating_namespace(api: RawClient) -> None:
    await api.create(api.at(MAPS), held())  # so that the namespace cannot be finalized
    await api("DELETE", "/api/v1/namespaces/{ns}")

    reply = await api("POST", api.at(MAPS), config_map("b"))

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert reply.message == (
        f'configmaps "b" is forbidden: unable to create new content in namespace '
        f"{api.namespace} because it is being terminated"
    )
    assert reply.details["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {api.namespace} is being terminated",
            "field": "metadata.namespace",
        }
    ]


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_cannot_be_deleted(api: RawClient, name: str) -> None:
    reply = await api("DELETE", f"/api/v1/namespaces/{name}")

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert reply.message == (f'namespaces "{name}" is forbidden: this namespace may not be deleted')


async def test_a_watch_sees_the_deletion_timestamp_of_a_pod_before_its_removal(
    api: RawClient,
) -> None:
    created = await api.create(api.at("pods"), pod())

    version = created.meta["resourceVersion"]
    async with api.watch(api.at("pods"), resourceVersion=version) as watch:
        await api("DELETE", api.at("pods", "web"))
        marked, gone = await watch.take(2)

    assert (marked["type"], gone["type"]) == ("MODIFIED", "DELETED")
    for meta in (marked["object"]["metadata"], gone["object"]["metadata"]):
        assert "deletionTimestamp" in meta
        assert (meta["deletionGracePeriodSeconds"], meta["generation"]) == (0, 2)
