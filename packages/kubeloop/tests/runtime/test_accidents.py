"""What befalls a whole controller process: cancelled anywhere, kinds that go, servers that are away."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import prometheus_client
import pytest

from kubeloop.config import ClusterConfig
from kubeloop.crd import crd_of
from kubeloop.errors import ConfigError, InvalidArgument
from kubeloop.kit import running
from kubeloop.meta import GroupVersionKind, ObjectKey
from kubeloop.runtime import Client, Context, Manager, RunnableEnded
from kubeloop.wire import Model, Resource
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import ConfigMap, Event
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer
from tests.support.clocks import FastClock

from .websites import SHOP, Website, WebsiteStatus, a_config, a_site, own_tasks, until

Managed = Callable[..., Manager]


@pytest.mark.timeout(30)  # many lives
@pytest.mark.parametrize("pause", [0, 0.001], ids=["turns of the loop", "milliseconds"])
async def test_a_manager_can_be_cancelled_at_any_moment(
    managed: Managed, client: Client, pause: float
) -> None:
    """X-7: wherever it is, it ends, and leaves neither a task nor a lease behind."""
    await client.resource(ConfigMap).create(a_config("one"))
    before = own_tasks()

    for moments in range(0, 60, 3):
        manager = managed(leader_election="sites", health="127.0.0.1:0")
        manager.controller(ConfigMap)(_record_event)
        ended = asyncio.create_task(manager.run())
        for _ in range(moments):
            await asyncio.sleep(pause)
        ended.cancel()
        await asyncio.wait([ended])

        assert ended.cancelled(), moments
        assert own_tasks() == before, moments


async def _record_event(key: ObjectKey, ctx: Context) -> None:
    found = ctx.get(ConfigMap, key)
    if found is not None:
        ctx.recorder.event(found, "Normal", "Seen", "seen")
    await asyncio.sleep(0.001)


async def test_a_manager_stopped_before_it_runs_ends_in_order(
    managed: Managed,
) -> None:
    manager = managed(leader_election="sites")
    manager.controller(ConfigMap)(_record_event)

    manager.stop()
    await manager.run()

    assert manager.stats().state == "ended"


async def test_a_manager_that_starts_without_a_response_of_the_server_can_be_stopped() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        deaf.settimeout(0)
        config = ClusterConfig(server=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        manager = Manager(config, signals=False, tune_gc=False, logs=False)
        manager.controller(Website, install_crd=True)(_record_event)
        ended = asyncio.create_task(manager.run())
        asking, _ = await asyncio.get_running_loop().sock_accept(deaf)
        with asking:
            assert manager.stats().state == "starting"

            manager.stop()
            await ended


async def test_waiting_for_a_manager_that_ends_raises(managed: Managed) -> None:
    manager = managed(health="127.0.0.1:0", metrics="256.256.256.256:1")
    waiting = asyncio.create_task(manager.wait_ready())
    await asyncio.sleep(0)

    with pytest.raises(ConfigError, match="listen at"):
        await manager.run()

    with pytest.raises(RunnableEnded, match="it has ended"):
        await waiting


async def test_a_kind_that_is_removed_and_served_again_is_reconciled_again(
    server: APIServer, with_sites: Client
) -> None:
    manager = Manager(server.config, clock=FastClock(), signals=False, logs=False)
    seen: list[bool] = []

    @manager.controller(Website)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        seen.append(ctx.get(Website, key) is not None)

    await with_sites.resource(Website).create(a_site())
    async with running(manager):
        await until(lambda: seen == [True])
        await with_sites.resource(CustomResourceDefinition).delete("websites.example.com")
        await until(lambda: seen[-1:] == [False])
        await with_sites.apply(crd_of(Website))
        await with_sites.resource(Website).create(a_site())
        await until(lambda: seen[-1:] == [True])


class BlogSpec(Model):
    title: str = ""


class Blog(Resource, group="example.com", version="v1", plural="blogs"):
    spec: BlogSpec
    status: WebsiteStatus | None = None


async def test_the_status_of_a_dict_is_compared_with_its_own_kind(
    managed: Managed, with_sites: Client
) -> None:
    """Two kinds without classes are both dicts, and one key may name an object of each."""
    site, blog = (GroupVersionKind("example.com", "v1", kind) for kind in ("Website", "Blog"))
    await with_sites.apply(crd_of(Blog))
    await with_sites.resource(Website).create(a_site())
    blogs = with_sites.resource(blog)
    await with_sites.resource(Blog).create(Blog(metadata=ObjectMeta(name="shop"), spec=BlogSpec()))
    await with_sites.resource(Website).status.patch(
        "shop", {"status": {"ready": True}}, type="merge"
    )
    manager = managed()
    manager.cache(site)
    written: list[ObjectKey] = []

    @manager.controller(blog)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        found = ctx.get(blog, key)
        assert found is not None
        await ctx.update_status({**found, "status": {"ready": True}})
        written.append(key)

    async with running(manager):
        await until(lambda: SHOP in written)

    assert (await blogs.get("shop"))["status"] == {"ready": True}


async def test_an_event_that_is_recorded_while_the_server_is_away_is_written_in_the_end(
    server: APIServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="kubeloop.events")
    manager = Manager(server.config, clock=FastClock(), signals=False, logs=False)
    is_away = asyncio.Event()

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        found = ctx.get(ConfigMap, key)
        if found is not None and not is_away.is_set():
            await server.refuse_connections()
            ctx.recorder.event(found, "Warning", "Away", "not written yet")
            is_away.set()

    await client.resource(ConfigMap).create(a_config("one"))
    async with running(manager):
        await until(lambda: "write failed, will retry" in caplog.text)
        await server.accept_connections()
        manager.stop()
        await until(lambda: manager.stats().state == "ended")

    events = await client.resource(Event).list()
    assert [event.reason for event in events] == ["Away"]


@pytest.mark.parametrize("grace", [-1, float("nan"), "long", None])
def test_an_invalid_grace_period_is_rejected(managed: Managed, grace: Any) -> None:
    with pytest.raises(InvalidArgument, match="give seconds"):
        managed(grace=grace)


@pytest.mark.parametrize("kind", [int, "ConfigMap", None, BlogSpec], ids=repr)
def test_something_that_is_not_a_kind_is_rejected_at_once(managed: Managed, kind: Any) -> None:
    manager = managed()

    with pytest.raises(InvalidArgument, match="not a kind of the API"):
        manager.controller(kind)
    with pytest.raises(InvalidArgument, match="not a kind of the API"):
        manager.cache(kind)


def test_one_registry_is_for_one_manager(managed: Managed) -> None:
    registry = prometheus_client.CollectorRegistry()
    managed(metrics="127.0.0.1:0", metrics_registry=registry)

    with pytest.raises(ConfigError, match="a registry is for one manager"):
        managed(metrics="127.0.0.1:0", metrics_registry=registry)
