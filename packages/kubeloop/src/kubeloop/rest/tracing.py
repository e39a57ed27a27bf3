"""A span for each call, if OpenTelemetry is installed and set up.

Guarantees: without it there is neither a span nor a cost; a span has the method, the URL
template and the status of the response, never a header, a body or the name of an object.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, cast, final

from .metrics import url_template
from .request import Request

__all__ = ["RequestTracer", "Span", "installed_tracer"]


class Span(Protocol):
    """The part of OpenTelemetry's span that a call uses."""

    def set_attribute(self, key: str, value: Any) -> None: ...


class RequestTracer(Protocol):
    """Starts a span that lasts as long as its block."""

    def span(self, request: Request, *, server: str) -> AbstractContextManager[Span]: ...


def installed_tracer() -> RequestTracer | None:
    """A tracer of OpenTelemetry, if the program uses it and an SDK is set up; else None.

    Spans that are not exported would still cost time.
    """
    # A program that sets up an SDK has imported this; to import it here would cost a script
    # more than its first request.
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None
    return OpenTelemetryTracer(trace)


@final
class OpenTelemetryTracer:
    """Spans of OpenTelemetry, under the conventions for HTTP clients."""

    def __init__(self, trace: Any) -> None:
        self._tracer = trace.get_tracer("kubeloop")
        self._kind = trace.SpanKind.CLIENT

    def span(self, request: Request, *, server: str) -> AbstractContextManager[Span]:
        template = url_template(request.path)
        span = self._tracer.start_as_current_span(
            f"{request.method} {template}",
            kind=self._kind,
            attributes={
                "http.request.method": request.method,
                "url.template": template,
                "server.address": server,
            },
        )
        return cast("AbstractContextManager[Span]", span)


class _NoSpan:
    def set_attribute(self, key: str, value: Any) -> None:
        """There is no tracer."""


_NO_SPAN = nullcontext(_NoSpan())


def no_span() -> AbstractContextManager[Span]:
    """A span for programs without a tracer."""
    return _NO_SPAN
