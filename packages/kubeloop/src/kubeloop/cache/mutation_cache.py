"""A cache that has your own writes before the watch delivers them: client-go's MutationCache.

Guarantees: a read returns the newer of the stored and the written object. A write is forgotten
once the store has caught up, after its TTL, and when there are too many. A deleted object does
not come back because the response to a write was late.
Threads: any; a lock guards each call.
See also: `informer` (`wait_for_version`), `mutation_detector` (finds code that changes cached
objects).
"""

from __future__ import annotations

import builtins
import threading
from collections import OrderedDict
from typing import Generic, TypeVar, final

import msgspec

from kubeloop.kit import Clock, SystemClock
from kubeloop.meta import ObjectKey, compare_versions, is_newer

from .entry import Entry
from .indexer import Indexer

__all__ = ["MutationCache", "MutationCacheStats"]

T = TypeVar("T")

MAX_WRITES = 100
TTL = 300.0  # seconds


class MutationCacheStats(msgspec.Struct, frozen=True):
    """What a mutation cache holds in addition to its store."""

    written: int
    deleted: int
    ignored: int  # writes that arrived after a newer one, or after the delete


class _Written(msgspec.Struct, frozen=True):
    entry: Entry
    until: float


class _Deleted(msgspec.Struct, frozen=True):
    """The object with that uid is deleted, up to that version."""

    uid: str
    version: str
    until: float


@final
class MutationCache(Generic[T]):
    """Your own writes on top of `store`; call `mutation` after each write.

    With `include_adds` it also returns objects that the store does not have. Call `on_update` and
    `on_delete` from an informer's handler: they are for responses that arrive after the watch
    event of the same write. Resource versions must be numbers.
    """

    def __init__(
        self,
        store: Indexer[T],
        *,
        include_adds: bool = False,
        at_most: int = MAX_WRITES,
        ttl: float = TTL,
        clock: Clock | None = None,
    ) -> None:
        self._store = store
        self._include_adds = include_adds
        self._at_most = at_most
        self._ttl = ttl
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._recent: OrderedDict[ObjectKey, _Written | _Deleted] = (
            OrderedDict()
        )  # oldest use first
        self._ignored = 0

    def mutation(self, value: T | Entry) -> None:
        """Add the response to a write: the object as it is now.

        Raises:
            InvalidArgument: it has no name, or a version that is not a number.
        """
        entry = value if isinstance(value, Entry) else self._store.codec.encode(value)
        compare_versions(entry.version, entry.version)  # raises if it is not a number
        with self._lock:
            if self._is_late(entry):
                self._ignored += 1
            else:
                self._put(entry.key, _Written(entry, self._clock.now() + self._ttl))

    def on_update(self, entry: Entry) -> None:
        """The watch delivered it: forget a write that is not newer."""
        with self._lock:
            recent = self._recent.get(entry.key)
            seen = (
                recent.entry.version if isinstance(recent, _Written) else recent and recent.version
            )
            if seen and not is_newer(seen, entry.version):
                del self._recent[entry.key]

    def on_delete(self, entry: Entry) -> None:
        """The watch delivered its delete: a response that is still to come is ignored."""
        with self._lock:
            recent = self._recent.get(entry.key)
            if isinstance(recent, _Written) and _is_newer_object(
                recent.entry, entry.uid, entry.version
            ):
                return
            until = self._clock.now() + self._ttl
            self._put(entry.key, _Deleted(entry.uid, entry.version, until))

    def get(self, key: ObjectKey) -> T | None:
        """The newer of the stored and the written object; None if there is neither."""
        entry = self.entry(key)
        return self._store.codec.decode(entry) if entry is not None else None

    def entry(self, key: ObjectKey) -> Entry | None:
        """As `get`, undecoded."""
        with self._lock:
            return self._newer(key, self._store.entry(key))

    def by_index(self, name: str, value: str) -> builtins.list[T]:
        """The objects that have a value, as `get` returns them. Raises `UnknownIndex`."""
        with self._lock:
            stored = self._store.store.by_index(name, value)
            keys = dict.fromkeys([*(entry.key for entry in stored), *self._recent])
            newest = [self._newer(key, self._store.entry(key)) for key in keys]
        return [
            self._store.codec.decode(entry)
            for entry in newest
            if entry is not None and value in self._store.store.values_of(name, entry)
        ]

    def stats(self) -> MutationCacheStats:
        with self._lock:
            deleted = sum(isinstance(recent, _Deleted) for recent in self._recent.values())
            return MutationCacheStats(
                written=len(self._recent) - deleted, deleted=deleted, ignored=self._ignored
            )

    def _is_late(self, entry: Entry) -> bool:
        match self._unexpired(entry.key):
            case _Written(known):
                return is_newer(known.version, entry.version)
            case _Deleted(uid, version):
                return not _is_newer_object(entry, uid, version)
        return False

    def _newer(self, key: ObjectKey, stored: Entry | None) -> Entry | None:
        recent = self._unexpired(key)
        if not isinstance(recent, _Written):
            return stored
        if stored is None:
            return recent.entry if self._include_adds else None
        if is_newer(recent.entry.version, stored.version):
            self._recent.move_to_end(key)
            return recent.entry
        del self._recent[key]  # the store has caught up
        return stored

    def _unexpired(self, key: ObjectKey) -> _Written | _Deleted | None:
        recent = self._recent.get(key)
        if recent is not None and self._clock.now() > recent.until:
            del self._recent[key]
            return None
        return recent

    def _put(self, key: ObjectKey, recent: _Written | _Deleted) -> None:
        self._recent[key] = recent
        self._recent.move_to_end(key)
        if len(self._recent) > self._at_most:
            self._recent.popitem(last=False)


def _is_newer_object(entry: Entry, uid: str, version: str) -> bool:
    """Whether it is another, newer object than the deleted one."""
    return entry.uid != uid and is_newer(entry.version, version)
