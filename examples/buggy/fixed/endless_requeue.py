"""The fix of `endless_requeue`: a count that is left out is zero."""

from __future__ import annotations

from examples.buggy.kinds import Site
from kubeloop import ClusterConfig, Context, Manager, ObjectKey, Result
from kubeloop.wire.apps.v1 import Deployment


async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
    site = ctx.get(Site, key)
    if site is None:
        return None
    deployment = await ctx.client.apply(deployment_of(site), owner=site)
    if (deployment.status.ready_replicas or 0) != site.spec.replicas:
        return Result(requeue_after=1)
    return None


def deployment_of(site: Site) -> Deployment:
    labels = {"site": site.metadata.name}
    pod = {"containers": [{"name": "web", "image": "nginx:1.29"}]}
    spec = {
        "replicas": site.spec.replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return Deployment.from_dict({"metadata": {"name": site.metadata.name}, "spec": spec})


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[Deployment], install_crd=True)(reconcile)
    return manager
