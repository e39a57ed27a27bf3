"""Watch frames cut at every byte, joined, split, spread over lines, and too large."""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import DecodeError
from kubeloop.rest import FRAME_LIMIT, EventFrames
from kubeloop.rest.json_scanner import ValueScanner

TRICKY: dict[str, Any] = {
    "metadata": {"name": 'a"}{"b\\', "annotations": {"x": '{"type":"ADDED"}\n\\"', "é": "☃"}},
    "list": [[], [{}], {"a": [1, -2.5e3, None, True]}],
}


def event(kind: str, obj: object, **how: Any) -> bytes:
    return json.dumps({"type": kind, "object": obj}, **how).encode()


def all_of(frames: EventFrames, chunks: list[bytes]) -> list[tuple[str, Any]]:
    found = [each for chunk in chunks for each in frames.feed(chunk)]
    if frames.mistake is not None:
        raise frames.mistake
    return [(each.type, json.loads(bytes(each.object))) for each in found]


def test_a_stream_reads_the_same_however_it_is_chunked() -> None:
    """REST-69, REST-C18: one event over two reads, at every byte."""
    stream = event("ADDED", TRICKY) + b"\n" + event("MODIFIED", {}) + b"\n"
    expected = [("ADDED", TRICKY), ("MODIFIED", {})]

    for at in range(len(stream) + 1):
        assert all_of(EventFrames(), [stream[:at], stream[at:]]) == expected, at


def test_a_stream_reads_the_same_byte_by_byte() -> None:
    """REST-69: JSON framing: a sequence of JSON values; newlines are not significant."""
    stream = event("ADDED", TRICKY, indent=1) + event("DELETED", TRICKY) + b"\r\n"

    found = all_of(EventFrames(), [bytes([byte]) for byte in stream])

    assert found == [("ADDED", TRICKY), ("DELETED", TRICKY)]


@pytest.mark.parametrize("between", [b"\n", b"", b" ", b"\r\n", b"\n\n\t "])
@pytest.mark.parametrize("indent", [None, 2])
def test_newlines_mean_nothing(between: bytes, indent: int | None) -> None:
    """REST-69: values may be joined, and spread over lines."""
    stream = between.join(event("ADDED", {"n": n}, indent=indent) for n in range(4)) + between

    assert all_of(EventFrames(), [stream]) == [("ADDED", {"n": n}) for n in range(4)]


def test_empty_lines_are_skipped_in_one_step() -> None:
    """A compressed response can hold millions of them."""
    steps = 0

    def count(frame: object, kind: str, what: object) -> None:
        nonlocal steps
        steps += 1

    frames = EventFrames()
    sys.setprofile(count)
    try:
        events = frames.feed(b"\n" * 100_000 + event("ADDED", {}) + b"\n" * 100_000)
    finally:
        sys.setprofile(None)

    assert len(events) == 1
    assert steps < 100


def test_an_event_comes_with_its_last_byte_even_without_a_newline() -> None:
    frames = EventFrames()

    assert len(frames.feed(event("ADDED", TRICKY))) == 1
    assert frames.feed(b"\n") == []
    assert frames.close()


def test_the_parts_of_an_event_that_ended_early_are_detected() -> None:
    """REST-71: an unexpected end."""
    frames = EventFrames()
    frames.feed(event("ADDED", {}) + b'\n{"type":"ADD')

    assert not frames.close()


def test_a_line_of_many_megabytes_is_one_event() -> None:
    line = event("ADDED", {"data": "x" * (9 * 2**20)}) + b"\n"

    found = all_of(EventFrames(), [line[at : at + 65536] for at in range(0, len(line), 65536)])

    assert len(found[0][1]["data"]) == 9 * 2**20


def test_an_event_at_the_limit_passes_and_a_larger_one_is_an_error() -> None:
    """REST-70: 16 MiB by default."""
    size = len(event("ADDED", {"data": ""}))
    fits, too_large = (event("ADDED", {"data": "x" * (1000 - size + more)}) for more in (0, 1))

    assert len(all_of(EventFrames(limit=1000), [fits[:500], fits[500:] + b"\n"])) == 1
    with pytest.raises(DecodeError, match="larger than 1000 bytes"):
        all_of(EventFrames(limit=1000), [too_large[:500], too_large[500:] + b"\n"])
    assert FRAME_LIMIT == 16 * 2**20


def test_an_endless_event_is_rejected_before_it_fills_the_memory() -> None:
    """REST-70: frame buffer starts at 1 KiB and doubles."""
    frames = EventFrames(limit=100_000)

    for _ in range(100):
        frames.feed(b'{"type":"ADDED","object":{"a":"' + b"x" * 5000)

    assert "larger than" in str(frames.mistake)
    assert len(frames._held) < 200_000


@pytest.mark.parametrize("text", [b"<html>\n", b"[1]\n", b'{"object":{}}\n', b"null\n", b"x}"])
def test_what_is_not_an_event_is_an_error(text: bytes) -> None:
    """REST-71: a decode error, which the watch reports."""
    frames = EventFrames()

    assert len(frames.feed(event("ADDED", {}) + text)) == 1
    assert isinstance(frames.mistake, DecodeError)
    assert frames.feed(event("ADDED", {})) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=4), json_values, max_size=4)


@given(
    found=st.lists(st.tuples(objects, st.sampled_from([None, 1]), st.booleans()), max_size=5),
    between=st.sampled_from([b"", b"\n", b" \n"]),
    data=st.data(),
)
def test_any_events_chunked_anywhere_come_out_as_they_went_in(
    found: list[tuple[dict[str, Any], int | None, bool]], between: bytes, data: st.DataObject
) -> None:
    """REST-69: as a property."""
    stream = b"".join(
        event("ADDED", obj, indent=indent, ensure_ascii=ascii_) + between
        for obj, indent, ascii_ in found
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    ends = [0, *cuts, len(stream)]
    chunks = [stream[a:b] for a, b in itertools.pairwise(ends)]
    frames = EventFrames()

    read = all_of(frames, chunks)

    assert read == [("ADDED", obj) for obj, _, _ in found]
    assert frames.close()


@given(value=objects | st.lists(json_values, max_size=4), indent=st.sampled_from([None, 1]))
def test_the_end_of_a_value_is_found_however_the_text_is_chunked(
    value: object, indent: int | None
) -> None:
    text = json.dumps(value, indent=indent).encode()

    for at in range(len(text) + 1):
        scan = ValueScanner()
        end = scan.scan(text[:at], 0)
        if end < 0:
            end = scan.scan(text + b"]}", at)
        assert end == len(text)


@pytest.mark.parametrize("cut", [1, 9, 20, 40, -1, -2])
def test_an_event_that_was_truncated_does_not_swallow_those_behind_it(cut: int) -> None:
    whole = event("MODIFIED", {"metadata": {"name": "a", "n": [1, 2]}, "x": -2.5}) + b"\n"
    frames = EventFrames()
    first = frames.feed(whole)

    behind = [each for _ in range(2) for each in frames.feed(whole[:-1][:cut] + b"\n" + whole)]

    assert [each.type for each in first] == ["MODIFIED"]
    assert behind == []
    assert frames.mistake is not None


def test_an_event_over_many_lines_may_come_byte_by_byte() -> None:
    """Only whole lines are checked for mistakes, never a part of a number or a word."""
    stream = event("ADDED", {"numbers": [-1.5e-3, 10, 0], "words": [True, None]}, indent=1)

    found = all_of(EventFrames(), [bytes([byte]) for byte in stream * 2])

    assert len(found) == 2
