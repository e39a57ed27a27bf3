"""Scales that are applied, rejected, and returned as tables."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import deployment

Object = dict[str, Any]
DEPLOYMENTS = "apps/v1/deployments"


def _scale(replicas: int) -> Object:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas},
    }


async def test_the_applier_of_a_scale_owns_the_replicas(api: RawClient) -> None:
    body = deployment()
    del body["spec"]["replicas"]
    await api.apply(api.at(DEPLOYMENTS, "web"), body, "owner")

    reply = await api.apply(api.at(DEPLOYMENTS, "web", "scale"), _scale(5), "scaler", force="true")

    assert (reply.code, reply.body["kind"], reply.spec) == (200, "Scale", {"replicas": 5})
    found = await api.get(api.at(DEPLOYMENTS, "web"))
    mine = [each for each in found.meta["managedFields"] if each["manager"] == "scaler"]
    assert [(each["operation"], each["subresource"]) for each in mine] == [("Apply", "scale")]
    assert mine[0]["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    assert found.spec["replicas"] == 5


async def test_applying_a_scale_of_another_manager_is_a_conflict(api: RawClient) -> None:
    await api.apply(api.at(DEPLOYMENTS, "web"), deployment(replicas=2), "owner")

    reply = await api.apply(api.at(DEPLOYMENTS, "web", "scale"), _scale(5), "scaler")

    assert (reply.code, reply.reason) == (409, "Conflict")
    assert reply.causes == [(".spec.replicas", "FieldManagerConflict")]


async def test_a_scale_can_be_returned_as_a_table(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment(replicas=3))

    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    reply = await api("GET", api.at(DEPLOYMENTS, "web", "scale"), headers=table)

    names = [each["name"] for each in reply.body["columnDefinitions"]]
    assert names == ["Name", "Desired", "Available", "Age"]
    assert reply.body["rows"][0]["cells"][:3] == ["web", 3, 0]


async def test_replicas_that_are_no_longer_applied_are_removed(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment(replicas=3))
    path = api.at(DEPLOYMENTS, "web", "scale")
    await api.apply(path, _scale(5), "scaler", force="true")

    reply = await api.apply(path, {**_scale(0), "spec": {}}, "scaler")

    assert reply.code == 200
    assert (await api.get(api.at(DEPLOYMENTS, "web"))).spec["replicas"] == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"kind": "Deployment", "apiVersion": "apps/v1"}, 400),
        ({"kind": "", "apiVersion": ""}, 400),
        ({"spec": {"replicas": "5"}}, 500),
        ({"spec": {"replica": 5}}, 500),
        ({"spec": {"replicas": -5}}, 422),
    ],
)
async def test_only_a_scale_can_be_applied_to_a_scale(
    api: RawClient, change: Object, code: int
) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment(replicas=3))

    body = {**_scale(5), **change}
    reply = await api.apply(api.at(DEPLOYMENTS, "web", "scale"), body, "scaler", force="true")

    assert reply.code == code
    assert (await api.get(api.at(DEPLOYMENTS, "web"))).spec["replicas"] == 3


async def test_the_managers_of_a_scale_have_no_time_and_come_first(api: RawClient) -> None:
    path = api.at(DEPLOYMENTS, "web")
    await api.create(api.at(DEPLOYMENTS), deployment(), fieldManager="creator")

    await api("PUT", f"{path}/scale", _scale(2), query={"fieldManager": "putter"})
    after_update = (await api.get(path)).meta["managedFields"]
    await api.patch(f"{path}/scale", {"spec": {"replicas": 3}}, fieldManager="patcher")
    after_patch = (await api.get(path)).meta["managedFields"]
    await api.patch(path, {"metadata": {"labels": {"a": "b"}}}, fieldManager="labeler")
    after_change = (await api.get(path)).meta["managedFields"]

    def with_time(owners: list[Object]) -> list[tuple[str, bool]]:
        return [(each["manager"], "time" in each) for each in owners]

    assert with_time(after_update) == [("putter", False), ("creator", True)]
    assert with_time(after_patch) == [("patcher", False), ("creator", True)]
    assert with_time(after_change)[0] == ("patcher", False)
    assert after_change[0]["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
