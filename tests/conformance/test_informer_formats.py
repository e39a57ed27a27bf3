"""Informers have the same objects, whether they read JSON or protobuf."""

from __future__ import annotations

import msgspec
import pytest

from kubeloop.cache import SharedInformer
from kubeloop.clients import APIClient
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.conformance.samples import deployment

pytestmark = pytest.mark.one_format


async def test_informers_of_both_formats_have_the_same_objects(client: APIClient) -> None:
    deployments = client.resource(Deployment)
    await deployments.create(Deployment.from_dict(deployment("a")))
    informers = Client.over(client)
    index = {"replicas": "spec.replicas"}
    async with (
        informers.informer(Deployment, format="protobuf", namespace=None, index=index) as found,
        informers.informer(Deployment, format="json", namespace=None, index=index) as expected,
    ):
        await deployments.create(Deployment.from_dict(deployment("b")))
        last = await deployments.patch("a", {"spec": {"replicas": 7}}, type="merge")
        for informer in (found, expected):
            await informer.wait_for_version(last.metadata.resource_version or "")

        assert found.stats().codec.messages >= 3
        assert _without_content(found) == _without_content(expected)
        assert found.lister.list() == expected.lister.list()
        assert found.lister.keys_by_index("replicas", "7") == [found.lister.keys()[0]]


def _without_content(informer: SharedInformer[Deployment]) -> list[object]:
    entries = sorted(informer.indexer.entries(), key=lambda entry: entry.key)
    return [msgspec.structs.replace(entry, content=None) for entry in entries]


async def test_metadata_informers_of_both_formats_have_the_same_objects(client: APIClient) -> None:
    labels = {"app": "web"}
    maps = client.resource(ConfigMap)
    await maps.create(ConfigMap(metadata=ObjectMeta(name="a", labels=labels), data={"k": "v"}))
    informers = Client.over(client)

    async with (
        informers.informer(
            ConfigMap, metadata_only=True, format="protobuf", namespace=None
        ) as found,
        informers.informer(
            ConfigMap, metadata_only=True, format="json", namespace=None
        ) as expected,
    ):
        assert found.stats().codec.messages > 0
        assert found.lister.list("app=web") == expected.lister.list("app=web") != []
