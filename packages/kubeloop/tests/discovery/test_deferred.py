"""A mapper that discovers when it has to."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.discovery import DeferredMapper, DiscoveryClient, MemoryCache, NoKindMatch
from kubeloop.meta import GroupKind, GroupVersionResource

from .conftest import V2, ScriptedServer, aggregated, group, resource

WEBSITE = GroupKind("example.com", "Website")


def serve_websites(server: ScriptedServer) -> None:
    server.say("/apis", aggregated(group("example.com", v1=[resource("websites", "Website")])), V2)


async def test_discovery_happens_at_the_first_lookup(modern: ScriptedServer) -> None:
    """MAP-9: deferred mapper: discovery on first use. On an error."""
    mapper = DeferredMapper(MemoryCache(DiscoveryClient(modern)))
    assert modern.received == []

    await asyncio.gather(*(mapper.find("deploy") for _ in range(5)))

    assert modern.paths == ["/api", "/apis"]


async def test_a_fresh_cache_is_trusted(modern: ScriptedServer) -> None:
    """MAP-9, DSC-C10: no second discovery, no loop."""
    mapper = DeferredMapper(MemoryCache(DiscoveryClient(modern)))
    await mapper.find("deploy")
    serve_websites(modern)

    with pytest.raises(NoKindMatch):
        await mapper.mapping(WEBSITE)

    assert modern.paths.count("/apis") == 1


async def test_a_cache_that_is_not_fresh_is_asked_once_more(modern: ScriptedServer) -> None:
    """MAP-9, DSC-C10: a CRD made after the first discovery is found."""
    cache = MemoryCache(DiscoveryClient(modern))
    mapper = DeferredMapper(cache)
    await mapper.find("deploy")
    serve_websites(modern)
    cache.invalidate()

    assert (await mapper.mapping(WEBSITE)).plural == "websites"
    assert modern.paths.count("/apis") == 2


async def test_a_mapper_that_does_not_trust_looks_again_once_for_each_miss(
    modern: ScriptedServer,
) -> None:
    """MAP-9, for long-running programs: the mapper of a client."""
    mapper = DeferredMapper(MemoryCache(DiscoveryClient(modern)), trust_fresh=False)
    with pytest.raises(NoKindMatch):
        await mapper.mapping(WEBSITE)
    assert modern.paths.count("/apis") == 1  # it has only just looked
    serve_websites(modern)

    found = await asyncio.gather(*(mapper.mapping(WEBSITE) for _ in range(5)))

    assert {info.plural for info in found} == {"websites"}
    assert modern.paths.count("/apis") == 2


async def test_reset_drops_everything(modern: ScriptedServer) -> None:
    """MAP-10: reset invalidates the discovery cache and drops the built mapper."""
    mapper = DeferredMapper(MemoryCache(DiscoveryClient(modern)))
    await mapper.find("deploy")

    mapper.reset()

    assert not mapper.stats().built
    assert await mapper.expand(GroupVersionResource("", "", "deploy")) == GroupVersionResource(
        "apps", "", "deployments"
    )
    assert modern.paths.count("/apis") == 2
