"""Stateful sets, daemon sets and jobs follow the rules of their kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from kubeloop.meta import is_condition_true
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import DaemonSet, StatefulSet
from kubeloop.wire.batch.v1 import Job
from kubeloop.wire.core.v1 import Node, Pod
from kubeloop_testing.workloads import OUTCOME

from .objects import WaitUntil, a_template


def a_stateful_set(replicas: int, **annotations: str) -> StatefulSet:
    spec = {
        "replicas": replicas,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "web"}},
        "template": a_template(**annotations),
    }
    return StatefulSet.from_dict({"metadata": {"name": "db"}, "spec": spec})


async def test_a_stateful_set_creates_and_replaces_its_pods_in_order(
    client: Client, wait_until: WaitUntil
) -> None:
    at = client.resource(StatefulSet)
    created: list[str] = []
    async with client.informer(Pod) as informer:
        informer.add_handler(on_add=lambda pod, **_: created.append(pod.metadata.name))
        await at.apply(a_stateful_set(3))

        async def is_there() -> bool:
            found = await at.get("db")
            return (
                found.status.observed_generation == found.metadata.generation
                and found.status.ready_replicas == found.spec.replicas == found.status.replicas
                and found.status.current_revision == found.status.update_revision
            )

        await wait_until(is_there)
        await at.apply(a_stateful_set(3, version="2"), force=True)
        await wait_until(is_there)
        await at.apply(a_stateful_set(1, version="2"), force=True)
        await wait_until(is_there)

    assert created == ["db-0", "db-1", "db-2", "db-2", "db-1", "db-0"]


def a_daemon_set(**annotations: str) -> DaemonSet:
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": a_template(**annotations)}
    return DaemonSet.from_dict({"metadata": {"name": "agent"}, "spec": spec})


async def test_a_daemon_set_follows_the_nodes(client: Client, wait_until: WaitUntil) -> None:
    at = client.resource(DaemonSet)
    await at.apply(a_daemon_set())

    def has(count: int) -> Callable[[], Awaitable[bool]]:
        async def is_scheduled() -> bool:
            status = (await at.get("agent")).status
            return status.number_available == count == status.desired_number_scheduled

        return is_scheduled

    await wait_until(has(3))
    await client.resource(Node).create(Node.from_dict({"metadata": {"name": "big"}}))
    await wait_until(has(4))
    await client.resource(Node).delete("node-1")
    await wait_until(has(3))

    pods = await client.resource(Pod).list()
    assert sorted(str(pod.spec.node_name) for pod in pods) == ["big", "node-2", "node-3"]


async def test_a_daemon_set_replaces_one_pod_at_a_time(
    client: Client, wait_until: WaitUntil
) -> None:
    at = client.resource(DaemonSet)
    await at.apply(a_daemon_set())
    ready: list[int] = []

    async def is_there() -> bool:
        found = await at.get("agent")
        ready.append(found.status.number_ready)
        return (
            found.status.observed_generation == found.metadata.generation
            and found.status.updated_number_scheduled == 3
            and found.status.number_available == 3
        )

    await wait_until(is_there)
    ready.clear()
    await at.apply(a_daemon_set(version="2"), force=True)
    await wait_until(is_there)

    assert min(ready) == 2


# --- jobs


def a_job(*, outcome: str = "", **more: Any) -> Job:
    template = a_template(**({OUTCOME: outcome} if outcome else {}))
    template["spec"]["restartPolicy"] = "Never"
    return Job.from_dict({"metadata": {"name": "once"}, "spec": {"template": template, **more}})


async def test_a_job_completes_with_at_most_parallelism_active_pods(
    client: Client, wait_until: WaitUntil
) -> None:
    at = client.resource(Job)
    await at.create(a_job(completions=5, parallelism=2))
    active: list[int] = []

    async def is_finished() -> bool:
        status = (await at.get("once")).status
        active.append(status.active or 0)
        return is_condition_true(status.conditions, "Complete")

    await wait_until(is_finished)

    assert max(active) == 2
    assert (await at.get("once")).status.succeeded == 5
    assert len(await client.resource(Pod).list()) == 5


async def test_a_job_whose_pods_fail_is_failed(client: Client, wait_until: WaitUntil) -> None:
    at = client.resource(Job)
    await at.create(a_job(outcome="fail", backoffLimit=2))

    async def is_finished() -> bool:
        return is_condition_true((await at.get("once")).status.conditions, "Failed")

    await wait_until(is_finished)

    job = await at.get("once")
    assert (job.status.failed, job.status.active) == (3, None)
    assert job.status.conditions[-1].reason == "BackoffLimitExceeded"
