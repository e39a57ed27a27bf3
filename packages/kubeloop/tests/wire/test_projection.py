"""Fields can be read without reading the object."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import (
    DecodeError,
    InvalidArgument,
    Model,
    Projection,
    Raw,
    split_event,
    split_list,
)
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import Pod

POD = b"""{"kind": "Pod", "metadata": {"name": "web", "labels": {"app.io/name": "x", "tier": "y"}},
 "spec": {"nodeName": "node-7", "containers": [{"name": "app"}]},
 "status": {"conditions": [{"type": "Ready"}], "phase": "Running"}}"""


def test_values_come_in_the_order_of_the_paths() -> None:
    where = Projection("spec.nodeName", "metadata.name", "status.conditions", of=Pod)

    assert where.read(POD) == ("node-7", "web", [{"type": "Ready"}])


def test_a_path_that_is_named_twice_is_read_twice() -> None:
    where = Projection("metadata.name", "kind", "metadata.name")

    assert where.read(b'{"kind":"Pod","metadata":{"name":"web"}}') == ("web", "Pod", "web")


def test_what_is_missing_or_null_reads_as_none() -> None:
    where = Projection("metadata.name", "spec.nodeName", "status.phase")

    assert where.read(b'{"metadata": null, "spec": {"nodeName": null}}') == (None, None, None)
    assert where.read(b"{}") == (None, None, None)
    assert where.read(b'{"metadata": {"name": "a"}, "spec": null}') == ("a", None, None)


def test_a_key_of_a_map_is_a_field_too() -> None:
    where = Projection("metadata.labels['app.io/name']", 'metadata.labels["tier"]', of=Pod)

    assert where.read(POD) == ("x", "y")


def test_a_path_may_be_a_prefix_of_another() -> None:
    where = Projection("metadata.labels['tier']", "metadata", "metadata.labels", of=Pod)

    tier, metadata, labels = where.read(POD)

    assert (tier, labels["tier"], metadata["name"]) == ("y", "y", "web")


def test_a_row_holds_the_values_until_they_are_read() -> None:
    where = Projection("metadata.name", "spec.nodeName")

    row = where.decode(POD)

    assert where.getter("spec.nodeName")(row) == "node-7"


def test_what_is_skipped_is_not_checked() -> None:
    where = Projection("metadata.name", of=Pod)

    assert where.read(b'{"metadata": {"name": "web"}, "spec": [1, "x"]}') == ("web",)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        ".metadata",
        "metadata.",
        "metadata..name",
        "metadata name",
        "a[0]",
        "a['b",
        "a.['b']x",
    ],
)
def test_a_path_that_does_not_parse_is_an_error_when_it_is_compiled(path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Projection(path)

    assert repr(path) in str(caught.value)


@pytest.mark.parametrize(
    ("cls", "path"),
    [
        (Pod, "spec.node_name"),
        (Pod, "spec.containers.name"),
        (Pod, "metadata.name.first"),
        (Pod, "sepc.nodeName"),
    ],
)
def test_a_path_that_the_class_does_not_have_is_an_error_when_it_is_compiled(
    cls: type[Model], path: str
) -> None:
    with pytest.raises(InvalidArgument, match="field path") as caught:
        Projection("metadata.name", path, of=cls)

    assert path in str(caught.value)


def test_free_form_data_has_every_path() -> None:
    schema = "spec.conversion.webhook.clientConfig.caBundle"

    assert Projection(schema, of=CustomResourceDefinition).read(b"{}") == (None,)


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"metadata": 5}', b"\xff"])
def test_text_that_cannot_be_projected_is_a_decode_error(text: bytes) -> None:
    with pytest.raises(DecodeError):
        Projection("metadata.name").read(text)


def test_a_projection_without_paths_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="at least one"):
        Projection()


_NAMES = st.sampled_from(["a", "b", "c"])
_DATA = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=10,
)


@given(
    st.dictionaries(_NAMES, _DATA, max_size=3),
    st.lists(st.lists(_NAMES, min_size=1, max_size=3).map(".".join), min_size=1, unique=True),
)
def test_a_projection_reads_what_reading_everything_would(
    data: dict[str, Any], paths: list[str]
) -> None:
    def plainly(path: str) -> Any:
        value: Any = data
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        return value

    try:
        found = Projection(*paths).read(json.dumps(data).encode())
    except DecodeError:
        # A number stands where a path goes on.
        return
    assert list(found) == [plainly(path) for path in paths]


def test_a_lists_items_are_the_bytes_that_came() -> None:
    text = b'{"metadata":{"resourceVersion":"7","continue":"c"},"items":[{"a": 1 },{"b":[2 ]}]}'

    found = split_list(text)

    assert [bytes(item) for item in found.items or ()] == [b'{"a": 1 }', b'{"b":[2 ]}']
    assert (found.version, found.next_page) == ("7", "c")


@pytest.mark.parametrize("text", [b'{"items":null}', b"{}", b'{"metadata":null,"items":[]}'])
def test_a_list_without_items_is_empty(text: bytes) -> None:
    found = split_list(text)

    assert found.items == []
    assert (found.version, found.next_page) == ("", "")


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"])
def test_a_watch_events_object_is_the_bytes_that_came(kind: str) -> None:
    """API-44: types of watch events."""
    event = split_event(b'{"type":"%s","object":{"kind":"Pod" }}' % kind.encode())

    assert (event.type, bytes(event.object)) == (kind, b'{"kind":"Pod" }')


@pytest.mark.parametrize("text", [b"", b"[]", b'{"items":{}}', b'{"items":[1'])
def test_text_that_is_not_a_list_is_a_decode_error(text: bytes) -> None:
    with pytest.raises(DecodeError):
        split_list(text)


@pytest.mark.parametrize("text", [b"", b"{}", b'{"type":5}', b'{"type":"ADDED","object":{'])
def test_text_that_is_not_an_event_is_a_decode_error(text: bytes) -> None:
    with pytest.raises(DecodeError):
        split_event(text)


def test_a_path_with_a_type_is_decoded_as_that_type() -> None:
    where = Projection("metadata.name", "metadata.labels", types={"metadata.labels": Raw})

    name, labels = where.read(POD)

    assert name == "web"
    assert bytes(labels) == b'{"app.io/name": "x", "tier": "y"}'


def test_a_value_of_another_type_is_an_error_and_null_is_none() -> None:
    where = Projection("metadata.name", "kind", types={"metadata.name": str})

    assert where.read(b'{"kind": 1, "metadata": {"name": null}}') == (None, 1)
    with pytest.raises(DecodeError, match="Expected `str"):
        where.read(b'{"metadata": {"name": 1}}')
