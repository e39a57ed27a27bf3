"""Holds entries by key, with indexes; written by one thread, read by any without a lock.

Promises: a read sees each object whole, and a replacement of everything all at once or not
at all. A transaction is whole for whoever reads on the thread that writes; another thread
may see the first part of it. Whatever takes long (replacing everything, indexing what is
there already) can be done in steps, between which the event loop goes on.
How: what a reader needs hangs on one attribute; it looks that up once, and single steps on
dictionaries are never interrupted by another thread.
Elsewhere: objects instead of entries (`indexer`), the dictionaries (`content`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, final

import msgspec

from kubeloop.meta import ObjectKey, is_newer, is_valid_version
from kubeloop.selectors import EVERYTHING, Selector

from .content import Content, Held, IndexBuild, Replacement
from .entry import Delta, DeltaType, Entry
from .errors import IndexConflict, UnknownIndex
from .index import NAMESPACE, Index, IndexStats, by_namespace

__all__ = ["Change", "StoreStats", "ThreadSafeStore", "version_number"]

# One line of a transaction: what to do, and with which entry.
Change: TypeAlias = tuple[Literal["add", "update", "delete"], Entry]


class StoreStats(msgspec.Struct, frozen=True):
    """What a store holds."""

    objects: int
    bytes: int  # of what is kept; objects that were decoded count as none
    version: str  # of the last change
    duplicates: int  # objects of one list that had the key of another; the last one was held
    indexes: Mapping[str, IndexStats]


@final
class ThreadSafeStore:
    """Entries by key. The index `namespace` is built in."""

    def __init__(self) -> None:
        self._content = Content({NAMESPACE: Index(NAMESPACE, by_namespace)})
        self._version = ""
        self._replacements = self._rewinds = 0
        self._duplicates = 0
        self._builds: list[IndexBuild] = []

    # --- reading, from any thread

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
        """How often the whole content was replaced by a list."""
        return self._replacements

    @property
    def rewinds(self) -> int:
        """How many of those lists were older than the content: the server was restored."""
        return self._rewinds

    def get(self, key: ObjectKey) -> Entry | None:
        return self._content.entries.get(key)

    def keys(self) -> list[ObjectKey]:
        return list(self._content.entries)

    def entries(
        self,
        selector: Selector = EVERYTHING,
        *,
        namespace: str = "",
        exact: Mapping[str, str] | None = None,
    ) -> list[Entry]:
        """The entries whose labels match, in no order; no namespace means all.

        `exact` says which index holds the values of which label: a selector that asks for
        one value of it looks only at those who have it.
        """
        if selector.is_nothing:
            return []
        content = self._content
        found = _candidates(content, selector, namespace, exact or {})
        if not selector.is_everything:
            found = _matching(found, selector)
        if namespace:
            found = [entry for entry in found if entry.key.namespace == namespace]
        return found

    def by_index(self, name: str, value: str) -> list[Entry]:
        """Who has a value. Raises `UnknownIndex`."""
        return self._index(name).entries(value)

    def keys_by_index(self, name: str, value: str) -> list[ObjectKey]:
        """The keys of those who have a value, sorted. Raises `UnknownIndex`."""
        return sorted([entry.key for entry in self._index(name).entries(value)])

    def like(self, name: str, entry: Entry) -> list[Entry]:
        """Who shares a value with `entry`, itself included if it is held; each once.

        Raises:
            UnknownIndex: there is no such index.
        """
        index = self._index(name)
        found: dict[ObjectKey, Entry] = {}
        for value in index.values_of(entry):
            found |= {each.key: each for each in index.entries(value)}
        return list(found.values())

    def values_of(self, name: str, entry: Entry) -> tuple[str, ...]:
        """The values of an entry, held or not, in an index. Raises `UnknownIndex`."""
        return self._index(name).values_of(entry)

    def index_values(self, name: str) -> list[str]:
        """Every value in an index; none in one that does not exist."""
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
        """Hold an entry in the place of what had its key; returns that."""
        self._version = entry.version
        return self._content.put(entry)

    update = add

    def delete(self, key: ObjectKey, *, version: str = "") -> Entry | None:
        """Hold it no longer; returns what was held. A key that is not there is no error.

        `version` is that of the delete, where it is known.
        """
        self._version = version or self._version
        return self._content.remove(key)

    def transaction(self, changes: Sequence[Change]) -> list[Entry | None]:
        """Make all changes before anybody on this thread reads; returns what each replaced."""
        return [
            self.delete(entry.key, version=entry.version) if verb == "delete" else self.add(entry)
            for verb, entry in changes
        ]

    def apply(self, deltas: Iterable[Delta]) -> list[Entry | None]:
        """Make the changes of deltas about single keys; returns what each replaced."""
        return [self._apply(delta) for delta in deltas]

    def replace(self, entries: Iterable[Entry], version: str) -> Held:
        """Hold exactly these; returns what was held before. Readers see one or the other."""
        replacement = self.replacement(entries, version)
        replacement.step()
        return replacement.finish()

    def replacement(self, entries: Iterable[Entry], version: str) -> Replacement:
        """The same in steps: nothing is seen of it before its `finish()`."""
        return Replacement(
            entries, version, indexes=lambda: self._content.indexes, finished=self._replaced
        )

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        self._version = version

    def resync(self) -> None:
        """Nothing to do: only queues tell things again."""

    def add_indexes(self, *indexes: Index) -> None:
        """Index what is there and what comes.

        Raises:
            IndexConflict: one of the names is taken; none is added.
        """
        build = self.index_build(*indexes)
        build.step()
        build.finish()

    def index_build(self, *indexes: Index) -> IndexBuild:
        """The same in steps: reads know the names after its `finish()`. Raises as above."""
        self.check_new(*(index.name for index in indexes))
        build = IndexBuild(indexes, self._content.entries, ended=self._built)
        self._builds.append(build)
        self._show(self._content.indexes)
        return build

    def check_new(self, *names: str) -> None:
        """Whether these names are free for indexes. Raises `IndexConflict`."""
        known = {*self._content.indexes, *(index.name for index in self._hidden())}
        taken = [name for name in names if name in known]
        if taken:
            raise IndexConflict(
                f"add the indexes {', '.join(names)}: {', '.join(taken)} exists already "
                "(none was added)"
            )

    def _hidden(self) -> tuple[Index, ...]:
        return tuple(index for build in self._builds for index in build.indexes)

    def _show(self, indexes: Mapping[str, Index]) -> None:
        """Let readers see these indexes; those being built are kept up to date unseen."""
        self._content = Content(indexes, self._hidden(), like=self._content)

    def _replaced(self, content: Content, version: str, duplicates: int) -> Held:
        old = self._content.entries
        self._replacements += 1
        self._rewinds += _is_older(version, self._version)
        self._version = version
        self._duplicates += duplicates
        for build in self._builds:
            build.restart(content.entries)
        self._content = Content(content.indexes, self._hidden(), like=content)
        return old

    def _built(self, build: IndexBuild, *, show: bool) -> None:
        self._builds.remove(build)
        added = {index.name: index for index in build.indexes} if show else {}
        self._show({**self._content.indexes, **added})

    def _apply(self, delta: Delta) -> Entry | None:
        if delta.type is DeltaType.DELETED:
            seen = delta.entry.version if delta.entry and delta.last_state_known else ""
            return self.delete(delta.key, version=seen)
        assert delta.entry is not None, f"{delta.type} of {delta.key} says nothing of the object"
        return self.add(delta.entry)

    def _index(self, name: str) -> Index:
        found = self._content.indexes.get(name)
        if found is None:
            known = ", ".join(sorted(self._content.indexes))
            raise UnknownIndex(f"look into the index {name!r}: there are only {known}")
        return found


def version_number(version: str) -> int | None:
    """A resource version as a number for a gauge; None for what is none.

    Of long ones only the last 15 digits: a gauge is a float, and holds no more exactly.
    """
    return int(version[-15:]) if version.isascii() and version.isdigit() else None


def _is_older(version: str, than: str) -> bool:
    comparable = is_valid_version(version) and is_valid_version(than)
    return comparable and is_newer(than, version)


def _candidates(
    content: Content, selector: Selector, namespace: str, exact: Mapping[str, str]
) -> list[Entry]:
    """The fewest entries that are known to hold all that can match."""
    places = [(NAMESPACE, namespace)] if namespace else []
    for requirement in selector.requirements:
        value, name = requirement.exact_value, exact.get(requirement.key)
        if value is not None and name is not None:
            places.append((name, value))
    found = [(content.indexes[name], value) for name, value in places if name in content.indexes]
    if not found:
        return list(content.entries.values())
    index, value = min(found, key=lambda place: place[0].count(place[1]))
    return index.entries(value)


def _matching(entries: list[Entry], selector: Selector) -> list[Entry]:
    matches = selector.matches
    return [entry for entry in entries if matches(entry.label_map)]
