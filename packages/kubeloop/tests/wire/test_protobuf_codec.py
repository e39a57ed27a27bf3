"""Objects that came as protobuf are those that JSON would have given."""

from __future__ import annotations

import base64
import contextlib
import json
import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop.wire import DecodeError, Kind, class_for, decode
from kubeloop.wire import protobuf_descriptors as descriptors
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.coordination.v1 import Lease
from kubeloop.wire.core.v1 import ConfigMap, Pod, Secret, Service
from kubeloop.wire.meta.v1 import ManagedFieldsEntry
from kubeloop.wire.model import api_version_of, kind_of, slot_reader
from kubeloop.wire.plan import node_for
from kubeloop.wire.protobuf import from_protobuf
from kubeloop.wire.protobuf_codec import (
    UnknownFields,
    identity_in,
    is_available,
    is_readable,
    message_reader,
    open_envelope,
    split_protobuf_event,
    split_protobuf_list,
)
from kubeloop.wire.protobuf_messages import message_fields, message_of
from kubeloop.wire.protobuf_writing import (
    envelope,
    list_item,
    list_start,
    message_bytes,
    to_protobuf,
    watch_frame,
)
from kubeloop_testing.server.values.go_types import go_type_of
from kubeloop_testing.server.values.unknown_fields import check_types
from kubeloop_testing.server.values.zero_values import complete
from tests.wire.random_json import every_kind, json_for
from tests.wire.test_protobuf import field, number

KINDS = [cls for cls in every_kind() if go_type_of(api_version_of(cls), kind_of(cls))]


def as_go_writes(cls: type[Kind], data: dict[str, Any]) -> dict[str, Any]:
    """The JSON of an object after the API server has read it."""
    api_version, kind = api_version_of(cls), kind_of(cls)
    data = {**data, "apiVersion": api_version, "kind": kind}
    typed = check_types(go_type_of(api_version, kind), data).object
    return complete(typed, metadata=True)


def message_in(obj: dict[str, Any]) -> bytes:
    return message_bytes(message_of(obj["apiVersion"], obj["kind"]), obj)


def from_both(cls: type[Kind], obj: dict[str, Any]) -> tuple[Kind, Kind]:
    """An object by way of protobuf, and by way of JSON."""
    return message_reader(cls).decode(message_in(obj)), decode(cls, msgspec.json.encode(obj))


POD: dict[str, Any] = {
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "u-1",
        "resourceVersion": "42",
        "labels": {"app": "web", "empty": ""},
        "annotations": {"long": "x" * 1000},
        "creationTimestamp": "2024-01-02T03:04:05Z",
        "deletionGracePeriodSeconds": 0,
        "finalizers": ["a", "b"],
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {
        "containers": [
            {
                "name": "app",
                "resources": {"limits": {"cpu": "500m"}},
                "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 5},
                "readinessProbe": {"httpGet": {"port": 8080}},
                "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}],
            }
        ],
        "volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "s", "secret": {"defaultMode": 0}}],
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "priority": -5,
        "hostNetwork": True,
    },
}


@pytest.mark.parametrize("cls", KINDS, ids=lambda cls: f"{api_version_of(cls)}.{kind_of(cls)}")
def test_an_empty_object_of_every_kind_has_the_fields_of_its_json(cls: type[Kind]) -> None:
    one, other = from_both(cls, as_go_writes(cls, {}))

    assert one == other
    assert one.to_dict() == other.to_dict()


@settings(max_examples=300)
@given(st.data())
def test_an_object_of_any_kind_is_what_its_json_would_be(data: st.DataObject) -> None:
    cls = data.draw(st.sampled_from(KINDS))
    found = data.draw(json_for(node_for(cls), depth=5))
    try:
        obj = as_go_writes(cls, found)
    except (TypeError, AttributeError, ValueError):
        return  # nulls in lists, which a server rejects
    if check_types(go_type_of(api_version_of(cls), kind_of(cls)), {**found}).problems:
        return

    one, other = from_both(cls, obj)

    assert one == other
    assert one.to_dict() == other.to_dict()


RECORDED = json.loads(
    (
        Path(__file__).parents[4]
        / "packages/kubeloop-testing/tests/testing/server/round_trips.json"
    ).read_bytes()
)


def test_what_go_wrote_for_every_kind_is_what_go_wrote_as_json() -> None:
    """Recorded from the Go types by `make go-types`."""
    rows = zip(RECORDED["pairs"], RECORDED["protobuf"], strict=True)
    for (_, obj), text in rows:
        group, _, version = obj["apiVersion"].rpartition("/")
        cls = class_for(group, version, obj["kind"])
        assert cls is not None

        found = message_reader(cls).decode(base64.b64decode(text))

        assert found == decode(cls, msgspec.json.encode(obj)), obj


def test_go_would_have_written_the_same_protobuf() -> None:
    same = 0
    rows = list(zip(RECORDED["pairs"], RECORDED["protobuf"], strict=True))
    for (_, obj), text in rows:
        message, by_go = message_in(obj), base64.b64decode(text)
        reader = message_reader(dict, api_version=obj["apiVersion"], kind=obj["kind"])
        assert reader.decode(message) == reader.decode(by_go), obj
        same += message == by_go

    # In Go, bytes may be empty or nil, and JSON inside of an object keeps its spaces.
    assert same > 0.9 * len(rows)


def test_a_pod_has_all_values_of_its_json() -> None:
    one, other = from_both(Pod, as_go_writes(Pod, POD))

    assert one == other
    assert isinstance(one, Pod)
    assert one.spec.priority == -5
    assert one.spec.automount_service_account_token is False
    assert one.metadata.deletion_grace_period_seconds == 0


def test_managed_fields_stay_encoded_until_they_are_read() -> None:
    pod = message_reader(Pod).decode(message_in(as_go_writes(Pod, POD)))

    (entry,) = pod.metadata.managed_fields
    assert type(slot_reader(ManagedFieldsEntry, "fields_v1")(entry)) is msgspec.Raw
    assert entry.fields_v1 == {"f:spec": {}}


def test_an_object_shares_nothing_with_another_one() -> None:
    reader, message = message_reader(Pod), message_in(as_go_writes(Pod, POD))
    changed, untouched = reader.decode(message), reader.decode(message)

    changed.metadata.labels["app"] = "other"
    changed.spec.containers[0].resources.limits.clear()

    assert untouched == reader.decode(message)


def test_bytes_and_times_are_those_of_json() -> None:
    secret = {"data": {"a": "AAEC", "b": ""}, "immutable": False}
    lease = {"spec": {"renewTime": "2024-01-02T03:04:05.000006Z", "leaseTransitions": 0}}
    service = {
        "spec": {"ports": [{"port": 80, "targetPort": "http"}, {"port": 1, "targetPort": 0}]}
    }

    for cls, data in ((Secret, secret), (Lease, lease), (Service, service)):
        one, other = from_both(cls, as_go_writes(cls, data))
        assert one == other


def test_the_schema_of_a_crd_is_plain_data() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "a": {"type": "array", "items": {"type": "string", "default": "x"}},
            "b": {"additionalProperties": {"type": "integer", "minimum": 0, "enum": [1, None]}},
            "c": {"additionalProperties": True, "maxLength": 0},
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    one, other = from_both(
        CustomResourceDefinition,
        as_go_writes(CustomResourceDefinition, {"spec": {"versions": [version]}}),
    )

    assert one == other


# --- messages from the future

NEW = number(999 << 3 | 2) + number(3) + b"new"


def with_new_field(message: str, data: dict[str, Any], draw: st.DrawFn) -> bytes:
    """The message with a field that we do not know, at some depth."""
    places = [
        each
        for each in message_fields(message)
        if ("." in each.type or each.type in PARTS)
        and each.how in {"", "list"}
        and data.get(each.wire)
    ]
    if not places or draw(st.booleans()):
        return message_bytes(message, data) + NEW
    place = draw(st.sampled_from(places))
    value = data[place.wire]
    inner = value[0] if place.how == "list" else value
    part = NEW if place.type in PARTS else with_new_field(place.type, inner, draw)
    rest = {key: other for key, other in data.items() if key != place.wire}
    return message_bytes(message, rest) + field(place.number, part)


PARTS = {"Time", "Quantity", "IntOrString", "Raw"}  # which are read as bytes


@settings(max_examples=200)
@given(st.data())
def test_a_field_that_is_not_known_is_never_lost_silently(data: st.DataObject) -> None:
    obj = as_go_writes(Pod, POD)

    @st.composite
    def messages(draw: st.DrawFn) -> bytes:
        return with_new_field("core_v1.Pod", obj, draw)

    with pytest.raises(UnknownFields, match="read it as JSON"):
        message_reader(Pod).decode(data.draw(messages()))


def test_a_field_that_is_not_known_in_an_entry_of_a_map_is_found() -> None:
    entry = field(1, b"app") + field(2, b"web")
    for inner in (entry + NEW, entry + field(3, b"")):
        message = field(1, field(11, inner))
        with pytest.raises(UnknownFields):
            message_reader(Pod).decode(message)


def test_whether_a_message_has_unknown_fields_is_known_without_decoding_it() -> None:
    reader, message = message_reader(Pod), message_in(as_go_writes(Pod, POD))

    assert not reader.has_unknown_fields(message)
    assert reader.has_unknown_fields(message + NEW)


# --- envelopes, lists and events


def test_what_is_written_is_read_by_the_reader_in_pure_python() -> None:
    obj = as_go_writes(Pod, POD)

    assert complete(from_protobuf(to_protobuf(obj)), metadata=True) == obj


def test_an_envelope_has_the_type_of_its_object() -> None:
    found = open_envelope(envelope("apps/v1", "Deployment", b"abc"))

    assert (found.api_version, found.kind, found.message) == ("apps/v1", "Deployment", b"abc")


def test_a_list_is_split_without_decoding_its_items() -> None:
    message = message_in(as_go_writes(Pod, POD))
    head = {"resourceVersion": "7", "continue": "next", "remainingItemCount": 3}
    body = envelope("v1", "PodList", list_start(head) + list_item(message) * 2)

    found = split_protobuf_list(body)

    assert (found.version, found.next_page, found.kind) == ("7", "next", "PodList")
    assert found.metadata is not None
    assert found.metadata.remaining_item_count == 3
    assert found.items == [message, message]
    assert found.is_protobuf
    assert identity_in(message) == ("u-1", "shop", "web", "42")


def test_an_event_has_a_type_and_an_object_in_an_envelope() -> None:
    frame = watch_frame("ADDED", envelope("v1", "Pod", b"abc"))

    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    type_, obj = split_protobuf_event(frame[4:])
    assert type_ == "ADDED"
    assert open_envelope(obj).message == b"abc"


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"k8s\x00\xff", envelope("v1", "PodList", b"\xff\xff")[:-2]]
)
def test_a_body_that_is_not_protobuf_is_a_decode_error(body: bytes) -> None:
    with pytest.raises(DecodeError):
        split_protobuf_list(body)


@given(st.binary(max_size=80), st.integers(0, 400), st.integers(0, 255))
def test_a_damaged_message_is_decoded_or_a_decode_error(tail: bytes, at: int, byte: int) -> None:
    message = bytearray(message_in(as_go_writes(Pod, POD)))
    message[at % len(message)] = byte

    for damaged in (bytes(message), tail):
        with contextlib.suppress(DecodeError):
            message_reader(Pod).decode(damaged)


# --- views, and what is not there


class NamedMeta(msgspec.Struct):
    name: str
    labels: dict[str, str] = {}


class Named(msgspec.Struct):
    """A view of any object."""

    metadata: NamedMeta


def test_a_view_has_only_its_own_fields() -> None:
    reader = message_reader(Named, api_version="v1", kind="Pod")

    found = reader.decode(message_in(as_go_writes(Pod, POD)))

    assert found == Named(NamedMeta("web", {"app": "web", "empty": ""}))


def test_an_object_can_be_plain_data() -> None:
    obj = as_go_writes(ConfigMap, {"data": {"a": "b"}, "metadata": {"name": "c"}})

    found = message_reader(dict, api_version="v1", kind="ConfigMap").decode(message_in(obj))

    assert found == {"metadata": {"name": "c"}, "data": {"a": "b"}}


def test_only_built_in_kinds_are_readable() -> None:
    class Website(Kind, group="example.com", version="v1"):
        pass

    assert is_readable(Pod)
    assert not is_readable(Website)
    with pytest.raises(DecodeError, match="not a built-in kind"):
        message_reader(Website)


def test_a_slow_runtime_is_not_used_and_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("google.protobuf.internal.api_implementation.Type", lambda: "python")
    descriptors.is_available.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            assert not is_available()
            assert not is_available()
    finally:
        descriptors.is_available.cache_clear()

    (line,) = caplog.messages
    assert "not upb" in line
