"""A span for each call, where OpenTelemetry is installed and set up.

Promises: without it there is neither a span nor a cost; a span names the
method, the URL's template and the answer's code, never a header, a body or a name that
the template leaves out.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, cast, final

from .metrics import url_template
from .request import Request

__all__ = ["RequestTracer", "Span", "installed_tracer"]


class Span(Protocol):
    """What a call does to its span; OpenTelemetry's own span fits."""

    def set_attribute(self, key: str, value: Any) -> None: ...


class RequestTracer(Protocol):
    """Makes a span that lasts as long as its block."""

    def span(self, request: Request, *, server: str) -> AbstractContextManager[Span]: ...


def installed_tracer() -> RequestTracer | None:
    """A tracer of the OpenTelemetry that the program uses; None where it uses none.

    None as well while no SDK is set up: spans that go nowhere are not free.
    """
    # Whoever sets up an SDK has imported this; importing it ourselves would cost a script
    # more than its first request does.
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
        """Nobody looks."""


_NO_SPAN = nullcontext(_NoSpan())


def no_span() -> AbstractContextManager[Span]:
    """Stands in where nobody traces."""
    return _NO_SPAN
