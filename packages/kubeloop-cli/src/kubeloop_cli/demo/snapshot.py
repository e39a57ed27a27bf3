"""The values that the dashboard shows, read from `stats()` and listers.

Guarantees: no requests and no waiting.
See also: `dashboard` and `panels` (how they are drawn).
"""

from __future__ import annotations

from collections import deque
from typing import final

import msgspec

from kubeloop import Manager
from kubeloop.cache import InformerStats, ReflectorState

from .environment import CANDIDATES, DemoEnvironment, PodView
from .log import LogEntry

__all__ = [
    "ActivityHistory",
    "CacheSnapshot",
    "Candidate",
    "ClusterEvent",
    "ControllerSnapshot",
    "Snapshot",
    "take_snapshot",
]

BIN = 0.5  # seconds per column of a plot
COLUMNS = 60
_ORDER = ("Website", "Deployment", "Pod")  # owners first


class CacheSnapshot(msgspec.Struct, frozen=True):
    """One cache compared with the server."""

    kind: str
    state: str  # as `ReflectorState`
    objects: int
    on_server: int
    bytes: int
    lists: int

    @property
    def is_live(self) -> bool:
        return self.state == ReflectorState.WATCHING


class Candidate(msgspec.Struct, frozen=True):
    """One candidate of the election."""

    name: str
    is_running: bool
    is_leader: bool


class ControllerSnapshot(msgspec.Struct, frozen=True):
    """The controller and its queue; plots end with the newest value."""

    depth: int = 0
    processing: int = 0
    delayed: int = 0  # keys
    reconciles: int = 0
    failed: int = 0
    rate: float = 0.0  # reconciles a second
    latency: float = 0.0  # seconds, median of the last hundred reconciles
    depths: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()


class ClusterEvent(msgspec.Struct, frozen=True):
    """A Kubernetes event; `involved` is the object as `Kind/name`."""

    involved: str
    reason: str
    message: str


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the demo at one time."""

    elapsed: float
    scene: int
    scenes: int
    is_over: bool
    server: str
    inspector: str
    entries: tuple[LogEntry, ...]
    caches: tuple[CacheSnapshot, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    nodes: tuple[tuple[str, tuple[str, ...]], ...] = ()  # with the phases of their pods
    controller: ControllerSnapshot = ControllerSnapshot()
    events: tuple[ClusterEvent, ...] = ()


@final
class ActivityHistory:
    """Queue depth and reconciles over time, in columns of half a second."""

    def __init__(self) -> None:
        self._depths: deque[int] = deque([0] * COLUMNS, maxlen=COLUMNS)
        self._rates: deque[int] = deque([0] * COLUMNS, maxlen=COLUMNS)
        self._bin = 0
        self._done = 0

    def record(self, elapsed: float, *, depth: int, done: int) -> None:
        """Add a sample; `done` restarts from zero with another leader."""
        if int(elapsed / BIN) != self._bin:
            self._bin = int(elapsed / BIN)
            self._depths.append(0)
            self._rates.append(0)
        self._depths[-1] = max(self._depths[-1], depth)
        self._rates[-1] += max(done - self._done, 0)
        self._done = done

    @property
    def depths(self) -> tuple[int, ...]:
        return tuple(self._depths)

    @property
    def rates(self) -> tuple[int, ...]:
        return tuple(self._rates)

    def rate(self) -> float:
        """Reconciles per second, over the last two complete columns."""
        return (self._rates[-2] + self._rates[-3]) / (2 * BIN)


def take_snapshot(env: DemoEnvironment, history: ActivityHistory, *, scenes: int) -> Snapshot:
    """The current state of the environment."""
    log, manager = env.log, env.manager
    return Snapshot(
        elapsed=log.elapsed(),
        scene=log.scene,
        scenes=scenes,
        is_over=log.is_over,
        server=env.server.url,
        inspector=env.inspector.url if env.inspector is not None else "",
        entries=log.entries,
        caches=_caches(env, manager),
        candidates=_candidates(env),
        nodes=_nodes(manager),
        controller=_controller(env, manager, history),
        events=_events(env),
    )


def _caches(env: DemoEnvironment, manager: Manager) -> tuple[CacheSnapshot, ...]:
    on_server = env.server.stats().store.objects
    caches = (_cache(stats, on_server) for stats in manager.stats().informers)
    return tuple(sorted(caches, key=lambda cache: _ORDER.index(cache.kind)))


def _cache(stats: InformerStats, on_server: dict[str, int]) -> CacheSnapshot:
    plural = stats.scope.resource.partition(".")[0]
    counts = {name.partition(".")[0]: count for name, count in on_server.items()}
    return CacheSnapshot(
        kind=stats.scope.kind,
        state=stats.reflector.state,
        objects=stats.store.objects,
        on_server=counts.get(plural, 0),
        bytes=stats.store.bytes,
        lists=stats.reflector.lists + stats.reflector.watch_lists,
    )


def _candidates(env: DemoEnvironment) -> tuple[Candidate, ...]:
    return tuple(Candidate(name, name in env.managers, name == env.leader) for name in CANDIDATES)


def _nodes(manager: Manager) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not manager.stats().informers:  # not started yet
        return ()
    nodes: dict[str, list[str]] = {}
    for pod in manager.lister(PodView).list():
        nodes.setdefault(pod.spec.node_name or "no node yet", []).append(pod.status.phase)
    return tuple((name, tuple(sorted(nodes[name], reverse=True))) for name in sorted(nodes))


def _controller(
    env: DemoEnvironment, manager: Manager, history: ActivityHistory
) -> ControllerSnapshot:
    controllers = manager.stats().controllers
    if not controllers:
        return ControllerSnapshot(depths=history.depths, rates=history.rates)
    (stats,) = controllers
    done = stats.succeeded + stats.failed
    history.record(env.log.elapsed(), depth=stats.queue.ready, done=done)
    latencies = sorted(env.latencies)
    return ControllerSnapshot(
        depth=stats.queue.ready,
        processing=stats.queue.processing,
        delayed=stats.queue.delayed,
        reconciles=done,
        failed=stats.failed,
        rate=history.rate(),
        latency=latencies[len(latencies) // 2] if latencies else 0.0,
        depths=history.depths,
        rates=history.rates,
    )


def _events(env: DemoEnvironment) -> tuple[ClusterEvent, ...]:
    return tuple(
        ClusterEvent(
            involved=f"{each.involved_object.kind}/{each.involved_object.name}",
            reason=each.reason or "",
            message=each.message or "",
        )
        for each in env.events
    )
