"""A reconcile never runs on a cache that is older than its key's own last write."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from kubeloop.cache import NotSynced, Scope
from kubeloop.discovery import NoKindMatch
from kubeloop.kit import ManualClock, running
from kubeloop.meta import GroupKind, GroupResource, GroupVersionResource, ObjectKey
from kubeloop.runtime import Client, Context, Manager, Result, Unhealthy, WatchSource
from kubeloop.runtime.caches import CacheDeclaration, Caches
from kubeloop.runtime.controller import check_own_writes
from kubeloop.runtime.metrics import PrometheusReconcileMetrics
from kubeloop.runtime.own_writes import BEHIND_AFTER, WriteLedger
from kubeloop.runtime.writes import Write, recording_client, would_hold
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Event
from kubeloop_testing import APIServer

from .fake_collections import FakeInformerClient
from .harness import ControllerHarness, wrote
from .websites import SHOP, Website, a_config, a_site, deployment_for, until

Managed = Callable[..., Manager]

SITE = GroupKind("example.com", "Website")
DEPLOYMENT = GroupKind("apps", "Deployment")


def site_at(version: int | str, key: ObjectKey = SHOP, **more: Any) -> Write:
    return Write(SITE, key, str(version), {}, **more)


def deployment_gone(key: ObjectKey) -> Write:
    """What the response to a delete reports: no kind and no version."""
    resource = GroupResource("apps", "deployments")
    uid = f"uid of {key.name}"
    return Write(GroupKind("", ""), key, "", None, uid, gone=True, resource=resource)


# --- what a response reports


async def test_the_responses_to_writes_report_what_was_written(client: Client) -> None:
    noted: list[Write] = []
    own = recording_client(client, noted.append).resource(ConfigMap)

    made = await own.create(a_config("one"))
    await own.get("one")
    await own.create(a_config("two"), dry_run=True)
    await own.delete("one")

    created, deleted = noted
    assert (created.kind, created.key, created.version) == (
        GroupKind("", "ConfigMap"),
        ObjectKey("default", "one"),
        made.metadata.resource_version,
    )
    assert deleted.gone
    assert (deleted.key, deleted.uid) == (created.key, made.metadata.uid)


async def test_a_recording_client_shares_the_discovery_cache(client: Client) -> None:
    """Else every reconcile would ask the server again which kinds it has."""
    first, second = recording_client(client, print), recording_client(client, print)

    with pytest.raises(NoKindMatch):
        await first.resource("example.com/v1", "Website").list()

    assert first.mapper is second.mapper is client.mapper


async def test_removing_the_last_finalizer_of_a_deleted_object_reports_it_as_gone(
    client: Client,
) -> None:
    """The response has the version before the write, which every cache may have reached."""
    noted: list[Write] = []
    own = recording_client(client, noted.append).resource(ConfigMap)
    config = a_config("one")
    config.metadata.finalizers = ["example.com/cleanup"]

    await own.create(config)
    await own.delete("one")
    await own.patch("one", {"metadata": {"finalizers": None}}, type="merge")

    assert [write.gone for write in noted] == [False, False, True]


async def test_deleting_a_collection_reports_each_object(client: Client) -> None:
    noted: list[Write] = []
    own = recording_client(client, noted.append).resource(ConfigMap)
    made = [await own.create(a_config(name, by="us")) for name in ("one", "two")]
    noted.clear()

    await own.delete_collection(field_selector="metadata.namespace=default")

    assert {write.uid for write in noted if write.gone} >= {each.metadata.uid for each in made}


async def test_scaling_reports_a_write_of_the_scaled_object(client: Client) -> None:
    noted: list[Write] = []
    own = recording_client(client, noted.append).resource(Deployment)
    await own.create(deployment_for(a_site("shop")))

    await own.scale.set("shop", 3)

    assert noted[-1].key == SHOP
    assert noted[-1].resource == GroupResource("apps", "deployments")
    stored = await client.resource(Deployment).get("shop")
    assert noted[-1].version == stored.metadata.resource_version


@pytest.mark.parametrize(
    ("scope", "held"),
    [
        (Scope("configmaps"), True),
        (Scope("configmaps", namespace="default"), True),
        (Scope("configmaps", namespace="other"), False),
        (Scope("configmaps", selector="app=web"), True),
        (Scope("configmaps", selector="app=other"), False),
        (Scope("configmaps", field_selector="metadata.name=one"), True),
        (Scope("configmaps", field_selector="metadata.name=two"), False),
        (Scope("configmaps", field_selector="data.a!=b"), False),
    ],
    ids=str,
)
def test_a_cache_holds_what_its_namespace_and_selectors_choose(scope: Scope, held: bool) -> None:
    write = Write(
        GroupKind("", "ConfigMap"),
        ObjectKey("default", "one"),
        "7",
        {"app": "web"},
        body=b'{"metadata": {"name": "one"}, "data": {"a": "b"}}',
    )

    assert would_hold(write, scope) is held


# --- waiting


async def test_a_key_waits_until_the_cache_has_its_own_write(harness: ControllerHarness) -> None:
    seen: list[int] = []

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        site = ctx.get(Website, key)
        seen.append(site.spec.replicas if site else 0)
        if len(seen) > 1:
            return None
        harness.sites.put(a_site("shop", replicas=2))
        wrote(ctx, site_at(harness.sites.version))
        return Result(requeue_after=1)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop", replicas=1))
        harness.sites.lags = True
        await harness.clock.advance(100)
        assert seen == [1]
        harness.sites.deliver()
        await harness.clock.settle()

    assert seen == [1, 2]


async def test_a_parked_key_holds_no_worker_and_is_not_in_processing(
    harness: ControllerHarness,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if key == SHOP and harness.names().count("shop") == 1:
            wrote(ctx, site_at(999))
            return Result(requeue_after=1)
        return None

    async with harness.running(reconcile, workers=1):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(2)
        harness.sites.put(a_site("other"))
        await harness.clock.advance(5)

        stats = harness.controller.stats()
        assert harness.names() == ["shop", "other"]
        assert stats.active == ()
        assert stats.queue.processing == 0
        assert stats.waiting_for_cache == ("default/shop",)
        assert stats.longest_cache_wait == pytest.approx(6)
        await asyncio.wait_for(harness.controller.wait_idle(), 1)


async def test_a_change_of_a_key_that_waits_does_not_make_it_run_early(
    harness: ControllerHarness,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        if len(harness.calls) == 1:
            wrote(ctx, site_at(harness.sites.version + 3))

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.settle()
        harness.sites.put(a_site("shop", replicas=2))
        await harness.clock.settle()
        harness.sites.put(a_site("shop", replicas=3))
        await harness.clock.settle()
        assert len(harness.calls) == 1
        harness.sites.put(a_site("shop", replicas=4))
        await harness.clock.settle()

    assert len(harness.calls) == 2


@pytest.mark.parametrize("what", ["a bookmark", "a change of another object", "a list"])
async def test_any_later_version_of_the_cache_ends_the_wait(
    harness: ControllerHarness, what: str
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if harness.names().count("shop") > 1 or key != SHOP:
            return None
        wrote(ctx, site_at(7))
        return Result(requeue_after=1)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(20)
        assert harness.names() == ["shop"]
        harness.sites.version = 6
        if what == "a change of another object":
            harness.sites.put(a_site("other"))
        elif what == "a bookmark":
            harness.sites.version = 7
            harness.sites.bookmark()
        else:
            harness.sites.version = 7
            harness.sites.expire()
        await harness.clock.advance(60)

    assert harness.names().count("shop") == 2


async def test_a_server_that_went_back_is_not_waited_for(harness: ControllerHarness) -> None:
    """What was written is lost with the backup, and its version may never come."""

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if len(harness.calls) > 1:
            return None
        wrote(ctx, site_at(999))
        return Result(requeue_after=1)

    async with harness.running(reconcile):
        harness.sites.version = 500
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(60)
        assert len(harness.calls) == 1
        harness.sites.restore(300)
        await harness.clock.advance(60)

    assert len(harness.calls) > 1


async def test_a_deleted_object_is_waited_for_until_the_cache_has_passed_it(
    harness: ControllerHarness,
) -> None:
    held: list[bool] = []

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        held.append(ctx.get(Deployment, SHOP) is not None)
        if len(held) > 1:
            return None
        deployments.drop(SHOP)
        wrote(ctx, deployment_gone(SHOP))
        return Result(requeue_after=1)

    deployments = harness.informer_client.source(Deployment)
    deployments.put(deployment_for(a_site("shop")))
    deployments.lags = True
    async with harness.running(reconcile, owns=[WatchSource(Deployment)]):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(60)
        assert held == [True]
        deployments.deliver()
        await harness.clock.settle()

    assert held == [True, False]


async def test_an_object_that_was_created_and_deleted_is_waited_for_until_it_has_gone(
    harness: ControllerHarness,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if len(harness.calls) > 1:
            return None
        deployments.put(deployment_for(a_site("shop")))
        wrote(ctx, Write(DEPLOYMENT, SHOP, str(deployments.version), {}, "uid of shop"))
        deployments.drop(SHOP)
        wrote(ctx, deployment_gone(SHOP))
        return Result(requeue_after=1)

    deployments = harness.informer_client.source(Deployment)
    deployments.lags = True
    async with harness.running(reconcile, owns=[WatchSource(Deployment)]):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(5)
        deployments.deliver(1)  # the cache has it now, and the delete is still to come
        await harness.clock.advance(5)
        assert len(harness.calls) == 1
        deployments.deliver()
        await harness.clock.settle()

    assert len(harness.calls) >= 2


async def test_writes_that_no_cache_would_hold_are_not_waited_for(
    harness: ControllerHarness,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if len(harness.calls) > 1:
            return None
        wrote(ctx, Write(DEPLOYMENT, SHOP, "999", {}))
        return Result(requeue_after=1)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)

    assert len(harness.calls) == 2


async def test_versions_that_do_not_compare_are_waited_for_until_the_object_has_them(
    harness: ControllerHarness,
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if len(harness.calls) > 1:
            return None
        wrote(ctx, site_at("b7e2"))
        return Result(requeue_after=1)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(30)
        assert len(harness.calls) == 1
        harness.sites.put_raw(a_site("shop", replicas=2), version="b7e2")
        await harness.clock.settle()

    assert len(harness.calls) == 2


@pytest.mark.parametrize("end", ["fails", "is done", "comes again", "times out"])
async def test_the_next_reconcile_waits_for_the_writes_of_any_outcome(
    harness: ControllerHarness, end: str
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if len(harness.calls) > 1:
            return None
        wrote(ctx, site_at(999))
        if end == "fails":
            raise OSError("after it wrote")
        if end == "times out":
            await asyncio.Event().wait()
        return Result(requeue=True) if end == "comes again" else None

    async with harness.running(reconcile, timeout=3):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(5)
        harness.sites.put(a_site("shop", replicas=2))
        await harness.clock.advance(120)
        assert len(harness.calls) == 1
        harness.sites.version = 999
        harness.sites.bookmark()
        await harness.clock.settle()

    assert len(harness.calls) == 2


async def test_what_a_task_writes_after_its_reconcile_is_waited_for(
    harness: ControllerHarness,
) -> None:
    contexts: list[Context] = []

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        contexts.append(ctx)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.settle()
        wrote(contexts[0], site_at(5))
        harness.sites.put(a_site("shop", replicas=2))
        await harness.clock.advance(60)
        assert len(harness.calls) == 1
        harness.sites.version = 5
        harness.sites.bookmark()
        await harness.clock.settle()

    assert len(harness.calls) == 2


async def test_a_controller_ends_in_order_while_keys_wait(harness: ControllerHarness) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result:
        wrote(ctx, site_at(999))
        return Result(requeue_after=1)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(5)
        assert harness.controller.stats().waiting_for_cache
        harness.controller.close()
        await asyncio.wait_for(harness.controller.wait_idle(), 1)
        harness.sites.version = 999
        harness.sites.bookmark()
        await harness.clock.settle()

    assert len(harness.calls) == 1


async def test_keys_that_wait_for_long_are_reported_until_the_cache_has_caught_up(
    harness: ControllerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if len(harness.calls) > 1:
            return None
        wrote(ctx, site_at(999))
        return Result(requeue_after=1)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(BEHIND_AFTER)
        check_own_writes([harness.controller])
        assert harness.recorder.lines == []
        await harness.clock.advance(1)
        with pytest.raises(Unhealthy, match="version 999 of websites, which has reached 2"):
            check_own_writes([harness.controller])
        assert harness.recorder.lines[0].startswith("Warning CacheBehind not reconciled for 180 s")
        assert "default/shop: not reconciled for 180 s" in caplog.text

        harness.sites.version = 999
        harness.sites.bookmark()
        await harness.clock.settle()
        check_own_writes([harness.controller])

    assert len(harness.calls) == 2


async def test_keys_that_wait_are_counted_by_metrics(harness: ControllerHarness) -> None:
    registry = CollectorRegistry()
    harness.metrics = PrometheusReconcileMetrics(registry)

    async def reconcile(key: ObjectKey, ctx: Context) -> Result:
        wrote(ctx, site_at(999))
        return Result(requeue_after=1)

    def figure(name: str) -> float | None:
        return registry.get_sample_value(f"controller_runtime_{name}", {"controller": "site"})

    async with harness.running(reconcile):
        assert figure("keys_waiting_for_cache") == 0
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(5)

        assert figure("keys_waiting_for_cache") == 1
        assert figure("longest_wait_for_cache_seconds") == pytest.approx(4)


async def test_writes_that_were_seen_are_not_remembered(harness: ControllerHarness) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        wrote(ctx, site_at(harness.sites.version, key))

    async with harness.running(reconcile):
        for number in range(1500):
            harness.sites.put(a_site(f"site-{number}"))
            await harness.clock.settle()

    assert len(harness.calls) == 1500
    assert len(harness.controller._ledger) < 1100


async def test_fresh_reads_wait_with_a_deadline() -> None:
    clock = ManualClock()
    caches = Caches(FakeInformerClient(clock), [CacheDeclaration(kind=Website, model=Website)])
    ledger = WriteLedger(caches)
    (informer,) = caches
    running_informer = asyncio.create_task(informer.run())
    ledger.record(SHOP, site_at(999))
    waiting = asyncio.create_task(ledger.wait(SHOP, timeout=3))

    await clock.advance(4)

    with pytest.raises(NotSynced, match=r"version 999 of websites, .*: not within 3 s"):
        await waiting
    running_informer.cancel()
    await asyncio.wait([running_informer])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("change"), st.integers(0, 2)),
        st.tuples(st.just("deliver sites"), st.integers(1, 3)),
        st.tuples(st.just("deliver deployments"), st.integers(1, 3)),
        st.tuples(st.just("bookmark"), st.just(0)),
        st.tuples(st.just("list"), st.just(0)),
        st.tuples(st.just("time passes"), st.integers(1, 30)),
    ),
    max_size=25,
)
DEEDS = st.lists(
    st.sampled_from(["write itself", "write another", "delete another", "nothing", "fail"]),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS, deeds=st.lists(DEEDS, min_size=1, max_size=8), workers=st.integers(1, 3))
def test_no_reconcile_begins_with_a_cache_older_than_its_keys_last_write(
    steps: list[tuple[str, int]], deeds: list[list[str]], workers: int
) -> None:
    asyncio.run(_interleave(steps, deeds, workers))


async def _interleave(  # noqa: C901 - a table of steps and deeds
    steps: list[tuple[str, int]], deeds: list[list[str]], workers: int
) -> None:
    harness = ControllerHarness()
    deployments = harness.informer_client.source(Deployment)
    # What each key wrote last, by kind: the version that its next reconcile has to find.
    last: dict[ObjectKey, dict[type, int]] = {}

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        for kind, version in last.get(key, {}).items():
            (informer,) = harness.controller._environment.caches.informers(kind)
            assert int(informer.indexer.version) >= version, (key, kind)
        # What it writes brings it back, so at some time it has to be content.
        todo = deeds[len(harness.calls) % len(deeds)] if len(harness.calls) < 40 else []
        for deed in todo:
            wrote_now = last.setdefault(key, {})
            if deed == "write itself":
                harness.sites.put(a_site(key.name, replicas=len(harness.calls)))
                wrote(ctx, site_at(harness.sites.version, key))
                wrote_now[Website] = harness.sites.version
            elif deed == "write another" or (deed == "delete another" and key not in there):
                there.add(deployments.put(deployment_for(a_site(key.name))))
                wrote_now[Deployment] = deployments.version
                uid = f"uid of {key.name}"
                wrote(ctx, Write(DEPLOYMENT, key, str(deployments.version), {}, uid))
            elif deed == "delete another":
                there.discard(key)
                deployments.drop(key)
                wrote(ctx, deployment_gone(key))
                wrote_now[Deployment] = deployments.version
            elif deed == "fail":
                raise OSError("as asked")
            await asyncio.sleep(0)
        return Result(requeue_after=1) if todo else None

    there: set[ObjectKey] = set()
    failures: list[str] = []
    async with harness.running(reconcile, owns=[WatchSource(Deployment)], workers=workers):
        harness.sites.lags = deployments.lags = True
        for step, number in steps:
            if step == "change":
                harness.sites.put(a_site(f"site-{number}", replicas=7))
            elif step == "deliver sites":
                harness.sites.deliver(number)
            elif step == "deliver deployments":
                deployments.deliver(number)
            elif step == "bookmark":
                harness.sites.deliver()
                harness.sites.bookmark()
                harness.sites.deliver()
            elif step == "list":
                deployments.expire()
            else:
                await harness.clock.advance(number)
            await harness.clock.settle()
            failures.append(harness.controller.stats().last_error)
        # In the end all of it is seen, and no key stays parked.
        harness.sites.lags = deployments.lags = False
        for _ in range(60):
            harness.sites.deliver()
            deployments.deliver()
            await harness.clock.advance(2)
        failures.append(harness.controller.stats().last_error)
        assert harness.controller.stats().waiting_for_cache == ()
    assert all("as asked" in each for each in failures if each)


# --- with a server


Deed = Callable[[Client], Awaitable[object]]
GVR = GroupVersionResource("", "v1", "configmaps")


async def _change(client: Client) -> None:
    await client.resource(ConfigMap).patch("one", {"data": {"by": "us"}}, type="merge")


async def _delete(client: Client) -> None:
    await client.resource(ConfigMap).delete("one")


async def _delete_collection(client: Client) -> None:
    await client.resource(ConfigMap).delete_collection(selector="app=web")


async def _finalize(client: Client) -> None:
    configs = client.resource(ConfigMap)
    await configs.patch("one", {"metadata": {"finalizers": ["example.com/a"]}}, type="merge")
    await configs.delete("one")
    await configs.patch("one", {"metadata": {"finalizers": None}}, type="merge")


async def _leave(client: Client) -> None:
    labels = {"metadata": {"labels": {"app": None}}}
    await client.resource(ConfigMap).patch("one", labels, type="merge")


@pytest.mark.parametrize("kind", [ConfigMap, GVR], ids=["class", "resource"])
@pytest.mark.parametrize(
    "case",
    [
        (_change, {"by": "us"}),
        (_delete, None),
        (_delete_collection, None),
        (_finalize, None),
        (_leave, None),
    ],
    ids=["change", "delete", "delete collection", "last finalizer", "leave the selector"],
)
async def test_a_reconcile_waits_for_a_watch_that_lags(
    server: APIServer,
    client: Client,
    managed: Managed,
    kind: Any,
    case: tuple[Deed, dict[str, str] | None],
) -> None:
    deed, after = case
    manager = managed(clock=(clock := ManualClock()))
    manager.cache(kind, selector="app=web")
    read: list[dict[str, str] | None] = []

    @manager.controller(kind)
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        found = ctx.get(kind, key)
        data = found.get("data") if isinstance(found, dict) else found and found.data
        read.append(None if found is None else dict(data or {}))
        if len(read) > 1:
            return None
        server.faults.delivery_delay = 3600.0
        await deed(ctx.client)
        return Result(requeue_after=1)

    config = a_config("one")
    config.metadata.labels = {"app": "web"}
    async with running(manager):
        await client.resource(ConfigMap).create(config)
        await until(lambda: manager.stats().controllers[0].succeeded)
        await clock.advance(60)
        assert manager.stats().controllers[0].waiting_for_cache == ("default/one",)
        assert len(read) == 1
        await _heal(server, clock, lambda: len(read) > 1)

    assert read == [{}, after]


async def _heal(server: APIServer, clock: ManualClock, is_so: Callable[[], bool]) -> None:
    """Let the watch deliver again, and advance the time until a condition holds."""
    server.faults.heal()
    server.drop_connections()
    while not is_so():
        await clock.advance(1)
        await asyncio.sleep(0.005)


async def test_a_cache_that_stays_behind_is_reported_by_readyz_and_an_event(
    server: APIServer, client: Client, managed: Managed
) -> None:
    manager = managed(clock=(clock := ManualClock()), health="127.0.0.1:0")
    tries: list[ObjectKey] = []

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        tries.append(key)
        if len(tries) > 1:
            return None
        server.faults.delivery_delay = 3600.0
        await _change(ctx.client)
        return Result(requeue_after=1)

    async with running(manager), aiohttp.ClientSession() as http:
        await client.resource(ConfigMap).create(a_config("one"))
        await until(lambda: manager.stats().controllers[0].succeeded)
        page = f"http://{manager.stats().addresses['health']}/readyz"

        async def ready() -> str:
            async with http.get(page) as response:
                return await response.text()

        await clock.advance(BEHIND_AFTER)
        assert "[+]own-writes ok" in await ready()
        await clock.advance(1)
        assert "[-]own-writes failed: keys have waited for more than 180 s" in await ready()
        events = client.resource(Event)
        while not (found := await events.list()):
            await asyncio.sleep(0.005)
        await _heal(server, clock, lambda: len(tries) > 1)
        assert "[+]own-writes ok" in await ready()

    about = found[0].involved_object
    assert (found[0].type, found[0].reason) == ("Warning", "CacheBehind")
    assert (about.kind, about.namespace, about.name) == ("ConfigMap", "default", "one")


async def test_a_reconcile_reads_its_own_writes(server: APIServer, client: Client) -> None:
    manager = Manager(server.config, signals=False, logs=False, tune_gc=False)
    read: list[ConfigMap | None] = []

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        if key.name != "one":
            return
        await ctx.client.resource(ConfigMap).create_or_update(a_config("made", by="us"))
        read.append(await ctx.fresh(ConfigMap, ObjectKey("default", "made")))

    async with running(manager):
        await client.resource(ConfigMap).create(a_config("one"))
        await until(lambda: read)

    assert read[0] is not None
    assert read[0].data == {"by": "us"}


async def test_a_server_that_lost_its_data_is_not_waited_for(
    server: APIServer, client: Client, managed: Managed
) -> None:
    manager = managed(clock=(clock := ManualClock()))
    tries: list[ObjectKey] = []

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        tries.append(key)
        if len(tries) > 1:
            return None
        server.faults.delivery_delay = 3600.0
        configs = ctx.client.resource(ConfigMap)
        for number in range(50):  # the versions after the restart do not come that far
            await configs.patch("one", {"data": {"by": str(number)}}, type="merge")
        return Result(requeue_after=1)

    async with running(manager):
        await client.resource(ConfigMap).create(a_config("one"))
        await until(lambda: manager.stats().controllers[0].succeeded)
        await clock.advance(10)
        assert manager.stats().controllers[0].waiting_for_cache
        server.faults.heal()
        await server.restart(keep_data=False)
        while len(tries) < 2:
            await clock.advance(1)
            await asyncio.sleep(0.005)

        assert manager.stats().controllers[0].waiting_for_cache == ()


async def test_fresh_waits_ten_seconds_by_default(harness: ControllerHarness) -> None:
    waited: list[float] = []

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        wrote(ctx, site_at(999))
        began = harness.clock.now()
        with pytest.raises(NotSynced):
            await ctx.fresh(Website, key)
        waited.append(harness.clock.now() - began)

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(20)

    assert waited == [pytest.approx(10)]


async def test_a_key_that_waits_is_not_enqueued_early_by_hand(harness: ControllerHarness) -> None:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        if len(harness.calls) == 1:
            wrote(ctx, site_at(999))

    async with harness.running(reconcile):
        harness.sites.put(a_site("shop"))
        await harness.clock.settle()
        harness.controller.enqueue(SHOP)
        harness.controller.enqueue(SHOP, after=1)
        await harness.clock.advance(5)
        assert len(harness.calls) == 1

        harness.sites.version = 999
        harness.sites.put(a_site("other"))
        await harness.clock.settle()

    assert harness.names().count("shop") == 2
