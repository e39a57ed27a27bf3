"""SPDY/3.1: frames survive every split of their bytes, and a session refuses what breaks the protocol."""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.kit import spdy

STREAMS = st.integers(1, 0x7FFF_FFFF)
NUMBERS = st.integers(0, 0xFFFF_FFFF)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz-0123456789", min_size=1, max_size=12)
VALUES = st.text(st.characters(max_codepoint=255), max_size=20)
HEADERS = st.dictionaries(NAMES, VALUES, max_size=5)
FRAMES: st.SearchStrategy[spdy.Frame] = st.one_of(
    st.builds(
        spdy.SynStream,
        stream_id=STREAMS,
        headers=HEADERS,
        fin=st.booleans(),
        unidirectional=st.booleans(),
        associated_to=st.integers(0, 0x7FFF_FFFF),
        priority=st.integers(0, 7),
    ),
    st.builds(spdy.SynReply, stream_id=STREAMS, headers=HEADERS, fin=st.booleans()),
    st.builds(spdy.Headers, stream_id=STREAMS, headers=HEADERS, fin=st.booleans()),
    st.builds(spdy.RstStream, stream_id=STREAMS, status=NUMBERS),
    st.builds(
        spdy.Settings, values=st.dictionaries(st.integers(1, 0xFF_FFFF), NUMBERS, max_size=4)
    ),
    st.builds(spdy.Ping, ping_id=NUMBERS),
    st.builds(spdy.GoAway, last_stream_id=st.integers(0, 0x7FFF_FFFF), status=NUMBERS),
    st.builds(spdy.WindowUpdate, stream_id=STREAMS, delta=st.integers(0, 0x7FFF_FFFF)),
    st.builds(spdy.Data, stream_id=STREAMS, data=st.binary(max_size=60), fin=st.booleans()),
)


def encode(frames: Iterable[spdy.Frame]) -> bytes:
    encoder = spdy.Encoder()
    return b"".join(map(encoder.encode, frames))


def events(session: spdy.Session, data: bytes) -> list[spdy.Frame | spdy.Outgoing]:
    return list(session.receive(data))


def pair(limits: spdy.Limits | None = None) -> tuple[spdy.Session, spdy.Session]:
    """A client and a server."""
    return spdy.Session(is_server=False), spdy.Session(is_server=True, limits=limits)


def open_stream(client: spdy.Session, server: spdy.Session) -> int:
    """Open a stream that the server has accepted."""
    stream_id, data = client.open({"streamtype": "data"})
    events(server, data)
    events(client, server.reply(stream_id))
    return stream_id


def test_the_dictionary_is_that_of_spdy_3() -> None:
    # The id of the dictionary in every header block of SPDY/3 is its Adler-32.
    assert (len(spdy.DICTIONARY), zlib.adler32(spdy.DICTIONARY)) == (1423, 0xE3C6A7C2)


def test_a_frame_of_spdystream_is_decoded() -> None:
    # The SYN_STREAM and the DATA that a Go client with moby/spdystream sends for a data stream.
    block = zlib.compressobj(zdict=spdy.DICTIONARY)
    plain = b"\0\0\0\1" + b"\0\0\0\4port" + b"\0\0\0\0048080"
    compressed = block.compress(plain) + block.flush(zlib.Z_SYNC_FLUSH)
    data = bytes.fromhex("80030001 000000") + bytes([10 + len(compressed)])
    data += bytes.fromhex("00000001 00000000 0000") + compressed
    data += bytes.fromhex("00000001 01000002") + b"hi"

    frames = list(spdy.Decoder().decode(data))

    assert frames == [
        spdy.SynStream(stream_id=1, headers={"port": "8080"}),
        spdy.Data(stream_id=1, data=b"hi", fin=True),
    ]


@given(st.lists(FRAMES, max_size=6))
def test_every_frame_is_decoded_as_it_was_encoded(frames: list[spdy.Frame]) -> None:
    assert list(spdy.Decoder().decode(encode(frames))) == frames


@given(st.lists(FRAMES, min_size=1, max_size=4), st.data())
def test_the_frames_do_not_depend_on_how_the_bytes_are_split(
    frames: list[spdy.Frame], data: st.DataObject
) -> None:
    encoded = encode(frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(encoded)), max_size=8)))
    decoder = spdy.Decoder()

    decoded = [
        frame
        for start, end in zip([0, *cuts], [*cuts, len(encoded)], strict=True)
        for frame in decoder.decode(encoded[start:end])
    ]

    assert decoded == frames


def test_the_frames_are_the_same_for_every_split_in_two_and_for_single_bytes() -> None:
    frames: list[spdy.Frame] = [
        spdy.SynStream(stream_id=1, headers={"streamtype": "error", "port": "80"}),
        spdy.Data(stream_id=1, data=b"x" * 20, fin=True),
        spdy.Headers(stream_id=1, headers={"a": "b"}),
    ]
    encoded = encode(frames)
    splits = [[encoded[:at], encoded[at:]] for at in range(len(encoded))]
    splits.append([encoded[at : at + 1] for at in range(len(encoded))])

    for pieces in splits:
        decoder = spdy.Decoder()
        assert [frame for piece in pieces for frame in decoder.decode(piece)] == frames


@given(st.binary(max_size=200))
def test_any_bytes_give_frames_or_an_error_of_the_protocol(data: bytes) -> None:
    session = spdy.Session(is_server=True)
    try:
        events(session, data)
    except spdy.SPDYError:
        with pytest.raises(spdy.SPDYError):
            events(session, b"")


@given(st.lists(FRAMES, min_size=1, max_size=4), st.data())
def test_a_changed_byte_gives_frames_or_an_error_of_the_protocol(
    frames: list[spdy.Frame], data: st.DataObject
) -> None:
    encoded = bytearray(encode(frames))
    at = data.draw(st.integers(0, len(encoded) - 1))
    encoded[at] ^= data.draw(st.integers(1, 255))
    session = spdy.Session(is_server=data.draw(st.booleans()))
    with contextlib.suppress(spdy.SPDYError):
        events(session, bytes(encoded))


def test_frames_before_a_bad_one_are_delivered() -> None:
    good = encode([spdy.Ping(ping_id=1)])
    received: list[spdy.Frame] = []

    with pytest.raises(spdy.SPDYError, match="stream 0"):
        received.extend(spdy.Decoder().decode(good + bytes(8)))

    assert received == [spdy.Ping(ping_id=1)]


def test_frames_that_were_not_taken_come_first_in_the_next_call() -> None:
    decoder = spdy.Decoder()
    first = next(decoder.decode(encode([spdy.Ping(ping_id=1), spdy.Ping(ping_id=2)])))
    assert [first, *decoder.decode(b"")] == [spdy.Ping(ping_id=1), spdy.Ping(ping_id=2)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (struct.pack(">II", 1, 2_000_000), "2000000 bytes"),
        (b"HTTP/1.1 400 Bad", "limit"),
        (b"\x80\x02\0\1\0\0\0\x0a", "version 2"),
        (b"\x80\x03\0\5\0\0\0\x0a", "unknown type 5"),
        (b"\x80\x03\0\3\0\0\0\x07", "type 3 with 7 bytes"),
        (b"\x80\x03\0\1\0\0\0\x09", "type 1 with 9 bytes"),
        (b"\x80\x03\0\4\0\0\0\4\0\1\0\0", "65536 entries"),
        (b"\x80\x03\0\2\0\0\0\7\0\0\0\1abc", "decompress"),
        (b"\x80\x03\0\3\0\0\0\x08\0\0\0\0\0\0\0\1", "for stream 0"),
    ],
)
def test_a_frame_that_is_not_valid_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(spdy.SPDYError, match=message):
        list(spdy.Decoder().decode(data))


def syn_reply(block: bytes, *, end: int = zlib.Z_SYNC_FLUSH) -> bytes:
    compressor = zlib.compressobj(zdict=spdy.DICTIONARY)
    compressed = compressor.compress(block) + compressor.flush(end)
    return struct.pack(">III", 0x80030002, 4 + len(compressed), 1) + compressed


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (b"\0\0\0\1" + b"\0\0\0\1A" + b"\0\0\0\1b", "lower case"),
        (b"\0\0\0\1" + b"\0\0\0\0" + b"\0\0\0\1b" + b"\0\0\0\0", "empty"),
        (b"\0\0\0\2" + (b"\0\0\0\1a" + b"\0\0\0\1b") * 2, "twice"),
        (b"\0\0\0\1" + b"\0\0\0\1a" + b"\0\0\0\x09b", "incomplete"),
        (b"\0\0\0\1" + b"\0\0\0\1aaaa", "incomplete"),
        (b"\xff\xff\xff\xff" + b"\0\0\0\1a", "headers"),
        (b"\0\0\0\0zz", "2 bytes after"),
        (b"\0\0", "incomplete"),
        (bytes(1 << 22), "more than 65536"),
    ],
)
def test_a_header_block_that_is_not_valid_is_refused(block: bytes, message: str) -> None:
    with pytest.raises(spdy.SPDYError, match=message):
        list(spdy.Decoder().decode(syn_reply(block)))


def test_a_header_block_that_ends_the_compression_is_refused() -> None:
    with pytest.raises(spdy.SPDYError, match="ends the compression"):
        list(spdy.Decoder().decode(syn_reply(bytes(4), end=zlib.Z_FINISH)))


@pytest.mark.parametrize(
    "frame",
    [
        spdy.Data(stream_id=0),
        spdy.Data(stream_id=1, data=bytes(1 << 24)),
        spdy.SynReply(stream_id=1, headers={"Port": "1"}),
        spdy.SynReply(stream_id=1, headers={"port": "€"}),
    ],
)
def test_a_frame_that_cannot_be_sent_is_an_error(frame: spdy.Frame) -> None:
    with pytest.raises(spdy.SPDYError, match="encode"):
        spdy.Encoder().encode(frame)


def test_a_stream_is_opened_accepted_and_ended_by_both_sides() -> None:
    client, server = pair()

    stream_id, data = client.open({"streamtype": "data", "port": "80", "requestid": "0"})
    opened = events(server, data)
    accepted = events(client, server.reply(stream_id))
    request = events(server, client.send(stream_id, b"GET", fin=True))
    half_closed = server.stats().open_streams
    response = events(client, server.send(stream_id, b"200", fin=True))

    headers = {"streamtype": "data", "port": "80", "requestid": "0"}
    assert opened == [spdy.SynStream(stream_id=1, headers=headers)]
    assert accepted == [spdy.SynReply(stream_id=1)]
    assert request == [spdy.Data(stream_id=1, data=b"GET", fin=True)]
    assert half_closed == 1
    assert response == [spdy.Data(stream_id=1, data=b"200", fin=True)]
    assert client.stats().open_streams == server.stats().open_streams == 0


def test_data_is_not_sent_before_the_stream_is_accepted() -> None:
    client, _ = pair()
    stream_id, _ = client.open({})
    assert not client.can_send(stream_id)
    with pytest.raises(spdy.SPDYError, match="not accepted yet"):
        client.send(stream_id, b"x")


def test_large_data_is_sent_in_several_frames_and_only_the_last_one_ends_the_stream() -> None:
    client, server = pair(spdy.Limits(frame_size=64))
    stream_id = open_stream(client, server)

    received = events(client, server.send(stream_id, bytes(64) + b"abc", fin=True))

    assert received == [
        spdy.Data(stream_id=1, data=bytes(64)),
        spdy.Data(stream_id=1, data=b"abc", fin=True),
    ]


def test_nothing_is_sent_after_the_end_of_a_direction() -> None:
    client, server = pair()
    stream_id = open_stream(client, server)
    client.send(stream_id, fin=True)
    with pytest.raises(spdy.StreamClosed, match="finished"):
        client.send(stream_id, b"x")


def test_a_reset_ends_the_stream_for_both_sides_and_late_data_is_dropped() -> None:
    client, server = pair()
    stream_id = open_stream(client, server)
    late = server.send(stream_id, b"late")

    reset = events(server, client.reset(stream_id))

    assert reset == [spdy.RstStream(stream_id=1, status=spdy.ResetStatus.CANCEL)]
    assert events(client, late) == []
    assert client.reset(stream_id) == b""
    with pytest.raises(spdy.StreamClosed):
        server.send(stream_id, b"x")


def test_data_after_the_end_of_its_direction_resets_only_that_stream() -> None:
    client, server = pair()
    stream_id, other = open_stream(client, server), open_stream(client, server)
    encoder = spdy.Encoder()
    data = encoder.encode(spdy.Data(stream_id=stream_id, fin=True))
    data += encoder.encode(spdy.Data(stream_id=stream_id, data=b"x"))

    (_, outgoing) = events(server, data)

    assert isinstance(outgoing, spdy.Outgoing)
    assert events(client, outgoing.data) == [
        spdy.RstStream(stream_id=stream_id, status=spdy.ResetStatus.STREAM_ALREADY_CLOSED)
    ]
    assert server.can_send(other)


def test_a_ping_of_the_peer_is_answered_and_its_reply_is_reported() -> None:
    client, server = pair()
    ping_id, ping = client.ping()

    (outgoing,) = events(server, ping)

    assert isinstance(outgoing, spdy.Outgoing)
    assert events(client, outgoing.data) == [spdy.Ping(ping_id=ping_id)]
    assert client.ping()[0] == ping_id + 2


def test_streams_over_the_limit_are_refused_and_the_others_continue() -> None:
    client, server = pair(spdy.Limits(streams=1))
    first = open_stream(client, server)
    second, data = client.open({})

    (outgoing,) = events(server, data)

    assert isinstance(outgoing, spdy.Outgoing)
    assert events(client, outgoing.data) == [
        spdy.RstStream(stream_id=second, status=spdy.ResetStatus.REFUSED_STREAM)
    ]
    assert server.can_send(first)
    with pytest.raises(spdy.SPDYError, match="limit"):
        server.open({})


def test_after_go_away_no_stream_is_opened_by_either_side() -> None:
    client, server = pair()
    open_stream(client, server)
    _, late = client.open({})

    received = events(client, server.go_away())

    assert received == [spdy.GoAway(last_stream_id=1, status=spdy.GoAwayStatus.OK)]
    assert events(server, late) == []
    with pytest.raises(spdy.StreamClosed, match="GOAWAY"):
        client.open({})


@pytest.mark.parametrize(
    "frames",
    [
        [spdy.SynStream(stream_id=2)],
        [spdy.SynStream(stream_id=3), spdy.SynStream(stream_id=1)],
        [spdy.SynStream(stream_id=1), spdy.SynReply(stream_id=1)],
        [spdy.Data(stream_id=5)],
        [spdy.SynReply(stream_id=2)],
    ],
)
def test_a_frame_that_does_not_fit_the_state_is_an_error(frames: list[spdy.Frame]) -> None:
    server = spdy.Session(is_server=True)
    with pytest.raises(spdy.SPDYError, match="received"):
        events(server, encode(frames))


def test_a_stream_is_accepted_once_and_only_by_its_receiver() -> None:
    client, server = pair()
    stream_id = open_stream(client, server)
    with pytest.raises(spdy.SPDYError, match="no reply"):
        server.reply(stream_id)
    own, _ = server.open({})
    with pytest.raises(spdy.SPDYError, match="no reply"):
        server.reply(own)


def test_settings_and_windows_have_no_effect() -> None:
    server = spdy.Session(is_server=True)
    frames: list[spdy.Frame] = [
        spdy.Settings(values={7: 65536}),
        spdy.WindowUpdate(stream_id=0, delta=10),
    ]
    assert events(server, encode(frames)) == []


@given(st.lists(st.tuples(st.integers(0, 5), st.binary(max_size=200), st.booleans()), max_size=30))
def test_a_session_delivers_the_bytes_of_each_stream_in_order(
    steps: list[tuple[int, bytes, bool]],
) -> None:
    client, server = pair(spdy.Limits(frame_size=64))
    ids = [open_stream(client, server) for _ in range(6)]
    sent = dict.fromkeys(ids, b"")
    received = dict.fromkeys(ids, b"")
    for index, data, fin in steps:
        stream_id = ids[index]
        if not server.can_send(stream_id):
            continue
        sent[stream_id] += data
        for event in client.receive(server.send(stream_id, data, fin=fin)):
            assert isinstance(event, spdy.Data)
            received[event.stream_id] += event.data
    assert received == sent
