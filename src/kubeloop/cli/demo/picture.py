"""What the dashboard shows, as values: read from `stats()` and listers, a few times a second.

Promises: nothing is asked of the server and nothing waited for.
Elsewhere: how it is drawn (`dashboard`, `panels`).
"""

from __future__ import annotations

from collections import deque
from typing import final

import msgspec

from kubeloop import Manager
from kubeloop.cache import InformerStats, ReflectorState

from .narrator import Line
from .stage import CANDIDATES, PodView, Stage

__all__ = ["Candidate", "Gauges", "Happening", "Mirror", "Picture", "Work", "pictured"]

BIN = 0.5  # seconds that one column of a plot stands for
COLUMNS = 60
_ORDER = ("Website", "Deployment", "Pod")  # who owns whom


class Mirror(msgspec.Struct, frozen=True):
    """One cache beside what the server has."""

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
    """One who may lead."""

    name: str
    is_running: bool
    is_leader: bool


class Work(msgspec.Struct, frozen=True):
    """Queue and controller; the plots have the newest value at the end."""

    depth: int = 0
    in_work: int = 0
    retries: int = 0  # keys that wait for their time
    reconciles: int = 0
    failed: int = 0
    rate: float = 0.0  # reconciles a second
    latency: float = 0.0  # seconds, the median of the last hundred
    depths: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()


class Happening(msgspec.Struct, frozen=True):
    """An event of the cluster."""

    about: str
    reason: str
    message: str


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at one moment."""

    elapsed: float
    scene: int
    scenes: int
    is_over: bool
    server: str
    inspector: str
    lines: tuple[Line, ...]
    mirrors: tuple[Mirror, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    nodes: tuple[tuple[str, tuple[str, ...]], ...] = ()  # with the phases of their pods
    work: Work = Work()
    events: tuple[Happening, ...] = ()


@final
class Gauges:
    """Remembers how deep the queue was and how much was done, in columns of half a second."""

    def __init__(self) -> None:
        self._depths: deque[int] = deque([0] * COLUMNS, maxlen=COLUMNS)
        self._rates: deque[int] = deque([0] * COLUMNS, maxlen=COLUMNS)
        self._bin = 0
        self._done = 0

    def note(self, elapsed: float, *, depth: int, done: int) -> None:
        """Take down a moment; `done` may begin anew with another leader."""
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
        """A second, over the last two whole columns."""
        return (self._rates[-2] + self._rates[-3]) / (2 * BIN)


def pictured(stage: Stage, gauges: Gauges, *, scenes: int) -> Picture:
    """The stage as it is now."""
    narrator, manager = stage.narrator, stage.manager
    return Picture(
        elapsed=narrator.elapsed(),
        scene=narrator.scene,
        scenes=scenes,
        is_over=narrator.is_over,
        server=stage.server.url,
        inspector=stage.inspector.url if stage.inspector is not None else "",
        lines=narrator.lines,
        mirrors=_mirrors(stage, manager),
        candidates=_candidates(stage),
        nodes=_nodes(manager),
        work=_work(stage, manager, gauges),
        events=_events(stage),
    )


def _mirrors(stage: Stage, manager: Manager) -> tuple[Mirror, ...]:
    there = stage.server.stats().store.objects
    mirrors = (_mirror(said, there) for said in manager.stats().informers)
    return tuple(sorted(mirrors, key=lambda mirror: _ORDER.index(mirror.kind)))


def _mirror(said: InformerStats, there: dict[str, int]) -> Mirror:
    plural = said.scope.resource.partition(".")[0]
    counts = {name.partition(".")[0]: count for name, count in there.items()}
    return Mirror(
        kind=said.scope.kind,
        state=said.reflector.state,
        objects=said.store.objects,
        on_server=counts.get(plural, 0),
        bytes=said.store.bytes,
        lists=said.reflector.lists + said.reflector.watch_lists,
    )


def _candidates(stage: Stage) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(name, name in stage.managers, name == stage.leader) for name in CANDIDATES
    )


def _nodes(manager: Manager) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not manager.stats().informers:  # it has not begun
        return ()
    nodes: dict[str, list[str]] = {}
    for pod in manager.lister(PodView).list():
        nodes.setdefault(pod.spec.node_name or "no node yet", []).append(pod.status.phase)
    return tuple((name, tuple(sorted(nodes[name], reverse=True))) for name in sorted(nodes))


def _work(stage: Stage, manager: Manager, gauges: Gauges) -> Work:
    controllers = manager.stats().controllers
    if not controllers:
        return Work(depths=gauges.depths, rates=gauges.rates)
    (said,) = controllers
    done = said.succeeded + said.failed
    gauges.note(stage.narrator.elapsed(), depth=said.queue.queued, done=done)
    latencies = sorted(stage.latencies)
    return Work(
        depth=said.queue.queued,
        in_work=said.queue.processing,
        retries=said.queue.waiting,
        reconciles=done,
        failed=said.failed,
        rate=gauges.rate(),
        latency=latencies[len(latencies) // 2] if latencies else 0.0,
        depths=gauges.depths,
        rates=gauges.rates,
    )


def _events(stage: Stage) -> tuple[Happening, ...]:
    return tuple(
        Happening(
            about=f"{each.involved_object.kind}/{each.involved_object.name}",
            reason=each.reason or "",
            message=each.message or "",
        )
        for each in stage.events
    )
