"""The dictionaries of a store, and the two ways to make large ones in steps.

Promises: what is in the making is seen by nobody; whatever happens to the store between
two steps, the end is as if all had been done at the end.
Threads: all of it belongs to the thread that writes; readers only copy the dictionaries.
Elsewhere: who reads and writes them (`store`).
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeAlias, final

import msgspec

from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

from .entry import Entry
from .index import Index

__all__ = ["Content", "Held", "IndexBuild", "Replacement"]

log = get_logger(__name__)

Held: TypeAlias = Mapping[ObjectKey, Entry]


@final
class Content:
    """Entries and their indexes. The set of indexes is fixed: another one is another content.

    With `like` it is another way to see the same entries.
    """

    __slots__ = ("bytes", "entries", "indexes", "maintained")

    def __init__(
        self,
        indexes: Mapping[str, Index],
        hidden: tuple[Index, ...] = (),
        *,
        like: Content | None = None,
    ) -> None:
        self.entries: dict[ObjectKey, Entry] = {} if like is None else like.entries
        self.bytes: int = 0 if like is None else like.bytes
        self.indexes = indexes
        self.maintained = (*indexes.values(), *hidden)  # hidden ones are still being built

    def put(self, entry: Entry) -> Entry | None:
        old = self.entries.get(entry.key)
        if old is None:
            self.bytes += _size(entry)
        else:
            # The dictionary goes on using its first key: an equal second one is only weight.
            _set(entry, "key", old.key)
            self.bytes += _size(entry) - _size(old)
        self.entries[entry.key] = entry
        for index in self.maintained:
            index.change(old, entry)
        return old

    def remove(self, key: ObjectKey) -> Entry | None:
        old = self.entries.pop(key, None)
        if old is not None:
            for index in self.maintained:
                index.change(old, None)
            self.bytes -= _size(old)
        return old


_set = msgspec.structs.force_setattr


def _size(entry: Entry) -> int:
    return len(entry.kept) if type(entry.kept) is builtins.bytes else 0


@final
class Replacement:
    """A new content in the making; the store goes on with the old one until `finish()`.

    One that is never finished changes nothing. Of two objects with one key the later is held.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        version: str,
        *,
        indexes: Callable[[], Mapping[str, Index]],
        finished: Callable[[Content, str, int], Held],
    ) -> None:
        self._left = iter(entries)
        self._version = version
        self._indexes = indexes  # those that readers know, whenever it is asked
        self._finished = finished
        self._content = Content(_emptied(indexes()))
        self._duplicates = 0

    def step(self, count: int | None = None) -> bool:
        """Take up to `count` entries, or all; whether there may be more."""
        taken = 0
        for entry in itertools.islice(self._left, count):
            taken += 1
            if self._content.put(entry) is not None:
                self._duplicates += 1
                log.warning("%s: twice in one list, the later one is held", entry.key)
        return taken == count

    def finish(self) -> Held:
        """Let readers see it, all at once; returns what was held until now."""
        self.step()
        known = self._content.indexes
        late = _emptied({n: index for n, index in self._indexes().items() if n not in known})
        for entry in self._content.entries.values() if late else ():
            for index in late.values():
                index.change(None, entry)
        content = Content({**known, **late}, like=self._content)
        return self._finished(content, self._version, self._duplicates)


def _emptied(indexes: Mapping[str, Index]) -> dict[str, Index]:
    return {name: index.emptied() for name, index in indexes.items()}


class _Ended(Protocol):
    def __call__(self, build: IndexBuild, *, show: bool) -> None: ...


@final
class IndexBuild:
    """Indexes in the making, over what a store holds already.

    What is written meanwhile goes into them, too. One that is not to be finished is closed.
    """

    def __init__(self, indexes: tuple[Index, ...], entries: Held, *, ended: _Ended) -> None:
        self.indexes = indexes
        self._entries = entries
        self._left = list(entries)
        self._ended = ended

    def step(self, count: int | None = None) -> bool:
        """Index up to `count` objects, or all; whether there are more."""
        cut = 0 if count is None else max(len(self._left) - count, 0)
        now = self._left[cut:]
        del self._left[cut:]
        for key in now:
            self._file(key)
        return bool(self._left)

    def finish(self) -> None:
        """Let readers see the indexes."""
        self.step()
        self._ended(self, show=True)

    def close(self) -> None:
        """Give up: the indexes are never seen."""
        self._ended(self, show=False)

    def restart(self, entries: Held) -> None:
        """The store was given a new content: nothing of it is indexed yet."""
        self.indexes = tuple(index.emptied() for index in self.indexes)
        self._entries = entries
        self._left = list(entries)

    def _file(self, key: ObjectKey) -> None:
        entry = self._entries.get(key)
        if entry is not None:  # it may be filed already, from a write meanwhile
            for index in self.indexes:
                index.change(entry, entry)
