"""A test of each controller of this folder, as its author would write it.

    pytest examples/buggy/test_bugs.py -k forgotten_child --timeout 120

finds the bug of `forgotten_child.py` and explains it. Without faults every test passes, except
those of `endless_requeue` and `flapping_default`.
See also: README.md (what finds each bug), `fixed` (the controllers without the bugs).
"""

# ruff: noqa: PT028 - the test of the project gives other factories
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine

from examples.buggy import (
    blind_update,
    counter_in_memory,
    endless_requeue,
    flapping_default,
    foreign_object,
    forgotten_child,
    leader_work,
    missed_delete,
    plain_loop,
    stale_delete,
    status_before_work,
)
from examples.buggy.kinds import Site, SiteSpec
from kubeloop import AlreadyExists, ClusterConfig, Manager
from kubeloop.wire.core.v1 import ConfigMap, Namespace
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import World, simulate

Factory = Callable[[ClusterConfig], Manager | Coroutine[None, None, None]]


def site(name: str, page: str = "hello", replicas: int = 1) -> Site:
    return Site(metadata=ObjectMeta(name=name), spec=SiteSpec(page=page, replicas=replicas))


def page(name: str, **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels=labels), data={"notes": "mine"})


@simulate()
async def test_foreign_object(world: World, factory: Factory = foreign_object.make_manager) -> None:
    """A person wants the name of a site's ConfigMap; if they get it, they keep it for a minute."""
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.eventually(lambda: any(each.status for each in world.objects(Site)))
    await asyncio.sleep(1.5)
    pages = world.client.core_v1.config_maps()
    with contextlib.suppress(AlreadyExists):
        await pages.create(page("shop"))
        await asyncio.sleep(60)
        assert (await pages.get("shop")).data == {"notes": "mine"}, "the data was overwritten"
        await pages.delete("shop")
    await world.settle()


@simulate()
async def test_status_before_work(
    world: World, factory: Factory = status_before_work.make_manager
) -> None:
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.settle()


@simulate()
async def test_forgotten_child(
    world: World, factory: Factory = forgotten_child.make_manager
) -> None:
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.settle()


@simulate()
async def test_counter_in_memory(
    world: World, factory: Factory = counter_in_memory.make_manager
) -> None:
    """Two sites, the second a while after the first."""
    world.run(factory)
    for name in ("shop", "blog"):
        await world.client.resource(Site).create(site(name, page=f"this is the {name}"))
        await world.settle()


@simulate()
async def test_stale_delete(world: World, factory: Factory = stale_delete.make_manager) -> None:
    """Two sites with a page each; one site is deleted, and its page has to go, too."""
    world.run(factory)
    sites, pages = world.client.resource(Site), world.client.core_v1.config_maps()
    for name in ("blog", "shop"):
        await sites.create(site(name))
        await asyncio.sleep(1)
        await pages.create(page(name, site=name))
        await world.settle()
    await sites.delete("blog")
    await world.settle()


@simulate()
async def test_missed_delete(world: World, factory: Factory = missed_delete.make_manager) -> None:
    """A site is created, and deleted a while later."""
    world.run(factory)
    await world.client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name="dns")))
    await world.client.resource(Site).create(site("shop"))
    await world.settle()
    await world.client.resource(Site).delete("shop")
    await world.settle()


@simulate()
async def test_blind_update(world: World, factory: Factory = blind_update.make_manager) -> None:
    """A person annotates the page of a site, and then changes the site."""
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.settle()
    note = {"metadata": {"annotations": {"example.com/reviewed-by": "lee"}}}
    await world.client.core_v1.config_maps().patch("shop", note, type="merge")
    await asyncio.sleep(1)
    change = {"spec": {"page": "welcome"}}
    await world.client.resource(Site).patch("shop", change, type="merge")
    await world.settle()


@simulate()
async def test_endless_requeue(
    world: World, factory: Factory = endless_requeue.make_manager
) -> None:
    """A site that is switched off."""
    world.run(factory)
    await world.client.resource(Site).create(site("shop", replicas=0))
    await world.settle()


@simulate()
async def test_leader_work(world: World, factory: Factory = leader_work.main) -> None:
    """Ten pages to migrate, which takes half a minute."""
    for number in range(10):
        await world.client.core_v1.config_maps().create(page(f"page-{number}", format="1"))
    world.run(factory)
    await world.settle()


@simulate()
async def test_flapping_default(
    world: World, factory: Factory = flapping_default.make_manager
) -> None:
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.settle()


@simulate()
async def test_plain_loop(world: World, factory: Factory = plain_loop.main) -> None:
    world.run(factory)
    for name in ("shop", "blog"):
        await world.client.core_v1.config_maps().create(page(name, site=name))
    await world.settle()
