"""Watches that receive nothing: the server is probed, and only a dead one ends them (TRN-10)."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import prometheus_client
import pytest

from kubeloop.config import ClusterConfig, Identity
from kubeloop.errors import ConnectError, StreamBroken, TimeoutExceeded, TransportError
from kubeloop.kit import ManualClock, TokenBucket
from kubeloop.rest import (
    PrometheusMetrics,
    RESTClient,
    ResumingWatch,
    Timeouts,
    Watch,
    WatchEnd,
    path_request,
    resource_request,
)
from kubeloop.rest.dial import ProxyRefused, ProxyUnreachable
from kubeloop.rest.failures import connect_failure, is_unreachable
from kubeloop.rest.liveness import PROBE_WITHIN, SilenceLimits, Wait
from tests.support.certificates import Authority
from tests.support.relay import relay_process
from tests.support.scripted_server import (
    PODS,
    ReceivedRequest,
    Reply,
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

from .test_watch import WATCH, event

# --- the decision


def test_a_stream_is_probed_after_30_seconds_of_silence_and_ended_after_150() -> None:
    limits = SilenceLimits(Timeouts().probe_after, Timeouts().idle)

    assert limits.first_wait() == Wait(30, is_last=False)
    assert limits.next_wait(30, since=0, probed=30) == Wait(30, is_last=False)
    assert limits.next_wait(120, since=0, probed=120) == Wait(30, is_last=True)


def test_without_probes_only_the_idle_timeout_counts() -> None:
    assert SilenceLimits(None, 150).first_wait() == Wait(150, is_last=True)
    assert SilenceLimits(None, None).first_wait() == Wait(None, is_last=True)
    assert SilenceLimits(30, None).next_wait(1000, since=0, probed=1000) == Wait(30, is_last=False)
    assert SilenceLimits(30, 10).first_wait() == Wait(10, is_last=True)


def test_a_silent_stream_relies_on_a_probe_that_another_one_needed() -> None:
    limits = SilenceLimits(30, 150)

    assert limits.needs_probe(30, probed=None)
    assert not limits.needs_probe(30, probed=1)
    assert limits.needs_probe(31, probed=1)


@pytest.mark.parametrize("probed", [1, 15, 29.999])
def test_a_dead_server_is_detected_45_seconds_after_its_last_response_whatever_is_shared(
    probed: float,
) -> None:
    limits = SilenceLimits(30, 150)
    wait = limits.next_wait(30, since=0, probed=probed)
    assert wait.seconds is not None
    next_probe = 30 + wait.seconds

    assert limits.needs_probe(next_probe, probed=probed)
    assert next_probe + PROBE_WITHIN - probed == pytest.approx(45)


@pytest.mark.parametrize("seconds", [0.5, 5])
def test_a_short_interval_never_makes_a_wait_of_nothing(seconds: float) -> None:
    limits = SilenceLimits(seconds, None)
    for age in (0.0, seconds / 2, seconds * 0.98):
        assert not limits.needs_probe(100, probed=100 - age)
        wait = limits.next_wait(100, since=0, probed=100 - age)
        assert wait.seconds is not None
        assert wait.seconds > 0


def _untrusted() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "self-signed")
    error.verify_code = 18
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionRefusedError(111, "refused"), True),
        (ProxyUnreachable(111, "refused"), True),
        (TimeoutError(), True),
        (socket.gaierror(-2, "unknown"), False),
        (ssl.SSLError(1, "handshake"), False),
        (_untrusted(), False),
        (ProxyRefused(403, "no"), False),
    ],
)
def test_only_the_lack_of_a_response_shows_that_a_server_is_gone(
    error: Exception, expected: bool
) -> None:
    failure = connect_failure(error, action="GET x", server="h", timeouts=Timeouts())
    failure.__cause__ = error

    assert is_unreachable(failure) is expected


# --- servers that are gone


async def after_the_first(watch: Watch) -> asyncio.Task[Any]:
    """A task that waits for the second event of a watch."""
    assert (await anext(watch)).type == "ADDED"
    waiting = asyncio.create_task(anext(watch))
    await asyncio.sleep(0)
    return waiting


async def test_a_watch_through_a_proxy_that_stands_still_ends_45_seconds_after_its_last_byte(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """A stopped process: its kernel accepts connections and acknowledges all packets."""
    server.respond(chunked(event("ADDED"), end="hang"))
    with relay_process(server.port) as (url, process):
        rest = RESTClient(ClusterConfig(server=url), environ={}, clock=clock)
        async with rest, rest.watch(WATCH) as watch:
            waiting = await after_the_first(watch)
            os.kill(process, signal.SIGSTOP)
            await clock.advance(44.9)
            assert not waiting.done()
            assert rest.stats().probes == 1

            await clock.advance(0.1)
            with pytest.raises(StopAsyncIteration):
                await waiting

    assert watch.ended is WatchEnd.SILENT
    assert isinstance(watch.failure, TimeoutExceeded)
    assert str(watch.failure).startswith(
        "WATCH pods: no event for 45 s, and the server did not respond to a probe within 15 s"
    )
    assert [each.target for each in server.received if "livez" in each.target] == []


@asynccontextmanager
async def refusing_later() -> AsyncIterator[tuple[str, asyncio.Server]]:
    """A server with one watch, whose listener can be closed while the watch stays open."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await chunked(event("ADDED"), end="hang")(
            ReceivedRequest("", "", [], b""), ServerConnection(reader, writer)
        )
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", listener
    finally:
        listener.close()
        await listener.wait_closed()


async def test_a_watch_ends_after_30_seconds_when_the_server_rejectsconnections(
    clock: ManualClock,
) -> None:
    async with refusing_later() as (url, listener):
        rest = RESTClient(ClusterConfig(server=url), environ={}, clock=clock)
        async with rest, rest.watch(WATCH) as watch:
            waiting = await after_the_first(watch)
            listener.close()
            await clock.advance(29.9)
            assert not waiting.done()
            await clock.advance(0.1)
            with pytest.raises(StopAsyncIteration):
                await waiting

    assert watch.ended is WatchEnd.SILENT
    assert isinstance(watch.failure, ConnectError)
    assert "no event for 30 s, and a probe of the server failed: GET /livez" in str(watch.failure)
    assert "Connection refused" in str(watch.failure)


def watched(probe: Reply, stream: Reply | None = None) -> Reply:
    """A server with one watch; `probe` responds to the requests beside it."""
    stream = stream or chunked(event("ADDED"), end="hang")

    async def answer(received: ReceivedRequest, connection: ServerConnection) -> None:
        await (probe if received.target == "/livez" else stream)(received, connection)

    return answer


def probes_of(server: ScriptedServer) -> int:
    return sum(received.target == "/livez" for received in server.received)


async def test_a_resuming_watch_goes_on_elsewhere_and_knows_why(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(watched(hang))
    async with client_for(server, clock=clock) as rest:
        watch = ResumingWatch(lambda _: rest.watch(WATCH), "1", clock=clock, random=lambda: 0.0)
        assert (await anext(watch)).type == "ADDED"
        waiting = asyncio.ensure_future(anext(watch))
        await clock.advance(45)
        await eventually(lambda: watch.stats().last_error != "")
        await clock.advance(1)

        assert (await waiting).type == "ADDED"
        assert "the server did not respond to a probe" in watch.stats().last_error
        assert watch.stats().streams == 2
        watch.close()


async def test_all_silent_watches_share_one_probe_and_its_result(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(watched(hang))
    async with client_for(server, clock=clock) as rest:
        watches = [rest.watch(WATCH) for _ in range(10)]
        waiting = [await after_the_first(watch) for watch in watches]
        await clock.advance(45)
        ends = await asyncio.gather(*waiting, return_exceptions=True)

        assert rest.stats().probes == 1
    assert {type(end) for end in ends} == {StopAsyncIteration}
    assert {watch.ended for watch in watches} == {WatchEnd.SILENT}
    assert all(isinstance(watch.failure, TimeoutExceeded) for watch in watches)


async def test_a_proxy_that_ends_every_new_connection_has_lost_its_server(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(watched(cut))
    async with client_for(server, clock=clock) as rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        await clock.advance(30)
        with pytest.raises(StopAsyncIteration):
            await waiting

    assert isinstance(watch.failure, StreamBroken)
    assert probes_of(server) == 2


async def test_a_watch_that_becomes_silent_later_relies_on_the_probe_before(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(watched(reply(200, b"ok")))
    async with client_for(server, clock=clock) as rest:
        waiting = [await after_the_first(rest.watch(WATCH))]
        await clock.advance(14)
        waiting.append(await after_the_first(rest.watch(WATCH)))
        await clock.advance(16)
        await eventually(lambda: probes_of(server) == 1)
        await clock.advance(29)  # 44 s: the second has been silent for 30 s

        assert probes_of(server) == 1
        await clock.advance(1)  # both check again 30 s after the probe
        await eventually(lambda: probes_of(server) == 2)
        assert rest.stats().probes == 2
        for each in waiting:
            assert not each.done()
            each.cancel()
        await asyncio.wait(waiting)


# --- servers that are alive


@pytest.mark.parametrize("code", [200, 302, 401, 403, 404, 429, 500, 503])
async def test_a_quiet_watch_lasts_while_the_server_responds_to_probes_whatever_it_says(
    code: int, server: ScriptedServer, clock: ManualClock
) -> None:
    """No bookmarks, no events: the idle timeout of 150 s is all that ends it."""
    more = asyncio.Event()

    async def stream(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        await connection.send(event("ADDED"))
        await more.wait()
        await connection.send(event("MODIFIED"))
        await connection.hang()

    headers = {"Location": "/livez", "Retry-After": "1", "Warning": '299 - "a probe"'}
    server.respond(watched(reply(code, b"no", headers=headers), stream))
    warnings: list[Any] = []
    rest = client_for(server, clock=clock, warnings=warnings.append)
    async with rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        for seen in (1, 2, 3, 4):
            await clock.advance(30)
            await eventually(lambda seen=seen: probes_of(server) == seen)  # type: ignore[misc]
        await clock.advance(29)
        assert not waiting.done()
        more.set()
        assert (await waiting).type == "MODIFIED"
        assert rest.stats().probes == 4

    assert not warnings
    assert {received.method for received in server.received} == {"GET"}


async def test_a_stream_that_receives_something_is_not_probed(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """Bookmarks delay the probe, as events do."""
    lines: list[ServerConnection] = []

    async def stream(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        await connection.send(event("ADDED"))
        lines.append(connection)
        await connection.hang()

    server.respond(watched(reply(200, b"ok"), stream))
    async with client_for(server, clock=clock) as rest, rest.watch(WATCH) as watch:
        await anext(watch)
        for _ in range(10):
            waiting = asyncio.ensure_future(anext(watch))
            await clock.advance(29)
            await lines[0].send(event("BOOKMARK"))
            assert (await waiting).type == "BOOKMARK"

        assert rest.stats().probes == 0


async def test_an_event_during_a_probe_ends_the_probe_and_keeps_the_watch(
    server: ScriptedServer, clock: ManualClock
) -> None:
    lines: list[ServerConnection] = []

    async def stream(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        await connection.send(event("ADDED"))
        lines.append(connection)
        await connection.hang()

    server.respond(watched(hang, stream))
    async with client_for(server, clock=clock) as rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        await clock.advance(30)
        await server.until(lambda seen: len(seen.received) == 2)
        await lines[0].send(event("MODIFIED"))
        assert (await waiting).type == "MODIFIED"
        await server.until(lambda seen: seen.closed == 1)  # the probe's connection
        waiting = asyncio.create_task(anext(watch))
        await clock.advance(29)

        assert not waiting.done()
        assert watch.ended is None
        assert rest.stats().probes == 1
        waiting.cancel()
        await asyncio.wait([waiting])


async def test_a_kept_connection_that_ends_under_a_probe_is_no_sign_of_death(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """The server may close idle connections at any time."""
    answers = [cut, reply(200, b"ok")]

    async def probe(received: ReceivedRequest, connection: ServerConnection) -> None:
        await answers.pop(0)(received, connection)

    server.respond(watched(probe))
    async with client_for(server, clock=clock) as rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        await clock.advance(30)
        await eventually(lambda: not answers)
        await clock.advance(20)

        assert not waiting.done()
        assert rest.stats().probes == 1
        waiting.cancel()
        await asyncio.wait([waiting])


async def test_a_certificate_that_is_not_trusted_any_more_keeps_a_quiet_watch(
    authority: Authority,
    clock: ManualClock,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """New connections fail and the old one works: ending it would cause an outage."""
    caplog.set_level(logging.DEBUG, "kubeloop.rest.liveness")
    context = authority.server_context(tmp_path)
    async with serving(tls=context) as server:
        server.respond(watched(reply(200, b"ok")))
        config = ClusterConfig(server=server.url, ca=authority.pem, anonymous=True)
        rest = RESTClient(config, environ={}, clock=clock)
        async with rest, rest.watch(WATCH) as watch:
            waiting = await after_the_first(watch)
            other = Authority("another CA").issue("localhost")
            (tmp_path / "other.pem").write_bytes(other.certificate + other.key)
            context.load_cert_chain(tmp_path / "other.pem")
            await clock.advance(30)
            await eventually(lambda: any("not trusted" in each for each in caplog.messages))
            await clock.advance(20)

            assert not waiting.done()
            assert rest.stats().probes == 1
            waiting.cancel()
            await asyncio.wait([waiting])


# --- what a probe is not


class Strict:
    """Credentials that count their calls."""

    def __init__(self) -> None:
        self.received = 0
        self.refusals = 0

    async def identity(self) -> Identity:
        self.received += 1
        return Identity(authorization="Bearer t")

    async def refresh(self, identity: Identity) -> None:
        self.refusals += 1


async def test_a_probe_neither_runs_plugins_nor_refreshes_credentials(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """It sends the token of the last request; a 401 shows that the server is alive."""
    server.respond(watched(reply(401, b"expired")))
    credentials = Strict()
    rest = client_for(server, clock=clock, credentials=credentials)
    async with rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        await clock.advance(30)
        await eventually(lambda: probes_of(server) == 1)
        await clock.advance(20)

        assert not waiting.done()
        assert (credentials.received, credentials.refusals) == (1, 0)
        assert server.received[1].header("Authorization") == "Bearer t"
        waiting.cancel()
        await asyncio.wait([waiting])


async def test_a_probe_needs_no_slot_and_no_token_of_the_limiter_and_is_not_counted(
    server: ScriptedServer, clock: ManualClock
) -> None:
    async def slow(received: ReceivedRequest, connection: ServerConnection) -> None:
        step = hang if received.target == "/slow" else chunked(event("ADDED"), end="hang")
        await step(received, connection)

    server.respond(watched(reply(200, b"ok"), slow))
    registry = prometheus_client.CollectorRegistry()
    rest = client_for(
        server,
        clock=clock,
        in_flight=1,
        limiter=TokenBucket(0.001, 1, clock=clock),
        metrics=PrometheusMetrics(registry),
    )
    async with rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        busy = asyncio.create_task(rest.send(path_request("GET", "/slow")))
        await server.until(lambda seen: len(seen.received) == 2)
        await clock.advance(30)
        await eventually(lambda: probes_of(server) == 1)
        await clock.advance(20)

        assert not waiting.done()
        assert rest.stats().requests == 2
        host = {"code": "200", "method": "GET", "host": f"127.0.0.1:{server.port}"}
        assert registry.get_sample_value("rest_client_requests_total", host) == 1  # the watch
        for task in (busy, waiting):
            task.cancel()
        await asyncio.wait([busy, waiting])


async def test_logs_and_other_streams_are_not_probed(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(chunked(b"line\n", end="hang"))
    async with client_for(server, clock=clock) as rest:
        follow = path_request("GET", "/log", timeouts=Timeouts(idle=None))
        async with rest.stream(follow) as stream:
            assert await anext(stream) == b"line\n"
            waiting = asyncio.ensure_future(anext(stream))
            await clock.advance(100_000)

            assert not waiting.done()
            assert rest.stats().probes == 0
            assert len(server.received) == 1
            waiting.cancel()
            await asyncio.wait([waiting])


async def test_probes_can_be_switched_off(server: ScriptedServer, clock: ManualClock) -> None:
    server.respond(watched(hang))
    rest = client_for(server, clock=clock, timeouts=Timeouts(probe_after=None))
    async with rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        await clock.advance(149)
        assert not waiting.done()
        await clock.advance(1)
        with pytest.raises(StopAsyncIteration):
            await waiting

    assert watch.failure is None
    assert len(server.received) == 1


# --- ends


async def test_cancelling_a_watch_ends_its_probe(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(watched(hang))
    before = asyncio.all_tasks()
    async with client_for(server, clock=clock) as rest, rest.watch(WATCH) as watch:
        waiting = await after_the_first(watch)
        await clock.advance(30)
        await server.until(lambda seen: len(seen.received) == 2)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await server.until(lambda seen: seen.closed == 2)

        await eventually(lambda: not _probe_tasks() - before)
    assert watch.ended is WatchEnd.STOPPED
    assert watch.failure is None


def _probe_tasks() -> set[asyncio.Task[Any]]:
    return {task for task in asyncio.all_tasks() if "probe" in task.get_name()}


async def test_a_watch_that_leaves_a_shared_probe_leaves_it_to_the_others(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(watched(hang))
    async with client_for(server, clock=clock) as rest:
        watches = [rest.watch(WATCH) for _ in range(2)]
        first, second = [await after_the_first(watch) for watch in watches]
        await clock.advance(30)
        await server.until(lambda seen: probes_of(seen) == 1)
        first.cancel()
        await asyncio.wait([first])
        await clock.advance(15)
        with pytest.raises(StopAsyncIteration):
            await second

        assert rest.stats().probes == 1
    assert [watch.ended for watch in watches] == [WatchEnd.STOPPED, WatchEnd.SILENT]


async def test_closing_the_client_during_a_probe_ends_the_watch_and_leaves_no_task(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(watched(hang))
    rest = client_for(server, clock=clock)
    watch = rest.watch(WATCH)
    waiting = await after_the_first(watch)
    await clock.advance(30)
    await server.until(lambda seen: len(seen.received) == 2)

    await rest.aclose()

    assert not _probe_tasks()
    with pytest.raises(StopAsyncIteration):
        await waiting
    assert watch.ended is WatchEnd.BROKEN
    await server.until(lambda seen: seen.closed == 2)


# --- opening


async def test_a_watch_that_is_never_accepted_ends_after_70_seconds(
    server: ScriptedServer, clock: ManualClock
) -> None:
    """Ten retries of a timeout would be 13 minutes; the caller resumes, with its own backoff."""
    server.respond(hang)
    async with client_for(server, clock=clock) as rest:
        watch = rest.watch(WATCH)
        opening = asyncio.create_task(watch.open())
        await server.until(lambda seen: len(seen.received) == 1)
        await clock.advance(69)
        assert not opening.done()
        await clock.advance(1)
        await opening

    assert watch.ended is WatchEnd.BROKEN
    assert isinstance(watch.failure, TransportError)
    assert len(server.received) == 1


async def test_a_connection_that_is_never_made_is_tried_again_within_70_seconds(
    clock: ManualClock,
) -> None:
    """A full backlog: the kernel does not respond to a SYN."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(0)
        address = taken.getsockname()
        with socket.create_connection(address):
            config = ClusterConfig(server=f"http://127.0.0.1:{address[1]}")
            timeouts = Timeouts(connect=0.05, response=3)
            async with RESTClient(config, environ={}, clock=clock, timeouts=timeouts) as rest:
                watch = rest.watch(resource_request("watch", PODS))
                opening = asyncio.create_task(watch.open())
                while not opening.done():
                    now = clock.stats()
                    if now.sleepers or now.timeouts:
                        await clock.advance((now.next_moment or 0.0) - now.now)
                    await asyncio.sleep(0)
                await opening

                assert rest.stats().requests == 3
    assert isinstance(watch.failure, TimeoutExceeded)
