"""Connections to ports, on a WebSocket in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame as WebSocketFrame
from websockets.protocol import Protocol, Side

from kubeloop.errors import InvalidArgument, StreamBroken, TimeoutExceeded, TransportError
from kubeloop.kit import ManualClock, SystemClock, TaskOwner
from kubeloop.kit.spdy import Data, Frame, Limits, Outgoing, RstStream, Session, SynStream
from kubeloop.streams import ForwardedPort, PortConnection, PortForwardFailed, UnsupportedByServer
from kubeloop.streams.port_forward import bind_addresses, parse_port
from kubeloop.streams.tunnel import SpdyTunnel, V4Tunnel
from tests.support.websockets import BINARY, Wire, frame, new_socket

from .fake_socket import FakeSocket


class SpdyServer:
    """The other side of a tunnel, on a fake socket."""

    def __init__(self) -> None:
        self.socket = FakeSocket("SPDY/3.1+portforward.k8s.io")
        self.session = Session(is_server=True)
        self.tunnel = SpdyTunnel(self.socket, "web", SystemClock())

    def frames(self) -> list[Frame]:
        """What the client has sent."""
        sent, self.socket.sent = self.socket.sent, []
        found: list[Frame] = []
        for message in sent:
            assert isinstance(message, bytes)
            found += [e for e in self.session.receive(message) if not isinstance(e, Outgoing)]
        return found

    async def accept(self) -> tuple[int, int]:
        """The data and error stream of the next connection, accepted."""
        while not self.socket.sent:
            await asyncio.sleep(0)
        error, data = [each for each in self.frames() if isinstance(each, SynStream)]
        assert {**data.headers, "streamtype": "error"} == error.headers
        assert data.headers["streamtype"] == "data"
        assert error.fin
        self.socket.serve(self.session.reply(error.stream_id), self.session.reply(data.stream_id))
        return data.stream_id, error.stream_id


@asynccontextmanager
async def connected(server: SpdyServer) -> AsyncIterator[tuple[PortConnection, int, int]]:
    """A connection, and its streams."""
    async with TaskOwner(on_failure=lambda *_: None) as tasks:
        tasks.spawn(server.tunnel.run(), name="tunnel")
        opening = asyncio.ensure_future(server.tunnel.open(8080))
        streams = await server.accept()
        yield await opening, *streams


# --- SPDY


async def test_a_connection_has_an_error_and_a_data_stream() -> None:
    """WTC-28"""
    server = SpdyServer()
    async with connected(server) as (connection, data, error):
        await connection.write(b"ping")
        await connection.write_eof()
        server.socket.serve(
            server.session.send(data, b"po"),
            server.session.send(error, fin=True),
            server.session.send(data, b"ng", fin=True),
        )

        assert b"".join([chunk async for chunk in connection]) == b"pong"
        assert server.frames() == [
            Data(stream_id=data, data=b"ping"),
            Data(stream_id=data, fin=True),
        ]


async def test_each_connection_has_its_own_request_number() -> None:
    """WTC-28"""
    server = SpdyServer()
    async with TaskOwner(on_failure=lambda *_: None) as tasks:
        tasks.spawn(server.tunnel.run(), name="tunnel")
        numbers = []
        for _ in range(3):
            opening = asyncio.ensure_future(server.tunnel.open(8080))
            while not server.socket.sent:
                await asyncio.sleep(0)
            error, data = [e for e in server.frames() if isinstance(e, SynStream)]
            numbers.append((data.headers["requestid"], data.headers["port"]))
            for stream in (error, data):
                server.socket.serve(server.session.reply(stream.stream_id))
            await opening

    assert numbers == [("0", "8080"), ("1", "8080"), ("2", "8080")]


async def test_an_error_of_the_pod_is_raised_by_its_connection_only() -> None:
    """WTC-C15"""
    server = SpdyServer()
    async with connected(server) as (connection, data, error):
        opening = asyncio.ensure_future(server.tunnel.open(9))
        other, _ = await server.accept()
        second = await opening
        server.socket.serve(
            server.session.send(error, b"connect: connection refused\n", fin=True),
            server.session.send(data, fin=True),
            server.session.send(other, b"fine"),
        )

        with pytest.raises(
            PortForwardFailed, match="forward port 8080 of web: connect: connection"
        ):
            await connection.read()
        assert await second.read() == b"fine"


async def test_an_error_after_the_end_of_the_data_is_no_end() -> None:
    """A runtime may end the data before the kubelet reports why."""
    server = SpdyServer()
    async with connected(server) as (connection, data, error):
        server.socket.serve(server.session.send(data, b"half", fin=True))
        assert await connection.read() == b"half"
        server.socket.serve(server.session.send(error, b"connection reset by peer", fin=True))

        with pytest.raises(PortForwardFailed, match="connection reset by peer"):
            await connection.read()


async def test_closing_a_connection_resets_its_stream() -> None:
    server = SpdyServer()
    async with connected(server) as (connection, data, error):
        connection.close()
        while not server.socket.sent:
            await asyncio.sleep(0)

        assert {frame.stream_id for frame in server.frames() if isinstance(frame, RstStream)} == {
            data,
            error,
        }
        with pytest.raises(StreamBroken, match="the connection was closed"):
            await connection.read()


@pytest.mark.parametrize("stream", [0, 1])
async def test_a_stream_that_the_server_resets_is_broken(stream: int) -> None:
    server = SpdyServer()
    async with connected(server) as (connection, *streams):
        server.socket.serve(server.session.reset(streams[stream]))

        with pytest.raises(StreamBroken, match="the server reset the connection"):
            await connection.read()


async def test_a_lost_tunnel_fails_every_connection() -> None:
    """WTC-27, WTC-29"""
    server = SpdyServer()
    async with connected(server) as (connection, data, _):
        server.socket.serve(server.session.send(data, b"last words"))
        server.socket.finish(1011, "node gone")

        assert await connection.read() == b"last words"
        with pytest.raises(StreamBroken, match=r"lost connection to the pod .* 1011: node gone"):
            await connection.read()
        with pytest.raises(StreamBroken):
            await connection.write(b"x")
        assert not server.tunnel.is_open
        with pytest.raises(StreamBroken):
            await server.tunnel.open(1)


@pytest.mark.parametrize("message", ["text", b"\x80\x02\0\0\0\0\0\0"])
async def test_what_is_not_spdy_ends_the_tunnel(message: bytes | str) -> None:
    """WTC-27"""
    server = SpdyServer()
    server.socket.serve(message)

    with pytest.raises(TransportError, match=r"text message|SPDY protocol"):
        await server.tunnel.run()


async def test_unread_data_stops_the_tunnel() -> None:
    server = SpdyServer()
    async with connected(server) as (connection, data, _):
        server.socket.serve(*[server.session.send(data, bytes(200_000)) for _ in range(20)])
        for _ in range(100):
            await asyncio.sleep(0)
        taken = server.socket.received
        assert taken <= 10  # of 22 messages

        size = 0
        while size < 4_000_000:
            size += len(await connection.read())
    assert server.socket.received == 22


async def test_a_connection_that_is_not_accepted_times_out() -> None:
    clock = ManualClock()
    socket = FakeSocket("SPDY/3.1+portforward.k8s.io")
    tunnel = SpdyTunnel(socket, "web", clock)
    opening = asyncio.ensure_future(tunnel.open(80))
    await clock.advance(31)

    with pytest.raises(TimeoutExceeded, match="did not accept the connection within 30 s"):
        await opening


async def test_both_streams_of_a_connection_fit_or_nothing_is_sent() -> None:
    """The first of them alone would be lost, and with it the compression of all others."""
    server, limit = SpdyServer(), Limits().streams
    async with TaskOwner(on_failure=lambda *_: None) as tasks:
        tasks.spawn(server.tunnel.run(), name="tunnel")
        opening = [asyncio.ensure_future(server.tunnel.open(8080)) for _ in range(limit // 2)]
        await asyncio.sleep(0)
        streams = [each.stream_id for each in server.frames() if isinstance(each, SynStream)]
        server.socket.serve(*map(server.session.reply, streams))
        first, *_ = await asyncio.gather(*opening)
        server.socket.serve(server.session.send(streams[0], fin=True))
        while server.socket.received <= limit:
            await asyncio.sleep(0)

        with pytest.raises(StreamBroken, match=f"{limit - 1} are open"):
            await server.tunnel.open(8080)

        first.close()
        while not server.frames():
            await asyncio.sleep(0)
        again = asyncio.ensure_future(server.tunnel.open(8080))
        await server.accept()
        assert (await again).is_usable()


@given(
    st.lists(
        st.tuples(
            st.booleans(),  # whether the connection is paused
            st.integers(0, 3),  # connections that are opened
            st.lists(st.integers(0, 20), max_size=2),  # which of them are cancelled
        ),
        max_size=15,
    )
)
def test_the_server_can_decode_all_streams(turns: list[tuple[bool, int, list[int]]]) -> None:
    """Whatever pauses the WebSocket, and whichever calls are cancelled."""
    asyncio.run(_open_and_cancel(turns))


async def _open_and_cancel(turns: list[tuple[bool, int, list[int]]]) -> None:
    wire, frames, server = Wire(), Protocol(Side.SERVER, max_size=None), Session(is_server=True)
    socket = new_socket()
    socket.attach(wire, b"")
    tunnel = SpdyTunnel(socket, "web", SystemClock())

    def serve() -> None:
        """Accept what has arrived; raises an error if it cannot be decoded."""
        frames.receive_data(wire.written)
        wire.written = b""
        for message in frames.events_received():
            assert isinstance(message, WebSocketFrame)
            for event in server.receive(bytes(message.data)):
                if isinstance(event, SynStream):
                    socket.data_received(frame(BINARY, server.reply(event.stream_id)))

    async def use() -> None:
        connection = await tunnel.open(8080)
        await connection.write(bytes(100_000))
        await connection.write_eof()

    async with TaskOwner() as tasks:
        tasks.spawn(tunnel.run(), name="tunnel")
        users: list[asyncio.Task[None]] = []
        for is_paused, opened, cancelled in turns:
            (socket.pause_writing if is_paused else socket.resume_writing)()
            users += [asyncio.create_task(use()) for _ in range(opened)]
            for number in cancelled:
                if number < len(users):
                    users[number].cancel()
            await asyncio.sleep(0)
            serve()
        socket.resume_writing()
        while not all(user.done() for user in users):
            await asyncio.sleep(0)
            serve()
    assert [user for user in users if not user.cancelled() and user.exception()] == []
    socket.abort()


# --- v4


async def test_v4_has_one_connection_and_skips_the_port() -> None:
    socket = FakeSocket("v4.channel.k8s.io")

    async def opener(port: int) -> FakeSocket:
        raise AssertionError(port)

    connection = await V4Tunnel(opener, "web", (8080, socket)).open(8080)
    socket.serve(b"\0\x90\x1f", b"\x01\x90\x1f", b"\0answer")
    socket.finish()
    await connection.write(b"question")

    assert [chunk async for chunk in connection] == [b"answer"]
    assert socket.sent == [b"\0question"]
    with pytest.raises(UnsupportedByServer, match="one direction cannot be closed"):
        await connection.write_eof()


async def test_v4_reports_errors_of_the_pod() -> None:
    socket, second = FakeSocket("v4.channel.k8s.io"), FakeSocket("v4.channel.k8s.io")

    async def opener(port: int) -> FakeSocket:
        return second

    tunnel = V4Tunnel(opener, "web", (8080, socket))
    connection = await tunnel.open(9090)
    second.serve(b"\0\x90\x1f", b"\x01\x90\x1frefused")

    with pytest.raises(PortForwardFailed, match="forward port 9090 of web: refused"):
        await connection.read()
    assert socket.state == "aborted"  # it was for another port


# --- ports and addresses


@given(st.integers(1, 65535), st.integers(0, 65535))
def test_port_specs_are_those_of_kubectl(remote: int, local: int) -> None:
    """WTC-24"""
    assert parse_port(remote) == ForwardedPort(0, remote)
    assert parse_port(f"{remote}") == ForwardedPort(remote, remote)
    assert parse_port(f":{remote}") == ForwardedPort(0, remote)
    assert parse_port(f"{local}:{remote}") == ForwardedPort(local, remote)


@pytest.mark.parametrize("spec", [0, 65536, "0", "a", "1:2:3", "80:", "", "-1:80", "65536:80", "٣"])
def test_other_port_specs_are_errors(spec: int | str) -> None:
    """WTC-24, WTC-C13"""
    with pytest.raises(InvalidArgument, match="expected 8080"):
        parse_port(spec)


def test_localhost_is_both_families_and_one_of_them_is_enough() -> None:
    """WTC-25, WTC-C14"""
    assert bind_addresses(["localhost"]) == [("127.0.0.1", False), ("::1", False)]
    assert bind_addresses(["localhost", "127.0.0.1"]) == [("127.0.0.1", True), ("::1", False)]
    assert bind_addresses(["10.0.0.1", "10.0.0.1"]) == [("10.0.0.1", True)]
    for wrong in (["example.com"], []):
        with pytest.raises(InvalidArgument):
            bind_addresses(wrong)
