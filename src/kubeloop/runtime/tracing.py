"""A span for each reconcile, where OpenTelemetry is installed and set up.

Promises: without it there is neither a span nor a cost; a span names the controller and the
key. The spans of requests (`kubeloop.rest`) are inside it.
"""

from __future__ import annotations

import importlib
import importlib.util
from contextlib import AbstractContextManager
from typing import Any, cast, final

from kubeloop.meta import ObjectKey

__all__ = ["reconcile_tracer"]


@final
class ReconcileTracer:
    """Spans of OpenTelemetry."""

    def __init__(self, trace: Any) -> None:
        self._tracer = trace.get_tracer("kubeloop")

    def reconcile(self, controller: str, key: ObjectKey) -> AbstractContextManager[Any]:
        span = self._tracer.start_as_current_span(
            f"reconcile {controller}",
            attributes={
                "kubeloop.controller": controller,
                "k8s.namespace.name": key.namespace,
                "k8s.object.name": key.name,
            },
        )
        return cast("AbstractContextManager[Any]", span)


def reconcile_tracer() -> ReconcileTracer | None:
    """A tracer of the installed OpenTelemetry; None while nobody would see its spans."""
    try:
        if importlib.util.find_spec("opentelemetry.trace") is None:
            return None
    except (ImportError, ValueError):
        return None
    trace = importlib.import_module("opentelemetry.trace")
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None
    return ReconcileTracer(trace)
