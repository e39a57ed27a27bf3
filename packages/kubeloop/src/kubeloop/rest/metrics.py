"""Metrics of requests, under the names of client-go's metrics.

Guarantees: nothing is counted or imported unless a client is given a `RequestMetrics`, and no
error of it reaches a call.
See also: `stats()` of the client (numbers for tests and the inspector).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, final

from kubeloop.errors import import_extra
from kubeloop.wire import get_logger

__all__ = [
    "METRIC_NAMES",
    "NO_RESPONSE",
    "GuardedMetrics",
    "PrometheusMetrics",
    "RequestMetrics",
    "url_template",
]

log = get_logger(__name__)

NO_RESPONSE = "<error>"
"""The code of an attempt without a response."""

METRIC_NAMES = (
    "rest_client_request_duration_seconds",
    "rest_client_dns_resolution_duration_seconds",
    "rest_client_request_size_bytes",
    "rest_client_response_size_bytes",
    "rest_client_rate_limiter_duration_seconds",
    "rest_client_requests_total",
    "rest_client_request_retries_total",
    "rest_client_transport_ca_reload_total",
)

_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_BYTES = (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)


class RequestMetrics(Protocol):
    """Receives the metrics of a client."""

    def count_attempt(self, *, code: str, method: str, host: str, retry: bool) -> None:
        """One attempt has ended: `requests_total`, and `request_retries_total` after the first."""
        ...

    def observe_request(
        self, *, verb: str, host: str, seconds: float, sent: int, received: int
    ) -> None:
        """Duration and sizes of one call, in seconds and bytes."""
        ...

    def observe_rate_limiter(self, *, verb: str, host: str, seconds: float) -> None:
        """A request waited for the client's rate limiter."""
        ...

    def observe_resolution(self, *, host: str, seconds: float) -> None:
        """A host name was resolved."""
        ...

    def count_ca_reload(self, *, result: str, reason: str) -> None:
        """A CA file was read again."""
        ...


@final
class GuardedMetrics:
    """Metrics whose errors are logged: those of a call must not fail it, or keep its slot."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics

    def count_attempt(self, **labels: Any) -> None:
        self._report(self._metrics.count_attempt, labels)

    def observe_request(self, **labels: Any) -> None:
        self._report(self._metrics.observe_request, labels)

    def observe_rate_limiter(self, **labels: Any) -> None:
        self._report(self._metrics.observe_rate_limiter, labels)

    def observe_resolution(self, **labels: Any) -> None:
        self._report(self._metrics.observe_resolution, labels)

    def count_ca_reload(self, **labels: Any) -> None:
        self._report(self._metrics.count_ca_reload, labels)

    def _report(self, method: Callable[..., None], labels: dict[str, Any]) -> None:
        try:
            method(**labels)
        except Exception:  # code of the user
            log.exception("the metrics of a request failed")


@final
class PrometheusMetrics:
    """Reports to prometheus-client, which the extra `metrics` installs.

    Raises:
        ConfigError: it is not installed.
    """

    def __init__(self, registry: Any = None) -> None:
        prometheus = import_extra("prometheus_client", extra="metrics", use="metrics")
        where = {"registry": registry or prometheus.REGISTRY}
        seconds = where | {"buckets": _SECONDS}
        sizes = where | {"buckets": _BYTES}
        labels = ["verb", "host"]
        histogram, counter = prometheus.Histogram, prometheus.Counter
        duration, dns, request, response, limiter, total, retries, reloads = METRIC_NAMES
        self._duration = histogram(duration, "Request latency", labels, **seconds)
        self._dns = histogram(dns, "Latency of DNS resolution", ["host"], **seconds)
        self._sent = histogram(request, "Request size", labels, **sizes)
        self._receive = histogram(response, "Response size", labels, **sizes)
        self._limiter = histogram(limiter, "Wait for the client's rate limiter", labels, **seconds)
        self._total = counter(total, "Requests", ["code", "method", "host"], **where)
        self._retries = counter(retries, "Retries", ["code", "verb", "host"], **where)
        self._reloads = counter(reloads, "Reloads of the CA file", ["result", "reason"], **where)

    def count_attempt(self, *, code: str, method: str, host: str, retry: bool) -> None:
        self._total.labels(code, method, host).inc()
        if retry:
            self._retries.labels(code, method, host).inc()

    def observe_request(
        self, *, verb: str, host: str, seconds: float, sent: int, received: int
    ) -> None:
        self._duration.labels(verb, host).observe(seconds)
        self._sent.labels(verb, host).observe(sent)
        self._receive.labels(verb, host).observe(received)

    def observe_rate_limiter(self, *, verb: str, host: str, seconds: float) -> None:
        self._limiter.labels(verb, host).observe(seconds)

    def observe_resolution(self, *, host: str, seconds: float) -> None:
        self._dns.labels(host).observe(seconds)

    def count_ca_reload(self, *, result: str, reason: str) -> None:
        self._reloads.labels(result, reason).inc()


def url_template(path: str, *, base: str = "", query: str = "") -> str:
    """`path` (below `base`) with `{name}`, `{namespace}` and `{value}` for the variable parts."""
    keys = [pair.partition("=")[0] for pair in query.split("&")] if query else []
    values = "&".join(f"{key}=%7Bvalue%7D" for key in sorted(keys))
    return base.rstrip("/") + _path_template(path) + (f"?{values}" if values else "")


def _path_template(path: str) -> str:
    parts = path.strip("/").split("/")
    if len(parts) <= 2:
        return path
    if parts[0] not in {"api", "apis"}:
        return "/{prefix}"
    head = 2 if parts[0] == "api" else 3
    root, rest = parts[:head], parts[head:]
    if rest[:1] == ["namespaces"] and len(rest) > 1:
        # A path to a namespace itself has no resource after it, only a subresource.
        if len(rest) == 2 or (len(rest) == 3 and rest[2] in {"finalize", "status"}):
            rest[1] = "{name}"
        else:
            rest[1] = "{namespace}"
            rest[3:4] = ["{name}"] if len(rest) > 3 else []
    elif len(rest) > 1:
        rest[1] = "{name}"
    return "/" + "/".join(root + rest)
