"""Reads the responses of HTTP/1.1: heads by httptools, bodies by their length or chunks.

Guarantees: no I/O; the result is the same however the bytes are split; whatever is ambiguous or
incomplete is a `ProtocolError`, and nothing is read after it: versions other than 1.0 and 1.1,
transfer codings other than chunked, two lengths, a body that ends early, bytes after the
response. Sizes are counted before anything is parsed: a parser that is fed an endless header
copies it again and again.
Why not feed bodies to httptools: it reports neither the end of the connection nor the size of
chunk extensions, and a response to HEAD, which has a length and no body, confuses it.
See also: `connections` (feeds it), `incoming` (receives the parts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Protocol, final

import httptools

__all__ = ["MAX_FIELDS", "MAX_HEAD", "ProtocolError", "ResponseHeaders", "ResponseParser"]

MAX_HEAD = 64 * 1024  # bytes of a head
MAX_FIELDS = 256  # of a head
MAX_EXTRAS = 8 * 1024  # bytes of the extension of one chunk, and of all trailers
_MAX_INTERIM = 32  # responses with 1xx before the real one

_START = b"HTTP/1."
_LONGEST_SIZE = 16  # hexadecimal digits
# Not what `int` reads as a number: that may have a prefix, a sign, underscores and spaces.
_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,16})(;[\t\x20-\x7e\x80-\xff]*)?")
_PLAIN_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})\r\n")
_LENGTH = re.compile(r"[0-9]{1,19}")


class ProtocolError(Exception):
    """The peer does not speak HTTP/1.1 as this client reads it."""


class TruncatedResponse(ProtocolError):
    """The connection ended before the response did."""


@final
class ResponseHeaders(Mapping[str, str]):
    """Headers of a response. Names are in lower case; lookups accept any case."""

    __slots__ = ("_repeated", "first")

    def __init__(self, lines: Iterable[str] = ()) -> None:
        """From lines of a head whose syntax was checked."""
        self.first: dict[str, str] = {}  # the first value of each, by its name in lower case
        self._repeated: list[tuple[str, str]] = []
        first = self.first
        for line in lines:
            name, _, value = line.partition(":")
            key = name.lower()
            if key in first:
                self._repeated.append((key, value.strip(" \t")))
            else:
                first[key] = value.strip(" \t")

    def all_of(self, name: str) -> list[str]:
        """All values of a header that may occur more than once."""
        key = name.lower()
        if key not in self.first:
            return []
        return [self.first[key], *(value for other, value in self._repeated if other == key)]

    def __getitem__(self, name: str) -> str:
        return self.first[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self.first

    def __iter__(self) -> Iterator[str]:
        return iter(self.first)

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        return f"ResponseHeaders({', '.join(self.first)})"


class Receiver(Protocol):
    """Receives the parts of a response."""

    def on_response(
        self, status: int, headers: ResponseHeaders, body: bytes, *, reusable: bool
    ) -> None:
        """A complete response that arrived at once: instead of the three calls below."""
        ...

    def on_head(self, status: int, headers: ResponseHeaders) -> None: ...
    def on_body(self, data: bytes) -> None: ...
    def on_end(self, *, reusable: bool) -> None:
        """The response is complete; `reusable` if another request may follow it."""
        ...

    def on_upgrade(self, status: int, headers: ResponseHeaders, received: bytes) -> None:
        """The server has switched protocols; `received` is not HTTP any more."""
        ...


class _Part(Enum):
    """What the next bytes are."""

    NOTHING = "nothing: no request was sent"
    HEAD = "a head"
    BODY = "a body of known length"
    CHUNK_SIZE = "the size of a chunk"
    CHUNK = "the content of a chunk"
    TRAILERS = "what follows the last chunk"
    REST = "a body that ends with the connection"
    UPGRADED = "not HTTP"


@final
class ResponseParser:
    """Reads one response after the other; call `expect` before each."""

    __slots__ = (
        "_held",
        "_interim",
        "_is_head_request",
        "_keep_alive",
        "_left",
        "_part",
        "_receiver",
    )

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._part = _Part.NOTHING
        self._held = bytearray()  # an incomplete head, size line or trailer
        self._left = 0  # bytes of the body, or of the chunk and its final line break
        self._keep_alive = False
        self._is_head_request = False
        self._interim = 0

    def expect(self, method: str) -> None:
        """A request was sent: its response follows."""
        self._part = _Part.HEAD
        self._is_head_request = method == "HEAD"
        self._interim = 0

    def feed(self, data: bytes) -> None:
        """Read bytes. Raises: ProtocolError; then feed nothing more."""
        part = self._part
        if part is _Part.CHUNK or part is _Part.CHUNK_SIZE:
            self._read_chunks(data)
        elif part is _Part.BODY:
            self._read_body(data, 0)
        elif part is _Part.HEAD:
            end = data.find(b"\r\n\r\n")
            if end < 0 or self._held or end > MAX_HEAD:
                self._read_head(data)
            else:
                self._parse_head(data, end + 4)
        elif part is _Part.REST:
            self._receiver.on_body(data)
        elif part is _Part.TRAILERS:
            self._read_trailers(data)
        else:
            raise ProtocolError("the server sent something without a request")

    def close(self) -> None:
        """The connection has ended. Raises: ProtocolError if the response is incomplete."""
        part, self._part = self._part, _Part.NOTHING
        if part is _Part.REST:
            self._receiver.on_end(reusable=False)
        elif part is _Part.HEAD:
            if self._held:
                raise ProtocolError(f"the response begins with {bytes(self._held[:60])!r}")
            raise TruncatedResponse("the connection was closed without a response")
        elif part is not _Part.NOTHING and part is not _Part.UPGRADED:
            raise TruncatedResponse("the connection was closed before the end of the response")

    def abandon(self) -> None:
        """Read nothing more: the connection is being closed."""
        self._part = _Part.NOTHING

    # --- the head

    def _read_head(self, data: bytes) -> None:
        held = self._held
        searched = max(len(held) - 3, 0)
        if held:
            held += data
            end = held.find(b"\r\n\r\n", searched)
        else:
            end = data.find(b"\r\n\r\n")
        if end < 0:
            if not held:
                held += data
            self._check_start(searched)
            return
        if end > MAX_HEAD:
            raise _too_large_head()
        if held:
            data = bytes(held)
            held.clear()
        self._parse_head(data, end + 4)

    def _check_start(self, searched: int) -> None:
        """Reject the start of a head that can never become one, instead of waiting for its end."""
        held = self._held
        if not _START.startswith(held[: len(_START)]):
            raise ProtocolError(f"the response begins with {bytes(held[:60])!r}")
        if len(held) > MAX_HEAD:
            raise _too_large_head()
        if held.find(b"\n\n", searched) >= 0:
            raise ProtocolError("a line of the head does not end with CR LF")

    def _parse_head(self, data: bytes, end: int) -> None:
        """The head is `data` up to `end`."""
        if not data.startswith(_START):
            raise ProtocolError(f"the response begins with {data[:60]!r}")
        parser = httptools.HttpResponseParser(_NO_CALLBACKS)
        try:
            parser.feed_data(data[:end])
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            raise ProtocolError(str(error)) from None
        lines = data[: end - 4].decode("utf-8", "surrogateescape").split("\r\n")
        if len(lines) > MAX_FIELDS + 1:
            raise ProtocolError(f"the head has more than {MAX_FIELDS} fields")
        del lines[0]
        headers = ResponseHeaders(lines)
        status: int = parser.get_status_code()
        if status < 200:
            if status < 100:
                raise ProtocolError(f"the response has the status {status:03}")
            self._handle_interim(status, headers, data[end:])
            return
        self._choose_framing(status, parser.get_http_version(), headers)
        if self._part is _Part.BODY and len(data) - end == self._left:
            self._part = _Part.NOTHING
            self._receiver.on_response(status, headers, data[end:], reusable=self._keep_alive)
            return
        self._receiver.on_head(status, headers)
        # The receiver may have abandoned it.
        if self._part is _Part.BODY:
            self._read_body(data, end)
        elif end < len(data) and self._part is not _Part.NOTHING:
            self.feed(data[end:])

    def _handle_interim(self, status: int, headers: ResponseHeaders, rest: bytes) -> None:
        """A response before the real one, or the switch to another protocol."""
        if status == 101:
            self._part = _Part.UPGRADED
            self._receiver.on_upgrade(status, headers, rest)
            return
        self._interim += 1
        if self._interim > _MAX_INTERIM:
            raise ProtocolError(f"more than {_MAX_INTERIM} interim responses")
        if rest:
            self._read_head(rest)

    def _choose_framing(self, status: int, version: str, headers: ResponseHeaders) -> None:
        """How the body ends (RFC 9112, section 6.3)."""
        if version not in {"1.1", "1.0"}:
            raise ProtocolError(f"the response has HTTP version {version[:20]}")
        first = headers.first
        self._keep_alive = version == "1.1" and (
            "connection" not in first or not _announces_close(headers)
        )
        length = first.get("content-length")
        if "transfer-encoding" in first:
            _check_coding(version, headers)
            self._part, self._left = _Part.CHUNK_SIZE, 0
        elif length is not None:
            if _LENGTH.fullmatch(length) is None:
                raise ProtocolError(f"the Content-Length is {length[:40]!r}")
            self._part, self._left = _Part.BODY, int(length)
        else:
            self._part = _Part.REST
        if self._is_head_request or status in {204, 304}:
            self._part, self._left = _Part.BODY, 0
        elif self._part is _Part.REST:
            self._keep_alive = False

    # --- the body

    def _read_body(self, data: bytes, start: int) -> None:
        """A body of known length, in `data` from `start` on."""
        there = len(data) - start
        left = self._left
        if there < left:
            self._left = left - there
            if there:
                self._receiver.on_body(data[start:] if start else data)
            return
        if left:
            whole = not start and there == left
            self._receiver.on_body(data if whole else data[start : start + left])
        if self._part is _Part.BODY:  # not abandoned by the receiver
            self._end(has_more=there > left)

    def _read_chunks(self, data: bytes) -> None:
        """Chunks, whose contents are passed on at once: a watch has a chunk for each event."""
        pieces: list[bytes] = []
        at, size = 0, len(data)
        try:
            while at < size:
                if self._part is _Part.CHUNK:
                    at = self._read_chunk(data, at, pieces)
                elif self._part is _Part.CHUNK_SIZE:
                    after = 0 if self._held else _take_chunk(data, at, pieces)
                    at = after or self._read_size(data, at)
                else:
                    break
        finally:
            # Before an error as well: how much is read must not depend on how bytes are split.
            if pieces:
                self._receiver.on_body(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        if self._part is _Part.TRAILERS and at < size:
            self._read_trailers(data[at:])

    def _read_chunk(self, data: bytes, at: int, pieces: list[bytes]) -> int:
        """The content of a chunk and its line break; returns where the next part begins."""
        end = at + self._left
        content = end - 2
        if content > at:
            pieces.append(data[at:content])
        if end > len(data):
            # The line break, or a part of it, is missing.
            tail = data[max(content, at) :]
            if not b"\r\n"[2 - (end - max(content, at)) :].startswith(tail):
                raise ProtocolError("a chunk is longer than its size")
            self._left = end - len(data)
            return len(data)
        if data[max(content, at) : end] != b"\r\n"[max(at - content, 0) :]:
            raise ProtocolError("a chunk is longer than its size")
        self._part = _Part.CHUNK_SIZE
        return end

    def _read_size(self, data: bytes, at: int) -> int:
        held = self._held
        end = data.find(b"\n", at)
        if end < 0 or held:
            # At most so much is held, whatever the peer sends.
            held += data[at : end + 1] if end >= 0 else data[at:]
            if len(held) > MAX_EXTRAS + _LONGEST_SIZE + 2:
                raise ProtocolError(f"the extension of a chunk is longer than {MAX_EXTRAS} bytes")
            if end < 0:
                return len(data)
            line = bytes(held)
            held.clear()
        else:
            line = data[at : end + 1]
        found = _SIZE_LINE.fullmatch(line, 0, max(len(line) - 2, 0))
        if found is None or not line.endswith(b"\r\n"):
            raise ProtocolError(f"a chunk begins with {line[:40]!r} in place of its size")
        if found.group(2) is not None and len(found.group(2)) > MAX_EXTRAS:
            raise ProtocolError(f"the extension of a chunk is longer than {MAX_EXTRAS} bytes")
        size = int(found.group(1), 16)
        if size:
            self._part, self._left = _Part.CHUNK, size + 2
        else:
            self._part = _Part.TRAILERS
        return end + 1

    def _read_trailers(self, data: bytes) -> None:
        """What follows the last chunk: usually only a line break. Trailers are dropped."""
        held = self._held
        held += data
        if held.startswith(b"\r\n"):
            end = 2
        else:
            found = held.find(b"\r\n\r\n", 0, MAX_EXTRAS + 4)
            if found < 0:
                if len(held) >= MAX_EXTRAS + 4:
                    raise ProtocolError(f"the trailers are longer than {MAX_EXTRAS} bytes")
                if b"\n\n" in held or held.startswith(b"\n"):
                    raise ProtocolError("a line of the trailers does not end with CR LF")
                return
            end = found + 4
            _check_trailers(bytes(held[:end]))
        has_more = len(held) > end
        held.clear()
        self._end(has_more=has_more)

    def _end(self, *, has_more: bool) -> None:
        """The response is complete; bytes after it belong to no request."""
        self._part = _Part.NOTHING
        self._receiver.on_end(reusable=self._keep_alive and not has_more)


def _take_chunk(data: bytes, at: int, pieces: list[bytes]) -> int:
    """Take a chunk that is complete and has no extension; returns where the next part begins.

    0 if it is another one, which takes more care.
    """
    line = _PLAIN_SIZE.match(data, at)
    if line is None:
        return 0
    size, start = int(line[1], 16), line.end()
    stop = start + size
    if not size or data[stop : stop + 2] != b"\r\n":
        return 0
    pieces.append(data[start:stop])
    return stop + 2


class _NoCallbacks:
    """httptools reports nothing: it only checks the syntax."""


_NO_CALLBACKS = _NoCallbacks()


def _check_trailers(trailers: bytes) -> None:
    """They have the syntax of headers. Raises: ProtocolError."""
    try:
        httptools.HttpResponseParser(_NO_CALLBACKS).feed_data(b"HTTP/1.1 200 OK\r\n" + trailers)
    except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
        raise ProtocolError(f"the trailers cannot be parsed: {error}") from None


def _check_coding(version: str, headers: ResponseHeaders) -> None:
    """Only chunked, and only in HTTP/1.1."""
    codings = headers.all_of("transfer-encoding")
    if version == "1.0" or len(codings) > 1 or "content-length" in headers:
        raise ProtocolError("the transfer coding is ambiguous")
    if codings[0].lower() != "chunked":
        raise ProtocolError(f"the transfer coding {codings[0][:60]!r} is not supported")


def _announces_close(headers: ResponseHeaders) -> bool:
    options = ",".join(headers.all_of("connection")).lower()
    return "close" in {option.strip() for option in options.split(",")}


def _too_large_head() -> ProtocolError:
    return ProtocolError(f"the head is larger than {MAX_HEAD} bytes")
