"""Protobuf bodies read as the JSON that the same object would be."""

from __future__ import annotations

import base64
import contextlib
import json
import struct
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import DecodeError, class_for, resources
from kubeloop.wire._generated.protobuf import MESSAGES
from kubeloop.wire._generated.resources import GROUPS
from kubeloop.wire.protobuf import from_protobuf
from kubeloop.wire.protobuf_messages import message_fields
from tests.wire.random_json import every_class


def number(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(key: int, value: bytes) -> bytes:
    return number(key << 3 | 2) + number(len(value)) + value


def timestamp(text: str) -> bytes:
    at = datetime.fromisoformat(text)
    return (
        number(1 << 3)
        + number(int(at.timestamp()))
        + number(2 << 3)
        + number(at.microsecond * 1000)
    )


def scalar(type_: str, key: int, value: Any) -> bytes:
    """One field, as Go writes it."""
    match type_:
        case "string":
            return field(key, value.encode())
        case "bytes":
            return field(key, base64.b64decode(value))
        case "bool" | "int32" | "int64":
            return number(key << 3) + number(int(value))
        case "double":
            return number(key << 3 | 1) + struct.pack("<d", value)
        case "Quantity":
            return field(key, field(1, value.encode()))
        case "IntOrString" if isinstance(value, int):
            return field(key, number(2 << 3) + number(value))
        case "IntOrString":
            return field(key, number(1 << 3) + number(1) + field(3, value.encode()))
        case "Time" | "MicroTime":
            return field(key, timestamp(value))
        case "Raw":
            return field(key, field(1, json.dumps(value).encode()))
        case "strings":
            return field(key, b"".join(field(1, part.encode()) for part in value))
    return field(key, message(type_, value))


def message(name: str, data: dict[str, Any]) -> bytes:
    out = b""
    for key, wire, how, type_, _ in message_fields(name):
        if how == "inline":
            out += field(key, message(type_, data))
        elif wire in data and how == "list":
            out += b"".join(scalar(type_, key, item) for item in data[wire])
        elif wire in data and how == "map":
            pairs = data[wire].items()
            out += b"".join(
                field(key, field(1, k.encode()) + scalar(type_, 2, v)) for k, v in pairs
            )
        elif wire in data:
            out += scalar(type_, key, data[wire])
    return out


def envelope(data: dict[str, Any]) -> bytes:
    group, _, version = data["apiVersion"].rpartition("/")
    name = f"{GROUPS.get((group, version), 'meta_v1')}.{data['kind']}"
    name = name if name in MESSAGES else f"meta_v1.{data['kind']}"
    kind = field(1, data["apiVersion"].encode()) + field(2, data["kind"].encode())
    return (
        b"k8s\x00" + field(1, kind) + field(2, message(name, data)) + field(3, b"") + field(4, b"")
    )


POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "labels": {"app": "web", "empty": ""},
        "creationTimestamp": "2024-01-02T03:04:05Z",
        "finalizers": ["a", "b"],
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {
        "containers": [
            {
                "name": "app",
                "resources": {"limits": {"cpu": "500m"}},
                "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": -5},
                "readinessProbe": {"httpGet": {"port": 8080}},
                "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}],
            }
        ],
        "volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "s", "secret": {"defaultMode": 0}}],
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "hostNetwork": True,
    },
}


def test_a_pod_is_what_its_json_would_be() -> None:
    """V-9: the envelope begins with k8s, a zero, and the type."""
    body = envelope(POD)

    assert body[:5] == bytes.fromhex("6b3873000a")
    assert from_protobuf(body) == POD


def test_what_go_writes_although_it_is_empty_is_left_out() -> None:
    """A plain field that is zero says nothing; a pointer to zero does."""
    meta = {"name": "web", "generateName": "", "generation": 0}
    spec: dict[str, Any] = {"replicas": 0, "minReadySeconds": 0, "paused": False, "strategy": {}}
    data = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}

    assert from_protobuf(envelope(data)) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 0},
    }


def test_a_zero_time_is_left_out() -> None:
    body = (
        b"k8s\x00"
        + field(1, field(1, b"v1") + field(2, b"Pod"))
        + field(2, field(1, field(8, b"")))
    )

    assert from_protobuf(body) == {"apiVersion": "v1", "kind": "Pod"}


def test_options_of_every_group_are_read() -> None:
    data = {"apiVersion": "apps/v1", "kind": "DeleteOptions", "propagationPolicy": "Orphan"}

    assert from_protobuf(envelope(data)) == data


def test_the_extras_of_a_user_are_lists() -> None:
    spec = {"user": "a", "extra": {"scopes": ["x", "y"]}}
    data = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}

    assert from_protobuf(envelope(data)) == data


def test_every_resource_has_a_message() -> None:
    for info in resources():
        if class_for(info.group, info.version, info.kind) is not None:
            data = {"apiVersion": info.api_version, "kind": info.kind, "metadata": {"name": "a"}}
            assert from_protobuf(envelope(data))["metadata"] == {"name": "a"}


def test_every_field_of_every_class_has_a_number() -> None:
    def wires(name: str) -> set[str]:
        return {
            wire
            for _, own, how, type_, _ in message_fields(name)
            for wire in (wires(type_) if how == "inline" else {own})
        }

    for cls in every_class():
        name = f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"
        fields = set(cls.__struct_encode_fields__) - {"$extra", "apiVersion", "kind"}
        assert fields - {"object"} <= wires(name), name


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"k8s\x00",
        b"k8s\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        envelope(POD)[:-3],
        envelope(POD).replace(b"Pod", b"Pud"),
        envelope({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}).replace(
            b"\x0a\x01a", b"\x0a\x01\xff"
        ),
    ],
)
def test_a_body_that_is_not_protobuf_is_a_decode_error(body: bytes) -> None:
    with pytest.raises(DecodeError):
        from_protobuf(body)


@given(st.binary(max_size=80), st.integers(0, 200), st.integers(0, 255))
def test_a_damaged_body_is_decoded_or_a_decode_error(tail: bytes, at: int, byte: int) -> None:
    body = bytearray(envelope(POD))
    body[4 + at % (len(body) - 4)] = byte

    for damaged in (bytes(body), b"k8s\x00" + tail):
        with contextlib.suppress(DecodeError):
            from_protobuf(damaged)
