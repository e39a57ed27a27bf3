"""Event handlers: from the change of an object to the keys to reconcile.

Guarantees: the states before and after a change both count, so that an owner is reconciled
when its object gets another owner, also if the object was re-created in a watch gap; live
changes have priority over the initial list and resyncs; a change passes a predicate that
raises, and the error is logged.
See also: `predicates` (which changes count), `kubeloop.workqueue` (the queue).
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
    "enqueue_mapped",
    "enqueue_object",
    "enqueue_owner",
    "owner_keys",
]

log = get_logger(__name__)

MapFunction: TypeAlias = Callable[[Any], Iterable[ObjectKey] | Awaitable[Iterable[ObjectKey]]]
"""From an object to the keys to reconcile (controller-runtime: `MapFunc`); plain or async."""


class WatchSource(msgspec.Struct, frozen=True):
    """Another kind whose changes add keys to a controller.

        watches=[WatchSource(ConfigMap, to=sites_that_use)]

    `to` is called with the object and returns the keys to reconcile; for an update also with
    the old object, for a delete with the final state and the one before, if they differ. In
    `owns` there is no `to`: the owner is reconciled.
    """

    kind: Watchable
    to: MapFunction | None = None
    predicates: Sequence[Predicate] = ()


class KeySink(Protocol):
    """Receives keys; a `PriorityQueue` fits."""

    def add(self, key: ObjectKey, *, priority: int = ...) -> None: ...


Handler: TypeAlias = Callable[[Change[Any]], Awaitable[None] | None]


def enqueue_object(sink: KeySink, predicates: Sequence[Predicate]) -> Handler:
    """Adds the key of the object (controller-runtime: `EnqueueRequestForObject`)."""

    def handle(change: Change[Any]) -> None:
        if not predicates or passes(change, predicates):
            low = change.is_initial or change.is_resync
            sink.add(change.key, priority=LOW_PRIORITY if low else 0)

    return handle


def enqueue_owner(
    sink: KeySink, predicates: Sequence[Predicate], owner: GroupKind, *, namespaced: bool
) -> Handler:
    """Adds the key of the controlling owner, if it is of that kind (`EnqueueRequestForOwner`)."""

    def handle(change: Change[Any]) -> None:
        if not passes(change, predicates):
            return
        priority = priority_of(change)
        states = (change.previous_entry, change.old_entry, change.new_entry)
        for key in owner_keys(states, owner, namespaced=namespaced):
            sink.add(key, priority=priority)

    return handle


def enqueue_mapped(sink: KeySink, predicates: Sequence[Predicate], to: MapFunction) -> Handler:
    """Adds the keys that a function returns (`EnqueueRequestsFromMapFunc`)."""

    async def handle(change: Change[Any]) -> None:
        if not passes(change, predicates):
            return
        keys: dict[ObjectKey, None] = {}
        for obj in _mapped_states(change):
            found = to(obj)
            keys |= dict.fromkeys(await found if inspect.isawaitable(found) else found)
        for key in keys:
            sink.add(_check_key(key, change), priority=priority_of(change))

    return handle


def owner_keys(
    states: Iterable[Entry | None], owner: GroupKind, *, namespaced: bool
) -> list[ObjectKey]:
    """The keys of the controlling owners of one object, in all states of a change."""
    keys: dict[ObjectKey, None] = {}
    for state in states:
        reference = state.controller if state is not None else None
        if state is None or reference is None or reference.kind != owner.kind:
            continue
        if GroupVersion.parse(reference.api_version).group == owner.group:
            keys[ObjectKey(state.key.namespace if namespaced else "", reference.name)] = None
    return list(keys)


def _mapped_states(change: Change[Any]) -> Iterator[Any]:
    """The states of the object in a change, each once, decoded one by one."""
    if change.previous_entry is not change.old_entry:
        yield change.previous
    if change.old_entry is not None and not change.is_resync:
        yield change.old
    if change.new_entry is not None:
        yield change.new


def priority_of(change: Change[Any]) -> int:
    """Low for the initial list and for resyncs, as in controller-runtime."""
    return LOW_PRIORITY if change.is_initial or change.is_resync else 0


def passes(change: Change[Any], predicates: Sequence[Predicate]) -> bool:
    """Whether a change passes all predicates; it passes one that raises."""
    for predicate in predicates:
        try:
            if not predicate(change):
                return False
        except Exception:
            log.exception("%s: predicate %r failed, the change passes", change.key, predicate)
    return True


def _check_key(key: object, change: Change[Any]) -> ObjectKey:
    if isinstance(key, ObjectKey):
        return key
    raise InvalidArgument(f"{change.key}: mapped to {key!r}, expected an ObjectKey")
