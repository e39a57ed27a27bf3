"""The fields that identify an object are checked before a request."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kubeloop import Client
from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.kit import run
from kubeloop_testing import APIServer
from tests.support.mutations import CRD, POD, mutated

WEBSITE: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "shop"},
    "spec": {"n": 3},
}


@pytest.mark.parametrize("verb", ["create", "update", "apply"])
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"metadata": ["shop"]}, "metadata of an object: expected an object, got a list"),
        ({"metadata": 5}, "metadata of an object: expected an object, got a int"),
        ({"metadata": {"name": ["shop"]}}, "metadata.name of an object: expected a string"),
        ({"metadata": {"name": "a", "namespace": {}}}, "metadata.namespace of an object"),
        ({"apiVersion": ["v1"]}, "apiVersion of an object: expected a string, got a list"),
        ({"kind": {"a": 1}}, "kind of an object: expected a string, got a dict"),
    ],
)
async def test_a_custom_resource_without_a_usable_name_is_rejected_and_nothing_is_sent(
    verb: str, change: dict[str, Any], fault: str
) -> None:
    async with APIServer() as server, Client(server.config) as client:
        await client.apply(CRD)
        collection = client.resource("example.com/v1", "Website")
        await collection.list()
        sent = len(server.faults.requests)
        broken = {**WEBSITE, **change}

        with pytest.raises(InvalidArgument, match=fault):
            await (client.apply(broken) if verb == "apply" else getattr(collection, verb)(broken))

        assert len(server.faults.requests) == sent


async def apply_all(manifests: list[Any]) -> None:
    async with APIServer() as server, Client(server.config) as client:
        await client.apply(CRD)
        for manifest in manifests:
            with contextlib.suppress(KubeError):
                await client.apply(manifest, force=True)
            with contextlib.suppress(KubeError):
                await client.resource("example.com/v1", "Website").create(manifest)
            with contextlib.suppress(KubeError):
                await client.resource("example.com/v1", "Website").update(manifest)


@pytest.mark.timeout(60)
@settings(
    max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(st.lists(mutated(WEBSITE) | mutated(POD) | mutated(CRD), min_size=30, max_size=30))
def test_any_manifest_is_sent_or_rejected_with_a_kubeloop_error(manifests: list[Any]) -> None:
    run(apply_all(manifests))
