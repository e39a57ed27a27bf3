"""Remembers how objects changed while the inspector runs.

Promises: a bounded number of states of an object and a bounded number of bytes altogether;
what has not changed for longest is forgotten first. Nothing is decoded to remember it, and
what was there when the inspector came costs nothing.
Elsewhere: states as differences (`showing`), who tells of changes (`kubeloop.cache`).
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
"""States kept of one object: twenty changes."""
BYTES = 16 << 20
"""Bytes kept of all objects together."""

_Address: TypeAlias = tuple[str, ObjectKey]
_Raw: TypeAlias = Callable[[Entry], bytes]


class State(msgspec.Struct, frozen=True):
    """An object at one time."""

    type: str  # Known, Added, Updated, Deleted, Recreated
    at: datetime
    version: str
    raw: bytes  # empty for one that is gone


class HistoryStats(msgspec.Struct, frozen=True):
    """How much is remembered."""

    objects: int
    bytes: int
    forgotten: int  # objects that made room for others


@final
class History:
    """The last states of the objects that changed."""

    def __init__(self, *, states: int = STATES, at_most: int = BYTES) -> None:
        self._states = states
        self._at_most = at_most
        self._held: OrderedDict[_Address, deque[State]] = OrderedDict()  # the newest at the end
        self._bytes = 0
        self._forgotten = 0

    def note(self, cache: str, change: Change[Any], raw: _Raw, at: datetime) -> None:
        """Remember a change; `raw` gives the bytes of an entry."""
        if change.is_initial or change.is_resync:
            return
        address = (cache, change.key)
        old, new = change.old_entry, change.new_entry
        if address not in self._held and old is not None:
            self._add(address, State("Known", at, old.version, raw(old)))
        if new is not None:
            what = "Recreated" if change.is_recreation else str(change.type)
            self._add(address, State(what, at, new.version, raw(new)))
        elif old is not None:
            self._add(address, State("Deleted", at, old.version, b""))
        self._make_room()

    def of(self, cache: str, key: ObjectKey) -> tuple[State, ...]:
        """The states of an object, oldest first; the first is what the second changed."""
        return tuple(self._held.get((cache, key), ()))

    def stats(self) -> HistoryStats:
        return HistoryStats(len(self._held), self._bytes, self._forgotten)

    def _add(self, address: _Address, state: State) -> None:
        states = self._held.setdefault(address, deque())
        self._held.move_to_end(address)
        states.append(state)
        self._bytes += len(state.raw)
        if len(states) > self._states:
            self._bytes -= len(states.popleft().raw)

    def _make_room(self) -> None:
        # One object alone may be too large, and is forgotten as well.
        while self._bytes > self._at_most:
            _, states = self._held.popitem(last=False)
            self._bytes -= sum(len(state.raw) for state in states)
            self._forgotten += 1
