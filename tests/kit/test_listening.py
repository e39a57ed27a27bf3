"""An address that is closed has no connection left, whatever the peers do."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kubeloop.kit import listen, new_event_loop
from kubeloop.testing.server.access.certs import Authority, server_context

Run = Callable[[Coroutine[object, object, None]], None]


class Hall:
    """Protocols that count who is there, and are in no hurry."""

    def __init__(self) -> None:
        self.inside: set[Any] = set()  # transports
        self.came = asyncio.Event()

    def __call__(self) -> asyncio.Protocol:
        return Guest(self)

    async def close_all(self) -> None:
        """As aiohttp does: say farewell, twice, and do not wait for an answer."""
        for each in (*self.inside, *self.inside):
            each.close()


class Guest(asyncio.Protocol):
    def __init__(self, hall: Hall) -> None:
        self._hall = hall

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._hall.inside.add(transport)
        self._hall.came.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._hall.inside.discard(self._transport)


@pytest.fixture(params=[asyncio.new_event_loop, new_event_loop])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a coroutine in a loop that ends right behind it; what is left is a warning."""

    def run(serve: Coroutine[object, object, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(serve)

    return run


@pytest.fixture
def authority() -> Authority:
    return Authority()


def test_a_peer_that_hears_no_farewell_is_cut(run: Run, authority: Authority) -> None:
    peers: list[ssl.SSLSocket] = []

    async def serve() -> None:
        hall = Hall()
        tls = server_context(authority.server())
        async with listen(hall, "127.0.0.1", 0, finish=hall.close_all, tls=tls) as port:
            peers.append(await asyncio.to_thread(_shake_hands, port, authority))
            await hall.came.wait()

    run(serve())

    with peers[0] as peer:
        assert _read(peer) == b""


@pytest.mark.parametrize("turns", range(5))
def test_a_peer_in_the_middle_of_its_handshake_is_cut(
    run: Run, authority: Authority, turns: int
) -> None:
    peers: list[socket.socket] = []

    async def serve() -> None:
        hall = Hall()
        tls = server_context(authority.server())
        async with listen(hall, "127.0.0.1", 0, finish=hall.close_all, tls=tls) as port:
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
        hall = Hall()
        async with listen(hall, "127.0.0.1", 0, finish=hall.close_all) as port:
            peers.append(socket.create_connection(("127.0.0.1", port), timeout=3))
            for _ in range(turns):
                await asyncio.sleep(0)

    run(serve())

    with peers[0] as peer:
        assert _read(peer) == b""


def test_what_finishes_in_time_is_not_cut(run: Run) -> None:
    peers: list[socket.socket] = []

    async def serve() -> None:
        hall = Hall()

        async def finish() -> None:
            for each in hall.inside:
                each.write(b"goodbye")
            await hall.close_all()

        async with listen(hall, "127.0.0.1", 0, finish=finish) as port:
            peers.append(socket.create_connection(("127.0.0.1", port), timeout=3))
            await hall.came.wait()

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
            async with listen(Hall(), "127.0.0.1", port, finish=finish):
                raise AssertionError("never open")

    assert finished == [True]


async def test_a_protocol_that_cannot_be_made_is_logged_and_the_next_one_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hall = Hall()
    protocols: list[asyncio.Protocol] = []

    def at_the_second_try() -> asyncio.Protocol:
        protocols.append(hall())
        if len(protocols) == 1:
            raise ValueError("no room")
        return protocols[-1]

    async with listen(at_the_second_try, "127.0.0.1", 0, finish=hall.close_all) as port:
        with socket.create_connection(("127.0.0.1", port)) as refused:
            refused.settimeout(0)
            loop = asyncio.get_running_loop()
            assert await loop.sock_recv(refused, 1) == b""
        with socket.create_connection(("127.0.0.1", port)):
            await hall.came.wait()

    assert "no room" in caplog.text


async def test_all_addresses_of_a_name_are_listened_at() -> None:
    hall = Hall()
    async with listen(hall, "localhost", 0, finish=hall.close_all) as port:
        _, writer = await asyncio.open_connection("localhost", port)
        await hall.came.wait()
        writer.close()
        await writer.wait_closed()


async def test_an_address_that_is_not_ours_is_an_error() -> None:
    with pytest.raises(OSError, match="assign"):
        async with listen(Hall(), "192.0.2.1", 0, finish=Hall().close_all):
            raise AssertionError("never open")


def _shake_hands(port: int, authority: Authority) -> ssl.SSLSocket:
    context = ssl.create_default_context(cadata=authority.pem.decode())
    context.check_hostname = False
    plain = socket.create_connection(("127.0.0.1", port), timeout=3)
    peer = context.wrap_socket(plain)
    peer.settimeout(3)
    return peer


def _read(peer: socket.socket) -> bytes:
    """What came until the end, which may be a rude one."""
    said = b""
    try:
        while some := peer.recv(100):
            said += some
    except (ConnectionResetError, ssl.SSLError):
        pass
    return said
