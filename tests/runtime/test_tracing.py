"""A span around each reconcile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kubeloop.runtime.tracing import ReconcileTracer, reconcile_tracer

from .sites import a_site
from .stage import Stage, says


class Span:
    def __init__(self) -> None:
        self.errors: list[Exception] = []

    def record_exception(self, error: Exception) -> None:
        self.errors.append(error)


class Trace:
    """Stands in for OpenTelemetry, as far as it is used."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, dict[str, Any], Span]] = []

    def get_tracer(self, name: str) -> Trace:
        assert name == "kubeloop"
        return self

    @contextmanager
    def start_as_current_span(self, name: str, *, attributes: dict[str, Any]) -> Iterator[Span]:
        span = Span()
        self.spans.append((name, attributes, span))
        yield span


async def test_a_span_names_the_controller_and_the_key_and_holds_the_error() -> None:
    trace, stage = Trace(), Stage()
    stage.tracer = ReconcileTracer(trace)
    error = RuntimeError("no")

    async with stage.running(says(error)):
        stage.sites.put(a_site("shop"))
        await stage.clock.advance(1)

    (first, attributes, span), (_, _, second) = trace.spans
    assert first == "reconcile site"
    assert attributes == {
        "kubeloop.controller": "site",
        "k8s.namespace.name": "default",
        "k8s.object.name": "shop",
    }
    assert (span.errors, second.errors) == ([error], [])


def test_there_is_no_tracer_without_a_configured_provider() -> None:
    assert reconcile_tracer() is None
