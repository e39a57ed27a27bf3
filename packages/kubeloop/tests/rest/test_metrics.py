"""The metrics of requests, and their names."""

from __future__ import annotations

from pathlib import Path

import prometheus_client
import pytest

from kubeloop.config import ClusterConfig
from kubeloop.errors import NotFound, StreamBroken
from kubeloop.kit import SystemClock, TokenBucket
from kubeloop.rest import (
    METRIC_NAMES,
    PrometheusMetrics,
    RESTClient,
    path_request,
    url_template,
)
from tests.support.certificates import Authority
from tests.support.clocks import InstantClock
from tests.support.scripted_server import ScriptedServer, client_for, cut, reply, serving


@pytest.fixture
def registry() -> prometheus_client.CollectorRegistry:
    return prometheus_client.CollectorRegistry()


async def test_attempts_retries_sizes_and_durations_are_counted(
    server: ScriptedServer, hurried: InstantClock, registry: prometheus_client.CollectorRegistry
) -> None:
    """REST-80, REST-81: Names: `rest_client_request_duration_seconds` (verb, host)."""
    server.respond(reply(503, headers={"Retry-After": "1"}), reply(body=b"12345"))
    metrics = PrometheusMetrics(registry)
    async with client_for(server, clock=hurried, metrics=metrics) as rest:
        await rest.send(path_request("PUT", "/x", body=b"123"))

    host = f"127.0.0.1:{server.port}"
    place = {"verb": "PUT", "host": host}

    def value(name: str, labels: dict[str, str]) -> float | None:
        return registry.get_sample_value(name, labels)

    total = "rest_client_requests_total"
    assert value(total, {"code": "503", "method": "PUT", "host": host}) == 1
    assert value(total, {"code": "200", "method": "PUT", "host": host}) == 1
    retries = "rest_client_request_retries_total"
    assert value(retries, {"code": "200", "verb": "PUT", "host": host}) == 1
    assert value(retries, {"code": "503", "verb": "PUT", "host": host}) is None
    assert value("rest_client_request_duration_seconds_sum", place) == 1.0
    assert value("rest_client_request_size_bytes_sum", place) == 3
    assert value("rest_client_response_size_bytes_sum", place) == 5


@pytest.mark.parametrize("method", ["count_attempt", "observe_request", "observe_rate_limiter"])
async def test_metrics_that_fail_take_no_in_flight_slot_and_fail_no_call(
    method: str,
    server: ScriptedServer,
    registry: prometheus_client.CollectorRegistry,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.respond(reply(body=b"1"))
    metrics = PrometheusMetrics(registry)

    def fail(**_: object) -> None:
        raise RuntimeError("full")

    monkeypatch.setattr(metrics, method, fail)
    limiter = TokenBucket(100, 100, clock=SystemClock())
    async with client_for(server, metrics=metrics, in_flight=1, limiter=limiter) as rest:
        for _ in range(3):
            assert (await rest.send(path_request("GET", "/x"))).body == b"1"

    assert "the metrics of a request failed" in caplog.text


async def test_an_attempt_without_a_response_has_a_code_of_its_own(
    server: ScriptedServer, registry: prometheus_client.CollectorRegistry
) -> None:
    """REST-81: every attempt counts in requests_total."""
    server.respond(cut)
    async with client_for(server, metrics=PrometheusMetrics(registry)) as rest:
        with pytest.raises(StreamBroken) as caught:
            await rest.send(path_request("POST", "/x"))

    assert str(caught.value).count("the connection was closed without a response") == 1
    labels = {"code": "<error>", "method": "POST", "host": f"127.0.0.1:{server.port}"}
    assert registry.get_sample_value("rest_client_requests_total", labels) == 1


async def test_looking_up_a_name_is_timed(
    server: ScriptedServer, registry: prometheus_client.CollectorRegistry
) -> None:
    """REST-80: Names: `rest_client_request_duration_seconds` (verb, host)."""
    server.respond(reply(404))
    config = ClusterConfig(server=f"http://localhost:{server.port}")
    async with RESTClient(config, metrics=PrometheusMetrics(registry)) as rest:
        with pytest.raises(NotFound):
            await rest.send(path_request("GET", "/x"))

    name = "rest_client_dns_resolution_duration_seconds_count"
    assert registry.get_sample_value(name, {"host": "localhost"}) == 1


async def test_looks_at_the_ca_file_are_counted(
    tmp_path: Path,
    authority: Authority,
    hurried: InstantClock,
    registry: prometheus_client.CollectorRegistry,
) -> None:
    """TRN-16: `rest_client_transport_ca_reload_total` by result and reason."""
    ca = tmp_path / "ca.crt"
    ca.write_bytes(authority.pem)
    async with serving(tls=authority.server_context(tmp_path)) as server:
        server.respond(reply())
        config = ClusterConfig(server=server.url, ca_file=str(ca), anonymous=True)
        metrics = PrometheusMetrics(registry)
        async with RESTClient(config, clock=hurried, metrics=metrics) as rest:
            for _ in range(3):
                await rest.send(path_request("GET", "/x"))
                await hurried.sleep(300)
            ca.write_bytes(b"garbage")
            await rest.send(path_request("GET", "/x"))

    name = "rest_client_transport_ca_reload_total"
    unchanged = {"result": "success", "reason": "unchanged"}
    broken = {"result": "failure", "reason": "ca_parse_error"}
    assert registry.get_sample_value(name, unchanged) == 2
    assert registry.get_sample_value(name, broken) == 1


def test_the_names_are_those_that_are_scraped_already() -> None:
    """REST-80: Names: `rest_client_request_duration_seconds` (verb, host)."""
    assert {
        "rest_client_request_duration_seconds",
        "rest_client_dns_resolution_duration_seconds",
        "rest_client_request_size_bytes",
        "rest_client_response_size_bytes",
        "rest_client_rate_limiter_duration_seconds",
        "rest_client_requests_total",
        "rest_client_request_retries_total",
    } < set(METRIC_NAMES)


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/api/v1/pods", "/api/v1/pods"),
        ("/api/v1/nodes/n1", "/api/v1/nodes/{name}"),
        ("/api/v1/nodes/n1/status", "/api/v1/nodes/{name}/status"),
        ("/api/v1/namespaces/shop", "/api/v1/namespaces/{name}"),
        ("/api/v1/namespaces/shop/finalize", "/api/v1/namespaces/{name}/finalize"),
        ("/api/v1/namespaces/shop/status", "/api/v1/namespaces/{name}/status"),
        ("/api/v1/namespaces/shop/pods", "/api/v1/namespaces/{namespace}/pods"),
        ("/api/v1/namespaces/shop/pods/w", "/api/v1/namespaces/{namespace}/pods/{name}"),
        (
            "/apis/apps/v1/namespaces/shop/deployments/w/scale",
            "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
        ),
        ("/apis/apps/v1", "/apis/apps/v1"),
        ("/version", "/version"),
        ("/healthz/ping", "/healthz/ping"),
        ("/some/other/thing", "/{prefix}"),
    ],
)
def test_a_template_names_no_object(path: str, template: str) -> None:
    """REST-82: URL template for latency: query values become `{value}`."""
    assert url_template(path) == template


def test_a_template_keeps_the_base_and_hides_the_values() -> None:
    """REST-82: URL template for latency: query values become `{value}`."""
    found = url_template("/api/v1/pods", base="/prefix/", query="b=secret&a=1")

    assert found == "/prefix/api/v1/pods?a=%7Bvalue%7D&b=%7Bvalue%7D"
