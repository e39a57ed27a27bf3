"""A closed listener leaves no connection open, whatever the peers do."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kubeloop.kit import listen, new_event_loop
from kubeloop_testing.server.access.certs import Authority, server_context

Run = Callable[[Coroutine[object, object, None]], None]


class Connections:
    """A protocol factory that records open connections and does not close them by itself."""

    def __init__(self) -> None:
        self.open: set[Any] = set()  # transports
        self.accepted = asyncio.Event()

    def __call__(self) -> asyncio.Protocol:
        return Connection(self)

    async def close_all(self) -> None:
        """Close each connection twice and wait for nothing, as aiohttp does."""
        for each in (*self.open, *self.open):
            each.close()


class Connection(asyncio.Protocol):
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._connections.open.add(transport)
        self._connections.accepted.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.open.discard(self._transport)


@pytest.fixture(params=[asyncio.new_event_loop, new_event_loop])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a coroutine in a loop of its own; open transports at its end cause a warning."""

    def run(serve: Coroutine[object, object, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(serve)

    return run


@pytest.fixture
def authority() -> Authority:
    return Authority()


def test_a_peer_without_a_close_handshake_is_aborted(run: Run, authority: Authority) -> None:
    peers: list[ssl.SSLSocket] = []

    async def serve() -> None:
        connections = Connections()
        tls = server_context(authority.server())
        async with listen(
            connections, "127.0.0.1", 0, finish=connections.close_all, tls=tls
        ) as port:
            peers.append(await asyncio.to_thread(_connect_tls, port, authority))
            await connections.accepted.wait()

    run(serve())

    with peers[0] as peer:
        assert _read(peer) == b""


@pytest.mark.parametrize("turns", range(5))
def test_a_peer_in_the_middle_of_its_handshake_is_cut(
    run: Run, authority: Authority, turns: int
) -> None:
    peers: list[socket.socket] = []

    async def serve() -> None:
        connections = Connections()
        tls = server_context(authority.server())
        async with listen(
            connections, "127.0.0.1", 0, finish=connections.close_all, tls=tls
        ) as port:
            peers.append(socket.create_connection(("127.0.0.1", port), timeout=3))
            for _ in range(turns):
                await asyncio.sleep(0)

    run(serve())

    with peers[0] as peer:
        assert _read(peer) == b""


@pytest.mark.parametrize("turns", range(5))
def test_a_connection_at_the_last_moment_is_closed(run: Run, turns: int) -> None:
    peers: list[socket.socket] = []

    async def serve() -> None:
        connections = Connections()
        async with listen(connections, "127.0.0.1", 0, finish=connections.close_all) as port:
            peers.append(socket.create_connection(("127.0.0.1", port), timeout=3))
            for _ in range(turns):
                await asyncio.sleep(0)

    run(serve())

    with peers[0] as peer:
        assert _read(peer) == b""


def test_what_finishes_in_time_is_not_cut(run: Run) -> None:
    peers: list[socket.socket] = []

    async def serve() -> None:
        connections = Connections()

        async def finish() -> None:
            for each in connections.open:
                each.write(b"goodbye")
            await connections.close_all()

        async with listen(connections, "127.0.0.1", 0, finish=finish) as port:
            peers.append(socket.create_connection(("127.0.0.1", port), timeout=3))
            await connections.accepted.wait()

    run(serve())

    with peers[0] as peer:
        assert _read(peer) == b"goodbye"


async def test_an_address_that_is_taken_is_an_error_and_the_end_is_called_all_the_same() -> None:
    finished: list[bool] = []

    async def finish() -> None:
        finished.append(True)

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            async with listen(Connections(), "127.0.0.1", port, finish=finish):
                raise AssertionError("never open")

    assert finished == [True]


async def test_a_protocol_that_cannot_be_made_is_logged_and_the_next_one_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    connections = Connections()
    protocols: list[asyncio.Protocol] = []

    def at_the_second_try() -> asyncio.Protocol:
        protocols.append(connections())
        if len(protocols) == 1:
            raise ValueError("rejected")
        return protocols[-1]

    async with listen(at_the_second_try, "127.0.0.1", 0, finish=connections.close_all) as port:
        with socket.create_connection(("127.0.0.1", port)) as refused:
            refused.settimeout(0)
            loop = asyncio.get_running_loop()
            assert await loop.sock_recv(refused, 1) == b""
        with socket.create_connection(("127.0.0.1", port)):
            await connections.accepted.wait()

    assert "rejected" in caplog.text


async def test_all_addresses_of_a_name_are_listened_at() -> None:
    connections = Connections()
    async with listen(connections, "localhost", 0, finish=connections.close_all) as port:
        _, writer = await asyncio.open_connection("localhost", port)
        await connections.accepted.wait()
        writer.close()
        await writer.wait_closed()


async def test_an_address_of_another_machine_is_an_error() -> None:
    with pytest.raises(OSError, match="assign"):
        async with listen(Connections(), "192.0.2.1", 0, finish=Connections().close_all):
            raise AssertionError("never open")


def _connect_tls(port: int, authority: Authority) -> ssl.SSLSocket:
    context = ssl.create_default_context(cadata=authority.pem.decode())
    context.check_hostname = False
    plain = socket.create_connection(("127.0.0.1", port), timeout=3)
    peer = context.wrap_socket(plain)
    peer.settimeout(3)
    return peer


def _read(peer: socket.socket) -> bytes:
    """Read until the peer closes or resets the connection."""
    received = b""
    try:
        while some := peer.recv(100):
            received += some
    except (ConnectionResetError, ssl.SSLError):
        pass
    return received
