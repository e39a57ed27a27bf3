"""Where the server listens: the address, the certificate, the open connections.

Promises: the address stays the same for the life of a `Listener`, however often it is
shut and opened; one that is shut has no connection left.
Elsewhere: what comes in (`http`), how certificates are made (`certs`).
"""

from __future__ import annotations

import socket
import ssl
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, final

from aiohttp import web

from kubeloop.kit import listen

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
        self._held: socket.socket | None = None  # has the address while nobody listens
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
        self._let_go()
        self._server = listener(gateway)
        self._door = listen(
            self._server, self._host, self._port, finish=self._end_connections, tls=self._context
        )
        self._port = await self._door.__aenter__()

    async def shut(self) -> None:
        """Close every connection and let none in, until `listen`; twice is no matter."""
        door, self._door = self._door, None
        if door is not None:
            await door.__aexit__(None, None, None)

    async def aclose(self) -> None:
        """Shut, and give the address back; closing twice is no matter."""
        try:
            await self.shut()
        finally:
            self._let_go()

    def _hold(self) -> None:
        """Have the address, so that nobody else is given it before we listen again."""
        held = socket.socket(socket.AF_INET6 if ":" in self._host else socket.AF_INET)
        try:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind((self._host, self._port))
        except (OSError, OverflowError):  # an address that could not be listened at either
            held.close()
        else:
            self._held = held

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.close()

    async def _end_connections(self) -> None:
        self._hold()
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
