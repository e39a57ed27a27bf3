"""Discovery as a program wants it: the server, remembered in memory and, if asked, on disk."""

from __future__ import annotations

from pathlib import Path

from kubeloop.kit import Clock

from .client import DiscoveryClient
from .disk_cache import DEFAULT_TTL, DiskCache
from .memory_cache import CachedDiscovery, MemoryCache
from .sending import Sender

__all__ = ["cached_discovery"]


def cached_discovery(
    rest: Sender,
    directory: str | Path | None = None,
    *,
    ttl: float = DEFAULT_TTL,
    clock: Clock | None = None,
) -> CachedDiscovery:
    """The disk before the memory before the server; without a directory, no disk."""
    memory = MemoryCache(DiscoveryClient(rest))
    return memory if directory is None else DiskCache(memory, directory, ttl=ttl, clock=clock)
