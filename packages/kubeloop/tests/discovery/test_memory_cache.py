"""Discovery that is cached in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubeloop.discovery import (
    DiscoveryClient,
    EmptyGroupVersion,
    MemoryCache,
    NotInCache,
    cached_discovery,
    is_transient,
)
from kubeloop.errors import (
    ConnectError,
    Forbidden,
    ServiceUnavailable,
    StreamBroken,
    TimeoutExceeded,
    api_error,
    failure,
)
from kubeloop.meta import GroupVersion

from .conftest import ScriptedServer, Slow, legacy_groups, legacy_resources

V1 = GroupVersion("", "v1")
APPS = GroupVersion("apps", "v1")


async def test_nothing_is_asked_before_it_is_used_and_then_once(modern: ScriptedServer) -> None:
    """DSC-18, DSC-19: everything is loaded in one go, from aggregated discovery."""
    cache = MemoryCache(DiscoveryClient(modern))
    assert (modern.received, cache.fresh) == ([], False)

    await cache.resources(APPS)
    await cache.resources(V1)
    await cache.groups()

    assert modern.paths == ["/api", "/apis"]
    assert cache.fresh


async def test_many_askers_share_one_load(old: ScriptedServer) -> None:
    """DSC-18: nothing is fetched until first use."""
    cache = MemoryCache(DiscoveryClient(old))

    await asyncio.gather(*(cache.resources(APPS) for _ in range(10)))

    assert old.paths == ["/api", "/apis", "/api/v1", "/apis/apps/v1"]
    assert cache.stats().loads == 1


async def test_a_server_without_groups_is_asked_again(server: ScriptedServer) -> None:
    """DSC-19: refresh prefers aggregated data."""
    server.say("/apis", {"groups": []})
    cache = MemoryCache(DiscoveryClient(server))

    await cache.groups()
    await cache.groups()

    assert server.paths.count("/apis") == 2
    assert not cache.fresh


async def test_a_passing_failure_is_asked_again_when_it_is_needed(old: ScriptedServer) -> None:
    """DSC-20, DSC-C7: a 503 is."""
    old.say("/apis/apps/v1", 503)
    cache = MemoryCache(DiscoveryClient(old))
    with pytest.raises(ServiceUnavailable):
        await cache.resources(APPS)
    old.say("/apis/apps/v1", legacy_resources("apps/v1", ("deployments", "Deployment")))

    rows = await cache.resources(APPS)

    assert [row.name for row in rows] == ["deployments"]


async def test_a_lasting_failure_is_remembered(old: ScriptedServer) -> None:
    """DSC-20, DSC-C7: a 403 is."""
    old.say("/apis/apps/v1", 403)
    cache = MemoryCache(DiscoveryClient(old))

    for _ in range(3):
        with pytest.raises(Forbidden):
            await cache.resources(APPS)

    assert old.paths.count("/apis/apps/v1") == 1


@pytest.mark.parametrize(
    ("error", "passing"),
    [
        (ConnectError("refused"), True),
        (StreamBroken("reset"), True),
        (TimeoutExceeded("late"), True),
        (api_error("GET", failure("TooManyRequests", "busy")), True),
        (api_error("GET", failure("InternalError", "bug")), True),
        (api_error("GET", failure("NotFound", "no")), False),
        (api_error("GET", failure("Forbidden", "no")), False),
    ],
)
def test_which_failures_may_pass(error: Exception, passing: bool) -> None:
    """DSC-20: a group version whose fetch failed caches the error."""
    assert is_transient(error) is passing


async def test_a_group_version_without_resources_is_an_error(old: ScriptedServer) -> None:
    """DSC-21: a group version without resources is cached as an error."""
    old.say("/apis/apps/v1", legacy_resources("apps/v1"))

    with pytest.raises(EmptyGroupVersion):
        await MemoryCache(DiscoveryClient(old)).resources(APPS)


async def test_an_unknown_group_version_is_not_in_the_cache(modern: ScriptedServer) -> None:
    """DSC-22: without a request."""
    cache = MemoryCache(DiscoveryClient(modern))

    with pytest.raises(NotInCache):
        await cache.resources(GroupVersion("gone.io", "v1"))

    assert modern.paths == ["/api", "/apis"]


async def test_invalidating_drops_this_and_the_source(modern: ScriptedServer) -> None:
    """DSC-23, DSC-C8: fresh again with the next load; the OpenAPI index is dropped too."""
    modern.say("/openapi/v3", {"paths": {}})
    client = DiscoveryClient(modern)
    below = MemoryCache(client)
    cache = MemoryCache(below)
    await cache.groups()
    await client.openapi.paths()

    cache.invalidate()

    assert (cache.fresh, below.fresh) == (False, False)
    await cache.groups()
    await client.openapi.paths()
    assert cache.fresh
    assert modern.paths.count("/apis") == 2
    assert modern.paths.count("/openapi/v3") == 2


async def test_a_cancelled_load_leaves_the_cache_usable(old: ScriptedServer) -> None:
    """DSC-17: calls are cancelled, not given a context."""
    cache = MemoryCache(DiscoveryClient(old))
    task = asyncio.ensure_future(cache.groups())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [group.name for group in await cache.groups()] == ["", "apps"]


@pytest.mark.parametrize("layers", [1, 2], ids=["memory", "disk over memory"])
async def test_a_response_from_before_it_was_invalidated_is_not_trusted(
    modern: ScriptedServer, tmp_path: Path, layers: int
) -> None:
    """DSC-23, DSC-27: it does not have what was created meanwhile."""
    server = Slow(modern)
    cache = cached_discovery(server, tmp_path if layers == 2 else None)
    loading = asyncio.create_task(cache.groups())
    await server.has_answered.wait()

    cache.invalidate()
    server.may_arrive.set()
    await loading
    asked = modern.paths.count("/apis")

    await cache.groups()
    assert modern.paths.count("/apis") == asked + 1


async def test_partial_failure_survives_in_the_whole(old: ScriptedServer) -> None:
    """DSC-11 for caches."""
    old.say("/apis", legacy_groups(("apps", ["v1"]), ("bad.io", ["v1"])))

    found = await MemoryCache(DiscoveryClient(old)).discover()

    assert set(found.resources) == {V1, APPS}
    assert list(found.failures) == [GroupVersion("bad.io", "v1")]
