"""Computes the values of the page from samples of `stats()`.

Guarantees: pure functions: the same samples give the same page.
See also: `samples` (how samples are taken), `model` (the values).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from kubeloop import runtime
from kubeloop.cache import HandlerStats, InformerStats
from kubeloop.election import ElectorStats, Idle, Leading
from kubeloop.workqueue import QueueStats

from .health import controller_health, election_health, informer_health
from .journal import JournalEntry
from .model import (
    Controller,
    Election,
    Failing,
    Handler,
    Index,
    Informer,
    ManagerState,
    Other,
    Process,
    Queue,
    Snapshot,
    Totals,
)
from .samples import ManagerParts, Sample
from .timeline import Timeline, total

__all__ = ["HANDLER", "collect", "numbers", "quantile"]

T = TypeVar("T")

HANDLER = "inspector"
"""The name of the handlers that the inspector adds; the page does not show them."""
_CONTROLLER_PREFIX = "controller "  # in the names of the handlers of controllers
_QUANTILE_OVER = 60  # samples of the timeline
_MAX_FAILING = 100  # keys that are sent to the page
# Running managers first, because an ended one is rarely of interest.
_STATE_ORDER = ("running", "starting", "stopping", "new", "ended")


def numbers(sample: Sample) -> dict[str, float]:
    """The numbers of a sample to record in a timeline, from which rates are computed."""
    found: dict[str, float] = {}
    for name, informer in sample.informers.items():
        found[f"events {name}"] = informer.reflector.events
        found[f"errors of {name}"] = informer.reflector.errors
    for name, controller in sample.controllers.items():
        found[f"reconciles {name}"] = controller.succeeded + controller.failed
        found[f"failures {name}"] = controller.failed
        found[f"depth {name}"] = controller.queue.ready
        for bound, count in controller.durations.items():
            found[f"within {bound} {name}"] = count
    for name, queue in sample.queues.items():
        found[f"depth of {name}"] = queue.ready
    found["requests"] = sum(each.requests for each in sample.requests)
    return found


def collect(
    sample: Sample,
    timeline: Timeline,
    journal: Iterable[JournalEntry],
    *,
    process: Process,
    at: str,
    now: float,
) -> Snapshot:
    """The values of the page; `now` is the time of the monotonic clock of the elections."""
    managers = _managers(sample)
    manager_of_informer = {name: each for _, each in managers for _, name in each.informers}
    manager_of_controller = {
        name: each for _, each in managers for name in each.controllers.values()
    }
    return Snapshot(
        process=msgspec.structs.replace(process, state=_state(sample)),
        at=at,
        totals=_totals(sample, timeline),
        informers=tuple(
            _informer(name, stats, timeline, manager_of_informer.get(name, ManagerParts()))
            for name, stats in _by_manager(sample.informers, manager_of_informer)
        ),
        controllers=tuple(
            _controller(
                name, stats, timeline, manager_of_controller.get(name, ManagerParts()), sample
            )
            for name, stats in _by_manager(sample.controllers, manager_of_controller)
        ),
        queues=tuple(
            _queue(name, queue, timeline.values(f"depth of {name}"))
            for name, queue in sample.queues.items()
        ),
        elections=tuple(_election(each, now) for each in sample.elections),
        others=tuple(Other(name, _as_text(stats)) for name, stats in sample.others.items()),
        unreadable=sample.unreadable,
        journal=tuple(journal),
        managers=tuple(
            ManagerState(parts.name, str(stats.state), stats.is_leader) for stats, parts in managers
        )
        if len(managers) > 1
        else (),
    )


def quantile(counts: Mapping[float, float], part: float) -> float | None:
    """A quantile of durations in seconds, from counts by upper bound; None without any count.

    Interpolates linearly within a bucket, as Prometheus does.
    """
    rank = part * sum(counts.values())
    lower = 0.0
    for bound, count in counts.items():
        if count and rank <= count:
            return lower if math.isinf(bound) else round(lower + (bound - lower) * rank / count, 4)
        rank -= count
        lower = bound
    return None


def _state(sample: Sample) -> str:
    states: list[str] = [manager.state for manager in sample.managers]
    if len(set(states)) > 1:
        return f"{states.count('running')} of {len(states)} running"
    return states[0] if states else ""


def _managers(sample: Sample) -> list[tuple[runtime.ManagerStats, ManagerParts]]:
    """The managers, the running ones first; a single one is shown without a name."""
    found = list(zip(sample.managers, sample.manager_parts, strict=True))
    if len(found) == 1:
        ((stats, parts),) = found
        return [(stats, msgspec.structs.replace(parts, name=""))]
    return sorted(
        found, key=lambda each: (_STATE_ORDER.index(each[0].state), not each[0].is_leader)
    )


def _by_manager(
    stats: Mapping[str, T], manager_of: Mapping[str, ManagerParts]
) -> list[tuple[str, T]]:
    """The parts in the order of the managers; those without a manager first."""
    position = {name: number for number, name in enumerate(manager_of)}
    return sorted(stats.items(), key=lambda each: position.get(each[0], -1))


def _totals(sample: Sample, timeline: Timeline) -> Totals:
    stores = [informer.store for informer in sample.informers.values()]
    informers, controllers = sample.informers, sample.controllers
    depths = [f"depth {name}" for name in controllers] + [
        f"depth of {name}" for name in sample.queues
    ]
    errors = [f"errors of {name}" for name in informers] + [
        f"failures {name}" for name in controllers
    ]
    return Totals(
        objects=sum(store.objects for store in stores),
        bytes=sum(store.bytes for store in stores),
        events=total([timeline.rates(f"events {name}") for name in informers]),
        reconciles=total([timeline.rates(f"reconciles {name}") for name in controllers]),
        depth=total([timeline.values(name) for name in depths]),
        errors=total([timeline.growth(name) for name in errors]),
        requests=timeline.rates("requests"),
    )


def _informer(
    name: str, stats: InformerStats, timeline: Timeline, manager: ManagerParts
) -> Informer:
    resource, _, group = stats.scope.resource.partition(".")
    reflector, queue, store = stats.reflector, stats.controller.queue, stats.store
    namespace = [f"in {stats.scope.namespace}"] if stats.scope.namespace else []
    return Informer(
        id=name,
        manager=manager.name,
        kind=stats.scope.kind or resource,
        group=group,
        namespace=stats.scope.namespace,
        scope=", ".join(
            [*namespace, *filter(None, (stats.scope.selector, stats.scope.field_selector))]
        ),
        health=informer_health(stats),
        state=str(stats.state if stats.state != "running" else reflector.state),
        event_age=reflector.event_age,
        lists=reflector.lists + reflector.watch_lists,
        watches=reflector.watches + reflector.watch_lists,
        events=reflector.events,
        errors=reflector.errors,
        last_error=reflector.last_error,
        failures=0 if reflector.outage is None else reflector.outage.failures,
        failing_for=None if reflector.outage is None else reflector.outage.seconds,
        rate=timeline.rates(f"events {name}"),
        deltas=queue.deltas,
        applied=queue.taken,
        has_synced=stats.has_synced,
        objects=store.objects,
        bytes=store.bytes,
        store_as=stats.codec.store_as,
        version=store.version,
        indexes=tuple(
            Index(index, each.values, each.failures) for index, each in store.indexes.items()
        ),
        handlers=tuple(_handler(each, manager) for each in stats.handlers if each.name != HANDLER),
    )


def _handler(stats: HandlerStats, manager: ManagerParts) -> Handler:
    controller = stats.name.removeprefix(_CONTROLLER_PREFIX)
    return Handler(
        name=stats.name,
        backlog=stats.backlog,
        notified=stats.notified,
        merged=stats.merged,
        failures=stats.failures,
        controller=manager.controllers.get(controller, controller)
        if controller != stats.name
        else "",
    )


def _controller(
    name: str,
    stats: runtime.ControllerStats,
    timeline: Timeline,
    manager: ManagerParts,
    sample: Sample,
) -> Controller:
    caches = [name for original, name in manager.informers if original in stats.informers]
    growth = {bound: timeline.growth(f"within {bound} {name}") for bound in stats.durations}
    recent = {bound: sum(counts[-_QUANTILE_OVER:]) for bound, counts in growth.items()}
    failures = timeline.growth(f"failures {name}")
    return Controller(
        name=name,
        manager=manager.name,
        health=controller_health(stats, failures),
        state=stats.state,
        workers=stats.workers,
        active=stats.active[:20],
        succeeded=stats.succeeded,
        failed=stats.failed,
        terminal=stats.terminal,
        timed_out=stats.timed_out,
        waiting_for_cache=stats.waiting_for_cache[:20],
        longest_cache_wait=round(stats.longest_cache_wait, 3),
        last_error=stats.last_error,
        rate=timeline.rates(f"reconciles {name}"),
        failures=failures,
        bounds=[None if math.isinf(bound) else bound for bound in growth],
        heatmap=[[int(count) for count in counts] for counts in zip(*growth.values(), strict=True)],
        median=quantile(recent, 0.5),
        p99=quantile(recent, 0.99),
        queue=_queue(stats.queue.name, stats.queue, timeline.values(f"depth {name}")),
        failing=tuple(
            Failing(str(each.key), each.error, each.attempts, each.is_terminal, round(each.age, 1))
            for each in stats.failing[:_MAX_FAILING]
        ),
        failing_total=len(stats.failing),
        caches={sample.informers[each].scope.namespace: each for each in caches},
    )


def _queue(name: str, stats: QueueStats, depth: Sequence[float]) -> Queue:
    return Queue(
        name=name,
        state=stats.state,
        ready=stats.ready,
        processing=stats.processing,
        delayed=stats.delayed,
        retries=stats.retries,
        longest=round(stats.longest_running, 3),
        depth=list(depth),
    )


def _election(stats: ElectorStats, now: float) -> Election:
    state = "standby"
    if isinstance(stats.state, Leading):
        state = "leading"
    elif isinstance(stats.state, Idle):
        state = "no candidate"
    return Election(
        name=stats.name,
        health=election_health(stats),
        state=state,
        identity=stats.identity,
        leader=stats.leader,
        writes=stats.lock.writes,
        failures=stats.lock.failures,
        last_error=stats.lock.last_error,
        remaining=max(stats.state.until - now, 0.0) if isinstance(stats.state, Leading) else None,
    )


def _as_text(stats: object) -> dict[str, str]:
    """The fields of a struct as text; the repr of anything else."""
    if not isinstance(stats, msgspec.Struct):
        return {"": f"{stats!r:.500}"}
    return {name: f"{getattr(stats, name)!s:.200}" for name in stats.__struct_fields__}
