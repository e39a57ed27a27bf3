"""One watch: its events, its ends, and how quickly it stops."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from kubeloop.config import ClusterConfig
from kubeloop.errors import (
    ApiError,
    Cause,
    ConnectError,
    Expired,
    Forbidden,
    InternalError,
    has_cause,
)
from kubeloop.kit import ManualClock
from kubeloop.rest import (
    LONGEST_WATCH,
    SHORTEST_WATCH,
    RESTClient,
    ResumingWatch,
    Timeouts,
    WatchEnd,
    resource_request,
)
from kubeloop.rest.response import WATCH_DECODING
from kubeloop.rest.watch import GRACE, with_timeout
from tests.support.scripted_server import (
    PODS,
    ReceivedRequest,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
    cut,
    eventually,
    reply,
)

WATCH = resource_request("watch", PODS, params={"watch": True, "timeoutSeconds": 400})


def event(kind: str, version: str = "1", **more: Any) -> bytes:
    obj = {"metadata": {"resourceVersion": version}} | more
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def status(code: int, reason: str) -> bytes:
    message = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
    return (
        json.dumps({"type": "ERROR", "object": message | {"code": code, "reason": reason}}).encode()
        + b"\n"
    )


async def test_events_come_in_order_and_bookmarks_with_them(server: ScriptedServer) -> None:
    """REST-68, REST-69, REST-C18: two events in a chunk, one over three."""
    third = event("DELETED", "3")
    server.respond(
        chunked(
            event("ADDED") + event("MODIFIED", "2"),
            third[:5],
            third[5:30],
            third[30:],
            event("BOOKMARK", "4"),
        )
    )
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        types = [each.type async for each in watch]

    assert types == ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    assert watch.ended is WatchEnd.CLOSED
    assert watch.stats().events == 4


async def test_a_watch_need_not_be_entered(server: ScriptedServer) -> None:
    server.respond(chunked(event("ADDED")))
    async with client_for(server) as rest:
        types = [each.type async for each in rest.watch(WATCH)]

    assert types == ["ADDED"]


async def test_what_is_there_can_be_had_at_once(server: ScriptedServer) -> None:
    server.respond(chunked(event("ADDED") * 3))
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        assert len(await watch.batch()) == 3
        assert await watch.batch() == []


async def test_an_error_event_is_raised_behind_the_events_before_it(server: ScriptedServer) -> None:
    """REST-68, API-44: 410 inside the stream."""
    server.respond(chunked(event("ADDED") + status(410, "Expired") + event("ADDED")))
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        assert (await anext(watch)).type == "ADDED"
        with pytest.raises(Expired):
            await anext(watch)
        assert [each async for each in watch] == []

    assert watch.ended is WatchEnd.FAILED


@pytest.mark.parametrize(
    "rubbish",
    [
        b"<html>\n",
        b'{"type":"ADDED","object":{]}\n',
        b'{"type":"SURPRISE","object":{}}\n',
        b'{"type":"ERROR","object":{"kind":"Pod"}}\n',
        b'{"type":"ERROR","object":7}\n',
    ],
)
async def test_what_cannot_be_read_is_one_error_and_then_the_end(
    rubbish: bytes, server: ScriptedServer
) -> None:
    """REST-68, REST-71: InternalError 500 with both causes."""
    server.respond(chunked(event("ADDED") + rubbish, end="hang"))
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        assert (await anext(watch)).type == "ADDED"
        with pytest.raises(InternalError) as caught:
            await anext(watch)
        assert [each async for each in watch] == []

    assert caught.value.code == 500
    assert has_cause(caught.value, Cause.UNEXPECTED_SERVER_RESPONSE)
    assert has_cause(caught.value, WATCH_DECODING)


async def test_an_event_beyond_the_limit_is_one_error(server: ScriptedServer) -> None:
    """REST-70, REST-C18: larger than 16 MiB."""
    chunk = b"x" * 2**20
    server.respond(
        chunked(event("ADDED"), b'{"type":"ADDED","object":"', *[chunk] * 17, end="hang")
    )
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        assert (await anext(watch)).type == "ADDED"
        with pytest.raises(InternalError, match="larger than 16777216 bytes"):
            await anext(watch)


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_dropped_stream_is_no_error(end: str, server: ScriptedServer) -> None:
    """REST-71: a truncated chunk is never returned."""
    server.respond(chunked(event("ADDED"), b'{"type":"ADD', end=end))
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        types = [each.type async for each in watch]

    assert types == ["ADDED"]
    assert watch.ended is WatchEnd.BROKEN


async def test_only_200_opens_a_watch(server: ScriptedServer) -> None:
    """REST-52: Do/DoRaw: success is 200..206 (and 101 switching protocols)."""
    server.respond(reply(201), reply(403, b"no", content_type="text/plain"))
    async with client_for(server) as rest:
        with pytest.raises(ApiError, match="201"):
            await rest.watch(WATCH).open()
        with pytest.raises(Forbidden, match="WATCH pods: 403"):
            await rest.watch(WATCH).open()


async def test_a_server_that_is_not_there_is_an_error() -> None:
    """REST-32, REST-72: a refused connection is never swallowed."""
    async with RESTClient(ClusterConfig(server="http://127.0.0.1:1")) as rest:
        with pytest.raises(ConnectError, match="Connection refused"):
            await rest.watch(WATCH).open()


async def test_a_silent_stream_ends_at_the_idle_deadline(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """Needs 3: half-open connections; events and bookmarks extend the deadline."""
    more = asyncio.Event()

    async def slowly(_: Any, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        await connection.send(event("ADDED"))
        await more.wait()
        await connection.send(event("BOOKMARK"))
        await connection.hang()

    server.respond(slowly)
    async with client_for(server, clock=clock) as rest, rest.watch(WATCH) as watch:
        assert (await anext(watch)).type == "ADDED"
        waiting = asyncio.ensure_future(anext(watch))
        await clock.advance(149)
        more.set()
        assert (await waiting).type == "BOOKMARK"
        waiting = asyncio.ensure_future(anext(watch))
        await clock.advance(149)
        assert not waiting.done()
        await clock.advance(2)
        with pytest.raises(StopAsyncIteration):
            await waiting

    assert watch.ended is WatchEnd.SILENT
    assert Timeouts().idle == 150


async def test_a_watch_does_not_outlive_its_duration_even_if_the_server_lets_it(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """REST-43: it is sent to the server, and the client ends it a little later."""
    server.respond(chunked(event("ADDED"), end="hang"))
    timeouts = Timeouts(idle=None)
    async with (
        client_for(server, clock=clock, timeouts=timeouts) as rest,
        rest.watch(WATCH) as watch,
    ):
        assert (await anext(watch)).type == "ADDED"
        waiting = asyncio.ensure_future(anext(watch))
        await clock.advance(400 + GRACE - 1)
        assert not waiting.done()
        await clock.advance(2)
        with pytest.raises(StopAsyncIteration):
            await waiting

    assert watch.ended is WatchEnd.TIMED_OUT


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 300), (0.5, 450), (0.999, 599)])
def test_a_watch_lasts_between_five_and_ten_minutes(chance: float, seconds: int) -> None:
    """REST-42, X-8: at random, and sent as timeoutSeconds."""
    request, max_duration = with_timeout(resource_request("watch", PODS), random=lambda: chance)

    assert request.query() == f"timeoutSeconds={seconds}"
    assert max_duration == seconds + GRACE
    assert (SHORTEST_WATCH, LONGEST_WATCH) == (300, 600)


def test_a_duration_of_the_request_is_kept() -> None:
    """REST-42: typed List/Watch/DeleteCollection set the request timeout from `timeoutSeconds`."""
    assert with_timeout(WATCH) == (WATCH, 400 + GRACE)


async def test_cancelling_closes_the_connection_at_once(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """REST-73, X-7, needs 5: the clock does not move meanwhile."""
    server.respond(chunked(event("ADDED"), end="hang"))
    async with client_for(server, clock=clock) as rest:
        watch = rest.watch(WATCH)

        async def follow() -> None:
            async for _ in watch:
                pass

        task = asyncio.create_task(follow())
        await server.until(lambda seen: len(seen.received) == 1)
        await eventually(lambda: watch.stats().events > 0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until(lambda seen: seen.closed == 1)

    assert watch.ended is WatchEnd.STOPPED


async def test_a_watch_can_be_closed_during_a_read(server: ScriptedServer) -> None:
    """REST-73: and again."""
    server.respond(chunked(event("ADDED"), end="hang"))
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        await anext(watch)
        waiting = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)
        watch.close()
        await watch.aclose()
        with pytest.raises(StopAsyncIteration):
            await waiting

    assert watch.ended is WatchEnd.STOPPED


@pytest.mark.parametrize("kind", ["watch", "stream", "resuming"])
async def test_what_is_closed_while_it_opens_stays_closed(
    kind: str, server: ScriptedServer
) -> None:
    """REST-73: another task may close it, and the response is already being sent."""
    is_closed = asyncio.Event()

    async def late(received: ReceivedRequest, connection: ServerConnection) -> None:
        await is_closed.wait()
        await chunked(event("ADDED"), end="hang")(received, connection)

    server.respond(late)
    async with client_for(server) as rest:
        makes: dict[str, Callable[[], Any]] = {
            "watch": lambda: rest.watch(WATCH),
            "stream": lambda: rest.stream(WATCH),
            "resuming": lambda: ResumingWatch(lambda _: rest.watch(WATCH), "1"),
        }
        opening = makes[kind]()
        waiting = asyncio.ensure_future(anext(opening))
        await server.until(lambda seen: len(seen.received) == 1)
        opening.close()
        is_closed.set()

        with pytest.raises(StopAsyncIteration):
            await waiting
        await server.until(lambda seen: seen.closed == 1)


async def test_a_watch_that_is_left_in_the_middle_closes_its_connection(
    server: ScriptedServer,
) -> None:
    """Needs 12: closed by garbage collection."""
    server.respond(chunked(event("ADDED"), end="hang"))
    async with client_for(server) as rest:
        async for _ in rest.watch(WATCH):
            break
        gc.collect()

        await server.until(lambda seen: seen.closed == 1)


async def test_closing_the_client_ends_its_watches(server: ScriptedServer) -> None:
    server.respond(chunked(event("ADDED"), end="hang"))
    rest = client_for(server)
    watch = rest.watch(WATCH)
    await anext(watch)
    waiting = asyncio.ensure_future(anext(watch))
    await asyncio.sleep(0)

    await rest.aclose()

    with pytest.raises(StopAsyncIteration):
        await waiting


async def test_a_watch_that_breaks_before_its_response_ends_empty(server: ScriptedServer) -> None:
    """REST-72: a watch that cannot be opened after retries is empty."""
    server.respond(cut)
    async with client_for(server, max_retries=0) as rest:
        assert [each async for each in rest.watch(WATCH)] == []
