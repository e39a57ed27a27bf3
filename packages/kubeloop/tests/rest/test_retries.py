"""Retries against a server that injects failures."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kubeloop.errors import (
    ApiError,
    InternalError,
    ServiceUnavailable,
    StreamBroken,
    TimeoutExceeded,
    TooManyRequests,
)
from kubeloop.kit import ManualClock
from kubeloop.rest import RESTClient, Timeouts, path_request, resource_request
from kubeloop.rest.failures import connect_failure
from kubeloop.rest.watch import WatchEnd
from tests.support.clocks import InstantClock
from tests.support.scripted_server import (
    PODS,
    Reply,
    ScriptedServer,
    chunked,
    client_for,
    cut,
    eventually,
    reply,
    reset,
)

WATCH = resource_request("watch", PODS, params={"watch": True})
BUSY = reply(503, headers={"Retry-After": "0"})


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_503_with_retry_after_0_is_repeated_after_a_second_for_every_verb(
    method: str, server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-35, REST-36, REST-C6: the whole body is sent again."""
    server.respond(BUSY, reply(429, headers={"Retry-After": "0"}), reply(200, b'{"a":1}'))
    body = None if method == "GET" else b"content"
    async with client_for(server, clock=hurried) as rest:
        answer = await rest.send(path_request(method, "/x", body=body))

    assert answer.status == 200
    assert [received.body for received in server.received] == [body or b""] * 3
    assert all(1.0 <= slept < 2.0 for slept in hurried.slept)
    assert len(set(hurried.slept)) == 2  # with jitter


@pytest.mark.parametrize(
    "ask",
    [
        lambda rest: rest.send(WATCH),
        lambda rest: rest.watch(WATCH).open(),
        lambda rest: rest.stream(WATCH).open(),
    ],
    ids=["send", "watch", "stream"],
)
async def test_a_server_that_always_says_retry_after_0_is_asked_eleven_times_over_ten_seconds(
    ask: Callable[[RESTClient], Awaitable[object]], server: ScriptedServer, hurried: InstantClock
) -> None:
    server.respond(BUSY)
    async with client_for(server, clock=hurried) as rest:
        with pytest.raises(ServiceUnavailable):
            await ask(rest)

    assert len(server.received) == 11
    assert sum(hurried.slept) >= 10.0


async def test_a_retry_after_of_years_does_not_put_a_watch_to_sleep(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    server.respond(reply(429, headers={"Retry-After": "999999999"}))
    async with client_for(server, clock=hurried) as rest:
        with pytest.raises(TooManyRequests) as caught:
            await rest.watch(WATCH).open()

    assert (len(server.received), hurried.slept) == (1, [])
    assert caught.value.retry_after == 999999999


@pytest.mark.parametrize("kind", ["send", "watch", "stream"])
async def test_503_with_retry_after_is_repeated_for_every_kind_of_call(
    kind: str, server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-C6: 429 without Retry-After is not retried."""
    server.respond(BUSY, chunked(b"{}"))
    async with client_for(server, clock=hurried) as rest:
        if kind == "send":
            await rest.send(WATCH)
        elif kind == "stream":
            await rest.stream(WATCH).read()
        else:
            async with rest.watch(WATCH) as watch:
                assert watch.ended is None

    assert len(server.received) == 2


async def test_the_server_s_delay_is_kept_to_the_second(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-35: delay before a retry = max(Retry-After, URL backoff delay)."""
    server.respond(reply(429, headers={"Retry-After": "5"}), reply())
    async with client_for(server, clock=hurried) as rest:
        await rest.send(path_request("GET", "/x"))

        assert rest.stats().retries == 1
    assert hurried.slept == [5.0]


@pytest.mark.parametrize(("base", "slept"), [(2, [5.0]), (8, [8.0])])
async def test_the_longer_of_two_delays_counts(
    base: int, slept: list[float], server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-35, REST-40, REST-C16: delay before a retry = max(Retry-After, URL backoff delay)."""
    server.respond(reply(429, headers={"Retry-After": "5"}), reply())
    environ = {"KUBE_CLIENT_BACKOFF_BASE": str(base), "KUBE_CLIENT_BACKOFF_DURATION": "60"}
    config = client_for(server).config
    async with RESTClient(config, clock=hurried, environ=environ) as rest:
        await rest.send(path_request("GET", "/x"))

    assert hurried.slept == slept


@pytest.mark.parametrize(
    "step",
    [reply(429), reply(503), reply(429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})],
)
async def test_without_seconds_there_is_no_retry(step: Reply, server: ScriptedServer) -> None:
    """REST-31, REST-C6: an attempt is retried only if."""
    server.respond(step)
    async with client_for(server) as rest:
        with pytest.raises((TooManyRequests, ServiceUnavailable)):
            await rest.send(path_request("GET", "/x"))

    assert len(server.received) == 1


@pytest.mark.parametrize(("retries", "attempts"), [(2, 3), (0, 1), (-5, 1)])
async def test_attempts_are_one_more_than_retries(
    retries: int, attempts: int, server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-24, REST-37, REST-C8: then the last response is the error."""
    server.respond(reply(500, headers={"Retry-After": "1"}))
    async with client_for(server, clock=hurried) as rest:
        with pytest.raises(InternalError) as caught:
            await rest.send(path_request("GET", "/x", max_retries=retries))

    assert caught.value.code == 500
    assert len(server.received) == attempts
    assert hurried.slept == [1.0] * (attempts - 1)


@pytest.mark.parametrize("step", [cut, reset])
@pytest.mark.parametrize(
    ("method", "attempts"), [("GET", 11), ("POST", 1), ("PUT", 1), ("PATCH", 1), ("DELETE", 1)]
)
async def test_only_reading_is_repeated_after_a_broken_connection(
    method: str, attempts: int, step: Reply, server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-32, REST-33, REST-34, REST-C7: and the HTTP library repeats nothing itself."""
    server.respond(step)
    async with client_for(server, clock=hurried) as rest:
        with pytest.raises(StreamBroken):
            await rest.send(path_request(method, "/x"))

    assert len(server.received) == attempts
    assert hurried.slept == [1.0] * (attempts - 1)


async def test_a_connection_that_broke_while_it_was_kept_is_not_repeated_for_a_write(
    server: ScriptedServer,
) -> None:
    """REST-32: the connection has been used before, which is where libraries repeat silently."""
    server.respond(reply(), cut)
    async with client_for(server) as rest:
        await rest.send(path_request("DELETE", "/x"))
        with pytest.raises(StreamBroken):
            await rest.send(path_request("DELETE", "/x"))

    assert (len(server.received), server.connections) == (2, 1)


async def test_opening_a_stream_is_never_repeated_after_a_failure(server: ScriptedServer) -> None:
    """REST-32, REST-C7: retryable transport errors: Do/DoRaw: only for GET."""
    server.respond(cut)
    async with client_for(server) as rest:
        with pytest.raises(StreamBroken):
            await rest.stream(WATCH).read()

    assert len(server.received) == 1


async def test_a_watch_that_cannot_be_opened_is_empty_and_no_error(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-72, REST-C9: two retries, three attempts."""
    server.respond(cut)
    async with client_for(server, clock=hurried, max_retries=2) as rest, rest.watch(WATCH) as watch:
        assert [event async for event in watch] == []

    assert watch.ended is WatchEnd.BROKEN
    assert (len(server.received), hurried.slept) == (3, [1.0, 1.0])


async def test_a_final_error_mentions_a_different_earlier_one(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-38: the message only; the error is the last one."""
    server.respond(cut, reply(404))
    async with client_for(server, clock=hurried) as rest:
        with pytest.raises(ApiError) as caught:
            await rest.send(path_request("GET", "/x"))

    assert caught.value.code == 404
    assert "before that: GET /x" in str(caught.value)
    assert caught.value.__cause__ is None


async def test_an_identical_earlier_error_is_not_repeated_in_the_message(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-38: if a final error follows an earlier attempt's different error."""
    server.respond(cut)
    async with client_for(server, clock=hurried, max_retries=1) as rest:
        with pytest.raises(StreamBroken) as caught:
            await rest.send(path_request("GET", "/x"))

    assert "before that" not in str(caught.value)


@pytest.mark.parametrize("length", [10, 2048])
async def test_a_short_body_is_read_so_that_its_connection_is_kept(
    length: int, server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-39: before reconnecting, up to 2 KiB of the discarded body is drained."""
    server.respond(reply(503, b"x" * length, headers={"Retry-After": "1"}), reply())
    async with client_for(server, clock=hurried) as rest:
        await rest.send(path_request("GET", "/x"))

    assert server.connections == 1


async def test_a_long_body_that_is_not_needed_is_not_read(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-39: before reconnecting, up to 2 KiB of the discarded body is drained."""

    async def endless(_: Any, line: Any) -> None:
        await line.send(
            b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 1000000\r\n\r\nonly this"
        )
        await line.hang()

    server.respond(endless, reply())
    async with client_for(server, clock=hurried) as rest:
        await rest.send(path_request("GET", "/x"))

    assert server.connections == 2


async def test_the_timeout_bounds_all_attempts_together(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-41, V-9: it is sent to the server, and an attempt that would be too late is not made."""
    server.respond(reply(429, headers={"Retry-After": "4"}))
    async with client_for(server, clock=hurried, config={"timeout": 10}) as rest:
        with pytest.raises(TooManyRequests):
            await rest.send(path_request("GET", "/x"))

    assert [received.target for received in server.received] == ["/x?timeout=10s"] * 3
    assert hurried.slept == [4.0, 4.0]


async def test_a_request_that_is_cancelled_before_it_starts_makes_no_call(
    server: ScriptedServer,
) -> None:
    """REST-C15: a cancelled context before the first attempt."""
    server.respond(reply())
    async with client_for(server) as rest:
        task = asyncio.create_task(rest.send(path_request("GET", "/x")))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert server.received == []


async def test_the_wait_before_a_retry_can_be_cancelled(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """REST-35, X-7: delay before a retry = max(Retry-After, URL backoff delay)."""
    server.respond(reply(429, headers={"Retry-After": "60"}))
    async with client_for(server, clock=clock) as rest:
        task = asyncio.create_task(rest.send(path_request("GET", "/x")))
        await server.until(lambda seen: len(seen.received) == 1)
        await eventually(lambda: clock.sleepers > 0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert len(server.received) == 1


async def test_a_3xx_with_retry_after_is_no_retry(server: ScriptedServer) -> None:
    """REST-31: an attempt is retried only if."""
    server.respond(reply(300, b"", headers={"Retry-After": "1"}))
    async with client_for(server) as rest:
        with pytest.raises(ApiError):
            await rest.send(path_request("GET", "/x"))

    assert len(server.received) == 1


def test_a_dns_timeout_is_repeated_for_a_watch_only() -> None:
    """REST-C7: `delay_after_failure` decides; a connection that times out is a timeout."""
    error = connect_failure(TimeoutError(), action="GET x", server="h", timeouts=Timeouts())

    assert isinstance(error, TimeoutExceeded)
    assert re.search(r"no connection within 30\.0 s", str(error))
