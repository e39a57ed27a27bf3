"""Cordon and drain: what goes, and what happens to it (`test_kubectl_verbs` asks kubectl)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.clients import APIClient, DrainFailed, DrainRefused, DrainStep, WaitTimeout
from kubeloop.clients.drain import PodDecision, decide_pod
from kubeloop.config import ClusterConfig
from kubeloop.errors import NotFound, TooManyRequests
from kubeloop.meta import ObjectKey
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Node, Pod
from kubeloop.wire.policy.v1 import PodDisruptionBudget
from kubeloop_testing import SeenRequest, Workloads
from kubeloop_testing.server.service import Service
from kubeloop_testing.server.statuses import Cause, forbidden
from tests.support.clocks import FastClock

from .test_rollout import workload

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def owned_by(kind: str) -> list[dict[str, Any]]:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": "owner", "uid": "1"}
    return [{**reference, "controller": True}]


def a_pod(
    *,
    owner: str = "",
    local: bool = False,
    static: bool = False,
    phase: str = "Running",
    deleted: int | None = None,
) -> Pod:
    metadata: dict[str, Any] = {"name": "web", "namespace": "shop"}
    if owner:
        metadata["ownerReferences"] = owned_by(owner)
    if static:
        metadata["annotations"] = {"kubernetes.io/config.mirror": "1"}
    if deleted is not None:
        at = NOW - timedelta(seconds=deleted)
        metadata["deletionTimestamp"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    volumes = [{"name": "tmp", "emptyDir": {}}] if local else []
    return Pod.from_dict(
        {"metadata": metadata, "spec": {"volumes": volumes}, "status": {"phase": phase}}
    )


POD = st.builds(
    a_pod,
    owner=st.sampled_from(["", "ReplicaSet", "DaemonSet"]),
    local=st.booleans(),
    static=st.booleans(),
    phase=st.sampled_from(["Running", "Succeeded"]),
    deleted=st.none() | st.integers(0, 100),
)
FLAGS = st.fixed_dictionaries(
    {
        "force": st.booleans(),
        "ignore_daemonsets": st.booleans(),
        "delete_emptydir_data": st.booleans(),
        "skip_wait_for_delete_timeout": st.sampled_from([0, 50]),
    }
)


@pytest.mark.parametrize(
    ("pod", "options", "expected"),
    [
        (a_pod(owner="ReplicaSet"), {}, PodDecision("evict")),
        (a_pod(), {}, PodDecision("refuse", "Pods that declare no controller")),
        (
            a_pod(),
            {"force": True},
            PodDecision("evict", "deleting Pods that declare no controller"),
        ),
        (a_pod(phase="Succeeded", local=True), {}, PodDecision("evict")),
        (a_pod(owner="DaemonSet"), {}, PodDecision("refuse", "DaemonSet-managed Pods")),
        (
            a_pod(owner="DaemonSet"),
            {"ignore_daemonsets": True},
            PodDecision("ignore", "ignoring DaemonSet-managed Pods"),
        ),
        (a_pod(owner="DaemonSet", phase="Failed"), {}, PodDecision("evict")),
        (
            a_pod(owner="DaemonSet"),
            {"missing_daemon_set": "not found", "ignore_daemonsets": True},
            PodDecision("refuse", "not found"),
        ),
        (
            a_pod(owner="DaemonSet"),
            {"missing_daemon_set": "not found", "force": True},
            PodDecision("evict", "not found"),
        ),
        (a_pod(static=True), {}, PodDecision("ignore")),
        (
            a_pod(owner="ReplicaSet", local=True),
            {"force": True},
            PodDecision("refuse", "Pods with local storage"),
        ),
        (
            a_pod(owner="ReplicaSet", local=True),
            {"delete_emptydir_data": True},
            PodDecision("evict", "deleting Pods with local storage"),
        ),
        (a_pod(deleted=51), {"skip_wait_for_delete_timeout": 50}, PodDecision("ignore")),
        (
            a_pod(deleted=50),
            {"skip_wait_for_delete_timeout": 50},
            PodDecision("refuse", "Pods that declare no controller"),
        ),
    ],
)
def test_a_pod_is_evicted_ignored_or_refused_as_by_kubectl(
    pod: Pod, options: dict[str, Any], expected: PodDecision
) -> None:
    assert decide_pod(pod, now=NOW, **options) == expected


@given(POD, FLAGS, st.sampled_from(["force", "ignore_daemonsets", "delete_emptydir_data"]))
def test_an_option_never_forbids_what_is_allowed_without_it(
    pod: Pod, options: dict[str, Any], more: str
) -> None:
    without = decide_pod(pod, now=NOW, **{**options, more: False})

    with_it = decide_pod(pod, now=NOW, **{**options, more: True})

    assert without.action in {"refuse", with_it.action}


@given(POD, FLAGS)
def test_a_static_pod_is_never_evicted_and_all_options_together_refuse_nothing(
    pod: Pod, options: dict[str, Any]
) -> None:
    everything = {"force": True, "ignore_daemonsets": True, "delete_emptydir_data": True}

    if "kubernetes.io/config.mirror" in pod.metadata.annotations:
        assert decide_pod(pod, now=NOW, **options).action != "evict"
    assert decide_pod(pod, now=NOW, **{**options, **everything}).action != "refuse"


# --- on a server


@pytest.fixture
async def workloads(server: Service) -> AsyncIterator[None]:
    config = ClusterConfig(server=server.url, namespace="default")
    async with Workloads(config, delay=0.005, nodes=2):
        yield


async def on_node(
    client: APIClient, name: str, node: str = "node-1", *, owner: str = "", **metadata: Any
) -> Pod:
    if owner:  # one that exists, or the garbage collector would delete the pod
        owners = client.resource("apps/v1", owner)
        found = await owners.get_or_none("owner") or await owners.create(
            {"apiVersion": "apps/v1", "kind": owner, **workload("owner", serviceName="owner")}
            if owner == "StatefulSet"
            else {"apiVersion": "apps/v1", "kind": owner, **workload("owner")}
        )
        metadata["ownerReferences"] = [{**owned_by(owner)[0], "uid": found["metadata"]["uid"]}]
    created = await client.core_v1.pods().create(
        Pod.from_dict(
            {
                "metadata": {"name": name, **metadata},
                "spec": {
                    "nodeName": node,
                    "containers": [{"name": "main", "image": "app:1"}],
                    "terminationGracePeriodSeconds": 0,
                },
            }
        )
    )
    change = {"status": {"phase": "Running"}}
    return await client.core_v1.pods().status.patch(created.metadata.name, change, type="merge")


async def a_node(client: APIClient) -> None:
    await client.core_v1.nodes().create(Node.from_dict({"metadata": {"name": "node-1"}}))


async def a_budget(client: APIClient, allowed: int) -> None:
    budgets = client.policy_v1.pod_disruption_budgets()
    await budgets.create(
        PodDisruptionBudget.from_dict(
            {
                "metadata": {"name": "web"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
            }
        )
    )
    await set_allowed(client, allowed)


async def set_allowed(client: APIClient, allowed: int) -> None:
    status = {"observedGeneration": 1, "disruptionsAllowed": allowed}
    budgets = client.policy_v1.pod_disruption_budgets()
    await budgets.status.patch("web", {"status": status}, type="merge")


async def test_a_node_is_cordoned_and_uncordoned_once(client: APIClient) -> None:
    await a_node(client)
    nodes = client.core_v1.nodes()

    assert await nodes.cordon("node-1")
    assert not await nodes.cordon("node-1")
    assert (await nodes.get("node-1")).spec.unschedulable
    assert await nodes.uncordon("node-1", dry_run=True)
    assert await nodes.uncordon("node-1")
    assert not await nodes.uncordon("node-1")


@pytest.mark.usefixtures("workloads")
async def test_the_pods_of_a_drained_node_move_to_another_one(client: APIClient) -> None:
    await client.apps_v1.deployments().create(Deployment.from_dict(workload(replicas=4)))
    await client.apps_v1.deployments().rollout("web").wait(timeout=5)

    plan = await client.core_v1.nodes().drain("node-1", timeout=5)
    await client.apps_v1.deployments().rollout("web").wait(timeout=5)

    assert len(plan.evict) == 2
    pods = await client.core_v1.pods().list(selector="app=web")
    assert {pod.spec.node_name for pod in pods if pod.status.phase == "Running"} == {"node-2"}
    assert (await client.core_v1.nodes().get("node-1")).spec.unschedulable


async def test_pods_that_no_option_allows_to_evict_refuse_the_drain(client: APIClient) -> None:
    await a_node(client)
    await on_node(client, "alone")
    await on_node(client, "managed", owner="ReplicaSet")

    with pytest.raises(DrainRefused) as error:
        await client.core_v1.nodes().drain("node-1")

    assert str(error.value) == (
        "drain node node-1: cannot delete Pods that declare no controller: default/alone"
        " (pass force=True)"
    )
    assert len(await client.core_v1.pods().list()) == 2


async def test_an_eviction_is_repeated_until_the_budget_allows_it(
    server: Service,
) -> None:
    config = ClusterConfig(server=server.url, namespace="default")
    async with APIClient(config, clock=FastClock()) as client:
        await a_node(client)
        await on_node(client, "web", labels={"app": "web"}, owner="ReplicaSet")
        await a_budget(client, 0)
        steps: list[DrainStep] = []

        async def allow(step: DrainStep) -> None:
            steps.append(step)
            if [each.action for each in steps].count("retrying") == 2:
                await set_allowed(client, 1)

        await client.core_v1.nodes().drain("node-1", progress=allow)

        assert [step.action for step in steps] == [
            "cordoned", "evicting", "retrying", "evicting", "retrying", "evicting", "evicted",
        ]  # fmt: skip
        assert "will retry after 5s" in str(steps[2])
        assert await client.core_v1.pods().get_or_none("web") is None


async def test_a_timeout_names_the_pods_that_are_left(client: APIClient) -> None:
    await a_node(client)
    await on_node(client, "web", labels={"app": "web"}, owner="ReplicaSet")
    await on_node(client, "other", owner="ReplicaSet")
    await a_budget(client, 0)

    with pytest.raises(DrainFailed, match="1 pod is left: pod default/web: global") as error:
        await client.core_v1.nodes().drain("node-1", timeout=1)

    (failure,) = error.value.errors.values()
    assert isinstance(failure, WaitTimeout)
    assert await client.core_v1.pods().get_or_none("other") is None


async def test_a_dry_run_changes_nothing_and_reports_a_budget_that_forbids_it(
    client: APIClient,
) -> None:
    await a_node(client)
    await on_node(client, "web", labels={"app": "web"}, owner="ReplicaSet")
    await a_budget(client, 0)

    with pytest.raises(DrainFailed) as error:
        await client.core_v1.nodes().drain("node-1", dry_run=True)
    await set_allowed(client, 1)
    plan = await client.core_v1.nodes().drain("node-1", dry_run=True)

    assert isinstance(error.value.errors[ObjectKey("default", "web")], TooManyRequests)
    assert [pod.metadata.name for pod in plan.evict] == ["web"]
    assert await client.core_v1.pods().exists("web")
    assert not (await client.core_v1.nodes().get("node-1")).spec.unschedulable


async def test_pods_can_be_deleted_without_regard_to_budgets(client: APIClient) -> None:
    await a_node(client)
    await on_node(client, "web", labels={"app": "web"}, owner="ReplicaSet")
    await a_budget(client, 0)

    await client.core_v1.nodes().drain("node-1", disable_eviction=True, grace_period=0, timeout=5)

    assert await client.core_v1.pods().get_or_none("web") is None


async def test_a_new_pod_of_the_same_name_is_not_evicted(
    client: APIClient, server: Service
) -> None:
    await a_node(client)
    await on_node(client, "web-0", owner="StatefulSet")

    async def replace(seen: SeenRequest) -> None:
        if seen.subresource == "eviction":
            server.faults.reactors.clear()
            await client.core_v1.pods().delete("web-0", grace_period=0)
            await on_node(client, "web-0", "node-2", owner="StatefulSet")

    server.faults.reactors.append(replace)

    await client.core_v1.nodes().drain("node-1", timeout=5)

    assert (await client.core_v1.pods().get("web-0")).spec.node_name == "node-2"


async def test_a_pod_of_a_terminating_namespace_is_awaited(
    server: Service,
) -> None:
    config = ClusterConfig(server=server.url, namespace="default")
    async with APIClient(config, clock=FastClock()) as client:
        await a_node(client)
        await on_node(client, "web", owner="ReplicaSet")
        refusals = 0

        def refuse(seen: SeenRequest) -> None:
            nonlocal refusals
            if seen.subresource == "eviction":
                refusals += 1
                why = Cause(reason="NamespaceTerminating", message="being terminated")
                raise forbidden("", "pods", "web", "because it is being terminated", causes=[why])

        server.faults.reactors.append(refuse)
        draining = asyncio.create_task(client.core_v1.nodes().drain("node-1", timeout=5))
        while refusals < 2:
            await asyncio.sleep(0)

        await client.core_v1.pods().delete("web", grace_period=0)

        assert len((await draining).evict) == 1


async def test_a_plan_selects_pods_and_names_orphans_of_daemon_sets(client: APIClient) -> None:
    await a_node(client)
    await on_node(
        client,
        "agent",
        labels={"app": "a"},
        ownerReferences=owned_by("DaemonSet"),
        finalizers=["example.com/keep"],  # or the garbage collector deletes it
    )
    await on_node(client, "web", labels={"app": "b"})
    nodes = client.core_v1.nodes()

    plan = await nodes.drain_plan("node-1", pod_selector="app=a", ignore_daemonsets=True)

    ((reason, pods),) = plan.refused.items()
    assert 'daemonsets.apps "owner" not found' in reason
    assert pods == (ObjectKey("default", "agent"),)
    with pytest.raises(DrainRefused):
        await nodes.drain("node-1", pod_selector="app=a", ignore_daemonsets=True)
    assert (await nodes.drain_plan("node-1", pod_selector="app=b", force=True)).warnings == (
        "deleting Pods that declare no controller: default/web",
    )


async def test_a_pod_that_does_not_end_is_skipped_on_request(server: Service) -> None:
    config = ClusterConfig(server=server.url, namespace="default")
    clock = FastClock()
    async with APIClient(config, clock=clock) as client:
        await a_node(client)
        await on_node(client, "web", owner="ReplicaSet", finalizers=["example.com/wait"])
        steps: list[str] = []
        real, clock.time = clock.time, lambda: real() + timedelta(seconds=10)

        await client.core_v1.nodes().drain(
            "node-1",
            skip_wait_for_delete_timeout=5,
            progress=lambda step: steps.append(step.action),
        )

        assert steps == ["cordoned", "evicting", "skipped"]


async def test_a_node_that_does_not_exist_is_an_error(client: APIClient) -> None:
    with pytest.raises(NotFound):
        await client.core_v1.nodes().drain("node-9")
