"""Protobuf of a hostile server: every entry point decodes it, or raises a `DecodeError`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from kubeloop.wire import DecodeError, MessageProjection
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Event, Pod, PodList
from kubeloop.wire.protobuf import from_protobuf
from kubeloop.wire.protobuf_codec import (
    decode_envelope,
    identity_in,
    message_reader,
    open_envelope,
    split_protobuf_event,
    split_protobuf_list,
)
from kubeloop.wire.protobuf_writing import envelope, to_protobuf
from tests.wire.test_protobuf import field, number
from tests.wire.test_protobuf_codec import POD


@pytest.mark.parametrize("seconds", [2**62, 2**63, 2**64 - 2**62, 10**12])
def test_a_time_that_no_clock_shows_is_a_decode_error(seconds: int) -> None:
    message = field(1, field(8, b"\x08" + number(seconds)))

    for read in (
        message_reader(Pod).decode,
        message_reader(dict, api_version="v1", kind="Pod").decode,
        lambda text: from_protobuf(envelope("v1", "Pod", text)),
    ):
        with pytest.raises(DecodeError):
            read(message)


@pytest.mark.parametrize("size", [*map(number, (-1, -2, -11, -12)), b"\x80" * 99 + b"\x01"])
def test_a_part_with_a_negative_or_endless_size_is_a_decode_error(size: bytes) -> None:
    """A negative one led back to the beginning of the part, and so on forever."""
    labels = field(1, field(11, b"\x0a" + size))

    with pytest.raises(DecodeError):
        message_reader(Pod).decode(labels)


@pytest.mark.parametrize(
    "body",
    [
        envelope("v1", "Pod", b"").replace(b"Pod", b"P\xffd"),
        envelope("v1", "PodList", b"").replace(b"Pod", b"P\xffd"),
        envelope("v1", "Pod", b"").replace(b"v1", b"v\xff"),
    ],
)
def test_a_kind_or_version_that_is_not_text_is_a_decode_error(body: bytes) -> None:
    with pytest.raises(DecodeError):
        split_protobuf_list(body)
    for type_ in (Pod, dict):
        with pytest.raises(DecodeError):
            decode_envelope(type_, body)


def test_text_that_is_not_utf_8_is_a_decode_error_in_lists_events_and_identities() -> None:
    with pytest.raises(DecodeError):
        split_protobuf_list(envelope("v1", "PodList", field(1, field(2, b"\xff"))))
    with pytest.raises(DecodeError):
        split_protobuf_event(field(1, b"\xff"))
    with pytest.raises(DecodeError):
        identity_in(field(1, field(1, b"\xff")))


def hostile_bodies(count: int) -> Iterator[bytes]:
    """Bodies in which bytes are changed, removed, added and repeated, the same in each run."""
    random = Random(26)
    bodies = [
        to_protobuf({"apiVersion": "v1", "kind": "Pod", **POD}),
        *(to_protobuf(obj) for obj in OTHER_OBJECTS),
    ]
    odd = [0, 1, 7, 8, 0x0A, 0x12, 0x7F, 0x80, 0xFE, 0xFF]
    for _ in range(count):
        body = bytearray(random.choice(bodies))
        for _ in range(random.randint(1, 4)):
            at = random.randrange(4, len(body))
            match random.randrange(5):
                case 0:
                    body[at] = random.choice(odd)
                case 1:
                    body[at] = random.randrange(256)
                case 2:
                    del body[at : at + random.randint(1, 9)]
                case 3:
                    body[at:at] = bytes(random.choices(odd, k=random.randint(1, 10)))
                case _:
                    body[at:at] = body[4 : at + random.randint(0, 20)]
            if len(body) < 5:
                break
        yield bytes(body)


OTHER_OBJECTS: list[dict[str, Any]] = [
    {
        "apiVersion": "v1",
        "kind": "PodList",
        "metadata": {"resourceVersion": "5", "continue": "next", "remainingItemCount": 7},
        "items": [{"metadata": {"name": "a", "labels": {"x": "y"}}}],
    },
    {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "eventTime": "2026-01-01T00:00:00.000001Z",
        "involvedObject": {"kind": "Pod"},
    },
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "managedFields": [{"fieldsV1": {"f:a": {}}}]},
        "spec": {"strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}},
    },
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "a"},
        "spec": {
            "versions": [
                {
                    "name": "v1",
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "default": {"a": [1]},
                            "properties": {"a": {"items": {"type": "string"}}},
                            "additionalProperties": False,
                        }
                    },
                }
            ]
        },
    },
]


def test_hostile_bodies_are_decoded_or_a_decode_error() -> None:
    """Every entry point, in bounded time, and no exception of another library."""
    projection = MessageProjection("core_v1.Pod", ("spec.nodeName",), ("metadata.managedFields",))
    readers: list[Callable[[bytes], object]] = [
        from_protobuf,
        split_protobuf_list,
        open_envelope,
        lambda body: split_protobuf_event(body[4:]),
        lambda body: identity_in(body[4:]),
        lambda body: decode_envelope(dict, body),
        *(
            functools.partial(decode_envelope, type_)
            for type_ in (Pod, PodList, Event, Deployment, CustomResourceDefinition)
        ),
        lambda body: message_reader(Pod).has_unknown_fields(open_envelope(body).message),
        lambda body: projection.cut(projection.parse(open_envelope(body).message)),
        projection.parse_envelope,
    ]
    for body in hostile_bodies(600):
        for read in readers:
            with contextlib.suppress(DecodeError):
                read(body)
