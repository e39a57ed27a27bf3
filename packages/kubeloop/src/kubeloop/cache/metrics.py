"""Metrics of caches, under the names of client-go.

Guarantees: nothing is counted or imported unless metrics are passed in. A pair of name and
resource belongs to one informer, so that two never write the same series.
See also: `informer` (`SharedInformer.stats`, the numbers for tests and for the inspector).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol, final

from kubeloop.errors import import_extra

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
    """Receives the measurements of one informer."""

    def observe_list(self, seconds: float, items: int) -> None: ...
    def observe_watch(self, seconds: float, events: int) -> None: ...
    def count_short_watch(self) -> None: ...
    def set_reflector_version(self, version: str) -> None:
        """The resource version of the reflector."""
        ...

    def set_store_version(self, version: str) -> None:
        """The resource version of the store."""
        ...

    def set_failures(self, failures: int) -> None:
        """How many attempts in a row have failed; 0 after one that succeeded."""
        ...

    def set_queued(self, deltas: int) -> None: ...
    def observe_processing(self, seconds: float) -> None: ...
    def set_backlog(self, handler: str, notifications: int) -> None:
        """How many notifications wait for a handler."""
        ...

    def count_merged(self, handler: str, notifications: int) -> None:
        """So many notifications were merged into earlier ones of their object."""
        ...


class CacheMetrics(Protocol):
    """Creates the meters of informers."""

    def meter(self, name: str, resource: str) -> Meter:
        """The meter of one informer; one that counts nothing if the pair is in use."""
        ...

    def release(self, name: str, resource: str) -> None:
        """The informer has stopped: remove its series, and free the pair."""
        ...


@final
class NoMeter:
    """Counts nothing."""

    def observe_list(self, seconds: float, items: int) -> None: ...
    def observe_watch(self, seconds: float, events: int) -> None: ...
    def count_short_watch(self) -> None: ...
    def set_reflector_version(self, version: str) -> None: ...
    def set_store_version(self, version: str) -> None: ...
    def set_failures(self, failures: int) -> None: ...
    def set_queued(self, deltas: int) -> None: ...
    def observe_processing(self, seconds: float) -> None: ...
    def set_backlog(self, handler: str, notifications: int) -> None: ...
    def count_merged(self, handler: str, notifications: int) -> None: ...


NO_METER = NoMeter()

# Type, help text, and the labels besides name and resource.
_METRICS: Mapping[str, tuple[str, str, tuple[str, ...]]] = MappingProxyType(
    {
        "informer_queued_items": ("Gauge", "Deltas in the queue", ()),
        "informer_processing_latency_seconds": ("Histogram", "Time to process deltas", ()),
        "informer_store_resource_version": ("Gauge", "Version of the store, last 15 digits", ()),
        "informer_handler_queued_items": (
            "Gauge",
            "Notifications that wait for a handler",
            ("handler",),
        ),
        "informer_handler_merged_items_total": (
            "Counter",
            "Notifications merged because a handler was slow",
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
        prometheus = import_extra("prometheus_client", extra="metrics", use="metrics")
        registry = registry or prometheus.REGISTRY
        self._all: dict[str, Any] = {}
        for name, (kind, text, labels) in _METRICS.items():
            sizes = {"buckets": _ITEMS} if "items_per" in name else {}
            create = getattr(prometheus, kind)
            self._all[name] = create(
                name, text, ["name", "resource", *labels], registry=registry, **sizes
            )
        self._meters: dict[tuple[str, str], _PrometheusMeter] = {}

    def meter(self, name: str, resource: str) -> Meter:
        """The meter of one informer; one that counts nothing without a name, or if it is in use."""
        if not name or (name, resource) in self._meters:
            return NO_METER
        meter = self._meters[name, resource] = _PrometheusMeter(self._all, name, resource)
        return meter

    def release(self, name: str, resource: str) -> None:
        meter = self._meters.pop((name, resource), None)
        if meter is not None:
            meter.forget()


@final
class _PrometheusMeter:
    def __init__(self, metrics: Mapping[str, Any], name: str, resource: str) -> None:
        self._metrics = metrics
        self._labels = (name, resource)
        self._handlers: set[str] = set()
        self._series: dict[str, Any] = {
            each: metric.labels(*self._labels)
            for each, metric in metrics.items()
            if not _METRICS[each][2]
        }

    def observe_list(self, seconds: float, items: int) -> None:
        self._series["reflector_lists_total"].inc()
        self._series["reflector_list_duration_seconds"].observe(seconds)
        self._series["reflector_items_per_list"].observe(items)

    def observe_watch(self, seconds: float, events: int) -> None:
        self._series["reflector_watches_total"].inc()
        self._series["reflector_watch_duration_seconds"].observe(seconds)
        self._series["reflector_items_per_watch"].observe(events)

    def count_short_watch(self) -> None:
        self._series["reflector_short_watches_total"].inc()

    def set_reflector_version(self, version: str) -> None:
        self._set_version("reflector_last_resource_version", version)

    def set_store_version(self, version: str) -> None:
        self._set_version("informer_store_resource_version", version)

    def set_failures(self, failures: int) -> None:
        self._series["reflector_consecutive_failures"].set(failures)
        if failures:
            self._series["reflector_failures_total"].inc()

    def set_queued(self, deltas: int) -> None:
        self._series["informer_queued_items"].set(deltas)

    def observe_processing(self, seconds: float) -> None:
        self._series["informer_processing_latency_seconds"].observe(seconds)

    def set_backlog(self, handler: str, notifications: int) -> None:
        self._of_handler("informer_handler_queued_items", handler).set(notifications)

    def count_merged(self, handler: str, notifications: int) -> None:
        self._of_handler("informer_handler_merged_items_total", handler).inc(notifications)

    def forget(self) -> None:
        """Remove the series from the registry."""
        for each in self._series:
            self._metrics[each].remove(*self._labels)
        for each in ("informer_handler_queued_items", "informer_handler_merged_items_total"):
            for handler in self._handlers:
                self._of_handler(
                    each, handler
                )  # to remove a series that does not exist is an error
                self._metrics[each].remove(*self._labels, handler)

    def _of_handler(self, metric: str, handler: str) -> Any:
        self._handlers.add(handler)
        return self._metrics[metric].labels(*self._labels, handler)

    def _set_version(self, metric: str, version: str) -> None:
        number = version_number(version)
        if number is not None:
            self._series[metric].set(number)
