"""Watches in protobuf: each event has its length before it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import Expired
from kubeloop.rest.frames import ProtobufFrames
from kubeloop.rest.watch import _error_of_event
from kubeloop.wire import RawEvent
from kubeloop.wire.protobuf_writing import envelope, to_protobuf, watch_frame

EVENTS = [
    (kind, envelope("v1", "Pod", b"x" * size))
    for kind, size in (("ADDED", 0), ("MODIFIED", 300), ("BOOKMARK", 5), ("DELETED", 70_000))
]
STREAM = b"".join(watch_frame(kind, obj) for kind, obj in EVENTS)


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_the_events_are_the_same_however_the_bytes_are_chunked(cuts: list[int]) -> None:
    """REST-69: four bytes of length, then an event whose object has an envelope."""
    frames = ProtobufFrames()
    edges = [0, *sorted(cuts), len(STREAM)]

    found: list[RawEvent] = []
    for start, end in itertools.pairwise(edges):
        found += frames.feed(STREAM[start:end])

    assert [(event.type, event.object) for event in found] == EVENTS
    assert frames.mistake is None
    assert frames.close()


def test_an_event_that_is_too_large_is_an_error_before_it_is_read() -> None:
    frames = ProtobufFrames(limit=1000)

    found = frames.feed(STREAM)

    assert [event.type for event in found] == ["ADDED", "MODIFIED", "BOOKMARK"]
    assert "limit for events" in str(frames.mistake)
    assert frames.feed(STREAM) == []


def test_a_stream_that_ends_within_an_event_is_broken() -> None:
    frames = ProtobufFrames()
    frames.feed(STREAM[:-1])

    assert not frames.close()


@pytest.mark.parametrize("body", [b"\x00\x00\x00\x02\xff\xff", b'{"type":"ADDED"}'])
def test_bytes_that_are_no_event_are_a_mistake(body: bytes) -> None:
    frames = ProtobufFrames(limit=1_000_000)

    assert frames.feed(body) == []
    assert frames.mistake is not None


def test_an_error_event_is_the_error_of_its_status() -> None:
    status: dict[str, object] = {"apiVersion": "v1", "kind": "Status", "status": "Failure"}
    status |= {"reason": "Expired", "code": 410, "message": "too old"}
    (event,) = ProtobufFrames().feed(watch_frame("ERROR", to_protobuf(status)))

    error = _error_of_event("WATCH pods", event)

    assert isinstance(error, Expired)
    assert "too old" in str(error)
