"""What can be counted of elections, under the names that client-go's users scrape.

Promises: nothing is counted, and nothing imported, unless an `ElectionMetrics` is handed in; one
that fails is logged and never costs the lease.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol, final

from kubeloop.errors import ConfigError
from kubeloop.wire import get_logger

__all__ = ["ELECTION_METRIC_NAMES", "ElectionMetrics", "PrometheusElectionMetrics"]

log = get_logger(__name__)

ELECTION_METRIC_NAMES = ("leader_election_master_status", "leader_election_slowpath_total")


class ElectionMetrics(Protocol):
    """Where an elector reports."""

    def leading(self, name: str, *, leads: bool) -> None:
        """Whether this process leads the election `name`."""
        ...

    def slow_path(self, name: str) -> None:
        """A renewal had to read the lease first."""
        ...


@final
class Reporter:
    """Tells an `ElectionMetrics`, if there is one, of the election `name`."""

    def __init__(self, name: str, metrics: ElectionMetrics | None) -> None:
        self._name = name
        self._metrics = metrics

    def leading(self, *, leads: bool) -> None:
        self._tell(lambda metrics: metrics.leading(self._name, leads=leads))

    def slow_path(self) -> None:
        self._tell(lambda metrics: metrics.slow_path(self._name))

    def _tell(self, report: Callable[[ElectionMetrics], None]) -> None:
        if self._metrics is None:
            return
        try:
            report(self._metrics)
        except Exception:
            log.exception("election %s: its metrics failed", self._name)


@final
class PrometheusElectionMetrics:
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
        where = {"registry": registry or prometheus.REGISTRY}
        status, slow = ELECTION_METRIC_NAMES
        self._status = prometheus.Gauge(status, "1 for the leader, 0 for others", ["name"], **where)
        self._slow = prometheus.Counter(slow, "Renewals that read the lease", ["name"], **where)

    def leading(self, name: str, *, leads: bool) -> None:
        self._status.labels(name).set(int(leads))

    def slow_path(self, name: str) -> None:
        self._slow.labels(name).inc()
