"""Events that are split and projected in one pass are the events that `split_event` finds."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import EntryCodec, EntryDecoder
from kubeloop.cache.entry_decoder import EntryEvent
from kubeloop.errors import DecodeError
from kubeloop.rest import EventFrames
from kubeloop.wire import RawEvent, split_event

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OWNER = st.fixed_dictionaries({}, optional={"kind": VALUES, "name": VALUES, "controller": VALUES})
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b"]) | VALUES,
        "namespace": st.sampled_from(["shop", ""]) | VALUES,
        "uid": st.text() | VALUES,
        "resourceVersion": st.just("7") | VALUES,
        "generation": st.integers() | VALUES,
        "labels": st.dictionaries(st.sampled_from("ab"), st.text(), max_size=2) | VALUES,
        "ownerReferences": st.lists(OWNER, max_size=2) | VALUES,
        "deletionTimestamp": st.none() | st.just("2026-01-02T03:04:05Z") | VALUES,
    },
)
OBJECTS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["Pod", "Node", "Table"]), "metadata": METADATA | VALUES},
    optional={"spec": VALUES, "metadata ": VALUES},
)
KINDS = st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "OTHER"])


@st.composite
def event_texts(draw: st.DrawFn) -> bytes:
    """An event as a server writes it, or something that only looks like one at first."""
    kind, obj = draw(KINDS), json.dumps(draw(OBJECTS), separators=(",", ":"))
    form = draw(
        st.sampled_from(
            [
                '{"type":"%s","object":%s}',
                '{"type":"%s","object":%s,"object":{}}',
                '{"type":"%s","object":%s,"type":"DELETED"}',
                '{"type":"%s","object":%s,"other":{"a":{}}}',
                '{"type":"%s","object":%s }',
                '{"type":"%s","object": %s}',
                '{"type": "%s","object":%s}',
                '{"other":"%s","object":%s}',
                '{"type":"%s","object":%s}}',
                '{"type":"%s","object":{"a":%s}',
                '{"type":"%s","object":[%s}]}',
            ]
        )
    )
    text = (form % (kind, obj)).encode()
    if draw(st.integers(0, 3)) == 0 and text:  # one byte is another one
        at = draw(st.integers(0, len(text) - 1))
        text = text[:at] + bytes([draw(st.integers(0, 255))]) + text[at + 1 :]
    return text


def decoder(kind: str = "Pod") -> EntryDecoder[Any]:
    return EntryDecoder(EntryCodec(dict), kind=kind)


def outcome(of: Any, *args: Any) -> Any:
    try:
        return of(*args)
    except DecodeError as error:
        return type(error), str(error)


def fields_of(event: RawEvent | tuple[Any, ...]) -> tuple[Any, ...]:
    return event if isinstance(event, tuple) else (event.type, bytes(event.object))


@given(line=event_texts())
def test_a_line_is_the_same_event_or_the_same_error(line: bytes) -> None:
    assert fields_of(outcome(decoder().split, line)) == fields_of(outcome(split_event, line))


@given(line=event_texts(), kind=st.sampled_from(["Pod", ""]))
def test_the_entry_of_an_event_is_the_same_or_the_same_error(line: bytes, kind: str) -> None:
    once, twice = decoder(kind), decoder(kind)
    try:
        expected = split_event(line)
    except DecodeError:
        return

    found = outcome(once.decode_event, once.split(line))

    assert found == outcome(twice.decode, expected.object)
    assert once.stats() == twice.stats()


@given(obj=OBJECTS)
def test_the_entry_of_a_usual_object_is_that_of_one_with_all_checks(obj: dict[str, Any]) -> None:
    """A path inside the labels is one for which objects are always read with all checks."""
    text = json.dumps(obj).encode()
    quick, careful = EntryCodec(dict), EntryCodec(dict, paths=["metadata.labels.x.y"])

    found, expected = outcome(quick.parse, text), outcome(careful.parse, text)

    for name in ("key", "version", "uid", "content", "label_map", "owners", "generation"):
        assert getattr(found, name, found) == getattr(expected, name, expected)
    assert getattr(found, "deletion_timestamp", "") == getattr(expected, "deletion_timestamp", "")


@given(
    lines=st.lists(event_texts(), max_size=4),
    between=st.sampled_from([b"\n", b"", b" \n", b"\r\n"]),
    cuts=st.lists(st.integers(0, 400), max_size=4),
)
def test_frames_are_the_same_however_the_bytes_are_chunked(
    lines: list[bytes], between: bytes, cuts: list[int]
) -> None:
    stream = b"".join(line + between for line in lines)
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    chunks = [stream[a:b] for a, b in itertools.pairwise(places)]
    frames, projecting = EventFrames(), EventFrames(split=decoder().split)

    for chunk in chunks:
        expected, found = frames.feed(chunk), projecting.feed(chunk)

        assert list(map(fields_of, found)) == list(map(fields_of, expected))
        assert str(projecting.mistake) == str(frames.mistake)
    assert projecting.close() == frames.close()


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
def test_an_event_as_servers_send_it_is_parsed_once(kind: str) -> None:
    obj = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"shop"}}'
    once = decoder()

    event = once.split(b'{"type":"%b","object":%b}' % (kind.encode(), obj))

    assert isinstance(event, EntryEvent)
    assert (event.type, bytes(event.object)) == (kind, obj)
    entry = once.decode_event(event)
    assert entry is not None
    assert entry.content == obj


def test_an_index_that_is_added_between_the_split_and_the_entry_reads_the_content() -> None:
    codec = EntryCodec(dict)
    reader = EntryDecoder(codec, kind="Pod")
    obj = b'{"kind":"Pod","metadata":{"name":"a"},"spec":{"nodeName":"n1"}}'
    event = reader.split(b'{"type":"ADDED","object":%b}' % obj)

    codec.add_paths("spec.nodeName")
    entry = reader.decode_event(event)

    assert entry is not None
    assert codec.values_at("spec.nodeName")(entry) == ("n1",)
