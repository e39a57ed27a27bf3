"""A span for each reconcile, if OpenTelemetry is installed and configured.

Guarantees: without it there is neither a span nor a cost; a span names the controller and the
key. The spans of requests (`kubeloop.rest`) are its children.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, final

from kubeloop.meta import ObjectKey

__all__ = ["ReconcileTracer", "Span", "Tracer", "reconcile_tracer"]


class Span(Protocol):
    """What a reconcile may do with its span; a span of OpenTelemetry fits."""

    def set_attribute(self, key: str, value: str | float, /) -> None: ...
    def add_event(self, name: str, /) -> None: ...
    def record_exception(self, exception: Exception, /) -> None: ...


class Tracer(Protocol):
    """Creates a span for each reconcile."""

    def reconcile(self, controller: str, key: ObjectKey) -> AbstractContextManager[Span]: ...


class _SpanFactory(Protocol):
    def start_as_current_span(
        self, name: str, /, *, attributes: Mapping[str, str]
    ) -> AbstractContextManager[Span]: ...


class TraceAPI(Protocol):
    """The module `opentelemetry.trace`, as far as it is used."""

    def get_tracer(self, name: str, /) -> _SpanFactory: ...


@final
class ReconcileTracer:
    """Creates spans of OpenTelemetry."""

    def __init__(self, trace: TraceAPI) -> None:
        self._tracer = trace.get_tracer("kubeloop")

    def reconcile(self, controller: str, key: ObjectKey) -> AbstractContextManager[Span]:
        return self._tracer.start_as_current_span(
            f"reconcile {controller}",
            attributes={
                "kubeloop.controller": controller,
                "k8s.namespace.name": key.namespace,
                "k8s.object.name": key.name,
            },
        )


def reconcile_tracer() -> ReconcileTracer | None:
    """A tracer of the installed OpenTelemetry; None if its spans would not be recorded."""
    try:
        if importlib.util.find_spec("opentelemetry.trace") is None:
            return None
    except (ImportError, ValueError):
        return None
    trace: Any = importlib.import_module("opentelemetry.trace")
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None
    return ReconcileTracer(trace)
