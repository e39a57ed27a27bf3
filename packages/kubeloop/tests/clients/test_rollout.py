"""Rollouts on an embedded server whose workloads are simulated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from kubeloop.clients import APIClient, RolloutFailed, RolloutStatus, WaitTimeout
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument, NotFound
from kubeloop.kit import ManualClock
from kubeloop.wire.apps.v1 import DaemonSet, Deployment, StatefulSet
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import SeenRequest, Workloads
from kubeloop_testing.server.service import Service
from kubeloop_testing.server.statuses import forbidden

from .conftest import a_pod

OUTCOME = "kubeloop.testing/outcome"
RESTARTED = "kubectl.kubernetes.io/restartedAt"


def workload(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "app:1"}]},
            },
            **spec,
        },
    }


def deployment(replicas: int = 2, **spec: Any) -> Deployment:
    return Deployment.from_dict(workload(replicas=replicas, **spec))


@pytest.fixture
async def workloads(server: Service) -> AsyncIterator[Workloads]:
    config = ClusterConfig(server=server.url, namespace="default")
    async with Workloads(config, delay=0.005, nodes=2) as running:
        yield running


@pytest.fixture
async def running(client: APIClient, workloads: Workloads) -> Deployment:
    """A deployment whose first rollout is complete."""
    created = await client.apps_v1.deployments().create(deployment())
    await client.apps_v1.deployments().rollout("web").wait(timeout=5)
    return created


async def break_image(client: APIClient) -> None:
    template = {"metadata": {"annotations": {OUTCOME: "no-image"}}}
    change = {"spec": {"template": template}}
    await client.apps_v1.deployments().patch("web", change, type="merge")


async def pod_names(client: APIClient) -> set[str]:
    """Without those that are terminating, which do not count as replicas any more."""
    pods = await client.core_v1.pods().list(selector="app=web")
    return {pod.metadata.name for pod in pods if pod.metadata.deletion_timestamp is None}


@pytest.mark.usefixtures("running")
async def test_a_restart_replaces_every_pod(client: APIClient) -> None:
    before = await pod_names(client)
    web = client.apps_v1.deployments().rollout("web")

    await web.restart()
    status = await web.wait(timeout=5)

    assert status.is_complete
    assert not before & await pod_names(client)
    template = (await client.apps_v1.deployments().get("web")).spec.template
    assert template.metadata.annotations[RESTARTED].endswith("Z")


@pytest.mark.usefixtures("running")
async def test_two_restarts_within_a_second_are_two(client: APIClient) -> None:
    deployments = client.apps_v1.deployments()

    await deployments.rollout("web").restart()
    first = await deployments.get("web")
    await deployments.rollout("web").restart()

    assert (await deployments.get("web")).metadata.generation > first.metadata.generation


@pytest.mark.usefixtures("running")
async def test_progress_is_reported_until_the_rollout_is_complete(client: APIClient) -> None:
    web = client.apps_v1.deployments().rollout("web")
    await web.restart()

    seen = [status async for status in web.progress(timeout=5)]

    assert [status.is_complete for status in seen] == [False] * (len(seen) - 1) + [True]
    assert len(seen) == len({str(status) + repr(status) for status in seen}) > 1
    assert seen[-1].message == 'deployment "web" successfully rolled out'


@pytest.mark.usefixtures("running")
async def test_a_wait_that_times_out_names_the_image_that_cannot_be_pulled(
    client: APIClient,
) -> None:
    await break_image(client)
    web = client.apps_v1.deployments().rollout("web")
    async with aclosing(web.progress()) as statuses:
        async for status in statuses:
            if status.problems:
                break

    with pytest.raises(WaitTimeout, match=r"pod web-\w+-\w+: main: ImagePullBackOff") as error:
        await web.wait(timeout=1)

    assert "ImagePullBackOff" in error.value.last_seen
    assert (await web.status()).problems[0].container == "main"


@pytest.mark.usefixtures("running")
async def test_problems_of_old_pods_are_not_those_of_the_rollout(client: APIClient) -> None:
    await break_image(client)
    web = client.apps_v1.deployments().rollout("web")
    async with aclosing(web.progress()) as statuses:
        async for status in statuses:
            if status.problems:
                break

    await web.undo()
    seen = [status async for status in web.progress(timeout=5)]

    assert all(not status.problems for status in seen if status.observed)


async def test_a_passed_deadline_fails_the_rollout(client: APIClient) -> None:
    deployments = client.apps_v1.deployments()
    created = await deployments.create(deployment(progressDeadlineSeconds=5))
    created.status.observed_generation = 1
    condition = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
    created.status = type(created.status).from_dict(
        {"observedGeneration": 1, "conditions": [condition]}
    )
    await deployments.status.update(created)

    with pytest.raises(RolloutFailed, match="exceeded its progress deadline") as error:
        await deployments.rollout("web").wait()

    assert error.value.status is not None
    assert error.value.status.state == "failed"


async def test_a_deleted_object_ends_the_wait(client: APIClient, server: Service) -> None:
    deployments = client.apps_v1.deployments()
    await deployments.create(deployment())
    waiting = asyncio.create_task(deployments.rollout("web").wait())
    while not any(seen.verb == "watch" for seen in server.faults.requests):
        await asyncio.sleep(0)

    await deployments.delete("web")

    with pytest.raises(RolloutFailed, match="it has been deleted"):
        await waiting


async def test_the_timeout_is_that_of_the_clients_clock(server: Service) -> None:
    clock = ManualClock()
    config = ClusterConfig(server=server.url, namespace="default")
    async with APIClient(config, clock=clock) as client:
        await client.apps_v1.deployments().create(deployment())
        waiting = asyncio.create_task(
            client.apps_v1.deployments().rollout("web").wait(timeout=3600)
        )
        while not any(seen.verb == "watch" for seen in server.faults.requests):
            await asyncio.sleep(0)

        await clock.advance(3600)

        with pytest.raises(WaitTimeout, match="not complete within 3600 s"):
            await waiting


async def test_a_client_that_cannot_read_pods_still_follows_the_rollout(
    client: APIClient, server: Service, workloads: Workloads
) -> None:
    del workloads
    await client.apps_v1.deployments().create(deployment())

    def refuse(seen: SeenRequest) -> None:
        if seen.resource == "pods" and "labelSelector" in seen.query:
            raise forbidden("", "pods", "", "no role")

    server.faults.reactors.append(refuse)

    status = await client.apps_v1.deployments().rollout("web").wait(timeout=5)

    assert status.is_complete


@pytest.mark.usefixtures("running")
async def test_an_undo_restores_the_template_of_the_revision_before(client: APIClient) -> None:
    deployments = client.apps_v1.deployments()
    web = deployments.rollout("web")
    await break_image(client)
    await deployments.wait_for("web", function=lambda each: _revision(each) == "2")

    restored = await web.undo()
    await web.wait(timeout=5)

    assert restored is not None
    assert (restored.number, restored.images) == (1, ("app:1",))
    template = (await deployments.get("web")).spec.template
    assert OUTCOME not in template.metadata.annotations
    assert "pod-template-hash" not in template.metadata.labels
    assert [each.number for each in await web.history()] == [2, 3]


@pytest.mark.usefixtures("running")
async def test_the_history_has_causes_and_the_current_revision(client: APIClient) -> None:
    deployments = client.apps_v1.deployments()
    (replicas,) = await client.apps_v1.replica_sets().list()
    cause = {"metadata": {"annotations": {"kubernetes.io/change-cause": "first image"}}}
    await client.apps_v1.replica_sets().patch(replicas.metadata.name, cause, type="merge")
    await break_image(client)
    await deployments.wait_for("web", function=lambda each: _revision(each) == "2")

    history = await deployments.rollout("web").history()

    assert [(each.number, each.change_cause, each.is_current) for each in history] == [
        (1, "first image", False),
        (2, "", True),
    ]


@pytest.mark.usefixtures("running")
async def test_an_undo_changes_nothing_if_the_template_is_the_current_one(
    client: APIClient, server: Service
) -> None:
    web = client.apps_v1.deployments().rollout("web")
    writes = len([seen for seen in server.faults.requests if seen.verb == "patch"])

    assert await web.undo(to_revision=1) is None

    assert len([seen for seen in server.faults.requests if seen.verb == "patch"]) == writes


@pytest.mark.usefixtures("running")
async def test_an_undo_without_a_revision_to_restore_is_an_error(client: APIClient) -> None:
    web = client.apps_v1.deployments().rollout("web")

    with pytest.raises(InvalidArgument, match="no last revision to roll back to"):
        await web.undo()
    with pytest.raises(InvalidArgument, match=r"revision 7 in history .there are: 1"):
        await web.undo(to_revision=7)
    with pytest.raises(InvalidArgument, match="negative"):
        await web.undo(to_revision=-1)


@pytest.mark.usefixtures("running")
async def test_a_paused_deployment_is_resumed_before_it_restarts(client: APIClient) -> None:
    web = client.apps_v1.deployments().rollout("web")

    assert await web.pause()
    assert not await web.pause()
    with pytest.raises(InvalidArgument, match=r"can't restart paused deployment .resume it first"):
        await web.restart()
    await break_image(client)
    with pytest.raises(InvalidArgument, match="cannot rollback a paused deployment"):
        await web.undo(to_revision=1)
    assert (await web.status()).paused
    assert await web.resume()
    assert not await web.resume()


@pytest.mark.usefixtures("workloads")
@pytest.mark.parametrize("kind", [StatefulSet, DaemonSet])
async def test_sets_are_restarted_and_awaited(
    client: APIClient, kind: type[StatefulSet | DaemonSet]
) -> None:
    spec: Any = {"replicas": 2, "serviceName": "web"} if kind is StatefulSet else {}
    sets: Any = client.resource(kind)
    await sets.create(kind.from_dict(workload(**spec)))
    web = sets.rollout("web")
    await web.wait(timeout=5)
    before = {str(pod.metadata.uid) for pod in await client.core_v1.pods().list()}

    await web.restart()
    status = await web.wait(timeout=5)

    after = {str(pod.metadata.uid) for pod in await client.core_v1.pods().list()}
    assert status.updated == status.available == 2
    assert not before & after


async def test_a_revision_of_a_set_is_restored_with_its_patch(client: APIClient) -> None:
    sets = client.apps_v1.stateful_sets()
    found = await sets.create(
        StatefulSet.from_dict(workload(replicas=1, serviceName="web", minReadySeconds=1))
    )
    for number, image in enumerate(("app:0", "app:1"), start=1):
        template = workload()["spec"]["template"]
        template["spec"]["containers"][0]["image"] = image
        data = {"spec": {"template": {**template, "$patch": "replace"}}}
        await client.resource("apps/v1", "ControllerRevision").create(
            {
                "apiVersion": "apps/v1",
                "kind": "ControllerRevision",
                "metadata": {
                    "name": f"web-{number}",
                    "labels": {"app": "web"},
                    "ownerReferences": [
                        {
                            "apiVersion": "apps/v1",
                            "kind": "StatefulSet",
                            "name": "web",
                            "uid": str(found.metadata.uid),
                            "controller": True,
                        }
                    ],
                },
                "data": data,
                "revision": number,
            }
        )
    web = sets.rollout("web")

    restored = await web.undo()

    assert restored is not None
    assert restored.number == 1
    assert (await sets.get("web")).spec.template.spec.containers[0].image == "app:0"
    assert [each.is_current for each in await web.history()] == [False, True]


async def test_what_has_no_rollout_is_rejected(client: APIClient) -> None:
    with pytest.raises(NotFound):
        await client.apps_v1.deployments().rollout("web").wait()
    with pytest.raises(AttributeError, match="rollout is a method of DaemonSetClient and Workload"):
        client.resource(Pod).rollout("web")  # type: ignore[attr-defined] # the rule
    with pytest.raises(InvalidArgument, match="only deployments can be paused"):
        await client.apps_v1.daemon_sets().rollout("web").pause()


async def test_progress_that_is_left_early_leaves_no_task(client: APIClient) -> None:
    await client.apps_v1.deployments().create(deployment())
    await client.core_v1.pods().create(a_pod("lone", app="web"))
    before = asyncio.all_tasks()

    async with aclosing(client.apps_v1.deployments().rollout("web").progress()) as statuses:
        first: RolloutStatus = await anext(statuses)

    assert not first.observed
    assert {task.get_name() for task in asyncio.all_tasks() - before} & {"object", "pods"} == set()


def _revision(obj: Deployment) -> str:
    return obj.metadata.annotations.get("deployment.kubernetes.io/revision", "")
