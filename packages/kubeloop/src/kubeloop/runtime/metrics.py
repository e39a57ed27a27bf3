"""Metrics of controllers, under the names of controller-runtime.

Guarantees: nothing is reported, and nothing imported, unless a manager has metrics.
See also: the modules `metrics` of queues, caches, requests and elections.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, final, get_args

from kubeloop.cache import PrometheusCacheMetrics
from kubeloop.election import PrometheusElectionMetrics
from kubeloop.errors import ConfigError, import_extra
from kubeloop.rest import PrometheusMetrics
from kubeloop.workqueue import PrometheusQueueMetrics

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

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
"""Upper bounds in seconds of the buckets in which reconciles are counted."""


class ReconcileMetrics(Protocol):
    """Receives the metrics of controllers."""

    def start(
        self,
        controller: str,
        *,
        workers: int,
        parked: Callable[[], int],
        longest_parked: Callable[[], float],
    ) -> None:
        """A controller has started; the functions return its parked keys and their longest wait."""
        ...

    def set_active(self, controller: str, workers: int) -> None:
        """How many workers reconcile a key now."""
        ...

    def observe_reconcile(
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
        ConfigError: prometheus-client is not installed.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        prometheus = prometheus_client()
        options = {"registry": registry or prometheus.REGISTRY}
        gauge, counter = prometheus.Gauge, prometheus.Counter
        names = iter(RECONCILE_METRIC_NAMES)
        label = ["controller"]
        self._total = counter(next(names), "Reconciles", [*label, "result"], **options)
        self._errors = counter(next(names), "Reconciles that failed", label, **options)
        self._terminal = counter(next(names), "Failures that are not retried", label, **options)
        self._timeouts = counter(next(names), "Reconciles that timed out", label, **options)
        self._seconds = prometheus.Histogram(
            next(names), "Seconds of a reconcile", label, buckets=DURATIONS, **options
        )
        self._max = gauge(next(names), "Workers", label, **options)
        self._active = gauge(next(names), "Workers that reconcile a key", label, **options)
        self._parked = gauge(
            next(names), "Keys that wait for a cache to see their writes", label, **options
        )
        self._longest = gauge(
            next(names), "Seconds that the oldest of them waits", label, **options
        )

    def start(
        self,
        controller: str,
        *,
        workers: int,
        parked: Callable[[], int],
        longest_parked: Callable[[], float],
    ) -> None:
        self._max.labels(controller).set(workers)
        self._parked.labels(controller).set_function(parked)
        self._longest.labels(controller).set_function(longest_parked)
        # Export every series as zero: rate() misses a counter that first appears as one.
        for result in get_args(ReconcileResult):
            self._total.labels(controller, result)
        for each in (self._errors, self._terminal, self._timeouts, self._seconds, self._active):
            each.labels(controller)

    def set_active(self, controller: str, workers: int) -> None:
        self._active.labels(controller).set(workers)

    def observe_reconcile(
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
    """All metrics of a manager, in a new registry or in the given one.

    Raises:
        ConfigError: prometheus-client is not installed, or the registry is another manager's.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
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
        except ValueError as error:  # the registry has metrics of these names
            raise ConfigError(
                f"metrics of a manager: {error} (a registry is for one manager; leave"
                " metrics_registry out, or give each manager another)"
            ) from error

    def text(self) -> tuple[bytes, str]:
        """The page for Prometheus, and its content type."""
        return self._prometheus.generate_latest(self.registry), _CONTENT_TYPE


_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def prometheus_client() -> Any:
    """Raises: ConfigError when prometheus-client is not installed."""
    return import_extra("prometheus_client", extra="metrics", use="metrics")
