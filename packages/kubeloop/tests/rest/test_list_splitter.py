"""The items of a list that is split in bytes, compared with msgspec as the oracle."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import DecodeError
from kubeloop.rest import ListSplitter
from kubeloop.rest.list_splitter import ProtobufListSplitter
from kubeloop.wire import split_list
from kubeloop.wire.protobuf_codec import split_protobuf_list
from kubeloop.wire.protobuf_writing import envelope, list_item, list_start, message_bytes

from .test_frames import TRICKY, objects


def split(chunks: list[bytes]) -> tuple[list[bytes], ListSplitter]:
    splitter = ListSplitter()
    items = [item for chunk in chunks for item in splitter.feed(chunk)]
    return items + splitter.close(), splitter


def pods(count: int, **how: Any) -> bytes:
    items = [
        {
            "metadata": {"name": f"web-{n}", "uid": str(n)},
            "spec": {"containers": [{"name": "a"}, {"name": "b", "env": [{"metadata": {}}, {}]}]},
        }
        for n in range(count)
    ]
    head = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "42"}}
    return json.dumps(head | {"items": items}, **how).encode()


COMPACT = {"separators": (",", ":")}

LISTS = [
    b'{"kind":"PodList","items":[]}',
    b'{"items":null,"kind":"PodList"}',
    b'{"kind":"PodList","metadata":{"continue":"x","items":[{"a":1}]},"items":[{"a":1}]}\n',
    b' { "items" : [ {"a": "]}"} , {"b":[{"items":[{}]}]} ] , "metadata":{"resourceVersion":"7"}}',
    b'{"a":"\\"items\\":[","items":[{"x":1},{"x":{"y":[{"x":1},{"x":2}]}},{"x":3}]}',
    b'{"n":-1.5e3,"t":true,"items":[{"metadata":{}},{"other":1},{"metadata":{}}],"z":[1,{}]}',
    pods(3, **COMPACT),
    pods(3, indent=1),
]


@pytest.mark.parametrize("text", LISTS, ids=range(len(LISTS)))
def test_a_list_reads_the_same_however_it_is_chunked(text: bytes) -> None:
    oracle = split_list(text)
    expected = [json.loads(bytes(item)) for item in oracle.items or []]

    for at in range(len(text) + 1):
        items, splitter = split([text[:at], text[at:]])
        assert [json.loads(item) for item in items] == expected, at
        rest = splitter.rest()
        assert (rest.kind, rest.version, rest.next_page) == (
            oracle.kind,
            oracle.version,
            oracle.next_page,
        )


@pytest.mark.parametrize("text", LISTS, ids=range(len(LISTS)))
def test_a_list_reads_the_same_byte_by_byte(text: bytes) -> None:
    items, _ = split([bytes([byte]) for byte in text])

    assert items == [bytes(item) for item in split_list(text).items or []]


def test_the_items_are_the_bytes_that_came() -> None:
    text = json.dumps({"items": [TRICKY, {"é": "☃"}, TRICKY]}, ensure_ascii=False).encode()

    items, _ = split([text])

    assert items == [bytes(item) for item in split_list(text).items or []]


@given(
    items=st.lists(objects, max_size=6),
    before=objects,
    behind=objects,
    style=st.tuples(st.sampled_from([None, 1]), st.sampled_from([None, (",", ":")])),
    data=st.data(),
)
def test_any_list_chunked_anywhere_gives_the_items_that_msgspec_finds(
    items: list[dict[str, Any]],
    before: dict[str, Any],
    behind: dict[str, Any],
    style: tuple[int | None, tuple[str, str] | None],
    data: st.DataObject,
) -> None:
    for other in (before, behind):
        for key in ("items", "metadata", "kind", "apiVersion"):
            other.pop(key, None)
    whole = before | {"items": items} | {f"{key}!": value for key, value in behind.items()}
    text = json.dumps(whole, indent=style[0], separators=style[1]).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    ends = [0, *cuts, len(text)]

    found, splitter = split([text[a:b] for a, b in itertools.pairwise(ends)])

    assert found == [bytes(item) for item in split_list(text).items or []]
    rest = msgspec.json.decode(bytes(splitter._rest + splitter._held))
    assert rest == whole | {"items": []}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"<html><body>", "not a list"),
        (b"[]", "not a list"),
        (b'{"items":[1,2]}', "not an object"),
        (b'{"items":[{"a":1}{"a":2}]}', "not an object"),
        (b'{"items":[{"a":1},]}', "comma"),
        (b'{"items":[{"a":1},{"a":2', "incomplete"),
        (b'{"items":[', "incomplete"),
        (b'{"kind":"PodList"', "not a list"),
        (b"", "not a list"),
    ],
)
def test_what_is_not_a_whole_list_is_an_error(text: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        split([text])[1].rest()


def test_memory_does_not_depend_on_the_length_of_the_list() -> None:
    """Needs 25: items one by one, and none is kept."""
    item = b'{"metadata":{"name":"web"},"spec":{"a":[{"b":1},{"b":2}],"text":"%s"}}' % (b"x" * 5000)

    def peak(count: int) -> int:
        splitter = ListSplitter()
        tracemalloc.start()
        try:
            splitter.feed(b'{"items":[')
            for n in range(count):
                splitter.feed((b"," if n else b"") + item)
            splitter.feed(b"]}")
            splitter.close()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(2000) < 2 * peak(100) + 100_000


def test_items_whose_first_values_differ_are_found_by_their_key() -> None:
    text = b'{"items":[%s]}' % b", ".join(b'{"name": "web-%d", "a": [{}]}' % n for n in range(9000))

    items, _ = split([text[at : at + 4096] for at in range(0, len(text), 4096)])

    assert len(items) == 9000
    assert items[8999] == b'{"name": "web-8999", "a": [{}]}'


def test_items_that_begin_differently_are_not_held_for_ever() -> None:
    """The expected separator does not occur again: brackets are counted instead."""
    splitter = ListSplitter()
    splitter.feed(b'{"items":[{"first":1}')
    found = 0

    for n in range(100):
        found += len(splitter.feed(b',{"k%d":"%s"}' % (n, b"x" * 10_000)))

    assert found > 80


# --- protobuf


def messages(count: int, *, kind: str = "PodList") -> bytes:
    """A list as protobuf; the items are of all sizes."""
    items = [
        message_bytes("core_v1.Pod", {"metadata": {"name": "x" * (n * n)}}) for n in range(count)
    ]
    head = {"resourceVersion": "42", "continue": "next", "remainingItemCount": 7}
    return envelope("v1", kind, list_start(head) + b"".join(map(list_item, items)))


def split_messages(chunks: list[bytes]) -> tuple[list[bytes], ProtobufListSplitter]:
    splitter = ProtobufListSplitter()
    items = [item for chunk in chunks for item in splitter.feed(chunk)]
    return items + splitter.close(), splitter


@given(st.integers(0, 30), st.lists(st.integers(0, 14_000), max_size=12))
def test_messages_are_split_however_they_are_chunked(count: int, cuts: list[int]) -> None:
    body = messages(count)
    expected = split_protobuf_list(body)
    places = sorted({0, len(body), *(min(cut, len(body)) for cut in cuts)})

    items, splitter = split_messages([body[a:b] for a, b in itertools.pairwise(places)])

    assert items == expected.items
    assert splitter.rest() == msgspec.structs.replace(expected, items=[])


def test_every_byte_of_a_list_of_messages_may_arrive_alone() -> None:
    body = messages(12)

    items, splitter = split_messages([body[n : n + 1] for n in range(len(body))])

    assert items == split_protobuf_list(body).items
    assert splitter.rest().next_page == "next"


@given(st.integers(0, 400))
def test_a_list_of_messages_that_is_cut_is_an_error_or_has_all_items(size: int) -> None:
    body = messages(5)
    expected = split_protobuf_list(body).items
    try:
        items, _ = split_messages([body[:size]])
    except DecodeError:
        return
    assert items == expected
    assert size >= len(body) - 4  # empty fields of the envelope are at its end


@given(st.binary(max_size=60))
def test_any_bytes_are_a_list_of_messages_or_an_error(body: bytes) -> None:
    splitter = ProtobufListSplitter()
    try:
        splitter.feed(b"k8s\x00" + body)
        splitter.close()
    except DecodeError:
        return
    assert isinstance(splitter.text_without_items(), bytes)


@pytest.mark.parametrize("kind", ["Status", "Pod"])
def test_a_message_that_is_no_list_is_an_error(kind: str) -> None:
    with pytest.raises(DecodeError, match=f"its kind is {kind}"):
        split_messages([messages(2, kind=kind)])


def test_a_message_that_is_too_large_is_an_error_before_it_has_arrived() -> None:
    splitter = ProtobufListSplitter(item_limit=100)

    with pytest.raises(DecodeError, match="larger than 100 bytes"):
        splitter.feed(messages(20))
