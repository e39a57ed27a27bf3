"""Splits the body of a watch into events, JSON or protobuf.

Guarantees: no I/O; the events are the same however the bytes are chunked; newlines have no
meaning, they are only the fast way to find the end of an event; an event is returned with its
last byte, not with the first byte of the next one; an event that is too large is an error before
it takes too much memory, and an incomplete one is an error with the next line.
See also: `watch` (the connection).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.wire import RawEvent, split_event

from .json_scanner import SPACE, ValueScanner

__all__ = ["FRAME_LIMIT", "EventFrames", "ProtobufFrames"]

FRAME_LIMIT = 16 * 1024 * 1024  # as `ResponseLimits.event`
_CONTENT = re.compile(rb"[^\n]")
_MAX_CHECKS = 16  # times that a byte of an event over several lines is checked


@final
class EventFrames:
    """The events of one watch whose bytes arrive in chunks."""

    def __init__(
        self,
        *,
        limit: int | None = FRAME_LIMIT,
        split: Callable[[bytes], RawEvent] = split_event,
    ) -> None:
        self._limit = limit
        # From the text of an event to the event; raises `DecodeError` for any other text. A
        # reader may replace it by one that also reads the object.
        self.split = split
        self._held = bytearray()  # the start of an event, without leading space
        self._scan = ValueScanner()  # has scanned `_held` up to `_seen`, or nothing yet
        self._seen = 0
        self._searched = 0  # no newline in `_held` before this
        self._checked = 0  # bytes of `_held` that were checked, counted each time
        # Why the bytes are not an event, or it is too large; nothing is read after it.
        self.mistake: DecodeError | None = None
        self._in_lines = False  # the last event was one line: expect the same of the next one

    def feed(self, chunk: bytes) -> list[RawEvent]:
        """The events that are complete now; check `mistake` afterwards."""
        events: list[RawEvent] = []
        if self.mistake is None:
            try:
                start = self._complete_line(chunk, events) if self._held else 0
                rest = chunk if self._held else self._take_lines(chunk, start, events)
                if rest:
                    self._held += rest
                    self._take_held(events)
                    self._check_size(len(self._held))
            except DecodeError as error:
                self.mistake = error
        return events

    def close(self) -> bool:
        """The stream has ended; returns whether it ended between two events."""
        return not self._held.strip(SPACE)

    def _complete_line(self, chunk: bytes, events: list[RawEvent]) -> int:
        """Take `_held` with the first line of `chunk`; returns where the next line starts.

        0 if that is not an event.
        """
        end = -1 if self._seen else chunk.find(b"\n")
        if end < 0 or not self._take_line(bytes(self._held) + chunk[:end], events):
            return 0
        self._drop(len(self._held))
        return end + 1

    def _take_lines(self, chunk: bytes, start: int, events: list[RawEvent]) -> bytes:
        """Take the lines from `start` on that are events; returns the rest."""
        while True:
            end = chunk.find(b"\n", start)
            if end < 0:
                return chunk[start:] if start else chunk
            if end > start:
                if not self._take_line(chunk[start:end], events):
                    return chunk[start:]
                start = end + 1
                if start == len(chunk):
                    return b""
            else:  # in one step: millions of empty lines would block the event loop
                content = _CONTENT.search(chunk, end)
                start = len(chunk) if content is None else content.start()

    def _take_line(self, line: bytes, events: list[RawEvent]) -> bool:
        if self._limit is not None and len(line) > self._limit:
            return False
        try:
            events.append(self.split(line))
        except DecodeError:
            # Two events in a line, or an event over several lines: the scanner will find out.
            return not line.strip(SPACE)
        self._in_lines = True
        return True

    def _take_held(self, events: list[RawEvent]) -> None:
        """Take the complete events of `_held`, by newline or by their last bracket."""
        while self._held:
            end = self._held.find(b"\n", self._searched)
            if end >= 0 and not self._seen and self._take_line(bytes(self._held[:end]), events):
                self._drop(end + 1)
                continue
            # To scan every bracket costs more than to wait for the newline: do it only if no
            # newline is expected, or if `_held` may end with an event.
            if end < 0 and self._in_lines and not self._seen and not self._may_be_complete():
                self._searched = len(self._held)
                return
            seen = self._seen
            end = self._find_end()
            if end < 0:
                self._check_partial_event(seen)
                return
            self._in_lines = False
            self._check_size(end)
            events.append(self.split(bytes(self._held[:end])))
            self._drop(end)

    def _may_be_complete(self) -> bool:
        return self._held[-16:].rstrip(SPACE).endswith(b"}")

    def _find_end(self) -> int:
        if not self._seen:
            self._strip()
            if not self._held:
                return -1
            if not self._held.startswith(b"{"):
                raise DecodeError(
                    f"the watch sent something else than an event: {bytes(self._held[:60])!r}"
                    " (is this the API server?)"
                )
        end = self._scan.scan(self._held, self._seen)
        self._seen = len(self._held)
        return end

    def _check_partial_event(self, start: int) -> None:
        """Reject lines that cannot be the start of an event: its end would never arrive.

        So an incomplete event does not swallow those that follow it.
        """
        end = self._held.rfind(b"\n", start) + 1  # no JSON token contains a newline
        if not end or self._checked > _MAX_CHECKS * end:
            return
        self._checked += end
        if not _begins_a_value(self._held[:end]):
            raise DecodeError(
                f"the watch sent something else than an event: {bytes(self._held[:60])!r}"
                " (does a proxy change responses?)"
            )

    def _check_size(self, size: int) -> None:
        if self._limit is not None and size > self._limit:
            raise DecodeError(
                f"an event of the watch is larger than {self._limit} bytes, the limit for events"
                " (the object is too large to be watched)"
            )

    def _drop(self, count: int) -> None:
        del self._held[:count]
        self._strip()
        self._scan, self._seen, self._searched = ValueScanner(), 0, 0
        self._checked = 0

    def _strip(self) -> None:
        if self._held and self._held[0] in SPACE:  # else nothing is copied
            del self._held[: len(self._held) - len(self._held.lstrip(SPACE))]


@final
class ProtobufFrames:
    """The events of one watch in protobuf: each has its length in four bytes before it.

    The object of an event is in an envelope, which begins with `k8s\\0`.
    """

    def __init__(self, *, limit: int | None = FRAME_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()
        self._mistake: DecodeError | None = None

    @property
    def mistake(self) -> DecodeError | None:
        """Why the bytes are not an event, or it is too large; nothing is read after it."""
        return self._mistake

    def feed(self, chunk: bytes) -> list[RawEvent]:
        """The events that are complete now; check `mistake` afterwards."""
        from kubeloop.wire.protobuf_codec import split_protobuf_event

        events: list[RawEvent] = []
        if self._mistake is not None:
            return events
        held = self._held
        held += chunk
        start = 0
        try:
            while len(held) - start >= _PREFIX:
                size = int.from_bytes(held[start : start + _PREFIX], "big")
                self._check_size(size)
                end = start + _PREFIX + size
                if end > len(held):
                    break
                type_, obj = split_protobuf_event(bytes(held[start + _PREFIX : end]))
                events.append(RawEvent(type_, obj))  # type: ignore[arg-type] # bytes as well
                start = end
        except DecodeError as error:
            self._mistake = error
        del held[:start]
        return events

    def close(self) -> bool:
        """The stream has ended; returns whether it ended between two events."""
        return not self._held

    def _check_size(self, size: int) -> None:
        if self._limit is not None and size > self._limit:
            raise DecodeError(
                f"an event of the watch has {size} bytes, more than {self._limit}, the limit for"
                " events (the object is too large to be watched)"
            )


_PREFIX = 4  # bytes of the length


def _begins_a_value(text: bytearray) -> bool:
    """Whether it can be the start of a JSON value."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except RecursionError:
        return False
    except msgspec.DecodeError as error:
        return "truncated" in str(
            error
        )  # msgspec's word; no other error can be fixed by more bytes
    return True
