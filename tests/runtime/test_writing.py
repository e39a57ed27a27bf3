"""Helpers that write: finalizers, statuses, and reading what was written."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.cache import NotYet, Scope
from kubeloop.kit import ManualClock, running
from kubeloop.machinery import Conflict, GroupKind, InvalidValue, ObjectKey
from kubeloop.runtime import Client, Context, Manager, Result, finalized, written_status
from kubeloop.runtime.caches import Cached, Caches
from kubeloop.runtime.writes import Write, is_heard_of, noting
from kubeloop.testing import APIServer
from kubeloop.wire.core.v1 import ConfigMap

from .mirrors import Mirrors
from .sites import SHOP, Website, WebsiteStatus, a_config, a_site, until
from .stage import Stage

NAME = "example.com/cleanup"


class Cleaning:
    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.cleaned: list[str] = []

    async def __call__(self, site: Website) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.cleaned.append(site.metadata.name)


async def test_a_finalizer_is_added_once_and_the_object_comes_back(with_sites: Client) -> None:
    site = await with_sites.resource(Website).create(a_site())

    first = await finalized(with_sites, site, NAME, Cleaning())
    assert first is not None
    again = await finalized(with_sites, first, NAME, Cleaning())

    assert first.metadata.finalizers == [NAME]
    assert again is first


async def test_cleanup_runs_before_the_object_goes(with_sites: Client) -> None:
    sites, cleaning = with_sites.resource(Website), Cleaning()
    await finalized(with_sites, await sites.create(a_site()), NAME, cleaning)
    await sites.delete("shop")

    left = await finalized(with_sites, await sites.get("shop"), NAME, cleaning)

    assert left is None
    assert cleaning.cleaned == ["shop"]
    assert not await sites.exists("shop")


async def test_a_cleanup_that_fails_keeps_the_object_until_it_succeeds(with_sites: Client) -> None:
    """The finalizer is never left behind, and never gone too early."""
    sites, cleaning = with_sites.resource(Website), Cleaning(RuntimeError("not yet"))
    await finalized(with_sites, await sites.create(a_site()), NAME, cleaning)
    await sites.delete("shop")

    with pytest.raises(RuntimeError, match="not yet"):
        await finalized(with_sites, await sites.get("shop"), NAME, cleaning)
    assert (await sites.get("shop")).metadata.finalizers == [NAME]
    await finalized(with_sites, await sites.get("shop"), NAME, cleaning)

    assert not await sites.exists("shop")


async def test_the_finalizers_of_others_stay(with_sites: Client) -> None:
    sites, site = with_sites.resource(Website), a_site()
    site.metadata.finalizers = ["example.com/others"]
    made = await finalized(with_sites, await sites.create(site), NAME, Cleaning())
    assert made is not None
    stale = made
    async with sites.edit("shop") as edited:  # what we hold is old by now
        edited.metadata.labels["a"] = "b"
    await sites.delete("shop")
    stale.metadata.deletion_timestamp = (await sites.get("shop")).metadata.deletion_timestamp

    await finalized(with_sites, stale, NAME, Cleaning())

    assert (await sites.get("shop")).metadata.finalizers == ["example.com/others"]


async def test_an_object_that_is_going_gets_no_finalizer(with_sites: Client) -> None:
    sites, site, cleaning = with_sites.resource(Website), a_site(), Cleaning()
    site.metadata.finalizers = ["example.com/others"]
    old = await sites.create(site)
    await sites.delete("shop")

    assert await finalized(with_sites, old, NAME, cleaning) is None
    assert await finalized(with_sites, await sites.get("shop"), NAME, cleaning) is None
    assert (await sites.get("shop")).metadata.finalizers == ["example.com/others"]
    assert cleaning.cleaned == []


async def test_an_object_that_is_gone_or_another_is_left_alone(with_sites: Client) -> None:
    sites, cleaning = with_sites.resource(Website), Cleaning()
    old = await finalized(with_sites, await sites.create(a_site()), NAME, cleaning)
    assert old is not None
    async with sites.edit("shop") as edited:
        edited.metadata.finalizers = []
    await sites.delete("shop")

    fresh = a_site()
    assert await finalized(with_sites, old, NAME, cleaning) is old  # it has it, as far as we know
    old.metadata.finalizers = []
    assert await finalized(with_sites, old, NAME, cleaning) is None
    await sites.create(fresh)
    assert await finalized(with_sites, old, NAME, cleaning) is None

    assert (await sites.get("shop")).metadata.finalizers == []


async def test_dicts_have_finalizers_too(with_sites: Client) -> None:
    site = await with_sites.dynamic.resource(Website).create(
        {
            "apiVersion": "example.com/v1",
            "kind": "Website",
            "metadata": {"name": "shop"},
            "spec": {},
        }
    )

    made = await finalized(with_sites, site, NAME, lambda gone: None)

    assert made is not None
    assert made["metadata"]["finalizers"] == [NAME]


# --- status


async def test_an_equal_status_costs_no_request(with_sites: Client, server: APIServer) -> None:
    site = await with_sites.resource(Website).create(a_site())
    site.status = WebsiteStatus(ready=True)
    site = await written_status(with_sites, site)
    before = len(server.requests)

    again = await written_status(with_sites, site, before=site)

    assert again is site
    assert len(server.requests) == before


async def test_only_the_difference_of_a_status_is_sent(
    with_sites: Client, server: APIServer
) -> None:
    site = await with_sites.resource(Website).create(a_site())
    before = Website.from_dict(site.to_dict())
    site.status = WebsiteStatus(ready=True)
    site.spec.replicas = 99  # not a matter of the status

    written = await written_status(with_sites, site, before=before)

    assert server.requests[-1].json() == {
        "status": {"ready": True},
        "metadata": {"resourceVersion": before.metadata.resource_version},
    }
    assert written.status == WebsiteStatus(ready=True)
    assert written.spec.replicas == 1


async def test_a_status_of_an_object_that_changed_meanwhile_is_a_conflict(
    with_sites: Client,
) -> None:
    sites = with_sites.resource(Website)
    site = await sites.create(a_site())
    async with sites.edit("shop") as edited:
        edited.spec.replicas = 2
    site.status = WebsiteStatus(ready=True)

    with pytest.raises(Conflict):
        await written_status(with_sites, site)


async def test_what_has_no_status_is_refused(client: Client) -> None:
    with pytest.raises(InvalidValue, match="it has no metadata"):
        await written_status(client, object())


# --- reading one's writes


async def test_a_clients_writes_are_noted(client: Client) -> None:
    noted: list[Write] = []
    own = noting(client, noted.append)

    made = await own.resource(ConfigMap).create(a_config("one"))
    await own.resource(ConfigMap).get("one")
    await own.resource(ConfigMap).create(a_config("two"), dry_run=True)
    await own.resource(ConfigMap).delete("one")

    assert noted[0] == Write(
        GroupKind("", "ConfigMap"), ObjectKey("default", "one"), made.metadata.resource_version, {}
    )
    assert [write.key.name for write in noted] in (["one"], ["one", "one"])
    assert own.mapper is client.mapper


@pytest.mark.parametrize(
    ("scope", "heard"),
    [
        (Scope("configmaps"), True),
        (Scope("configmaps", namespace="default"), True),
        (Scope("configmaps", namespace="other"), False),
        (Scope("configmaps", labels="app=web"), True),
        (Scope("configmaps", labels="app=other"), False),
        (Scope("configmaps", fields="metadata.name=one"), False),
    ],
    ids=str,
)
def test_only_what_a_cache_will_hear_of_is_waited_for(scope: Scope, heard: bool) -> None:
    write = Write(GroupKind("", "ConfigMap"), ObjectKey("default", "one"), "7", {"app": "web"})

    assert is_heard_of(write, scope) is heard


async def test_the_next_reconcile_sees_what_the_last_one_wrote() -> None:
    stage = Stage()
    seen: list[int] = []

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        site = ctx.get(Website, key)
        seen.append(site.spec.replicas if site else 0)
        if len(seen) > 1:
            return None
        # As if the client had written it: the watch has not told of it yet.
        ctx.writes.append(Write(GroupKind("example.com", "Website"), key, "2", {}))
        return Result(requeue_after=1)

    async with stage.running(reconcile):
        stage.sites.put(a_site("shop", replicas=1))
        await stage.clock.advance(5)
        assert seen == [1]
        stage.sites.put(a_site("shop", replicas=2))
        await stage.clock.advance(5)

    assert seen[:2] == [1, 2]


async def test_a_cache_that_never_sees_a_write_is_not_waited_for_without_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = Stage()

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        if len(stage.calls) > 1:
            return None
        ctx.writes.append(Write(GroupKind("example.com", "Website"), key, "999", {}))
        return Result(requeue_after=1)

    async with stage.running(reconcile):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(12)

    assert len(stage.calls) == 2
    assert "default/shop: reconciled with an old cache" in caplog.text


async def test_writes_that_were_seen_are_not_remembered() -> None:
    stage = Stage()

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        write = Write(GroupKind("example.com", "Website"), key, str(stage.sites.version), {})
        ctx.writes.append(write)

    async with stage.running(reconcile):
        for number in range(50):
            stage.sites.put(a_site(f"site-{number}"))
            await stage.clock.settle()

    assert len(stage.calls) == 50
    assert stage.controller._unseen == {}


async def test_fresh_reads_wait_with_a_deadline() -> None:
    clock = ManualClock()
    caches = Caches(Mirrors(clock), [Cached(kind=Website, of=Website)])
    write = Write(GroupKind("example.com", "Website"), SHOP, "999", {})
    (informer,) = caches
    running_informer = asyncio.create_task(informer.run())
    waiting = asyncio.create_task(caches.caught_up([write], timeout=3))

    await clock.advance(4)

    with pytest.raises(NotYet, match="version 999 of websites: not within 3 s"):
        await waiting
    running_informer.cancel()
    await asyncio.wait([running_informer])


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
