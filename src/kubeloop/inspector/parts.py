"""What an inspector is given to look at, and what it says of itself.

Promises: only `stats()` and other public doors are asked; a part that fails to answer is
named with its error, and the others are read all the same.
Elsewhere: what the page makes of it (`collect`).
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
    "Home",
    "Inspectable",
    "Reading",
    "checked",
    "event_watcher",
    "informers_of",
    "read",
    "told_apart",
]


@runtime_checkable
class Inspectable(Protocol):
    """Whatever says how it is."""

    def stats(self) -> object: ...


class Home(msgspec.Struct, frozen=True):
    """A manager, and what its parts are called here: two may have parts of the same name."""

    name: str = ""
    informers: tuple[str, ...] = ()
    controllers: Mapping[str, str] = {}  # by the names that they have in their manager


class Reading(msgspec.Struct):
    """What all parts said at one moment. Filled by `read`, and then left alone."""

    managers: list[ManagerStats] = []
    homes: list[Home] = []  # one a manager
    informers: dict[str, InformerStats] = {}  # by the names that `told_apart` gives
    controllers: dict[str, ControllerStats] = {}
    queues: dict[str, QueueStats] = {}  # of no controller
    elections: list[ElectorStats] = []
    requests: list[RESTStats] = []
    others: dict[str, object] = {}
    silent: dict[str, str] = {}  # parts that could not answer, and why


def checked(parts: Sequence[object]) -> tuple[Inspectable, ...]:
    """The parts, if each can be read. Raises: InvalidArgument."""
    if not parts:
        raise InvalidArgument(
            "inspector: nothing to look at (give it a manager, informers or queues)"
        )
    for part in parts:
        if not isinstance(part, Inspectable):
            raise InvalidArgument(
                f"inspector: {part!r:.100} has no stats() (give it managers, informers, queues,"
                " electors, or whatever has)"
            )
    return tuple(part for part in parts if isinstance(part, Inspectable))


def read(parts: Iterable[Inspectable]) -> Reading:
    """Ask every part how it is."""
    reading = Reading()
    for number, part in enumerate(parts, 1):
        name = _name_of(part, number)
        try:
            _file(reading, name, part.stats())
        except Exception as error:  # noqa: BLE001 - it may be the user's own; said on the page
            reading.silent[name] = str(error) or type(error).__name__
    return reading


def informers_of(parts: Iterable[Inspectable]) -> dict[str, SharedInformer[Any]]:
    """All informers there are now, by the names that a reading has for them."""
    found: dict[str, SharedInformer[Any]] = {}
    for part in parts:
        for informer in _informers(part):
            found[told_apart(informer.name, found)] = informer
    return found


def event_watcher(part: Inspectable) -> EventWatcher[Event] | None:
    """The events that a part records from now on; None if it records none, or not yet."""
    if isinstance(part, EventBroadcaster):
        return part.watch()
    if isinstance(part, Manager):
        with contextlib.suppress(InvalidArgument):  # it does not run yet
            return part.watch_events()
    return None


def told_apart(name: str, taken: Iterable[str]) -> str:
    """The name, or one like it that nobody has."""
    names, candidate, serial = set(taken), name, 1
    while candidate in names:
        serial += 1
        candidate = f"{name}~{serial}"
    return candidate


def _informers(part: Inspectable) -> tuple[SharedInformer[Any], ...]:
    if isinstance(part, SharedInformer):
        return (part,)
    if isinstance(part, Manager | SharedInformerFactory):
        with contextlib.suppress(InvalidArgument):  # a manager that does not run yet
            return part.informers
    return ()


def _file(reading: Reading, name: str, said: object) -> None:
    match said:
        case ManagerStats():
            reading.managers.append(said)
            reading.homes.append(_home(reading, name, said))
        case FactoryStats():
            for informer in said.informers:
                _file(reading, name, informer)
        case InformerStats():
            _file_informer(reading, said)
        case ControllerStats():
            _file_controller(reading, said)
        case QueueStats():
            reading.queues[told_apart(said.name or name, reading.queues)] = said
        case ElectorStats():
            reading.elections.append(said)
        case RESTStats():
            reading.requests.append(said)
        case None:
            pass  # a manager without an election, or not connected yet
        case _:
            reading.others[told_apart(name, reading.others)] = said


def _home(reading: Reading, name: str, said: ManagerStats) -> Home:
    """File a manager's parts, and note what they are called."""
    for part in (said.election, said.requests):
        _file(reading, name, part)
    return Home(
        said.election.identity if said.election else name,
        tuple(_file_informer(reading, each) for each in said.informers),
        {each.name: _file_controller(reading, each) for each in said.controllers},
    )


def _file_informer(reading: Reading, said: InformerStats) -> str:
    name = told_apart(said.name, reading.informers)
    reading.informers[name] = said
    return name


def _file_controller(reading: Reading, said: ControllerStats) -> str:
    name = told_apart(said.name, reading.controllers)
    reading.controllers[name] = said
    return name


def _name_of(part: Inspectable, number: int) -> str:
    named = getattr(part, "name", "")
    return named if isinstance(named, str) and named else f"{type(part).__name__} {number}"
