"""Objects as classes and as dicts."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kubeloop.clients.object_codecs import DictCodec, TypedCodec
from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.wire import Resource
from kubeloop.wire.core.v1 import Pod

from .conftest import Recorder, a_pod

A_1 = {"name": "a", "resourceVersion": "1"}


async def test_a_dict_without_a_kind_is_no_response() -> None:
    """DYN-6: a request may have none."""
    recorder = Recorder({"metadata": {"name": "a"}}, {"kind": "Pod"})
    pods = recorder.client.resource("v1", "Pod", namespace="shop")

    with pytest.raises(DecodeError, match="kind"):
        await pods.get("a")
    await pods.create({"metadata": {"name": "a"}})

    assert recorder.body == {"metadata": {"name": "a"}}


async def test_items_of_a_list_get_their_kind_and_api_version() -> None:
    """DYN-C6: from the list, if they have none themselves."""
    recorder = Recorder(
        {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "7", "remainingItemCount": 3, "continue": "t"},
            "items": [{"metadata": {"name": "a"}}, {"kind": "Other", "metadata": {}}],
        }
    )

    page = await recorder.client.resource("v1", "Pod", namespace="shop").list()

    assert page[0] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert page[1]["kind"] == "Other"
    assert (page.version, page.next_page, page.remaining) == ("7", "t", 3)


@pytest.mark.parametrize("value", [9007199254740993, -1, 1, 1.0, 1.5, None, True, [1], {"a": 1}])
async def test_numbers_stay_what_they_are(value: Any) -> None:
    """DYN-9, DYN-C9: 64-bit integers and floats stay distinct."""
    recorder = Recorder({"kind": "Pod", "metadata": A_1, "spec": {"v": value}})
    pods = recorder.client.resource("v1", "Pod", namespace="shop")
    found = await pods.get("a")
    recorder.answers.append(found)

    await pods.update(found)

    assert recorder.body["spec"]["v"] == value
    assert type(recorder.body["spec"]["v"]) is type(value)


async def test_a_field_that_a_class_does_not_know_survives_an_update() -> None:
    novelty = {"spec": {"containers": [{"name": "c", "novelty": {"deep": 1}}], "newer": True}}
    recorder = Recorder({"kind": "Pod", "apiVersion": "v1", "metadata": A_1, **novelty})
    pods = recorder.client.resource(Pod, namespace="shop")
    pod = await pods.get("a")
    recorder.answers.append({"kind": "Pod"})

    pod.metadata.labels["x"] = "y"
    await pods.update(pod)

    assert recorder.body["spec"] == novelty["spec"]
    assert recorder.body["metadata"] == {**A_1, "labels": {"x": "y"}}


async def test_an_object_of_another_form_is_rejected(recorder: Recorder) -> None:
    with pytest.raises(InvalidArgument, match="Pod"):
        await recorder.client.apps_v1.deployments().create(a_pod())  # type: ignore[arg-type] # the point
    with pytest.raises(InvalidArgument, match="dict"):
        await recorder.client.resource("v1", "Pod").create(a_pod())  # type: ignore[arg-type] # the point
    with pytest.raises(InvalidArgument):
        await recorder.client.resource("v1", "Pod").create({"a": object()})

    assert recorder.requests == []


@pytest.mark.parametrize(
    ("kind", "version"),
    [("DeploymentList", "apps/v1"), ("NodeList", "v1"), ("PodList", "v2"), ("Table", "v1")],
)
async def test_a_list_of_something_else_is_no_list_even_when_it_is_empty(
    kind: str, version: str
) -> None:
    recorder = Recorder({"kind": kind, "apiVersion": version, "metadata": {}, "items": []})

    with pytest.raises(DecodeError, match=f"list pods in shop: found {version} {kind}, expected"):
        await recorder.client.core_v1.pods("shop").list()


async def test_what_a_list_does_not_say_of_itself_is_not_held_against_it() -> None:
    recorder = Recorder({"metadata": {}, "items": [{"metadata": {"name": "a"}}]})

    page = await recorder.client.core_v1.pods("shop").list()

    assert [pod.metadata.name for pod in page] == ["a"]


async def test_only_a_custom_kind_may_give_its_list_any_name() -> None:
    """A CRD may set any listKind, but not another group version."""

    class Website(Resource, group="example.com", version="v1", plural="websites"):
        """A custom kind."""

    named = {"kind": "Sites", "metadata": {}, "items": []}
    recorder = Recorder(
        {**named, "apiVersion": "example.com/v1"}, {**named, "apiVersion": "example.com/v2"}
    )
    websites = recorder.client.resource(Website, namespace="shop")

    assert list(await websites.list()) == []
    with pytest.raises(DecodeError, match=r"found example\.com/v2 Sites"):
        await websites.list()


def test_a_dict_for_a_typed_client_is_refused_with_the_way_to_make_an_object() -> None:
    with pytest.raises(
        InvalidArgument, match=r"expected a Pod, got a dict \(use Pod\.from_dict\(…\)\)"
    ):
        TypedCodec(Pod).to_dict({"metadata": {"name": "web"}})


def test_an_object_for_a_client_of_dicts_is_refused_with_the_way_to_make_a_dict() -> None:
    with pytest.raises(InvalidArgument, match=r"got a Pod \(use .*, or its to_dict\(\)\)"):
        DictCodec().to_dict(cast("Any", Pod()))
