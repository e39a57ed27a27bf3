"""The listener of the server: its address, its certificate, its open connections.

Guarantees: a `Listener` keeps its address, however often it stops and starts listening; after
`stop` no connection is open.
See also: `http` (the requests), `access.certs` (certificates).
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, final

from aiohttp import web

from kubeloop.kit import listen

from .http import HTTPHandler, http_server

if TYPE_CHECKING:
    from ..access.certs import Authority, KeyPair

__all__ = ["Listener"]


@final
class Listener:
    """One address, at which the server can start and stop listening."""

    def __init__(self, host: str, port: int, *, tls: bool) -> None:
        self._host = host
        self._port = port
        self.tls = tls
        self._authority: Authority | None = None
        self._context: ssl.SSLContext | None = None
        self._listening: AbstractAsyncContextManager[int] | None = None
        self._server: web.Server | None = None
        # Bound to the address while the server does not listen.
        self._reserved: socket.socket | None = None
        if tls:
            from ..access.certs import Authority, server_context

            self._authority = Authority()
            pair = self._authority.server(host)
            self._context = server_context(pair, client_ca=self._authority.pem)

    @property
    def url(self) -> str:
        scheme = "https" if self.tls else "http"
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{host}:{self._port}"

    @property
    def ca(self) -> bytes | None:
        """The authority's certificate, PEM; None without TLS."""
        return self._authority.pem if self._authority is not None else None

    def client_certificate(self, name: str, groups: tuple[str, ...]) -> KeyPair:
        """A client certificate for a user, signed by the server's authority."""
        if self._authority is None:
            raise RuntimeError("client certificates need TLS (start the server with tls=True)")
        return self._authority.client(name, groups)

    @property
    def is_listening(self) -> bool:
        return self._listening is not None

    async def listen(self, handler: HTTPHandler) -> None:
        """Start listening; the first time, port 0 becomes a free port."""
        self._release_address()
        self._server = http_server(handler)
        self._listening = listen(
            self._server, self._host, self._port, finish=self._end_connections, tls=self._context
        )
        self._port = await self._listening.__aenter__()

    async def stop(self) -> None:
        """Close every connection and accept none until `listen`; idempotent."""
        current, self._listening = self._listening, None
        if current is not None:
            await current.__aexit__(None, None, None)

    async def aclose(self) -> None:
        """Stop, and release the address; idempotent."""
        try:
            await self.stop()
        finally:
            self._release_address()

    def _reserve_address(self) -> None:
        # Bound, but not listening: clients are refused, and no other process gets the port
        # before the server listens again. A simulated network has no other processes.
        if hasattr(asyncio.get_running_loop(), "bind"):
            return
        held = socket.socket(socket.AF_INET6 if ":" in self._host else socket.AF_INET)
        try:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind((self._host, self._port))
        except (OSError, OverflowError):  # an address at which the server could not listen
            held.close()
        else:
            self._reserved = held

    def _release_address(self) -> None:
        held, self._reserved = self._reserved, None
        if held is not None:
            held.close()

    async def _end_connections(self) -> None:
        self._reserve_address()
        self.drop_connections()
        assert self._server is not None  # it is set while the server listens
        await self._server.shutdown(0.05)

    def drop_connections(self) -> None:
        """Break every open connection, without a close handshake."""
        server: Any = self._server
        for connection in list(server.connections) if server is not None else ():
            if connection.transport is not None:
                connection.transport.abort()

    def rotate_certificate(self) -> None:
        """Use a new certificate of the same authority in new handshakes."""
        from ..access.certs import load_into

        assert self._authority is not None  # TLS only
        assert self._context is not None
        load_into(self._context, self._authority.server(self._host))

    def rotate_ca(self) -> None:
        """Use a certificate of another authority; client certificates of the old one stay valid."""
        from ..access.certs import load_into

        assert self._authority is not None  # TLS only
        assert self._context is not None
        self._authority = self._authority.rotate()
        self._context.load_verify_locations(cadata=self._authority.pem.decode())
        load_into(self._context, self._authority.server(self._host))
