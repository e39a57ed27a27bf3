"""One object as the page shows it: its current state and its changes.

Guarantees: `describe_object` is a pure function, and can run in another thread.
See also: `rendering` (text and differences), `history` (the states).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from kubeloop.cache import Scope, SharedInformer
from kubeloop.meta import ObjectKey
from kubeloop.wire import format_time

from .history import State
from .model import Difference, Object
from .rendering import ObjectRenderer

__all__ = ["KnownObject", "describe_object", "find_object"]


class KnownObject(msgspec.Struct, frozen=True):
    """The state and the history of an object."""

    cache: str
    scope: Scope
    key: ObjectKey
    version: str
    raw: bytes  # empty if it was deleted
    states: tuple[State, ...]


def find_object(
    cache: str, informer: SharedInformer[Any], key: ObjectKey, states: tuple[State, ...]
) -> KnownObject | None:
    """The object in the cache and the history; None if neither has it."""
    entry = informer.indexer.entry(key)
    if entry is not None:
        raw = informer.indexer.codec.raw(entry)
        return KnownObject(cache, informer.scope, key, entry.version, raw, states)
    return KnownObject(cache, informer.scope, key, "", b"", states) if states else None


def describe_object(obj: KnownObject, renderer: ObjectRenderer) -> Object:
    """The object as YAML, and its changes as differences."""
    scope = obj.scope
    return Object(
        cache=obj.cache,
        kind=scope.kind or scope.resource,
        namespace=obj.key.namespace,
        name=obj.key.name,
        version=obj.version,
        yaml=renderer.yaml(obj.raw, scope) if obj.raw else None,
        changes=tuple(
            Difference(
                type=new.type,
                at=format_time(new.at),
                version=new.version,
                lines=renderer.changes(old.raw, new.raw, scope),
            )
            for old, new in reversed(list(pairwise(_with_creation(obj.states))))
        ),
    )


def _with_creation(states: tuple[State, ...]) -> tuple[State, ...]:
    """The states with an empty one first, if the first state is the creation."""
    if states and states[0].type == "Added":
        return (msgspec.structs.replace(states[0], raw=b""), *states)
    return states
