"""Holds entries by key, with indexes; written by one thread, read by any without a lock.

Guarantees: a read sees each object whole, and a replacement of all objects completely or not
at all. A transaction is atomic for readers on the writing thread; another thread may see part
of it. Long work (replacing all objects, indexing those in the store) can be done in steps,
between which the event loop runs.
How it is thread-safe: a reader reads one attribute, once, and reaches everything through it;
another thread cannot interrupt a single operation on a dictionary.
See also: `indexer` (objects instead of entries), `index` (one index).
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, final

import msgspec

from kubeloop.meta import ObjectKey, is_newer, is_valid_version
from kubeloop.selectors import EVERYTHING, Selector
from kubeloop.wire import get_logger

from .entry import Entry
from .errors import IndexConflict, UnknownIndex
from .index import NAMESPACE, Index, IndexFunc, IndexStats, by_function, by_namespace

__all__ = [
    "EntriesByKey",
    "IndexBuild",
    "Operation",
    "Replacement",
    "StoreStats",
    "ThreadSafeStore",
    "version_number",
]

log = get_logger(__name__)

EntriesByKey: TypeAlias = Mapping[ObjectKey, Entry]
# One operation of a transaction.
Operation: TypeAlias = tuple[Literal["add", "update", "delete"], Entry]


class StoreStats(msgspec.Struct, frozen=True):
    """What a store holds."""

    objects: int
    bytes: int  # of the content; decoded objects count as 0
    version: str  # of the last change
    duplicates: int  # objects of a list with the key of an earlier one, which they replaced
    indexes: Mapping[str, IndexStats]


@final
class ThreadSafeStore:
    """Entries by key. The index `namespace` is built in; `indexers` are functions of an entry."""

    def __init__(self, indexers: Mapping[str, IndexFunc[Entry]] | None = None) -> None:
        self._content = _Content({NAMESPACE: Index(NAMESPACE, by_namespace, by_key=True)})
        self._version = ""
        self._replacements = self._rewinds = 0
        self._duplicates = 0
        self._builds: list[IndexBuild] = []
        self.add_indexers(indexers or {})

    # --- reading, on any thread

    def __len__(self) -> int:
        return len(self._content.entries)

    def __contains__(self, key: ObjectKey) -> bool:
        return key in self._content.entries

    @property
    def version(self) -> str:
        """The resource version of the last change; empty before the first."""
        return self._version

    @property
    def replacements(self) -> int:
        """How often a list replaced all objects."""
        return self._replacements

    @property
    def rewinds(self) -> int:
        """How many of those lists were older than the store: the server was restored."""
        return self._rewinds

    def get(self, key: ObjectKey) -> Entry | None:
        return self._content.entries.get(key)

    def keys(self) -> list[ObjectKey]:
        return list(self._content.entries)

    def entries(self, selector: Selector = EVERYTHING, *, namespace: str = "") -> list[Entry]:
        """The entries whose labels match, in no order; no namespace means all.

        Uses an index where one narrows the search: that of the namespace, or one by a label
        of which the selector requires one value.
        """
        if selector.is_nothing:
            return []
        found = _candidates(self._content, selector, namespace)
        if not selector.is_everything:
            matches = selector.matches
            found = [entry for entry in found if matches(entry.label_map)]
        if namespace:
            found = [entry for entry in found if entry.key.namespace == namespace]
        return found

    def by_index(self, name: str, value: str) -> list[Entry]:
        """The entries that have a value. Raises `UnknownIndex`."""
        return self._index(name).entries(value)

    def keys_by_index(self, name: str, value: str) -> list[ObjectKey]:
        """The keys of the entries that have a value, sorted. Raises `UnknownIndex`."""
        return sorted([entry.key for entry in self._index(name).entries(value)])

    def sharing_value(self, name: str, entry: Entry) -> list[Entry]:
        """The entries that share a value with `entry`, itself included if stored; each once.

        Raises:
            UnknownIndex: there is no such index.
        """
        index = self._index(name)
        found: dict[ObjectKey, Entry] = {}
        for value in index.values_of(entry):
            found |= {each.key: each for each in index.entries(value)}
        return list(found.values())

    def values_of(self, name: str, entry: Entry) -> tuple[str, ...]:
        """The values of an entry in an index, stored or not. Raises `UnknownIndex`."""
        return self._index(name).values_of(entry)

    def index_values(self, name: str) -> list[str]:
        """All values in an index; none if there is no such index."""
        index = self._content.indexes.get(name)
        return index.values() if index is not None else []

    def index_names(self) -> tuple[str, ...]:
        return tuple(self._content.indexes)

    def stats(self) -> StoreStats:
        content = self._content
        return StoreStats(
            objects=len(content.entries),
            bytes=content.bytes,
            version=self._version,
            duplicates=self._duplicates,
            indexes={name: index.stats() for name, index in content.indexes.items()},
        )

    # --- writing, on one thread

    def add(self, entry: Entry) -> Entry | None:
        """Store an entry; returns the one that had its key."""
        self._version = entry.version
        return self._content.put(entry)

    update = add

    def delete(self, key: ObjectKey, *, version: str = "") -> Entry | None:
        """Remove an entry and return it; None if there is none.

        `version` is that of the delete, where it is known.
        """
        self._version = version or self._version
        return self._content.remove(key)

    def transaction(self, operations: Sequence[Operation]) -> list[Entry | None]:
        """Apply all operations before another read on this thread; returns the old entries."""
        return [
            self.delete(entry.key, version=entry.version) if verb == "delete" else self.add(entry)
            for verb, entry in operations
        ]

    def replace(self, entries: Iterable[Entry], version: str) -> EntriesByKey:
        """Store exactly these; returns the old entries. Readers see the old or the new ones."""
        replacement = self.replacement(entries, version)
        replacement.step()
        return replacement.finish()

    def replacement(self, entries: Iterable[Entry], version: str) -> Replacement:
        """The same in steps: readers see nothing of it before its `finish()`."""
        return Replacement(self, entries, version)

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        self._version = version

    def resync(self) -> None:
        """Does nothing: only delta queues resync."""

    def add_indexers(self, indexers: Mapping[str, IndexFunc[Entry]]) -> None:
        """Index the stored entries and all later ones by functions of an entry.

        Raises:
            IndexConflict: an index of that name exists; none is added.
        """
        self.add_indexes(
            *(
                Index(name, by_function(function, lambda entry: entry), remembers=True)
                for name, function in indexers.items()
            )
        )

    def add_indexes(self, *indexes: Index) -> None:
        """Index the stored entries and all later ones.

        Raises:
            IndexConflict: an index of that name exists; none is added.
        """
        self.index_build(*indexes).finish()

    def index_build(self, *indexes: Index) -> IndexBuild:
        """The same in steps: readers can use the indexes after its `finish()`."""
        self.check_new(*(index.name for index in indexes))
        build = IndexBuild(self, indexes, self._content.entries)
        self._builds.append(build)
        self._use_indexes(self._content.indexes)
        return build

    def check_new(self, *names: str) -> None:
        """Raises `IndexConflict` if there is an index of one of these names."""
        known = {*self._content.indexes, *(index.name for index in self._hidden())}
        taken = [name for name in names if name in known]
        if taken:
            raise IndexConflict(
                f"add the indexes {', '.join(names)}: {', '.join(taken)} exists already "
                "(none was added)"
            )

    # --- for `Replacement` and `IndexBuild`

    def _indexes(self) -> Mapping[str, Index]:
        return self._content.indexes

    def _use_content(self, content: _Content, version: str, duplicates: int) -> EntriesByKey:
        old = self._content.entries
        self._replacements += 1
        self._rewinds += _is_older(version, self._version)
        self._version = version
        self._duplicates += duplicates
        for build in self._builds:
            build.restart(content.entries)
        self._content = _Content(content.indexes, self._hidden(), like=content)
        return old

    def _end_build(self, build: IndexBuild, *, is_complete: bool) -> None:
        self._builds.remove(build)
        added = {index.name: index for index in build.indexes} if is_complete else {}
        self._use_indexes({**self._content.indexes, **added})

    def _hidden(self) -> tuple[Index, ...]:
        return tuple(index for build in self._builds for index in build.indexes)

    def _use_indexes(self, indexes: Mapping[str, Index]) -> None:
        """Let readers use these indexes; writes also update those that are being built."""
        self._content = _Content(indexes, self._hidden(), like=self._content)

    def _index(self, name: str) -> Index:
        found = self._content.indexes.get(name)
        if found is None:
            known = ", ".join(sorted(self._content.indexes))
            raise UnknownIndex(f'no index "{name}"; available: {known}')
        return found


@final
class _Content:
    """Entries and their indexes. Other indexes are another content.

    With `like` it has the entries of that content.
    """

    __slots__ = ("bytes", "entries", "indexes", "maintained")

    def __init__(
        self,
        indexes: Mapping[str, Index],
        hidden: tuple[Index, ...] = (),
        *,
        like: _Content | None = None,
    ) -> None:
        self.entries: dict[ObjectKey, Entry] = {} if like is None else like.entries
        self.bytes: int = 0 if like is None else like.bytes
        self.indexes = indexes
        self.maintained = (*indexes.values(), *hidden)  # hidden ones are still being built

    def put(self, entry: Entry) -> Entry | None:
        key, content = entry.key, entry.content
        old = self.entries.get(key)
        if type(content) is builtins.bytes:
            self.bytes += len(content)
        if old is not None:
            # The dictionary keeps its first key object: an equal second one only takes memory.
            key = old.key
            _set(entry, "key", key)
            content = old.content
            if type(content) is builtins.bytes:
                self.bytes -= len(content)
        self.entries[key] = entry
        for index in self.maintained:
            index.change(old, entry)
        return old

    def remove(self, key: ObjectKey) -> Entry | None:
        old = self.entries.pop(key, None)
        if old is not None:
            for index in self.maintained:
                index.change(old, None)
            if type(old.content) is builtins.bytes:
                self.bytes -= len(old.content)
        return old


_set = msgspec.structs.force_setattr


@final
class Replacement:
    """New entries for a store, which readers see after `finish()`; without it nothing changes.

    Of two objects with one key the later one is stored.
    """

    def __init__(self, store: ThreadSafeStore, entries: Iterable[Entry], version: str) -> None:
        self._store = store
        self._remaining = iter(entries)
        self._version = version
        self._content = _Content(_empty_copies(store._indexes()))
        self._duplicates = 0

    def step(self, count: int | None = None) -> bool:
        """Add up to `count` entries, or all; returns whether there may be more."""
        taken = 0
        for entry in itertools.islice(self._remaining, count):
            taken += 1
            if self._content.put(entry) is not None:
                self._duplicates += 1
                log.warning("%s: twice in one list, using the later one", entry.key)
        return taken == count

    def finish(self) -> EntriesByKey:
        """Let readers see the new entries, all at once; returns the old ones."""
        self.step()
        # Indexes that were added to the store since this replacement started.
        known = self._content.indexes
        late = {name: each for name, each in self._store._indexes().items() if name not in known}
        late = _empty_copies(late)
        for entry in self._content.entries.values() if late else ():
            for index in late.values():
                index.change(None, entry)
        content = _Content({**known, **late}, like=self._content)
        return self._store._use_content(content, self._version, self._duplicates)


def _empty_copies(indexes: Mapping[str, Index]) -> dict[str, Index]:
    return {name: index.empty_copy() for name, index in indexes.items()}


@final
class IndexBuild:
    """New indexes for the entries of a store; `finish()` or `close()` must follow.

    Writes to the store update them meanwhile.
    """

    def __init__(
        self, store: ThreadSafeStore, indexes: tuple[Index, ...], entries: EntriesByKey
    ) -> None:
        self.indexes = indexes
        self._store = store
        self._entries = entries
        self._remaining = list(entries)

    def step(self, count: int | None = None) -> bool:
        """Index up to `count` entries, or all; returns whether there are more."""
        cut = 0 if count is None else max(len(self._remaining) - count, 0)
        keys = self._remaining[cut:]
        del self._remaining[cut:]
        for key in keys:
            entry = self._entries.get(key)
            if entry is not None:  # a write may have indexed it already
                for index in self.indexes:
                    index.change(entry, entry)
        return bool(self._remaining)

    def finish(self) -> None:
        """Let readers use the indexes."""
        self.step()
        self._store._end_build(self, is_complete=True)

    def close(self) -> None:
        """Drop the indexes."""
        self._store._end_build(self, is_complete=False)

    def restart(self, entries: EntriesByKey) -> None:
        """Start again: the store has other entries, none of which is indexed."""
        self.indexes = tuple(index.empty_copy() for index in self.indexes)
        self._entries = entries
        self._remaining = list(entries)


def version_number(version: str) -> int | None:
    """A resource version as a number for a gauge; None if it is not one.

    Only the last 15 digits: a gauge is a float, which holds no more exactly.
    """
    return int(version[-15:]) if version.isascii() and version.isdigit() else None


def _is_older(version: str, than: str) -> bool:
    comparable = is_valid_version(version) and is_valid_version(than)
    return comparable and is_newer(than, version)


def _candidates(content: _Content, selector: Selector, namespace: str) -> list[Entry]:
    """The smallest set of entries in an index that contains all that can match."""
    found = [(content.indexes[NAMESPACE], namespace)] if namespace else []
    for requirement in selector.requirements:
        value = requirement.exact_value
        if value is not None:
            key = requirement.key
            found += [(each, value) for each in content.indexes.values() if each.label == key]
    if not found:
        return list(content.entries.values())
    index, value = min(found, key=lambda pair: pair[0].count(pair[1]))
    return index.entries(value)
