"""Reads a cache: by name, namespace, label, index.

Promises: every object that is handed out is the caller's own, to keep and to change (unless
the cache keeps objects as such, which are to be read only); only what is found is decoded.
Reads may come from any thread, and never wait.
Elsewhere: waiting until a write is seen (`informer`), writing (`kubeloop.clients`).
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Mapping
from typing import Generic, Protocol, TypeAlias, TypeVar, final

from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING, Selector
from kubeloop.wire import decode

from .entry import Entry
from .pace import Pace

__all__ = ["IndexReader", "Lister", "SelectorLike"]

T = TypeVar("T")
V = TypeVar("V")
T_co = TypeVar("T_co", covariant=True)

SelectorLike: TypeAlias = Selector | str | Mapping[str, str]


class EntryReader(Protocol[T_co]):
    """Decodes entries; the codec of an `Indexer` is one."""

    def decode(self, entry: Entry, /) -> T_co: ...
    def raw(self, entry: Entry, /) -> bytes: ...


class IndexReader(Protocol[T]):
    """What a lister reads: an `Indexer`, or several of them read as one."""

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
    """Reads the objects of one kind.

    With a namespace of its own (`in_namespace`) it reads that one unless told otherwise. A
    selector is text (`app=web,tier!=cache`), a map of labels, or a `Selector`; text that does
    not parse raises `InvalidArgument`.
    """

    def __init__(self, indexer: IndexReader[T], *, namespace: str = "") -> None:
        self._indexer = indexer
        self._namespace = namespace

    def in_namespace(self, namespace: str) -> Lister[T]:
        """A lister of one namespace; none means all."""
        return Lister(self._indexer, namespace=namespace)

    # --- objects

    def get(self, name: str | ObjectKey, *, namespace: str | None = None) -> T | None:
        """The object of that name, None when there is none.

        Raises:
            DecodeError: it does not read as its type.
        """
        return self._indexer.get(self._key(name, namespace))

    def list(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[T]:
        """The objects whose labels match, in no order."""
        return self._indexer.list(selector, namespace=self._place(namespace))

    async def each(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> AsyncIterator[T]:
        """As `list`, one by one: the event loop goes on meanwhile, and few are held at once.

        Tells what was there when it began. Safe to leave early.
        """
        pace = Pace()
        give = self._indexer.codec.decode
        for entry in self._entries(selector, namespace):
            yield give(entry)
            if pace.is_due():
                await pace.rest()

    def by_index(self, index: str, value: str) -> builtins.list[T]:
        """The objects that have a value in an index. Raises `UnknownIndex`."""
        give = self._indexer.codec.decode
        return [give(entry) for entry in self._by_index(index, value)]

    def views(
        self, view: type[V], selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[V]:
        """The objects as a type of yours that has only the fields you want: the rest is skipped.

        Raises:
            DecodeError: an object does not read as the view.
        """
        raw = self._indexer.codec.raw
        return [decode(view, raw(entry)) for entry in self._entries(selector, namespace)]

    # --- without decoding anything

    def metadata(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[Entry]:
        """What is known of objects without decoding them: key, version, uid, labels, owners."""
        return self._entries(selector, namespace)

    def keys(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None
    ) -> builtins.list[ObjectKey]:
        return [entry.key for entry in self._entries(selector, namespace)]

    def keys_by_index(self, index: str, value: str) -> builtins.list[ObjectKey]:
        """The keys of those who have a value, sorted. Raises `UnknownIndex`."""
        return sorted(entry.key for entry in self._by_index(index, value))

    def count(self, selector: SelectorLike = EVERYTHING, *, namespace: str | None = None) -> int:
        if selector is EVERYTHING and not self._place(namespace):
            return len(self._indexer)
        return len(self._entries(selector, namespace))

    def index_values(self, index: str) -> builtins.list[str]:
        """Every value in an index; none in one that does not exist."""
        return self._indexer.index_values(index)

    def __contains__(self, key: ObjectKey) -> bool:
        return key in self._indexer

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return True  # it is a lister, also of nothing

    def _key(self, name: str | ObjectKey, namespace: str | None) -> ObjectKey:
        return name if isinstance(name, ObjectKey) else ObjectKey(self._place(namespace), name)

    def _place(self, namespace: str | None) -> str:
        return self._namespace if namespace is None else namespace

    def _entries(self, selector: SelectorLike, namespace: str | None) -> builtins.list[Entry]:
        return self._indexer.entries(selector, namespace=self._place(namespace))

    def _by_index(self, index: str, value: str) -> builtins.list[Entry]:
        found = self._indexer.entries_by_index(index, value)
        if not self._namespace:
            return found
        return [entry for entry in found if entry.key.namespace == self._namespace]
