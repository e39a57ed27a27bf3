"""A watch over many streams."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop.errors import (
    ClientClosed,
    Expired,
    Forbidden,
    InternalError,
    InvalidArgument,
    Unauthorized,
)
from kubeloop.kit import Backoff, ManualClock
from kubeloop.rest import (
    RESUME_BACKOFF,
    RESUME_INTERVAL,
    RESTClient,
    ResumingWatch,
    Watch,
    resource_request,
)
from tests.support.clocks import InstantClock
from tests.support.scripted_server import (
    PODS,
    Reply,
    ScriptedServer,
    chunked,
    client_for,
    cut,
    hang,
    reply,
)

from .test_watch import event, status

STILL = Backoff(duration=0.0, steps=0)


def resuming(rest: RESTClient, version: str = "5", **options: Any) -> ResumingWatch:
    def open_from(since: str) -> Watch:
        params = {"watch": True, "resourceVersion": since, "allowWatchBookmarks": True}
        return rest.watch(resource_request("watch", PODS, params=params))

    given: dict[str, Any] = {"clock": rest.clock, "random": lambda: 0.0}
    return ResumingWatch(open_from, version, **given | options)


def versions(server: ScriptedServer) -> list[str]:
    """The versions of the watch requests."""
    return [
        received.target.partition("resourceVersion=")[2].partition("&")[0]
        for received in server.received
    ]


async def take(watch: ResumingWatch, count: int) -> list[str]:
    return [(await anext(watch)).type for _ in range(count)]


@pytest.mark.parametrize("version", ["", "0"])
async def test_a_watch_cannot_be_resumed_without_a_version(
    version: str, server: ScriptedServer
) -> None:
    """WTC-1: RetryWatcher(initialRV, watcher): initial RV "" or "0" is an error."""
    with pytest.raises(InvalidArgument, match="cannot be resumed there"):
        resuming(client_for(server), version)


async def test_it_goes_on_from_the_last_version_seen(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-1, WTC-2, WTC-C1: no event lost, none twice."""
    server.respond(
        chunked(event("ADDED", "6")),
        chunked(event("MODIFIED", "7"), event("DELETED", "8"), end="cut"),
        chunked(event("ADDED", "9"), end="hang"),
    )
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        types = await take(watch, 4)

        assert watch.version == "9"
    assert types == ["ADDED", "MODIFIED", "DELETED", "ADDED"]
    assert versions(server) == ["5", "6", "8"]


async def test_bookmarks_move_the_version_and_stay_inside(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-2: ADDED/MODIFIED/DELETED are forwarded and move the RV."""
    server.respond(chunked(event("BOOKMARK", "60")), chunked(event("ADDED", "61"), end="hang"))
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        assert await take(watch, 1) == ["ADDED"]

    assert versions(server) == ["5", "60"]
    assert "allowWatchBookmarks=true" in server.received[0].target


async def test_tries_begin_at_least_a_second_apart(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-1: also after a stream with events."""
    server.respond(chunked(event("ADDED", "6")))
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        await take(watch, 4)

    assert hurried.slept == [1.0, 1.0, 1.0]
    assert RESUME_INTERVAL == 1.0


async def test_a_server_that_hangs_up_at_once_is_not_stormed(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """Needs section C-1: growing delays, although no request failed."""
    server.respond(*[chunked()] * 7, chunked(event("ADDED", "6"), end="hang"))
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        await take(watch, 1)

    assert hurried.slept == pytest.approx([1.0, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0])
    assert RESUME_BACKOFF.jitter == 1.0


async def test_an_event_makes_the_delays_short_again(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    server.respond(
        *[chunked()] * 3, chunked(event("ADDED", "6")), chunked(), chunked(event("ADDED", "7"))
    )
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        await take(watch, 2)

    assert hurried.slept == pytest.approx([1.0, 1.6, 3.2, 1.0, 1.0])


async def test_an_expired_version_ends_it_and_is_raised(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-3, WTC-C2, needs 7: in the stream."""
    server.respond(chunked(event("ADDED", "6") + status(410, "Expired")))
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        await take(watch, 1)
        with pytest.raises(Expired, match="list again"):
            await anext(watch)
        with pytest.raises(StopAsyncIteration):
            await anext(watch)

    assert len(server.received) == 1


async def test_a_version_that_is_rejected_on_opening_is_never_asked_for_again(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-4, WTC-C3, needs 7: client-go would repeat it for ever; here it is raised."""
    server.respond(
        reply(410, {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410})
    )
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        with pytest.raises(Expired):
            await anext(watch)

    assert len(server.received) == 1


@pytest.mark.parametrize(
    "failure_reply",
    [
        chunked(status(500, "InternalError")),
        chunked(status(504, "Timeout")),
        chunked(status(418, "Teapot")),
        reply(500),
        reply(429),
        cut,
    ],
)
async def test_other_errors_are_retried_silently(
    failure_reply: Reply, server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-3, WTC-4, WTC-C2: it retries from its last version."""
    server.respond(failure_reply, chunked(event("ADDED", "6"), end="hang"))
    async with client_for(server, clock=hurried, max_retries=0) as rest, resuming(rest) as watch:
        assert await take(watch, 1) == ["ADDED"]

        assert watch.stats().streams == 2
    assert versions(server) == ["5", "5"]


async def test_the_server_s_delay_is_kept(server: ScriptedServer, hurried: InstantClock) -> None:
    """WTC-3: retryAfterSeconds of the Status."""
    message = status(500, "ServerTimeout").replace(
        b'"code"', b'"details":{"retryAfterSeconds":17},"code"'
    )
    server.respond(chunked(message), chunked(event("ADDED", "6"), end="hang"))
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        await take(watch, 1)

    assert hurried.slept == [17.0]


@pytest.mark.parametrize(("code", "kind"), [(401, Unauthorized), (403, Forbidden)])
async def test_a_rejection_that_would_be_repeated_ends_it(
    code: int, kind: type[Exception], server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-4: open failure: EOF, probable EOF, timeouts, Gone/Expired and other errors."""
    server.respond(reply(code))
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        with pytest.raises(kind):
            await anext(watch)

    assert len(server.received) == 1


async def test_a_closed_client_ends_it(server: ScriptedServer, hurried: InstantClock) -> None:
    server.respond(chunked(event("ADDED", "6")))
    rest = client_for(server, clock=hurried)
    async with resuming(rest) as watch:
        await anext(watch)
        await rest.aclose()

        with pytest.raises(ClientClosed):
            await anext(watch)


@pytest.mark.parametrize(
    "bad",
    [
        b'{"type":"ADDED","object":{"metadata":{}}}\n',
        b'{"type":"ADDED","object":{}}\n',
        b'{"type":"ADDED","object":{"metadata":{"resourceVersion":7}}}\n',
        b'{"type":"SURPRISE","object":{"metadata":{"resourceVersion":"7"}}}\n',
        b"rubbish\n",
    ],
)
async def test_an_event_it_cannot_resume_from_ends_it(
    bad: bytes, server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-2: no version, an unknown type."""
    server.respond(chunked(bad, end="hang"))
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        with pytest.raises(InternalError):
            await anext(watch)
        with pytest.raises(StopAsyncIteration):
            await anext(watch)

    assert len(server.received) == 1


async def test_cancelling_ends_the_stream_and_the_next_call_resumes(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """WTC-5, X-7: unread events block nothing."""
    server.respond(
        chunked(event("ADDED", "6"), end="hang"), chunked(event("ADDED", "7"), end="hang")
    )
    async with client_for(server, clock=hurried) as rest, resuming(rest) as watch:
        await take(watch, 1)
        waiting = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await server.until(lambda seen: seen.closed == 1)
        assert await take(watch, 1) == ["ADDED"]

    assert versions(server) == ["5", "6"]


async def test_it_can_be_stopped_again_and_again(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """WTC-5: the result channel is closed when it stops."""
    server.respond(hang)
    async with client_for(server) as rest:
        watch = resuming(rest, clock=clock, backoff=STILL)
        watch.close()
        await watch.aclose()

        with pytest.raises(StopAsyncIteration):
            await anext(watch)
    assert server.received == []
