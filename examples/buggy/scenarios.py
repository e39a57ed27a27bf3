"""What happens to each controller of this folder: a test, as its author would write it.

Each scenario takes the simulated world and the controller, with the bug or without it. Without
faults the buggy controllers pass, too, except `endless_requeue` and `flapping_default`.
See also: README.md (what finds each bug).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine

from examples.buggy.kinds import Site, SiteSpec
from kubeloop import AlreadyExists, ClusterConfig, Manager
from kubeloop.testing.simulation import World
from kubeloop.wire.core.v1 import ConfigMap, Namespace
from kubeloop.wire.meta.v1 import ObjectMeta

Factory = Callable[[ClusterConfig], Manager | Coroutine[None, None, None]]


def site(name: str, page: str = "hello", replicas: int = 1) -> Site:
    return Site(metadata=ObjectMeta(name=name), spec=SiteSpec(page=page, replicas=replicas))


def page(name: str, **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels=labels), data={"notes": "mine"})


async def foreign_object(world: World, factory: Factory) -> None:
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


async def status_before_work(world: World, factory: Factory) -> None:
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.settle()


async def forgotten_child(world: World, factory: Factory) -> None:
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.settle()


async def counter_in_memory(world: World, factory: Factory) -> None:
    """Two sites, the second a while after the first."""
    world.run(factory)
    for name in ("shop", "blog"):
        await world.client.resource(Site).create(site(name, page=f"this is the {name}"))
        await world.settle()


async def stale_delete(world: World, factory: Factory) -> None:
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


async def missed_delete(world: World, factory: Factory) -> None:
    """A site is created, and deleted a while later."""
    world.run(factory)
    await world.client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name="dns")))
    await world.client.resource(Site).create(site("shop"))
    await world.settle()
    await world.client.resource(Site).delete("shop")
    await world.settle()


async def blind_update(world: World, factory: Factory) -> None:
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


async def endless_requeue(world: World, factory: Factory) -> None:
    """A site that is switched off."""
    world.run(factory)
    await world.client.resource(Site).create(site("shop", replicas=0))
    await world.settle()


async def leader_work(world: World, factory: Factory) -> None:
    """Ten pages to migrate, which takes half a minute."""
    for number in range(10):
        await world.client.core_v1.config_maps().create(page(f"page-{number}", format="1"))
    world.run(factory)
    await world.settle()


async def flapping_default(world: World, factory: Factory) -> None:
    world.run(factory)
    await world.client.resource(Site).create(site("shop"))
    await world.settle()


async def plain_loop(world: World, factory: Factory) -> None:
    world.run(factory)
    for name in ("shop", "blog"):
        await world.client.core_v1.config_maps().create(page(name, site=name))
    await world.settle()
