"""One object as the page shows it: what it is now, and how it became so.

Promises: pure, so that it can be done beside the event loop.
Elsewhere: text and differences (`showing`), what is remembered (`history`).
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
from .showing import Showing

__all__ = ["Known", "described", "known"]


class Known(msgspec.Struct, frozen=True):
    """All that is known of an object."""

    cache: str
    scope: Scope
    key: ObjectKey
    version: str
    raw: bytes  # empty when it is gone
    states: tuple[State, ...]


def known(
    cache: str, informer: SharedInformer[Any], key: ObjectKey, states: tuple[State, ...]
) -> Known | None:
    """What the cache and the history say; None if neither knows the object."""
    entry = informer.indexer.entry(key)
    if entry is not None:
        raw = informer.indexer.codec.raw(entry)
        return Known(cache, informer.scope, key, entry.version, raw, states)
    return Known(cache, informer.scope, key, "", b"", states) if states else None


def described(thing: Known, showing: Showing) -> Object:
    """The object, and its changes as differences."""
    scope = thing.scope
    return Object(
        cache=thing.cache,
        kind=scope.kind or scope.resource,
        namespace=thing.key.namespace,
        name=thing.key.name,
        version=thing.version,
        yaml=showing.yaml(thing.raw, scope) if thing.raw else None,
        changes=tuple(
            Difference(
                type=new.type,
                at=format_time(new.at),
                version=new.version,
                lines=showing.changes(old.raw, new.raw, scope),
            )
            for old, new in reversed(list(pairwise(_from_nothing(thing.states))))
        ),
    )


def _from_nothing(states: tuple[State, ...]) -> tuple[State, ...]:
    """An object that we saw being made was nothing before."""
    if states and states[0].type == "Added":
        return (msgspec.structs.replace(states[0], raw=b""), *states)
    return states
