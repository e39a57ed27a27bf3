"""Discovery that is remembered on disk, for programs that live for a second.

Promises: the files are those of `kubectl`, in its layout; a file that is too old, cut off
or not readable is as good as none; errors and empty answers are never written; a disk that
is full or read-only costs time, and nothing else.
Elsewhere: remembering within a process (`memory_cache`), writing files (`files`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar, final

from kubeloop.errors import DecodeError
from kubeloop.kit import Clock, SystemClock
from kubeloop.meta import GroupVersion, problems_of_dns_subdomain

from .client import Discovery, discover_each
from .files import read_file, write_file
from .groups import ApiGroup, ApiResource, Discovered
from .memory_cache import CachedDiscovery
from .parsing import dump_groups, dump_resources, parse_groups, parse_resources

__all__ = ["DEFAULT_TTL", "DiskCache"]

T = TypeVar("T")

DEFAULT_TTL = 6 * 60 * 60.0
"""Seconds that a file is believed; what `kubectl` uses."""


@final
class DiskCache:
    """What `source` tells, kept under `directory` for `ttl` seconds."""

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
        self._ours: set[Path] = set()
        self._fresh = True
        self._distrust = False  # after invalidate(): only what we wrote ourselves counts

    @property
    def fresh(self) -> bool:
        """False once a file was used that another process wrote."""
        return self._fresh

    def invalidate(self) -> None:
        """Use no file any more that is there now, and forget in what is asked as well."""
        self._ours = set()  # another one: an answer that is on its way is one of the old
        self._fresh = True
        self._distrust = True
        if isinstance(self._source, CachedDiscovery):
            self._source.invalidate()

    async def groups(self) -> tuple[ApiGroup, ...]:
        """The groups with their versions. Safe to cancel."""
        return await self._kept(
            self._directory / "servergroups.json", parse_groups, self._source.groups, dump_groups
        )

    async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of a group version. Safe to cancel.

        Raises: what asking for it raises.
        """
        parts = [part for part in (version.group, version.version) if part]
        if any(problems_of_dns_subdomain(part) for part in parts):
            return await self._source.resources(version)  # no name for a directory
        return await self._kept(
            self._directory.joinpath(*parts, "serverresources.json"),
            parse_resources,
            lambda: self._source.resources(version),
            lambda rows: dump_resources(version, rows),
        )

    async def discover(self) -> Discovered:
        """Everything, failures included. Safe to cancel."""
        return await discover_each(self, await self.groups())

    async def overview(self) -> tuple[tuple[ApiGroup, ...], Discovered | None]:
        """As `DiscoveryClient.overview`, so that caches can be stacked."""
        found = await self.discover()
        return found.groups, found

    async def _kept(
        self,
        path: Path,
        parse: Callable[[bytes], tuple[T, ...]],
        ask: Callable[[], Awaitable[tuple[T, ...]]],
        dump: Callable[[tuple[T, ...]], bytes],
    ) -> tuple[T, ...]:
        known = await self._read(path, parse)
        if known is not None:
            return known
        ours = self._ours
        answer = await ask()
        if answer and await write_file(path, dump(answer)):
            ours.add(path)
        return answer

    async def _read(
        self, path: Path, parse: Callable[[bytes], tuple[T, ...]]
    ) -> tuple[T, ...] | None:
        if self._distrust and path not in self._ours:
            return None
        found = await read_file(path)
        if found is None or self._clock.time().timestamp() > found[1] + self._ttl:
            return None
        try:
            known = parse(found[0])
        except DecodeError:
            return None
        self._fresh = self._fresh and path in self._ours
        return known
