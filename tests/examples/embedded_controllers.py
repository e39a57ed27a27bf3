"""Minimal controllers of a cluster, for the embedded server.

They write the status as the real ones do, so that programs that wait for it continue.
See also: `node` (the node of a real cluster, which has the real controllers).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from kubeloop.clients import ALL_NAMESPACES, APIClient
from kubeloop.kit import TaskOwner
from kubeloop.wire.apps.v1 import Deployment, DeploymentCondition
from kubeloop.wire.batch.v1 import Job
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, ControlPlane

from .node import node, result_of

Server: TypeAlias = APIServer | ControlPlane

JOB_NAME = "batch.kubernetes.io/job-name"


@asynccontextmanager
async def controllers(server: Server) -> AsyncIterator[None]:
    """Deployments roll out, jobs complete and deleted pods end while the block lasts."""
    if isinstance(server, ControlPlane):
        async with node(server):
            yield
        return
    async with APIClient(server.config) as client, TaskOwner() as tasks:
        tasks.spawn(_deployments(client), name="deployments")
        tasks.spawn(_jobs(client, server), name="jobs")
        tasks.spawn(_kubelets(client), name="kubelets")
        yield


async def _deployments(client: APIClient) -> None:
    deployments = client.apps_v1.deployments(ALL_NAMESPACES)
    async for event in deployments.watch():
        deployment = event.object
        if event.type == "DELETED" or deployment.metadata.deletion_timestamp:
            continue
        if deployment.status.observed_generation != deployment.metadata.generation:
            await _roll_out(client, deployment)


async def _roll_out(client: APIClient, deployment: Deployment) -> None:
    status, replicas = deployment.status, deployment.spec.replicas
    status.observed_generation = deployment.metadata.generation
    status.replicas = status.updated_replicas = replicas
    status.ready_replicas = status.available_replicas = replicas
    status.conditions = [DeploymentCondition(type="Available", status="True")]
    at = client.apps_v1.deployments(deployment.metadata.namespace)
    change = {"status": status.to_dict()}
    await at.status.patch(deployment.metadata.name, change, type="merge")


async def _kubelets(client: APIClient) -> None:
    async for event in client.core_v1.pods(ALL_NAMESPACES).watch():
        found = event.object.metadata
        if event.type == "MODIFIED" and found.deletion_timestamp:
            pods = client.core_v1.pods(found.namespace)
            await pods.delete(found.name, grace_period=0, missing_ok=True)


async def _jobs(client: APIClient, server: APIServer) -> None:
    async for event in client.batch_v1.jobs(ALL_NAMESPACES).watch():
        if event.type == "ADDED":
            await _complete(client, server, event.object)


async def _complete(client: APIClient, server: APIServer, job: Job) -> None:
    name, namespace = job.metadata.name, job.metadata.namespace
    pod = Pod(
        metadata=ObjectMeta(name=f"{name}-pod", labels={JOB_NAME: name}),
        spec=job.spec.template.spec,
    )
    await client.core_v1.pods(namespace).create(pod)
    succeeds, output = result_of(pod)
    server.set_log(namespace, f"{name}-pod", output)
    ends = ("SuccessCriteriaMet", "Complete") if succeeds else ("FailureTarget", "Failed")
    now = "2026-01-01T00:00:00Z"
    status: dict[str, object] = {
        "startTime": now,
        "conditions": [{"type": end, "status": "True"} for end in ends],
    }
    if succeeds:
        status["completionTime"] = now
    change = {"status": status}
    await client.batch_v1.jobs(namespace).status.patch(name, change, type="merge")
