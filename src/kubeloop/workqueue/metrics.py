"""What can be counted of a queue, under the names that client-go's users scrape.

Promises: nothing is counted, and nothing imported, unless a queue has a name and is
handed a `QueueMetrics`; one that fails is logged and never costs a key.
Elsewhere: numbers for tests and for the inspector (`stats()` of the queue).
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, Protocol, TypeVar, final

from kubeloop.machinery import ConfigError, get_logger

__all__ = ["DURATION_BUCKETS", "QUEUE_METRIC_NAMES", "PrometheusQueueMetrics", "QueueMetrics"]

K = TypeVar("K", bound=Hashable)
log = get_logger(__name__)

QUEUE_METRIC_NAMES = (
    "workqueue_depth",
    "workqueue_adds_total",
    "workqueue_queue_duration_seconds",
    "workqueue_work_duration_seconds",
    "workqueue_unfinished_work_seconds",
    "workqueue_longest_running_processor_seconds",
    "workqueue_retries_total",
)

DURATION_BUCKETS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


class QueueMetrics(Protocol):
    """Where queues report what they do; `name` is the queue's."""

    def depth(self, name: str, keys: int) -> None:
        """So many keys are to be handed out, or will be when their worker is done."""
        ...

    def added(self, name: str) -> None:
        """A key came that was not there already."""
        ...

    def handed_out(self, name: str, *, waited: float) -> None:
        """A key went to a worker, `waited` seconds after it came."""
        ...

    def done(self, name: str, *, worked: float) -> None:
        """A worker was done with a key after `worked` seconds."""
        ...

    def retried(self, name: str) -> None:
        """A key was added for later, be it at once."""
        ...

    def in_work(self, name: str, *, unfinished: float, longest: float) -> None:
        """How long all workers together, and the slowest of them, have been at their keys."""
        ...


@final
class Recorder(Generic[K]):
    """Turns what happens to keys into what a `QueueMetrics` wants to know."""

    def __init__(self, name: str, metrics: QueueMetrics) -> None:
        self._name = name
        self._metrics = metrics
        self._added: dict[K, float] = {}  # when a key came that was not handed out yet
        self._has_failed = False
        self._tell(lambda: metrics.depth(name, 0))  # to be seen before its first key

    def added(self, key: K, depth: int, now: float) -> None:
        self._added[key] = now
        self._tell(lambda: self._metrics.added(self._name))
        self._tell(lambda: self._metrics.depth(self._name, depth))

    def handed_out(self, key: K, depth: int, now: float) -> None:
        waited = now - self._added.pop(key, now)
        self._tell(lambda: self._metrics.depth(self._name, depth))
        self._tell(lambda: self._metrics.handed_out(self._name, waited=waited))

    def done(self, worked: float) -> None:
        self._tell(lambda: self._metrics.done(self._name, worked=worked))

    def retried(self) -> None:
        self._tell(lambda: self._metrics.retried(self._name))

    def in_work(self, unfinished: float, longest: float) -> None:
        self._tell(
            lambda: self._metrics.in_work(self._name, unfinished=unfinished, longest=longest)
        )

    def _tell(self, report: Callable[[], None]) -> None:
        try:
            report()
        except Exception:
            # Once is news; a hundred thousand times would drown the log.
            level = logging.DEBUG if self._has_failed else logging.ERROR
            self._has_failed = True
            log.log(level, "queue %s: its metrics failed", self._name, exc_info=True)


@final
class PrometheusQueueMetrics:
    """Reports to prometheus-client, which the extra `metrics` installs.

    One for all queues of a registry: the label `name` tells them apart.
    Raises: ConfigError when prometheus-client is not installed.
    """

    def __init__(self, registry: Any = None) -> None:
        try:
            prometheus = importlib.import_module("prometheus_client")
        except ImportError as error:
            raise ConfigError(
                "metrics need prometheus-client (install kubeloop[metrics])"
            ) from error
        where = {"registry": registry or prometheus.REGISTRY}
        seconds = where | {"buckets": DURATION_BUCKETS}
        label = ["name"]
        depth, adds, queued, worked, unfinished, longest, retries = QUEUE_METRIC_NAMES
        gauge, counter, histogram = prometheus.Gauge, prometheus.Counter, prometheus.Histogram
        self._depth = gauge(depth, "Keys to be handed out", label, **where)
        self._adds = counter(adds, "Keys that were added", label, **where)
        self._queued = histogram(queued, "Seconds in the queue", label, **seconds)
        self._worked = histogram(worked, "Seconds in work", label, **seconds)
        self._unfinished = gauge(unfinished, "Seconds in work and not done", label, **where)
        self._longest = gauge(longest, "Seconds of the slowest worker", label, **where)
        self._retries = counter(retries, "Keys that were added for later", label, **where)
        self._known: set[str] = set()

    def depth(self, name: str, keys: int) -> None:
        if name not in self._known:
            self._begin(name)
        self._depth.labels(name).set(keys)

    def added(self, name: str) -> None:
        self._adds.labels(name).inc()

    def handed_out(self, name: str, *, waited: float) -> None:
        self._queued.labels(name).observe(waited)

    def done(self, name: str, *, worked: float) -> None:
        self._worked.labels(name).observe(worked)

    def retried(self, name: str) -> None:
        self._retries.labels(name).inc()

    def in_work(self, name: str, *, unfinished: float, longest: float) -> None:
        self._unfinished.labels(name).set(unfinished)
        self._longest.labels(name).set(longest)

    def _begin(self, name: str) -> None:
        """Show every number as zero: what first appears as one has, to a rate, not grown."""
        self._known.add(name)
        for each in (self._adds, self._queued, self._worked, self._retries):
            each.labels(name)
        self.in_work(name, unfinished=0.0, longest=0.0)


def ages(begun: Iterable[float], now: float) -> tuple[float, float]:
    """The sum and the greatest of the ages of things that began at these moments."""
    passed = [now - moment for moment in begun]
    return sum(passed), max(passed, default=0.0)
