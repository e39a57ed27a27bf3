"""Pages for the kubelet and for Prometheus: /healthz, /livez, /readyz, /metrics.

Promises: nothing is imported and no port opened unless somebody asks for it; two purposes at
one address are one server. Any `Host` is answered, because the kubelet and Prometheus use the
pod's address; web pages of other origins are not, nor methods that a page has no use for.
Elsewhere: what the pages say (`health`, `metrics`), webhooks (`webhook_server`).
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from kubeloop.errors import ConfigError, InvalidArgument
from kubeloop.kit import foreign_origin, listen
from kubeloop.wire import get_logger

from .health import Checks
from .metrics import AllMetrics

__all__ = ["Address", "address_of", "health_pages", "metrics_pages", "serving"]

log = get_logger(__name__)

Page: TypeAlias = Callable[[Any], Awaitable[Any]]
Pages: TypeAlias = Mapping[str, Page]


class Address(msgspec.Struct, frozen=True, order=True):
    """Where to listen; port 0 is one that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def address_of(said: int | str) -> Address:
    """8080, ":8080" or "127.0.0.1:8080"; a port alone is on all of the host's IPv4 addresses.

    Where pods have IPv6 addresses only, write "[::]:8080". Raises: InvalidArgument.
    """
    host, _, port = ("", "", str(said)) if isinstance(said, int) else said.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise InvalidArgument(f"listen at {said!r}: no port (write 8080, or 127.0.0.1:8080)")
    return Address(host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104 - a pod's own address


def health_pages(alive: Checks, ready: Checks) -> Pages:
    """What the kubelet asks."""
    return {"/healthz": _checked(alive), "/livez": _checked(alive), "/readyz": _checked(ready)}


def metrics_pages(metrics: AllMetrics) -> Pages:
    """What Prometheus asks."""

    async def page(_: Any) -> Any:
        body, content_type = metrics.text()
        return _web().Response(body=body, headers={"Content-Type": content_type})

    return {"/metrics": page}


@contextlib.asynccontextmanager
async def serving(
    address: Address,
    pages: Pages,
    *,
    methods: Sequence[str] = ("GET", "HEAD"),
    tls: Any = None,
    max_size: int = 1 << 20,
) -> AsyncIterator[Address]:
    """Serve while the block lasts; the block is told the address, with the real port.

    Other `methods` are answered with 405, requests of foreign web pages with 403.

    Raises: ConfigError when the address cannot be had.
    """
    web = _web()
    app = web.Application(middlewares=[_guarded(secure=tls is not None)], client_max_size=max_size)
    for path, page in pages.items():
        for method in methods:
            app.router.add_route(method, path, page)
    # No client of these pages compresses what it sends: a body of that kind is not unpacked.
    runner = web.AppRunner(
        app,
        access_log=None,
        handle_signals=False,
        shutdown_timeout=1.0,
        auto_decompress=False,
    )
    await runner.setup()
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


def _guarded(*, secure: bool) -> Any:
    """Answers requests of foreign web pages in the place of the pages."""
    web = _web()

    async def guarded(request: Any, handler: Page) -> Any:
        refused = foreign_origin(request.headers, secure=secure)
        if refused is not None:
            return web.Response(status=refused.code, text=f"{refused.message}\n")
        return await handler(request)

    return web.middleware(guarded)


def _checked(checks: Checks) -> Page:
    async def page(_: Any) -> Any:
        report = await checks.report()
        return _web().Response(text=str(report), status=200 if report.is_well else 503)

    return page


def _web() -> Any:
    # The server's half of aiohttp, which a client has no use for.
    return importlib.import_module("aiohttp.web")
