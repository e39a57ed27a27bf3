"""From what the parts said to what the page shows.

Promises: pure: the same readings give the same page; a part that is not there leaves its
place empty.
Elsewhere: asking the parts (`parts`), what there is to show (`model`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kubeloop import runtime
from kubeloop.cache import HandlerStats, InformerStats
from kubeloop.election import ElectorStats, Idle, Leading
from kubeloop.workqueue import QueueStats

from .health import of_controller, of_election, of_informer
from .journal import Line
from .model import (
    About,
    Controller,
    Election,
    Handler,
    Index,
    Mirror,
    Other,
    Queue,
    Snapshot,
    Totals,
)
from .parts import Home, Reading
from .timeline import Timeline, total

__all__ = ["HANDLER", "collect", "numbers", "quantile"]

HANDLER = "inspector"
"""The name of the inspector's own handlers, which the page does not show."""
_OF_CONTROLLERS = "controller "  # how the handlers of controllers are named
_QUANTILE_OVER = 60  # notes of a timeline


def numbers(reading: Reading) -> dict[str, float]:
    """What to note of a reading, so that rates can be told."""
    found: dict[str, float] = {}
    for name, informer in reading.informers.items():
        found[f"events {name}"] = informer.reflector.events
        found[f"errors of {name}"] = informer.reflector.errors
    for name, controller in reading.controllers.items():
        found[f"tries {name}"] = controller.succeeded + controller.failed
        found[f"failures {name}"] = controller.failed
        found[f"depth {name}"] = controller.queue.queued
        for bound, count in controller.durations.items():
            found[f"within {bound} {name}"] = count
    for name, queue in reading.queues.items():
        found[f"depth of {name}"] = queue.queued
    found["requests"] = sum(each.requests for each in reading.requests)
    return found


def collect(
    reading: Reading,
    timeline: Timeline,
    lines: Iterable[Line],
    *,
    about: About,
    at: str,
    now: float,
) -> Snapshot:
    """The page at one moment; `now` is the clock that leases are measured by."""
    homes = _homes(reading)
    fed_by = {name: home for home in homes for name in home.informers}
    run_by = {name: home for home in homes for name in home.controllers.values()}
    return Snapshot(
        about=msgspec.structs.replace(about, state=_state(reading)),
        at=at,
        totals=_totals(reading, timeline),
        mirrors=tuple(
            _mirror(name, said, timeline, fed_by.get(name, Home()))
            for name, said in reading.informers.items()
        ),
        controllers=tuple(
            _controller(name, said, timeline, run_by.get(name, Home()))
            for name, said in reading.controllers.items()
        ),
        queues=tuple(
            _queue(name, queue, timeline.values(f"depth of {name}"))
            for name, queue in reading.queues.items()
        ),
        elections=tuple(_election(each, now) for each in reading.elections),
        others=tuple(Other(name, _plain(said)) for name, said in reading.others.items()),
        silent=reading.silent,
        lines=tuple(lines),
    )


def quantile(counts: Mapping[float, float], part: float) -> float | None:
    """The seconds within which this part of the tries ended, from counts by bound.

    Between two bounds tries are taken to be spread evenly. None without any try.
    """
    wanted = part * sum(counts.values())
    lower = 0.0
    for bound, count in counts.items():
        if count and wanted <= count:
            return (
                lower if math.isinf(bound) else round(lower + (bound - lower) * wanted / count, 4)
            )
        wanted -= count
        lower = bound
    return None


def _state(reading: Reading) -> str:
    states: list[str] = [manager.state for manager in reading.managers]
    if len(set(states)) > 1:
        return f"{states.count('running')} of {len(states)} running"
    return states[0] if states else ""


def _homes(reading: Reading) -> list[Home]:
    """The managers; one that is alone needs no name."""
    if len(reading.homes) > 1:
        return reading.homes
    return [msgspec.structs.replace(home, name="") for home in reading.homes]


def _totals(reading: Reading, timeline: Timeline) -> Totals:
    stores = [informer.store for informer in reading.informers.values()]
    informers, controllers = reading.informers, reading.controllers
    depths = [f"depth {name}" for name in controllers] + [
        f"depth of {name}" for name in reading.queues
    ]
    errors = [f"errors of {name}" for name in informers] + [
        f"failures {name}" for name in controllers
    ]
    return Totals(
        objects=sum(store.objects for store in stores),
        bytes=sum(store.bytes for store in stores),
        events=total([timeline.rates(f"events {name}") for name in informers]),
        reconciles=total([timeline.rates(f"tries {name}") for name in controllers]),
        depth=total([timeline.values(name) for name in depths]),
        errors=total([timeline.growth(name) for name in errors]),
        requests=timeline.rates("requests"),
    )


def _mirror(name: str, said: InformerStats, timeline: Timeline, home: Home) -> Mirror:
    resource, _, group = said.scope.resource.partition(".")
    reflector, queue, store = said.reflector, said.controller.queue, said.store
    where = [f"in {said.scope.namespace}"] if said.scope.namespace else []
    return Mirror(
        id=name,
        owner=home.name,
        kind=said.scope.kind or resource,
        group=group,
        scope=", ".join([*where, *filter(None, (said.scope.selector, said.scope.field_selector))]),
        health=of_informer(said),
        state=str(said.state if said.state != "running" else reflector.state),
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
        taken=queue.taken,
        has_synced=said.has_synced,
        objects=store.objects,
        bytes=store.bytes,
        store_as=said.codec.store_as,
        version=store.version,
        indexes=tuple(
            Index(index, each.values, each.failures) for index, each in store.indexes.items()
        ),
        handlers=tuple(_handler(each, home) for each in said.handlers if each.name != HANDLER),
    )


def _handler(said: HandlerStats, home: Home) -> Handler:
    controller = said.name.removeprefix(_OF_CONTROLLERS)
    return Handler(
        name=said.name,
        waiting=said.waiting,
        told=said.notified,
        merged=said.merged,
        failures=said.failures,
        controller=home.controllers.get(controller, controller) if controller != said.name else "",
    )


def _controller(
    name: str, said: runtime.ControllerStats, timeline: Timeline, home: Home
) -> Controller:
    grown = {bound: timeline.growth(f"within {bound} {name}") for bound in said.durations}
    lately = {bound: sum(counts[-_QUANTILE_OVER:]) for bound, counts in grown.items()}
    failures = timeline.growth(f"failures {name}")
    return Controller(
        name=name,
        owner=home.name,
        health=of_controller(said, failures),
        state=said.state,
        workers=said.workers,
        active=said.active[:20],
        succeeded=said.succeeded,
        failed=said.failed,
        terminal=said.terminal,
        timed_out=said.timed_out,
        waiting_for_cache=said.waiting_for_cache[:20],
        longest_cache_wait=round(said.longest_cache_wait, 3),
        last_error=said.last_error,
        rate=timeline.rates(f"tries {name}"),
        failures=failures,
        bounds=[None if math.isinf(bound) else bound for bound in grown],
        heat=[[int(count) for count in counts] for counts in zip(*grown.values(), strict=True)],
        median=quantile(lately, 0.5),
        slowest=quantile(lately, 0.99),
        queue=_queue(said.queue.name, said.queue, timeline.values(f"depth {name}")),
    )


def _queue(name: str, said: QueueStats, depth: Sequence[float]) -> Queue:
    return Queue(
        name=name,
        phase=said.state,
        queued=said.queued,
        in_work=said.processing,
        waiting=said.waiting,
        retries=said.retries,
        longest=round(said.longest_running, 3),
        depth=list(depth),
    )


def _election(said: ElectorStats, now: float) -> Election:
    state = "standing by"
    if isinstance(said.state, Leading):
        state = "leading"
    elif isinstance(said.state, Idle):
        state = "no candidate"
    return Election(
        name=said.name,
        health=of_election(said),
        state=state,
        identity=said.identity,
        leader=said.leader,
        writes=said.lock.writes,
        failures=said.lock.failures,
        last_error=said.lock.last_error,
        remaining=max(said.state.until - now, 0.0) if isinstance(said.state, Leading) else None,
    )


def _plain(said: object) -> dict[str, str]:
    """A struct's fields as text; anything else as it prints."""
    if not isinstance(said, msgspec.Struct):
        return {"": f"{said!r:.500}"}
    return {name: f"{getattr(said, name)!s:.200}" for name in said.__struct_fields__}
