"""Bodies in pieces: logs and long lists."""

from __future__ import annotations

import asyncio
import json

import pytest

from kubeloop.errors import DecodeError, NotFound, StreamBroken, TimeoutExceeded
from kubeloop.kit import ManualClock
from kubeloop.rest import Timeouts, path_request, resource_request
from tests.support.scripted_server import PODS, ScriptedServer, chunked, client_for, reply

LOG = resource_request("get", PODS, namespace="shop", name="web", subresource="log")
LIST = resource_request("list", PODS)


async def test_lines_come_whole_however_they_were_chunked(server: ScriptedServer) -> None:
    server.respond(chunked(b"on", b"e\ntwo\n\nfo", b"ur", b"\nlast"))
    async with client_for(server) as rest, rest.stream(LOG) as log:
        lines = [line async for line in log.lines()]

    assert lines == [b"one", b"two", b"", b"four", b"last"]


async def test_pieces_and_the_whole_can_be_had(server: ScriptedServer) -> None:
    """REST-25: terminal calls: Do (decode), DoRaw (bytes), Stream (open body)."""
    server.respond(chunked(b"one", b"two"))
    async with client_for(server) as rest:
        assert await rest.stream(LOG).read() == b"onetwo"
        assert b"".join([piece async for piece in rest.stream(LOG)]) == b"onetwo"


@pytest.mark.parametrize(("status", "fine"), [(200, True), (207, True), (299, True), (300, False)])
async def test_a_stream_is_any_2xx(status: int, fine: bool, server: ScriptedServer) -> None:
    """REST-52: Do/DoRaw: success is 200..206 (and 101 switching protocols)."""
    server.respond(reply(status, b"x"))
    async with client_for(server) as rest:
        if fine:
            assert await rest.stream(LOG).read() == b"x"
        else:
            with pytest.raises(Exception, match="300"):
                await rest.stream(LOG).read()


async def test_a_stream_that_breaks_off_is_an_error_and_not_a_short_response(
    server: ScriptedServer,
) -> None:
    server.respond(chunked(b"one\n", end="cut"))
    async with client_for(server) as rest:
        lines = rest.stream(LOG).lines()
        assert await anext(lines) == b"one"
        with pytest.raises(StreamBroken, match="incomplete"):
            await anext(lines)


async def test_a_log_that_is_followed_may_be_silent(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """Needs 4: separate, named timeouts; idle can be lifted by itself."""
    server.respond(chunked(b"one\n", end="hang"))
    request = LOG.replace(timeouts=Timeouts(idle=None))
    async with client_for(server, clock=clock) as rest, rest.stream(request) as log:
        await anext(log)
        waiting = asyncio.ensure_future(anext(log))
        await clock.advance(100_000)

        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await server.until(lambda seen: seen.closed == 1)


async def test_silence_in_any_other_stream_is_an_error(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(chunked(b"one\n", end="hang"))
    async with client_for(server, clock=clock) as rest, rest.stream(LOG) as log:
        await anext(log)
        waiting = asyncio.ensure_future(anext(log))
        await clock.advance(151)
        with pytest.raises(TimeoutExceeded, match="no byte of the response arrived for 150 s"):
            await waiting


async def test_what_cannot_be_streamed_is_the_server_s_error(server: ScriptedServer) -> None:
    server.respond(reply(404, b"no such pod", content_type="text/plain"))
    async with client_for(server) as rest:
        with pytest.raises(NotFound, match="GET pods/web/log in shop"):
            await rest.stream(LOG).open()


async def test_the_items_of_a_list_come_one_by_one(server: ScriptedServer) -> None:
    items = [{"metadata": {"name": f"web-{n}"}} for n in range(50)]
    text = json.dumps(
        {"kind": "PodList", "metadata": {"resourceVersion": "7", "continue": "t"}, "items": items}
    ).encode()
    server.respond(chunked(*[text[at : at + 97] for at in range(0, len(text), 97)]))
    async with client_for(server) as rest, rest.items(LIST) as pods:
        found = [json.loads(item) async for item in pods]

        assert found == items
        assert (pods.rest().version, pods.rest().next_page) == ("7", "t")


async def test_items_can_be_had_in_batches(server: ScriptedServer) -> None:
    server.respond(reply(body={"items": [{"a": 1}, {"a": 2}]}))
    found: list[bytes] = []
    async with client_for(server) as rest, rest.items(LIST) as pods:
        while batch := await pods.batch():
            found += batch

    assert len(found) == 2


@pytest.mark.parametrize("end", ["cut", "whole"])
async def test_a_list_that_is_truncated_is_never_a_short_list(
    end: str, server: ScriptedServer
) -> None:
    server.respond(chunked(b'{"items":[{"a":1},{"a":2},', end=end))
    async with client_for(server) as rest, rest.items(LIST) as pods:
        with pytest.raises((StreamBroken, DecodeError), match="incomplete"):
            _ = [item async for item in pods]
        with pytest.raises(DecodeError, match="not been read to its end"):
            pods.rest()


async def test_an_html_page_instead_of_a_list_is_reported(server: ScriptedServer) -> None:
    server.respond(reply(200, b"<html>", content_type="text/html"))
    async with client_for(server) as rest:
        with pytest.raises(DecodeError, match="GET pods: the response is not a list"):
            _ = [item async for item in rest.items(LIST)]


async def test_a_stream_that_is_left_in_the_middle_closes_its_connection(
    server: ScriptedServer,
) -> None:
    server.respond(chunked(b"one", end="hang"))
    async with client_for(server) as rest:
        async for _ in rest.stream(path_request("GET", "/x")):
            break

        await server.until(lambda seen: seen.closed == 1)


@pytest.mark.parametrize("body", [b"{}", b'{"kind":"Status","status":"Failure","code":404}'])
async def test_what_is_not_a_list_does_not_stream_as_an_empty_one(
    body: bytes, server: ScriptedServer
) -> None:
    """REST-55: a cache would treat it as an empty collection."""
    server.respond(reply(body=body))

    async with client_for(server) as rest:
        with pytest.raises(DecodeError, match="GET pods: the response is not a list"):
            _ = [item async for item in rest.items(LIST)]
