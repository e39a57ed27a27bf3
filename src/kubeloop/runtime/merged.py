"""Mirrors of one kind in several namespaces, read as one.

Promises: whoever names a namespace or a key reads one mirror; all others read all of them, and
find nothing twice. Nothing is copied and nothing waits.
Elsewhere: which mirrors there are (`caches`), reading (`kubeloop.cache.Lister`).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar, cast, final

from kubeloop.cache import Entry, EntryCodec, Indexer, Lister, SelectorLike, SharedInformer
from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING

__all__ = ["lister_of"]

T = TypeVar("T")


def lister_of(informers: Iterable[SharedInformer[T]]) -> Lister[T]:
    """Reads all of them; each mirrors a namespace of its own."""
    first, *others = informers
    if not others:
        return first.lister
    by_namespace = {each.scope.namespace: each.indexer for each in (first, *others)}
    return Lister(cast("Indexer[T]", _Merged(by_namespace)))  # it has all that a lister asks for


@final
class _Merged(Generic[T]):
    """Indexers by the namespace that each holds."""

    def __init__(self, indexers: Mapping[str, Indexer[T]]) -> None:
        self._indexers = indexers
        self.codec = _Keepers(self)

    def of(self, namespace: str) -> Indexer[T] | None:
        """Who holds a namespace. A kind without namespaces is held by all alike."""
        if namespace:
            return self._indexers.get(namespace)
        return next(iter(self._indexers.values()))

    def get(self, key: ObjectKey) -> T | None:
        held = self.of(key.namespace)
        return None if held is None else held.get(key)

    def list(self, selector: SelectorLike = EVERYTHING, *, namespace: str = "") -> builtins.list[T]:
        return [self.codec.decode(entry) for entry in self.entries(selector, namespace=namespace)]

    def entries(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str = ""
    ) -> builtins.list[Entry]:
        held = self._indexers.values() if not namespace else filter(None, [self.of(namespace)])
        return _once(each.entries(selector, namespace=namespace) for each in held)

    def entries_by_index(self, name: str, value: str) -> builtins.list[Entry]:
        return _once(each.entries_by_index(name, value) for each in self._indexers.values())

    def index_values(self, name: str) -> builtins.list[str]:
        found = (each.index_values(name) for each in self._indexers.values())
        return sorted(set().union(*found))

    def __contains__(self, key: ObjectKey) -> bool:
        held = self.of(key.namespace)
        return held is not None and key in held

    def __len__(self) -> int:
        return len(self.entries())


@final
class _Keepers(Generic[T]):
    """Has each entry read by the codec that took it: no other may know how."""

    def __init__(self, merged: _Merged[T]) -> None:
        self._merged = merged

    def decode(self, entry: Entry) -> T:
        return self._of(entry).decode(entry)

    def raw(self, entry: Entry) -> bytes:
        return self._of(entry).raw(entry)

    def _of(self, entry: Entry) -> EntryCodec[T]:
        held = self._merged.of(entry.key.namespace)
        assert held is not None, "an entry comes from one of them"
        return held.codec


def _once(found: Iterable[builtins.list[Entry]]) -> builtins.list[Entry]:
    return list({entry.key: entry for entries in found for entry in entries}.values())
