"""Controllers and caches as users write them; mypy and pyright read it, it never runs."""

from __future__ import annotations

from typing import Any, assert_type

from kubeloop import Client, Context, Manager, Model, ObjectKey, Resource, Result, WatchSource
from kubeloop.cache import Lister, SharedInformer, SharedInformerFactory
from kubeloop.clients import PartialObjectMetadata
from kubeloop.meta import GroupVersionKind
from kubeloop.runtime import AdmissionRequest, Denied, WebhookServer, generation_changed
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Pod


class WebsiteSpec(Model):
    image: str
    replicas: int = 1


class Website(Resource, group="example.com", version="v1", plural="websites"):
    spec: WebsiteSpec


class Small(Model):
    spec: WebsiteSpec


SITES = GroupVersionKind("example.com", "v1", "Website")


async def informers(client: Client) -> None:
    async with client.informer(Pod, index={"node": "spec.nodeName"}, selector="app=web") as pods:
        assert_type(pods, SharedInformer[Pod])
        assert_type(pods.lister.get("web", namespace="shop"), Pod | None)
        assert_type(pods.lister.by_index("node", "node-7"), list[Pod])
    assert_type(client.informer(SITES), SharedInformer[dict[str, Any]])
    assert_type(client.informer(Website, model=Small), SharedInformer[Small])
    assert_type(client.informer(Pod, metadata_only=True), SharedInformer[PartialObjectMetadata])
    async with SharedInformerFactory(client) as factory:
        assert_type(factory.informer(Pod), SharedInformer[Pod])


manager = Manager(leader_election="websites", health=8081, metrics=":8080")


def sites_using(config: ConfigMap) -> list[ObjectKey]:
    assert_type(manager.lister(Website), Lister[Website])
    return [ObjectKey(config.metadata.namespace, config.metadata.labels["site"])]


@manager.controller(
    Website,
    owns=[Deployment],
    watches=[WatchSource(ConfigMap, to=sites_using)],
    predicates=[generation_changed],
    workers=8,
    install_crd=True,
)
async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
    site = ctx.get(Website, key)
    assert_type(site, Website | None)
    if site is None:
        return None
    site = await ctx.finalizer(site, "example.com/dns", clean_up)
    assert_type(site, Website | None)
    if site is None:
        return None
    assert_type(ctx.get(SITES, key), dict[str, Any] | None)
    assert_type(ctx.owned(Deployment, site), list[Deployment])
    assert_type(ctx.list(Deployment, "app=web"), list[Deployment])
    assert_type(await ctx.fresh(Deployment, key), Deployment | None)
    assert_type(await ctx.update_status(site), Website)
    ctx.recorder.event(site, "Normal", "Applied", "applied %s", site.spec.image)
    ctx.log.info("applied")
    return Result(requeue_after=30)


async def clean_up(site: Website) -> None:
    """Whatever is to be undone."""


webhooks = WebhookServer(9443, certificates="/certs")


@webhooks.validate(Website)
def check(site: Website, request: AdmissionRequest[Website]) -> None:
    assert_type(request.old, Website | None)
    if site.spec.replicas > 10:
        raise Denied("spec.replicas: at most 10")


@webhooks.mutate(Website)
async def default(site: Website, request: AdmissionRequest[Website]) -> Website:
    return site
