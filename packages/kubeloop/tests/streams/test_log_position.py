"""A log that is continued after a lost connection: nothing repeated, nothing lost silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import StreamBroken
from kubeloop.streams.log_position import LineSplitter, LogPosition, ReceivedLine
from kubeloop.streams.logs import ContainerLog, LogGap, LogLine, LogQuery, LogStart
from kubeloop.streams.pods import ContainerRun
from tests.support.clocks import InstantClock

START = datetime(2030, 1, 1, tzinfo=UTC)


def stamped(milliseconds: int, text: str) -> bytes:
    time = START + timedelta(milliseconds=milliseconds)
    return f"{time:%Y-%m-%dT%H:%M:%S.%f}000Z {text}".encode()


def time_of(line: bytes) -> datetime:
    return datetime.fromisoformat(line[:26].decode() + "Z")


# --- one position


def test_lines_of_the_last_second_are_dropped_when_they_come_again() -> None:
    position = LogPosition()
    seen = [stamped(each, "same") for each in (100, 1100, 1100, 1900)]
    for line in seen:
        position.receive(line)

    assert position.since == START
    position.resume()

    assert [position.receive(line) for line in seen] == [None] * 4
    after = position.receive(stamped(1900, "same"))
    assert after is not None
    assert not after.follows_gap


def test_a_line_after_a_rotation_follows_a_gap() -> None:
    position = LogPosition()
    position.receive(stamped(0, "old"))
    position.resume()

    after = position.receive(stamped(5000, "new"))

    assert after is not None
    assert after.follows_gap


def test_timestamps_with_an_offset_are_compared_as_times() -> None:
    position = LogPosition()
    position.receive(b"2030-01-01T02:00:05.5+02:00 summer")
    position.receive(b"2030-01-01T01:00:06.5+01:00 winter")

    assert position.since == START + timedelta(seconds=5)


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("2030-01-01T00:00:05.123456789Z", START + timedelta(seconds=5, microseconds=123456)),
        ("2030-01-01T02:00:05.5+02:00", START + timedelta(seconds=5.5)),
        ("2030-01-01T00:00:05Z", START + timedelta(seconds=5)),
    ],
)
def test_the_time_of_a_line_is_in_utc_and_its_timestamp_is_kept(stamp: str, time: datetime) -> None:
    received = LogPosition().receive(f"{stamp} text".encode())

    assert received == ReceivedLine(time, stamp, b"text", follows_gap=False)


@pytest.mark.parametrize(
    "line",
    [
        b"unable to retrieve container logs",
        b"2030-01-01T00:00:05.5 no zone",
        b"2030-13-01T00:00:05.5Z no month",
        b"2030-01-01T00:00:05.abcZ no fraction",
        b"0001-01-01T00:00:00+23:59 too early",
        b"9999-12-31T23:59:59-23:59 too late",
        b"2030-01-01T00:00:05\xffZ no ascii",
    ],
)
def test_a_message_without_a_timestamp_is_passed_on(line: bytes) -> None:
    assert LogPosition().receive(line) == ReceivedLine(None, "", line, follows_gap=False)


@given(st.lists(st.binary(max_size=8)), st.binary(max_size=4))
def test_lines_are_the_same_however_the_bytes_are_cut(parts: list[bytes], last: bytes) -> None:
    whole = b"".join([*parts, last])
    splitter = LineSplitter()

    lines = [line for part in [*parts, last] for line in splitter.feed(part)]

    assert [*lines, splitter.rest] == whole.split(b"\n")
    assert splitter.size == len(splitter.rest)


# --- whole logs


class Connection:
    """What one request meets: lines written before it, a rotation, and a cut of its response."""

    def __init__(
        self,
        lines: list[bytes],
        rotated: int = 0,
        cut: int | None = None,
        *,
        restarts: int = 0,
        time: int = 0,
    ) -> None:
        self.lines = lines
        self.started = START + timedelta(seconds=time // 1000)  # the run, if it is a new one
        self.rotated = rotated
        self.cut = cut  # after so many bytes; None ends the response as a server does
        self.restarts = restarts

    def __repr__(self) -> str:
        return (
            f"Connection({self.lines}, {self.rotated}, {self.cut}, restarts={self.restarts},"
            f" started={self.started:%H:%M:%S})"
        )


class ScriptedSource:
    """A container whose log is read over the given connections; then it ends."""

    def __init__(self, connections: list[Connection]) -> None:
        self._left = connections
        self._logs: list[list[bytes]] = [[]]  # of each run
        self.written: list[bytes] = []
        # Rotated away before any line of their run was read: no reader can notice that.
        self.unreadable: list[bytes] = []
        self._was_read = False  # a line of the current run
        self._is_running = True
        self._started = START

    async def run(self) -> ContainerRun:
        restarts = len(self._logs) - 1
        return ContainerRun(
            pod_uid="1",
            id=f"run-{restarts}",
            restarts=restarts,
            started=self._started,
            is_running=self._is_running,
        )

    async def read(self, query: LogQuery) -> AsyncGenerator[bytes, None]:
        if query.previous:
            yield self._response(self._logs[-2], query)
            return
        now = self._left.pop(0) if self._left else Connection([])
        self._is_running = bool(self._left)
        for _ in range(now.restarts):
            self._logs.append([])
            self._started = now.started
            self._was_read = False
        self._logs[-1] += now.lines
        self.written += now.lines
        if not self._was_read:
            self.unreadable += self._logs[-1][: now.rotated]
        self._logs[-1] = self._logs[-1][now.rotated :]
        body = self._response(self._logs[-1], query)
        self._was_read = self._was_read or b"\n" in body[: now.cut]
        if now.cut is None:
            yield body
            return
        yield body[: now.cut]
        raise StreamBroken("GET log: the connection was closed")

    def _response(self, lines: list[bytes], query: LogQuery) -> bytes:
        since = query.since_time
        found = [line for line in lines if since is None or time_of(line) >= since]
        return b"".join(line + b"\n" for line in found)


async def follow(source: ScriptedSource) -> tuple[list[bytes], int, int]:
    """The lines, the number of gaps, and the number of runs."""
    followed = ContainerLog(
        source, LogQuery(follow=True), pod="web", container="app", clock=InstantClock()
    )
    lines, gaps, starts = [], 0, 0
    async for entry in followed.entries():
        match entry:
            case LogLine(timestamp=timestamp, text=text):
                lines.append(f"{timestamp} {text}".encode())
            case LogGap():
                gaps += 1
            case LogStart():
                starts += 1
    return lines, gaps, starts


@st.composite
def histories(
    draw: st.DrawFn, *, rotations: bool = False, restarts: bool = False
) -> list[Connection]:
    """Connections; the times of lines are out of order by less than a second."""
    found: list[Connection] = []
    now = number = 0
    for _ in range(draw(st.integers(1, 6))):
        lines = []
        for _ in range(draw(st.integers(0, 6))):
            now += draw(st.sampled_from([0, 0, 1, 400, 999, 3000]))
            early = draw(st.sampled_from([0, 0, 0, 1, 500, 999]))
            number += 1
            lines.append(stamped(max(now - early, 0), f"line {number}"))
        rotated = draw(st.integers(0, 8)) if rotations else 0
        cut = draw(st.none() | st.integers(0, 400))
        restart = draw(st.sampled_from([0, 0, 0, 1, 2])) if restarts and found else 0
        if restart:
            # A new run begins later than the log of the one before.
            now += 2000
            lines = [stamped(now, f"run {number}-{each}") for each in range(len(lines))]
        found.append(Connection(lines, rotated, cut, restarts=restart, time=now))
    return found


@given(histories())
async def test_cuts_neither_lose_nor_repeat_a_line(history: list[Connection]) -> None:
    source = ScriptedSource(history)

    lines, gaps, starts = await follow(source)

    assert lines == source.written
    assert (gaps, starts) == (0, 1)


@given(histories(rotations=True))
async def test_lines_that_were_rotated_away_are_reported(history: list[Connection]) -> None:
    source = ScriptedSource(history)

    lines, gaps, _ = await follow(source)

    assert max(Counter(lines).values(), default=1) == 1
    assert [line for line in source.written if line in lines] == lines
    missing = set(source.written) - set(lines) - set(source.unreadable)
    assert not missing or gaps > 0


@given(histories(rotations=True, restarts=True))
async def test_restarts_are_announced_and_no_line_is_repeated(history: list[Connection]) -> None:
    source = ScriptedSource(history)

    lines, gaps, starts = await follow(source)

    assert max(Counter(lines).values(), default=1) == 1
    missing = set(source.written) - set(lines) - set(source.unreadable)
    assert not missing or gaps > 0
    assert starts >= 1
