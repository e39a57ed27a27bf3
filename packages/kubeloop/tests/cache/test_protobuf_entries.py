"""Entries of protobuf messages are those of the same objects in JSON."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bench.pods import pod as realistic_pod
from kubeloop.cache import EntryCodec, MessageFormat, StorageFormat, TransformFailed, UnkeyedObject
from kubeloop.cache.entry_decoder import EntryDecoder
from kubeloop.cache.storage import SAMPLES
from kubeloop.clients import PartialObjectMetadata
from kubeloop.errors import DecodeError
from kubeloop.meta import ObjectKey
from kubeloop.wire import RawEvent, UnknownFields
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.protobuf_writing import envelope, message_bytes
from tests.wire.test_protobuf import field

POD = "core_v1.Pod"
FORMATS: list[StorageFormat] = ["bytes", "objects", "compressed"]
MANAGED = ("metadata.managedFields",)
FUTURE = field(90, b"new")


class Where(msgspec.Struct):
    """A struct with one field."""

    spec: dict[str, Any]


class Named(msgspec.Struct):
    """A struct with a model in it, which has a field that is decoded later."""

    metadata: ObjectMeta


def message(number: int = 1, **metadata: Any) -> bytes:
    data = realistic_pod(number)
    data["metadata"] |= metadata
    return message_bytes(POD, data)


def text(number: int = 1, **metadata: Any) -> bytes:
    data = realistic_pod(number)
    data["metadata"] |= metadata
    return Pod.from_dict(data).to_json()


def codec_of(model: type[Any] = Pod, *, message: str = POD, **options: Any) -> EntryCodec[Any]:
    typed: Any = {"api_version": "v1", "kind": "Pod"} if message == POD else {}
    return EntryCodec(model, messages=MessageFormat(message), **typed, **options)


@pytest.mark.parametrize("store_as", FORMATS)
@pytest.mark.parametrize("drop", [(), MANAGED])
def test_an_entry_is_the_same_in_both_formats(store_as: StorageFormat, drop: tuple[str]) -> None:
    paths = ("spec.nodeName", "spec.priority", "metadata.labels['tier']")
    codec = codec_of(store_as=store_as, paths=paths, drop=drop)
    deleted = {"deletionTimestamp": "2026-03-04T05:06:07Z"}

    for number in range(SAMPLES + 2):
        found = codec.parse_message(message(number, **deleted))
        expected = codec.parse(text(number, **deleted))

        assert msgspec.structs.replace(found, content=None) == msgspec.structs.replace(
            expected, content=None
        )
        assert codec.decode(found) == codec.decode(expected)
        assert codec.decode(found).metadata.managed_fields == [] or not drop
        assert msgspec.json.decode(codec.raw(found)) == msgspec.json.decode(codec.raw(expected))


@pytest.mark.parametrize("store_as", FORMATS)
@pytest.mark.parametrize("drop", [(), MANAGED])
def test_the_entry_of_an_envelope_is_that_of_its_message(
    store_as: StorageFormat, drop: tuple[str]
) -> None:
    codec = codec_of(store_as=store_as, paths=("spec.nodeName",), drop=drop)
    assert codec.messages is not None
    codec.messages.checks_fields = False

    for number in range(SAMPLES + 2):
        found = codec.parse_envelope(envelope("v1", "Pod", message(number)))
        expected = codec.parse_message(message(number))

        assert found is not None
        assert msgspec.structs.replace(found, content=None) == msgspec.structs.replace(
            expected, content=None
        )
        assert codec.decode(found) == codec.decode(expected)


def test_the_entry_of_an_envelope_keeps_fields_of_the_future() -> None:
    codec = codec_of(drop=MANAGED)
    assert codec.messages is not None
    codec.messages.checks_fields = False

    found = codec.parse_envelope(envelope("v1", "Pod", message() + FUTURE))

    assert found is not None
    with pytest.raises(UnknownFields):
        codec.decode(found)


@pytest.mark.parametrize(
    "body",
    [
        envelope("v1", "ConfigMap", message()),
        envelope("v1", "Pod", message(name="")),
        envelope("v1", "Pod", b"\xff"),
        b"k8s\x00\xff",
    ],
)
def test_an_unusual_envelope_needs_a_closer_look(body: bytes) -> None:
    codec = codec_of()
    assert codec.messages is not None
    codec.messages.checks_fields = False

    assert codec.parse_envelope(body) is None


@pytest.mark.parametrize("model", [dict, Where, Named])
def test_a_message_is_read_as_the_model_of_the_cache(model: type[Any]) -> None:
    codec = codec_of(model)

    assert codec.decode(codec.parse_message(message())) == codec.decode(codec.parse(text()))


def test_metadata_alone_is_a_message_too() -> None:
    metadata = realistic_pod(1)["metadata"]
    partial = "meta_v1.PartialObjectMetadata"
    codec = codec_of(PartialObjectMetadata, message=partial)

    found = codec.parse_message(message_bytes(partial, {"metadata": metadata}))

    assert codec.decode(found).metadata.to_dict() == metadata
    assert found.key == ObjectKey(metadata["namespace"], metadata["name"])


def test_a_message_takes_half_the_bytes() -> None:
    codec = codec_of(drop=MANAGED)

    assert len(codec.parse_message(message()).content) < 0.55 * len(codec.parse(text()).content)


@pytest.mark.parametrize("path", ["spec.nodeName", "status.startTime", "metadata.finalizers"])
def test_an_index_that_is_added_later_reads_messages(path: str) -> None:
    codec = codec_of()
    data: dict[str, Any] = {"finalizers": ["a", "b"]}
    entries = codec.parse_message(message(**data)), codec.parse(text(**data))

    codec.add_paths(path)

    found, expected = map(codec.values_at(path), entries)
    assert found == expected != ()
    assert codec.parse_message(message(**data)).indexed_values == (expected,)


def test_a_field_of_newer_models_can_be_indexed_and_dropped_in_dicts() -> None:
    """No message has it, so that the objects that do come as JSON."""
    codec = codec_of(dict, paths=("spec.zzNew", "spec.nodeName"), drop=("spec.zzOther",))

    assert codec.parse_message(message(7)).indexed_values == ((), ("node-7",))


def test_a_key_function_gets_the_decoded_message() -> None:
    codec = codec_of().with_key(lambda pod: pod.spec.node_name)

    assert codec.parse_message(message(7)).key == ObjectKey("", "node-7")


def test_a_transformed_message_is_json() -> None:
    codec = codec_of()

    def shorten(found: Pod) -> Pod:
        found.metadata.annotations = {}
        return found

    found = codec.transform(codec.parse_message(message()), shorten)

    assert found.content.startswith(b"{")
    assert not codec.decode(found).metadata.annotations
    with pytest.raises(TransformFailed):
        codec.transform(found, lambda _: None)


def test_objects_are_encoded_as_json() -> None:
    codec = codec_of()

    assert codec.encode(Pod.from_dict(realistic_pod(1))).content.startswith(b"{")


def test_json_with_leading_space_is_not_taken_for_a_message() -> None:
    codec = codec_of(dict)

    assert codec.decode(codec.parse(b'\n {"metadata":{"name":"a"}}'))["metadata"] == {"name": "a"}


# --- messages that cannot be used


def test_a_message_without_a_name_is_rejected() -> None:
    with pytest.raises(UnkeyedObject):
        codec_of().parse_message(message_bytes(POD, {"metadata": {"namespace": "shop"}}))


@pytest.mark.parametrize(
    "bad",
    [
        b"\x0a\xff",
        b"k8s\x00",
        field(1, field(1, b"\xff\xfe\xfd")),
        field(1, field(1, b"a") + field(11, field(1, b"\xff"))),
        field(1, field(1, b"a") + field(13, field(1, b"\xff"))),
        field(1, field(1, b"a") + field(9, b"\x08" + b"\xff" * 8 + b"\x7f")),
    ],
)
def test_a_broken_message_is_an_error(bad: bytes) -> None:
    with pytest.raises(DecodeError):
        codec_of().parse_message(bad)


def test_fields_of_the_future_are_found_when_a_message_arrives() -> None:
    codec = codec_of()

    with pytest.raises(UnknownFields):
        codec.parse_message(message() + FUTURE)


@pytest.mark.parametrize("store_as", ["bytes", "compressed"])
def test_fields_of_the_future_are_found_when_a_message_is_read(store_as: StorageFormat) -> None:
    """If messages are not checked before, since the server is not newer than the models."""
    codec = codec_of(store_as=store_as, drop=MANAGED)
    assert codec.messages is not None
    codec.messages.checks_fields = False
    reported: list[Exception] = []
    codec.messages.on_report = reported.append
    entry = codec.parse_message(message() + FUTURE)

    with pytest.raises(UnknownFields, match="will be read again as JSON"):
        codec.decode(entry)

    assert len(reported) == 1
    assert not codec.messages.is_used


# --- events


def decoder() -> EntryDecoder[Any]:
    return EntryDecoder(codec_of(dict), kind="Pod")


def event(type_: str, body: bytes) -> RawEvent:
    return RawEvent(type_, body)  # type: ignore[arg-type] # as protobuf has it


def test_an_event_has_its_object_in_an_envelope() -> None:
    found = decoder().decode_event(event("ADDED", envelope("v1", "Pod", message(7))))

    assert found is not None
    assert found.key == ObjectKey("team-7", "service-7-7d9c6b5f4d-00007")


def test_the_item_of_a_list_is_a_message() -> None:
    found = decoder().decode(message(7))

    assert found is not None
    assert decoder().read_key(message(7)) == found.key


def test_an_object_of_another_kind_is_left_out() -> None:
    decode = decoder()

    assert decode.decode_event(event("ADDED", envelope("v1", "Node", message(7)))) is None
    assert decode.stats().foreign == 1


@pytest.mark.parametrize("ends", [True, False])
def test_a_bookmark_says_whether_the_state_is_complete(ends: bool) -> None:
    annotations = {"k8s.io/initial-events-end": "true"} if ends else {}
    metadata = {"resourceVersion": "42", "annotations": annotations}
    body = envelope("v1", "Pod", message_bytes(POD, {"metadata": metadata}))

    found = decoder().read_bookmark(body)

    assert (found.version, found.ends_initial) == ("42", ends)
