"""Where the server listens: the address, the certificate, the open connections.

Promises: the address stays the same for the life of a `Listener`, however often it is
closed and opened; a closed one has no connection left.
Elsewhere: what comes in (`http`), how certificates are made (`certs`).
"""

from __future__ import annotations

import ssl
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, final

from aiohttp import web

from kubeloop.kit import listening

from .http import Gateway, listener

if TYPE_CHECKING:
    from ..access.certs import Authority, KeyPair

__all__ = ["Listener"]


@final
class Listener:
    """One address that can be opened and closed."""

    def __init__(self, host: str, port: int, *, tls: bool) -> None:
        self._host = host
        self._port = port
        self.tls = tls
        self._authority: Authority | None = None
        self._context: ssl.SSLContext | None = None
        self._door: AbstractAsyncContextManager[int] | None = None
        self._server: web.Server | None = None
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
        """A certificate for a user, signed by the server's own authority."""
        if self._authority is None:
            raise RuntimeError("client certificates need TLS (start the server with tls=True)")
        return self._authority.client(name, groups)

    async def listen(self, gateway: Gateway) -> None:
        """Open the address; the first time, a port of 0 becomes a free one."""
        self._server = listener(gateway)
        self._door = listening(
            self._server, self._host, self._port, finish=self._end_connections, tls=self._context
        )
        self._port = await self._door.__aenter__()

    async def aclose(self) -> None:
        """Close the address and every connection; closing twice is no matter."""
        door, self._door = self._door, None
        if door is not None:
            await door.__aexit__(None, None, None)

    async def _end_connections(self) -> None:
        self.drop_connections()
        assert self._server is not None  # since it listens
        await self._server.shutdown(0.05)

    def drop_connections(self) -> None:
        """Break every open connection, without a word."""
        server: Any = self._server
        for connection in list(server.connections) if server is not None else ():
            if connection.transport is not None:
                connection.transport.abort()

    def rotate_certificate(self) -> None:
        """Show a new certificate of the same authority in new handshakes."""
        from ..access.certs import load_into

        assert self._authority is not None  # TLS only
        assert self._context is not None
        load_into(self._context, self._authority.server(self._host))

    def rotate_ca(self) -> None:
        """Let another authority sign the certificate; clients of the old one stay known."""
        from ..access.certs import load_into

        assert self._authority is not None  # TLS only
        assert self._context is not None
        self._authority = self._authority.renewed()
        self._context.load_verify_locations(cadata=self._authority.pem.decode())
        load_into(self._context, self._authority.server(self._host))
