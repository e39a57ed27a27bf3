"""Fields of a message can be read and cut without decoding it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.pods import pod
from kubeloop.wire import DecodeError, InvalidArgument, Projection
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.json_values import Json
from kubeloop.wire.projection import parse_path
from kubeloop.wire.projection_protobuf import (
    MessageProjection,
    read_label,
    read_owner,
    read_time,
)
from kubeloop.wire.protobuf_codec import message_reader
from kubeloop.wire.protobuf_writing import message_bytes
from tests.wire.test_protobuf import field

POD = "core_v1.Pod"
MANAGED = "metadata.managedFields"
LAST_APPLIED = "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']"
# Of all types that an index may use, inlined fields, and fields that are absent.
PATHS = (
    "spec.nodeName",
    "spec.priority",
    "spec.enableServiceLinks",
    "spec.hostNetwork",
    "spec.securityContext.fsGroup",
    "spec.securityContext.runAsUser",
    "metadata.finalizers",
    "metadata.annotations['prometheus.io/port']",
    "metadata.labels['none']",
    "status.phase",
    "status.nominatedNodeName",
)


def message(**changes: Any) -> bytes:
    return message_bytes(POD, pod(7) | changes)


def as_json(text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = message_reader(dict, message=POD).decode(text)
    return found


def test_the_head_has_what_a_cache_needs() -> None:
    data = pod(7)
    data["metadata"]["deletionTimestamp"] = "2026-03-04T05:06:07Z"
    where = MessageProjection(POD)
    name, namespace, uid, version, generation, labels, owners, deletion = where.head(
        where.parse(message_bytes(POD, data))
    )

    metadata = data["metadata"]
    assert (name, namespace, uid) == (metadata["name"], metadata["namespace"], metadata["uid"])
    assert (version, generation) == (metadata["resourceVersion"], 1)
    assert dict(map(read_label, labels)) == metadata["labels"]
    owner = metadata["ownerReferences"][0]
    expected = (owner["apiVersion"], owner["kind"], owner["name"], owner["uid"], True)
    assert read_owner(owners[0]) == expected
    assert read_time(deletion) == "2026-03-04T05:06:07Z"


def test_an_object_with_nothing_has_an_empty_head() -> None:
    where = MessageProjection(POD)

    head = where.head(where.parse(b""))

    assert [bool(value) for value in head] == [False] * 8


def test_values_are_those_of_json() -> None:
    text = message()
    where = MessageProjection(POD, PATHS)
    json = Projection(*PATHS, of=Pod)

    found = where.values(where.parse(text))

    assert where.reads_values
    assert tuple(found) == json.read(Pod.from_dict(as_json(text)).to_json())


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "nodeName": st.sampled_from(["", "a"]),
            "priority": st.sampled_from([0, 5]),
            "enableServiceLinks": st.booleans(),
            "hostNetwork": st.booleans(),
            "securityContext": st.fixed_dictionaries({}, optional={"fsGroup": st.integers(0, 2)}),
        },
    ),
    st.dictionaries(st.sampled_from(["prometheus.io/port", "b"]), st.sampled_from(["", "x"])),
)
@settings(max_examples=50)
def test_values_are_those_of_json_for_all_that_can_be_absent(
    spec: dict[str, Any], annotations: dict[str, str]
) -> None:
    data: dict[str, Json] = {"metadata": {"name": "a", "annotations": annotations}, "spec": spec}
    text = message_bytes(POD, data)
    where = MessageProjection(POD, PATHS)
    decoded = message_reader(dict, message=POD).decode(text)

    found = where.values(where.parse(text))

    assert tuple(found) == Projection(*PATHS).read(Pod.from_dict(decoded).to_json())


@pytest.mark.parametrize("path", ["spec.containers", "spec.tolerations", "status.startTime"])
def test_a_value_that_is_no_scalar_has_to_be_decoded(path: str) -> None:
    assert not MessageProjection(POD, (path,)).reads_values


@pytest.mark.parametrize("path", ["spec.none", "spec.containers.name", "spec.nodeName.x", ""])
def test_a_path_that_does_not_exist_is_rejected(path: str) -> None:
    with pytest.raises(InvalidArgument):
        MessageProjection(POD, (path,))


# --- cutting


@pytest.mark.parametrize(
    "drop",
    [
        (MANAGED,),
        ("status",),
        ("spec.nodeName", "spec.tolerations"),
        ("metadata.annotations['prometheus.io/port']", MANAGED),
        ("metadata.annotations",),
    ],
)
def test_a_cut_message_decodes_to_the_object_without_the_fields(drop: tuple[str, ...]) -> None:
    text = message()
    where = MessageProjection(POD, ("spec.priority",), drop)
    expected = as_json(text)
    for path in drop:
        *parents, last = parse_path(path)
        inner = expected
        for parent in parents:
            inner = inner[parent]
        inner.pop(last)

    cut = where.cut(where.parse(text), text)

    assert as_json(cut) == expected | ({"status": {}} if drop == ("status",) else {})
    assert len(cut) < len(text)


def test_a_message_without_the_fields_stays_as_it_is() -> None:
    text = message_bytes(POD, {"metadata": {"name": "a"}})
    where = MessageProjection(POD, (), (MANAGED, LAST_APPLIED))

    assert where.cut(where.parse(text), text) is text


def test_fields_of_the_future_survive_a_cut() -> None:
    inside = field(1, field(1, b"web") + field(90, b"new") + field(17, b""))
    text = inside + field(91, b"newer")
    where = MessageProjection(POD, (), (MANAGED,))

    cut = where.cut(where.parse(text), text)

    again = MessageProjection(POD, (), (MANAGED,))
    assert again.head(again.parse(cut))[0] == "web"
    assert field(90, b"new") in cut
    assert field(91, b"newer") in cut
    assert field(17, b"") not in cut


@given(st.binary(max_size=80))
def test_any_bytes_are_a_message_or_an_error(text: bytes) -> None:
    where = MessageProjection(POD, ("spec.nodeName",), (MANAGED,))
    try:
        parsed = where.parse(text)
        where.head(parsed)
        where.values(parsed)
    except DecodeError:
        return
    assert isinstance(where.cut(parsed, text), bytes)
