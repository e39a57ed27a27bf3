"""A scale that waits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop.clients import APIClient, WaitTimeout
from kubeloop.clients.scale import is_scaled
from kubeloop.config import ClusterConfig
from kubeloop.wire.apps.v1 import Deployment, StatefulSet
from kubeloop.wire.autoscaling.v1 import Scale
from kubeloop_testing import Workloads
from kubeloop_testing.server.service import Service

from .conftest import CRD
from .test_rollout import workload


@pytest.mark.parametrize("kind", [Deployment, StatefulSet])
async def test_a_scale_waits_until_its_pods_are_ready(
    server: Service, client: APIClient, kind: type[Deployment | StatefulSet]
) -> None:
    config = ClusterConfig(server=server.url, namespace="default")
    objects: Any = client.resource(kind)
    spec: Any = {"serviceName": "web"} if kind is StatefulSet else {}
    async with Workloads(config, delay=0.005):
        await objects.create(kind.from_dict(workload(replicas=1, **spec)))

        up = await objects.scale.set("web", 3, wait=True, timeout=5)
        ready = (await objects.get("web")).status.ready_replicas
        down = await objects.scale.set("web", 1, wait=True, timeout=5)

    assert (up.status.replicas, ready, down.status.replicas) == (3, 3, 1)


async def test_a_scale_that_is_not_reached_is_a_timeout(client: APIClient) -> None:
    await client.apps_v1.deployments().create(Deployment.from_dict(workload(replicas=1)))

    with pytest.raises(WaitTimeout, match=r"scale web to 2: not done within 0\.05 s"):
        await client.apps_v1.deployments().scale.set("web", 2, wait=True, timeout=0.05)


async def test_a_wait_ends_when_another_writer_sets_another_number(
    client: APIClient, server: Service
) -> None:
    deployments = client.apps_v1.deployments()
    await deployments.create(Deployment.from_dict(workload(replicas=1)))
    waiting = asyncio.create_task(deployments.scale.set("web", 2, wait=True))
    while not any(seen.verb == "watch" for seen in server.faults.requests):
        await asyncio.sleep(0)

    await deployments.scale.set("web", 5)

    assert (await waiting).spec.replicas == 5


async def test_a_custom_kind_is_scaled_when_its_status_has_the_number(
    client: APIClient, server: Service
) -> None:
    await client.apply(CRD)
    sites = client.resource("example.com/v1", "Website")
    site = {"apiVersion": "example.com/v1", "kind": "Website", "metadata": {"name": "web"}}
    await sites.create({**site, "spec": {"replicas": 1}})
    waiting = asyncio.create_task(sites.subresource("scale").set("web", 2, wait=True, timeout=5))
    while not any(
        seen.verb == "watch" and seen.resource == "websites" for seen in server.faults.requests
    ):
        await asyncio.sleep(0)

    await sites.status.patch("web", {"status": {"replicas": 2}}, type="merge")

    assert (await waiting).status.replicas == 2


def test_pods_of_an_older_spec_or_unready_ones_do_not_count() -> None:
    scale = Scale.from_dict({"spec": {"replicas": 2}, "status": {"replicas": 2}})
    obj: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"generation": 2},
        "status": {"observedGeneration": 2, "readyReplicas": 2},
    }

    assert is_scaled(scale, obj)
    assert not is_scaled(scale, {**obj, "metadata": {"generation": 3}})
    assert not is_scaled(scale, {**obj, "status": {"observedGeneration": 2, "readyReplicas": 1}})
    assert is_scaled(scale, {"kind": "Website", "apiVersion": "example.com/v1"})
