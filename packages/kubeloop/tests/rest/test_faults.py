"""Incomplete and missing responses: each is an error of kubeloop with a hint."""

from __future__ import annotations

import asyncio
import gzip
import socket
from typing import Any

import pytest

from kubeloop.config import ClusterConfig
from kubeloop.errors import ConnectError, KubeError, StreamBroken, TimeoutExceeded, TransportError
from kubeloop.kit import ManualClock
from kubeloop.rest import RESTClient, Timeouts, fetch, path_request
from tests.support.certificates import Authority
from tests.support.scripted_server import (
    Reply,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
    cut,
    eventually,
    hang,
    reply,
    reset,
    serving,
)

POST = path_request("POST", "/x", body=b"{}")


async def test_a_refused_connection_is_reported() -> None:
    async with RESTClient(ClusterConfig(server="http://127.0.0.1:1")) as rest:
        with pytest.raises(ConnectError) as caught:
            await rest.send(POST)

    assert str(caught.value) == (
        "POST /x: http://127.0.0.1:1: no connection: Connection refused"
        " (check that the server runs and can be reached)"
    )


async def test_an_unknown_host_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_name_server(*args: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_name_server)  # no test waits for a name server
    async with RESTClient(ClusterConfig(server="http://no-such-host.invalid")) as rest:
        with pytest.raises(ConnectError, match="unknown host"):
            await rest.send(POST)


async def test_a_connection_that_does_not_come_about_ends_in_time() -> None:
    """Needs 4: connecting has a separate timeout."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(8)]
        for each in waiting:  # fill the queue, so that no connection is accepted any more
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        config = ClusterConfig(server=f"http://127.0.0.1:{port}")
        async with RESTClient(config, timeouts=Timeouts(connect=0.1)) as rest:
            with pytest.raises(TimeoutExceeded, match=r"no connection within 0\.1 s"):
                await rest.send(POST)
        for each in waiting:
            each.close()


async def test_a_server_that_never_responds_ends(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(hang)
    async with client_for(server, clock=clock) as rest:
        task = asyncio.create_task(rest.send(POST))
        await server.until(lambda seen: len(seen.received) == 1)
        await clock.advance(69)
        assert not task.done()
        await clock.advance(2)
        with pytest.raises(TimeoutExceeded, match="a response did not arrive within 70 s"):
            await task
        await server.until(lambda seen: seen.closed == 1)


async def test_a_silent_body_ends_with_an_error(server: ScriptedServer, clock: ManualClock) -> None:
    server.respond(chunked(b'{"a":', end="hang"))
    async with client_for(server, clock=clock) as rest:
        task = asyncio.create_task(rest.send(POST))
        await server.until(lambda seen: len(seen.received) == 1)
        await eventually(lambda: rest.stats().requests == 1)
        while not task.done():
            await clock.advance(1)
            await asyncio.sleep(0)
        assert 150 <= clock.now() < 160
        with pytest.raises(TimeoutExceeded, match="no byte of the response arrived for 150 s"):
            await task


async def test_the_whole_call_has_an_end_however_busy_the_body_is(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """REST-8, REST-41: a non-zero request timeout adds query `timeout=<Go duration>`."""
    sent = asyncio.Event()

    async def drips(_: Any, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:
            await connection.send(b"x")
            sent.set()
            await asyncio.sleep(0.001)

    server.respond(drips)
    timeouts = Timeouts(total=20)
    async with client_for(server, clock=clock, timeouts=timeouts) as rest:
        task = asyncio.create_task(rest.send(POST))
        await sent.wait()
        while not task.done():
            await clock.advance(1)
            await asyncio.sleep(0.001)
        with pytest.raises(TimeoutExceeded, match="the rest of the response"):
            await task
    assert clock.now() < 60


@pytest.mark.parametrize("step", [cut, reset])
async def test_a_connection_closed_without_a_response_is_reported(
    step: Reply, server: ScriptedServer
) -> None:
    server.respond(step)
    async with client_for(server) as rest:
        with pytest.raises(StreamBroken, match="the server may have executed the request"):
            await rest.send(POST)


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_truncated_body_is_reported(end: str, server: ScriptedServer) -> None:
    """Needs 8: as a resumable error of kubeloop."""
    server.respond(chunked(b'{"a":', end=end))
    async with client_for(server) as rest:
        with pytest.raises(
            StreamBroken, match=r"incomplete|closed before the end of the response"
        ) as caught:
            await rest.send(POST)
    assert "try again" not in str(caught.value)  # which could do it twice


@pytest.mark.parametrize("missing", [1, 8, 12])
async def test_a_truncated_compressed_body_is_reported(
    missing: int, server: ScriptedServer
) -> None:
    """Its Content-Length is right: only decompression finds it."""
    packed = gzip.compress(b"a line of the log\n" * 9)[:-missing]
    server.respond(reply(body=packed, headers={"Content-Encoding": "gzip"}))
    async with client_for(server) as rest:
        with pytest.raises(StreamBroken, match="is incomplete"):
            await rest.stream(path_request("GET", "/x")).read()


async def test_a_body_shorter_than_its_content_length_is_reported(server: ScriptedServer) -> None:
    async def short(_: Any, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}")
        connection.cut()

    server.respond(short)
    async with client_for(server) as rest:
        with pytest.raises(StreamBroken, match="the response is incomplete"):
            await rest.send(POST)


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 abc\r\n\r\n",
        b"\x00\x01\x02\x03\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nxyz",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
    ],
    ids=["status", "binary", "length", "chunk", "gzip", "header"],
)
async def test_an_invalid_response_is_a_transport_error(raw: bytes, server: ScriptedServer) -> None:
    async def rubbish(_: Any, connection: ServerConnection) -> None:
        await connection.send(raw)
        connection.cut()

    server.respond(rubbish)
    async with client_for(server) as rest:
        with pytest.raises(TransportError) as caught:
            await rest.send(POST)

    assert str(caught.value).startswith(f"POST /x: {server.url}: ")


async def test_a_cancelled_request_closes_its_connection_and_leaves_no_task(
    server: ScriptedServer,
) -> None:
    """X-7: a cancelled call leaves nothing open."""
    server.respond(hang)
    before = asyncio.all_tasks()
    async with client_for(server) as rest:
        task = asyncio.create_task(rest.send(POST))
        await server.until(lambda seen: len(seen.received) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until(lambda seen: seen.closed == 1)

        assert rest.stats().in_flight == 0
    left = {each for each in asyncio.all_tasks() - before if "_serve" not in repr(each)}
    assert left == set()


async def test_a_hundred_faults_leave_the_client_usable(server: ScriptedServer) -> None:
    """After any fault the next request works, on connections that are not used up."""
    steps = [
        cut,
        reset,
        chunked(b"{", end="cut"),
        reply(500),
        reply(404),
        chunked(b"x", end="reset"),
    ]
    server.respond(*steps * 17, reply(body=b"fine"))
    async with client_for(server) as rest:
        for _ in range(len(steps) * 17):
            with pytest.raises(KubeError):
                await rest.send(POST)

        assert (await rest.send(POST)).body == b"fine"


# --- requests to others


async def test_fetch_trusts_only_the_given_ca(tmp_path: Any, authority: Authority) -> None:
    async with serving(tls=authority.server_context(tmp_path)) as other:
        other.respond(reply(400, b"who are you?"))
        answer = await fetch(
            "POST", f"{other.url}/token", headers={"X-Y": "z"}, body=b"a=b", ca=authority.pem
        )
        with pytest.raises(ConnectError, match="not trusted"):
            await fetch("GET", other.url, headers={}, body=b"", ca=Authority("x").pem)

    assert (answer.status, answer.body) == (400, b"who are you?")
    assert (other.received[0].method, other.received[0].body) == ("POST", b"a=b")
    assert other.received[0].header("X-Y") == "z"


async def test_fetch_does_not_follow_redirects_with_a_body(server: ScriptedServer) -> None:
    there = {"Location": f"{server.url}/elsewhere"}
    server.respond(
        reply(307, b"", headers=there), reply(307, b"", headers=there), reply(200, b"here")
    )

    sent = await fetch("POST", f"{server.url}/token", headers={}, body=b"refresh", ca=b"")
    read = await fetch("GET", f"{server.url}/keys", headers={}, body=b"", ca=b"")

    assert (sent.status, read.body) == (307, b"here")


async def test_fetch_that_fails_shows_no_query(server: ScriptedServer) -> None:
    with pytest.raises(TransportError) as caught:
        await fetch("GET", "http://127.0.0.1:1/x?token=s3cret", headers={}, body=b"", ca=b"")

    assert "s3cret" not in str(caught.value)
