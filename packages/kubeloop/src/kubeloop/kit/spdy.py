"""SPDY/3.1 frames and the state of a session, without I/O: port forwarding runs on it.

kubectl and kube-apiserver forward ports with SPDY frames inside WebSocket messages
(`SPDY/3.1+portforward.k8s.io`). Both sides of kubeloop use this module: the client and the
embedded server.

Guarantees: a `Session` neither reads nor writes; it turns received bytes into frames and
calls into bytes, however the bytes are split. A frame that breaks the protocol or a limit
raises `SPDYError` before its content is stored, and the session accepts nothing after it. Memory is
bounded by `Limits`.

As moby/spdystream, which all Kubernetes components use, there is no flow control: WINDOW_UPDATE
is accepted and has no effect, and is never sent. The connection below has the backpressure.

Source: the SPDY/3.1 draft at chromium.org (spdy-protocol-draft3-1).
"""

from __future__ import annotations

import enum
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, final

import msgspec

__all__ = [
    "DICTIONARY",
    "VERSION",
    "Data",
    "Decoder",
    "Encoder",
    "Frame",
    "GoAway",
    "GoAwayStatus",
    "Headers",
    "Limits",
    "Outgoing",
    "Ping",
    "ResetStatus",
    "RstStream",
    "SPDYError",
    "Session",
    "SessionStats",
    "Settings",
    "StreamClosed",
    "SynReply",
    "SynStream",
    "WindowUpdate",
]

VERSION: Final = 3
"""The version in control frames: SPDY/3.1 kept the 3 of SPDY/3."""

_WORDS: Final = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language "
    "accept-ranges age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type date "
    "etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate "
    "proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url "
    "public set-cookie keep-alive origin"
)
_TEXT: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
    "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY: Final = (
    b"".join(
        struct.pack(">I", len(word)) + word.replace("_", " ").encode() for word in _WORDS.split()
    )
    + _TEXT.encode()
)
"""The zlib dictionary of header blocks, a constant of the protocol (section 2.6.10.1)."""

_HEADER: Final = struct.Struct(">II")
_WORD: Final = struct.Struct(">I")
_CONTROL: Final = 0x8000_0000
_ID_MASK: Final = 0x7FFF_FFFF
_MAX_LENGTH: Final = 0xFF_FFFF
_FIN: Final = 0x01
_UNIDIRECTIONAL: Final = 0x02
_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _HEADERS, _WINDOW_UPDATE = (
    1,
    2,
    3,
    4,
    6,
    7,
    8,
    9,
)


class SPDYError(Exception):
    """The peer broke the protocol or a limit, or a call did not fit the session's state."""


class StreamClosed(SPDYError):
    """The stream ended: it was reset, or this side finished it, or the session ended."""


class ResetStatus(enum.IntEnum):
    """Why a stream was reset."""

    PROTOCOL_ERROR = 1
    INVALID_STREAM = 2
    REFUSED_STREAM = 3
    UNSUPPORTED_VERSION = 4
    CANCEL = 5
    INTERNAL_ERROR = 6
    FLOW_CONTROL_ERROR = 7
    STREAM_IN_USE = 8
    STREAM_ALREADY_CLOSED = 9
    INVALID_CREDENTIALS = 10
    FRAME_TOO_LARGE = 11


class GoAwayStatus(enum.IntEnum):
    """Why a session ends."""

    OK = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a session accepts from its peer, and the size of the frames that it sends."""

    frame_size: int = 1 << 20
    """Bytes of a frame without its 8 bytes of header; Go's io.Copy sends 32 KiB."""
    header_size: int = 1 << 16
    """Bytes of a header block after decompression."""
    streams: int = 4096
    """Streams that are open at once, of both sides together."""


class SynStream(msgspec.Struct, frozen=True, kw_only=True):
    """Opens a stream. Header names are lower case."""

    stream_id: int
    headers: Mapping[str, str] = {}
    fin: bool = False
    unidirectional: bool = False
    associated_to: int = 0
    priority: int = 0


class SynReply(msgspec.Struct, frozen=True, kw_only=True):
    """Accepts a stream that the peer opened."""

    stream_id: int
    headers: Mapping[str, str] = {}
    fin: bool = False


class RstStream(msgspec.Struct, frozen=True, kw_only=True):
    """Ends a stream in both directions. `status` may be a number that `ResetStatus` lacks."""

    stream_id: int
    status: int = ResetStatus.CANCEL


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the peer, by their number; they have no effect."""

    values: Mapping[int, int] = {}


class Ping(msgspec.Struct, frozen=True, kw_only=True):
    """A ping, or the reply to one: odd numbers are of the client, even ones of the server."""

    ping_id: int


class GoAway(msgspec.Struct, frozen=True, kw_only=True):
    """The peer accepts no stream after `last_stream_id`."""

    last_stream_id: int = 0
    status: int = GoAwayStatus.OK


class Headers(msgspec.Struct, frozen=True, kw_only=True):
    """More headers of an open stream."""

    stream_id: int
    headers: Mapping[str, str] = {}
    fin: bool = False


class WindowUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """How many more bytes the peer would accept; it has no effect."""

    stream_id: int
    delta: int


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a stream; with `fin` they are the last ones of the sender."""

    stream_id: int
    data: bytes = b""
    fin: bool = False


class Outgoing(msgspec.Struct, frozen=True):
    """Bytes that the session has to send in response to what it received."""

    data: bytes


Frame: TypeAlias = (
    SynStream | SynReply | RstStream | Settings | Ping | GoAway | Headers | WindowUpdate | Data
)


@final
class Encoder:
    """Encodes frames of one direction.

    The compression of header blocks has a state, so the bytes must be sent in the order in
    which `encode` returned them.
    """

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(level=9, zdict=DICTIONARY)

    def encode(self, frame: Frame) -> bytes:
        """The bytes of a frame. Raises: SPDYError when it cannot be encoded."""
        match frame:
            case Data(stream_id=stream_id, data=data, fin=fin):
                if len(data) > _MAX_LENGTH:
                    raise SPDYError(f"encode DATA: {len(data)} bytes do not fit into one frame")
                flags = _FIN if fin else 0
                return _HEADER.pack(_stream(stream_id), flags << 24 | len(data)) + data
            case SynStream():
                flags = (_FIN if frame.fin else 0) | (
                    _UNIDIRECTIONAL if frame.unidirectional else 0
                )
                fields = struct.pack(
                    ">IIBB", _stream(frame.stream_id), frame.associated_to, frame.priority << 5, 0
                )
                return self._control(_SYN_STREAM, fields + self._block(frame.headers), flags)
            case SynReply() | Headers():
                number = _SYN_REPLY if isinstance(frame, SynReply) else _HEADERS
                fields = _WORD.pack(_stream(frame.stream_id))
                flags = _FIN if frame.fin else 0
                return self._control(number, fields + self._block(frame.headers), flags)
            case RstStream():
                return self._control(
                    _RST_STREAM, _HEADER.pack(_stream(frame.stream_id), frame.status)
                )
            case Settings(values=values):
                pairs = b"".join(_HEADER.pack(number, value) for number, value in values.items())
                return self._control(_SETTINGS, _WORD.pack(len(values)) + pairs)
            case Ping(ping_id=ping_id):
                return self._control(_PING, _WORD.pack(ping_id))
            case GoAway():
                return self._control(_GOAWAY, _HEADER.pack(frame.last_stream_id, frame.status))
            case WindowUpdate():
                return self._control(_WINDOW_UPDATE, _HEADER.pack(frame.stream_id, frame.delta))

    def _control(self, number: int, payload: bytes, flags: int = 0) -> bytes:
        first = _CONTROL | VERSION << 16 | number
        if len(payload) > _MAX_LENGTH:
            raise SPDYError(f"encode: a control frame of {len(payload)} bytes is too large")
        return _HEADER.pack(first, flags << 24 | len(payload)) + payload

    def _block(self, headers: Mapping[str, str]) -> bytes:
        parts = [_WORD.pack(len(headers))]
        for name, value in headers.items():
            for text in (_header_name(name), value):
                encoded = _encode_text(text)
                parts += (_WORD.pack(len(encoded)), encoded)
        return self._compressor.compress(b"".join(parts)) + self._compressor.flush(
            zlib.Z_SYNC_FLUSH
        )


def _stream(stream_id: int) -> int:
    if not 0 < stream_id <= _ID_MASK:
        raise SPDYError(f"encode: {stream_id} is not the number of a stream")
    return stream_id


def _header_name(name: str) -> str:
    if not name or name != name.lower():
        raise SPDYError(f"encode: the header name {name!r} is empty or not in lower case")
    return name


def _encode_text(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError as error:
        raise SPDYError(f"encode: the header {text[:40]!r} is not Latin-1") from error


@final
class Decoder:
    """Decodes frames of one direction from bytes, however they are split."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._decompressor = zlib.decompressobj(zdict=DICTIONARY)
        self._buffer = bytearray()  # holds at most one incomplete frame between two calls
        self._error: SPDYError | None = None

    def decode(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete now; unfinished bytes are kept for the next call.

        Iterate to the end; frames that were not taken come first in the next call.

        Raises: SPDYError at the first frame that is not valid, and from then on.
        """
        self._buffer += data
        return self._frames()

    def _frames(self) -> Iterator[Frame]:
        if self._error is not None:
            raise self._error
        while len(self._buffer) >= _HEADER.size:
            first, second = _HEADER.unpack_from(self._buffer)
            length = second & _MAX_LENGTH
            try:
                self._check(first, length)
                if len(self._buffer) < _HEADER.size + length:
                    return
                with memoryview(self._buffer) as view:
                    payload = bytes(view[_HEADER.size : _HEADER.size + length])
                del self._buffer[: _HEADER.size + length]
                frame = self._frame(first, second >> 24, payload)
            except SPDYError as error:
                self._error = error
                self._buffer.clear()
                raise
            yield frame

    def _check(self, first: int, length: int) -> None:
        """Refuse a frame by its first 8 bytes, before its content is stored."""
        if length > self._limits.frame_size:
            raise SPDYError(
                f"received a SPDY frame of {length} bytes (the limit is {self._limits.frame_size})"
            )
        if not first & _CONTROL:
            if first == 0:
                raise SPDYError("received SPDY DATA for stream 0 (the peer may not speak SPDY)")
            return
        if (version := first >> 16 & 0x7FFF) != VERSION:
            raise SPDYError(
                f"received a frame of SPDY version {version}, expected {VERSION} "
                "(the peer may not speak SPDY)"
            )
        if (number := first & 0xFFFF) not in _SIZES:
            raise SPDYError(f"received a SPDY control frame of unknown type {number}")
        least, is_exact = _SIZES[number]
        if length < least or (is_exact and length != least):
            raise SPDYError(f"received a SPDY control frame of type {number} with {length} bytes")

    def _frame(self, first: int, flags: int, payload: bytes) -> Frame:
        fin = bool(flags & _FIN)
        if not first & _CONTROL:
            return Data(stream_id=first, data=payload, fin=fin)
        number = first & 0xFFFF
        if number == _SETTINGS:
            return _settings(payload)
        if number == _PING:
            return Ping(ping_id=_WORD.unpack(payload)[0])
        stream_id = _WORD.unpack_from(payload)[0] & _ID_MASK
        if number == _GOAWAY:
            return GoAway(last_stream_id=stream_id, status=_WORD.unpack_from(payload, 4)[0])
        if number == _WINDOW_UPDATE:
            delta = _WORD.unpack_from(payload, 4)[0] & _ID_MASK
            return WindowUpdate(stream_id=stream_id, delta=delta)
        if stream_id == 0:
            raise SPDYError(f"received a SPDY control frame of type {number} for stream 0")
        if number == _RST_STREAM:
            return RstStream(stream_id=stream_id, status=_WORD.unpack_from(payload, 4)[0])
        if number == _SYN_REPLY:
            return SynReply(stream_id=stream_id, headers=self._block(payload[4:]), fin=fin)
        if number == _HEADERS:
            return Headers(stream_id=stream_id, headers=self._block(payload[4:]), fin=fin)
        return SynStream(
            stream_id=stream_id,
            headers=self._block(payload[10:]),
            fin=fin,
            unidirectional=bool(flags & _UNIDIRECTIONAL),
            associated_to=_WORD.unpack_from(payload, 4)[0] & _ID_MASK,
            priority=payload[8] >> 5,
        )

    def _block(self, compressed: bytes) -> dict[str, str]:
        limit = self._limits.header_size
        try:
            # One byte more than allowed: a small block may decompress to gigabytes.
            block = self._decompressor.decompress(compressed, limit + 1)
        except zlib.error as error:
            raise SPDYError(f"decompress a SPDY header block: {error}") from error
        if len(block) > limit or self._decompressor.unconsumed_tail:
            raise SPDYError(f"received a SPDY header block of more than {limit} bytes")
        if self._decompressor.eof:
            raise SPDYError("received a SPDY header block that ends the compression")
        return _parse_block(block)


_SIZES: Final = {
    # Bytes of a control frame, and whether it has exactly that many.
    _SYN_STREAM: (10, False),
    _SYN_REPLY: (4, False),
    _RST_STREAM: (8, True),
    _SETTINGS: (4, False),
    _PING: (4, True),
    _GOAWAY: (8, True),
    _HEADERS: (4, False),
    _WINDOW_UPDATE: (8, True),
}


def _settings(payload: bytes) -> Settings:
    (count,) = _WORD.unpack_from(payload)
    if len(payload) != 4 + 8 * count:
        raise SPDYError(f"received SPDY SETTINGS of {len(payload)} bytes with {count} entries")
    pairs = (_HEADER.unpack_from(payload, 4 + 8 * index) for index in range(count))
    # The first byte has flags about storing the setting.
    return Settings(values={number & _MAX_LENGTH: value for number, value in pairs})


def _parse_block(block: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    try:
        (count,) = _WORD.unpack_from(block)
        if count > len(block) // 8:
            raise SPDYError(
                f"received a SPDY header block of {len(block)} bytes for {count} headers"
            )
        at = 4
        for _ in range(count):
            name, at = _text(block, at)
            value, at = _text(block, at)
            if not name or name != name.lower() or name in headers:
                raise SPDYError(
                    f"received the SPDY header name {name[:40]!r}: "
                    "empty, twice or not in lower case"
                )
            headers[name] = value
    except struct.error as error:
        raise SPDYError("received a SPDY header block that is incomplete") from error
    if at != len(block):
        raise SPDYError(f"received {len(block) - at} bytes after the headers of a SPDY block")
    return headers


def _text(block: bytes, at: int) -> tuple[str, int]:
    (length,) = _WORD.unpack_from(block, at)
    end = at + 4 + length
    if end > len(block):
        raise SPDYError("received a SPDY header block that is incomplete")
    return block[at + 4 : end].decode("latin-1"), end


class SessionStats(msgspec.Struct, frozen=True):
    """How many streams a session has open, and the last numbers that were used."""

    open_streams: int
    last_opened: int
    last_received: int
    is_ending: bool


class _Stream:
    """Which directions of a stream are open."""

    __slots__ = ("can_receive", "can_send", "is_replied")

    def __init__(self, *, can_send: bool, can_receive: bool, is_replied: bool) -> None:
        self.can_send = can_send
        self.can_receive = can_receive
        # Kubernetes drops data that arrives before the SYN_REPLY was sent or received.
        self.is_replied = is_replied


@final
class Session:
    """One side of a SPDY connection; not thread-safe.

    `receive` takes bytes of the peer and yields frames for the application and `Outgoing` bytes
    for the peer. All other methods return bytes. Send bytes in the order in which they were
    returned: header compression depends on it.
    """

    def __init__(self, *, is_server: bool, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._encoder = Encoder()
        self._decoder = Decoder(self._limits)
        self._streams: dict[int, _Stream] = {}
        self._parity = 0 if is_server else 1  # of stream and ping numbers of this side
        self._last_opened = 0
        self._last_received = 0
        self._last_ping = 0
        self._is_ending = False  # a GOAWAY was sent or received

    def receive(self, data: bytes) -> Iterator[Frame | Outgoing]:
        """Process received bytes; iterate to the end.

        Pings of the peer are answered, streams over the limit are refused, and what arrives for
        a stream that has ended is dropped: these yield `Outgoing` or nothing. Any other frame is
        yielded. A stream ends for both sides when both have sent `fin`, or with a `RstStream`.

        Raises: SPDYError when the peer breaks the protocol or a limit, and from then on. Send
        `go_away(GoAwayStatus.PROTOCOL_ERROR)` and close the connection.
        """
        frames = self._decoder.decode(data)
        return self._events(frames)

    def _events(self, frames: Iterator[Frame]) -> Iterator[Frame | Outgoing]:
        for frame in frames:
            event: Frame | Outgoing | None
            match frame:
                case SynStream():
                    event = self._accept(frame)
                case Data() | SynReply() | Headers() | RstStream():
                    event = self._on_stream(frame)
                case Ping(ping_id=ping_id) if ping_id % 2 != self._parity:
                    event = Outgoing(self._encoder.encode(frame))
                case GoAway():
                    self._is_ending = True
                    event = frame
                case Settings() | WindowUpdate():
                    event = None
                case _:
                    event = frame
            if event is not None:
                yield event

    def _accept(self, frame: SynStream) -> SynStream | Outgoing | None:
        stream_id = frame.stream_id
        if stream_id % 2 == self._parity or stream_id <= self._last_received:
            raise SPDYError(
                f"received SYN_STREAM for stream {stream_id} after {self._last_received}"
            )
        self._last_received = stream_id
        if self._is_ending:
            return None
        if len(self._streams) >= self._limits.streams:
            refusal = RstStream(stream_id=stream_id, status=ResetStatus.REFUSED_STREAM)
            return Outgoing(self._encoder.encode(refusal))
        self._streams[stream_id] = _Stream(
            can_send=not frame.unidirectional, can_receive=not frame.fin, is_replied=False
        )
        return frame

    def _on_stream(
        self, frame: Data | SynReply | Headers | RstStream
    ) -> Data | SynReply | Headers | RstStream | Outgoing | None:
        stream = self._streams.get(frame.stream_id)
        if stream is None:
            is_own = frame.stream_id % 2 == self._parity
            if frame.stream_id > (self._last_opened if is_own else self._last_received):
                raise SPDYError(f"received a SPDY frame for stream {frame.stream_id}, never opened")
            return None  # both sides ended it at the same time
        if isinstance(frame, RstStream):
            del self._streams[frame.stream_id]
            return frame
        if isinstance(frame, SynReply):
            if stream.is_replied or frame.stream_id % 2 != self._parity:
                raise SPDYError(f"received a SPDY reply for stream {frame.stream_id}, unexpected")
            stream.is_replied = True
        elif not stream.can_receive:
            # An error of this stream only; the others go on.
            return Outgoing(self.reset(frame.stream_id, ResetStatus.STREAM_ALREADY_CLOSED))
        if frame.fin:
            stream.can_receive = False
            self._drop_if_ended(frame.stream_id, stream)
        return frame

    def _drop_if_ended(self, stream_id: int, stream: _Stream) -> None:
        if not stream.can_send and not stream.can_receive:
            del self._streams[stream_id]

    def open(self, headers: Mapping[str, str], *, fin: bool = False) -> tuple[int, bytes]:
        """Open a stream: its number, and the bytes to send. Send data after its `SynReply`.

        Raises: SPDYError when too many streams are open; StreamClosed when the session ends.
        """
        self.check_open()
        stream_id = self._last_opened + 2 if self._last_opened else 2 - self._parity
        data = self._encoder.encode(SynStream(stream_id=stream_id, headers=headers, fin=fin))
        self._last_opened = stream_id
        self._streams[stream_id] = _Stream(can_send=not fin, can_receive=True, is_replied=False)
        return stream_id, data

    def check_open(self, streams: int = 1) -> None:
        """Check that so many streams can be opened. Raises: SPDYError, StreamClosed as `open`."""
        if self._is_ending:
            raise StreamClosed("open a SPDY stream: the session ends, after a GOAWAY")
        if len(self._streams) + streams > self._limits.streams:
            raise SPDYError(
                f"open a SPDY stream: {len(self._streams)} are open"
                f" (the limit is {self._limits.streams})"
            )

    def reply(
        self, stream_id: int, headers: Mapping[str, str] | None = None, *, fin: bool = False
    ) -> bytes:
        """Accept a stream that the peer opened.

        Raises: StreamClosed when it has ended; SPDYError when it was accepted before.
        """
        stream = self._get(stream_id)
        if stream.is_replied or stream_id % 2 == self._parity:
            raise SPDYError(f"reply to SPDY stream {stream_id}: it needs no reply")
        stream.is_replied = True
        data = self._encoder.encode(SynReply(stream_id=stream_id, headers=headers or {}, fin=fin))
        if fin:
            stream.can_send = False
            self._drop_if_ended(stream_id, stream)
        return data

    def send(self, stream_id: int, data: bytes = b"", *, fin: bool = False) -> bytes:
        """Bytes of a stream, in as many frames as they need; `fin` ends this direction.

        Raises: StreamClosed when the stream or its sending direction has ended; SPDYError when
        it is not accepted yet, because Kubernetes would drop the data.
        """
        stream = self._get(stream_id)
        if not stream.can_send:
            raise StreamClosed(f"send on SPDY stream {stream_id}: this side has finished it")
        if not stream.is_replied:
            raise SPDYError(f"send on SPDY stream {stream_id}: it is not accepted yet")
        size = self._limits.frame_size
        pieces = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
        if fin:
            stream.can_send = False
            self._drop_if_ended(stream_id, stream)
        last = len(pieces) - 1
        return b"".join(
            self._encoder.encode(Data(stream_id=stream_id, data=piece, fin=fin and index == last))
            for index, piece in enumerate(pieces)
        )

    def reset(self, stream_id: int, status: int = ResetStatus.CANCEL) -> bytes:
        """End a stream in both directions; no bytes if it has ended already."""
        if self._streams.pop(stream_id, None) is None:
            return b""
        return self._encoder.encode(RstStream(stream_id=stream_id, status=status))

    def ping(self) -> tuple[int, bytes]:
        """A ping: its number, and the bytes to send. `receive` yields the reply as a `Ping`."""
        self._last_ping = self._last_ping + 2 if self._last_ping else 2 - self._parity
        if self._last_ping > _ID_MASK:
            self._last_ping = 2 - self._parity
        return self._last_ping, self._encoder.encode(Ping(ping_id=self._last_ping))

    def go_away(self, status: int = GoAwayStatus.OK) -> bytes:
        """Accept no more streams. spdystream closes the connection when it receives this."""
        self._is_ending = True
        return self._encoder.encode(GoAway(last_stream_id=self._last_received, status=status))

    def can_send(self, stream_id: int) -> bool:
        """Whether `send` accepts data for the stream now."""
        stream = self._streams.get(stream_id)
        return stream is not None and stream.can_send and stream.is_replied

    def stats(self) -> SessionStats:
        """A snapshot of the session."""
        return SessionStats(
            len(self._streams), self._last_opened, self._last_received, self._is_ending
        )

    def _get(self, stream_id: int) -> _Stream:
        try:
            return self._streams[stream_id]
        except KeyError:
            raise StreamClosed(f"SPDY stream {stream_id} has ended, or was never opened") from None
