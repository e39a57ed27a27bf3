"""From a change of some object to the keys that are to be reconciled because of it.

Promises: what there was before a change and what there is after it both count, so that an
object which loses its owner is noticed by the owner, and so is one that was deleted and
created again under another owner during a watch gap; live changes go before the first list
and before resyncs; a predicate that fails lets the change pass, and the log says so.
Elsewhere: which changes are worth it (`predicates`), the queue (`kubeloop.workqueue`).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from kubeloop.cache import Change, Entry, Watchable
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupKind, GroupVersion, ObjectKey
from kubeloop.wire import get_logger
from kubeloop.workqueue import LOW_PRIORITY

from .predicates import Predicate

__all__ = [
    "KeySink",
    "MapFunction",
    "WatchSource",
    "on_mapped",
    "on_owned",
    "on_self",
    "owner_keys",
]

log = get_logger(__name__)

MapFunction: TypeAlias = Callable[[Any], Iterable[ObjectKey] | Awaitable[Iterable[ObjectKey]]]
"""From an object to the keys that it concerns, plain or async."""


class WatchSource(msgspec.Struct, frozen=True):
    """Objects of another kind whose changes matter to a controller, and to whom.

        watches=[Watch(ConfigMap, to=sites_that_use)]

    `to` gets the object and names the keys to reconcile; of an update it gets the old one as
    well, and of a delete the final state and the one before, where they differ. In `owns`
    there is no `to`: the owner is reconciled.
    """

    kind: Watchable
    to: MapFunction | None = None
    predicates: Sequence[Predicate] = ()


class KeySink(Protocol):
    """Where keys go; a `PriorityQueue` fits."""

    def add(self, key: ObjectKey, *, priority: int = ...) -> None: ...


Handler: TypeAlias = Callable[[Change[Any]], Awaitable[None] | None]


def on_self(sink: KeySink, predicates: Sequence[Predicate]) -> Handler:
    """The object that changed is reconciled."""

    def handle(change: Change[Any]) -> None:
        if passes(change, predicates):
            sink.add(change.key, priority=priority_of(change))

    return handle


def on_owned(
    sink: KeySink, predicates: Sequence[Predicate], owner: GroupKind, *, namespaced: bool
) -> Handler:
    """The controller of the object that changed is reconciled, when it is of that kind."""

    def handle(change: Change[Any]) -> None:
        if not passes(change, predicates):
            return
        priority = priority_of(change)
        states = (change.previous_entry, change.old_entry, change.new_entry)
        for key in owner_keys(states, owner, namespaced=namespaced):
            sink.add(key, priority=priority)

    return handle


def on_mapped(sink: KeySink, predicates: Sequence[Predicate], to: MapFunction) -> Handler:
    """Those are reconciled whom a function names."""

    async def handle(change: Change[Any]) -> None:
        if not passes(change, predicates):
            return
        keys: dict[ObjectKey, None] = {}
        for obj in _mapped_states(change):
            found = to(obj)
            keys |= dict.fromkeys(await found if inspect.isawaitable(found) else found)
        for key in keys:
            sink.add(_checked(key, change), priority=priority_of(change))

    return handle


def owner_keys(
    states: Iterable[Entry | None], owner: GroupKind, *, namespaced: bool
) -> list[ObjectKey]:
    """The keys of the controllers of one object, in all states that a change is about."""
    keys: dict[ObjectKey, None] = {}
    for state in states:
        found = state.controller if state is not None else None
        if state is None or found is None or found.kind != owner.kind:
            continue
        if GroupVersion.parse(found.api_version).group == owner.group:
            keys[ObjectKey(state.key.namespace if namespaced else "", found.name)] = None
    return list(keys)


def _mapped_states(change: Change[Any]) -> Iterator[Any]:
    """The states of the object that a change is about, each once, decoded one by one."""
    if change.previous_entry is not change.old_entry:
        yield change.previous
    if change.old_entry is not None and not change.is_resync:
        yield change.old
    if change.new_entry is not None:
        yield change.new


def priority_of(change: Change[Any]) -> int:
    """Behind every live change: what was there before, and what is only told again."""
    return LOW_PRIORITY if change.is_initial or change.is_resync else 0


def passes(change: Change[Any], predicates: Sequence[Predicate]) -> bool:
    """Whether all predicates let it pass; one that fails does."""
    for predicate in predicates:
        try:
            if not predicate(change):
                return False
        except Exception:
            log.exception("%s: the predicate %r failed, the change counts", change.key, predicate)
    return True


def _checked(key: object, change: Change[Any]) -> ObjectKey:
    if isinstance(key, ObjectKey):
        return key
    raise InvalidArgument(f"{change.key}: mapped to {key!r}, which is no ObjectKey")
