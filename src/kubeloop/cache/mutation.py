"""A cache that knows one's own writes before the watch brings them: client-go's MutationCache.

Promises: a read gives the newer of what the store holds and what was written; what was
written is forgotten once the store has caught up, after a while, and when there is too much
of it. An object that was deleted does not come back because an answer was late.
Threads: any; a lock guards each call.
Elsewhere: waiting until a cache has seen a write (`lister`), who changes what a cache holds
(`mutation_detector`).
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

AT_MOST = 100
TTL = 300.0


class MutationCacheStats(msgspec.Struct, frozen=True):
    """What a mutation cache holds on top of its store."""

    written: int
    deleted: int
    ignored: int  # writes that came after something newer, or after the delete


class _Written(msgspec.Struct, frozen=True):
    entry: Entry
    until: float


class _Deleted(msgspec.Struct, frozen=True):
    """An object of that identity is gone, up to that version."""

    uid: str
    version: str
    until: float


@final
class MutationCache(Generic[T]):
    """One's own writes over `store`; tell it each write with `mutation`.

    With `include_adds` it also gives what the store does not hold at all. `on_update` and
    `on_delete` are for an informer's handler: they make it right when an answer to a write
    comes later than the watch event about it. Resource versions must be numbers.
    """

    def __init__(
        self,
        store: Indexer[T],
        *,
        include_adds: bool = False,
        at_most: int = AT_MOST,
        ttl: float = TTL,
        clock: Clock | None = None,
    ) -> None:
        self._store = store
        self._include_adds = include_adds
        self._at_most = at_most
        self._ttl = ttl
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._news: OrderedDict[ObjectKey, _Written | _Deleted] = OrderedDict()  # oldest use first
        self._ignored = 0

    def mutation(self, given: T | Entry) -> None:
        """What a write answered: the object as it is now.

        Raises:
            InvalidArgument: it has no name, or a version that is no number.
        """
        entry = given if isinstance(given, Entry) else self._store.keeper.keep(given)
        compare_versions(entry.version, entry.version)  # refuses what does not compare
        with self._lock:
            if self._is_late(entry):
                self._ignored += 1
            else:
                self._put(entry.key, _Written(entry, self._clock.now() + self._ttl))

    def on_update(self, entry: Entry) -> None:
        """The watch brought it: whatever of it is not newer is forgotten."""
        with self._lock:
            news = self._news.get(entry.key)
            seen = news.entry.version if isinstance(news, _Written) else news and news.version
            if seen and not is_newer(seen, entry.version):
                del self._news[entry.key]

    def on_delete(self, entry: Entry) -> None:
        """The watch says it is gone: an answer that is still to come does not bring it back."""
        with self._lock:
            news = self._news.get(entry.key)
            if isinstance(news, _Written) and _outlives(news.entry, entry.uid, entry.version):
                return
            until = self._clock.now() + self._ttl
            self._put(entry.key, _Deleted(entry.uid, entry.version, until))

    def get(self, key: ObjectKey) -> T | None:
        """The newer of what is held and what was written; None where there is neither."""
        entry = self.entry(key)
        return self._store.keeper.give(entry) if entry is not None else None

    def entry(self, key: ObjectKey) -> Entry | None:
        """As `get`, undecoded."""
        with self._lock:
            return self._newer(key, self._store.entry(key))

    def by_index(self, name: str, value: str) -> builtins.list[T]:
        """The objects that have a value, as they are according to `get`. Raises `UnknownIndex`."""
        with self._lock:
            held = self._store.entries_by_index(name, value)
            keys = dict.fromkeys([*(entry.key for entry in held), *self._news])
            newest = [self._newer(key, self._store.entry(key)) for key in keys]
        return [
            self._store.keeper.give(entry)
            for entry in newest
            if entry is not None and value in self._store.values_of(name, entry)
        ]

    def stats(self) -> MutationCacheStats:
        with self._lock:
            deleted = sum(isinstance(news, _Deleted) for news in self._news.values())
            return MutationCacheStats(
                written=len(self._news) - deleted, deleted=deleted, ignored=self._ignored
            )

    def _is_late(self, entry: Entry) -> bool:
        match self._fresh(entry.key):
            case _Written(known):
                return is_newer(known.version, entry.version)
            case _Deleted(uid, version):
                return not _outlives(entry, uid, version)
        return False

    def _newer(self, key: ObjectKey, held: Entry | None) -> Entry | None:
        news = self._fresh(key)
        if not isinstance(news, _Written):
            return held
        if held is None:
            return news.entry if self._include_adds else None
        if is_newer(news.entry.version, held.version):
            self._news.move_to_end(key)
            return news.entry
        del self._news[key]  # the store has caught up
        return held

    def _fresh(self, key: ObjectKey) -> _Written | _Deleted | None:
        news = self._news.get(key)
        if news is not None and self._clock.now() > news.until:
            del self._news[key]
            return None
        return news

    def _put(self, key: ObjectKey, news: _Written | _Deleted) -> None:
        self._news[key] = news
        self._news.move_to_end(key)
        if len(self._news) > self._at_most:
            self._news.popitem(last=False)


def _outlives(entry: Entry, uid: str, version: str) -> bool:
    """Whether it is another object than the one deleted, and a newer one."""
    return entry.uid != uid and is_newer(entry.version, version)
