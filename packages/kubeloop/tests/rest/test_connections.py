"""The reuse of connections, and what is written on them."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import threading
from collections.abc import Callable

import pytest

from kubeloop.config import ClusterConfig
from kubeloop.errors import ApiError, InvalidArgument, StreamBroken, TransportError
from kubeloop.kit import ManualClock, new_event_loop
from kubeloop.rest import KEEP_ALIVE, RESTClient, path_request
from tests.support.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
    cut,
    eventually,
    hang,
    reply,
    serving,
)

GET = path_request("GET", "/x")
POST = path_request("POST", "/x", body=b"{}")
BIG = b"x" * (8 * 2**20)


def raw(data: bytes) -> Callable[[ReceivedRequest, ServerConnection], asyncio.Future[None]]:
    async def respond(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(data)

    return respond  # type: ignore[return-value] # a coroutine function


async def test_two_responses_to_one_request_end_the_connection(server: ScriptedServer) -> None:
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    server.respond(raw(whole + whole), reply(body=b"second"))
    async with client_for(server) as rest:
        assert (await rest.send(GET)).body == b"{}"
        assert (await rest.send(GET)).body == b"second"

    assert server.connections == 2


async def test_bytes_on_an_idle_connection_end_it(server: ScriptedServer) -> None:
    sent = asyncio.Event()

    async def talkative(received: ReceivedRequest, connection: ServerConnection) -> None:
        await reply()(received, connection)
        await sent.wait()
        await connection.send(b"HTTP/1.1 408 Request Timeout\r\n\r\n")

    server.respond(talkative, reply(body=b"second"))
    async with client_for(server) as rest:
        await rest.send(GET)
        sent.set()
        await server.until(lambda seen: seen.closed == 1)
        assert (await rest.send(GET)).body == b"second"

    assert server.connections == 2


@pytest.mark.skipif(not hasattr(select, "poll"), reason="there is no poll here")
@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, new_event_loop])
def test_bytes_that_arrive_while_the_event_loop_is_busy_are_no_response(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """They are in the socket when the connection is used again, and belong to no request."""
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    listener = socket.create_server(("127.0.0.1", 0))
    has_sent = threading.Event()
    may_send = threading.Event()

    def serve() -> None:
        first, _ = listener.accept()
        with first:
            first.recv(4096)
            first.sendall(whole + b"{}")
            may_send.wait()
            first.sendall(whole + b"no")
            has_sent.set()
            second, _ = listener.accept()
            with second:
                second.recv(4096)
                second.sendall(whole + b"ok")

    async def main() -> bytes:
        config = ClusterConfig(server=f"http://127.0.0.1:{listener.getsockname()[1]}")
        async with RESTClient(config) as rest:
            await rest.send(POST)
            may_send.set()
            has_sent.wait()  # the event loop is blocked meanwhile
            return (await rest.send(POST)).body

    thread = threading.Thread(target=serve)
    thread.start()
    with listener, asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(main()) == b"ok"
    thread.join()


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nConnection: keep-alive, Close\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nConnection: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
async def test_a_connection_is_not_used_again_if_the_server_closes_it(
    head: bytes, server: ScriptedServer
) -> None:
    server.respond(raw(head), reply())
    async with client_for(server) as rest:
        await rest.send(GET)
        await rest.send(GET)

    assert server.connections == 2


async def test_a_connection_is_idle_for_85_seconds_at_most(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(reply())
    async with client_for(server, clock=clock) as rest:
        await rest.send(GET)
        await clock.advance(KEEP_ALIVE - 1)
        await rest.send(GET)
        assert server.connections == 1

        await clock.advance(KEEP_ALIVE + 1)
        await server.until(lambda seen: seen.closed == 1)
        await rest.send(GET)

    assert server.connections == 2


async def test_a_connection_that_the_server_closed_is_not_used_for_a_write(
    server: ScriptedServer,
) -> None:
    async def reply_and_close(received: ReceivedRequest, connection: ServerConnection) -> None:
        await reply()(received, connection)
        connection.cut()

    server.respond(reply_and_close)
    async with client_for(server) as rest:
        for count in range(1, 20):
            await rest.send(POST)
            await eventually(lambda: rest._transport.stats().connections == 0)
            assert (server.connections, len(server.received)) == (count, count)


async def test_a_write_on_a_connection_that_breaks_is_never_repeated(
    server: ScriptedServer,
) -> None:
    server.respond(reply(), cut, reply())
    async with client_for(server) as rest:
        await rest.send(POST)
        with pytest.raises(StreamBroken, match="the server may have executed the request"):
            await rest.send(POST)

    assert len(server.received) == 2


@pytest.mark.parametrize("status", [401, 413, 429, 500])
async def test_a_response_that_arrives_while_the_body_is_sent_is_reported(status: int) -> None:
    """The server reads a little, responds, and reads no more until the client has given up."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 4\r\n\r\nfull".encode())
        await writer.drain()
        await done.wait()
        writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, RESTClient(ClusterConfig(server=f"http://127.0.0.1:{port}")) as rest:
        with pytest.raises(ApiError) as caught:
            await rest.send(path_request("POST", "/x", body=BIG))
        assert caught.value.code == status
        assert rest._transport.stats().connections == 0  # the rest of the body is not sent
        done.set()


async def test_a_slow_reader_stops_the_server_and_loses_nothing() -> None:
    """Backpressure: the server cannot send more than sockets and the client's buffer hold."""
    sent = 0

    async def endless(received: ReceivedRequest, connection: ServerConnection) -> None:
        nonlocal sent
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
        for _ in range(1024):
            connection.writer.write(b"y" * 65536)
            sent += 65536
            await connection.writer.drain()

    async with serving() as server:
        server.respond(endless)
        async with client_for(server) as rest, rest.stream(GET) as stream:
            received = len(await anext(stream))
            before = -1
            while sent != before:  # until the server is stopped
                before = sent
                await asyncio.sleep(0.05)
            assert sent < 32 * 2**20
            async for chunk in stream:
                received += len(chunk)

    assert received == 67108864


@pytest.mark.parametrize("steps", range(8))
async def test_a_call_cancelled_at_any_step_leaves_no_connection_in_use(
    steps: int, server: ScriptedServer
) -> None:
    server.respond(chunked(b"{", b"}", end="hang"))
    async with client_for(server) as rest:
        call = asyncio.create_task(rest.send(GET))
        for _ in range(steps):
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually(lambda: rest._transport.stats().connections == 0)
        assert rest.stats().in_flight == 0


async def test_a_client_of_another_running_loop_is_refused(server: ScriptedServer) -> None:
    server.respond(reply())
    async with client_for(server) as rest:
        await rest.send(GET)

        def elsewhere() -> None:
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                runner.run(rest.send(GET))

        with pytest.raises(InvalidArgument, match="another event loop"):
            await asyncio.to_thread(elsewhere)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_forked_child_opens_connections_of_its_own() -> None:
    """The connections of the parent are neither used nor closed by the child."""

    async def serve() -> None:
        async with serving() as server:
            server.respond(reply(body=b"{}"))
            async with client_for(server) as rest:
                await rest.send(GET)
                await asyncio.to_thread(_fork_and_send, rest)
                await rest.send(GET)
            assert server.connections == 2
            assert len(server.received) == 3

    asyncio.run(serve())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_child_that_is_forked_during_calls_has_all_slots_free() -> None:
    async def serve() -> None:
        async with serving() as server:
            server.respond(hang, reply(body=b"{}"))
            async with client_for(server, in_flight=1) as rest:
                call = asyncio.create_task(rest.send(GET))
                await server.until(lambda seen: len(seen.received) == 1)
                await asyncio.to_thread(_fork_and_send, rest)
                call.cancel()
                await asyncio.wait({call})

    asyncio.run(serve())


def _fork_and_send(rest: RESTClient) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.set_event_loop(None)
            loop = asyncio.new_event_loop()
            asyncio._set_running_loop(None)
            code = 0 if loop.run_until_complete(rest.send(GET)).body == b"{}" else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


async def test_a_timeout_in_the_middle_of_a_body_keeps_what_arrived(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(hang)
    async with client_for(server, clock=clock) as rest:
        call = asyncio.create_task(rest.send(GET))
        await server.until(lambda seen: len(seen.received) == 1)
        await clock.advance(71)
        with pytest.raises(TransportError, match="did not arrive within 70 s"):
            await call
        await server.until(lambda seen: seen.closed == 1)


async def test_a_connection_whose_rest_was_too_long_is_not_used_even_if_its_timer_is_late(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a machine was suspended, or after code that blocked the event loop."""
    server.respond(reply())
    clock = ManualClock()
    async with client_for(server, clock=clock) as rest:
        await rest.send(POST)
        monkeypatch.setattr(clock, "_now", clock.now() + KEEP_ALIVE)
        await rest.send(POST)

    assert server.connections == 2


async def test_a_connection_that_is_being_lost_is_not_used(server: ScriptedServer) -> None:
    """The event loop reports the loss only in its next iteration."""
    server.respond(reply())
    async with client_for(server) as rest:
        await rest.send(POST)
        (connection,) = rest._transport._pool.idle
        assert connection.transport is not None
        connection.transport.abort()
        await rest.send(POST)

    assert server.connections == 2
