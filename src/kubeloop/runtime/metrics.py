"""What can be counted of controllers, under the names that controller-runtime's users scrape.

Promises: nothing is counted, and nothing imported, unless metrics are asked for.
Elsewhere: queues, caches, requests and elections count themselves, each in its room.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias, final, get_args

from kubeloop.cache import PrometheusCacheMetrics
from kubeloop.election import PrometheusElectionMetrics
from kubeloop.errors import ConfigError
from kubeloop.rest import PrometheusMetrics
from kubeloop.workqueue import PrometheusQueueMetrics

__all__ = [
    "DURATIONS",
    "RECONCILE_METRIC_NAMES",
    "AllMetrics",
    "PrometheusReconcileMetrics",
    "ReconcileMetrics",
    "ReconcileResult",
]

ReconcileResult: TypeAlias = Literal["success", "error", "requeue", "requeue_after"]

RECONCILE_METRIC_NAMES = (
    "controller_runtime_reconcile_total",
    "controller_runtime_reconcile_errors_total",
    "controller_runtime_terminal_reconcile_errors_total",
    "controller_runtime_reconcile_timeouts_total",
    "controller_runtime_reconcile_time_seconds",
    "controller_runtime_max_concurrent_reconciles",
    "controller_runtime_active_workers",
    "controller_runtime_keys_waiting_for_cache",
    "controller_runtime_longest_wait_for_cache_seconds",
)

DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, math.inf)
"""Seconds by which tries are counted: each counts those that took longer than the one before."""


class ReconcileMetrics(Protocol):
    """Where controllers report."""

    def workers(self, controller: str, count: int) -> None:
        """A controller begins, with so many workers."""
        ...

    def active(self, controller: str, count: int) -> None: ...
    def waiting_for_cache(
        self, controller: str, *, keys: Callable[[], int], oldest: Callable[[], float]
    ) -> None:
        """A controller begins: how many keys wait for a cache, and for how long the oldest has."""
        ...

    def reconciled(
        self,
        controller: str,
        result: ReconcileResult,
        *,
        seconds: float,
        terminal: bool,
        timed_out: bool,
    ) -> None: ...


@final
class PrometheusReconcileMetrics:
    """Reports to prometheus-client, which the extra `metrics` installs.

    Raises:
        ConfigError: it is not installed.
    """

    def __init__(self, registry: Any = None) -> None:
        prometheus = prometheus_client()
        where = {"registry": registry or prometheus.REGISTRY}
        total, errors, terminal, timeouts, seconds, most, active, *behind = RECONCILE_METRIC_NAMES
        gauge, counter = prometheus.Gauge, prometheus.Counter
        label = ["controller"]
        self._total = counter(total, "Reconciles", [*label, "result"], **where)
        self._errors = counter(errors, "Reconciles that failed", label, **where)
        self._terminal = counter(terminal, "Failures that no try can mend", label, **where)
        self._timeouts = counter(timeouts, "Reconciles that took too long", label, **where)
        self._seconds = prometheus.Histogram(
            seconds, "Time of a reconcile", label, buckets=DURATIONS, **where
        )
        self._most = gauge(most, "Workers", label, **where)
        self._active = gauge(active, "Workers that have a key", label, **where)
        keys, longest = behind
        self._keys = gauge(keys, "Keys that wait for a cache to see their writes", label, **where)
        self._longest = gauge(longest, "Time for which the oldest of them has", label, **where)

    def workers(self, controller: str, count: int) -> None:
        self._most.labels(controller).set(count)
        # Zeros from the start: what first appears as one has, to a rate, not grown.
        for result in get_args(ReconcileResult):
            self._total.labels(controller, result)
        for each in (self._errors, self._terminal, self._timeouts, self._seconds, self._active):
            each.labels(controller)

    def active(self, controller: str, count: int) -> None:
        self._active.labels(controller).set(count)

    def waiting_for_cache(
        self, controller: str, *, keys: Callable[[], int], oldest: Callable[[], float]
    ) -> None:
        self._keys.labels(controller).set_function(keys)
        self._longest.labels(controller).set_function(oldest)

    def reconciled(
        self,
        controller: str,
        result: ReconcileResult,
        *,
        seconds: float,
        terminal: bool,
        timed_out: bool,
    ) -> None:
        self._total.labels(controller, result).inc()
        self._seconds.labels(controller).observe(seconds)
        self._errors.labels(controller).inc(result == "error")
        self._terminal.labels(controller).inc(terminal)
        self._timeouts.labels(controller).inc(timed_out)


@final
class AllMetrics:
    """Everything that a manager counts, in one registry of its own or a given one.

    Raises:
        ConfigError: prometheus-client is not installed, or the registry is another manager's.
    """

    def __init__(self, registry: Any = None) -> None:
        self._prometheus = prometheus_client()
        self.registry = registry or self._prometheus.CollectorRegistry()
        try:
            self.requests = PrometheusMetrics(self.registry)
            self.caches = PrometheusCacheMetrics(self.registry)
            self.queues = PrometheusQueueMetrics(self.registry)
            self.elections = PrometheusElectionMetrics(self.registry)
            self.reconciles = PrometheusReconcileMetrics(self.registry)
            self._prometheus.ProcessCollector(registry=self.registry)
            self._prometheus.GCCollector(registry=self.registry)
        except ValueError as error:  # it has metrics of these names
            raise ConfigError(
                f"metrics of a manager: {error} (a registry is for one manager; leave"
                " metrics_registry out, or give each its own)"
            ) from error

    def text(self) -> tuple[bytes, str]:
        """The page that is scraped, and its content type."""
        return self._prometheus.generate_latest(self.registry), _CONTENT_TYPE


_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def prometheus_client() -> Any:
    """Raises: ConfigError when prometheus-client is not installed."""
    try:
        return importlib.import_module("prometheus_client")
    except ImportError as error:
        raise ConfigError("metrics need prometheus-client (install kubeloop[metrics])") from error
