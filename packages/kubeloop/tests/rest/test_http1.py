"""The parser of responses, with h11 as the oracle: the same result as h11, or an error."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeloop.rest.http1 import (
    MAX_EXTRAS,
    MAX_FIELDS,
    MAX_HEAD,
    ProtocolError,
    ResponseHeaders,
    ResponseParser,
)

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Result(NamedTuple):
    """A response as a caller sees it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    reusable: bool
    upgraded: bytes | None = None


class Recorder:
    """Receives the parts of one response."""

    def __init__(self) -> None:
        self.status = 0
        self.headers = ResponseHeaders()
        self.body = b""
        self.ends = 0
        self.reusable = False
        self.upgraded: bytes | None = None

    def on_response(
        self, status: int, headers: ResponseHeaders, body: bytes, *, reusable: bool
    ) -> None:
        self.on_head(status, headers)
        self.body += body
        self.on_end(reusable=reusable)

    def on_head(self, status: int, headers: ResponseHeaders) -> None:
        assert not self.status
        self.status, self.headers = status, headers

    def on_body(self, data: bytes) -> None:
        assert data
        self.body += data

    def on_end(self, *, reusable: bool) -> None:
        self.ends += 1
        self.reusable = reusable

    def on_upgrade(self, status: int, headers: ResponseHeaders, received: bytes) -> None:
        self.status, self.headers, self.upgraded = status, headers, received

    def result(self) -> Result:
        pairs = tuple(
            sorted((name, value) for name in self.headers for value in self.headers.all_of(name))
        )
        return Result(self.status, pairs, self.body, self.reusable, self.upgraded)


def parse(pieces: list[bytes], method: str = "GET") -> Result | str:
    """The result for bytes that arrive in these pieces, after which the connection ends."""
    recorder = Recorder()
    parser = ResponseParser(recorder)
    parser.expect(method)
    try:
        for piece in pieces:
            if recorder.ends or recorder.upgraded is not None:
                if recorder.upgraded is not None:
                    recorder.upgraded += piece
                else:
                    recorder.reusable = False  # bytes without a request end the connection
                continue
            if piece:
                parser.feed(piece)
        parser.close()
    except ProtocolError as error:
        return str(error)
    return recorder.result()


def parse_with_h11(data: bytes, method: str = "GET") -> Result | str:
    """The same with h11."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
    connection.send(h11.Request(method=method, target="/", headers=[("Host", "h")]))
    connection.send(h11.EndOfMessage())
    status, headers, body = 0, [], b""
    try:
        if data:
            connection.receive_data(data)
        has_ended = False
        while True:
            event = connection.next_event()
            if isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                pairs = tuple(sorted((n.decode(), _text(v)) for n, v in event.headers))
                return Result(101, pairs, b"", False, connection.trailing_data[0])
            if isinstance(event, h11.Response):
                status, headers = event.status_code, list(event.headers)
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
            elif event is h11.NEED_DATA and not has_ended:
                has_ended = True
                connection.receive_data(b"")
            elif isinstance(event, h11.ConnectionClosed) or event in (h11.NEED_DATA, h11.PAUSED):
                return "incomplete"
    except h11.RemoteProtocolError as error:
        return str(error)
    reusable = (
        connection.their_state is h11.DONE
        and connection.our_state is h11.DONE
        and not connection.trailing_data[0]
        and not has_ended
    )
    pairs = tuple(sorted((name.decode(), _text(value)) for name, value in headers))
    return Result(status, pairs, body, reusable)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def cut(data: bytes, positions: list[int]) -> list[bytes]:
    ends = sorted({position % (len(data) + 1) for position in positions} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(ends)] or [b""]


# --- responses


tokens = st.sampled_from(
    ["x-a", "Content-Type", "X-Kubernetes-Pf", "warning", "Date", "connection"]
)
values = st.sampled_from(
    ["", "a", "application/json", "close", "keep-alive", "a, close", '299 - "b"', "é"]
)
fields = st.lists(st.tuples(tokens, values), max_size=4)
statuses = st.sampled_from([200, 201, 204, 304, 404, 409, 500])
contents = st.binary(max_size=60)


@st.composite
def responses(draw: st.DrawFn) -> bytes:
    """A response in one of the forms that servers send."""
    version = draw(st.sampled_from(["1.1", "1.1", "1.1", "1.0"]))
    head = f"HTTP/{version} {draw(statuses)} Reason\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in draw(fields))
    interim = draw(st.sampled_from([b"", b"", b"HTTP/1.1 100 Continue\r\n\r\n"]))
    body = draw(contents)
    match draw(st.sampled_from(["length", "chunked", "rest", "none"])):
        case "length":
            return interim + f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        case "chunked":
            sizes = draw(st.lists(st.integers(1, 20), max_size=5))
            extension = draw(st.sampled_from([b"", b";a", b";a=b"]))
            trailers = draw(st.sampled_from([b"", b"", b"X-T: 1\r\n", b"X-T: 1\r\nX-U: 2\r\n"]))
            chunks, rest = b"", body
            for size in sizes:
                piece, rest = rest[:size], rest[size:]
                if piece:
                    chunks += b"%x%s\r\n%s\r\n" % (len(piece), extension, piece)
            if rest:
                chunks += b"%X\r\n%s\r\n" % (len(rest), rest)
            return (
                interim
                + f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
                + chunks
                + b"0\r\n"
                + trailers
                + b"\r\n"
            )
        case "rest":
            return interim + f"{head}\r\n".encode() + body
    return interim + f"{head}Content-Length: 0\r\n\r\n".encode()


@st.composite
def hostile(draw: st.DrawFn) -> bytes:
    """A response with a few bytes changed, added or removed."""
    data = bytearray(draw(responses()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["change", "add", "remove", "repeat"])):
            case "change" if data:
                data[at] = draw(st.sampled_from(list(b"\r\n\0 :;,0aF\x7f\xff")))
            case "add":
                data[at:at] = draw(
                    st.sampled_from(
                        [
                            b"\r\n",
                            b"\n",
                            b"\r",
                            b" ",
                            b"0",
                            b"Content-Length: 3\r\n",
                            b"\0",
                            b"Transfer-Encoding: gzip\r\n",
                        ]
                    )
                )
            case "remove" if data:
                del data[at : at + draw(st.integers(1, 4))]
            case _:
                data += data[at:]
    return bytes(data)


anything = responses() | hostile()
positions = st.lists(st.integers(0, 10_000), max_size=12)
methods = st.sampled_from(["GET", "HEAD", "PUT"])


@given(anything, positions, methods)
@example(CHUNKED + b"3\r\nabc\r\n0\r\n\r\n", list(range(90)), "GET")
@example(OK + b"Content-Length: 3\r\n\r\nabc", list(range(60)), "GET")
@example(b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nabc", [50, 62], "GET")
def test_the_result_does_not_depend_on_how_the_bytes_are_split(
    data: bytes, positions: list[int], method: str
) -> None:
    whole, pieces = parse([data], method), parse(cut(data, positions), method)
    if isinstance(whole, str):
        assert isinstance(pieces, str)
    else:
        assert pieces == whole


@given(anything, methods)
def test_a_response_is_what_h11_reads_or_an_error(data: bytes, method: str) -> None:
    ours = parse([data], method)
    if not isinstance(ours, str):
        assert ours == parse_with_h11(data, method)


@given(responses(), methods)
def test_a_valid_response_is_read(data: bytes, method: str) -> None:
    expected = parse_with_h11(data, method)
    # h11 accepts chunks in HTTP/1.0, which did not have them.
    if not isinstance(expected, str) and b"HTTP/1.0" not in data:
        assert parse([data], method) == expected


# What Python reads as a number, and what it does not.
ODD_NUMBERS = (
    *("0x5", "0X5", "0b1", "0o5", "1_0", "+5", "-5", " 5", "5 ", "\t5", "5\t", "5\v", "5\f"),
    *(
        "5\x85",
        "\u0665",
        "\uff15",
        "5e0",
        "5.",
        "5h",
        "0x",
        "x5",
        "'5'",
        "5,5",
        "5, 5",
        "5;",
        "5 ;a",
    ),
    *("", "00", "05", "5", "0000000000000005", "00000000000000005", "5" * 20, "9" * 5000),
)


def cuts_of(data: bytes, start: int) -> Iterator[list[bytes]]:
    """The bytes whole, byte by byte, and cut at one or two places from `start` on."""
    yield [data]
    yield [data[:start], *(data[at : at + 1] for at in range(start, len(data)))]
    places = range(start, min(len(data), start + 40))
    for one, other in itertools.combinations_with_replacement(places, 2):
        yield [data[:one], data[one:other], data[other:]]


@pytest.mark.parametrize("number", [*ODD_NUMBERS, "a", "A", "5;a=b", "5;a=\xe9", "5; a"])
def test_the_size_of_a_chunk_has_hexadecimal_digits_only_however_it_is_split(number: str) -> None:
    for encoding in ("utf-8", "latin-1"):
        line = number.encode(encoding, "ignore")
        digits = line.partition(b";")[0]
        is_size = re.fullmatch(rb"[0-9a-fA-F]{1,16}", digits) is not None
        content = b"x" * (int(digits, 16) if is_size else 5)
        data = CHUNKED + line + b"\r\n" + content + b"\r\n0\r\n\r\n"
        expected = parse_with_h11(data) if is_size else "refused"
        for pieces in cuts_of(data, len(CHUNKED)):
            found = parse(pieces)
            assert found == expected or (isinstance(found, str) and isinstance(expected, str))


@pytest.mark.parametrize("number", ODD_NUMBERS)
def test_a_content_length_has_decimal_digits_only_however_it_is_split(number: str) -> None:
    for encoding in ("utf-8", "latin-1"):
        value = number.encode(encoding, "ignore")
        data = OK + b"Content-Length: " + value + b"\r\n\r\n"
        data += b"abcde" if value.strip(b"0 \t") else b""
        expected = (
            parse_with_h11(data) if re.fullmatch(rb"[ \t]*[0-9]{1,19}[ \t]*", value) else "refused"
        )
        for pieces in cuts_of(data, len(OK)):
            found = parse(pieces)
            assert found == expected or (isinstance(found, str) and isinstance(expected, str))


# --- bounds, counted before anything is parsed


def feed_endless(start: bytes, piece: bytes, *, most: int = 4096) -> tuple[str, int]:
    """Feed `piece` again and again; the error, and how many bytes were taken until then."""
    parser = ResponseParser(Recorder())
    parser.expect("GET")
    parser.feed(start)
    for count in range(most):
        try:
            parser.feed(piece)
        except ProtocolError as error:
            return str(error), count * len(piece)
    raise AssertionError("no bound")


@pytest.mark.parametrize("size", [1, 7, 1000, 60_000])
def test_an_endless_head_is_refused_at_64_kb(size: int) -> None:
    began = time.process_time()
    error, taken = feed_endless(OK + b"X: ", b"a" * size, most=70_000)

    assert "larger than 65536 bytes" in error
    assert taken <= MAX_HEAD
    assert time.process_time() - began < 2


@pytest.mark.parametrize("size", [1, 100, 9000])
def test_an_endless_extension_of_a_chunk_is_refused_at_8_kb(size: int) -> None:
    error, taken = feed_endless(CHUNKED + b"3;", b"a" * size, most=10_000)

    assert "extension of a chunk" in error
    assert taken <= MAX_EXTRAS + 20


@pytest.mark.parametrize("piece", [b"a", b"X: y\r\n", b"a" * 9000])
def test_endless_trailers_are_refused_at_8_kb(piece: bytes) -> None:
    error, taken = feed_endless(CHUNKED + b"0\r\nX: ", piece, most=10_000)

    assert "trailers" in error
    assert taken <= MAX_EXTRAS + 4


def test_more_than_256_fields_are_refused() -> None:
    fields = b"".join(b"x-%d: 1\r\n" % number for number in range(MAX_FIELDS + 1))

    assert parse([OK + fields + b"\r\n"]) == "the head has more than 256 fields"


def test_a_status_below_100_is_refused() -> None:
    assert parse([b"HTTP/1.1 099 Odd\r\n\r\n"]) == "the response has the status 099"


def test_interim_responses_have_an_end() -> None:
    assert "interim" in str(parse([b"HTTP/1.1 103 Early\r\n\r\n" * 100]))


# --- what a parser alone would not find


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTT",
        OK,
        OK + b"Content-Length: 5\r\n\r\nabc",
        CHUNKED + b"5\r\nabc",
        CHUNKED + b"3\r\nabc\r\n",
        CHUNKED + b"3\r\nabc\r\n0\r\n",
        CHUNKED + b"3\r\nabc\r\n0\r\nX: y\r\n",
    ],
)
def test_a_response_that_ends_early_is_an_error(data: bytes) -> None:
    assert isinstance(parse([data]), str)


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/0.9 200 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"\r\nHTTP/1.1 200 OK\r\n\r\n",
        OK + b"Transfer-Encoding: gzip\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"X: a\r\n b\r\n\r\n",
        b"HTTP/1.1 200 OK\nX: a\n\n",
        CHUNKED + b"3 \r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"+3\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"3\nabc\n0\n\n",
        CHUNKED + b"3\r\nabcd\r\n0\r\n\r\n",
        CHUNKED + b"fffffffffffffffff\r\n",
        CHUNKED + b"0\r\nX : y\r\n\r\n",
    ],
)
def test_what_is_ambiguous_or_not_supported_is_refused(data: bytes) -> None:
    assert isinstance(parse([data]), str)


@pytest.mark.parametrize("pieces", [[b"HTTP/1.1 200 OK\r\nX:"], [b"SSH-2.0"], [b"HT", b"MX"]])
def test_another_protocol_is_found_with_its_first_bytes(pieces: list[bytes]) -> None:
    """A server of another protocol may wait for us: its bytes are not a head that is incomplete."""
    parser = ResponseParser(Recorder())
    parser.expect("GET")
    try:
        for piece in pieces:
            parser.feed(piece)
    except ProtocolError:
        assert not pieces[0].startswith(b"HTTP")
    else:
        assert pieces[0].startswith(b"HTTP")


def test_a_second_response_to_one_request_ends_the_connection() -> None:
    recorder = Recorder()
    parser = ResponseParser(recorder)
    parser.expect("GET")
    whole = OK + b"Content-Length: 2\r\n\r\n{}"

    parser.feed(whole + whole)
    assert (recorder.body, recorder.reusable) == (b"{}", False)

    with pytest.raises(ProtocolError, match="without a request"):
        parser.feed(whole)


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_a_body_is_complete_with_its_head(status: int) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Length: 10\r\n\r\n".encode()
    found = parse([head])

    assert not isinstance(found, str)
    assert (found.status, found.body, found.reusable) == (status, b"", True)


def test_a_response_to_head_has_a_length_and_no_body() -> None:
    found = parse([OK + b"Content-Length: 10\r\n\r\n"], "HEAD")

    assert not isinstance(found, str)
    assert (found.body, found.reusable) == (b"", True)


def test_a_switch_of_protocols_passes_on_what_follows() -> None:
    head = b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    found = parse([head + b"\x82\x01x"])

    assert not isinstance(found, str)
    assert (found.status, found.upgraded) == (101, b"\x82\x01x")


def test_names_of_headers_are_found_in_any_case_and_values_are_not_joined() -> None:
    found = ResponseHeaders(["Warning: a", "warning:b, c ", "Date:\tx"])

    assert (found["WARNING"], found.get("date"), found.get("no")) == ("a", "x", None)
    assert found.all_of("Warning") == ["a", "b, c"]
    assert found.all_of("No") == []
    assert (list(found), len(found), "DATE" in found) == (["warning", "date"], 2, True)
