"""The rate limit and the limit of requests in flight."""

from __future__ import annotations

import asyncio
import logging

import pytest

from kubeloop.errors import InFlightTimeout, TimeoutExceeded, TooManyRequests
from kubeloop.kit import ManualClock, TokenBucket
from kubeloop.rest import (
    DEFAULT_BURST,
    DEFAULT_QPS,
    Timeouts,
    limiter_of,
    path_request,
    resource_request,
)
from kubeloop.rest.limits import RequestRateLimiter
from tests.support.clocks import InstantClock
from tests.support.scripted_server import (
    PODS,
    ScriptedServer,
    chunked,
    client_for,
    eventually,
    hang,
    reply,
)


def test_the_numbers_of_the_bucket_are_client_go_s(clock: ManualClock) -> None:
    """REST-6, REST-7, REST-C19: rate limiter: use `Config.RateLimiter` if set."""
    assert (DEFAULT_QPS, DEFAULT_BURST) == (5.0, 10)
    for qps in (0.0, 10.0):
        limiter = limiter_of(qps, clock=clock)
        assert limiter is not None
        assert limiter.stats().tokens == 10
    assert limiter_of(-1, clock=clock) is None


async def test_without_a_limiter_nothing_waits(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-6: off by default."""
    server.respond(reply())
    async with client_for(server, clock=hurried) as rest:
        for _ in range(20):
            await rest.send(path_request("GET", "/x"))

    assert hurried.slept == []


async def test_requests_wait_for_their_token_and_a_watch_does_not(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-26, REST-27: token bucket: starts full with `burst` tokens."""
    server.respond(chunked())
    limiter = TokenBucket(1, 1, clock=hurried)
    async with client_for(server, clock=hurried, limiter=limiter) as rest:
        assert rest.limiter is limiter
        for _ in range(2):
            async with rest.watch(resource_request("watch", PODS)):
                pass
        assert limiter.stats().taken == 0
        await rest.send(path_request("GET", "/x"))
        await rest.send(path_request("GET", "/x"))
        await rest.stream(path_request("GET", "/x")).read()

    assert hurried.slept == [1.0, 1.0]


async def test_every_retry_waits_for_a_token_too(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-27: the retries of a watch as well."""
    server.respond(reply(429, headers={"Retry-After": "0"}), chunked())
    limiter = TokenBucket(1, 1, clock=hurried)
    async with (
        client_for(server, clock=hurried, limiter=limiter) as rest,
        rest.watch(resource_request("watch", PODS)),
    ):
        pass

    assert limiter.stats().taken == 1


async def test_a_token_that_would_come_too_late_fails_at_once(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """REST-26, REST-28: the message names the client's own limiter."""
    server.respond(reply(429, headers={"Retry-After": "0"}))
    limiter = TokenBucket(0.01, 1, clock=hurried)
    async with client_for(server, clock=hurried, limiter=limiter) as rest:
        with pytest.raises(TimeoutExceeded, match="the client's rate limiter"):
            await rest.send(path_request("GET", "/x", timeout=5))

    assert len(server.received) == 1


async def test_a_wait_that_is_cancelled_sends_nothing(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """REST-C15, REST-28: the cancellation is raised unchanged."""
    server.respond(reply())
    limiter = TokenBucket(1, 1, clock=clock)
    limiter.reserve()
    async with client_for(server, clock=clock, limiter=limiter) as rest:
        waiting = asyncio.create_task(rest.send(path_request("GET", "/x")))
        await clock.settle()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert server.received == []


async def test_long_waits_are_logged_and_not_too_often(
    hurried: InstantClock, caplog: pytest.LogCaptureFixture
) -> None:
    """REST-29: above 50 ms for debugging, above 1 s as info, once in ten seconds."""
    rate_limiter = RequestRateLimiter(TokenBucket(0.5, 1, clock=hurried), clock=hurried)
    quick = RequestRateLimiter(TokenBucket(10, 1, clock=hurried), clock=hurried)

    with caplog.at_level(logging.DEBUG, logger="kubeloop.rest"):
        for _ in range(3):
            await rate_limiter.wait("GET pods", deadline=None)
        for _ in range(2):
            await quick.wait("GET nodes", deadline=None)

    assert [record.levelname for record in caplog.records] == ["INFO", "DEBUG", "DEBUG"]
    assert caplog.messages[0] == "GET pods: waited 2 s for the client's rate limiter"


async def test_no_more_requests_are_in_flight_than_allowed(server: ScriptedServer) -> None:
    server.respond(reply())
    async with client_for(server, in_flight=3) as rest:
        await asyncio.gather(*(rest.send(path_request("GET", "/x")) for _ in range(20)))

        assert server.connections <= 3
        assert (rest.stats().in_flight, rest.stats().requests) == (0, 20)


async def test_calls_that_back_off_do_not_block_others(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """TYP-18: evictions that a disruption budget blocks are retried later."""
    later = reply(429, headers={"Retry-After": "10"})
    server.respond(later, later, reply())
    evict = path_request("POST", "/evict", body=b"{}")
    async with client_for(server, clock=clock, in_flight=2) as rest:
        async with asyncio.TaskGroup() as calls:
            for _ in range(2):
                calls.create_task(rest.send(evict))
            await eventually(lambda: rest.stats().retries == 2)

            await rest.send(path_request("GET", "/x"))

            assert [received.method for received in server.received] == ["POST", "POST", "GET"]
            await clock.advance(10)

        assert (rest.stats().requests, rest.stats().in_flight) == (5, 0)


async def test_a_call_that_is_cancelled_while_it_waits_for_a_retry_leaves_its_place(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(reply(429, headers={"Retry-After": "10"}), reply())
    async with client_for(server, clock=clock, in_flight=1) as rest:
        call = asyncio.create_task(rest.send(path_request("GET", "/x")))
        await eventually(lambda: rest.stats().retries == 1)
        call.cancel()
        await asyncio.wait([call])

        await rest.send(path_request("GET", "/x"))

        assert (rest.stats().requests, rest.stats().in_flight) == (2, 0)


async def test_a_storm_of_429_ends_after_eleven_attempts(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    """V-10: POST with `Retry-After: 0`."""
    server.respond(reply(429, headers={"Retry-After": "0"}))
    async with client_for(server, clock=hurried) as rest:
        with pytest.raises(TooManyRequests):
            await rest.send(path_request("POST", "/x", body=b"{}"))

    assert [received.method for received in server.received] == ["POST"] * 11
    assert server.connections == 1


GET = path_request("GET", "/x")


async def test_a_call_that_finds_no_in_flight_slot_in_time_fails_and_says_so(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(hang)
    unbounded = GET.replace(timeouts=Timeouts(response=None, total=None))
    async with client_for(server, clock=clock, in_flight=2) as rest:
        held = [asyncio.ensure_future(rest.send(unbounded)) for _ in range(2)]
        await server.until(lambda it: len(it.received) == 2)
        waiting = [asyncio.ensure_future(rest.send(GET)) for _ in range(3)]
        await clock.settle()
        await clock.advance(119.0)
        assert rest.stats().waiting == 3
        await clock.advance(1.5)
        results = await asyncio.gather(*waiting, return_exceptions=True)
        for each in held:
            each.cancel()

    assert [type(each) for each in results] == [InFlightTimeout] * 3
    assert isinstance(results[0], TimeoutError)
    assert "GET /x: not sent: no in-flight slot" in str(results[0])
    assert "within 120 s, 2 calls are in flight" in str(results[0])
    assert "in_flight=" in str(results[0])
    assert len(server.received) == 2


async def test_the_timeout_of_a_call_includes_the_wait_for_a_slot(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(hang)
    async with client_for(server, clock=clock, in_flight=1) as rest:
        held = asyncio.ensure_future(rest.send(GET))
        await server.until(lambda it: len(it.received) == 1)
        waiting = asyncio.ensure_future(rest.send(path_request("GET", "/y", timeout=5)))
        await clock.settle()
        await clock.advance(5.5)
        with pytest.raises(InFlightTimeout, match="within 5 s"):
            await waiting
        held.cancel()


async def test_a_slot_that_was_waited_for_in_vain_is_not_lost(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(hang, reply())
    async with client_for(server, clock=clock, in_flight=1) as rest:
        held = asyncio.ensure_future(rest.send(GET))
        await server.until(lambda it: len(it.received) == 1)
        waiting = asyncio.ensure_future(
            rest.send(GET.replace(timeouts=Timeouts(slot=1.0, response=None)))
        )
        await clock.settle()
        await clock.advance(1.5)
        with pytest.raises(InFlightTimeout):
            await waiting
        held.cancel()

        assert (await rest.send(GET)).status == 200
        assert (rest.stats().in_flight, rest.stats().waiting) == (0, 0)


async def test_watches_and_streams_need_no_in_flight_slot(server: ScriptedServer) -> None:
    server.respond(hang, chunked())
    async with client_for(server, in_flight=1) as rest:
        held = asyncio.ensure_future(rest.send(GET))
        await server.until(lambda it: len(it.received) == 1)
        async with rest.watch(resource_request("watch", PODS)):
            pass
        assert await rest.stream(GET).read() == b""
        held.cancel()
