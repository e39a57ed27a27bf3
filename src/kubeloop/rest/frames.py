"""Cuts the body of a watch into events.

Promises: plain code; events come out the same wherever the bytes were cut; newlines
mean nothing, and are only the fast way to find where an event ends; an event is handed
over with its last byte, not with the next one; one that is too large is an error before
it is too much memory, and one that was cut off is an error with the line behind it.
Elsewhere: the connection (`watch`).
"""

from __future__ import annotations

import re
from typing import final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.wire import RawEvent, split_event

from .scanning import SPACE, ValueEnd

__all__ = ["FRAME_LIMIT", "EventFrames"]

FRAME_LIMIT = 16 * 1024 * 1024  # as `ResponseLimits.event`
_CONTENT = re.compile(rb"[^\n]")
_LOOKS = 16  # times that a byte of an event over several lines is looked at for mistakes


@final
class EventFrames:
    """The events in bytes that come in pieces. For one watch."""

    def __init__(self, *, limit: int | None = FRAME_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()  # the beginning of an event, without space before it
        self._scan = ValueEnd()  # has seen `_held` up to `_seen`, or nothing at all
        self._seen = 0
        self._searched = 0  # no newline in `_held` before this
        self._looked = 0  # bytes of `_held` that were looked at for mistakes, each time counted
        self._mistake: DecodeError | None = None
        self._in_lines = False  # the last event was a line: the next one will be, too

    @property
    def mistake(self) -> DecodeError | None:
        """What came that is no event, or too large a one; nothing is read behind it."""
        return self._mistake

    def feed(self, chunk: bytes) -> list[RawEvent]:
        """The events that are complete now; look at `mistake` afterwards."""
        events: list[RawEvent] = []
        if self._mistake is None:
            try:
                self._read(chunk, events)
            except DecodeError as error:
                self._mistake = error
        return events

    def close(self) -> bool:
        """The stream has ended; says whether it ended between two events."""
        return not self._held.strip(SPACE)

    def _read(self, chunk: bytes, events: list[RawEvent]) -> None:
        if not self._held:
            chunk = self._whole_lines(chunk, events)
        self._held += chunk
        if self._held:
            self._take_held(events)
        self._check_size(len(self._held))

    def _whole_lines(self, chunk: bytes, events: list[RawEvent]) -> bytes:
        """Take the lines that are events as they stand; returns what is left."""
        start = 0
        while True:
            end = chunk.find(b"\n", start)
            if end < 0:
                return chunk[start:] if start else chunk
            line = chunk[start:end]
            if line and not self._take_line(line, events):
                return chunk[start:]
            if line:
                start = end + 1
            else:  # in one step: millions of empty lines would hold the event loop
                content = _CONTENT.search(chunk, end)
                start = len(chunk) if content is None else content.start()

    def _take_line(self, line: bytes, events: list[RawEvent]) -> bool:
        if self._limit is not None and len(line) > self._limit:
            return False
        try:
            events.append(split_event(line))
        except DecodeError:
            # Two events in a line, or an event over several: slower eyes will see.
            return not line.strip(SPACE)
        self._in_lines = True
        return True

    def _take_held(self, events: list[RawEvent]) -> None:
        """Take what is complete in `_held`, by its newline or by its last bracket."""
        while self._held:
            end = self._held.find(b"\n", self._searched)
            if end >= 0 and not self._seen and self._take_line(bytes(self._held[:end]), events):
                self._drop(end + 1)
                continue
            # Looking at every bracket costs more than waiting for the newline: only where
            # none is due, or the end of an event may be.
            if end < 0 and self._in_lines and not self._seen and not self._may_be_whole():
                self._searched = len(self._held)
                return
            seen = self._seen
            end = self._scanned_end()
            if end < 0:
                self._check_lines(seen)
                return
            self._in_lines = False
            self._check_size(end)
            events.append(split_event(bytes(self._held[:end])))
            self._drop(end)

    def _may_be_whole(self) -> bool:
        return self._held[-16:].rstrip(SPACE).endswith(b"}")

    def _scanned_end(self) -> int:
        if not self._seen:
            self._strip()
            if not self._held:
                return -1
            if not self._held.startswith(b"{"):
                raise DecodeError(
                    f"the watch sent no event: {bytes(self._held[:60])!r} (is this the API server?)"
                )
        end = self._scan.look(self._held, self._seen)
        self._seen = len(self._held)
        return end

    def _check_lines(self, since: int) -> None:
        """Refuse lines that no event begins with: its last bracket would be waited for in vain.

        So an event that was cut off does not swallow those that follow it.
        """
        end = self._held.rfind(b"\n", since) + 1  # no token of JSON goes over a newline
        if not end or self._looked > _LOOKS * end:
            return
        self._looked += end
        if not _begins_a_value(self._held[:end]):
            raise DecodeError(
                f"the watch sent no event, or a part of one: {bytes(self._held[:60])!r}"
                " (does something between us and the server cut its answers?)"
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
        self._scan, self._seen, self._searched = ValueEnd(), 0, 0
        self._looked = 0

    def _strip(self) -> None:
        spaces = len(self._held) - len(self._held.lstrip(SPACE))
        if spaces:
            del self._held[:spaces]


def _begins_a_value(text: bytearray) -> bool:
    """Whether something could follow that makes it JSON."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except RecursionError:
        return False
    except msgspec.DecodeError as error:
        return "truncated" in str(error)  # the library's word; what else is wrong stays wrong
    return True
