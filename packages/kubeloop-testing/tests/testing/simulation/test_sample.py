"""The test that the documentation shows: a leader-elected manager with a CRD and deployments."""

from __future__ import annotations

import pytest

from kubeloop import Context, Manager, Model, ObjectKey, Resource
from kubeloop.config import ClusterConfig
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import Container, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta
from kubeloop_testing import World, simulate

pytestmark = pytest.mark.timeout(120)  # worker processes start


class WebsiteSpec(Model):
    replicas: int = 1


class WebsiteStatus(Model):
    ready: bool = False


class Website(Resource, group="example.com", version="v1", plural="websites"):
    spec: WebsiteSpec
    status: WebsiteStatus | None = None


def deployment_for(owner: Website) -> Deployment:
    labels = {"site": owner.metadata.name or ""}
    pod = PodSpec(containers=[Container(name="web", image="nginx:1.29")])
    return Deployment(
        metadata=ObjectMeta(name=owner.metadata.name, namespace=owner.metadata.namespace),
        spec=DeploymentSpec(
            replicas=owner.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod),
        ),
    )


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config, leader_election="websites", signals=False, logs=False)

    @manager.controller(Website, owns=[Deployment], install_crd=True)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        found = ctx.get(Website, key)
        if found is None:
            return
        await ctx.client.apply(deployment_for(found), owner=found)
        web = ctx.get(Deployment, key)
        available = web.status.available_replicas if web is not None else 0
        found.status = WebsiteStatus(ready=available == found.spec.replicas)
        await ctx.update_status(found)

    return manager


def site(name: str) -> Website:
    return Website(metadata=ObjectMeta(name=name), spec=WebsiteSpec(replicas=2))


@simulate(runs=12)
async def test_sites_come_up_whatever_happens(world: World) -> None:
    world.run(make_manager)
    sites = world.client.resource(Website)
    await sites.create(site("shop"))
    await world.settle()
    status = (await sites.get("shop")).status
    assert status is not None
    assert status.ready
