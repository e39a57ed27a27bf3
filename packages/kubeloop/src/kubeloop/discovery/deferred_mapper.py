"""A mapper that discovers on first use, and once more after a lookup without a match.

Guarantees: concurrent lookups share one discovery; a lookup without a match causes at most one
more discovery.
See also: `mapper` (the lookups), `memory_cache` (what is cached).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, final

import msgspec

from kubeloop.meta import GroupKind, GroupResource, GroupVersionKind, GroupVersionResource
from kubeloop.wire import ResourceInfo

from .errors import AmbiguousMatch, NoMatch
from .mapper import RESTMapper
from .memory_cache import CachedDiscovery
from .shortcuts import OnWarning

__all__ = ["DeferredMapper", "MapperStats"]

T = TypeVar("T")


class MapperStats(msgspec.Struct, frozen=True):
    """Whether a mapper is built now, and how often one was built."""

    built: bool
    builds: int


@final
class DeferredMapper:
    """`RESTMapper`'s lookups over a cache of discovery (client-go: the deferred mapper).

    If a lookup has no match and the cache is not fresh, the cache is invalidated, everything is
    discovered again, and the lookup is repeated once. With `trust_fresh=False` that happens for
    a fresh cache as well, because a CRD may have been created since it was loaded. Every lookup
    is safe to cancel.
    """

    def __init__(
        self,
        discovery: CachedDiscovery,
        *,
        trust_fresh: bool = True,
        on_warning: OnWarning | None = None,
    ) -> None:
        self._discovery = discovery
        self._trust_fresh = trust_fresh
        self._on_warning = on_warning
        self._lock = asyncio.Lock()
        self._mapper: RESTMapper | None = None
        self._builds = 0

    async def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        """As `RESTMapper.resources_for`."""
        return await self._lookup(lambda mapper: mapper.resources_for(partial))

    async def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.resource_for`."""
        return await self._lookup(lambda mapper: mapper.resource_for(partial))

    async def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        """As `RESTMapper.kinds_for`."""
        return await self._lookup(lambda mapper: mapper.kinds_for(partial))

    async def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        """As `RESTMapper.kind_for`."""
        return await self._lookup(lambda mapper: mapper.kind_for(partial))

    async def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """As `RESTMapper.mappings`."""
        return await self._lookup(lambda mapper: mapper.mappings(kind, *versions))

    async def mapping(self, kind: GroupKind, *versions: str) -> ResourceInfo:
        """As `RESTMapper.mapping`."""
        return await self._lookup(lambda mapper: mapper.mapping(kind, *versions))

    async def find(self, word: str) -> ResourceInfo:
        """As `RESTMapper.find`."""
        return await self._lookup(lambda mapper: mapper.find(word))

    async def singular_of(self, resource: str) -> str:
        """As `RESTMapper.singular_of`."""
        return await self._lookup(lambda mapper: mapper.singular_of(resource))

    async def expand(self, partial: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.expand`."""
        return (await self._get_mapper()).expand(partial)

    async def category(self, word: str) -> tuple[GroupResource, ...]:
        """As `RESTMapper.category`."""
        return (await self._get_mapper()).category(word)

    def reset(self) -> None:
        """Invalidate the cache, and drop the mapper."""
        self._discovery.invalidate()
        self._mapper = None

    def stats(self) -> MapperStats:
        return MapperStats(self._mapper is not None, self._builds)

    async def _lookup(self, lookup: Callable[[RESTMapper], T]) -> T:
        was_loaded = self._mapper is not None or self._discovery.fresh
        mapper = await self._get_mapper()
        try:
            return lookup(mapper)
        except AmbiguousMatch:
            raise  # a new discovery would not change it
        except NoMatch:
            if self._discovery.fresh and (self._trust_fresh or not was_loaded):
                raise
        return lookup(await self._rebuild(instead_of=mapper))

    async def _get_mapper(self) -> RESTMapper:
        async with self._lock:
            if self._mapper is None:
                self._mapper = await self._build()
            return self._mapper

    async def _rebuild(self, *, instead_of: RESTMapper) -> RESTMapper:
        async with self._lock:
            # Another lookup may have rebuilt it in the meantime.
            if self._mapper is instead_of or self._mapper is None:
                self._discovery.invalidate()
                self._mapper = await self._build()
            return self._mapper

    async def _build(self) -> RESTMapper:
        self._builds += 1
        found = await self._discovery.discover()
        return RESTMapper(found, on_warning=self._on_warning)
