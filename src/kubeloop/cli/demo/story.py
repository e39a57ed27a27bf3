"""The scenes of the demo, one after the other.

Promises: what is said to have been seen was counted, not assumed; a scene ends when its
cluster is at rest; the last one compares every cached object with the server's.
Elsewhere: what the scenes act on (`stage`), who listens (`narrator`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from kubeloop import ALL_NAMESPACES, Manager, ObjectKey
from kubeloop.cache import InformerStats, ReflectorState
from kubeloop.testing import Match
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta

from .controller import Website, WebsiteSpec
from .stage import PodView, Stage

__all__ = ["SCENES", "Scene", "tell"]

Scene = Callable[[Stage], Awaitable[None]]

SITES = {"shop": 3, "blog": 2, "docs": 1}
CROWD = 20  # sites that are made while nobody watches


async def tell(stage: Stage) -> None:
    """All scenes. Raises: DemoFailed when something promised is not seen."""
    for title, scene in SCENES:
        stage.narrator.title(title)
        await scene(stage)
        await stage.pause(0.5)
    stage.narrator.is_over = True


# --- the scenes


async def _begin(stage: Stage) -> None:
    say = stage.narrator
    say.saw(f"an API server in this process, at {stage.server.url}, with three simulated nodes")
    say.why("it speaks real HTTP: kubectl and every Kubernetes client can talk to it")
    await stage.until("a leader", lambda: bool(stage.leader))
    await stage.manager.wait_ready()
    await stage.pause(0.8)
    page = stage.inspector.url if stage.inspector is not None else "nowhere"
    say.saw(f"the inspector, a page that shows this process live, at {page}")
    say.did("the class Website became a CustomResourceDefinition; two controllers started")
    waits = next(name for name in stage.managers if name != stage.leader)
    say.saw(f"{stage.leader} holds the lease and works; {waits} waits, with a warm cache")
    say.why("each kind is listed once, then followed by one watch: reads ask the cache only")


async def _create(stage: Stage) -> None:
    say = stage.narrator
    before = _reconciles(stage.manager)
    for name, replicas in SITES.items():
        await _create_site(stage, name, replicas)
        await stage.pause(0.3)
    say.did(f"created {len(SITES)} Websites; the controller makes a Deployment for each")
    await stage.until("all sites to be ready", lambda: _are_ready(stage, len(SITES)))
    say.saw(
        f"{sum(SITES.values())} pods run, after {_reconciles(stage.manager) - before} reconciles"
    )
    say.why("the queue holds keys, not events: ten changes of one object can be one reconcile")


async def _change(stage: Stage) -> None:
    say = stage.narrator
    shop = await _patch_site(stage, "shop", image="shop:2", replicas=4)
    say.did("the shop gets a new image and a fourth pod: a rolling update begins")
    available: list[int] = []

    def is_done() -> bool:
        deployment = stage.manager.lister(Deployment).get(ObjectKey.of(shop))
        available.append(deployment.status.available_replicas or 0 if deployment else 0)
        return _is_rolled_out(stage, shop)

    await stage.until("the rollout", is_done)
    say.saw(f"new pods came, old ones went, and never were fewer than {min(available)} available")
    await stage.pause(0.8)
    blog = await stage.client.resource(Website).get("blog")
    deployments = stage.client.resource(Deployment)
    old = await deployments.get("blog")
    await deployments.delete("blog")
    say.broke("somebody deletes the Deployment of the blog")
    await stage.until("the blog", lambda: _is_rolled_out(stage, blog, not_by=old))
    say.saw("it is back: its owner was put in the queue, and reconciled")
    say.why("a controller looks at how things are, not at what happened; so nothing is missed")


async def _fail(stage: Stage) -> None:
    say = stage.narrator
    before = stage.manager.stats().controllers[0].failed
    writes = Match(verb="patch", resource="deployments", name="docs", subresource="")
    stage.server.faults.fail(500, times=4, match=writes)
    say.broke("the server answers the next four writes of a Deployment with 500")
    docs = await _patch_site(stage, "docs", replicas=2)
    await stage.until("the docs", lambda: _is_rolled_out(stage, docs))
    failed = stage.manager.stats().controllers[0].failed - before
    say.saw(f"{failed} tries failed, the next one did it")
    say.why("a key that fails comes back after 5 ms, 10 ms, 20 ms and so on; others need not wait")


async def _cut(stage: Stage) -> None:
    say = stage.narrator
    before = _totals(stage.manager)
    let_go = stage.server.faults.hold(Match(verb="watch"))
    stage.server.drop_connections()
    say.broke("every connection is cut, in the middle of the streams, and no watch is answered")
    await stage.until("broken watches", lambda: _none_watching(stage.manager))
    shop = await _patch_site(stage, "shop", replicas=2)
    say.did("meanwhile the shop is made smaller; no watch hears of it")
    await stage.pause(2.0)
    let_go()
    await stage.until("the watches", lambda: _all_watching(stage.manager))
    await stage.until("the shop", lambda: _is_rolled_out(stage, shop))
    after = _totals(stage.manager)
    watches, lists = after.watches - before.watches, after.lists - before.lists
    say.saw(f"healed: {watches} watches went on where they were, {lists} lists were needed")
    say.why("a watch goes on at the last version that was seen: nothing is read twice, or missed")


async def _expire(stage: Stage) -> None:
    say = stage.narrator
    before = _totals(stage.manager)
    let_go = stage.server.faults.hold(Match(verb="watch", resource="websites"))
    stage.server.drop_connections()
    say.broke("cut again, and this time the watch of Websites is kept from coming back")
    await stage.until("a broken watch", lambda: not _all_watching(stage.manager))
    for number in range(CROWD):
        await _create_site(stage, f"page-{number:02}", 1)
    stage.server.expire_history()
    known = len(stage.manager.lister(Website))
    say.did(f"{CROWD} more Websites: the server has {known + CROWD}, the cache {known}")
    await stage.pause(1.5)
    say.broke("and the server forgets its history: the cache's version is too old")
    let_go()
    await stage.until("410 Gone", lambda: _was_expired(stage.manager))
    await stage.until("a new list", lambda: len(stage.manager.lister(Website)) == known + CROWD)
    lists = _totals(stage.manager).lists - before.lists
    say.saw(f"healed: 410 Gone, so the kind was listed again ({lists} in all), and compared")
    say.why("what changed unseen is told as if it had been seen: handlers notice no gap")
    await stage.until("all sites to be ready", lambda: _are_ready(stage, known + CROWD))
    await stage.until("an empty queue", lambda: _is_idle(stage.manager))
    say.saw(f"the queue is empty again, and {CROWD} new Deployments are there")


async def _fail_over(stage: Stage) -> None:
    say = stage.narrator
    await stage.until("a leader", lambda: bool(stage.leader))
    old = stage.leader
    await stage.kill(old)
    say.broke(f"{old}, the leader, is killed; the lease stays behind")
    blog = await _patch_site(stage, "blog", replicas=3)
    say.did("the blog is to have a third pod, and nobody may work on it")
    began = say.elapsed()
    await stage.until("another leader", lambda: stage.leader not in {"", old})
    say.saw(f"{stage.leader} leads, {say.elapsed() - began:.1f} s later: the lease had run out")
    await stage.until("the blog", lambda: _is_rolled_out(stage, blog))
    say.saw("and the blog has its third pod")
    say.why("at most one leads at any time: a leader stops before others may take its lease")
    stage.begin(old)


async def _prove(stage: Stage) -> None:
    say = stage.narrator
    compared: dict[str, int] = {}

    async def is_equal() -> bool:
        for kind, form in ((Website, Website), (Deployment, Deployment), (Pod, PodView)):
            there = await stage.client.resource(kind, namespace=ALL_NAMESPACES).list()
            if _versions(there) != _cached(stage.manager, form):
                return False
            compared[kind.__name__] = len(there.items)
        return True

    await stage.until("the cache to equal the server", is_equal)
    counts = ", ".join(f"{count} {name}s" for name, count in compared.items())
    say.saw(f"cache equals server: {counts}, each at the same version")
    said = stage.manager.stats()
    requests = said.requests.requests if said.requests is not None else 0
    say.saw(f"not one differs, after {requests} requests and all that was broken on the way")


SCENES: tuple[tuple[str, Scene], ...] = (
    ("A server, a kind, a controller", _begin),
    ("Objects come to life", _create),
    ("Change, and somebody who meddles", _change),
    ("A write that fails", _fail),
    ("The watch is cut", _cut),
    ("The watch is cut for too long", _expire),
    ("The leader dies", _fail_over),
    ("Proof", _prove),
)


# --- looking


class _Totals:
    """What the mirrors of a manager have gone through, together."""

    def __init__(self, mirrors: Iterable[InformerStats]) -> None:
        said = [mirror.reflector for mirror in mirrors]
        self.lists = sum(each.lists + each.watch_lists for each in said)
        self.watches = sum(each.watches for each in said)


def _totals(manager: Manager) -> _Totals:
    return _Totals(manager.stats().informers)


def _reconciles(manager: Manager) -> int:
    return sum(each.succeeded for each in manager.stats().controllers)


def _was_expired(manager: Manager) -> bool:
    """Whether a mirror was told that the version it knows is too old."""
    return any("410" in each.reflector.last_error for each in manager.stats().informers)


def _all_watching(manager: Manager) -> bool:
    mirrors = manager.stats().informers
    return all(each.reflector.state is ReflectorState.WATCHING for each in mirrors)


def _none_watching(manager: Manager) -> bool:
    mirrors = manager.stats().informers
    return all(each.reflector.state is not ReflectorState.WATCHING for each in mirrors)


def _is_idle(manager: Manager) -> bool:
    queues = [each.queue for each in manager.stats().controllers]
    return not any(queue.queued or queue.processing for queue in queues)


def _are_ready(stage: Stage, count: int) -> bool:
    sites = stage.manager.lister(Website).list()
    return len(sites) == count and all(map(_is_ready, sites))


def _is_ready(site: Website) -> bool:
    return site.status is not None and site.status.ready == site.spec.replicas


def _is_rolled_out(stage: Stage, wanted: Website, *, not_by: Deployment | None = None) -> bool:
    """Whether the cache has a site as it is wanted, with all its pods.

    It may still have to hear of what is `wanted`, and of the end of the Deployment `not_by`.
    """
    key, replicas = ObjectKey.of(wanted), wanted.spec.replicas
    site = stage.manager.lister(Website).get(key)
    deployment = stage.manager.lister(Deployment).get(key)
    if site is None or site.metadata.generation < wanted.metadata.generation:
        return False
    if deployment is None or (not_by and deployment.metadata.uid == not_by.metadata.uid):
        return False
    said = deployment.status
    return (
        deployment.spec.template.spec.containers[0].image == wanted.spec.image
        and said.observed_generation == deployment.metadata.generation
        and said.updated_replicas == said.replicas == said.available_replicas == replicas
        and stage.manager.lister(PodView).count({"site": key.name}) == replicas
        and _is_ready(site)
    )


def _versions(objects: Iterable[Any]) -> dict[ObjectKey, str]:
    return {ObjectKey.of(each): each.metadata.resource_version for each in objects}


def _cached(manager: Manager, form: type[Any]) -> dict[ObjectKey, str]:
    return {entry.key: entry.version for entry in manager.lister(form).metadata()}


async def _patch_site(stage: Stage, name: str, **spec: str | int) -> Website:
    return await stage.client.resource(Website).patch(name, {"spec": spec}, type="merge")


async def _create_site(stage: Stage, name: str, replicas: int) -> None:
    spec = WebsiteSpec(image=f"{name}:1", replicas=replicas)
    await stage.client.resource(Website).create(Website(metadata=ObjectMeta(name=name), spec=spec))
