"""Status, scale, eviction, binding, log, token, ephemeral containers, resize."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop_testing.server import Service
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import DEPLOYMENTS, PODS, deployment, pod


async def test_a_status_changes_alone_and_is_not_changed_by_the_object(api: Api) -> None:
    created = (await api.create(DEPLOYMENTS, deployment("web"))).json
    body = {**created, "spec": {**created["spec"], "replicas": 9}, "status": {"replicas": 3}}

    status = await api("PUT", f"{DEPLOYMENTS}/web/status", body)
    body["metadata"] = status.json["metadata"]
    whole = await api("PUT", f"{DEPLOYMENTS}/web", {**body, "status": {"replicas": 7}})

    assert status.json["status"]["replicas"] == 3
    assert status.json["spec"]["replicas"] == 1
    assert status.json["metadata"]["generation"] == 1
    assert whole.json["status"]["replicas"] == 3
    assert whole.json["spec"]["replicas"] == 9


async def test_the_manager_of_a_status_is_kept_apart(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment("web"))

    response = await api.patch(
        f"{DEPLOYMENTS}/web/status", {"status": {"replicas": 3}}, fieldManager="controller"
    )

    entries = response.json["metadata"]["managedFields"]
    assert [each.get("subresource", "") for each in entries] == ["", "status"]


async def test_a_scale_reads_and_writes_replicas(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment("web", replicas=2))

    before = await api.get(f"{DEPLOYMENTS}/web/scale")
    put = await api("PUT", f"{DEPLOYMENTS}/web/scale", {**before.json, "spec": {"replicas": 5}})
    patched = await api.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 7}})
    refused = await api.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": -1}})

    assert before.json["kind"] == "Scale"
    assert before.json["spec"] == {"replicas": 2}
    assert before.json["status"]["selector"] == "app=web"
    assert put.json["spec"]["replicas"] == 5
    assert patched.json["spec"]["replicas"] == 7
    assert refused.code == 422
    assert (await api.get(f"{DEPLOYMENTS}/web")).json["spec"]["replicas"] == 7


def _budget(allowed: int) -> dict[str, Any]:
    return {
        "observedGeneration": 1,
        "disruptionsAllowed": allowed,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }


BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
EVICTION = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "web"}}


async def _protected(api: Api, allowed: int | None) -> None:
    await api.create(PODS, pod("web", app="x"))
    await api.patch(f"{PODS}/web/status", {"status": {"phase": "Running"}})
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    await api.create(BUDGETS, {"metadata": {"name": "budget"}, "spec": spec})
    if allowed is not None:
        response = await api.patch(f"{BUDGETS}/budget/status", {"status": _budget(allowed)})
        assert response.code == 200, response


async def test_an_eviction_that_a_budget_forbids_is_too_many_requests(api: Api) -> None:
    await _protected(api, 0)

    response = await api("POST", f"{PODS}/web/eviction", EVICTION)

    assert (response.code, response.reason) == (429, "TooManyRequests")
    cause = response.json["details"]["causes"][0]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == (
        "The disruption budget budget needs 1 healthy pods and has 1 currently"
    )
    assert (await api.get(f"{PODS}/web")).code == 200


async def test_a_budget_with_an_outdated_status_forbids_evictions_for_now(api: Api) -> None:
    await _protected(api, None)

    response = await api("POST", f"{PODS}/web/eviction", EVICTION)

    assert response.code == 429
    assert response.headers["Retry-After"] == "10"


async def test_an_eviction_that_is_allowed_spends_the_budget(api: Api) -> None:
    await _protected(api, 1)

    response = await api("POST", f"{PODS}/web/eviction", EVICTION)

    assert (response.code, response.json["status"]) == (201, "Success")
    assert (await api.get(f"{PODS}/web")).code == 404
    assert (await api.get(f"{BUDGETS}/budget")).json["status"]["disruptionsAllowed"] == 0


async def test_a_pod_is_bound_once(api: Api) -> None:
    await api.create(PODS, pod("web"))
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node-1"}}

    first = await api("POST", f"{PODS}/web/binding", binding)
    second = await api("POST", f"{PODS}/web/binding", binding)

    assert first.code == 201
    assert second.code == 409
    assert 'pod web is already assigned to node "node-1"' in second.json["message"]
    bound = (await api.get(f"{PODS}/web")).json
    assert bound["spec"]["nodeName"] == "node-1"
    assert bound["status"]["conditions"][-1]["type"] == "PodScheduled"


async def test_bindings_may_be_created_as_objects(api: Api) -> None:
    await api.create(PODS, pod("web"))
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node-1"}}

    response = await api("POST", "/api/v1/namespaces/default/bindings", binding)

    assert response.code == 201
    assert (await api.get(f"{PODS}/web")).json["spec"]["nodeName"] == "node-1"


async def test_a_log_is_what_the_test_says(api: Api, server: Service) -> None:
    body = pod("web")
    body["spec"]["containers"].append({"name": "side", "image": "nginx"})
    await api.create(PODS, body)
    server.set_log("default", "web", "one\ntwo\nthree\n", container="main")

    tail = await api.get(f"{PODS}/web/log", container="main", tailLines=2)
    unsaid = await api.get(f"{PODS}/web/log")
    unknown = await api.get(f"{PODS}/web/log", container="other")

    assert tail.raw == b"two\nthree\n"
    assert tail.headers["Content-Type"].startswith("text/plain")
    assert "a container name must be specified for pod web" in unsaid.json["message"]
    assert unknown.json["message"] == "container other is not valid for pod web"


async def test_a_log_that_is_followed_goes_on_until_its_pod_has_ended(
    api: Api, server: Service
) -> None:
    await api.create(PODS, pod("web"))
    server.set_log("default", "web", "one\ntwo\n")
    await _put_phase(api, "Running")

    async with api.session.get(f"{PODS}/web/log?follow=true&tailLines=1") as log:
        lines = [await log.content.readline()]
        server.set_log("default", "web", "one\ntwo\nthree\n")
        lines.append(await log.content.readline())
        server.set_log("default", "web", "again\n")
        lines.append(await log.content.readline())
        await _put_phase(api, "Succeeded")
        rest = await log.content.read()

    assert (lines, rest) == ([b"two\n", b"three\n", b"again\n"], b"")
    assert log.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("deleted", [False, True])
async def test_following_a_log_that_cannot_grow_ends_at_once(
    api: Api, server: Service, *, deleted: bool
) -> None:
    await api.create(PODS, pod("web"))
    server.set_log("default", "web", "one\n")
    if deleted:
        await _put_phase(api, "Running")

    async with api.session.get(f"{PODS}/web/log?follow=true") as log:
        first = await log.content.readline()
        if deleted:
            await api("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 0})
        rest = await log.content.read()

    assert (first, rest) == (b"one\n", b"")


async def _put_phase(api: Api, phase: str) -> None:
    response = {"status": {"phase": phase}}
    headers = {"Content-Type": "application/merge-patch+json"}
    await api("PATCH", f"{PODS}/web/status", response, headers=headers)


async def test_a_service_account_gets_a_token_that_a_review_knows(api: Api) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    await api.create(accounts, {"metadata": {"name": "robot"}})

    token = await api("POST", f"{accounts}/robot/token", {"spec": {"expirationSeconds": 600}})
    review = await api(
        "POST",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        {"spec": {"token": token.json["status"]["token"]}},
    )

    assert token.code == 201
    assert review.json["status"]["authenticated"] is True
    assert review.json["status"]["user"]["username"] == "system:serviceaccount:default:robot"


async def test_an_ephemeral_container_is_added_through_its_own_path(api: Api) -> None:
    await api.create(PODS, pod("web"))
    added = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox"}]}}

    response = await api.patch(
        f"{PODS}/web/ephemeralcontainers", added, "application/strategic-merge-patch+json"
    )

    assert response.code == 200, response
    assert response.json["spec"]["ephemeralContainers"][0]["name"] == "debug"


async def test_a_pod_is_resized_through_its_own_path(api: Api) -> None:
    # A resize cannot change the quality of service, so that the pod has a request before.
    body = pod("web")
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "50m"}}
    await api.create(PODS, body)
    resources = {"requests": {"cpu": "100m"}}
    change = {"spec": {"containers": [{"name": "main", "resources": resources, "image": "other"}]}}

    response = await api.patch(
        f"{PODS}/web/resize", change, "application/strategic-merge-patch+json"
    )

    assert response.code == 200, response
    assert response.json["spec"]["containers"][0]["resources"] == resources
    assert response.json["spec"]["containers"][0]["image"] == "nginx"


@pytest.mark.parametrize(
    ("method", "part", "code"),
    [("GET", "nothing", 404), ("DELETE", "status", 405), ("GET", "eviction", 405)],
)
async def test_a_part_that_does_not_exist_or_do_that_is_refused(
    api: Api, method: str, part: str, code: int
) -> None:
    await api.create(PODS, pod("web"))

    assert (await api(method, f"{PODS}/web/{part}")).code == code
