"""The scenes of the demo.

Guarantees: every result that is logged was observed and counted; a scene ends when the cluster
has settled; the last scene compares every cached object with the server.
See also: `environment` (what the scenes act on), `log` (what they write).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from kubeloop import ALL_NAMESPACES, Manager, ObjectKey
from kubeloop.cache import InformerStats, ReflectorState
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import Match

from .controller import Website, WebsiteSpec
from .environment import DemoEnvironment, PodView
from .log import plural

__all__ = ["SCENES", "Scene", "play_scenes"]

Scene = Callable[[DemoEnvironment], Awaitable[None]]

SITES = {"shop": 3, "blog": 2, "docs": 1}
EXTRA_SITES = 20  # created while no watch is open


async def play_scenes(env: DemoEnvironment) -> None:
    """Play all scenes. Raises: DemoFailed if an expected result does not appear."""
    for title, scene in SCENES:
        env.log.title(title)
        await scene(env)
        await env.pause(0.5)
    env.log.is_over = True


# --- the scenes


async def _start(env: DemoEnvironment) -> None:
    log = env.log
    log.result(f"started an API server at {env.server.url}, with three simulated nodes")
    log.reason("the server speaks HTTP: kubectl and any other Kubernetes client can use it")
    await env.until("a leader", lambda: bool(env.leader))
    await env.manager.wait_ready()
    await env.pause(0.8)
    page = env.inspector.url if env.inspector is not None else "-"
    log.result(f"started the inspector, a live web page about this process, at {page}")
    log.action("created a CRD from the class Website, and started two candidates of a controller")
    standby = next(name for name in env.managers if name != env.leader)
    log.result(f"{env.leader} holds the lease; {standby} is on standby, with a warm cache")
    log.reason("each kind is listed once and then watched; all reads come from the cache")


async def _create(env: DemoEnvironment) -> None:
    log = env.log
    before = _reconciles(env.manager)
    for name, replicas in SITES.items():
        await _create_site(env, name, replicas)
        await env.pause(0.3)
    log.action(f"created {len(SITES)} Websites; the controller creates a Deployment for each")
    await env.until("all sites to be ready", lambda: _are_ready(env, len(SITES)))
    log.result(
        f"{sum(SITES.values())} pods run after"
        f" {plural(_reconciles(env.manager) - before, 'reconcile')}"
    )
    log.reason("the queue holds keys, not events: many changes of one object need one reconcile")


async def _change(env: DemoEnvironment) -> None:
    log = env.log
    shop = await _patch_site(env, "shop", image="shop:2", replicas=4)
    log.action("changed the image of shop and scaled it to 4 replicas: a rolling update starts")
    available: list[int] = []

    def is_done() -> bool:
        deployment = env.manager.lister(Deployment).get(ObjectKey.of(shop))
        available.append(deployment.status.available_replicas or 0 if deployment else 0)
        return _is_rolled_out(env, shop)

    await env.until("the rollout", is_done)
    least = min(available)
    log.result(
        f"the rollout finished; at least {plural(least, 'pod')} {'was' if least == 1 else 'were'}"
        " available all the time"
    )
    await env.pause(0.8)
    blog = await env.client.resource(Website).get("blog")
    deployments = env.client.resource(Deployment)
    old = await deployments.get("blog")
    await deployments.delete("blog")
    log.fault("deleted the Deployment of blog, as a user might")
    await env.until("the blog", lambda: _is_rolled_out(env, blog, replaced=old))
    log.result("the controller created it again: the deletion queued its owner")
    log.reason("a reconcile compares the current state with the spec; it does not depend on events")


async def _fail(env: DemoEnvironment) -> None:
    log = env.log
    before = env.manager.stats().controllers[0].failed
    writes = Match(verb="patch", resource="deployments", name="docs", subresource="")
    env.server.faults.fail(500, times=4, match=writes)
    log.fault("the server fails the next four writes of a Deployment with 500")
    docs = await _patch_site(env, "docs", replicas=2)
    await env.until("the docs", lambda: _is_rolled_out(env, docs))
    failed = env.manager.stats().controllers[0].failed - before
    log.result(f"{plural(failed, 'reconcile')} failed, the next one succeeded")
    log.reason("a failed key is retried after 5 ms, 10 ms, 20 ms and so on; other keys do not wait")


async def _interrupt(env: DemoEnvironment) -> None:
    log = env.log
    before = _totals(env.manager)
    release = env.server.faults.hold(Match(verb="watch"))
    env.server.drop_connections()
    log.fault("closed every connection, and held back every new watch")
    await env.until("broken watches", lambda: _none_watching(env.manager))
    shop = await _patch_site(env, "shop", replicas=2)
    log.action("scaled shop to 2 replicas, while no watch is open")
    await env.pause(2.0)
    release()
    await env.until("the watches", lambda: _all_watching(env.manager))
    await env.until("the shop", lambda: _is_rolled_out(env, shop))
    after = _totals(env.manager)
    watches, lists = after.watches - before.watches, after.lists - before.lists
    log.result(
        f"recovered: {plural(watches, 'watch', 'watches')} resumed,"
        f" {plural(lists, 'list')} {'was' if lists == 1 else 'were'} needed"
    )
    log.reason("a watch resumes at the last resource version: no event is missed or repeated")


async def _expire(env: DemoEnvironment) -> None:
    log = env.log
    before = _totals(env.manager)
    release = env.server.faults.hold(Match(verb="watch", resource="websites"))
    env.server.drop_connections()
    log.fault("closed every connection again, and held back the watch of Websites")
    await env.until("a broken watch", lambda: not _all_watching(env.manager))
    for number in range(EXTRA_SITES):
        await _create_site(env, f"page-{number:02}", 1)
    env.server.expire_history()
    cached = len(env.manager.lister(Website))
    log.action(
        f"{EXTRA_SITES} more Websites: the server has {cached + EXTRA_SITES}, the cache {cached}"
    )
    await env.pause(1.5)
    log.fault("compacted the history of the server: the cached version has expired")
    release()
    await env.until("410 Gone", lambda: _has_expired(env.manager))
    await env.until("a new list", lambda: len(env.manager.lister(Website)) == cached + EXTRA_SITES)
    lists = _totals(env.manager).lists - before.lists
    log.result(f"recovered: 410 Gone, so the informer listed again ({lists} in total) and compared")
    log.reason("handlers are notified of every difference, as if the watch had never stopped")
    await env.until("all sites to be ready", lambda: _are_ready(env, cached + EXTRA_SITES))
    await env.until("an empty queue", lambda: _is_idle(env.manager))
    log.result(f"the queue is empty, and there are {EXTRA_SITES} new Deployments")


async def _fail_over(env: DemoEnvironment) -> None:
    log = env.log
    await env.until("a leader", lambda: bool(env.leader))
    old = env.leader
    await env.kill(old)
    log.fault(f"killed {old}, the leader, without releasing its lease")
    blog = await _patch_site(env, "blog", replicas=3)
    log.action("scaled blog to 3 replicas, while there is no leader")
    started = log.elapsed()
    await env.until("another leader", lambda: env.leader not in {"", old})
    log.result(
        f"{env.leader} leads after {log.elapsed() - started:.1f} s, when the lease had expired"
    )
    await env.until("the blog", lambda: _is_rolled_out(env, blog))
    log.result("blog has its third pod")
    log.reason(
        "at most one process leads: it stops working before another one can acquire the lease"
    )
    env.start(old)


async def _compare(env: DemoEnvironment) -> None:
    log = env.log
    compared: dict[str, int] = {}

    async def is_equal() -> bool:
        for kind, model in ((Website, Website), (Deployment, Deployment), (Pod, PodView)):
            listed = await env.client.resource(kind, namespace=ALL_NAMESPACES).list()
            if _versions(listed) != _cached(env.manager, model):
                return False
            compared[kind.__name__] = len(listed.items)
        return True

    await env.until("the cache to equal the server", is_equal)
    counts = ", ".join(plural(count, name) for name, count in compared.items())
    log.result(f"the cache equals the server: {counts}, each at the same version")
    stats = env.manager.stats()
    requests = stats.requests.requests if stats.requests is not None else 0
    log.result(f"no difference after {plural(requests, 'request')} and all these failures")


SCENES: tuple[tuple[str, Scene], ...] = (
    ("A server, a kind, a controller", _start),
    ("Create objects", _create),
    ("Change and delete objects", _change),
    ("A write fails", _fail),
    ("A watch is interrupted", _interrupt),
    ("A watch expires", _expire),
    ("The leader fails", _fail_over),
    ("Compare cache and server", _compare),
)


# --- conditions


class _Totals:
    """Lists and watches of all informers of a manager."""

    def __init__(self, informers: Iterable[InformerStats]) -> None:
        reflectors = [informer.reflector for informer in informers]
        self.lists = sum(each.lists + each.watch_lists for each in reflectors)
        self.watches = sum(each.watches for each in reflectors)


def _totals(manager: Manager) -> _Totals:
    return _Totals(manager.stats().informers)


def _reconciles(manager: Manager) -> int:
    return sum(each.succeeded for each in manager.stats().controllers)


def _has_expired(manager: Manager) -> bool:
    """Whether an informer received 410 Gone for its version."""
    return any("410" in each.reflector.last_error for each in manager.stats().informers)


def _all_watching(manager: Manager) -> bool:
    informers = manager.stats().informers
    return all(each.reflector.state is ReflectorState.WATCHING for each in informers)


def _none_watching(manager: Manager) -> bool:
    informers = manager.stats().informers
    return all(each.reflector.state is not ReflectorState.WATCHING for each in informers)


def _is_idle(manager: Manager) -> bool:
    queues = [each.queue for each in manager.stats().controllers]
    return not any(queue.ready or queue.processing for queue in queues)


def _are_ready(env: DemoEnvironment, count: int) -> bool:
    sites = env.manager.lister(Website).list()
    return len(sites) == count and all(map(_is_ready, sites))


def _is_ready(site: Website) -> bool:
    return site.status is not None and site.status.ready == site.spec.replicas


def _is_rolled_out(
    env: DemoEnvironment, expected: Website, *, replaced: Deployment | None = None
) -> bool:
    """Whether the cache has the site at this generation or later, with all its pods.

    `replaced` is a Deployment that was deleted, and does not count.
    """
    key, replicas = ObjectKey.of(expected), expected.spec.replicas
    site = env.manager.lister(Website).get(key)
    deployment = env.manager.lister(Deployment).get(key)
    if site is None or site.metadata.generation < expected.metadata.generation:
        return False
    if deployment is None or (replaced and deployment.metadata.uid == replaced.metadata.uid):
        return False
    status = deployment.status
    return (
        deployment.spec.template.spec.containers[0].image == expected.spec.image
        and status.observed_generation == deployment.metadata.generation
        and status.updated_replicas == status.replicas == status.available_replicas == replicas
        and env.manager.lister(PodView).count({"site": key.name}) == replicas
        and _is_ready(site)
    )


def _versions(objects: Iterable[Any]) -> dict[ObjectKey, str]:
    return {ObjectKey.of(each): each.metadata.resource_version for each in objects}


def _cached(manager: Manager, model: type[Any]) -> dict[ObjectKey, str]:
    return {entry.key: entry.version for entry in manager.lister(model).metadata()}


async def _patch_site(env: DemoEnvironment, name: str, **spec: str | int) -> Website:
    return await env.client.resource(Website).patch(name, {"spec": spec}, type="merge")


async def _create_site(env: DemoEnvironment, name: str, replicas: int) -> None:
    spec = WebsiteSpec(image=f"{name}:1", replicas=replicas)
    await env.client.resource(Website).create(Website(metadata=ObjectMeta(name=name), spec=spec))
