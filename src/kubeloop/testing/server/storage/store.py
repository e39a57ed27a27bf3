"""Holds every object: one counter, collections in the API's order, a bounded history.

Promises: an object is encoded once for each write and its bytes are what is sent; a
stored object is never changed, only replaced; any state within the kept history can be
read again as it was; resource versions only grow.
Elsewhere: who may write what (`verbs`), who is told (`watching`), what survives the
process (`sqlite`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeAlias, final

import msgspec

__all__ = [
    "Change",
    "Collection",
    "Entry",
    "Object",
    "Storage",
    "Store",
    "StoreStats",
    "encoded",
    "entry_of",
    "key_of",
    "timestamp",
]

Object: TypeAlias = dict[str, Any]  # a JSON object of the API; never changed once it is stored
Storage: TypeAlias = tuple[str, str]  # the group and plural that a collection is stored under

HISTORY = 10_000  # changes kept for each collection
SNAPSHOTS = 16  # states kept for each collection for lists that come in pages

_encoder = msgspec.json.Encoder()


def encoded(value: object) -> bytes:
    """The JSON of a value, as everything here is encoded."""
    return _encoder.encode(value)


def timestamp(moment: datetime) -> str:
    """A moment as the API writes it, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def key_of(namespace: str, name: str) -> str:
    """Where an object stands in its collection; keys sort as etcd sorts them."""
    return f"{namespace}/{name}" if namespace else name


@final
class Entry(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One state of one object.

    `tail` is its JSON without the opening brace, kind and apiVersion: what stands in a
    list as it is, and behind a version's `head` everywhere else.
    """

    key: str
    obj: Object
    tail: bytes
    version: int

    @property
    def metadata(self) -> Object:
        found: Object = self.obj["metadata"]
        return found

    @property
    def namespace(self) -> str:
        return str(self.obj["metadata"].get("namespace", ""))

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.obj["metadata"].get("uid", ""))


def entry_of(obj: Object, version: int) -> Entry:
    """`obj` as it is stored at `version`, encoded now."""
    meta = {**obj["metadata"], "resourceVersion": str(version)}
    obj = {**obj, "metadata": meta}
    rest = {key: value for key, value in obj.items() if key not in _HEAD}
    key = key_of(meta.get("namespace", ""), meta["name"])
    return Entry(key, obj, _encoder.encode(rest)[1:], version)


_HEAD = frozenset({"kind", "apiVersion"})


@final
class Change(msgspec.Struct, frozen=True, eq=False):
    """One write: what stood there before, what stands there now.

    For a deletion `new` is None and `last` the last state under the deletion's version.
    """

    storage: Storage
    version: int
    old: Entry | None
    new: Entry | None
    last: Entry | None = None

    @property
    def key(self) -> str:
        entry = self.new or self.old
        assert entry is not None  # a change has at least one side
        return entry.key


@final
class Collection:
    """The objects of one resource, in order, with the changes that led here."""

    def __init__(self, *, floor: int, history: int) -> None:
        self.entries: dict[str, Entry] = {}
        self.keys: list[str] = []  # sorted; the same keys as `entries`
        self.history: deque[Change] = deque()
        self.floor = floor  # the oldest version whose state can still be told
        self.latest = floor  # the version of its latest change
        self._limit = history
        self._snapshots: dict[tuple[int, str], Sequence[Entry]] = {}

    def put(self, change: Change) -> None:
        """Make the change, and remember it."""
        key = change.key
        if change.new is None:
            del self.entries[key]
            del self.keys[bisect_left(self.keys, key)]
        else:
            if change.old is None:
                insort(self.keys, key)
            self.entries[key] = change.new
        self.latest = change.version
        self.history.append(change)
        if len(self.history) > self._limit:
            self.floor = self.history.popleft().version

    def forget(self, version: int) -> None:
        """Forget all history up to `version`."""
        self.history.clear()
        self._snapshots.clear()
        self.floor = version

    def select(self, namespace: str) -> list[Entry]:
        """The current objects of a namespace, or of all, in order."""
        entries = self.entries
        return [entries[key] for key in self._keys_in(namespace)]

    def at(self, version: int, namespace: str) -> Sequence[Entry] | None:
        """The objects as of `version`, in order; None when that is forgotten."""
        kept = self._snapshots.get((version, namespace))
        if kept is not None:
            return kept
        return None if version < self.floor else self._rebuilt(version, namespace)

    def keep(self, version: int, namespace: str, entries: Sequence[Entry]) -> None:
        """Keep a state that is likely to be asked for again."""
        self._snapshots[version, namespace] = entries
        while len(self._snapshots) > SNAPSHOTS:
            del self._snapshots[next(iter(self._snapshots))]

    def since(self, version: int) -> list[Change] | None:
        """The changes after `version`, oldest first; None when some are forgotten."""
        if version < self.floor:
            return None
        found: list[Change] = []
        for change in reversed(self.history):
            if change.version <= version:
                break
            found.append(change)
        found.reverse()
        return found

    def _keys_in(self, namespace: str) -> list[str]:
        if not namespace:
            return self.keys
        # "0" is the character after "/": all keys of the namespace and no others.
        low = bisect_left(self.keys, f"{namespace}/")
        high = bisect_left(self.keys, f"{namespace}0", low)
        return self.keys[low:high]

    def _rebuilt(self, version: int, namespace: str) -> list[Entry]:
        state = {entry.key: entry for entry in self.select(namespace)}
        for change in reversed(self.history):
            if change.version <= version:
                break
            if namespace and not change.key.startswith(f"{namespace}/"):
                continue
            if change.old is None:
                state.pop(change.key, None)
            else:
                state[change.key] = change.old
        return [state[key] for key in sorted(state)]


class StoreStats(msgspec.Struct, frozen=True):
    """How much is stored."""

    version: int
    objects: dict[str, int]  # by resource, those that have any
    history: int


@final
class Store:
    """All collections and the one counter.

    `listeners` are called with each change, in the order of versions, after it is made.
    """

    def __init__(self, *, version: int = 1, history: int = HISTORY) -> None:
        self._version = version
        self._history = history
        self._floor = 0
        self._collections: dict[Storage, Collection] = {}
        self.listeners: list[Callable[[Change], None]] = []

    @property
    def version(self) -> int:
        """The version of the latest write to anything."""
        return self._version

    def collection(self, storage: Storage) -> Collection:
        found = self._collections.get(storage)
        if found is None:
            found = Collection(floor=self._floor, history=self._history)
            self._collections[storage] = found
        return found

    def get(self, storage: Storage, key: str) -> Entry | None:
        return self.collection(storage).entries.get(key)

    def objects(self, group: str, plural: str) -> Iterator[Object]:
        """Every object of a collection, for those who only read."""
        return (entry.obj for entry in self.collection((group, plural)).select(""))

    def collections(self) -> Iterator[tuple[Storage, Collection]]:
        return iter(list(self._collections.items()))

    def write(self, storage: Storage, obj: Object) -> Entry:
        """Create or replace an object; it gets the next version."""
        version = self._next()
        entry = entry_of(obj, version)
        collection = self.collection(storage)
        self._commit(collection, Change(storage, version, collection.entries.get(entry.key), entry))
        return entry

    def remove(self, storage: Storage, key: str, *, last: Object | None = None) -> Entry:
        """Remove an object; returns its last state, `last` if given, at the new version."""
        version = self._next()
        collection = self.collection(storage)
        old = collection.entries[key]
        gone = entry_of(old.obj if last is None else last, version)
        self._commit(collection, Change(storage, version, old, None, gone))
        return gone

    def load(self, storage: Storage, entry: Entry) -> None:
        """Put back what was stored in an earlier life, before anybody listens."""
        collection = self.collection(storage)
        if entry.key not in collection.entries:
            insort(collection.keys, entry.key)
        collection.entries[entry.key] = entry

    def advance(self, version: int) -> None:
        """Go on from `version`; everything before it is history nobody kept."""
        self._version = max(self._version, version)
        self.forget()

    def forget(self) -> None:
        """Forget all history: older versions can be neither listed nor watched from."""
        self._floor = self._version
        for collection in self._collections.values():
            collection.forget(self._version)

    def stats(self) -> StoreStats:
        counts = {
            f"{plural}.{group}" if group else plural: len(found.entries)
            for (group, plural), found in sorted(self._collections.items())
            if found.entries
        }
        kept = sum(len(found.history) for found in self._collections.values())
        return StoreStats(version=self._version, objects=counts, history=kept)

    def _next(self) -> int:
        self._version += 1
        return self._version

    def _commit(self, collection: Collection, change: Change) -> None:
        collection.put(change)
        for listener in self.listeners:
            listener(change)
