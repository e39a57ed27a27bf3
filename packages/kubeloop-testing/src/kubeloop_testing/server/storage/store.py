"""Stores every object: one version counter, sorted collections, a bounded history.

It has the role of etcd and of kube-apiserver's watch cache: all writes are serialized by one
counter, and a list or a watch can start at any version that is still in the history.

Guarantees: an object is encoded once per write, and the encoded bytes are what clients
receive; a stored object is never modified, only replaced; every state within the history can
be read again; resource versions only grow.
See also: `verbs` (which writes are allowed), `watching` (delivery of changes to watches),
`sqlite` (persistence).
"""

from __future__ import annotations

import os
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import datetime
from typing import Final, TypeAlias, final

import msgspec

from kubeloop.wire import JsonObject
from kubeloop.wire.protobuf_messages import message_of
from kubeloop.wire.protobuf_writing import envelope, message_bytes

from ..statuses import untyped_error
from ..values.go_order import encode_object
from ..values.go_types import go_type_of
from ..values.shared_specs import shared_text, written_text

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
    "new_uid",
    "tail_of",
    "timestamp",
]

Object: TypeAlias = JsonObject  # a JSON object of the API; never modified once it is stored
Storage: TypeAlias = tuple[str, str]  # the group and plural that a collection is stored under

HISTORY = 10_000  # changes per collection, before the oldest are compacted
SNAPSHOTS = 16  # states per collection that are kept for paged lists

# The JSON of a value. The encoder's own method, without a wrapper: every write and
# every response passes here several times.
encoded: Final[Callable[[object], bytes]] = msgspec.json.Encoder().encode


def new_uid() -> str:
    """A random UUID, in a third of the time of `uuid.uuid4`: every request and object has one."""
    digits = os.urandom(16).hex()
    # Version 4 and the two bits of the variant are fixed.
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def timestamp(moment: datetime) -> str:
    """A point in time as `metav1.Time` writes it: UTC, whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def key_of(namespace: str, name: str) -> str:
    """The key of an object in its collection; keys sort in the order of etcd's keys."""
    return f"{namespace}/{name}" if namespace else name


@final
class Entry(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One state of one object.

    `tail` is its JSON without the opening brace, kind and apiVersion. A list contains the tail
    as it is; everywhere else a `head` with kind and apiVersion precedes it.
    `stored` is what was written, if that differs from `obj`, what is read: the schema of a custom
    kind may have changed since.
    """

    key: str
    obj: Object
    tail: bytes
    version: int
    stored: Object | None = None
    # Its protobuf, by the representation that has written it.
    messages: dict[Hashable, bytes] = msgspec.field(default_factory=dict)

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


def entry_of(obj: Object, version: int, stored: Object | None = None) -> Entry:
    """`obj` as it is stored at `version`, with its encoding."""
    meta = {**obj["metadata"], "resourceVersion": str(version)}
    obj = {**obj, "metadata": meta}
    if stored is not None:
        stored = {**stored, "metadata": meta}
    key = key_of(meta.get("namespace", ""), meta["name"])
    return Entry(key, obj, tail_of(obj), version, stored)


def tail_of(obj: Object) -> bytes:
    """The JSON of an object without the opening brace, kind and apiVersion."""
    rest = dict(obj)
    kind, api_version = str(rest.pop("kind", "")), str(rest.pop("apiVersion", ""))
    spec = rest.get("spec")
    if shared_text(spec) is not None:
        rest["spec"] = msgspec.Raw(written_text(spec, api_version, kind))
    return encode_object(rest, api_version, kind)[1:]


def _check_size(storage: Storage, entry: Entry, *, is_new: bool) -> None:
    """Reject an object that etcd would not accept, as its client and etcd do (`StatusError`)."""
    obj = entry.obj if entry.stored is None else entry.stored
    is_built_in = bool(go_type_of(obj["apiVersion"], obj["kind"]))
    key = "/".join(["/registry", *(storage[1:] if is_built_in else storage), entry.key])
    # A transaction compares the version of the key and puts it; an update also reads it.
    keys = (2 if is_new else 3) * len(key)
    size = _stored_size(obj, is_built_in=is_built_in) + keys + _REQUEST
    if size > _MESSAGE_LIMIT:
        raise untyped_error(
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max "
            f"({size} vs. {_MESSAGE_LIMIT})"
        )
    if size > _REQUEST_LIMIT:
        raise untyped_error("etcdserver: request is too large")


def _stored_size(obj: Object, *, is_built_in: bool) -> int:
    """The bytes of an object in etcd: protobuf, or JSON if its kind is not built in."""
    meta = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    obj = {**obj, "metadata": meta}
    if is_built_in:
        names = obj["apiVersion"], obj["kind"]
        return len(envelope(*names, message_bytes(message_of(*names), obj)))
    return len(encode_object(obj, "", ""))


# Of etcd: --max-request-bytes, without the head of a request in its log, and the limit of
# messages of kube-apiserver's client.
_REQUEST_LIMIT: Final = 1536 * 1024 - 15
_MESSAGE_LIMIT: Final = 2048 * 1024
_REQUEST: Final = 26  # bytes of a transaction without keys and value
_LARGE: Final = 1024 * 1024  # bytes of JSON below which an object needs no check


@final
class Change(msgspec.Struct, frozen=True, eq=False):
    """One write: the state before and the state after it.

    After a deletion `new` is None and `last` is the last state with the version of the
    deletion: kube-apiserver sends DELETED events with that version, too.
    """

    storage: Storage
    key: str
    version: int
    old: Entry | None
    new: Entry | None
    last: Entry | None = None


@final
class Collection:
    """The objects of one resource, sorted by key, and the history of their changes."""

    def __init__(self, *, floor: int, history: int) -> None:
        self.entries: dict[str, Entry] = {}
        self.keys: list[str] = []  # sorted; the same keys as `entries`
        self.history: deque[Change] = deque()
        self.floor = floor  # the compacted version: older states cannot be read
        self.latest = floor  # the version of its latest change
        self._limit = history
        self._snapshots: dict[tuple[int, str], Sequence[Entry]] = {}

    def put(self, change: Change) -> None:
        """Apply the change and append it to the history."""
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

    def compact(self, version: int) -> None:
        """Drop the history up to `version`."""
        self.history.clear()
        self._snapshots.clear()
        self.floor = version

    def select(self, namespace: str) -> list[Entry]:
        """The current objects of a namespace, or of all, in order."""
        entries = self.entries
        return [entries[key] for key in self._keys_in(namespace)]

    def at(self, version: int, namespace: str) -> Sequence[Entry] | None:
        """The objects as of `version`, in order; None when that version is compacted."""
        kept = self._snapshots.get((version, namespace))
        if kept is not None:
            return kept
        return None if version < self.floor else self._rebuild(version, namespace)

    def keep_snapshot(self, version: int, namespace: str, entries: Sequence[Entry]) -> None:
        """Keep a state for the next pages of a list, even after its changes left the history."""
        self._snapshots[version, namespace] = entries
        while len(self._snapshots) > SNAPSHOTS:
            del self._snapshots[next(iter(self._snapshots))]

    def since(self, version: int) -> list[Change] | None:
        """The changes after `version`, oldest first; None when some are compacted."""
        if version < self.floor:
            return None
        found: list[Change] = []
        for change in reversed(self.history):
            if change.version <= version:
                break
            found.append(change)
        found.reverse()
        return found

    def reread(self, read: Callable[[Object], Object]) -> None:
        """Replace every object, also in the history, by what `read` makes of what is stored.

        Versions stay: reading an object is no change of it.
        """
        new: dict[int, Entry] = {}

        def replaced(entry: Entry) -> Entry:
            found = new.get(id(entry))
            if found is None:
                found = new[id(entry)] = _reread(entry, read)
            return found

        def optional(entry: Entry | None) -> Entry | None:
            return None if entry is None else replaced(entry)

        self.entries = {key: replaced(entry) for key, entry in self.entries.items()}
        self._snapshots = {
            key: [replaced(entry) for entry in found] for key, found in self._snapshots.items()
        }
        self.history = deque(
            Change(
                change.storage,
                change.key,
                change.version,
                optional(change.old),
                optional(change.new),
                optional(change.last),
            )
            for change in self.history
        )

    def _keys_in(self, namespace: str) -> list[str]:
        if not namespace:
            return self.keys
        # "0" follows "/" in ASCII, so this range has all keys of the namespace and no others.
        low = bisect_left(self.keys, f"{namespace}/")
        high = bisect_left(self.keys, f"{namespace}0", low)
        return self.keys[low:high]

    def _rebuild(self, version: int, namespace: str) -> list[Entry]:
        # Undo the changes after `version`, newest first.
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


def _reread(entry: Entry, read: Callable[[Object], Object]) -> Entry:
    stored = entry.obj if entry.stored is None else entry.stored
    obj = read(stored)
    if obj is stored:
        return entry if entry.stored is None else Entry(entry.key, obj, tail_of(obj), entry.version)
    return Entry(entry.key, obj, tail_of(obj), entry.version, stored)


class StoreStats(msgspec.Struct, frozen=True):
    """How much is stored."""

    version: int
    objects: dict[str, int]  # by resource, those that have any
    history: int


@final
class Store:
    """All collections and the version counter.

    Listeners are called synchronously with each change, in the order of versions, after the
    change was applied. So a write and everything that must be decided with it (served CRDs,
    released addresses) are one step of the event loop.
    """

    def __init__(self, *, version: int = 1, history: int = HISTORY) -> None:
        self._version = version
        self._history = history
        self._floor = 0
        self._collections: dict[Storage, Collection] = {}
        self._listeners: list[Callable[[Change], None]] = []
        # Listeners of one collection, so that a write does not call those of all others.
        self._listeners_of: dict[Storage, list[Callable[[Change], None]]] = {}

    @property
    def version(self) -> int:
        """The version of the latest write to any collection."""
        return self._version

    def collection(self, storage: Storage) -> Collection:
        found = self._collections.get(storage)
        if found is None:
            found = Collection(floor=self._floor, history=self._history)
            self._collections[storage] = found
        return found

    def get(self, storage: Storage, key: str) -> Entry | None:
        found = self._collections.get(storage)
        return found.entries.get(key) if found is not None else None

    def subscribe(self, listener: Callable[[Change], None], storage: Storage | None = None) -> None:
        """Call `listener` with every change from now on, or with those of one collection."""
        if storage is None:
            self._listeners.append(listener)
        else:
            self._listeners_of.setdefault(storage, []).append(listener)

    def objects(self, group: str, plural: str) -> Iterator[Object]:
        """Every object of a collection; callers must not modify them."""
        return (entry.obj for entry in self.collection((group, plural)).select(""))

    def collections(self) -> Iterator[tuple[Storage, Collection]]:
        return iter(list(self._collections.items()))

    def write(self, storage: Storage, obj: Object, stored: Object | None = None) -> Entry:
        """Create or replace an object; it gets the next version.

        `stored` is what is kept, if a read of it is another object: `obj`.

        Raises:
            StatusError: it is larger than etcd accepts (500).
        """
        version = self._version + 1
        entry = entry_of(obj, version, stored)
        if len(entry.tail) > _LARGE:
            _check_size(storage, entry, is_new=self.get(storage, entry.key) is None)
        self._version = version
        collection = self.collection(storage)
        old = collection.entries.get(entry.key)
        self._commit(collection, Change(storage, entry.key, version, old, entry))
        return entry

    def remove(self, storage: Storage, key: str, *, last: Object | None = None) -> Entry:
        """Remove an object; returns its last state, `last` if given, at the new version."""
        version = self._version = self._version + 1
        collection = self.collection(storage)
        old = collection.entries[key]
        gone = entry_of(old.obj if last is None else last, version)
        self._commit(collection, Change(storage, key, version, old, None, gone))
        return gone

    def load(self, storage: Storage, entry: Entry) -> None:
        """Restore an object of an earlier run; no listener is called."""
        collection = self.collection(storage)
        if entry.key not in collection.entries:
            insort(collection.keys, entry.key)
        collection.entries[entry.key] = entry

    def advance(self, version: int) -> None:
        """Continue at `version`; the history before it is not available."""
        self._version = max(self._version, version)
        self.compact()

    def compact(self) -> None:
        """Drop the whole history, as etcd's compaction does: older versions get 410 Expired."""
        self._floor = self._version
        for collection in self._collections.values():
            collection.compact(self._version)

    def stats(self) -> StoreStats:
        counts = {
            f"{plural}.{group}" if group else plural: len(found.entries)
            for (group, plural), found in sorted(self._collections.items())
            if found.entries
        }
        kept = sum(len(found.history) for found in self._collections.values())
        return StoreStats(version=self._version, objects=counts, history=kept)

    def _commit(self, collection: Collection, change: Change) -> None:
        collection.put(change)
        for listener in self._listeners:
            listener(change)
        for listener in self._listeners_of.get(change.storage, ()):
            listener(change)
