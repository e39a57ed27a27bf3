"""Metrics of a queue, under the names of client-go.

Guarantees: nothing is reported, and nothing imported, unless a queue has a name and a
`QueueMetrics`; an exception of the metrics is logged and never loses a key.
See also: `WorkQueue.stats()` (for tests and the inspector).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Generic, ParamSpec, Protocol, TypeVar, final

from kubeloop.errors import import_extra
from kubeloop.wire import get_logger

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["MetricsReporter", "PrometheusQueueMetrics", "QueueMetrics", "sum_and_max_age"]

K = TypeVar("K", bound=Hashable)
P = ParamSpec("P")
log = get_logger(__name__)

# As client-go: 1e-8 * 10^i (WKQ-17).
_DURATION_BUCKETS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


class QueueMetrics(Protocol):
    """Receives the metrics of queues (client-go: `MetricsProvider`); `name` is the queue's."""

    def set_depth(self, name: str, keys: int) -> None:
        """Keys that need processing: ready ones, and those added again while in processing."""
        ...

    def count_add(self, name: str) -> None:
        """A key was added that did not need processing already."""
        ...

    def observe_queue_duration(self, name: str, seconds: float) -> None:
        """A worker got a key so long after it was added."""
        ...

    def observe_work_duration(self, name: str, seconds: float) -> None:
        """A worker processed a key for so long."""
        ...

    def count_retry(self, name: str) -> None:
        """A key was added with a delay, be it zero."""
        ...

    def set_processing(self, name: str, *, unfinished_work: float, longest_running: float) -> None:
        """How long the keys in processing have been processed: the sum, and the longest."""
        ...


@final
class MetricsReporter(Generic[K]):
    """Reports what happens to the keys of one queue to its `QueueMetrics`."""

    def __init__(self, name: str, metrics: QueueMetrics) -> None:
        self._name = name
        self._metrics = metrics
        self._added: dict[K, float] = {}  # when each key was added that no worker got yet
        self._has_failed = False
        self._report(metrics.set_depth, name, 0)  # so that the queue shows before its first key

    def on_add(self, key: K, depth: int, now: float) -> None:
        self._added[key] = now
        self._report(self._metrics.count_add, self._name)
        self._report(self._metrics.set_depth, self._name, depth)

    def on_get(self, key: K, depth: int, now: float) -> None:
        seconds = now - self._added.pop(key, now)
        self._report(self._metrics.set_depth, self._name, depth)
        self._report(self._metrics.observe_queue_duration, self._name, seconds)

    def on_done(self, seconds: float) -> None:
        self._report(self._metrics.observe_work_duration, self._name, seconds)

    def on_retry(self) -> None:
        self._report(self._metrics.count_retry, self._name)

    def report_processing(self, unfinished_work: float, longest_running: float) -> None:
        self._report(
            self._metrics.set_processing,
            self._name,
            unfinished_work=unfinished_work,
            longest_running=longest_running,
        )

    def _report(self, report: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            report(*args, **kwargs)
        except Exception:
            # An error for the first one; one for every key would flood the log.
            level = logging.DEBUG if self._has_failed else logging.ERROR
            self._has_failed = True
            log.log(level, "queue %s: reporting metrics failed", self._name, exc_info=True)


@final
class PrometheusQueueMetrics:
    """Reports to prometheus-client, which the extra `metrics` installs.

    One object serves all queues of a registry: the label `name` distinguishes them.

    Raises: ConfigError when prometheus-client is not installed.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        prometheus = import_extra("prometheus_client", extra="metrics", use="metrics")
        options = {"registry": registry or prometheus.REGISTRY, "labelnames": ["name"]}
        seconds = options | {"buckets": _DURATION_BUCKETS}
        gauge, counter, histogram = prometheus.Gauge, prometheus.Counter, prometheus.Histogram
        self._depth = gauge("workqueue_depth", "Keys that need processing", **options)
        self._adds = counter("workqueue_adds_total", "Keys that were added", **options)
        self._queue_duration = histogram(
            "workqueue_queue_duration_seconds", "Seconds from add to get", **seconds
        )
        self._work_duration = histogram(
            "workqueue_work_duration_seconds", "Seconds from get to done", **seconds
        )
        self._unfinished_work = gauge(
            "workqueue_unfinished_work_seconds",
            "Seconds since get, summed over the keys in processing",
            **options,
        )
        self._longest_running = gauge(
            "workqueue_longest_running_processor_seconds",
            "Seconds since get of the key that is in processing longest",
            **options,
        )
        self._retries = counter(
            "workqueue_retries_total", "Keys that were added with a delay", **options
        )
        self._names: set[str] = set()

    def set_depth(self, name: str, keys: int) -> None:
        if name not in self._names:
            self._start(name)
        self._depth.labels(name).set(keys)

    def count_add(self, name: str) -> None:
        self._adds.labels(name).inc()

    def observe_queue_duration(self, name: str, seconds: float) -> None:
        self._queue_duration.labels(name).observe(seconds)

    def observe_work_duration(self, name: str, seconds: float) -> None:
        self._work_duration.labels(name).observe(seconds)

    def count_retry(self, name: str) -> None:
        self._retries.labels(name).inc()

    def set_processing(self, name: str, *, unfinished_work: float, longest_running: float) -> None:
        self._unfinished_work.labels(name).set(unfinished_work)
        self._longest_running.labels(name).set(longest_running)

    def _start(self, name: str) -> None:
        """Export every series as zero: rate() misses a counter that first appears as one."""
        self._names.add(name)
        for metric in (self._adds, self._queue_duration, self._work_duration, self._retries):
            metric.labels(name)
        self.set_processing(name, unfinished_work=0.0, longest_running=0.0)


def sum_and_max_age(since: Iterable[float], now: float) -> tuple[float, float]:
    """The sum and the largest of the ages of things that started at these times."""
    ages = [now - start for start in since]
    return sum(ages), max(ages, default=0.0)
