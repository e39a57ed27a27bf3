"""Decoding accepts what a server may send, and rejects everything else."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import DecodeError, InvalidArgument, KubeError, MicroTime, Model, Time, decode
from kubeloop.wire.apiextensions.v1 import JSONSchemaProps
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Pod, PodList, PodSpec, Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.rbac.v1 import ClusterRole


class Meta(msgspec.Struct):
    name: str


class View(msgspec.Struct):
    metadata: Meta


class TypedView(msgspec.Struct, frozen=True):
    metadata: ObjectMeta
    spec: PodSpec | None = None
    owner: View | None = None


def test_models_in_a_view_take_what_they_do_not_know_as_they_do_anywhere() -> None:
    text = b"""{"kind": "Pod", "newer": 1,
        "metadata": {"name": "web", "labels": null, "newer": {"x": [null]}},
        "spec": {"containers": [{"name": "app", "newer": 2}]}}"""

    found = decode(list[TypedView], b"[" + text + b"]")[0]

    assert (found.metadata.name, found.metadata.labels) == ("web", {})
    assert found.metadata.to_dict() == {"name": "web", "newer": {"x": [None]}}
    assert found.spec is not None
    assert found.spec.to_dict() == {"containers": [{"name": "app", "newer": 2}]}


def test_a_mistake_below_a_view_is_named_by_its_path() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(TypedView, b'{"metadata": {"newer": 1, "labels": {"app": 5}}}')

    assert caught.value.path == "metadata.labels[app]"


def test_null_for_a_list_a_map_or_an_object_is_the_default() -> None:
    role = ClusterRole.from_json(b'{"metadata": null, "rules": null}')
    pod = Pod.from_json(b'{"spec": {"containers": null, "nodeSelector": null}, "status": null}')

    assert role.rules == []
    assert role.metadata.labels == {}
    assert pod.spec.containers == []
    assert pod.status.phase is None


def test_null_elements_are_empty_values() -> None:
    pod = Pod.from_json(
        b'{"spec": {"containers": [null, {"name": "a"}]}, "metadata": {"labels": {"x": null}}}'
    )

    assert [container.name for container in pod.spec.containers] == ["", "a"]
    assert pod.metadata.labels == {"x": ""}


class Lease(Model):
    acquired: Time
    renewed: MicroTime


def test_null_for_a_required_time_is_no_time() -> None:
    """API-23: zero times."""
    lease = Lease.from_json(b'{"acquired": null, "renewed": null}')

    read: object = (lease.acquired, lease.renewed)
    assert read == (None, None)
    assert lease.to_dict() == {}


def test_items_of_a_list_need_no_api_version_and_kind() -> None:
    """API-43: list items without apiVersion and kind."""
    pods = PodList.from_json(b'{"items": [{"metadata": {"name": "a"}}]}')

    assert pods.items[0].metadata.name == "a"
    assert pods.items[0].kind == "Pod"


def test_unknown_fields_never_raise_and_names_are_case_sensitive() -> None:
    """API-51: decoding is not strict."""
    pod = Pod.from_json(b'{"Spec": {"nodeName": "x"}, "spec": {"NodeName": "y"}}')

    assert pod.spec.node_name is None
    assert pod.to_dict()["Spec"] == {"nodeName": "x"}


def test_of_a_key_that_comes_twice_the_last_one_counts() -> None:
    """API-51: decoding is not strict."""
    assert Pod.from_json(b'{"metadata":{"name":"a","name":"b"}}').metadata.name == "b"


def test_whole_and_broken_numbers_stay_apart_in_free_form_data() -> None:
    """API-C14: integers and floats in unstructured data."""
    raw = b'{"metadata":{"managedFields":[{"fieldsV1":{"i":1,"f":1.0}}]}}'

    found = Pod.from_json(raw).metadata.managed_fields[0].fields_v1

    assert [type(found["i"]), type(found["f"])] == [int, float]
    assert b'"i":1,' in Pod.from_json(raw).to_json()


@pytest.mark.parametrize(
    ("cls", "data", "path", "message"),
    [
        (
            Pod,
            {"metadata": {"labels": {"app.io/x": 5}}},
            "metadata.labels[app.io/x]",
            "Expected str, got int",
        ),
        (
            Pod,
            {"spec": {"containers": [{}, {"name": 5}]}},
            "spec.containers[1].name",
            "Expected str",
        ),
        (Pod, {"spec": {"containers": {}}}, "spec.containers", "Expected array, got object"),
        (Pod, {"spec": []}, "spec", "Expected object, got array"),
        (Deployment, {"spec": {"replicas": "3"}}, "spec.replicas", "Expected int"),
        (
            Pod,
            {"metadata": {"creationTimestamp": "yesterday"}},
            "metadata.creationTimestamp",
            "RFC3339",
        ),
        (
            Pod,
            {"new": 1, "spec": {"containers": [{"resources": {"limits": {"cpu": "5x"}}}]}},
            "spec.containers[0].resources.limits[cpu]",
            "quantity '5x'",
        ),
        (Pod, {"kind": "Service"}, "kind", "expected Pod"),
        (Deployment, {"apiVersion": "apps/v1beta1"}, "apiVersion", "expected apps/v1"),
    ],
)
def test_an_error_names_the_path_of_the_offending_value(
    cls: type[Model], data: dict[str, Any], path: str, message: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        cls.from_dict(data)

    assert caught.value.path == path
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"nul",
        b"[1,",
        b"\xff\xfe",
        b'{"metadata":{"name":"\xff"}}',
        b"[" * 200_000,
        b"{} {}",
    ],
)
def test_text_that_is_not_json_is_a_decode_error(text: bytes) -> None:
    with pytest.raises(DecodeError):
        Pod.from_json(text)


@pytest.mark.parametrize("text", ["- a", "a: b: c", "!!python/object:os.system {}", ""])
def test_yaml_that_is_not_an_object_is_a_decode_error(text: str) -> None:
    with pytest.raises(DecodeError):
        Pod.from_yaml(text)


def test_an_error_about_a_secret_shows_no_value() -> None:
    with pytest.raises(DecodeError) as caught:
        Secret.from_dict({"data": {"key": "not base64: swordfish"}})

    assert "swordfish" not in str(caught.value)
    assert caught.value.path == "data[key]"


def test_data_that_json_cannot_represent_is_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="ConfigMap"):
        ConfigMap.from_dict({"data": {"a": object()}})


def test_a_view_reads_only_what_it_names() -> None:
    view = decode(View, b'{"metadata": {"name": "web", "uid": 5}, "spec": {"nodeName": []}}')

    assert view.metadata.name == "web"


def test_an_annotation_that_cannot_be_resolved_is_an_invalid_argument() -> None:
    class Inner(Model):
        name: str

    class Outer(Model):
        inner: Inner

    with pytest.raises(InvalidArgument, match="Outer"):
        Outer.from_dict({})


def test_a_list_of_objects_is_read_as_such() -> None:
    pods = decode(list[Pod], b'[{"metadata": {"name": "a"}, "new": 1}]')

    assert pods[0].to_dict()["new"] == 1


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["metadata", "spec", "status", "containers", "name", "labels", "x"]), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_any_json_is_decoded_or_a_decode_error(data: Any) -> None:
    try:
        pod = Pod.from_json(json.dumps(data))
    except KubeError:
        return
    assert Pod.from_json(pod.to_json()) == pod


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_or_a_decode_error(data: bytes) -> None:
    with contextlib.suppress(KubeError):
        Pod.from_json(data)


@pytest.mark.parametrize("folded", ["aGVs\nbG8=", "aGVs\r\nbG8=\n"])
def test_base64_may_be_folded_as_it_is_in_manifests(folded: str) -> None:
    assert Secret.from_dict({"data": {"a": folded}}).data == {"a": b"hello"}


def test_a_model_that_is_nested_too_deeply_cannot_be_encoded() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    pod = Pod.from_dict({"newer": deep})

    with pytest.raises(InvalidArgument, match="cannot encode Pod: nested too deeply"):
        pod.to_dict()


def test_known_fields_nested_too_deeply_are_a_decode_error() -> None:
    schema: Any = {"newer": 1}
    for _ in range(700):
        schema = {"not": schema}

    with pytest.raises(DecodeError, match="nested too deeply"):
        JSONSchemaProps.from_dict(schema)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_refused_and_never_read_as_null(number: float) -> None:
    with pytest.raises(DecodeError, match="JSON has no number"):
        ConfigMap.from_dict({"data": None, "unknown": [{"ratio": number}]})


def test_a_time_without_a_zone_is_refused_where_it_is_read() -> None:
    """API-23: it is ambiguous, and could not be encoded."""
    with pytest.raises(DecodeError) as caught:
        Pod.from_dict({"metadata": {"creationTimestamp": "2024-01-02T03:04:05"}})

    assert caught.value.path == "metadata.creationTimestamp"
    assert "zone" in str(caught.value) or "timezone" in str(caught.value)
