"""A span environment each reconcile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kubeloop.runtime.tracing import ReconcileTracer, reconcile_tracer

from .harness import ControllerHarness, returns
from .websites import a_site


class Span:
    def __init__(self) -> None:
        self.errors: list[Exception] = []

    def set_attribute(self, key: str, value: str | float) -> None:
        """Not used by kubeloop itself."""

    def add_event(self, name: str) -> None:
        """Not used by kubeloop itself."""

    def record_exception(self, exception: Exception) -> None:
        self.errors.append(exception)


class Trace:
    """The module `opentelemetry.trace`, as far as it is used."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Mapping[str, str], Span]] = []

    def get_tracer(self, name: str) -> Trace:
        assert name == "kubeloop"
        return self

    @contextmanager
    def start_as_current_span(self, name: str, *, attributes: Mapping[str, str]) -> Iterator[Span]:
        span = Span()
        self.spans.append((name, attributes, span))
        yield span


async def test_a_span_names_the_controller_and_the_key_and_holds_the_error() -> None:
    trace, harness = Trace(), ControllerHarness()
    harness.tracer = ReconcileTracer(trace)
    error = RuntimeError("no")

    async with harness.running(returns(error)):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(1)

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
