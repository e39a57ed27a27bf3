"""Discovery that is cached on disk, for short-lived programs.

Guarantees: files and layout are those of `kubectl`; a file that is too old, incomplete or not
readable is a miss; failures and empty results are never written; if the disk is full or
read-only, the server is used.
See also: `memory_cache` (within a process), `files` (writes them).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar, final

from kubeloop.errors import DecodeError
from kubeloop.kit import Clock, SystemClock
from kubeloop.meta import GroupVersion, problems_of_dns_subdomain

from .client import Discovery, DiscoveryClient, Sender, discover_each
from .files import read_file, write_file
from .groups import ApiGroup, ApiResource, DiscoveryResult
from .memory_cache import CachedDiscovery, MemoryCache
from .parsing import dump_groups, dump_resources, parse_groups, parse_resources

__all__ = [
    "DEFAULT_TTL",
    "DiskCache",
    "cached_discovery",
]

T = TypeVar("T")

DEFAULT_TTL = 6 * 60 * 60.0
"""Seconds until a file is stale, as in `kubectl`."""


@final
class DiskCache:
    """Discovery of `source`, cached in `directory` for `ttl` seconds."""

    def __init__(
        self,
        source: Discovery,
        directory: str | Path,
        *,
        ttl: float = DEFAULT_TTL,
        clock: Clock | None = None,
    ) -> None:
        self._source = source
        self._directory = Path(directory)
        self._ttl = ttl
        self._clock = clock or SystemClock()
        self._own_files: set[Path] = set()
        self._fresh = True
        self._ignore_existing = False  # after invalidate(): use only files that this cache wrote

    @property
    def fresh(self) -> bool:
        """False after a file of another process was used."""
        return self._fresh

    def invalidate(self) -> None:
        """Ignore the existing files, and invalidate `source` as well."""
        self._own_files = set()  # a new set: running requests add to the old one
        self._fresh = True
        self._ignore_existing = True
        if isinstance(self._source, CachedDiscovery):
            self._source.invalidate()

    async def groups(self) -> tuple[ApiGroup, ...]:
        """The groups with their versions. Safe to cancel."""
        return await self._cached(
            self._directory / "servergroups.json", parse_groups, self._source.groups, dump_groups
        )

    async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of a group version. Safe to cancel.

        Raises: as `source`.
        """
        parts = [part for part in (version.group, version.version) if part]
        if any(problems_of_dns_subdomain(part) for part in parts):
            return await self._source.resources(version)  # not valid as the name of a directory
        return await self._cached(
            self._directory.joinpath(*parts, "serverresources.json"),
            parse_resources,
            lambda: self._source.resources(version),
            lambda rows: dump_resources(version, rows),
        )

    async def discover(self) -> DiscoveryResult:
        """Everything, failures included. Safe to cancel."""
        return await discover_each(self, await self.groups())

    async def groups_and_maybe_resources(
        self,
    ) -> tuple[tuple[ApiGroup, ...], DiscoveryResult | None]:
        """As `DiscoveryClient.groups_and_maybe_resources`, for stacked caches."""
        found = await self.discover()
        return found.groups, found

    async def _cached(
        self,
        path: Path,
        parse: Callable[[bytes], tuple[T, ...]],
        load: Callable[[], Awaitable[tuple[T, ...]]],
        dump: Callable[[tuple[T, ...]], bytes],
    ) -> tuple[T, ...]:
        cached = await self._read(path, parse)
        if cached is not None:
            return cached
        own_files = self._own_files
        loaded = await load()
        if loaded and await write_file(path, dump(loaded)):
            own_files.add(path)
        return loaded

    async def _read(
        self, path: Path, parse: Callable[[bytes], tuple[T, ...]]
    ) -> tuple[T, ...] | None:
        if self._ignore_existing and path not in self._own_files:
            return None
        found = await read_file(path)
        if found is None or self._clock.time().timestamp() > found[1] + self._ttl:
            return None
        try:
            cached = parse(found[0])
        except DecodeError:
            return None
        self._fresh = self._fresh and path in self._own_files
        return cached


def cached_discovery(
    rest: Sender,
    directory: str | Path | None = None,
    *,
    ttl: float = DEFAULT_TTL,
    clock: Clock | None = None,
) -> CachedDiscovery:
    """Discovery with a memory cache, behind a disk cache if a directory is given."""
    memory = MemoryCache(DiscoveryClient(rest))
    return memory if directory is None else DiskCache(memory, directory, ttl=ttl, clock=clock)
