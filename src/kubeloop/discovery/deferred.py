"""A mapper that asks the server when it is first needed, and once more when it knows nothing.

Promises: many lookups at a time share one discovery; a lookup that finds nothing causes at
most one more, and never a loop.
Elsewhere: the lookups themselves (`mapper`), what is remembered (`memory_cache`).
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
    """How often a mapper was built, and whether one is there now."""

    built: bool
    builds: int


@final
class DeferredMapper:
    """`RESTMapper`'s lookups over a cache of discovery (client-go: the deferred mapper).

    When nothing is found and the cache is not fresh, the cache forgets, everything is
    discovered anew, and the lookup tried once more. A fresh cache is believed; with
    `trust_fresh=False` even a fresh one is asked again, because kinds may have come since
    it was filled. Every lookup is safe to cancel.
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

    async def resources_for(self, wanted: GroupVersionResource) -> list[GroupVersionResource]:
        """As `RESTMapper.resources_for`."""
        return await self._ask(lambda mapper: mapper.resources_for(wanted))

    async def resource_for(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.resource_for`."""
        return await self._ask(lambda mapper: mapper.resource_for(wanted))

    async def kinds_for(self, wanted: GroupVersionResource) -> list[GroupVersionKind]:
        """As `RESTMapper.kinds_for`."""
        return await self._ask(lambda mapper: mapper.kinds_for(wanted))

    async def kind_for(self, wanted: GroupVersionResource) -> GroupVersionKind:
        """As `RESTMapper.kind_for`."""
        return await self._ask(lambda mapper: mapper.kind_for(wanted))

    async def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """As `RESTMapper.mappings`."""
        return await self._ask(lambda mapper: mapper.mappings(kind, *versions))

    async def mapping(self, kind: GroupKind, *versions: str) -> ResourceInfo:
        """As `RESTMapper.mapping`."""
        return await self._ask(lambda mapper: mapper.mapping(kind, *versions))

    async def find(self, word: str) -> ResourceInfo:
        """As `RESTMapper.find`."""
        return await self._ask(lambda mapper: mapper.find(word))

    async def singular_of(self, resource: str) -> str:
        """As `RESTMapper.singular_of`."""
        return await self._ask(lambda mapper: mapper.singular_of(resource))

    async def expand(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.expand`."""
        return (await self._built()).expand(wanted)

    async def category(self, word: str) -> tuple[GroupResource, ...]:
        """As `RESTMapper.category`."""
        return (await self._built()).category(word)

    def reset(self) -> None:
        """Forget what was discovered, and what was built from it."""
        self._discovery.invalidate()
        self._mapper = None

    def stats(self) -> MapperStats:
        return MapperStats(self._mapper is not None, self._builds)

    async def _ask(self, look: Callable[[RESTMapper], T]) -> T:
        was_known = self._mapper is not None or self._discovery.fresh
        mapper = await self._built()
        try:
            return look(mapper)
        except AmbiguousMatch:
            raise  # the same question would have the same answers
        except NoMatch:
            if self._discovery.fresh and (self._trust_fresh or not was_known):
                raise
        return look(await self._rebuilt(instead_of=mapper))

    async def _built(self) -> RESTMapper:
        async with self._lock:
            if self._mapper is None:
                self._mapper = await self._build()
            return self._mapper

    async def _rebuilt(self, *, instead_of: RESTMapper) -> RESTMapper:
        async with self._lock:
            # Another lookup may have been faster: its news is news enough.
            if self._mapper is instead_of or self._mapper is None:
                self._discovery.invalidate()
                self._mapper = await self._build()
            return self._mapper

    async def _build(self) -> RESTMapper:
        self._builds += 1
        found = await self._discovery.discover()
        return RESTMapper(found, on_warning=self._on_warning)
