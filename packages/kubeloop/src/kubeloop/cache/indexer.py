"""A store of objects: takes them, returns them, finds them by label, namespace and index.

Guarantees: a read returns objects that the caller owns, to keep and to change (unless the
format is `objects`: then all readers share them, read-only). Labels and indexes by field path
are matched without decoding, so only what is found is decoded. Any thread may read, one writes.
See also: `store` (holds the entries), `codec` (encodes and decodes them), `informer` (waits
until a write is in the cache).
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar, final

from kubeloop.errors import KubeError
from kubeloop.kit import Yielder
from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING, Selector, as_selector
from kubeloop.wire import decode

from .codec import EntryCodec
from .entry import Entry, KeyFunc
from .errors import PartlyApplied
from .index import Index, Indexers, IndexFunc, by_function, by_label, label_of_path
from .store import EntriesByKey, StoreStats, ThreadSafeStore

__all__ = ["Indexer", "Lister", "SelectorLike", "Store", "free_in_steps"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")

SelectorLike: TypeAlias = Selector | str | Mapping[str, str]

# Entries between two checks of the time (an index function may take a millisecond for each), and
# how many such steps are followed by a yield in any case.
STEP = 10
STEPS = 10


class Store(Protocol[T]):
    """Holds objects by key, without indexes. An `Indexer` is one; it takes a key function."""

    def add(self, value: T, /) -> object: ...
    def update(self, value: T, /) -> object: ...
    def delete(self, value: T, /) -> object: ...
    def get(self, key: ObjectKey) -> T | None: ...
    def list(self) -> builtins.list[T]: ...
    def keys(self) -> builtins.list[ObjectKey]: ...
    def replace(self, values: Iterable[T], version: str, /) -> object: ...
    def resync(self) -> None: ...


@final
class Indexer(Generic[T]):
    """Objects of one kind by key, with indexes by field path or by function.

        pods = Indexer(
            EntryCodec(Pod), {"node": "spec.nodeName", "phase": lambda pod: [pod.status.phase]}
        )
        pods.add(pod)
        pods.by_index("node", "node-7")

    Writes take an object or an `Entry`. The index `namespace` is built in; an index by the path
    of a label also speeds up selectors that require one value of that label. `transform`
    changes each object before it is stored; if it fails, the store does not change.

    `key` stores objects under another key than namespace and name (client-go: `KeyFunc`):

        by_uid = Indexer(EntryCodec(Pod), key=lambda pod: pod.metadata.uid)
        by_uid.get(ObjectKey("", "5a0f…"))

    It is called before `transform`. An `Entry` has its key already; `indexer.codec` makes
    entries with the same keys. The index `namespace` and the argument `namespace` use the
    namespace of the key.
    """

    def __init__(
        self,
        codec: EntryCodec[T],
        indexers: Indexers[T] | None = None,
        *,
        transform: Callable[[T], T | None] | None = None,
        key: KeyFunc[T] | None = None,
    ) -> None:
        self.codec = codec if key is None else codec.with_key(key)
        self.store = ThreadSafeStore()  # the entries; write to it only what is encoded already
        self._transform = transform
        self.add_indexers(indexers or {})

    # --- reading objects, on any thread

    def get(self, key: ObjectKey) -> T | None:
        """The object of that key. Raises `DecodeError` if it is not valid as its type."""
        entry = self.store.get(key)
        return self.codec.decode(entry) if entry is not None else None

    def list(self, selector: SelectorLike = EVERYTHING, *, namespace: str = "") -> builtins.list[T]:
        """The objects whose labels match, in no order; no namespace means all.

        Raises:
            InvalidArgument: the selector does not parse.
            DecodeError: an object is not valid as its type; the error names its key.
        """
        return self._decode_all(self.entries(selector, namespace=namespace))

    def by_index(self, name: str, value: str) -> builtins.list[T]:
        """The objects that have a value. Raises `UnknownIndex`, and `DecodeError` as `list`."""
        return self._decode_all(self.store.by_index(name, value))

    def index(self, name: str, value: T | Entry) -> builtins.list[T]:
        """The objects that share a value with this one, each once. Raises as `by_index`."""
        entry = value if isinstance(value, Entry) else self.codec.encode(value)
        return self._decode_all(self.store.sharing_value(name, entry))

    # --- reading entries, on any thread: nothing is decoded

    def __len__(self) -> int:
        return len(self.store)

    def __contains__(self, key: ObjectKey) -> bool:
        return key in self.store

    @property
    def version(self) -> str:
        """The resource version of the last change; empty before the first."""
        return self.store.version

    def entry(self, key: ObjectKey) -> Entry | None:
        return self.store.get(key)

    def entries(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str = ""
    ) -> builtins.list[Entry]:
        """As `list`, undecoded."""
        return self.store.entries(as_selector(selector), namespace=namespace)

    def entries_by_index(self, name: str, value: str) -> builtins.list[Entry]:
        """As `by_index`, undecoded."""
        return self.store.by_index(name, value)

    def keys(self) -> builtins.list[ObjectKey]:
        return self.store.keys()

    def keys_by_index(self, name: str, value: str) -> builtins.list[ObjectKey]:
        """The keys of the objects that have a value, sorted. Raises `UnknownIndex`."""
        return self.store.keys_by_index(name, value)

    def index_values(self, name: str) -> builtins.list[str]:
        """All values in an index; none if there is no such index."""
        return self.store.index_values(name)

    def index_names(self) -> tuple[str, ...]:
        return self.store.index_names()

    def stats(self) -> StoreStats:
        return self.store.stats()

    # --- writing, on one thread

    def add(self, value: T | Entry) -> Entry | None:
        """Store an object; returns the entry that had its key.

        Raises:
            UnkeyedObject: it has no name, or the key function failed.
            TransformFailed: the transform raised, or returned nothing.
        """
        return self.store.add(self._encode(value))

    update = add

    def delete(self, value: T | Entry | ObjectKey) -> Entry | None:
        """Remove an object and return its entry; None if there is none."""
        if isinstance(value, ObjectKey):
            return self.store.delete(value)
        entry = value if isinstance(value, Entry) else self.codec.encode(value)
        return self.store.delete(entry.key, version=entry.version)

    def replace(self, values: Iterable[T | Entry], version: str) -> EntriesByKey:
        """Store exactly these; returns the old entries. Raises as `add`, and changes nothing."""
        return self.store.replace([self._encode(each) for each in values], version)

    async def replace_in_steps(self, values: Sequence[T | Entry], version: str) -> EntriesByKey:
        """As `replace`, and the event loop runs meanwhile.

        Do not write before it returns. Safe to cancel: nothing changes.
        """
        replacement = self.store.replacement(map(self._encode, values), version)
        await _in_steps(replacement.step)
        return replacement.finish()

    def transaction(
        self, operations: Sequence[tuple[Literal["add", "update", "delete"], T | Entry]]
    ) -> None:
        """Apply all operations at once.

        Raises:
            PartlyApplied: some objects have no key; all other operations were applied.
        """
        failures: dict[int, Exception] = {}
        for position, (verb, value) in enumerate(operations):
            try:
                self.delete(value) if verb == "delete" else self.add(value)
            except KubeError as error:
                failures[position] = error
        if failures:
            applied = [each for each in range(len(operations)) if each not in failures]
            raise PartlyApplied(applied=applied, total=len(operations), failures=failures)

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        self.store.bookmark(version)

    def resync(self) -> None:
        """Does nothing: only delta queues resync."""

    # --- indexes

    def add_indexers(self, indexers: Indexers[T]) -> None:
        """Index the stored objects and all later ones.

        Raises:
            IndexConflict: an index of that name exists; none is added.
            InvalidArgument: a path does not parse, or the kind has no such field; none is added.
        """
        self.store.add_indexes(*self._create_indexes(indexers))

    async def add_indexers_in_steps(self, indexers: Indexers[T]) -> None:
        """As `add_indexers`, and the event loop runs meanwhile, as do reads and writes.

        Safe to cancel: none is added.
        """
        build = self.store.index_build(*self._create_indexes(indexers))
        try:
            await _in_steps(build.step)
        except BaseException:
            build.close()
            raise
        build.finish()

    def _encode(self, value: T | Entry) -> Entry:
        entry = value if isinstance(value, Entry) else self.codec.encode(value)
        return entry if self._transform is None else self.codec.transform(entry, self._transform)

    def _decode_all(self, entries: builtins.list[Entry]) -> builtins.list[T]:
        decode_entry = self.codec.decode
        return [decode_entry(entry) for entry in entries]

    def _create_indexes(self, indexers: Indexers[T]) -> builtins.list[Index]:
        self.store.check_new(*indexers)
        paths = [by for by in indexers.values() if isinstance(by, str)]
        self.codec.add_paths(*(path for path in paths if label_of_path(path) is None))
        return [self._create_index(name, by) for name, by in indexers.items()]

    def _create_index(self, name: str, by: str | IndexFunc[T]) -> Index:
        if not isinstance(by, str):
            return Index(name, by_function(by, self.codec.decode), remembers=True)
        label = label_of_path(by)
        if label:
            return Index(name, by_label(label), label=label)
        return Index(name, self.codec.values_at(by))


class EntryReader(Protocol[T_co]):
    """Decodes entries; the codec of an `Indexer` is one."""

    def decode(self, entry: Entry, /) -> T_co: ...
    def raw(self, entry: Entry, /) -> bytes: ...


class IndexReader(Protocol[T]):
    """What a lister reads: an `Indexer`, or several of them as one."""

    @property
    def codec(self) -> EntryReader[T]: ...
    def get(self, key: ObjectKey, /) -> T | None: ...
    def list(self, selector: SelectorLike, /, *, namespace: str) -> builtins.list[T]: ...
    def entries(self, selector: SelectorLike, /, *, namespace: str) -> builtins.list[Entry]: ...
    def entries_by_index(self, name: str, value: str, /) -> builtins.list[Entry]: ...
    def index_values(self, name: str, /) -> builtins.list[str]: ...
    def __contains__(self, key: ObjectKey, /) -> bool: ...
    def __len__(self) -> int: ...


@final
class Lister(Generic[T]):
    """Reads the objects of one kind; on any thread, without waiting.

    With a namespace (`in_namespace`) it reads that one, unless a call names another. A selector
    is text (`app=web,tier!=cache`), a map of labels, or a `Selector`; text that does not parse
    raises `InvalidArgument`.
    """

    def __init__(self, indexer: IndexReader[T], *, namespace: str = "") -> None:
        self._indexer = indexer
        self._namespace = namespace

    def in_namespace(self, namespace: str) -> Lister[T]:
        """A lister of one namespace; empty means all."""
        return Lister(self._indexer, namespace=namespace)

    # --- objects

    def get(self, name: str | ObjectKey, *, namespace: str | None = None) -> T | None:
        """The object of that name, None when there is none.

        Raises:
            DecodeError: it is not valid as its type.
        """
        if isinstance(name, ObjectKey):
            return self._indexer.get(name)
        where = self._namespace if namespace is None else namespace
        return self._indexer.get(ObjectKey(where, name))

    def list(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[T]:
        """The objects whose labels match, in no order."""
        where = self._namespace if namespace is None else namespace
        return self._indexer.list(selector, namespace=where)

    async def each(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> AsyncIterator[T]:
        """As `list`, one by one: the event loop runs meanwhile, and memory holds few at a time.

        Yields the objects that were in the cache at the start. Safe to leave early.
        """
        yielder = Yielder()
        decode_entry = self._indexer.codec.decode
        for entry in self.metadata(selector, namespace=namespace):
            yield decode_entry(entry)
            if yielder.is_due():
                await yielder.yield_to_loop()

    def by_index(self, index: str, value: str) -> builtins.list[T]:
        """The objects that have a value in an index. Raises `UnknownIndex`."""
        decode_entry = self._indexer.codec.decode
        return [decode_entry(entry) for entry in self._by_index(index, value)]

    def views(
        self, view: type[V], selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[V]:
        """The objects as a struct with the fields you need; other fields are skipped.

        Raises:
            DecodeError: an object is not valid as the struct.
        """
        raw = self._indexer.codec.raw
        entries = self.metadata(selector, namespace=namespace)
        return [decode(view, raw(entry)) for entry in entries]

    # --- without decoding anything

    def metadata(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[Entry]:
        """The entries of objects: key, version, uid, labels, owners, undecoded."""
        where = self._namespace if namespace is None else namespace
        return self._indexer.entries(selector, namespace=where)

    def keys(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[ObjectKey]:
        return [entry.key for entry in self.metadata(selector, namespace=namespace)]

    def keys_by_index(self, index: str, value: str) -> builtins.list[ObjectKey]:
        """The keys of the objects that have a value, sorted. Raises `UnknownIndex`."""
        return sorted(entry.key for entry in self._by_index(index, value))

    def count(self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None) -> int:
        where = self._namespace if namespace is None else namespace
        if selector is EVERYTHING and not where:
            return len(self._indexer)
        return len(self.metadata(selector, namespace=where))

    def index_values(self, index: str) -> builtins.list[str]:
        """All values in an index; none if there is no such index."""
        return self._indexer.index_values(index)

    def __contains__(self, key: ObjectKey) -> bool:
        return key in self._indexer

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return True  # a lister of an empty cache is still a lister

    def _by_index(self, index: str, value: str) -> builtins.list[Entry]:
        found = self._indexer.entries_by_index(index, value)
        if not self._namespace:
            return found
        return [entry for entry in found if entry.key.namespace == self._namespace]


async def free_in_steps(entries: builtins.list[Entry]) -> None:
    """Empty a list of entries that nothing else refers to, while the event loop runs.

    Freeing 100,000 objects at once would block the loop for 30 ms. For the result of
    `replace_in_steps`: `gone = list(old.values()); del old; await free_in_steps(gone)`.
    Safe to cancel: the rest is freed with the list.
    """

    def step(count: int) -> bool:
        del entries[-count:]
        return bool(entries)

    await _in_steps(step)


async def _in_steps(step: Callable[[int], bool]) -> None:
    yielder = Yielder()
    steps = 0
    while step(STEP):
        steps += 1
        if steps % STEPS == 0 or yielder.is_due():
            await yielder.yield_to_loop()
