"""Finds objects in caches.

Promises: labels, namespaces and names are matched without decoding; of what is found only
what is shown is read. A selector that does not parse is an error, never everything. Reads
may come from any thread, and these do: a large cache is not searched on the event loop.
Elsewhere: one object (`showing`), the caches (`kubeloop.cache`).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from kubeloop.cache import NAMESPACE, Entry, SharedInformer
from kubeloop.selectors import as_selector
from kubeloop.wire import Projection

__all__ = ["PAGE", "Caches", "Found", "Query", "Row", "search"]

PAGE = 50
"""Objects on one page."""
_MOST_NAMESPACES = 500
_creation = Projection("metadata.creationTimestamp").read

Caches: TypeAlias = Mapping[str, SharedInformer[Any]]


class Query(msgspec.Struct, frozen=True):
    """What is looked for; what is empty excludes nothing."""

    cache: str = ""
    name: str = ""  # a part of it
    namespace: str = ""
    labels: str = ""  # a selector
    after: int = 0  # how many are on the pages before


class Row(msgspec.Struct, frozen=True):
    """One object as a list shows it."""

    cache: str
    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    version: str
    created: str
    is_deleting: bool


class Found(msgspec.Struct, frozen=True):
    """A page of what was found."""

    total: int
    after: int
    rows: tuple[Row, ...]
    namespaces: tuple[str, ...]  # there are, in these caches


def search(caches: Caches, query: Query) -> Found:
    """A page of the objects that fit, by namespace and name.

    Raises: InvalidArgument when the selector does not parse.
    """
    chosen = {query.cache: caches[query.cache]} if query.cache else caches
    matches: list[tuple[str, str, str, Entry]] = []
    selector, part = as_selector(query.labels), query.name.lower()
    for cache, informer in chosen.items():
        matches += [
            (entry.key.namespace, entry.key.name, cache, entry)
            for entry in informer.indexer.entries(selector, namespace=query.namespace)
            if part in entry.key.name.lower()
        ]
    first = heapq.nsmallest(query.after + PAGE, matches, key=lambda match: match[:3])
    rows = [_row(cache, caches[cache], entry) for _, _, cache, entry in first[query.after :]]
    return Found(len(matches), query.after, tuple(rows), _namespaces(chosen))


def _row(cache: str, informer: SharedInformer[Any], entry: Entry) -> Row:
    (created,) = _creation(informer.indexer.codec.raw(entry))
    return Row(
        cache=cache,
        kind=informer.scope.kind or informer.scope.resource,
        namespace=entry.key.namespace,
        name=entry.key.name,
        labels=entry.label_map,
        version=entry.version,
        created=created if isinstance(created, str) else "",
        is_deleting=bool(entry.deletion_timestamp),
    )


def _namespaces(caches: Caches) -> tuple[str, ...]:
    names = {name for each in caches.values() for name in each.indexer.index_values(NAMESPACE)}
    return tuple(sorted(names - {""})[:_MOST_NAMESPACES])
