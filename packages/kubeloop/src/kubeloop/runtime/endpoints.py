"""HTTP endpoints for the kubelet and for Prometheus: /healthz, /livez, /readyz, /metrics.

Guarantees: nothing is imported and no port opened unless an endpoint is declared; two
endpoints at one address are one server. Any `Host` is accepted, because the kubelet and
Prometheus use the address of the pod; requests of web pages of other origins, and methods
that an endpoint does not have, are rejected.
See also: `health` and `metrics` (the content), `webhook_server` (webhooks).
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kubeloop.errors import ConfigError, InvalidArgument, import_extra
from kubeloop.kit import foreign_origin, listen, whole_number
from kubeloop.wire import get_logger

from .health import HealthChecks
from .metrics import AllMetrics

if TYPE_CHECKING:  # the server half of aiohttp, which a client does not need
    from aiohttp import web
    from aiohttp.typedefs import Middleware

__all__ = ["Address", "health_pages", "metrics_pages", "parse_address", "serving"]

log = get_logger(__name__)

Page: TypeAlias = "Callable[[web.Request], Awaitable[web.StreamResponse]]"
Pages: TypeAlias = Mapping[str, Page]


class Address(msgspec.Struct, frozen=True, order=True):
    """Where to listen; port 0 is any free port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(given: int | str) -> Address:
    """8080, ":8080" or "127.0.0.1:8080"; a port alone listens on all IPv4 addresses.

    If pods have only IPv6 addresses, write "[::]:8080".
    Raises: InvalidArgument; ConfigError when what serves there is not installed.
    """
    import_extra("aiohttp", extra="operator", use="webhooks, metrics and health checks")
    host, _, port = ("", "", str(given)) if isinstance(given, int) else given.rpartition(":")
    number = whole_number(port)
    if number is None or number > 65535:
        raise InvalidArgument(f"listen at {given!r}: no port (write 8080, or 127.0.0.1:8080)")
    return Address(host.strip("[]") or "0.0.0.0", number)  # noqa: S104 - of a pod


def health_pages(alive: HealthChecks, ready: HealthChecks) -> Pages:
    """The endpoints for the kubelet."""
    liveness = _checks_page(alive)
    return {"/healthz": liveness, "/livez": liveness, "/readyz": _checks_page(ready)}


def metrics_pages(metrics: AllMetrics) -> Pages:
    """The endpoint for Prometheus."""
    from aiohttp import web

    async def page(_: web.Request) -> web.Response:
        body, content_type = metrics.text()
        return web.Response(body=body, headers={"Content-Type": content_type})

    return {"/metrics": page}


@contextlib.asynccontextmanager
async def serving(
    address: Address,
    pages: Pages,
    *,
    methods: Sequence[str] = ("GET", "HEAD"),
    tls: ssl.SSLContext | None = None,
    max_size: int = 1 << 20,
) -> AsyncIterator[Address]:
    """Serve while the block runs; it is given the address with the real port.

    Other methods than `methods` get 405, requests of web pages of other origins 403.

    Raises: ConfigError when the address is not available.
    """
    from aiohttp import web

    guard = _origin_guard(secure=tls is not None)
    app = web.Application(middlewares=[guard], client_max_size=max_size)
    for path, page in pages.items():
        for method in methods:
            app.router.add_route(method, path, page)
    # No client of these endpoints compresses its body: such a body is not decompressed.
    runner = web.AppRunner(
        app,
        access_log=None,
        handle_signals=False,
        shutdown_timeout=1.0,
        auto_decompress=False,
    )
    await runner.setup()
    assert runner.server is not None, "set by setup()"
    async with contextlib.AsyncExitStack() as stack:
        try:
            port = await stack.enter_async_context(
                listen(runner.server, address.host, address.port, finish=runner.cleanup, tls=tls)
            )
        except OSError as error:
            raise ConfigError(f"listen at {address}: {error.strerror or error}") from error
        real = Address(address.host, port)
        log.info("serving %s at %s", ", ".join(pages), real)
        yield real


def _origin_guard(*, secure: bool) -> Middleware:
    """Rejects requests of web pages of other origins."""
    from aiohttp import web

    @web.middleware
    async def guard(request: web.Request, handler: Page) -> web.StreamResponse:
        rejection = foreign_origin(request.headers, secure=secure)
        if rejection is not None:
            return web.Response(status=rejection.code, text=f"{rejection.message}\n")
        return await handler(request)

    return guard


def _checks_page(checks: HealthChecks) -> Page:
    from aiohttp import web

    async def page(_: web.Request) -> web.Response:
        report = await checks.report()
        return web.Response(text=str(report), status=200 if report.is_healthy else 503)

    return page
