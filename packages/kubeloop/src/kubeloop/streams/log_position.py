"""Where a log has been read to, so that it can be continued after a lost connection.

The API continues a log at a whole second only (`sinceTime`), so that lines come again. A line is
recognized by its timestamp and text, and by how often it was seen. The position remembers the
lines of the last two seconds of the log: the timestamps of stdout and stderr may be out of order
by a little.

Guarantees: pure; no line is returned twice, wherever the stream was cut; if lines may be missing
after the first one that was read, because the log was rotated or the clock of the node was set
back, that is reported as a gap.
See also: `logs` (reads logs).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple, final

__all__ = ["LineSplitter", "LogPosition", "ReceivedLine"]

_MARGIN = 1  # seconds before the newest one that are requested again


class ReceivedLine(NamedTuple):
    """A line that was not seen before."""

    time: datetime | None  # None if the server sent none
    timestamp: str  # the same as the server sent it: RFC 3339, with nanoseconds
    text: bytes
    follows_gap: bool  # lines before it may be missing


@final
class LogPosition:
    """The end of what was read of one log; for lines that begin with a timestamp."""

    def __init__(self) -> None:
        self._newest: int | None = None  # the newest second of the lines so far
        # How often each line was seen, by its hash: of the newest second, and of the one before.
        self._in_newest: dict[int, int] = {}
        self._in_older: dict[int, int] = {}
        self._last: int | None = None  # the line that was received last
        # After `resume`: the lines that come again, until the last one was found.
        self._expected: dict[int, int] = {}
        self._is_found = True

    @property
    def since(self) -> datetime | None:
        """From where to request the log again; None if no line was received."""
        if self._newest is None:
            return None
        return datetime.fromtimestamp(self._newest - _MARGIN, tz=UTC)

    def in_run(self, started: datetime) -> LogPosition:
        """The position in the log of the next run, which started then.

        The status may be older than the log: lines of that run may have been received already.
        """
        second = int(started.timestamp())
        if self._newest is None or self._newest < second:
            return LogPosition()
        if self._newest == second:
            self._last = None  # it may be of the run before: that it is missing says nothing
        return self

    def resume(self) -> None:
        """The log was requested again, from `since`."""
        self._expected = dict(self._in_older)
        for key, count in self._in_newest.items():
            self._expected[key] = self._expected.get(key, 0) + count
        self._is_found = self._last is None

    def receive(self, line: bytes) -> ReceivedLine | None:
        """The next line of the stream; None if it was seen before."""
        stamp, _, text = line.partition(b" ")
        time = _time_of(stamp)
        if time is None:
            # Not a line of the log: a message of the kubelet.
            return ReceivedLine(None, "", line, follows_gap=False)
        key = hash(line)
        if left := self._expected.get(key):
            self._expected[key] = left - 1
            if key == self._last and left == 1:
                self._set_found()
            return None
        follows_gap = not self._is_found
        self._set_found()
        self._remember(key, int(time.timestamp()))
        return ReceivedLine(time, stamp.decode("ascii"), text, follows_gap)

    def end(self) -> bool:
        """The stream ended; returns whether lines may be missing before its end."""
        follows_gap = not self._is_found
        self._set_found()
        return follows_gap

    def _set_found(self) -> None:
        self._is_found = True
        self._expected = {}

    def _remember(self, key: int, second: int) -> None:
        self._last = key
        newest = self._newest
        if newest is None or second > newest:
            self._in_older = self._in_newest if second - 1 == newest else {}
            self._in_newest = {}
            self._newest = newest = second
        if second == newest:
            self._in_newest[key] = self._in_newest.get(key, 0) + 1
        elif second == newest - _MARGIN:
            self._in_older[key] = self._in_older.get(key, 0) + 1
        # An older line (the clock was set back) is not requested again: `resume` cannot find it,
        # and reports a gap.


def _time_of(stamp: bytes) -> datetime | None:
    """The time of an RFC 3339 timestamp, exact to the microsecond; None if it is not one."""
    if len(stamp) < 20 or stamp[10:11] != b"T":
        return None
    try:
        time = datetime.fromisoformat(stamp.decode("ascii"))
        # The log may be requested from a second before it, which the year 1 may not have.
        return time.astimezone(UTC) if time.tzinfo is not None and time.year > 1 else None
    except (ValueError, OverflowError):
        return None


@final
class LineSplitter:
    """Splits chunks into lines; `rest` is a last line without its newline."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def size(self) -> int:
        """The bytes of the line that is not complete yet."""
        return self._size

    @property
    def rest(self) -> bytes:
        return b"".join(self._parts)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are complete now, without their newlines."""
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join((*self._parts, whole[0]))
            self._parts, self._size = [], 0
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        return whole
