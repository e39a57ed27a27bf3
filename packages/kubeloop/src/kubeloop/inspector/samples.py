"""Takes samples of `stats()` of everything that an inspector shows.

Guarantees: it uses public methods only; an error of one part is recorded with its name, and
the others are still read.
See also: `collect` (what the page shows of a sample).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from kubeloop.cache import FactoryStats, InformerStats, SharedInformer, SharedInformerFactory
from kubeloop.election import ElectorStats
from kubeloop.errors import InvalidArgument
from kubeloop.events import EventBroadcaster, EventWatcher
from kubeloop.rest import RESTStats
from kubeloop.runtime import ControllerStats, Manager, ManagerStats
from kubeloop.wire.core.v1 import Event
from kubeloop.workqueue import QueueStats

__all__ = [
    "Inspectable",
    "ManagerParts",
    "Sample",
    "check_parts",
    "event_watcher",
    "informers_of",
    "take_sample",
    "unique_name",
]


@runtime_checkable
class Inspectable(Protocol):
    """Anything with `stats()`."""

    def stats(self) -> object: ...


class ManagerParts(msgspec.Struct, frozen=True):
    """The names of a manager's parts on the page, where names are unique among all managers."""

    name: str = ""
    informers: tuple[tuple[str, str], ...] = ()  # the name in the manager, and on the page
    controllers: Mapping[str, str] = {}  # by their names in the manager


class Sample(msgspec.Struct):
    """The stats of all parts at one time. `take_sample` fills it; then it does not change."""

    managers: list[ManagerStats] = []
    manager_parts: list[ManagerParts] = []  # one for each manager
    informers: dict[str, InformerStats] = {}  # by unique names
    controllers: dict[str, ControllerStats] = {}
    queues: dict[str, QueueStats] = {}  # without those of controllers
    elections: list[ElectorStats] = []
    requests: list[RESTStats] = []
    others: dict[str, object] = {}
    unreadable: dict[str, str] = {}  # parts whose stats() failed, with the error


def check_parts(parts: Sequence[object]) -> tuple[Inspectable, ...]:
    """The parts, if each has `stats()`. Raises: InvalidArgument."""
    if not parts:
        raise InvalidArgument("inspector: nothing to inspect (pass a manager, informers or queues)")
    for part in parts:
        if not isinstance(part, Inspectable):
            raise InvalidArgument(
                f"inspector: {part!r:.100} has no stats() (pass managers, informers, queues,"
                " electors, or other objects with stats())"
            )
    return tuple(part for part in parts if isinstance(part, Inspectable))


def take_sample(parts: Iterable[Inspectable]) -> Sample:
    """Read the stats of every part."""
    sample = Sample()
    for number, part in enumerate(parts, 1):
        name = _name_of(part, number)
        try:
            _add(sample, name, part.stats())
        except Exception as error:  # noqa: BLE001 - may be user code; shown on the page
            sample.unreadable[name] = str(error) or type(error).__name__
    return sample


def informers_of(parts: Iterable[Inspectable]) -> dict[str, SharedInformer[Any]]:
    """All informers that exist now, by the same names as in a sample."""
    found: dict[str, SharedInformer[Any]] = {}
    for part in parts:
        for informer in _informers(part):
            found[unique_name(informer.name, found)] = informer
    return found


def event_watcher(part: Inspectable) -> EventWatcher[Event] | None:
    """A watcher of the events that a part records; None if it records none, or not yet."""
    if isinstance(part, EventBroadcaster):
        return part.watch()
    if isinstance(part, Manager):
        with contextlib.suppress(InvalidArgument):  # not running yet
            return part.watch_events()
    return None


def unique_name(name: str, used: Iterable[str]) -> str:
    """The name, with a number if it is used already."""
    names, candidate, serial = set(used), name, 1
    while candidate in names:
        serial += 1
        candidate = f"{name}~{serial}"
    return candidate


def _informers(part: Inspectable) -> tuple[SharedInformer[Any], ...]:
    if isinstance(part, SharedInformer):
        return (part,)
    if isinstance(part, Manager | SharedInformerFactory):
        with contextlib.suppress(InvalidArgument):  # a manager that is not running yet
            return part.informers
    return ()


def _add(sample: Sample, name: str, stats: object) -> None:
    match stats:
        case ManagerStats():
            sample.managers.append(stats)
            sample.manager_parts.append(_add_manager(sample, name, stats))
        case FactoryStats():
            for informer in stats.informers:
                _add(sample, name, informer)
        case InformerStats():
            _add_informer(sample, stats)
        case ControllerStats():
            _add_controller(sample, stats)
        case QueueStats():
            sample.queues[unique_name(stats.name or name, sample.queues)] = stats
        case ElectorStats():
            sample.elections.append(stats)
        case RESTStats():
            sample.requests.append(stats)
        case None:
            pass  # a manager without an election, or before it has connected
        case _:
            sample.others[unique_name(name, sample.others)] = stats


def _add_manager(sample: Sample, name: str, stats: ManagerStats) -> ManagerParts:
    """Add the parts of a manager, and return their names."""
    for part in (stats.election, stats.requests):
        _add(sample, name, part)
    return ManagerParts(
        stats.election.identity if stats.election else name,
        tuple((each.name, _add_informer(sample, each)) for each in stats.informers),
        {each.name: _add_controller(sample, each) for each in stats.controllers},
    )


def _add_informer(sample: Sample, stats: InformerStats) -> str:
    name = unique_name(stats.name, sample.informers)
    sample.informers[name] = stats
    return name


def _add_controller(sample: Sample, stats: ControllerStats) -> str:
    name = unique_name(stats.name, sample.controllers)
    sample.controllers[name] = stats
    return name


def _name_of(part: Inspectable, number: int) -> str:
    name = getattr(part, "name", "")
    return name if isinstance(name, str) and name else f"{type(part).__name__} {number}"
