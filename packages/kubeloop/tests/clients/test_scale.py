"""Scales of anything."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.clients.scale import scale_from, scale_to
from kubeloop.discovery import NoResourceMatch
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupResource, GroupVersionKind, GroupVersionResource
from kubeloop.wire.autoscaling.v1 import Scale, ScaleSpec, ScaleStatus
from kubeloop.wire.meta.v1 import ObjectMeta

from .conftest import Recorder

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def discovery(group: str, kind: dict[str, str]) -> list[Any]:
    """`/api` and `/apis` in the legacy form, then the resources of one group."""
    return [
        {"versions": []},
        {
            "groups": [
                {
                    "name": group,
                    "versions": [{"version": "v1", "groupVersion": f"{group}/v1"}],
                }
            ]
        },
        {
            "resources": [
                {"name": "things", "kind": "Thing", "namespaced": True, "verbs": []},
                {"name": "things/scale", "namespaced": True, "verbs": [], **kind},
                {"name": "plain", "kind": "Plain", "namespaced": True, "verbs": []},
            ]
        },
    ]


PLAIN = {"kind": "Scale", "group": "autoscaling", "version": "v1"}
SCALE = Scale(
    metadata=ObjectMeta(name="web"),
    spec=ScaleSpec(replicas=3),
    status=ScaleStatus(replicas=1, selector="a=b"),
)


async def test_a_scale_is_read_where_the_mapper_says() -> None:
    """DYN-14: the preferred version of the resource."""
    recorder = Recorder(*discovery("shop.io", PLAIN), SCALE.to_dict())

    found = await recorder.client.scales.get(GroupResource("shop.io", "things"), "ns", "web")

    assert recorder.line == "GET /apis/shop.io/v1/namespaces/ns/things/web/scale"
    assert found == SCALE


async def test_an_update_speaks_the_kind_that_the_server_says() -> None:
    """DYN-15: from discovery, once; the response is autoscaling/v1 again."""
    old = {"kind": "Scale", "group": "extensions", "version": "v1beta1"}
    answer = scale_to(SCALE, GroupVersionKind("extensions", "v1beta1", "Scale"))
    recorder = Recorder(*discovery("shop.io", old), answer, answer)
    scales = recorder.client.scales

    for _ in range(2):
        found = await scales.update(GroupResource("shop.io", "things"), "ns", SCALE)

    assert recorder.line == "PUT /apis/shop.io/v1/namespaces/ns/things/web/scale"
    assert recorder.body["apiVersion"] == "extensions/v1beta1"
    assert recorder.body["status"]["selector"] == {"a": "b"}
    assert found == SCALE
    assert len(recorder.requests) == 5


async def test_a_kind_without_a_place_is_the_parents() -> None:
    """DYN-15: `things/scale` without group and version is of the group it is listed in."""
    recorder = Recorder(*discovery("apps", {"kind": "Scale"}))

    with pytest.raises(InvalidArgument, match="apps/v1, Kind=Scale"):
        await recorder.client.scales.update(GroupResource("apps", "things"), "ns", SCALE)


async def test_a_patch_takes_the_whole_resource() -> None:
    """DYN-14, DYN-16: no discovery; an empty namespace has no segment."""
    recorder = Recorder(SCALE.to_dict())

    await recorder.client.scales.patch(
        GroupVersionResource("shop.io", "v1", "things"), "", "web", {"spec": {}}, type="merge"
    )

    assert recorder.line == "PATCH /apis/shop.io/v1/things/web/scale"


async def test_a_resource_without_a_scale_is_an_error() -> None:
    """DYN-16: resource without a scale subresource in discovery -> error."""
    recorder = Recorder(*discovery("shop.io", PLAIN))

    with pytest.raises(InvalidArgument, match="no scale"):
        await recorder.client.scales.update(GroupResource("shop.io", "plain"), "ns", SCALE)


async def test_a_resource_that_is_not_served_is_not_found() -> None:
    """DYN-14: Get/Update resolve the preferred version of a group resource through the mapper."""
    recorder = Recorder(*discovery("shop.io", PLAIN))

    with pytest.raises(NoResourceMatch):
        await recorder.client.scales.get(GroupResource("gone.io", "things"), "ns", "web")


@pytest.mark.parametrize(
    "place", [("apps", "v1beta1"), ("apps", "v1beta2"), ("extensions", "v1beta1")]
)
@pytest.mark.parametrize("selector", ["", "a=b", "a=b,c=d", "a in (b,c)"])
def test_older_scales_convert_there_and_back(place: tuple[str, str], selector: str) -> None:
    """DYN-15: an update uses the scale kind that discovery names."""
    scale = Scale(metadata=ObjectMeta(name="w"), spec=ScaleSpec(replicas=2))
    if selector:
        scale.status = ScaleStatus(replicas=1, selector=selector)

    there = scale_to(scale, GroupVersionKind(*place, "Scale"))

    assert there["apiVersion"] == "/".join(place)
    assert scale_from(there) == scale


def test_an_older_scale_that_says_only_its_map_converts() -> None:
    """DYN-15: an update uses the scale kind that discovery names."""
    found = scale_from(
        {
            "apiVersion": "apps/v1beta1",
            "kind": "Scale",
            "status": {"replicas": 1, "selector": {"b": "2", "a": "1"}},
        }
    )

    assert found.status.selector == "a=1,b=2"
