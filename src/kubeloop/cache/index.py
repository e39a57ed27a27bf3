"""Finding entries by a value: which values an entry has, and who has a value.

Promises: an entry found under a value has that value; a value that nobody has any more is
gone from the index. An index function that raises, or gives what is no text, leaves its
object out of that one index: logged with the object's key, counted, and never in the way
of the object itself.
Threads: changed by one, read by any. A reader copies a bucket in one step of the
interpreter, so it sees the bucket as it was between two changes.
Elsewhere: reading index values through the projection (`keeper`), holding entries (`store`).
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
    "exactly_one",
    "label_of_path",
]

T = TypeVar("T")
log = get_logger(__name__)

IndexFunc: TypeAlias = Callable[[T], Iterable[str]]
# What to index by: a field path of the wire (`spec.nodeName`), or a function of the object.
Indexers: TypeAlias = Mapping[str, str | IndexFunc[T]]
ValuesOf: TypeAlias = Callable[[Entry], tuple[str, ...]]

NAMESPACE = "namespace"  # the index that every store has


def by_namespace(entry: Entry) -> tuple[str, ...]:
    """An object's namespace; empty for those that have none."""
    return (entry.key.namespace,)


def by_label(key: str) -> ValuesOf:
    """The value of one label, without a field path and without decoding anything."""

    def values_of(entry: Entry) -> tuple[str, ...]:
        value = entry.label_map.get(key)
        return () if value is None else (value,)

    return values_of


def by_function(function: IndexFunc[T], give: Callable[[Entry], T]) -> ValuesOf:
    """What a function says of the object; each is given to it as `give` does."""
    return lambda entry: _texts(function(give(entry)))


_label_path = re.compile(r"metadata\.labels(?:\.([\w-]+)|\['([^']+)'\]|\[\"([^\"]+)\"\])").fullmatch


def label_of_path(path: str) -> str | None:
    """The label that a field path names, if it names one."""
    found = _label_path(path)
    return next(filter(None, found.groups())) if found else None


def exactly_one(function: IndexFunc[T]) -> Callable[[T], str]:
    """An index function as a key function.

    The result raises `InvalidArgument` for an object that has no value, or several.
    """

    def key_of(given: T) -> str:
        values = list(function(given))
        if len(values) != 1:
            raise InvalidArgument(
                f"a key from an index function: expected one value, found {values}"
            )
        return values[0]

    return key_of


class IndexStats(msgspec.Struct, frozen=True):
    """What an index holds."""

    values: int
    failures: int  # objects that its function could not tell a value of


@final
class Index:
    """Entries by value; `values_of` is asked once for each entry.

    With `remembers`, the values an entry was filed under are held: for functions that are
    costly, may raise, or need not say the same twice. Without, `values_of` must be a plain
    look at the entry.
    """

    __slots__ = ("_buckets", "_failures", "_filed", "_remembers", "_values_of", "name")

    def __init__(self, name: str, values_of: ValuesOf, *, remembers: bool = False) -> None:
        self.name = name
        self._values_of = values_of
        self._remembers = remembers
        # A bucket is never empty. It holds the entries themselves: a read needs no second look.
        self._buckets: dict[str, dict[ObjectKey, Entry]] = {}
        self._filed: dict[ObjectKey, tuple[str, ...]] = {}
        self._failures = 0

    def emptied(self) -> Index:
        """A new index of the same kind, to be filled from the start."""
        return Index(self.name, self._values_of, remembers=self._remembers)

    def change(self, old: Entry | None, new: Entry | None) -> None:
        """File `new` in the place of `old`; both are about one key."""
        before = self._before(old) if old is not None else ()
        after = self._after(new) if new is not None else ()
        if new is not None:
            for value in after:
                bucket = self._buckets.get(value)
                if bucket is None:
                    bucket = self._buckets[value] = {}
                bucket[new.key] = new
        if old is not None and before != after:
            for value in before:
                if value not in after:  # filed first, so a reader never finds it nowhere
                    self._remove(value, old.key)

    def entries(self, value: str) -> list[Entry]:
        bucket = self._buckets.get(value)
        return list(bucket.values()) if bucket is not None else []

    def count(self, value: str) -> int:
        bucket = self._buckets.get(value)
        return len(bucket) if bucket is not None else 0

    def values(self) -> list[str]:
        """Every value that somebody has."""
        return list(self._buckets)

    def values_of(self, entry: Entry) -> tuple[str, ...]:
        """The values an entry would be filed under. Raises what a function raises."""
        return self._values_of(entry)

    def stats(self) -> IndexStats:
        return IndexStats(values=len(self._buckets), failures=self._failures)

    def _before(self, old: Entry) -> tuple[str, ...]:
        return self._filed.pop(old.key, ()) if self._remembers else self._values_of(old)

    def _after(self, new: Entry) -> tuple[str, ...]:
        if not self._remembers:
            return self._values_of(new)
        values = self._asked(new)
        if values:
            self._filed[new.key] = values
        return values

    def _asked(self, entry: Entry) -> tuple[str, ...]:
        try:
            return self._values_of(entry)
        # Nobody can cancel plain code: what says so is a failure as well.
        except (Exception, asyncio.CancelledError):
            self._failures += 1
            log.exception("%s: not in the index %r: its function failed", entry.key, self.name)
            return ()

    def _remove(self, value: str, key: ObjectKey) -> None:
        bucket = self._buckets.get(value)
        if bucket is None:
            return
        bucket.pop(key, None)
        if not bucket:
            del self._buckets[value]


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InvalidArgument(f"an index function gave the text {values!r} (give a list of texts)")
    found = tuple(dict.fromkeys(values))
    for value in found:
        if not isinstance(value, str):
            raise InvalidArgument(f"an index function gave {value!r}, which is no text")
    return found
