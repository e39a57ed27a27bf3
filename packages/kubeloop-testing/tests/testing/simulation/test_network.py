"""Connections in memory: order, latency, backpressure, cuts and partitions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.simulation.loop import Incarnation, SimulatedLoop

from .simulated_loops import connect, new_loop, run, start

WHERE = ("127.0.0.1", 80)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


def in_process(loop: SimulatedLoop, program: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a program as the process `worker`."""
    return start(loop, Incarnation("worker", 1), program)


# --- bytes


@given(st.lists(st.binary(max_size=400), max_size=12), st.integers(min_value=0, max_value=50))
def test_bytes_arrive_in_order_and_unchanged_in_both_directions(
    pieces: list[bytes], seed: int
) -> None:
    async def talk() -> bytes:
        await asyncio.start_server(echo, *WHERE)
        reader, writer = await connect(*WHERE)
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.001)
        writer.write_eof()
        return await reader.read()

    assert run(talk(), new_loop(seed)) == b"".join(pieces)


def test_each_message_takes_time() -> None:
    loop = new_loop()

    async def talk() -> list[float]:
        await asyncio.start_server(echo, *WHERE)
        reader, writer = await connect(*WHERE)
        times = [loop.time()]
        for _ in range(5):
            writer.write(b"ping")
            await reader.readexactly(4)
            times.append(loop.time())
        return times

    times = run(talk(), loop)

    assert all(0.0001 < after - before < 0.02 for before, after in pairwise(times))


def test_the_same_seed_gives_the_same_digest_and_another_seed_another() -> None:
    async def talk() -> None:
        await asyncio.start_server(echo, *WHERE)
        reader, writer = await connect(*WHERE)
        writer.write(b"ping")
        await reader.readexactly(4)

    def digest(seed: int) -> str:
        loop = new_loop(seed)
        run(talk(), loop)
        return loop.network.digest

    assert digest(1) == digest(1)
    assert digest(1) != digest(2)


def test_a_slow_connection_has_a_higher_latency() -> None:
    loop = new_loop()

    async def talk() -> None:
        reader, writer = await connect(*WHERE)
        loop.network.slow("worker", 2.0)
        writer.write(b"ping")
        await reader.readexactly(4)
        assert 4 < loop.time() < 5

    run(asyncio.start_server(echo, *WHERE), loop)
    loop.run_until_complete(in_process(loop, talk()))


# --- backpressure


def test_a_writer_waits_while_its_peer_does_not_read() -> None:
    loop = new_loop()
    total = 3 * 1024 * 1024
    received = 0

    async def talk() -> None:
        nonlocal received
        begin = asyncio.Event()

        async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal received
            await begin.wait()
            while data := await reader.read(64 * 1024):
                received += len(data)
            writer.close()

        await asyncio.start_server(slow, *WHERE)
        _, writer = await connect(*WHERE)
        sent = 0

        async def send() -> None:
            nonlocal sent
            while sent < total:
                writer.write(bytes(64 * 1024))
                sent += 64 * 1024
                await writer.drain()
            writer.close()

        sending = asyncio.create_task(send())
        await asyncio.sleep(100)
        assert sent < 1024 * 1024
        begin.set()
        await sending
        await asyncio.sleep(10)

    run(talk(), loop)

    assert received == total


class Buffered(asyncio.BufferedProtocol):
    """Reads into a buffer of three bytes, and pauses after each."""

    def __init__(self) -> None:
        self._buffer = bytearray(3)
        self.received = b""
        self.has_ended = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.received += self._buffer[:nbytes]
        transport = self._transport
        assert transport is not None
        transport.pause_reading()
        asyncio.get_running_loop().call_later(1, transport.resume_reading)

    def eof_received(self) -> None:
        self.has_ended = True


@given(st.binary(max_size=40))
def test_a_protocol_with_a_buffer_of_its_own_receives_everything(data: bytes) -> None:
    async def talk() -> Buffered:
        protocol = Buffered()
        loop = asyncio.get_running_loop()
        await loop.create_server(lambda: protocol, *WHERE)
        _, writer = await connect(*WHERE)
        writer.write(data)
        await asyncio.sleep(0.5)
        writer.close()
        await asyncio.sleep(100)
        return protocol

    protocol = run(talk())

    assert protocol.received == data
    assert protocol.has_ended


# --- ends


def test_after_the_end_of_one_direction_the_other_still_works() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read()
        await asyncio.sleep(10)
        writer.write(b"got " + data)
        writer.close()

    async def talk() -> bytes:
        await asyncio.start_server(answer, *WHERE)
        reader, writer = await connect(*WHERE)
        writer.write(b"all")
        writer.write_eof()
        return await reader.read()

    assert run(talk()) == b"got all"


def test_a_reset_fails_both_ends() -> None:
    loop = new_loop()
    errors: list[Exception] = []

    async def read(reader: asyncio.StreamReader) -> None:
        try:
            await reader.read(10)
        except ConnectionResetError as error:
            errors.append(error)

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await read(reader)

    async def talk() -> None:
        await asyncio.start_server(serve, *WHERE)
        reader, _ = await connect(*WHERE)
        loop.call_later(1, next(iter(loop.network.connections.values())).reset)
        await read(reader)
        await asyncio.sleep(1)

    run(talk(), loop)

    assert len(errors) == 2
    assert not loop.network.connections


def test_an_aborted_connection_is_reset_for_its_peer() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async def talk() -> None:
        await asyncio.start_server(serve, *WHERE)
        reader, _ = await connect(*WHERE)
        await reader.read(10)

    with pytest.raises(ConnectionResetError):
        run(talk())


def test_a_connection_is_refused_where_nothing_listens() -> None:
    async def dial() -> None:
        server = await asyncio.start_server(echo, *WHERE)
        await connect(*WHERE)
        server.close()
        await connect(*WHERE)

    with pytest.raises(ConnectionRefusedError, match="connection refused"):
        run(dial())


def test_a_listener_for_any_address_is_found_by_its_port() -> None:
    async def talk() -> bytes:
        await asyncio.start_server(echo, None, 80)
        reader, writer = await connect("kubernetes.default", 80)
        writer.write(b"ping")
        return await reader.readexactly(4)

    assert run(talk()) == b"ping"


def test_an_address_has_one_listener() -> None:
    async def listen() -> None:
        await asyncio.start_server(echo, *WHERE)
        await asyncio.start_server(echo, *WHERE)

    with pytest.raises(OSError, match="address already in use"):
        run(listen())


# --- partitions


def test_a_partition_delays_everything_until_it_is_healed() -> None:
    loop = new_loop()
    seen: list[tuple[float, bytes]] = []

    async def talk() -> None:
        reader, writer = await connect(*WHERE)
        loop.network.partition("worker")
        for word in (b"one", b"two"):
            writer.write(word)
            await asyncio.sleep(1)
        seen.append((loop.time(), await reader.readexactly(6)))

    run(asyncio.start_server(echo, *WHERE), loop)
    in_process(loop, talk())
    run(asyncio.sleep(30), loop)
    assert seen == []
    loop.network.heal("worker")
    run(asyncio.sleep(30), loop)

    assert [word for _, word in seen] == [b"onetwo"]


def test_a_connection_in_a_partition_times_out() -> None:
    loop = new_loop()
    errors: list[tuple[float, str]] = []

    async def dial() -> None:
        try:
            await connect(*WHERE)
        except TimeoutError as error:
            errors.append((loop.time(), str(error)))

    run(asyncio.start_server(echo, *WHERE), loop)
    loop.network.partition("worker")
    in_process(loop, dial())
    run(asyncio.sleep(300), loop)

    assert len(errors) == 1
    assert 127 <= errors[0][0] < 130
    assert "timed out" in errors[0][1]


@given(st.integers(min_value=1, max_value=60), st.integers(min_value=0, max_value=20))
def test_no_connection_is_made_in_a_partition_whenever_it_begins(tenths: int, seed: int) -> None:
    loop = new_loop(seed)
    made: list[float] = []

    async def dial() -> None:
        await connect(*WHERE)
        made.append(loop.time())

    begin = tenths / 10_000
    run(asyncio.start_server(echo, *WHERE), loop)
    loop.call_later(begin, loop.network.partition, "worker")
    loop.call_later(begin + 10, loop.network.heal, "worker")
    in_process(loop, dial())
    run(asyncio.sleep(60), loop)

    assert len(made) == 1
    assert made[0] <= begin or made[0] >= begin + 10


def test_a_partition_of_one_process_does_not_reach_another() -> None:
    loop = new_loop()
    seen: list[bytes] = []

    async def talk() -> None:
        reader, writer = await connect(*WHERE)
        writer.write(b"ping")
        seen.append(await reader.readexactly(4))

    run(asyncio.start_server(echo, *WHERE), loop)
    loop.network.partition("other")
    in_process(loop, talk())
    run(asyncio.sleep(1), loop)

    assert seen == [b"ping"]
