"""The whole simulation: services, nodes, restarts, and its number of requests."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.clients import APIClient
from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Node, Pod, Service
from kubeloop.wire.discovery.v1 import EndpointSlice
from kubeloop.wire.policy.v1 import PodDisruptionBudget
from kubeloop_testing import APIServer, Workloads
from kubeloop_testing.workloads.pods import is_ready
from tests.support.clocks import FastClock

from .objects import DELAY, WaitUntil, a_deployment, a_template, roll_out


async def test_a_service_has_the_addresses_of_its_pods(
    client: Client, wait_until: WaitUntil
) -> None:
    ports = [{"port": 8080, "targetPort": "http"}]
    spec = {"selector": {"app": "web"}, "ports": ports}
    await client.resource(Service).create(
        Service.from_dict({"metadata": {"name": "web"}, "spec": spec})
    )
    await roll_out(client, wait_until, a_deployment(2))

    async def is_complete() -> bool:
        slices = list(
            await client.resource(EndpointSlice).list(selector="kubernetes.io/service-name=web")
        )
        ready = [each.conditions.ready for each in slices[0].endpoints] if slices else []
        return ready == [True, True]

    await wait_until(is_complete)

    (found,) = await client.resource(EndpointSlice).list(selector="kubernetes.io/service-name=web")
    pods = await client.resource(Pod).list()
    assert {each.addresses[0] for each in found.endpoints} == {pod.status.pod_ip for pod in pods}
    assert [port.port for port in found.ports] == [80]


@pytest.mark.parametrize(
    ("rule", "numbers"),
    [
        ({"maxUnavailable": 1}, (4, 3, 4, 1)),
        ({"maxUnavailable": "30%"}, (4, 2, 4, 2)),  # rounded up
        ({"minAvailable": 3}, (4, 3, 4, 1)),
        ({"minAvailable": "30%"}, (4, 2, 4, 2)),
        ({"minAvailable": 9}, (4, 9, 4, 0)),
    ],
    ids=str,
)
async def test_a_disruption_budget_counts_as_in_kubernetes(
    client: Client, wait_until: WaitUntil, rule: dict[str, Any], numbers: tuple[int, ...]
) -> None:
    budgets = client.resource(PodDisruptionBudget)
    spec = {"selector": {"matchLabels": {"app": "web"}}, **rule}
    await budgets.create(PodDisruptionBudget.from_dict({"metadata": {"name": "web"}, "spec": spec}))
    await roll_out(client, wait_until, a_deployment(4))

    async def is_counted() -> bool:
        return (await budgets.get("web")).status.current_healthy == 4

    await wait_until(is_counted)

    status = (await budgets.get("web")).status
    assert status.observed_generation == 1
    assert numbers == (
        status.expected_pods, status.desired_healthy,
        status.current_healthy, status.disruptions_allowed,
    )  # fmt: skip


async def test_a_drain_respects_a_disruption_budget(server: APIServer) -> None:
    client = server.client()
    spec = {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}
    budget = PodDisruptionBudget.from_dict({"metadata": {"name": "web"}, "spec": spec})
    least: list[int] = []
    async with Workloads(server.config, delay=0.001, nodes=2):
        await client.resource(PodDisruptionBudget).create(budget)
        await client.resource(Deployment).create(a_deployment(4))
        await client.resource(Deployment).rollout("web").wait(timeout=20)
        await client.resource(PodDisruptionBudget).wait_for(
            "web", jsonpath="{.status.disruptionsAllowed}=1", timeout=20
        )

        async def report(step: object) -> None:
            pods = await client.resource(Pod).list()
            least.append(sum(is_ready(pod) for pod in pods))

        hasty = APIClient(server.config, clock=FastClock())
        async with hasty:
            await hasty.core_v1.nodes().drain("node-1", timeout=600, progress=report)

        left = await client.resource(Pod).list(field_selector="spec.nodeName=node-1")
    assert left.items == []
    assert min(least) >= 3


async def test_a_pod_that_fits_no_node_waits_for_one(client: Client, wait_until: WaitUntil) -> None:
    pods = client.resource(Pod)
    spec = {**a_template()["spec"], "nodeSelector": {"disk": "fast"}}
    await pods.create(Pod.from_dict({"metadata": {"name": "web"}, "spec": spec}))
    waiting = await pods.wait_for("web", jsonpath="{.status.conditions[0].reason}=Unschedulable")

    node = Node.from_dict({"metadata": {"name": "fast", "labels": {"disk": "fast"}}})
    await client.resource(Node).create(node)
    bound = await pods.wait_for("web", jsonpath="{.spec.nodeName}")

    assert waiting.status.phase == "Pending"
    assert bound.spec.node_name == "fast"


async def test_the_simulation_recovers_from_a_restart_of_the_server(
    server: APIServer, client: Client, wait_until: WaitUntil
) -> None:
    await roll_out(client, wait_until, a_deployment(2))
    await server.restart()

    deployment = await roll_out(client, wait_until, a_deployment(3))

    assert deployment.status.available_replicas == 3


async def test_an_idle_simulation_sends_no_requests(
    server: APIServer,
    client: Client,
    wait_until: WaitUntil,
    clock: ManualClock,
    workloads: Workloads,
) -> None:
    await roll_out(client, wait_until, a_deployment(3))
    await clock.advance(DELAY)
    before = len(server.requests), workloads.stats()

    await clock.advance(DELAY)

    assert (len(server.requests), workloads.stats()) == before
    assert before[1].failures == 0


async def test_many_pods_cost_a_few_requests_each(server: APIServer, wait_until: WaitUntil) -> None:
    async with server.client() as client:
        before = len(server.requests)

        await roll_out(client, wait_until, a_deployment(100))

    writes = [
        seen for seen in server.requests[before:] if seen.verb not in {"get", "list", "watch"}
    ]
    of_pods = [seen for seen in writes if seen.resource == "pods"]
    assert len(of_pods) == 4 * 100  # created, bound, starting, running
    assert len(writes) - len(of_pods) <= 100  # of the replica set and the deployment


@pytest.mark.parametrize(("nodes", "delay"), [(-1, 0.1), (3, -0.1), (3, float("nan"))])
def test_negative_options_are_rejected(server: APIServer, nodes: int, delay: float) -> None:
    with pytest.raises(InvalidArgument):
        Workloads(server.config, nodes=nodes, delay=delay)


async def test_the_fixture_runs_pods(kube_client: Client, kube_workloads: None) -> None:
    at = kube_client.resource(Deployment)
    await at.create(a_deployment(1))

    deployment = await at.wait_for("web", condition="Available")

    assert deployment.status.available_replicas == 1


async def test_a_deleted_pod_is_not_ready_before_it_goes(
    client: Client, wait_until: WaitUntil, clock: ManualClock
) -> None:
    pods = client.resource(Pod)
    await pods.create(Pod.from_dict({"metadata": {"name": "web"}, "spec": a_template()["spec"]}))

    async def runs() -> bool:
        return is_ready(await pods.get("web"))

    async def is_gone() -> bool:
        return not list(await pods.list())

    await wait_until(runs)
    seen: list[tuple[str, bool, bool]] = []
    version = (await pods.get("web")).metadata.resource_version
    await pods.delete("web")
    await clock.advance(DELAY / 2)
    assert is_ready(await pods.get("web"))  # its containers still end their work
    await wait_until(is_gone)
    async for event in pods.watch(resource_version=version):
        found = event.object
        is_ended = found.status.container_statuses[0].state.terminated is not None
        seen.append((event.type, is_ready(found), is_ended))
        if event.type == "DELETED":
            break

    # The third shortens the grace period to zero, as with kube-apiserver.
    ended = [("MODIFIED", False, True), ("MODIFIED", False, True), ("DELETED", False, True)]
    assert seen == [("MODIFIED", True, False), *ended]
