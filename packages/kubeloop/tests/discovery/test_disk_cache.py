"""Discovery that is cached on disk."""

# ruff: noqa: ASYNC240 - a test may wait for the disk

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kubeloop.discovery import (
    DEFAULT_TTL,
    ApiGroup,
    ApiResource,
    DeferredMapper,
    DiscoveryClient,
    DiscoveryResult,
    DiskCache,
    DocumentCache,
    MemoryCache,
    NoKindMatch,
    cached_discovery,
)
from kubeloop.errors import Forbidden
from kubeloop.kit import ManualClock, SystemClock
from kubeloop.meta import GroupKind, GroupVersion

from .conftest import ScriptedServer, legacy_groups, legacy_resources

V1 = GroupVersion("", "v1")
APPS = GroupVersion("apps", "v1")


async def fill(server: ScriptedServer, directory: Path) -> None:
    """Files that another process wrote."""
    await DiskCache(DiscoveryClient(server), directory).discover()
    server.received.clear()


async def test_the_files_have_kubectls_names_and_modes(old: ScriptedServer, tmp_path: Path) -> None:
    """DSC-24: directories 0750, files 0660, no temporary files remain."""
    before = os.umask(0)
    try:
        await fill(old, tmp_path / "cache")
    finally:
        os.umask(before)

    found = {path.relative_to(tmp_path / "cache").as_posix() for path in tmp_path.rglob("*.json*")}
    assert found == {
        "servergroups.json",
        "v1/serverresources.json",
        "apps/v1/serverresources.json",
    }
    assert stat.S_IMODE((tmp_path / "cache/v1").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "cache/servergroups.json").stat().st_mode) == 0o660


async def test_a_file_is_trusted_until_its_time_is_over(
    old: ScriptedServer, tmp_path: Path
) -> None:
    """DSC-25: valid while now is at most mtime + ttl; kubectl's six hours by default."""
    await fill(old, tmp_path)
    written = (tmp_path / "servergroups.json").stat().st_mtime
    clock = ManualClock(wall=SystemClock().time())
    cache = DiskCache(DiscoveryClient(old), tmp_path, ttl=60, clock=clock)

    await clock.advance(written + 59 - clock.time().timestamp())
    await cache.groups()
    assert old.received == []

    await clock.advance(2)
    await cache.groups()
    assert old.paths == ["/api", "/apis"]
    assert DEFAULT_TTL == 6 * 3600


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"groups":5}'])
async def test_a_damaged_file_is_loaded_again(
    old: ScriptedServer, tmp_path: Path, content: bytes
) -> None:
    """DSC-25: an entry is valid while now <= mtime + ttl."""
    await fill(old, tmp_path)
    (tmp_path / "servergroups.json").write_bytes(content)

    groups = await DiskCache(DiscoveryClient(old), tmp_path).groups()

    assert [group.name for group in groups] == ["", "apps"]
    assert old.received


async def test_a_directory_that_cannot_be_written_costs_only_time(
    old: ScriptedServer, tmp_path: Path
) -> None:
    """DSC-25: write errors are logged."""
    (tmp_path / "cache").write_text("a file where the directory should be")

    cache = DiskCache(DiscoveryClient(old), tmp_path / "cache")

    assert [group.name for group in await cache.groups()] == ["", "apps"]


async def test_errors_and_empty_responses_are_not_written(
    old: ScriptedServer, tmp_path: Path
) -> None:
    """DSC-26: errors and empty responses are never written."""
    old.say("/apis", legacy_groups(("apps", ["v1"]), ("empty.io", ["v1"])))
    old.say("/apis/apps/v1", 403)
    old.say("/apis/empty.io/v1", legacy_resources("empty.io/v1"))
    cache = DiskCache(DiscoveryClient(old), tmp_path)

    with pytest.raises(Forbidden):
        await cache.resources(APPS)
    assert await cache.resources(GroupVersion("empty.io", "v1")) == ()

    assert list(tmp_path.rglob("serverresources.json")) == []


async def test_it_is_fresh_until_a_foreign_file_was_used(
    old: ScriptedServer, tmp_path: Path
) -> None:
    """DSC-27: own files keep it fresh; invalidating makes foreign ones unusable."""
    mine = DiskCache(DiscoveryClient(old), tmp_path)
    await mine.groups()
    await mine.groups()
    assert mine.fresh

    other = DiskCache(DiscoveryClient(old), tmp_path)
    freshness = [other.fresh]
    await other.groups()
    freshness.append(other.fresh)
    other.invalidate()
    freshness.append(other.fresh)
    assert freshness == [True, False, True]

    old.received.clear()
    await other.groups()
    assert old.received
    old.received.clear()
    await other.groups()
    assert (old.received, other.fresh) == ([], True)


async def test_a_mapper_over_a_foreign_file_asks_the_server_once(
    old: ScriptedServer, tmp_path: Path
) -> None:
    """DSC-C9, MAP-9: a miss invalidates, the second lookup is final."""
    await fill(old, tmp_path)
    mapper = DeferredMapper(cached_discovery(old, tmp_path))
    assert (await mapper.mapping(GroupKind("apps", "Deployment"))).plural == "deployments"
    assert old.received == []

    with pytest.raises(NoKindMatch):
        await mapper.mapping(GroupKind("new.io", "Website"))
    with pytest.raises(NoKindMatch):
        await mapper.mapping(GroupKind("new.io", "Website"))

    assert old.paths.count("/apis") == 1


async def test_the_stack_is_disk_over_memory_over_the_server(
    old: ScriptedServer, tmp_path: Path
) -> None:
    """DSC-28: Stack: disk cache on top of memory cache on top of the live client."""
    stack = cached_discovery(old, tmp_path)

    await stack.resources(APPS)
    await stack.resources(APPS)

    assert isinstance(stack, DiskCache)
    assert isinstance(cached_discovery(old), MemoryCache)
    assert old.paths.count("/apis/apps/v1") == 1


async def test_responses_are_kept_behind_a_checksum(tmp_path: Path) -> None:
    """DSC-28: SHA-256 before the response, under the SHA-256 of the URL; damage is a miss."""
    cache = DocumentCache(tmp_path)
    await cache.put("https://h/openapi/v3/api/v1?hash=A", b"text")
    (file,) = tmp_path.iterdir()

    assert await cache.get("https://h/openapi/v3/api/v1?hash=A") == b"text"
    assert await cache.get("https://h/other") is None
    assert (len(file.name), len(file.read_bytes())) == (64, 32 + 4)
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert await cache.get("https://h/openapi/v3/api/v1?hash=A") is None


async def test_a_group_that_is_no_name_for_a_directory_is_not_kept(
    old: ScriptedServer, tmp_path: Path
) -> None:
    """DSC-24: no server decides where files are written."""

    class Hostile:
        async def groups(self) -> tuple[ApiGroup, ...]:
            return (ApiGroup("../../elsewhere", ("v1",), "v1"),)

        async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
            return (ApiResource("things", "Thing"),)

        async def discover(self) -> DiscoveryResult:
            raise NotImplementedError

    cache = DiskCache(Hostile(), tmp_path / "a" / "b" / "cache")

    found = await cache.discover()

    assert len(found.resources) == 1
    assert [path.name for path in tmp_path.rglob("*.json")] == ["servergroups.json"]
