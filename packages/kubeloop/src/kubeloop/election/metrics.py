"""Metrics of elections, under the names of client-go.

Guarantees: nothing is reported, and nothing imported, unless an elector has an
`ElectionMetrics`; an exception of the metrics is logged and never costs the lease.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, final

from kubeloop.errors import import_extra
from kubeloop.wire import get_logger

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = [
    "ELECTION_METRIC_NAMES",
    "ElectionMetrics",
    "MetricsReporter",
    "PrometheusElectionMetrics",
]

log = get_logger(__name__)

ELECTION_METRIC_NAMES = ("leader_election_master_status", "leader_election_slowpath_total")


class ElectionMetrics(Protocol):
    """Receives the metrics of elections (client-go: `MetricsProvider`)."""

    def set_leading(self, name: str, *, is_leader: bool) -> None:
        """Whether this process leads the election `name`."""
        ...

    def count_slow_renewal(self, name: str) -> None:
        """A renewal had to read the lease first."""
        ...


@final
class MetricsReporter:
    """Reports one election to its `ElectionMetrics`, if there is one."""

    def __init__(self, name: str, metrics: ElectionMetrics | None) -> None:
        self._name = name
        self._metrics = metrics

    def set_leading(self, *, is_leader: bool) -> None:
        self._report(lambda metrics: metrics.set_leading(self._name, is_leader=is_leader))

    def count_slow_renewal(self) -> None:
        self._report(lambda metrics: metrics.count_slow_renewal(self._name))

    def _report(self, report: Callable[[ElectionMetrics], None]) -> None:
        if self._metrics is None:
            return
        try:
            report(self._metrics)
        except Exception:
            log.exception("election %s: reporting metrics failed", self._name)


@final
class PrometheusElectionMetrics:
    """Reports to prometheus-client, which the extra `metrics` installs.

    Raises:
        ConfigError: prometheus-client is not installed.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        prometheus = import_extra("prometheus_client", extra="metrics", use="metrics")
        options = {"registry": registry or prometheus.REGISTRY, "labelnames": ["name"]}
        status, slow = ELECTION_METRIC_NAMES
        self._status = prometheus.Gauge(status, "1 for the leader, 0 for others", **options)
        self._slow = prometheus.Counter(slow, "Renewals that read the lease", **options)

    def set_leading(self, name: str, *, is_leader: bool) -> None:
        self._status.labels(name).set(int(is_leader))

    def count_slow_renewal(self, name: str) -> None:
        self._slow.labels(name).inc()
