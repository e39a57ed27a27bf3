"""Deployments roll out and back within the limits of their strategy."""

from __future__ import annotations

from kubeloop.cache import Change
from kubeloop.kit import ManualClock
from kubeloop.meta import is_condition_true
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import Deployment, ReplicaSet
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import Workloads
from kubeloop_testing.workloads import OUTCOME

from .objects import DELAY, WaitUntil, a_deployment, a_template, is_rolled_out, roll_out

REVISION = "deployment.kubernetes.io/revision"


async def test_a_deployment_runs_pods_on_all_nodes(client: Client, wait_until: WaitUntil) -> None:
    deployment = await roll_out(client, wait_until, a_deployment(6))

    pods = list(await client.resource(Pod).list(selector="app=web"))
    assert sorted(str(pod.spec.node_name) for pod in pods) == sorted(
        ["node-1", "node-2", "node-3"] * 2
    )
    assert {pod.status.phase for pod in pods} == {"Running"}
    assert all(is_condition_true(pod.status.conditions, "Ready") for pod in pods)
    assert len({pod.status.pod_ip for pod in pods}) == 6
    (replicas,) = await client.resource(ReplicaSet).list()
    assert {pod.metadata.labels["pod-template-hash"] for pod in pods} == {
        replicas.metadata.name.removeprefix("web-")
    }
    conditions = {each.type: (each.status, each.reason) for each in deployment.status.conditions}
    assert conditions == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }


async def test_a_pod_becomes_ready_after_the_delay(
    client: Client, clock: ManualClock, workloads: Workloads
) -> None:
    pods = client.resource(Pod)
    await pods.create(Pod.from_dict({"metadata": {"name": "web"}, "spec": a_template()["spec"]}))
    created = await pods.wait_for("web", jsonpath="{.status.startTime}")
    await clock.advance(DELAY - 0.1)
    early = await pods.get("web")

    await clock.advance(0.1)
    running = await pods.wait_for("web", condition="Ready")

    assert created.status.container_statuses[0].to_dict()["state"]["waiting"] == {
        "reason": "ContainerCreating"
    }
    assert early.status.phase == "Pending"
    assert running.status.phase == "Running"


async def test_an_update_and_its_undo_stay_within_the_limits_of_the_strategy(
    client: Client, wait_until: WaitUntil
) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    await roll_out(client, wait_until, a_deployment(4, strategy=strategy))
    sizes: list[tuple[int, int]] = []

    async with client.informer(Deployment) as informer:

        def record(change: Change[Deployment]) -> None:
            assert change.new is not None
            status = change.new.status
            sizes.append((status.replicas or 0, status.available_replicas or 0))

        informer.add_handler(on_change=record)
        other = a_deployment(4, strategy=strategy, template=a_template(version="2"))
        await roll_out(client, wait_until, other)
    undone = await roll_out(client, wait_until, a_deployment(4, strategy=strategy))

    assert all(available >= 3 and replicas <= 5 for replicas, available in sizes)
    sets = await client.resource(ReplicaSet).list()
    assert {each.metadata.annotations[REVISION]: each.spec.replicas for each in sets} == {
        "2": 0,
        "3": 4,
    }
    assert undone.metadata.annotations[REVISION] == "3"


async def test_recreate_never_runs_two_templates_at_once(
    client: Client, wait_until: WaitUntil
) -> None:
    await roll_out(client, wait_until, a_deployment(2, strategy={"type": "Recreate"}))
    seen: list[set[str]] = []

    async def together() -> None:
        pods = await client.resource(Pod).list()
        seen.append({pod.metadata.labels["pod-template-hash"] for pod in pods})

    new = a_deployment(2, strategy={"type": "Recreate"}, template=a_template(version="2"))
    at = client.resource(Deployment)
    await at.apply(new, force=True)

    async def is_there() -> bool:
        await together()
        return is_rolled_out(await at.get("web"))

    await wait_until(is_there)

    assert all(len(hashes) <= 1 for hashes in seen)


async def test_a_stalled_rollout_is_reported_and_keeps_the_old_pods(
    client: Client, wait_until: WaitUntil
) -> None:
    await roll_out(client, wait_until, a_deployment(4))
    bad = a_deployment(4, template=a_template(**{OUTCOME: "no-image"}), progressDeadlineSeconds=60)
    at = client.resource(Deployment)
    await at.apply(bad, force=True)

    async def is_reported() -> bool:
        conditions = (await at.get("web")).status.conditions
        return any(each.reason == "ProgressDeadlineExceeded" for each in conditions)

    await wait_until(is_reported)

    assert (await at.get("web")).status.available_replicas == 3
    assert is_condition_true((await at.get("web")).status.conditions, "Available")  # type: ignore[arg-type] # optional on the wire


async def test_scaling_down_deletes_pods(client: Client, wait_until: WaitUntil) -> None:
    await roll_out(client, wait_until, a_deployment(5))
    await client.resource(Deployment).scale.set("web", 2)

    async def are_gone() -> bool:
        return len(await client.resource(Pod).list()) == 2

    await wait_until(are_gone)

    (replicas,) = await client.resource(ReplicaSet).list()
    assert replicas.spec.replicas == 2


async def test_dependents_of_a_deployment_are_deleted_with_it(
    client: Client, wait_until: WaitUntil
) -> None:
    await roll_out(client, wait_until, a_deployment(2))
    await client.resource(Deployment).delete("web")

    async def are_gone() -> bool:
        return not list(await client.resource(Pod).list())

    await wait_until(are_gone)

    assert list(await client.resource(ReplicaSet).list()) == []


async def test_a_paused_deployment_keeps_its_pods(client: Client, wait_until: WaitUntil) -> None:
    await roll_out(client, wait_until, a_deployment(2))
    at = client.resource(Deployment)
    await at.apply(a_deployment(3, template=a_template(version="2"), paused=True), force=True)

    async def is_scaled() -> bool:
        return (await at.get("web")).status.available_replicas == 3

    await wait_until(is_scaled)

    assert len(await client.resource(ReplicaSet).list()) == 1
