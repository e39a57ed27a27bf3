"""A web application over TLS on loopback."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from kubeloop.kit import listen

__all__ = ["serve_app"]


@asynccontextmanager
async def serve_app(app: web.Application, tls: ssl.SSLContext) -> AsyncIterator[int]:
    """Serve within the block; yields the port."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    assert runner.server is not None
    async with listen(runner.server, "127.0.0.1", 0, finish=runner.cleanup, tls=tls) as port:
        yield port
