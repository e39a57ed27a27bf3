"""An index: which values an entry has, and which entries have a value.

Guarantees: an entry found under a value has that value. An index function that raises, or does
not return texts, leaves its object out of that one index: this is logged with the object's
key and counted, and the object itself is stored.
Threads: changed by one, read by any. A reader copies a bucket in one operation, so it sees the
bucket as it was between two changes.
See also: `codec` (reads indexed values of a field path), `store` (holds the indexes).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar, final

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

from .entry import Entry

__all__ = [
    "NAMESPACE",
    "Index",
    "IndexFunc",
    "IndexStats",
    "Indexers",
    "ValuesOf",
    "by_function",
    "by_label",
    "by_namespace",
    "index_func_to_key_func",
    "label_of_path",
]

T = TypeVar("T")
log = get_logger(__name__)

IndexFunc: TypeAlias = Callable[[T], Iterable[str]]
"""From an object to the values under which an index has it."""
# What to index by: a field path of the JSON (`spec.nodeName`), or a function of the object.
Indexers: TypeAlias = Mapping[str, str | IndexFunc[T]]
ValuesOf: TypeAlias = Callable[[Entry], tuple[str, ...]]

NAMESPACE = "namespace"  # the index that every store has


def by_namespace(entry: Entry) -> tuple[str, ...]:
    """An object's namespace; empty for a cluster-scoped one."""
    return (entry.key.namespace,)


def by_label(key: str) -> ValuesOf:
    """Index by the value of one label, without decoding."""

    def values_of(entry: Entry) -> tuple[str, ...]:
        value = entry.label_map.get(key)
        return () if value is None else (value,)

    return values_of


def by_function(function: IndexFunc[T], decode: Callable[[Entry], T]) -> ValuesOf:
    """Index by what a function returns for the decoded object."""
    return lambda entry: _check_texts(function(decode(entry)))


_label_path = re.compile(r"metadata\.labels(?:\.([\w-]+)|\['([^']+)'\]|\[\"([^\"]+)\"\])").fullmatch


def label_of_path(path: str) -> str | None:
    """The label that a field path names, if it names one."""
    found = _label_path(path)
    return next(filter(None, found.groups())) if found else None


def index_func_to_key_func(function: IndexFunc[T]) -> Callable[[T], str]:
    """An index function as a key function (client-go: `IndexFuncToKeyFuncAdapter`).

    The result raises `InvalidArgument` for an object that has no value, or several.
    """

    def key_of(value: T) -> str:
        values = list(function(value))
        if len(values) != 1:
            raise InvalidArgument(
                f"a key from an index function: expected one value, found {values}"
            )
        return values[0]

    return key_of


class IndexStats(msgspec.Struct, frozen=True):
    """What an index holds."""

    values: int
    failures: int  # objects for which its function failed


@final
class Index:
    """Entries by value; calls `values_of` once for each entry.

    With `remembers` it stores the values of each entry: for functions that are slow, may
    raise, or need not return the same values twice. Without, `values_of` must be fast and pure.
    `label` is the label that it indexes, if any: selectors use it. With `by_key` the values
    depend on the key alone.
    """

    __slots__ = (
        "_buckets",
        "_by_key",
        "_failures",
        "_remembered",
        "_remembers",
        "_values_of",
        "label",
        "name",
    )

    def __init__(
        self,
        name: str,
        values_of: ValuesOf,
        *,
        remembers: bool = False,
        label: str = "",
        by_key: bool = False,
    ) -> None:
        self.name = name
        self._by_key = by_key
        self.label = label
        self._values_of = values_of
        self._remembers = remembers
        # Invariant: no bucket is empty. It holds the entries: a read needs no second lookup.
        self._buckets: dict[str, dict[ObjectKey, Entry]] = {}
        self._remembered: dict[ObjectKey, tuple[str, ...]] = {}
        self._failures = 0

    def empty_copy(self) -> Index:
        """An index with the same function and no entries."""
        return Index(
            self.name,
            self._values_of,
            remembers=self._remembers,
            label=self.label,
            by_key=self._by_key,
        )

    def change(self, old: Entry | None, new: Entry | None) -> None:
        """Replace `old` by `new`; both have the same key."""
        if self._remembers:
            before = self._remembered.pop(old.key, ()) if old is not None else ()
            after = self._compute(new) if new is not None else ()
        else:
            after = self._values_of(new) if new is not None else ()
            if self._by_key and new is not None:
                before = after
            else:
                before = self._values_of(old) if old is not None else ()
        if new is not None:
            for value in after:
                bucket = self._buckets.get(value)
                if bucket is None:
                    bucket = self._buckets[value] = {}
                bucket[new.key] = new
        if old is not None and before != after:
            for value in before:
                if value not in after:  # after adding, so that a reader always finds the object
                    self._remove(value, old.key)

    def entries(self, value: str) -> list[Entry]:
        bucket = self._buckets.get(value)
        return list(bucket.values()) if bucket is not None else []

    def count(self, value: str) -> int:
        bucket = self._buckets.get(value)
        return len(bucket) if bucket is not None else 0

    def values(self) -> list[str]:
        """All values that an entry has."""
        return list(self._buckets)

    def values_of(self, entry: Entry) -> tuple[str, ...]:
        """The values of an entry. Raises what the index function raises."""
        return self._values_of(entry)

    def stats(self) -> IndexStats:
        return IndexStats(values=len(self._buckets), failures=self._failures)

    def _compute(self, entry: Entry) -> tuple[str, ...]:
        """Call the index function, and remember its values."""
        try:
            values = self._values_of(entry)
        # Synchronous code cannot be cancelled: a CancelledError from it is an ordinary error.
        except (Exception, asyncio.CancelledError):
            self._failures += 1
            log.exception("%s: not in the index %r: its function failed", entry.key, self.name)
            return ()
        if values:
            self._remembered[entry.key] = values
        return values

    def _remove(self, value: str, key: ObjectKey) -> None:
        bucket = self._buckets.get(value)
        if bucket is None:
            return
        bucket.pop(key, None)
        if not bucket:
            del self._buckets[value]


def _check_texts(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InvalidArgument(f"an index function returned the text {values!r} (return a list)")
    found = tuple(dict.fromkeys(values))
    for value in found:
        if not isinstance(value, str):
            raise InvalidArgument(f"an index function returned {value!r}, expected text")
    return found
