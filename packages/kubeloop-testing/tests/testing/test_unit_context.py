"""A reconcile function is called with a context, without a manager."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.events import FakeRecorder
from kubeloop.kit import ManualClock
from kubeloop.meta import ObjectKey, controller_ref
from kubeloop.runtime import Client, Context, NotCached, Result
from kubeloop.wire import Model, Resource
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import reconcile_context


class SiteSpec(Model):
    text: str = ""


class SiteStatus(Model):
    done: bool | None = None


class Site(Resource, group="example.com", version="v1", plural="sites"):
    spec: SiteSpec
    status: SiteStatus | None = None


async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
    """Write the text of a site into a config map, and report it."""
    site = ctx.get(Site, key)
    if site is None:
        return None
    pages = ctx.get(ConfigMap, key)
    if pages is not None and pages.data.get("index") == site.spec.text:
        return None
    metadata = ObjectMeta(
        name=key.name, namespace=key.namespace, owner_references=[controller_ref(site)]
    )
    await ctx.client.apply(ConfigMap(metadata=metadata, data={"index": site.spec.text}))
    ctx.recorder.event(site, "Normal", "Published", "at %s", ctx.now().isoformat())
    return Result(requeue_after=60)


def a_site(name: str = "blog") -> Site:
    return Site(metadata=ObjectMeta(name=name, namespace="shop"), spec=SiteSpec(text="hello"))


async def test_a_reconcile_reads_the_objects_and_its_writes_can_be_read() -> None:
    recorder = FakeRecorder()
    clock = ManualClock(wall=datetime(2030, 1, 1, tzinfo=UTC))

    async with reconcile_context(
        a_site(), kinds=[ConfigMap], recorder=recorder, clock=clock
    ) as ctx:
        result = await reconcile(ctx.key, ctx)
        written = await ctx.client.core_v1.config_maps("shop").get("blog")
        again = await ctx.fresh(ConfigMap, ctx.key)
        second = await reconcile(ctx.key, ctx)

    assert result == Result(requeue_after=60)
    assert written.data == {"index": "hello"}
    assert again is not None
    assert second is None
    assert recorder.lines == ["Normal Published at 2030-01-01T00:00:00+00:00"]


async def test_a_status_and_several_objects_are_there() -> None:
    done = a_site()
    done.status = SiteStatus(done=True)
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop"},
    }

    async with reconcile_context(done, settings) as ctx:
        found = ctx.get(Site, ctx.key)
        assert found is not None
        assert found.status == SiteStatus(done=True)
        assert ctx.key == ObjectKey("shop", "blog")
        assert await ctx.client.core_v1.config_maps("shop").exists("settings")


async def test_a_key_of_an_object_that_is_gone_can_be_given() -> None:
    async with reconcile_context(kinds=[Site], key=ObjectKey("shop", "gone")) as ctx:
        assert await reconcile(ctx.key, ctx) is None
    with pytest.raises(InvalidArgument, match="give the key"):
        async with reconcile_context(kinds=[Site]):
            raise AssertionError("never open")


async def test_a_kind_that_is_not_named_is_not_cached() -> None:
    async with reconcile_context(a_site()) as ctx:
        with pytest.raises(NotCached, match="it holds Site"):
            ctx.get(Secret, ctx.key)


async def test_a_context_uses_the_server_of_a_client(
    kube_client: Client, kube_namespace: str
) -> None:
    site = a_site()
    site.metadata.namespace = kube_namespace

    async with reconcile_context(site, kinds=[ConfigMap], client=kube_client, attempt=2) as ctx:
        await reconcile(ctx.key, ctx)

    assert ctx.attempt == 2
    assert await kube_client.core_v1.config_maps(kube_namespace).exists("blog")
