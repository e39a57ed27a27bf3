"""A write of an object whose managedFields were dropped keeps those of the server."""

from __future__ import annotations

import json
from typing import Any

from kubeloop.clients import APIClient
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.conformance.samples import deployment


def managers(obj: Any) -> dict[tuple[str, str], str]:
    """The fields of each manager and operation, as text."""
    return {
        (entry.manager, entry.operation): json.dumps(dict(entry.fields_v1))
        for entry in obj.metadata.managed_fields
    }


async def test_an_update_from_a_cache_keeps_the_managed_fields_of_others(client: APIClient) -> None:
    maps = client.resource(ConfigMap)
    applied = ConfigMap(metadata=ObjectMeta(name="a"), data={"ann": "1"})
    await maps.apply(applied, field_manager="ann")
    await maps.patch("a", {"data": {"bob": "1"}}, type="merge", field_manager="bob")
    async with Client.over(client).informer(ConfigMap, namespace=None) as informer:
        cached = informer.lister.get("a", namespace=client.namespace)
        assert cached is not None
        assert not cached.metadata.managed_fields
        before = managers(await maps.get("a"))

        cached.data["cid"] = "1"
        stored = await maps.update(cached, field_manager="cid")

    after = managers(stored)
    assert {key: after[key] for key in before} == before
    assert after.keys() - before.keys() == {("cid", "Update")}
    assert '"f:cid"' in after["cid", "Update"]


async def test_an_update_of_a_field_from_a_cache_takes_it_over_from_its_manager(
    client: APIClient,
) -> None:
    maps = client.resource(ConfigMap)
    applied = ConfigMap(metadata=ObjectMeta(name="a"), data={"ann": "1", "too": "1"})
    await maps.apply(applied, field_manager="ann")
    async with Client.over(client).informer(ConfigMap, namespace=None) as informer:
        cached = informer.lister.get("a", namespace=client.namespace)
        assert cached is not None

        cached.data["ann"] = "2"
        stored = await maps.update(cached, field_manager="bob")

    after = managers(stored)
    assert '"f:ann"' in after["bob", "Update"]
    assert '"f:ann"' not in after["ann", "Apply"]
    assert '"f:too"' in after["ann", "Apply"]


async def test_a_status_update_from_a_cache_keeps_the_managed_fields(client: APIClient) -> None:
    deployments = client.resource(Deployment)
    await deployments.create(Deployment.from_dict(deployment("a")), field_manager="ann")
    async with Client.over(client).informer(Deployment, namespace=None) as informer:
        cached = informer.lister.get("a", namespace=client.namespace)
        assert cached is not None
        before = managers(await deployments.get("a"))

        cached.status.replicas = 1
        stored = await deployments.status.update(cached, field_manager="bob")

    after = managers(stored)
    assert {key: after[key] for key in before} == before
    assert ("bob", "Update") in after


async def test_an_object_from_a_cache_can_be_applied_as_it_is(client: APIClient) -> None:
    maps = client.resource(ConfigMap)
    await maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "1"}))
    async with Client.over(client).informer(ConfigMap, namespace=None) as informer:
        cached = informer.lister.get("a", namespace=client.namespace)
        assert cached is not None

        stored = await maps.apply(cached, field_manager="ann", force=True)

    assert '"f:k"' in managers(stored)["ann", "Apply"]
