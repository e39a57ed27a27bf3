"""Records how objects change while the inspector runs.

Guarantees: bounded states for each object and bounded bytes in all; the object that has not
changed for longest is evicted first. Nothing is decoded, and objects that do not change are
not stored.
See also: `rendering` (states as differences), `kubeloop.cache` (the changes).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.cache import Change, Entry
from kubeloop.meta import ObjectKey

__all__ = ["BYTES", "STATES", "History", "HistoryStats", "State"]

STATES = 21
"""States stored for one object: twenty changes."""
BYTES = 16 << 20
"""Bytes stored for all objects together."""

_CacheKey: TypeAlias = tuple[str, ObjectKey]
_Raw: TypeAlias = Callable[[Entry], bytes]


class State(msgspec.Struct, frozen=True):
    """An object at one time."""

    type: str  # Before, Added, Updated, Deleted, Recreated
    at: datetime
    version: str
    raw: bytes  # empty if the object was deleted


class HistoryStats(msgspec.Struct, frozen=True):
    """The size of the history."""

    objects: int
    bytes: int
    evicted: int  # objects that were dropped for others


@final
class History:
    """The last states of the objects that changed."""

    def __init__(self, *, states: int = STATES, max_bytes: int = BYTES) -> None:
        self._states = states
        self._max_bytes = max_bytes
        self._objects: OrderedDict[_CacheKey, deque[State]] = OrderedDict()  # newest last
        self._bytes = 0
        self._evicted = 0

    def record(self, cache: str, change: Change[Any], raw: _Raw, at: datetime) -> None:
        """Record a change; `raw` returns the bytes of an entry."""
        if change.is_initial or change.is_resync:
            return
        cache_key = (cache, change.key)
        old, new = change.old_entry, change.new_entry
        if cache_key not in self._objects and old is not None:
            self._add(cache_key, State("Before", at, old.version, raw(old)))
        if new is not None:
            kind = "Recreated" if change.is_recreation else str(change.type)
            self._add(cache_key, State(kind, at, new.version, raw(new)))
        elif old is not None:
            self._add(cache_key, State("Deleted", at, old.version, b""))
        self._evict()

    def of(self, cache: str, key: ObjectKey) -> tuple[State, ...]:
        """The states of an object, oldest first."""
        return tuple(self._objects.get((cache, key), ()))

    def stats(self) -> HistoryStats:
        return HistoryStats(len(self._objects), self._bytes, self._evicted)

    def _add(self, cache_key: _CacheKey, state: State) -> None:
        states = self._objects.setdefault(cache_key, deque())
        self._objects.move_to_end(cache_key)
        states.append(state)
        self._bytes += len(state.raw)
        if len(states) > self._states:
            self._bytes -= len(states.popleft().raw)

    def _evict(self) -> None:
        # One object alone may be too large, and is evicted too.
        while self._bytes > self._max_bytes:
            _, states = self._objects.popitem(last=False)
            self._bytes -= sum(len(state.raw) for state in states)
            self._evicted += 1
