"""Discovery that is remembered, in memory, until it is told to forget.

Promises: nothing is asked before first use; then everything is loaded once, however many
ask at a time; a failure that may pass is asked again when somebody needs it, any other is
remembered like an answer.
Elsewhere: remembering across processes (`disk_cache`), when to forget (`deferred`).
"""

from __future__ import annotations

import asyncio
from typing import Protocol, final, runtime_checkable

import msgspec

from kubeloop.errors import ApiError, KubeError, TransportError
from kubeloop.meta import GroupVersion

from .client import Discovery, discover_each
from .errors import EmptyGroupVersion, NotInCache
from .groups import ApiGroup, ApiResource, Discovered

__all__ = ["CachedDiscovery", "MemoryCache", "MemoryCacheStats", "is_transient"]


@runtime_checkable
class CachedDiscovery(Discovery, Protocol):
    """Discovery that may be out of date, and can be told to be so no longer."""

    @property
    def fresh(self) -> bool:
        """Whether a miss can be believed."""
        ...

    def invalidate(self) -> None: ...


class Overviewed(Discovery, Protocol):
    """Discovery that may be able to tell everything at once."""

    async def overview(self) -> tuple[tuple[ApiGroup, ...], Discovered | None]: ...


class MemoryCacheStats(msgspec.Struct, frozen=True):
    """What a cache holds."""

    fresh: bool
    groups: int
    versions: int
    failed: int
    loads: int  # how often everything was asked for


def is_transient(error: Exception) -> bool:
    """Whether asking again may help: the way was broken, or the server was busy or failing."""
    if isinstance(error, ApiError):
        return error.code >= 500 or error.code == 429
    return isinstance(error, TransportError)


@final
class MemoryCache:
    """Everything that `source` tells, remembered until `invalidate()`."""

    def __init__(self, source: Overviewed) -> None:
        self._source = source
        self._lock = asyncio.Lock()
        self._groups: tuple[ApiGroup, ...] = ()
        self._entries: dict[GroupVersion, tuple[ApiResource, ...] | Exception] = {}
        self._valid = False
        self._forgotten = 0  # how often everything was
        self._loads = 0

    @property
    def fresh(self) -> bool:
        return self._valid

    def invalidate(self) -> None:
        """Forget everything, here and in what is asked; answers that are on their way, too."""
        self._valid = False
        self._forgotten += 1
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

        Raises: NotInCache, or the failure that is remembered for it.
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

    async def discover(self) -> Discovered:
        """Everything, failures included. Safe to cancel."""
        return await discover_each(self, await self.groups())

    async def overview(self) -> tuple[tuple[ApiGroup, ...], Discovered | None]:
        """As `DiscoveryClient.overview`, so that caches can be stacked."""
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
            forgotten = self._forgotten
            groups, found = await self._source.overview()
            if found is not None:
                self._entries = {**found.resources, **found.failures}
            else:
                versions = [version for group in groups for version in group.group_versions]
                entries = await asyncio.gather(*map(self._fetch, versions))
                self._entries = dict(zip(versions, entries, strict=True))
            self._groups = groups
            # A server without groups has not started properly: ask again next time.
            self._valid = bool(groups) and forgotten == self._forgotten

    async def _fetch(self, version: GroupVersion) -> tuple[ApiResource, ...] | Exception:
        try:
            return await self._source.resources(version) or EmptyGroupVersion(version)
        except KubeError as error:
            return error
