"""Spans of OpenTelemetry."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kubeloop.errors import NotFound, StreamBroken
from kubeloop.rest import Request, path_request, resource_request
from kubeloop.rest.tracing import OpenTelemetryTracer, installed_tracer
from tests.support.scripted_server import PODS, ScriptedServer, client_for, cut, reply


class Seen:
    """A tracer that remembers."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []

    @contextmanager
    def span(self, request: Request, *, server: str) -> Iterator[Seen]:
        self.spans.append({"action": request.action, "server": server})
        yield self

    def set_attribute(self, key: str, value: Any) -> None:
        self.spans[-1][key] = value


async def test_each_call_is_a_span_with_its_outcome(server: ScriptedServer) -> None:
    server.respond(reply(), reply(404), cut)
    tracer = Seen()
    async with client_for(server, tracer=tracer) as rest:
        await rest.send(path_request("GET", "/version"))
        with pytest.raises(NotFound):
            await rest.send(path_request("GET", "/version"))
        with pytest.raises(StreamBroken):
            await rest.send(path_request("POST", "/version"))

    assert [span.get("http.response.status_code") for span in tracer.spans] == [200, 404, None]
    assert tracer.spans[2]["error.type"] == "StreamBroken"
    assert tracer.spans[0]["server"] == f"127.0.0.1:{server.port}"


def test_without_the_package_there_is_no_tracer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    assert installed_tracer() is None


def test_without_an_sdk_no_span_is_made() -> None:
    """Spans that are not exported would cost time."""
    pytest.importorskip("opentelemetry.trace")

    assert installed_tracer() is None


def test_a_span_names_the_template_and_no_object() -> None:
    trace = pytest.importorskip("opentelemetry.trace")
    made: list[tuple[str, dict[str, str]]] = []

    class Tracer:
        def start_as_current_span(self, name: str, *, kind: Any, attributes: dict[str, str]) -> Any:
            made.append((name, attributes))
            return trace.use_span(trace.INVALID_SPAN)

    tracer = OpenTelemetryTracer(trace)
    tracer._tracer = Tracer()

    with tracer.span(
        resource_request("get", PODS, namespace="shop", name="s3cret"), server="h"
    ) as span:
        span.set_attribute("http.response.status_code", 200)

    assert made[0][0] == "GET /api/v1/namespaces/{namespace}/pods/{name}"
    assert "s3cret" not in str(made)
