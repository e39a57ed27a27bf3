"""Subresources: scale, eviction, binding, logs, and others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import JSON_PATCH, STRATEGIC, RawClient
from tests.conformance.samples import deployment, pod

Object = dict[str, Any]
DEPLOYMENTS = "apps/v1/deployments"


async def test_the_scale_of_a_deployment_is_read(api: RawClient) -> None:
    created = await api.create(api.at(DEPLOYMENTS), deployment(replicas=3))

    reply = await api.get(api.at(DEPLOYMENTS, "web", "scale"))

    assert (reply.body["kind"], reply.body["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert reply.spec == {"replicas": 3}
    assert reply.body["status"] == {"replicas": 0, "selector": "app=web"}
    for field in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp"):
        assert reply.meta[field] == created.meta[field]


@pytest.mark.parametrize(
    "resource", ["apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets"]
)
async def test_the_scale_is_patched(api: RawClient, resource: str) -> None:
    await api.create(api.at(resource), {**deployment(), "kind": ""})

    reply = await api.patch(api.at(resource, "web", "scale"), {"spec": {"replicas": 5}})

    assert (reply.code, reply.spec) == (200, {"replicas": 5})
    found = await api.get(api.at(resource, "web"))
    assert (found.spec["replicas"], found.meta["generation"]) == (5, 2)


async def test_the_scale_is_updated(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment())
    scale = await api.get(api.at(DEPLOYMENTS, "web", "scale"))

    body = {**scale.body, "spec": {"replicas": 4}}
    reply = await api("PUT", api.at(DEPLOYMENTS, "web", "scale"), body)

    assert (reply.code, reply.spec) == (200, {"replicas": 4})


async def test_the_scale_is_updated_from_its_version_only(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment())
    scale = await api.get(api.at(DEPLOYMENTS, "web", "scale"))
    await api.patch(api.at(DEPLOYMENTS, "web"), {"spec": {"replicas": 2}})

    body = {**scale.body, "spec": {"replicas": 4}}
    reply = await api("PUT", api.at(DEPLOYMENTS, "web", "scale"), body)

    assert (reply.code, reply.reason) == (409, "Conflict")


async def test_a_scale_below_zero_is_rejected(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment())

    reply = await api.patch(api.at(DEPLOYMENTS, "web", "scale"), {"spec": {"replicas": -1}})

    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.causes == [("spec.replicas", "FieldValueInvalid")]
    assert reply.message.startswith('Scale.autoscaling "web" is invalid: spec.replicas')


async def test_the_scale_of_a_missing_object_is_404(api: RawClient) -> None:
    reply = await api.get(api.at(DEPLOYMENTS, "nope", "scale"))

    assert (reply.code, reply.reason) == (404, "NotFound")


async def test_a_scale_accepts_json_patches(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment())

    operation = {"op": "replace", "path": "/spec/replicas", "value": 6}
    reply = await api.patch(api.at(DEPLOYMENTS, "web", "scale"), [operation], JSON_PATCH)

    assert reply.spec == {"replicas": 6}


async def test_a_dry_scale_scales_nothing(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment())
    path = api.at(DEPLOYMENTS, "web", "scale")

    await api.patch(path, {"spec": {"replicas": 6}}, dryRun="All")

    assert (await api.get(path)).spec == {"replicas": 1}


# --- eviction


def eviction(name: str = "web", **more: Any) -> Object:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, **more}


async def running(api: RawClient) -> None:
    """A pod that counts as healthy for a budget."""
    await api.create(api.at("pods"), pod(app="web"))
    ready = {"type": "Ready", "status": "True"}
    status = {"status": {"phase": "Running", "conditions": [ready]}}
    await api.patch(api.at("pods", "web", "status"), status, STRATEGIC)


async def budget(api: RawClient, *, allowed: int) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    path = "policy/v1/poddisruptionbudgets"
    created = await api.create(api.at(path), {"metadata": {"name": "some"}, "spec": spec})
    status = {
        "observedGeneration": created.meta["generation"],
        "disruptionsAllowed": allowed,
        "currentHealthy": 1 + allowed,
        "desiredHealthy": 1,
        "expectedPods": 1 + allowed,
    }
    await api.patch(api.at(path, "some", "status"), {"status": status})


async def test_an_eviction_without_a_budget_deletes_the_pod(api: RawClient) -> None:
    await running(api)

    reply = await api("POST", api.at("pods", "web", "eviction"), eviction())

    assert (reply.code, reply.body["kind"], reply.body["status"]) == (201, "Status", "Success")
    assert (await api.get(api.at("pods", "web"))).code == 404


async def test_an_exhausted_budget_rejects_the_eviction(api: RawClient) -> None:
    await running(api)
    await budget(api, allowed=0)

    reply = await api("POST", api.at("pods", "web", "eviction"), eviction())

    assert (reply.code, reply.reason) == (429, "TooManyRequests")
    assert reply.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert reply.details["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget some needs 1 healthy pods and has 1 currently",
        }
    ]
    assert (await api.get(api.at("pods", "web"))).code == 200


async def test_an_eviction_decrements_the_budget(api: RawClient) -> None:
    await running(api)
    await budget(api, allowed=1)

    reply = await api("POST", api.at("pods", "web", "eviction"), eviction())

    assert reply.code == 201
    status = (await api.get(api.at("policy/v1/poddisruptionbudgets", "some"))).body["status"]
    assert status["disruptionsAllowed"] == 0
    assert "web" in status["disruptedPods"]


async def test_a_budget_without_a_status_rejects_the_eviction(api: RawClient) -> None:
    await running(api)
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    path = "policy/v1/poddisruptionbudgets"
    await api.create(api.at(path), {"metadata": {"name": "some"}, "spec": spec})

    reply = await api("POST", api.at("pods", "web", "eviction"), eviction())

    assert (reply.code, reply.reason) == (429, "TooManyRequests")
    assert reply.details["retryAfterSeconds"] == 10


async def test_a_pending_pod_is_evicted_regardless_of_the_budget(api: RawClient) -> None:
    await api.create(api.at("pods"), pod(app="web"))
    await budget(api, allowed=0)

    reply = await api("POST", api.at("pods", "web", "eviction"), eviction())

    assert reply.code == 201


async def test_two_budgets_for_one_pod_are_an_error(api: RawClient) -> None:
    await running(api)
    for name in ("one", "two"):
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
        body = {"metadata": {"name": name}, "spec": spec}
        await api.create(api.at("policy/v1/poddisruptionbudgets"), body)

    reply = await api("POST", api.at("pods", "web", "eviction"), eviction())

    assert reply.code == 500
    assert "does not support" in reply.message or "more than one" in reply.message


async def test_an_eviction_of_a_missing_pod_is_404(api: RawClient) -> None:
    reply = await api("POST", api.at("pods", "nope", "eviction"), eviction("nope"))

    assert (reply.code, reply.reason) == (404, "NotFound")


async def test_a_dry_eviction_deletes_nothing(api: RawClient) -> None:
    await running(api)

    reply = await api(
        "POST", api.at("pods", "web", "eviction"), eviction(), query={"dryRun": "All"}
    )

    assert reply.code == 201
    assert (await api.get(api.at("pods", "web"))).code == 200


# --- binding and the other subresources of a pod


def binding(node: str = "node-1") -> Object:
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": target}


async def test_a_binding_sets_the_node_of_a_pod(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())

    reply = await api("POST", api.at("pods", "web", "binding"), binding())

    assert (reply.code, reply.body["status"]) == (201, "Success")
    found = await api.get(api.at("pods", "web"))
    assert found.spec["nodeName"] == "node-1"
    kinds = {each["type"]: each["status"] for each in found.body["status"]["conditions"]}
    assert kinds["PodScheduled"] == "True"


async def test_a_pod_is_bound_once(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())
    await api("POST", api.at("pods", "web", "binding"), binding())

    reply = await api("POST", api.at("pods", "web", "binding"), binding("node-2"))

    assert (reply.code, reply.reason) == (409, "Conflict")
    assert 'pod web is already assigned to node "node-1"' in reply.message


async def test_the_log_of_an_unscheduled_pod_is_rejected_or_empty(api: RawClient) -> None:
    reply = await api.get(api.at("pods", "nope", "log"))

    assert (reply.code, reply.reason) == (404, "NotFound")


async def test_the_log_of_a_missing_container_is_400(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())

    reply = await api.get(api.at("pods", "web", "log"), container="other")

    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert reply.message == "container other is not valid for pod web"


async def test_the_log_of_several_containers_needs_a_name(api: RawClient) -> None:
    body = pod()
    body["spec"]["containers"].append({"name": "side", "image": "s:1"})
    await api.create(api.at("pods"), body)

    reply = await api.get(api.at("pods", "web", "log"))

    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert "a container name must be specified for pod web" in reply.message


async def test_an_ephemeral_container_is_added_at_its_own_path(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())
    patch = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "d:1"}]}}

    direct = await api.patch(api.at("pods", "web"), patch, STRATEGIC)
    reply = await api.patch(api.at("pods", "web", "ephemeralcontainers"), patch, STRATEGIC)

    assert direct.code == 422
    assert reply.code == 200
    assert reply.spec["ephemeralContainers"][0]["name"] == "debug"


async def test_an_ephemeral_container_cannot_be_removed(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())
    path = api.at("pods", "web", "ephemeralcontainers")
    patch = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "d:1"}]}}
    await api.patch(path, patch, STRATEGIC)

    reply = await api.patch(path, {"spec": {"ephemeralContainers": []}})

    assert (reply.code, reply.reason) == (422, "Invalid")


async def test_resources_of_a_running_pod_are_changed_at_their_own_path(api: RawClient) -> None:
    body = pod()
    body["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1"},
        "limits": {"cpu": "2"},
    }
    await api.create(api.at("pods"), body)
    wanted = {"name": "main", "resources": {"requests": {"cpu": "1500m"}}}

    reply = await api.patch(
        api.at("pods", "web", "resize"), {"spec": {"containers": [wanted]}}, STRATEGIC
    )

    assert reply.code == 200
    assert reply.spec["containers"][0]["resources"]["requests"] == {"cpu": "1500m"}


async def test_the_finalizers_of_a_namespace_are_changed_at_their_own_path(api: RawClient) -> None:
    name = f"{api.namespace}-held"
    created = await api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    body = {**created.body, "spec": {"finalizers": ["kubernetes", "example.com/hold"]}}

    reply = await api("PUT", f"/api/v1/namespaces/{name}/finalize", body)

    assert reply.code == 200
    assert reply.spec["finalizers"] == ["kubernetes", "example.com/hold"]


async def test_a_signing_request_is_approved_at_its_own_path(api: RawClient) -> None:
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    body = {
        "metadata": {"generateName": "conformance-"},
        "spec": {
            "request": REQUEST,
            "signerName": "example.com/signer",
            "usages": ["client auth"],
        },
    }
    created = await api.create(path, body)
    name = created.meta["name"]
    assert created.spec["username"] == "admin"
    condition = {"type": "Approved", "status": "True", "reason": "Test", "message": "so"}
    approved = {**created.body, "status": {"conditions": [condition]}}

    reply = await api("PUT", f"{path}/{name}/approval", approved)

    assert reply.code == 200
    dated = reply.body["status"]["conditions"][0]
    assert dated["type"] == "Approved"
    assert dated["lastUpdateTime"] == dated["lastTransitionTime"]


# A request for CN=conformance, signed by a discarded key.
REQUEST = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIUU1IZ0NBUUF3RmpFVU1CSUdBMVVF"
    "QXd3TFkyOXVabTl5YldGdVkyVXdXVEFUQmdjcWhrak9QUUlCQmdncQpoa2pPUFFNQkJ3TkNBQVRUWHU4"
    "MldQc2ZSMHFvbjd0ZDVWM2VYMzNUVjZZTG8xUWlkZitsaTlUc1p5LzFKcUZNCk92a0ZFWVdlTkVWN05j"
    "TnJxdHBiWEljYUFlWmkyMnhRTjY1eG9BQXdDZ1lJS29aSXpqMEVBd0lEU0FBd1JRSWcKRzZWQmxCbHI4"
    "L1Z0M3psRm1xdHF3bHYzdXB2SG5jZFh3c0NsdmJwMW9vOENJUURtc05TazdaM3drVGhoWlRVcAo4LzI1"
    "VjBxZkNmR1QwZFVyelBjV0tlaFdPQT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="
)


async def test_the_error_of_an_ambiguous_container_lists_all_containers(api: RawClient) -> None:
    body = pod()
    body["spec"]["initContainers"] = [{"name": "first", "image": "nginx:1"}]
    body["spec"]["containers"].append({"name": "second", "image": "nginx:1"})
    await api.create(api.at("pods"), body)

    reply = await api.get(api.at("pods", "web", "log"))

    assert reply.code == 400
    assert "choose one of: [first main second]" in reply.message
