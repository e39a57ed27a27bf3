"""What can be counted of caches, under the names that client-go's users scrape.

Promises: nothing is counted, and nothing imported, unless metrics are handed in; a pair of
name and resource is counted for one informer only, so that two never write one series.
Elsewhere: numbers for tests and for the inspector (`stats()` of everything).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol, final

from kubeloop.errors import ConfigError

from .store import version_number

__all__ = [
    "CACHE_METRIC_NAMES",
    "NO_METER",
    "CacheMetrics",
    "Meter",
    "NoMeter",
    "PrometheusCacheMetrics",
]


class Meter(Protocol):
    """Where one informer reports what it does."""

    def listed(self, seconds: float, items: int) -> None: ...
    def watched(self, seconds: float, events: int) -> None: ...
    def short_watch(self) -> None: ...
    def reached(self, version: str) -> None:
        """The version that the reflector has come to."""
        ...

    def stored(self, version: str) -> None:
        """The version that the store has come to."""
        ...

    def failing(self, failures: int) -> None:
        """So many attempts in a row have failed; zero when one has succeeded after that."""
        ...

    def queued(self, deltas: int) -> None: ...
    def processed(self, seconds: float) -> None: ...
    def waiting(self, handler: str, notices: int) -> None:
        """How much a handler has still to be told."""
        ...

    def merged(self, handler: str, notices: int) -> None:
        """So many changes were told together with earlier ones of their object."""
        ...


class CacheMetrics(Protocol):
    """Where informers get their meters."""

    def meter(self, name: str, resource: str) -> Meter:
        """The meter of one informer; one that counts nothing if the pair is taken."""
        ...

    def release(self, name: str, resource: str) -> None:
        """The informer is gone: forget its series, and let another one have the pair."""
        ...


@final
class NoMeter:
    """Counts nothing."""

    def listed(self, seconds: float, items: int) -> None: ...
    def watched(self, seconds: float, events: int) -> None: ...
    def short_watch(self) -> None: ...
    def reached(self, version: str) -> None: ...
    def stored(self, version: str) -> None: ...
    def failing(self, failures: int) -> None: ...
    def queued(self, deltas: int) -> None: ...
    def processed(self, seconds: float) -> None: ...
    def waiting(self, handler: str, notices: int) -> None: ...
    def merged(self, handler: str, notices: int) -> None: ...


NO_METER = NoMeter()

# What it is, and what it is called by besides the informer's name and resource.
_METRICS: Mapping[str, tuple[str, str, tuple[str, ...]]] = MappingProxyType(
    {
        "informer_queued_items": ("Gauge", "Deltas that wait for the store", ()),
        "informer_processing_latency_seconds": ("Histogram", "Time to process deltas", ()),
        "informer_store_resource_version": ("Gauge", "Version of the store, last 15 digits", ()),
        "informer_handler_queued_items": ("Gauge", "What a handler has to be told", ("handler",)),
        "informer_handler_merged_items_total": (
            "Counter",
            "Changes told together because a handler was slow",
            ("handler",),
        ),
        "reflector_lists_total": ("Counter", "Lists", ()),
        "reflector_list_duration_seconds": ("Histogram", "Duration of a list", ()),
        "reflector_items_per_list": ("Histogram", "Objects in a list", ()),
        "reflector_watches_total": ("Counter", "Watches", ()),
        "reflector_short_watches_total": ("Counter", "Watches that ended at once", ()),
        "reflector_watch_duration_seconds": ("Histogram", "Duration of a watch", ()),
        "reflector_items_per_watch": ("Histogram", "Events of a watch", ()),
        "reflector_failures_total": ("Counter", "Attempts to list or watch that failed", ()),
        "reflector_consecutive_failures": ("Gauge", "Attempts in a row that failed", ()),
        "reflector_last_resource_version": ("Gauge", "Version of the reflector", ()),
    }
)
CACHE_METRIC_NAMES = tuple(_METRICS)
_ITEMS = (1, 10, 100, 500, 1000, 5000, 20_000, 100_000)


@final
class PrometheusCacheMetrics:
    """Reports to prometheus-client, which the extra `metrics` installs.

    Raises:
        ConfigError: it is not installed.
    """

    def __init__(self, registry: Any = None) -> None:
        try:
            prometheus = importlib.import_module("prometheus_client")
        except ImportError as error:
            raise ConfigError(
                "metrics need prometheus-client (install kubeloop[metrics])"
            ) from error
        where = registry or prometheus.REGISTRY
        self._all: dict[str, Any] = {}
        for name, (kind, text, labels) in _METRICS.items():
            sizes = {"buckets": _ITEMS} if "items_per" in name else {}
            made = getattr(prometheus, kind)
            self._all[name] = made(
                name, text, ["name", "resource", *labels], registry=where, **sizes
            )
        self._taken: dict[tuple[str, str], _PrometheusMeter] = {}

    def meter(self, name: str, resource: str) -> Meter:
        """The meter of one informer; without a name, or with one that is taken, none."""
        if not name or (name, resource) in self._taken:
            return NO_METER
        meter = self._taken[name, resource] = _PrometheusMeter(self._all, name, resource)
        return meter

    def release(self, name: str, resource: str) -> None:
        meter = self._taken.pop((name, resource), None)
        if meter is not None:
            meter.forget()


@final
class _PrometheusMeter:
    def __init__(self, metrics: Mapping[str, Any], name: str, resource: str) -> None:
        self._metrics = metrics
        self._labels = (name, resource)
        self._handlers: set[str] = set()
        self._made: dict[str, Any] = {
            each: metric.labels(*self._labels)
            for each, metric in metrics.items()
            if not _METRICS[each][2]
        }

    def listed(self, seconds: float, items: int) -> None:
        self._made["reflector_lists_total"].inc()
        self._made["reflector_list_duration_seconds"].observe(seconds)
        self._made["reflector_items_per_list"].observe(items)

    def watched(self, seconds: float, events: int) -> None:
        self._made["reflector_watches_total"].inc()
        self._made["reflector_watch_duration_seconds"].observe(seconds)
        self._made["reflector_items_per_watch"].observe(events)

    def short_watch(self) -> None:
        self._made["reflector_short_watches_total"].inc()

    def reached(self, version: str) -> None:
        self._set_version("reflector_last_resource_version", version)

    def stored(self, version: str) -> None:
        self._set_version("informer_store_resource_version", version)

    def failing(self, failures: int) -> None:
        self._made["reflector_consecutive_failures"].set(failures)
        if failures:
            self._made["reflector_failures_total"].inc()

    def queued(self, deltas: int) -> None:
        self._made["informer_queued_items"].set(deltas)

    def processed(self, seconds: float) -> None:
        self._made["informer_processing_latency_seconds"].observe(seconds)

    def waiting(self, handler: str, notices: int) -> None:
        self._of("informer_handler_queued_items", handler).set(notices)

    def merged(self, handler: str, notices: int) -> None:
        self._of("informer_handler_merged_items_total", handler).inc(notices)

    def forget(self) -> None:
        """Take the series out of the registry."""
        for each in self._made:
            self._metrics[each].remove(*self._labels)
        for each in ("informer_handler_queued_items", "informer_handler_merged_items_total"):
            for handler in self._handlers:
                self._of(each, handler)  # removing what was never made would be an error
                self._metrics[each].remove(*self._labels, handler)

    def _of(self, metric: str, handler: str) -> Any:
        self._handlers.add(handler)
        return self._metrics[metric].labels(*self._labels, handler)

    def _set_version(self, metric: str, version: str) -> None:
        number = version_number(version)
        if number is not None:
            self._made[metric].set(number)
