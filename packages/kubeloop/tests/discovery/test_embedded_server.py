"""Discovery of an embedded server, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kubeloop.config import ClusterConfig
from kubeloop.discovery import DeferredMapper, DiscoveryClient, MemoryCache
from kubeloop.meta import GroupVersion
from kubeloop.rest import RESTClient
from kubeloop.wire import resources
from kubeloop_testing.server.service import Service


@pytest.fixture
async def rest() -> AsyncIterator[RESTClient]:
    async with (
        Service() as server,
        RESTClient(ClusterConfig(server=server.url)) as client,
    ):
        yield client


async def test_both_forms_say_the_same(rest: RESTClient) -> None:
    """DSC-2, DSC-C2: aggregated and legacy discovery agree."""
    modern = await DiscoveryClient(rest).discover()
    legacy = await DiscoveryClient(rest, legacy=True).discover()

    assert modern.failures == legacy.failures == {}
    assert [group.name for group in modern.groups] == [group.name for group in legacy.groups]
    assert {gv: {row.name for row in rows} for gv, rows in modern.resources.items()} == {
        gv: {row.name for row in rows} for gv, rows in legacy.resources.items()
    }


async def test_the_mapper_finds_what_the_table_of_built_in_kinds_has(rest: RESTClient) -> None:
    """MAP-6: RESTMapping(kind, versions...)."""
    mapper = DeferredMapper(MemoryCache(DiscoveryClient(rest)))

    for info in resources():
        if info.plural in {"pods", "deployments", "nodes", "leases"}:
            found = await mapper.find(f"{info.plural}.{info.group}" if info.group else info.plural)
            assert (found.kind, found.namespaced) == (info.kind, info.namespaced)


async def test_version_and_openapi_are_served(rest: RESTClient) -> None:
    """DSC-15: server version: GET `/version`, JSON. OpenAPI v2."""
    client = DiscoveryClient(rest)

    assert (await client.version()).major == "1"
    document = await client.openapi.document(GroupVersion("apps", "v1"))
    assert "paths" in document
