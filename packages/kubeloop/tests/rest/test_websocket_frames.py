"""WebSocket messages on an upgraded connection: frames, bounds, closing, hostile peers."""

from __future__ import annotations

import asyncio
import logging
import ssl
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from kubeloop.errors import (
    ClientClosed,
    InvalidArgument,
    ResponseTooLarge,
    StreamBroken,
    TimeoutExceeded,
    TransportError,
)
from kubeloop.kit import Clock, ManualClock
from kubeloop.rest.websocket import WebSocket, check_handshake, handshake_headers
from tests.support.certificates import Authority
from tests.support.websockets import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    Wire,
    frame,
    new_socket,
)

MIB = 1024 * 1024


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason)


class Peer:
    """The server's end of one connection; the library reads what the client sends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._frames = Protocol(Side.SERVER, max_size=None)
        self._events: list[Frame] = []

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def next_frame(self) -> tuple[int, bytes]:
        while not self._events:
            data = await self.reader.read(65536)
            assert data, "the client closed the connection"
            self._frames.receive_data(data)
            assert self._frames.parser_exc is None
            self._events += [
                each for each in self._frames.events_received() if isinstance(each, Frame)
            ]
        event = self._events.pop(0)
        return int(event.opcode), bytes(event.data)

    async def until_closed(self) -> None:
        """Read until the client has closed the connection."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass

    def cut(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def connected(
    clock: Clock | None = None,
    *,
    max_size: int | None = None,
    heartbeat: float | None = None,
    received: bytes = b"",
    tls: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
) -> AsyncIterator[tuple[WebSocket, Peer]]:
    """A WebSocket on a loopback connection, and its peer."""
    accepted: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set_result(Peer(reader, writer))

    server_tls, client_tls = tls or (None, None)
    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=server_tls)
    port = server.sockets[0].getsockname()[1]
    transport, _ = await asyncio.get_running_loop().create_connection(
        asyncio.Protocol,
        "127.0.0.1",
        port,
        ssl=client_tls,
        server_hostname="localhost" if client_tls else None,
    )
    peer = await accepted
    socket = new_socket(clock, max_size=max_size, heartbeat=heartbeat)
    socket.attach(transport, received)
    try:
        yield socket, peer
    finally:
        socket.abort()
        peer.cut()
        server.close()
        await server.wait_closed()
        await asyncio.sleep(0)  # the transports report their end


async def results(socket: WebSocket) -> list[bytes | str | None]:
    """What `receive` returns until the end; the class of an error is the last."""
    found: list[bytes | str | None] = []
    try:
        while (message := await socket.receive()) is not None:
            found.append(message)
    except TransportError as error:
        return [*found, type(error).__name__]
    return [*found, None]


# ---- the handshake

ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455, section 1.3
KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def switching(**changed: str | None) -> list[tuple[str, str]]:
    headers: dict[str, str | None] = {
        "upgrade": "WebSocket",
        "Connection": "keep-alive, Upgrade",
        "Sec-WebSocket-Accept": ACCEPT,
    }
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    return [(name, value) for name, value in headers.items() if value is not None]


def test_the_handshake_offers_the_subprotocols_in_their_order() -> None:
    headers, key = handshake_headers(["v5.channel.k8s.io", "v4.channel.k8s.io"])
    _, other = handshake_headers([])

    assert dict(headers) == {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Protocol": "v5.channel.k8s.io, v4.channel.k8s.io",
    }
    assert key != other
    assert "Sec-WebSocket-Protocol" not in dict(handshake_headers([])[0])


@pytest.mark.parametrize("selected", ["v4.channel.k8s.io", None])
def test_the_server_selects_an_offered_subprotocol_or_none(selected: str | None) -> None:
    headers = switching(Sec_WebSocket_Protocol=selected)

    assert check_handshake(headers, KEY, ["v5.channel.k8s.io", "v4.channel.k8s.io"]) == (
        selected or ""
    )


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        (switching(upgrade=None), "no header Upgrade"),
        (switching(upgrade="SPDY/3.1"), "no header Upgrade"),
        (switching(Connection="close"), "no header Connection: Upgrade"),
        (switching(Sec_WebSocket_Accept=None), "wrong Sec-WebSocket-Accept"),
        (switching(Sec_WebSocket_Accept=ACCEPT.lower()), "wrong Sec-WebSocket-Accept"),
        (switching(Sec_WebSocket_Protocol="v1.other"), "the subprotocol 'v1.other'; offered: v4"),
        (switching(Sec_WebSocket_Protocol="v4, v4"), "the subprotocol 'v4, v4'"),
        (switching(Sec_WebSocket_Extensions="permessage-deflate"), "an extension|extension"),
        (
            [*switching(Sec_WebSocket_Protocol="v4"), ("sec-websocket-protocol", "v4")],
            "the subprotocol",
        ),
    ],
)
def test_a_response_of_another_handshake_is_an_error(
    headers: list[tuple[str, str]], problem: str
) -> None:
    with pytest.raises(TransportError, match=problem) as caught:
        check_handshake(headers, KEY, ["v4"], action="GET pods/web/exec: https://example.test")

    assert str(caught.value).startswith("GET pods/web/exec: https://example.test: ")


def test_the_library_is_imported_by_the_first_websocket_only() -> None:
    program = (
        "import sys, kubeloop.rest, kubeloop.rest.websocket as module, kubeloop.kit as kit\n"
        "assert 'websockets' not in sys.modules\n"
        "module.handshake_headers(['a'])\n"
        "assert 'websockets' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


# ---- messages


@pytest.mark.parametrize(
    "message", [b"", b"\x00hi", "", "grüße 🐍", bytes(range(256)) * 300, "x" * 70_000]
)
async def test_messages_pass_in_both_directions(message: bytes | str) -> None:
    payload = message.encode() if isinstance(message, str) else message
    opcode = TEXT if isinstance(message, str) else BINARY
    async with connected() as (socket, peer):
        peer.send(frame(opcode, payload))
        await socket.send(message)

        assert await peer.next_frame() == (opcode, payload)
        assert await socket.receive() == message


async def test_bytes_that_came_with_the_head_are_the_first_messages() -> None:
    async with connected(received=frame(BINARY, b"one") + frame(BINARY, b"two")[:3]) as (
        socket,
        peer,
    ):
        peer.send(frame(BINARY, b"two")[3:] + close_frame(1000))

        assert [message async for message in socket] == [b"one", b"two"]


async def test_frames_of_a_client_are_masked_each_with_its_own_mask() -> None:
    async with connected() as (socket, peer):
        await socket.send(b"same")
        await socket.send(b"same")
        data = await peer.reader.readexactly(20)

    first, second = data[:10], data[10:]
    assert first[:2] == second[:2] == bytes([0x82, 0x84])
    assert first[2:6] != second[2:6]


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[bytes | str]]:
    """A stream of frames, fragments with control frames between them, and its messages."""
    data = b""
    expected: list[bytes | str] = []
    for _ in range(draw(st.integers(0, 5))):
        message = draw(st.one_of(st.binary(max_size=300), st.text(max_size=60)))
        payload = message.encode() if isinstance(message, str) else message
        cuts = sorted(draw(st.lists(st.integers(0, len(payload)), max_size=4)))
        places = [0, *cuts, len(payload)]
        opcode = TEXT if isinstance(message, str) else BINARY
        for number, (start, end) in enumerate(pairwise(places)):
            kind = opcode if number == 0 else CONTINUATION
            data += frame(kind, payload[start:end], fin=number == len(places) - 2)
            if draw(st.booleans()):
                data += frame(draw(st.sampled_from([PING, PONG])), draw(st.binary(max_size=125)))
        expected.append(message)
    return data, expected


@given(stream=streams(), data=st.data())
def test_every_split_of_a_stream_gives_the_same_messages(
    stream: tuple[bytes, list[bytes | str]], data: st.DataObject
) -> None:
    sent, expected = stream
    sent += close_frame(1000, b"done")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=8)))
    places = [0, *cuts, len(sent)]
    pieces = [sent[start:end] for start, end in pairwise(places)]

    async def scenario() -> None:
        socket, wire = new_socket(), Wire()
        socket.attach(wire, pieces[0])
        for piece in pieces[1:]:
            if piece:
                socket.data_received(piece)

        assert await results(socket) == [*expected, None]
        assert (socket.close_code, socket.close_reason) == (1000, "done")
        # A pong for every ping, and the echo of the close frame.
        reader = Protocol(Side.SERVER, max_size=None)
        reader.receive_data(wire.written)
        answers = [each for each in reader.events_received() if isinstance(each, Frame)]
        pings = Protocol(Side.CLIENT, max_size=None)
        pings.receive_data(sent)
        payloads = [
            bytes(each.data)
            for each in pings.events_received()
            if isinstance(each, Frame) and each.opcode is Opcode.PING
        ]
        assert [bytes(each.data) for each in answers[:-1]] == payloads
        assert answers[-1].opcode is Opcode.CLOSE
        socket.abort()

    asyncio.run(scenario())


@given(sent=st.binary(max_size=400), data=st.data())
def test_any_bytes_give_messages_and_one_end_however_they_are_split(
    sent: bytes, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(sent)))

    async def read(pieces: list[bytes]) -> list[bytes | str | None]:
        socket = new_socket(max_size=200)
        socket.attach(Wire(), b"")
        for piece in pieces:
            if piece:
                socket.data_received(piece)
        socket.connection_lost(None)
        assert socket.close_code is not None
        return await results(socket)

    async def scenario() -> None:
        whole = await read([sent])
        assert await read([sent[:cut], sent[cut:]]) == whole
        assert await read([bytes([byte]) for byte in sent]) == whole

    asyncio.run(scenario())


# ---- hostile frames

HOSTILE = {
    "reserved bits": frame(BINARY, b"x", rsv=4),
    "reserved bits of a control frame": frame(PING, b"x", rsv=1),
    "an unknown opcode": frame(3, b"x"),
    "an unknown control opcode": frame(11, b"x"),
    "a masked frame": frame(BINARY, b"x", mask=b"abcd"),
    "a long control frame": frame(PING, b"x" * 126),
    "a fragmented control frame": frame(PING, b"x", fin=False),
    "a continuation of nothing": frame(CONTINUATION, b"x"),
    "a message inside a message": frame(TEXT, b"x", fin=False) + frame(TEXT, b"y"),
    "text that is not UTF-8": frame(TEXT, b"\xff\xfe"),
    "a close inside a message": frame(TEXT, b"x", fin=False) + close_frame(1000),
    "a close frame of one byte": frame(CLOSE, b"x"),
    "a close code that is reserved": close_frame(1005),
    "a close code that is unknown": close_frame(999),
    "a close reason that is not UTF-8": close_frame(1000, b"\xff"),
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_violation_of_the_protocol_is_an_error_after_the_messages_before(
    sent: bytes,
) -> None:
    async with connected() as (socket, peer):
        peer.send(frame(BINARY, b"before") + sent + frame(BINARY, b"after"))
        opcode, payload = await peer.next_frame()

        assert await socket.receive() == b"before"
        for _ in range(2):
            with pytest.raises(TransportError, match="violated the WebSocket protocol") as caught:
                await socket.receive()
        with pytest.raises(TransportError, match="violated"):
            await socket.send(b"x")
        await socket.close()

    assert str(caught.value).startswith("GET pods/web/exec in shop: https://example.test:6443: ")
    assert (opcode, payload[:2]) in [(CLOSE, b"\x03\xea"), (CLOSE, b"\x03\xef")]  # 1002, 1007


LARGE = {
    "one frame": frame(BINARY, b"x" * 1001),
    "a frame whose length is announced": struct.pack("!BBQ", 0x82, 127, 2**62),
    "fragments": frame(BINARY, b"x" * 900, fin=False) + frame(CONTINUATION, b"x" * 101),
    "unfinished fragments": frame(BINARY, b"x", fin=False)
    + frame(CONTINUATION, b"x" * 100, fin=False) * 10,
}


@pytest.mark.parametrize("sent", LARGE.values(), ids=LARGE.keys())
async def test_a_message_larger_than_the_limit_is_an_error(sent: bytes) -> None:
    async with connected(max_size=1000) as (socket, peer):
        peer.send(frame(BINARY, b"x" * 1000) + sent)
        opcode, payload = await peer.next_frame()

        assert await socket.receive() == b"x" * 1000
        with pytest.raises(ResponseTooLarge, match="larger than 1000 bytes"):
            await socket.receive()

    assert (opcode, payload[:2]) == (CLOSE, b"\x03\xf1")  # 1009


async def test_control_frames_do_not_count_for_the_limit_of_a_message() -> None:
    async with connected(max_size=100) as (socket, peer):
        peer.send(
            frame(BINARY, b"x" * 99, fin=False)
            + frame(PING, b"p" * 125)
            + frame(CONTINUATION, b"x", fin=False)
            + frame(PING, b"p" * 125)
            + frame(CONTINUATION)
        )

        assert await socket.receive() == b"x" * 100


async def test_empty_fragments_use_no_memory() -> None:
    async with connected(max_size=10) as (socket, peer):
        peer.send(frame(TEXT, b"a", fin=False) + frame(CONTINUATION, fin=False) * 5000)
        peer.send(frame(CONTINUATION, b"b"))

        assert await socket.receive() == "ab"


async def test_frames_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with connected() as (socket, peer):
        await socket.send(b"password")
        peer.send(frame(BINARY, b"password"))
        await socket.receive()

    assert "password" not in caplog.text
    assert "70 61 73 73" not in caplog.text


# ---- the end


async def test_a_close_frame_of_the_peer_ends_the_messages() -> None:
    async with connected() as (socket, peer):
        peer.send(frame(BINARY, b"last") + close_frame(1011, "kaputt ☠".encode()))
        echo = await peer.next_frame()
        peer.cut()

        assert await results(socket) == [b"last", None]
        assert await socket.receive() is None
        assert (socket.close_code, socket.close_reason) == (1011, "kaputt ☠")
        with pytest.raises(StreamBroken, match="the server closed the WebSocket: 1011 'kaputt"):
            await socket.send(b"x")
        await socket.close()

    assert echo == (CLOSE, struct.pack("!H", 1011) + "kaputt ☠".encode())


async def test_a_close_frame_without_a_code_is_1005() -> None:
    async with connected() as (socket, peer):
        peer.send(frame(CLOSE))

        assert await socket.receive() is None
        assert (socket.close_code, socket.close_reason) == (1005, "")


async def test_a_connection_lost_without_a_close_frame_is_an_error() -> None:
    async with connected() as (socket, peer):
        peer.send(frame(BINARY, b"one") + frame(BINARY, b"two")[:2])
        assert await socket.receive() == b"one"
        peer.cut()

        for _ in range(2):
            with pytest.raises(StreamBroken, match="without a close frame"):
                await socket.receive()
        with pytest.raises(StreamBroken, match="without a close frame"):
            await socket.send(b"x")
        await socket.close()
        assert socket.close_code == 1006
        assert socket.stats().closed


async def test_close_does_the_handshake_and_drops_what_was_not_received() -> None:
    async with connected() as (socket, peer):
        peer.send(frame(BINARY, b"not received"))
        closing = asyncio.create_task(socket.close(4000, "enough"))
        sent = await peer.next_frame()
        peer.send(frame(BINARY, b"late") + close_frame(4000))
        peer.writer.close()
        await closing

        assert sent == (CLOSE, struct.pack("!H", 4000) + b"enough")
        assert socket.close_code == 4000
        assert await socket.receive() is None
        with pytest.raises(StreamBroken, match="closed"):
            await socket.send(b"x")
        await socket.close()


async def test_close_ends_after_2_seconds_without_the_peer(clock: ManualClock) -> None:
    async with connected(clock) as (socket, peer):
        waiting = asyncio.create_task(socket.receive())
        both = asyncio.gather(socket.close(), socket.close())
        await clock.advance(1.9)
        assert not both.done()
        assert await waiting is None
        await clock.advance(0.1)
        await both
        await peer.until_closed()

        assert socket.close_code == 1006
        assert clock.stats().timers == 0


async def test_a_peer_that_closes_but_keeps_the_connection_is_cut_after_2_seconds(
    clock: ManualClock,
) -> None:
    async with connected(clock) as (socket, peer):
        peer.send(close_frame(1000))
        assert await socket.receive() is None
        await clock.advance(2)
        await peer.until_closed()

        assert socket.stats().closed
        assert socket.close_code == 1000


async def test_close_works_while_the_peer_does_not_read_and_messages_wait(
    clock: ManualClock,
) -> None:
    async with connected(clock) as (socket, peer):
        peer.send(frame(BINARY, b"x" * 65536) * 40)
        sending = asyncio.create_task(send_until_blocked(socket))
        await until(lambda: socket.stats().writing_paused and socket.stats().reading_paused)
        closing = asyncio.create_task(socket.close())
        await clock.advance(2)
        await closing

        with pytest.raises(StreamBroken, match="closed"):
            await sending


async def test_a_cancelled_close_aborts_the_connection() -> None:
    async with connected() as (socket, peer):
        closing = asyncio.create_task(socket.close())
        await peer.next_frame()
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        await peer.until_closed()

        assert closing.cancelled()
        assert socket.stats().closed


@pytest.mark.parametrize(
    ("code", "reason"),
    [(0, ""), (1005, ""), (1006, ""), (1015, ""), (2999, ""), (5000, ""), (1000, "x" * 124)],
)
async def test_a_close_code_that_cannot_be_sent_is_refused(code: int, reason: str) -> None:
    async with connected() as (socket, _):
        with pytest.raises(InvalidArgument):
            await socket.close(code, reason)
        assert not socket.stats().closed


async def test_abort_ends_calls_that_wait_with_its_error() -> None:
    async with connected() as (socket, _):
        receiving = asyncio.create_task(socket.receive())
        await asyncio.sleep(0)
        socket.abort(ClientClosed("the client was closed"))
        socket.abort()

        with pytest.raises(ClientClosed):
            await receiving
        with pytest.raises(ClientClosed):
            await socket.send(b"x")


async def test_abort_without_an_error_is_a_broken_stream() -> None:
    async with connected() as (socket, peer):
        socket.abort()

        with pytest.raises(StreamBroken, match="aborted"):
            await socket.receive()
        await peer.until_closed()


async def test_a_connection_lost_before_it_is_attached_is_an_error() -> None:
    socket, wire = new_socket(), Wire()
    wire.aborted = True

    socket.attach(wire, frame(BINARY, b"x"))

    assert await results(socket) == [b"x", "StreamBroken"]


async def test_a_websocket_aborted_before_it_is_attached_aborts_the_connection() -> None:
    socket, wire = new_socket(), Wire()
    socket.abort()

    socket.attach(wire, b"")

    assert wire.aborted


# ---- bounds


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(4):
        while not condition():
            await asyncio.sleep(0.001)


async def send_until_blocked(socket: WebSocket) -> None:
    while True:
        await socket.send(b"x" * 65536)


async def test_a_slow_reader_pauses_the_socket_and_gets_all_messages() -> None:
    async with connected() as (socket, peer):
        messages = [bytes([number]) * 65536 for number in range(100)]
        for message in messages:
            peer.send(frame(BINARY, message))
        peer.send(close_frame(1000))
        await until(lambda: socket.stats().reading_paused)
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert socket.stats().waiting_bytes < 2 * MIB

        received = []
        async for each in socket:
            assert socket.stats().waiting_bytes < 2 * MIB
            received.append(each)

        assert received == messages


async def test_empty_messages_that_wait_are_bounded_too() -> None:
    async with connected() as (socket, peer):
        for _ in range(20):
            peer.send(frame(BINARY) * 5000)
        await until(lambda: socket.stats().reading_paused)

        found = 0
        while found < 100_000:
            assert await socket.receive() == b""
            found += 1


async def test_send_waits_while_the_peer_reads_slowly() -> None:
    async with connected() as (socket, peer):
        sending = asyncio.create_task(send_until_blocked(socket))
        await until(lambda: socket.stats().writing_paused)
        count = socket.stats().messages_sent
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert socket.stats().messages_sent == count

        for _ in range(count + 5):
            assert await peer.next_frame() == (BINARY, b"x" * 65536)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def test_a_cancelled_send_sends_nothing_and_others_keep_their_order() -> None:
    async with connected() as (socket, peer):
        filling = asyncio.create_task(send_until_blocked(socket))
        await until(lambda: socket.stats().writing_paused)
        waiting = []
        for number in range(6):
            waiting.append(asyncio.create_task(socket.send(f"{number}")))
            await asyncio.sleep(0)
        filling.cancel()
        waiting[0].cancel()
        waiting[3].cancel()
        await asyncio.sleep(0)

        received: list[bytes] = []
        while len(received) < 4:
            opcode, payload = await peer.next_frame()
            if opcode == TEXT:
                received.append(payload)
        await asyncio.gather(filling, *waiting, return_exceptions=True)

    assert received == [b"1", b"2", b"4", b"5"]


@given(
    st.lists(
        st.tuples(
            st.booleans(),  # whether the connection is paused
            st.lists(st.sampled_from((0, 1, 60_000, 300_000)), max_size=3),  # calls of `send`
            st.lists(st.integers(0, 20), max_size=2),  # which of them are cancelled
        ),
        max_size=20,
    )
)
def test_messages_are_sent_in_the_order_of_the_calls(
    turns: list[tuple[bool, list[int], list[int]]],
) -> None:
    """Whatever pauses the connection, and whichever calls are cancelled."""
    wire = Wire()

    async def main() -> list[int]:
        socket = new_socket()
        socket.attach(wire, b"")
        tasks: list[asyncio.Task[None]] = []
        for is_paused, sizes, cancelled in [*turns, (False, [], [])]:
            (socket.pause_writing if is_paused else socket.resume_writing)()
            for size in sizes:
                message = struct.pack("!I", len(tasks)) + bytes(size)
                tasks.append(asyncio.create_task(socket.send(message)))
            for number in cancelled:
                if number < len(tasks):
                    tasks[number].cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        socket.abort()
        return [number for number, task in enumerate(tasks) if not task.cancelled()]

    expected = asyncio.run(main())

    frames = Protocol(Side.SERVER, max_size=None)
    frames.receive_data(wire.written)
    received = [each.data for each in frames.events_received() if isinstance(each, Frame)]
    assert [struct.unpack_from("!I", each)[0] for each in received] == expected


async def test_a_message_that_is_encoded_in_its_turn_is_encoded_only_if_it_is_sent() -> None:
    socket, wire = new_socket(), Wire()
    socket.attach(wire, b"")
    encoded: list[str] = []

    def encode(name: str) -> Callable[[], bytes]:
        def call() -> bytes:
            encoded.append(name)
            return name.encode()

        return call

    socket.pause_writing()
    sending = [asyncio.create_task(socket.send(encode(name))) for name in ("one", "two", "three")]
    await asyncio.sleep(0)
    assert encoded == []
    sending[1].cancel()
    socket.resume_writing()
    await asyncio.gather(*sending, return_exceptions=True)

    assert encoded == ["one", "three"]
    socket.abort()


async def test_a_receive_cancelled_as_a_message_arrives_loses_nothing() -> None:
    socket = new_socket()
    socket.attach(Wire(), b"")
    receiving = asyncio.create_task(socket.receive())
    await asyncio.sleep(0)

    socket.data_received(frame(BINARY, b"one"))
    receiving.cancel()
    await asyncio.gather(receiving, return_exceptions=True)

    assert receiving.cancelled()
    assert await socket.receive() == b"one"
    socket.abort()


async def test_send_yields_to_the_loop_although_the_peer_reads_all() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    socket, wire = new_socket(), Wire()
    socket.attach(wire, b"")
    counting = asyncio.create_task(count())
    for _ in range(100):
        await socket.send(b"x" * 65536)
    counting.cancel()

    assert turns >= 10
    socket.abort()


async def test_pongs_for_a_peer_that_does_not_read_use_no_memory() -> None:
    socket, wire = new_socket(), Wire()
    socket.attach(wire, b"")
    socket.pause_writing()

    socket.data_received(frame(PING, b"x" * 125) * 1000)
    assert wire.written == b""
    socket.resume_writing()
    socket.data_received(frame(PING, b"now"))

    assert len(wire.written) == 9
    socket.abort()


# ---- heartbeats


async def test_pings_are_answered_while_no_one_receives() -> None:
    async with connected() as (_, peer):
        peer.send(frame(PING, b"are you there"))

        assert await peer.next_frame() == (PONG, b"are you there")


async def test_a_ping_is_sent_with_every_heartbeat(clock: ManualClock) -> None:
    async with connected(clock, heartbeat=5) as (socket, peer):
        await clock.advance(4.9)
        assert socket.stats().pings_sent == 0
        await clock.advance(10.2)

        assert [await peer.next_frame() for _ in range(3)] == [(PING, b"")] * 3


async def test_a_silent_peer_ends_the_connection_after_61_seconds(clock: ManualClock) -> None:
    async with connected(clock, heartbeat=5) as (socket, peer):
        receiving = asyncio.create_task(socket.receive())
        await clock.advance(60.9)
        assert not receiving.done()
        await clock.advance(0.1)

        with pytest.raises(TimeoutExceeded, match="nothing was received for 61 s"):
            await receiving
        await peer.until_closed()
        assert socket.stats().pings_sent == 12
        assert clock.stats().timers == 0


@pytest.mark.parametrize("sent", [frame(PONG), frame(BINARY, b"x"), frame(BINARY, b"x" * 99)[:10]])
async def test_anything_received_keeps_the_connection(clock: ManualClock, sent: bytes) -> None:
    socket, wire = new_socket(clock, heartbeat=5), Wire()
    socket.attach(wire, b"")
    await clock.advance(60)
    socket.data_received(sent)
    await clock.advance(60.9)
    assert not wire.is_closing()
    await clock.advance(0.1)

    assert wire.is_closing()


async def test_a_reader_that_pauses_the_socket_keeps_the_connection(clock: ManualClock) -> None:
    socket, wire = new_socket(clock, heartbeat=5), Wire()
    socket.attach(wire, frame(BINARY, b"x" * 2 * MIB))
    assert wire.paused
    await clock.advance(600)
    assert len(await socket.receive() or b"") == 2 * MIB
    await clock.advance(60.9)
    assert (wire.paused, wire.is_closing()) == (False, False)
    await clock.advance(0.1)

    assert wire.is_closing()


async def test_a_closed_websocket_leaves_no_timer(clock: ManualClock) -> None:
    async with connected(clock, heartbeat=5) as (socket, peer):
        closing = asyncio.create_task(socket.close())
        await peer.next_frame()
        peer.send(close_frame(1000))
        peer.writer.close()
        await closing

        assert clock.stats().timers == 0


# ---- both event loops, and TLS

LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [
    asyncio.new_event_loop,
    uvloop.new_event_loop,
]


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("factory", LOOPS, ids=["asyncio", "uvloop"])
def test_both_event_loops_carry_both_directions(
    factory: Callable[[], asyncio.AbstractEventLoop],
    secure: bool,
    authority: Authority,
    tmp_path: Path,
) -> None:
    tls = None
    if secure:
        trusting = ssl.create_default_context(cadata=authority.pem.decode())
        tls = authority.server_context(tmp_path), trusting
    messages = [bytes([number]) * 65536 for number in range(64)]

    async def echo(peer: Peer) -> None:
        for _ in messages:
            peer.send(frame(*await peer.next_frame()))
            await peer.writer.drain()
        assert await peer.next_frame() == (CLOSE, b"\x03\xe8")
        peer.send(close_frame(1000))
        peer.writer.close()

    async def scenario() -> None:
        async with connected(tls=tls) as (socket, peer):
            echoing = asyncio.create_task(echo(peer))
            sending = asyncio.create_task(send_all(socket, messages))
            received = [await socket.receive() for _ in messages]
            await asyncio.gather(sending, socket.close(), echoing)

            assert received == messages
            assert socket.close_code == 1000

    run(factory, scenario())


@pytest.mark.parametrize("factory", LOOPS, ids=["asyncio", "uvloop"])
def test_both_event_loops_end_a_violation_with_a_close_frame(
    factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def scenario() -> None:
        async with connected() as (socket, peer):
            peer.send(frame(3))
            assert (await peer.next_frame())[0] == CLOSE
            with pytest.raises(TransportError):
                await socket.receive()
            peer.cut()

    run(factory, scenario())


async def send_all(socket: WebSocket, messages: list[bytes]) -> None:
    for message in messages:
        await socket.send(message)


def run(
    factory: Callable[[], asyncio.AbstractEventLoop], work: Coroutine[object, object, None]
) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)
