"""Discovery that is cached in memory until it is invalidated.

Guarantees: no request before the first use; then everything is loaded once, also for concurrent
callers; a transient failure is requested again when it is needed, any other failure is cached.
See also: `disk_cache` (across processes), `deferred_mapper` (when to invalidate).
"""

from __future__ import annotations

import asyncio
from typing import Protocol, final, runtime_checkable

import msgspec

from kubeloop.errors import ApiError, KubeError, TransportError
from kubeloop.meta import GroupVersion

from .client import Discovery, discover_each
from .errors import EmptyGroupVersion, NotInCache
from .groups import ApiGroup, ApiResource, DiscoveryResult

__all__ = ["CachedDiscovery", "MemoryCache", "MemoryCacheStats", "is_transient"]


@runtime_checkable
class CachedDiscovery(Discovery, Protocol):
    """Discovery that may be stale, and can be invalidated."""

    @property
    def fresh(self) -> bool:
        """Whether the result was loaded from the server since the last invalidation."""
        ...

    def invalidate(self) -> None: ...


class AggregatedDiscovery(Discovery, Protocol):
    """Discovery that may return everything at once."""

    async def groups_and_maybe_resources(
        self,
    ) -> tuple[tuple[ApiGroup, ...], DiscoveryResult | None]: ...


class MemoryCacheStats(msgspec.Struct, frozen=True):
    """Numbers of one cache."""

    fresh: bool
    groups: int
    versions: int
    failed: int
    loads: int  # how often everything was loaded


def is_transient(error: Exception) -> bool:
    """Whether a new request may succeed: no connection, or a server that is busy or failing."""
    if isinstance(error, ApiError):
        return error.code >= 500 or error.code == 429
    return isinstance(error, TransportError)


@final
class MemoryCache:
    """Everything of `source`, cached until `invalidate()`."""

    def __init__(self, source: AggregatedDiscovery) -> None:
        self._source = source
        self._lock = asyncio.Lock()
        self._groups: tuple[ApiGroup, ...] = ()
        self._entries: dict[GroupVersion, tuple[ApiResource, ...] | Exception] = {}
        self._valid = False
        self._invalidations = 0
        self._loads = 0

    @property
    def fresh(self) -> bool:
        return self._valid

    def invalidate(self) -> None:
        """Drop everything, also in `source`, and the results of running requests."""
        self._valid = False
        self._invalidations += 1
        self._groups, self._entries = (), {}
        if isinstance(self._source, CachedDiscovery):
            self._source.invalidate()
        openapi = getattr(self._source, "openapi", None)
        if openapi is not None:
            openapi.invalidate()

    async def groups(self) -> tuple[ApiGroup, ...]:
        """The groups with their versions. Safe to cancel."""
        await self._load()
        return self._groups

    async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of a group version. Safe to cancel.

        Raises: NotInCache, or the cached failure of the group version.
        """
        await self._load()
        entry = self._entries.get(version)
        if isinstance(entry, Exception) and is_transient(entry):
            entry = self._entries[version] = await self._fetch(version)
        if entry is None:
            raise NotInCache(version)
        if isinstance(entry, Exception):
            raise entry
        return entry

    async def discover(self) -> DiscoveryResult:
        """Everything, failures included. Safe to cancel."""
        return await discover_each(self, await self.groups())

    async def groups_and_maybe_resources(
        self,
    ) -> tuple[tuple[ApiGroup, ...], DiscoveryResult | None]:
        """As `DiscoveryClient.groups_and_maybe_resources`, for stacked caches."""
        return await self.groups(), await self.discover()

    def stats(self) -> MemoryCacheStats:
        failed = sum(isinstance(entry, Exception) for entry in self._entries.values())
        return MemoryCacheStats(
            self._valid, len(self._groups), len(self._entries), failed, self._loads
        )

    async def _load(self) -> None:
        async with self._lock:
            if self._valid:
                return
            self._loads += 1
            invalidations = self._invalidations
            groups, found = await self._source.groups_and_maybe_resources()
            if found is not None:
                self._entries = {**found.resources, **found.failures}
            else:
                versions = [version for group in groups for version in group.group_versions]
                entries = await asyncio.gather(*map(self._fetch, versions))
                self._entries = dict(zip(versions, entries, strict=True))
            self._groups = groups
            # A server without groups has not started yet: load again next time.
            self._valid = bool(groups) and invalidations == self._invalidations

    async def _fetch(self, version: GroupVersion) -> tuple[ApiResource, ...] | Exception:
        try:
            return await self._source.resources(version) or EmptyGroupVersion(version)
        except KubeError as error:
            return error
