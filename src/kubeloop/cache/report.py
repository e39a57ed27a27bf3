"""What caches hold, for people: a line for each, and a word about those that hold too much.

Promises: only `stats()` are read; nothing is decoded and nothing waited for.
Elsewhere: the numbers in full (`SharedInformer.stats`), for machines (`metrics`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from kubeloop.wire import get_logger

from .list_watch import Scope
from .outage import OutageStats

__all__ = ["CacheLine", "CacheReport", "cache_report", "unfiltered_warning", "warn_of_unfiltered"]

log = get_logger(__name__)

# Kinds of which a program seldom needs all, and of which all may be a lot, or secret.
HEAVY = frozenset({"secrets", "configmaps"})


class _Reported(Protocol):
    def stats(self) -> Any: ...


class CacheLine(msgspec.Struct, frozen=True):
    """One cache."""

    name: str
    resource: str
    namespace: str
    selectors: str
    keeping: str
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

    lines: tuple[CacheLine, ...]

    @property
    def objects(self) -> int:
        return sum(line.objects for line in self.lines)

    @property
    def bytes(self) -> int:
        return sum(line.bytes for line in self.lines)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(line.warning for line in self.lines if line.warning)

    def __str__(self) -> str:
        head = ("RESOURCE", "NAMESPACE", "SELECTORS", "KEEPING", "OBJECTS", "KB", "SYNCED")
        rows = [head, *map(_cells, self.lines)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*table, *(f"warning: {warning}" for warning in self.warnings)])


def cache_report(informers: Iterable[_Reported]) -> CacheReport:
    """A report of these informers."""
    lines = [_line(informer.stats()) for informer in informers]
    return CacheReport(tuple(sorted(lines, key=lambda line: -line.bytes)))


def unfiltered_warning(scope: Scope) -> str:
    """What to say of a cache that holds more than it should have to; empty if nothing."""
    resource = scope.resource.partition(".")[0]
    if resource not in HEAVY or scope.resource != resource or scope.is_filtered:
        return ""
    return (
        f"{scope.resource}: all of the cluster are held in memory "
        "(give a namespace, a label selector or a field selector)"
    )


def warn_of_unfiltered(scope: Scope) -> None:
    warning = unfiltered_warning(scope)
    if warning:
        log.warning("%s", warning)


def _failing_warning(stats: Any) -> str:
    outage: OutageStats | None = stats.reflector.outage
    if outage is None or outage.failures == 1:  # one alone may be a connection that was closed
        return ""
    return (
        f"{stats.name}: has failed for {outage.seconds:.0f} s (attempt {outage.failures}),"
        f" the cache may be out of date: {outage.error}"
    )


def _line(stats: Any) -> CacheLine:
    scope: Scope = stats.scope
    outage: OutageStats | None = stats.reflector.outage
    return CacheLine(
        name=stats.name,
        resource=scope.resource,
        namespace=scope.namespace,
        selectors=",".join(filter(None, (scope.selector, scope.field_selector))),
        keeping=stats.keeper.keeping,
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


def _cells(line: CacheLine) -> tuple[str, ...]:
    synced = "yes" if line.has_synced else "no"
    kilobytes = str(round(line.bytes / 1000))
    where, which = line.namespace or "*", line.selectors or "*"
    return (line.resource, where, which, line.keeping, str(line.objects), kilobytes, synced)
