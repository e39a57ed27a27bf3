"""Events that are passed to plain code in the callback that brought their bytes."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop.errors import ApiError, Expired
from kubeloop.kit import ManualClock
from kubeloop.rest import Timeouts, Watch, WatchEnd
from kubeloop.wire import RawEvent
from tests.support.scripted_server import (
    ReceivedRequest,
    Reply,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
    eventually,
    reply,
    serving,
)

from .test_watch import WATCH, event, status

EXPIRED = status(410, "Expired")


class Collector:
    """Plain code that takes events, at most `most` of them at a time."""

    def __init__(self, most: int = 1000) -> None:
        self.most = most
        self.versions: list[bytes] = []
        self.calls = 0
        self.tasks: set[asyncio.Task[object] | None] = set()

    def __call__(self, events: Iterator[RawEvent]) -> bool:
        self.calls += 1
        self.tasks.add(asyncio.current_task())
        taken = list(itertools.islice(events, self.most))
        self.versions += [bytes(each.object) for each in taken]
        return len(taken) < self.most


def lines(count: int) -> list[bytes]:
    return [event("ADDED", str(number)) for number in range(count)]


async def test_events_reach_plain_code_outside_any_task(server: ScriptedServer) -> None:
    is_pumping = asyncio.Event()

    async def respond(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await is_pumping.wait()
        for line in lines(3):
            await connection.send(b"%x\r\n%s\r\n" % (len(line), line))
        await connection.send(b"0\r\n\r\n")

    server.respond(respond)
    collector = Collector()
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        pumping = asyncio.create_task(watch.pump(collector))
        await asyncio.sleep(0)
        is_pumping.set()
        await pumping

    assert len(collector.versions) == 3
    assert watch.ended is WatchEnd.CLOSED
    assert watch.stats().events == 3
    assert collector.tasks == {None}


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 30),
    st.lists(st.integers(1, 2000), max_size=8),
    st.integers(1, 4),
    st.booleans(),
)
def test_every_event_is_passed_once_and_in_order_whatever_the_pieces(
    count: int, cuts: list[int], most: int, compressed: bool
) -> None:
    body = b"".join(lines(count))
    data = gzip.compress(body) if compressed else body
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[start:end] for start, end in itertools.pairwise(ends) if end > start]

    async def respond(_: ReceivedRequest, connection: ServerConnection) -> None:
        encoding = b"Content-Encoding: gzip\r\n" if compressed else b""
        await connection.send(
            b"HTTP/1.1 200 OK\r\n" + encoding + b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for piece in pieces:
            await connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            await asyncio.sleep(0)
        await connection.send(b"0\r\n\r\n")

    async def run() -> Collector:
        collector = Collector(most)
        async with serving() as server:
            server.respond(respond)
            async with client_for(server) as rest:
                await rest.watch(WATCH).pump(collector)
        return collector

    found = [json.loads(version) for version in asyncio.run(run()).versions]
    assert found == [json.loads(line)["object"] for line in lines(count)]


async def test_a_body_that_cannot_be_decompressed_ends_a_pump_as_a_broken_one(
    server: ScriptedServer,
) -> None:
    async def respond(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        await connection.send(b"8\r\nnot gzip\r\n")

    server.respond(respond)
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        await watch.pump(Collector())

        assert watch.ended is WatchEnd.BROKEN
        assert "cannot decompress" in str(watch.failure)


async def test_code_that_has_enough_stops_the_socket_and_is_called_again(
    server: ScriptedServer,
) -> None:
    server.respond(chunked(*lines(10), end="whole"))
    is_open = False
    seen: list[str] = []

    def apply(events: Iterator[RawEvent]) -> bool:
        for each in events:
            seen.append(each.type)
            if not is_open:
                return False
        return True

    async with client_for(server) as rest:
        pumping = asyncio.create_task(rest.watch(WATCH).pump(apply))
        await eventually(lambda: len(seen) > 2)
        is_open = True
        await pumping

    assert len(seen) == 10


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ([chunked(event("ADDED"), EXPIRED, event("ADDED"), end="hang")], Expired),
        ([chunked(event("ADDED"), b"rubbish\n", end="hang")], ApiError),
        ([reply(403)], ApiError),
    ],
)
async def test_an_error_is_raised_after_the_events_before_it(
    steps: list[Reply], error: type[Exception], server: ScriptedServer
) -> None:
    server.respond(*steps)
    collector = Collector()
    async with client_for(server) as rest:
        with pytest.raises(error):
            await rest.watch(WATCH).pump(collector)

    assert len(collector.versions) in {0, 1}


async def test_an_error_of_the_code_ends_the_watch_and_is_raised(server: ScriptedServer) -> None:
    server.respond(chunked(event("ADDED"), end="hang"))

    def apply(events: Iterator[RawEvent]) -> bool:
        raise KeyError("oops")

    async with client_for(server) as rest:
        watch = rest.watch(WATCH)
        with pytest.raises(KeyError, match="oops"):
            await watch.pump(apply)
        await server.until(lambda seen: seen.closed == 1)

    assert watch.ended is not None


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_stream_that_breaks_just_ends(end: str, server: ScriptedServer) -> None:
    server.respond(chunked(event("ADDED"), end=end))
    collector = Collector()
    async with client_for(server) as rest:
        watch = rest.watch(WATCH)
        await watch.pump(collector)

    assert watch.ended is WatchEnd.BROKEN
    assert watch.failure is not None


async def test_a_cancelled_pump_closes_the_connection_at_once(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(chunked(event("ADDED"), end="hang"))
    collector = Collector()
    async with client_for(server, clock=clock) as rest:
        watch = rest.watch(WATCH)
        pumping = asyncio.create_task(watch.pump(collector))
        await eventually(lambda: len(collector.versions) == 1)
        pumping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pumping
        await server.until(lambda seen: seen.closed == 1)

    assert watch.ended is WatchEnd.STOPPED


async def test_closing_a_watch_ends_its_pump(server: ScriptedServer) -> None:
    server.respond(chunked(event("ADDED"), end="hang"))
    collector = Collector()
    async with client_for(server) as rest:
        watch = rest.watch(WATCH)
        pumping = asyncio.create_task(watch.pump(collector))
        await eventually(lambda: len(collector.versions) == 1)
        watch.close()
        await pumping

    assert watch.ended is WatchEnd.STOPPED


async def test_a_silent_stream_is_probed_and_ends_after_150_seconds(clock: ManualClock) -> None:
    """The server responds to probes, and sends nothing on this stream."""

    async def respond(received: ReceivedRequest, connection: ServerConnection) -> None:
        if received.target.startswith("/livez"):
            await reply(body=b"ok")(received, connection)
        else:
            await chunked(event("ADDED"), end="hang")(received, connection)

    async with serving() as server:
        server.respond(respond)
        collector = Collector()
        async with client_for(server, clock=clock) as rest:
            watch = rest.watch(WATCH)
            pumping = asyncio.create_task(watch.pump(collector))
            await eventually(lambda: len(collector.versions) == 1)
            while not pumping.done():
                await clock.advance(1)
                await asyncio.sleep(0.001)
            await pumping
            assert rest.stats().probes >= 3

    assert watch.ended is WatchEnd.SILENT
    assert 150 <= clock.now() < 160


async def test_a_pump_ends_when_the_watch_reaches_its_maximum_duration(
    server: ScriptedServer, clock: ManualClock
) -> None:
    server.respond(chunked(event("ADDED"), end="hang"))
    collector = Collector()
    async with client_for(server, clock=clock) as rest:
        watch = rest.watch(WATCH, max_duration=20)
        pumping = asyncio.create_task(watch.pump(collector))
        await eventually(lambda: len(collector.versions) == 1)
        await clock.advance(19)
        assert not pumping.done()
        await clock.advance(2)
        await pumping

    assert watch.ended is WatchEnd.TIMED_OUT


async def _received(watch: Watch, count: int) -> None:
    """Wait until events have arrived; nothing has read them."""
    assert watch._incoming is not None
    incoming = watch._incoming
    await eventually(lambda: b"".join(incoming._pieces).count(b"\n") == count)


async def test_code_that_fails_gets_no_event_after_the_one_that_it_failed_for(
    server: ScriptedServer,
) -> None:
    """A reader that resumes after the last event would never see the one that failed."""
    server.respond(chunked(*lines(3), end="hang"))
    taken: list[RawEvent] = []

    def apply(events: Iterator[RawEvent]) -> bool:
        taken.append(next(events))
        raise RuntimeError("no")

    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        await _received(watch, 3)
        with pytest.raises(RuntimeError, match="no"):
            await watch.pump(apply)

    assert len(taken) == 1


async def test_code_that_closes_its_watch_gets_nothing_more(server: ScriptedServer) -> None:
    server.respond(chunked(*lines(3), end="hang"))
    taken: list[RawEvent] = []

    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        await _received(watch, 3)

        def apply(events: Iterator[RawEvent]) -> bool:
            taken.append(next(events))
            watch.close()
            return True

        await watch.pump(apply)

    assert len(taken) == 1


async def test_code_is_not_called_after_a_cancelled_pump_even_if_the_stream_has_ended(
    server: ScriptedServer,
) -> None:
    server.respond(chunked(*lines(2)))
    calls = 0

    def apply(_: Iterator[RawEvent]) -> bool:
        nonlocal calls
        calls += 1
        return False

    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        await _received(watch, 2)
        pumping = asyncio.create_task(watch.pump(apply))
        incoming = watch._incoming
        assert incoming is not None
        await eventually(lambda: calls > 0 and incoming._is_complete)
        pumping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pumping
        before = calls
        for _ in range(5):
            await asyncio.sleep(0)

    assert calls == before


async def test_bytes_that_arrived_before_the_pump_do_not_start_a_socket_that_the_code_stopped(
    server: ScriptedServer,
) -> None:
    received = 0

    async def respond(_: ReceivedRequest, connection: ServerConnection) -> None:
        nonlocal received
        await connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        line = event("ADDED", "1", padding="x" * 100_000)
        for received in range(300):  # noqa: B007 - read by the test
            await connection.send(b"%x\r\n%s\r\n" % (len(line), line))

    server.respond(respond)
    async with client_for(server) as rest, rest.watch(WATCH) as watch:
        incoming = watch._incoming
        assert incoming is not None
        await eventually(lambda: bool(incoming._pieces))
        pumping = asyncio.create_task(watch.pump(lambda _: False))
        for _ in range(2000):
            await asyncio.sleep(0)
        sent = received
        pumping.cancel()
        await asyncio.wait([pumping])

    assert sent < 200  # 20 MB: the rest is in the buffers of the sockets


async def test_code_that_is_busy_for_long_does_not_make_the_watch_a_silent_one(
    clock: ManualClock,
) -> None:
    async with serving() as server:
        server.respond(chunked(*lines(1), end="hang"))
        is_busy = True

        def apply(events: Iterator[RawEvent]) -> bool:
            return not is_busy and not list(events)[1:]

        options = {"timeouts": Timeouts(idle=20.0, probe_after=None)}
        async with client_for(server, clock=clock, **options) as rest, rest.watch(WATCH) as watch:
            await _received(watch, 1)
            pumping = asyncio.create_task(watch.pump(apply))
            await asyncio.sleep(0)
            await clock.advance(19)
            await clock.advance(20)
            is_busy = False
            await clock.advance(19)
            assert watch.ended is None
            await clock.advance(2)
            await pumping

        assert watch.ended is WatchEnd.SILENT
