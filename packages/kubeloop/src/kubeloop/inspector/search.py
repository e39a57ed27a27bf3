"""Searches objects in caches.

Guarantees: labels, namespaces and names are matched without decoding; only the rows of one
page are read. An invalid selector is an error. The search is thread-safe, and runs in a thread
so that a large cache does not block the event loop.
See also: `rendering` (one object), `kubeloop.cache` (the caches).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from kubeloop.cache import NAMESPACE, Entry, SharedInformer
from kubeloop.selectors import as_selector
from kubeloop.wire import Projection

__all__ = ["PAGE", "Caches", "Query", "Row", "SearchResult", "search"]

PAGE = 50
"""Objects on one page."""
_MAX_NAMESPACES = 500
_creation = Projection("metadata.creationTimestamp").read

Caches: TypeAlias = Mapping[str, SharedInformer[Any]]


class Query(msgspec.Struct, frozen=True):
    """The filters of a search; an empty one matches everything."""

    cache: str = ""
    manager: str = ""
    name: str = ""  # a substring
    namespace: str = ""
    labels: str = ""  # a selector
    after: int = 0  # the number of objects on earlier pages
    step: int = -1  # of a recording; the last one by default


class Row(msgspec.Struct, frozen=True):
    """One object in the list."""

    cache: str
    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    version: str
    created: str
    is_deleting: bool


class SearchResult(msgspec.Struct, frozen=True):
    """One page of the results."""

    total: int
    after: int
    rows: tuple[Row, ...]
    namespaces: tuple[str, ...]  # all in these caches


def search(caches: Caches, query: Query) -> SearchResult:
    """One page of the matching objects, sorted by namespace and name.

    Raises: InvalidArgument if the selector is invalid.
    """
    selected = {query.cache: caches[query.cache]} if query.cache else caches
    matches: list[tuple[str, str, str, Entry]] = []
    selector, part = as_selector(query.labels), query.name.lower()
    for cache, informer in selected.items():
        matches += [
            (entry.key.namespace, entry.key.name, cache, entry)
            for entry in informer.indexer.entries(selector, namespace=query.namespace)
            if part in entry.key.name.lower()
        ]
    first = heapq.nsmallest(query.after + PAGE, matches, key=lambda match: match[:3])
    rows = [_row(cache, caches[cache], entry) for _, _, cache, entry in first[query.after :]]
    return SearchResult(len(matches), query.after, tuple(rows), _namespaces(selected))


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
    return tuple(sorted(names - {""})[:_MAX_NAMESPACES])
