"""A report of caches for people: a row for each, and warnings about those that fail or hold
too much.

Guarantees: it only reads `stats()`; it decodes nothing and waits for nothing.
See also: `informer` (`SharedInformer.stats`, all numbers), `metrics` (for Prometheus).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from kubeloop.wire import get_logger

from .list_watch import Scope
from .outage import OutageStats

__all__ = ["CacheReport", "CacheRow", "cache_report", "unfiltered_warning", "warn_of_unfiltered"]

log = get_logger(__name__)

# Resources of which a program seldom needs all; they may be many, or secret.
HEAVY = frozenset({"secrets", "configmaps"})


class _HasStats(Protocol):
    def stats(self) -> Any: ...


class CacheRow(msgspec.Struct, frozen=True):
    """One cache."""

    name: str
    resource: str
    namespace: str
    selectors: str
    store_as: str
    objects: int
    bytes: int
    handlers: int
    has_synced: bool
    event_age: float | None
    failures: int  # attempts in a row that have failed
    failing_for: float | None  # seconds; None: the last attempt succeeded
    last_error: str
    warning: str


class CacheReport(msgspec.Struct, frozen=True):
    """All caches of a process, largest first; as text, a table."""

    rows: tuple[CacheRow, ...]

    @property
    def objects(self) -> int:
        return sum(row.objects for row in self.rows)

    @property
    def bytes(self) -> int:
        return sum(row.bytes for row in self.rows)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(row.warning for row in self.rows if row.warning)

    def __str__(self) -> str:
        head = ("RESOURCE", "NAMESPACE", "SELECTORS", "FORMAT", "OBJECTS", "KB", "SYNCED")
        rows = [head, *map(_cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*table, *(f"warning: {warning}" for warning in self.warnings)])


def cache_report(informers: Iterable[_HasStats]) -> CacheReport:
    """A report of these informers."""
    rows = [_row(informer.stats()) for informer in informers]
    return CacheReport(tuple(sorted(rows, key=lambda row: -row.bytes)))


def unfiltered_warning(scope: Scope) -> str:
    """A warning about a cache of all secrets or config maps; empty if there is none."""
    resource = scope.resource.partition(".")[0]
    if resource not in HEAVY or scope.resource != resource or scope.is_filtered:
        return ""
    return (
        f"{scope.resource}: the cache holds all of the cluster "
        "(set a namespace, a label selector or a field selector)"
    )


def warn_of_unfiltered(scope: Scope) -> None:
    warning = unfiltered_warning(scope)
    if warning:
        log.warning("%s", warning)


def _failing_warning(stats: Any) -> str:
    outage: OutageStats | None = stats.reflector.outage
    if outage is None or outage.failures == 1:  # a single failure may be a closed connection
        return ""
    return (
        f"{stats.name}: has failed for {outage.seconds:.0f} s (attempt {outage.failures}),"
        f" the cache may be stale: {outage.error}"
    )


def _row(stats: Any) -> CacheRow:
    scope: Scope = stats.scope
    outage: OutageStats | None = stats.reflector.outage
    return CacheRow(
        name=stats.name,
        resource=scope.resource,
        namespace=scope.namespace,
        selectors=",".join(filter(None, (scope.selector, scope.field_selector))),
        store_as=stats.codec.store_as,
        objects=stats.store.objects,
        bytes=stats.store.bytes,
        handlers=len(stats.handlers),
        has_synced=stats.has_synced,
        event_age=stats.reflector.event_age,
        failures=0 if outage is None else outage.failures,
        failing_for=None if outage is None else outage.seconds,
        last_error=stats.reflector.last_error,
        warning="; ".join(filter(None, (_failing_warning(stats), unfiltered_warning(scope)))),
    )


def _cells(row: CacheRow) -> tuple[str, ...]:
    synced = "yes" if row.has_synced else "no"
    kilobytes = str(round(row.bytes / 1000))
    namespace, selectors = row.namespace or "*", row.selectors or "*"
    return (row.resource, namespace, selectors, row.store_as, str(row.objects), kilobytes, synced)
