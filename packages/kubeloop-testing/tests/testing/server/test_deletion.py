"""Deletion: grace period, finalizers, preconditions, dependents, namespaces."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop_testing.server import Service
from tests.testing.server.conftest import Api, HTTPResponse
from tests.testing.server.server_objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    config_map,
    deployment,
    owned,
    pod,
)


async def _settled(server: Service) -> None:
    """Run the controllers until they have no work."""
    await asyncio.sleep(0)
    server.core.controller_manager.work()


async def test_a_deletion_is_answered_with_a_status_or_the_object(api: Api) -> None:
    uid = (await api.create(CONFIG_MAPS, config_map("a"))).json["metadata"]["uid"]
    await api.create(PODS, pod("web"))

    status = await api("DELETE", f"{CONFIG_MAPS}/a")
    gone = await api("DELETE", f"{PODS}/web")

    assert status.json["status"] == "Success"
    assert status.json["details"] == {"name": "a", "kind": "configmaps", "uid": uid}
    assert gone.json["kind"] == "Pod"
    assert (await api.get(f"{PODS}/web")).code == 404


async def test_a_finalizer_keeps_the_object_until_it_is_removed(api: Api) -> None:
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/keep"]
    await api.create(CONFIG_MAPS, body)

    marked = await api("DELETE", f"{CONFIG_MAPS}/a")
    again = await api("DELETE", f"{CONFIG_MAPS}/a")
    freed = await api.patch(f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": None}})

    assert "deletionTimestamp" in marked.json["metadata"]
    assert again.json == marked.json
    assert freed.code == 200
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 404


async def test_no_finalizer_is_added_to_what_is_being_deleted(api: Api) -> None:
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/keep"]
    await api.create(CONFIG_MAPS, body)
    await api("DELETE", f"{CONFIG_MAPS}/a")

    response = await api.patch(
        f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": ["example.com/keep", "example.com/more"]}}
    )

    assert response.code == 422
    assert "metadata.finalizers: Forbidden" in response.json["message"]


async def test_a_pod_on_a_node_has_its_grace_period(api: Api) -> None:
    body = pod("web")
    body["spec"]["nodeName"] = "node-1"
    await api.create(PODS, body)

    marked = await api("DELETE", f"{PODS}/web")
    shorter = await api("DELETE", f"{PODS}/web", gracePeriodSeconds=5)
    longer = await api("DELETE", f"{PODS}/web", gracePeriodSeconds=50)
    now = await api("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 0})

    assert marked.json["metadata"]["deletionGracePeriodSeconds"] == 30
    assert shorter.json["metadata"]["deletionGracePeriodSeconds"] == 5
    assert longer.json == shorter.json
    assert now.code == 200
    assert (await api.get(f"{PODS}/web")).code == 404


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"preconditions": {"uid": "other"}}, 409, "the UID in the precondition (other)"),
        (
            {"preconditions": {"resourceVersion": "1"}},
            409,
            "the ResourceVersion in the precondition (1)",
        ),
        ({"propagationPolicy": "Never"}, 422, "Unsupported value"),
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            422,
            "orphanDependents and deletionPropagation cannot be both set",
        ),
        ({"kind": "Pod"}, 400, 'no kind "Pod" is registered for version "v1"'),
        ({"gracePeriodSeconds": "soon"}, 400, "DeleteOptions"),
        ({"dryRun": ["Some"]}, 422, "dryRun"),
    ],
)
async def test_options_that_do_not_hold_delete_nothing(
    api: Api, options: dict[str, Any], code: int, message: str
) -> None:
    await api.create(CONFIG_MAPS, config_map("a"))

    response = await api("DELETE", f"{CONFIG_MAPS}/a", options)

    assert response.code == code, response
    assert message in response.json["message"]
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 200


async def test_a_collection_is_deleted_by_selector(api: Api) -> None:
    for name, app in (("a", "x"), ("b", "x"), ("c", "y")):
        await api.create(PODS, pod(name, app=app))

    response = await api("DELETE", PODS, labelSelector="app=x")

    assert response.json["kind"] == "PodList"
    assert len(response.json["items"]) == 2
    left = (await api.get(PODS)).json["items"]
    assert [each["metadata"]["name"] for each in left] == ["c"]


async def _family(api: Api, *, block: bool = False) -> HTTPResponse:
    owner = await api.create(DEPLOYMENTS, deployment("web"))
    await api.create(PODS, owned(pod("child"), owner.json, block=block))
    return owner


async def test_dependents_follow_in_the_background(api: Api, server: Service) -> None:
    await _family(api)

    await api("DELETE", f"{DEPLOYMENTS}/web")
    await _settled(server)

    assert (await api.get(f"{PODS}/child")).code == 404


async def test_an_owner_waits_in_the_foreground_for_those_that_block_it(
    api: Api, server: Service
) -> None:
    await _family(api, block=True)
    await api.patch(f"{PODS}/child", {"metadata": {"finalizers": ["example.com/keep"]}})

    marked = await api("DELETE", f"{DEPLOYMENTS}/web", propagationPolicy="Foreground")
    await _settled(server)
    waiting = await api.get(f"{DEPLOYMENTS}/web")
    child = await api.get(f"{PODS}/child")
    await api.patch(f"{PODS}/child", {"metadata": {"finalizers": None}})
    await _settled(server)

    assert marked.json["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert waiting.code == 200
    assert "deletionTimestamp" in child.json["metadata"]
    assert (await api.get(f"{DEPLOYMENTS}/web")).code == 404


async def test_orphans_lose_their_owner_and_stay(api: Api, server: Service) -> None:
    await _family(api)

    await api("DELETE", f"{DEPLOYMENTS}/web", propagationPolicy="Orphan")
    await _settled(server)

    assert (await api.get(f"{DEPLOYMENTS}/web")).code == 404
    child = await api.get(f"{PODS}/child")
    assert child.code == 200
    assert "ownerReferences" not in child.json["metadata"]


async def test_an_object_with_a_second_owner_stays(api: Api, server: Service) -> None:
    first = (await api.create(DEPLOYMENTS, deployment("one"))).json
    second = (await api.create(DEPLOYMENTS, deployment("two"))).json
    child = owned(pod("child"), first)
    child["metadata"]["ownerReferences"] += owned(pod("x"), second)["metadata"]["ownerReferences"]
    await api.create(PODS, child)

    await api("DELETE", f"{DEPLOYMENTS}/one")
    await _settled(server)

    left = await api.get(f"{PODS}/child")
    assert [each["name"] for each in left.json["metadata"]["ownerReferences"]] == ["two"]


async def test_an_object_whose_owner_never_was_goes(api: Api, server: Service) -> None:
    missing = deployment("missing")
    missing["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000"

    await api.create(PODS, owned(pod("child"), missing))
    await _settled(server)

    assert (await api.get(f"{PODS}/child")).code == 404


async def test_deleting_a_job_keeps_its_pods_by_default(api: Api) -> None:
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    template = {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}
    await api.create(jobs, {"metadata": {"name": "j"}, "spec": {"template": template}})

    response = await api("DELETE", f"{jobs}/j")

    assert "child pods are preserved by default" in response.warnings[0]
    assert response.json["metadata"]["finalizers"] == ["orphan"]


async def test_deleting_a_namespace_deletes_its_content(api: Api, server: Service) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    held = config_map("held")
    held["metadata"]["finalizers"] = ["example.com/keep"]
    await api.create("/api/v1/namespaces/shop/configmaps", held)
    await api.create("/api/v1/namespaces/shop/configmaps", config_map("free"))

    marked = await api("DELETE", "/api/v1/namespaces/shop")
    await _settled(server)
    ending = await api.get("/api/v1/namespaces/shop")
    refused = await api("POST", "/api/v1/namespaces/shop/configmaps", config_map("late"))
    free = await api.get("/api/v1/namespaces/shop/configmaps/free")
    await api.patch("/api/v1/namespaces/shop/configmaps/held", {"metadata": {"finalizers": None}})
    await _settled(server)

    assert marked.json["status"]["phase"] == "Terminating"
    response = {each["type"]: each["status"] for each in ending.json["status"]["conditions"]}
    assert response["NamespaceContentRemaining"] == "True"
    assert refused.code == 403
    assert refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert free.code == 404
    assert (await api.get("/api/v1/namespaces/shop")).code == 404


async def test_some_namespaces_are_there_from_the_start_and_stay(api: Api) -> None:
    listed = (await api.get("/api/v1/namespaces")).json["items"]

    response = await api("DELETE", "/api/v1/namespaces/default")

    assert {each["metadata"]["name"] for each in listed} == {
        "default",
        "kube-node-lease",
        "kube-public",
        "kube-system",
    }
    assert (response.code, response.reason) == (403, "Forbidden")
    assert (await api.get("/api/v1/namespaces/default/services/kubernetes")).code == 200


@pytest.mark.parametrize("api_version", ["example.com/v1", "v1"])
async def test_an_owner_is_absent_only_if_its_kind_is_served(
    api: Api, server: Service, api_version: str
) -> None:
    reference = {"apiVersion": api_version, "kind": "Secret", "name": "gone", "uid": "1"}
    body = config_map("a")
    body["metadata"]["ownerReferences"] = [reference]
    await api.create(CONFIG_MAPS, body)

    await _settled(server)

    assert (await api.get(f"{CONFIG_MAPS}/a")).code == (404 if api_version == "v1" else 200)
