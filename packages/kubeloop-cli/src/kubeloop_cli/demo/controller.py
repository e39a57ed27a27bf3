"""The controller of the demo: a Website owns a Deployment, and reports its ready pods.

manager = Manager(leader_election="websites")
manager.controller(Website, owns=[Deployment], workers=4, install_crd=True)(reconcile)
run(manager.run())
"""

from __future__ import annotations

from kubeloop import Context, Model, ObjectKey, Resource
from kubeloop.wire import Column
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import Container, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta

__all__ = ["Website", "WebsiteSpec", "WebsiteStatus", "deployment_for", "reconcile"]


class WebsiteSpec(Model):
    image: str
    replicas: int = 1


class WebsiteStatus(Model):
    ready: int = 0


class Website(
    Resource,
    group="demo.kubeloop.dev",
    version="v1",
    plural="websites",
    columns=(Column("Ready", ".status.ready", type="integer"),),
):
    spec: WebsiteSpec
    status: WebsiteStatus | None = None


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    """Drive the cluster toward the spec of one Website; runs when it or its Deployment changes."""
    site = ctx.get(Website, key)  # from the cache, without a request
    if site is None:
        return  # deleted: the server garbage-collects the Deployment

    await ctx.client.apply(deployment_for(site), owner=site)

    deployment = ctx.get(Deployment, key)
    ready = (deployment.status.ready_replicas or 0) if deployment is not None else 0
    if ready == site.spec.replicas and (site.status is None or site.status.ready != ready):
        ctx.recorder.event(site, "Normal", "Ready", "%s runs, %d ready", site.spec.image, ready)
    site.status = WebsiteStatus(ready=ready)
    await ctx.update_status(site)  # no request if nothing changed


def deployment_for(site: Website) -> Deployment:
    labels = {"site": site.metadata.name}
    pod = PodSpec(containers=[Container(name="web", image=site.spec.image)])
    return Deployment(
        metadata=ObjectMeta(name=site.metadata.name),
        spec=DeploymentSpec(
            replicas=site.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod),
        ),
    )
