"""What each key of a controller has written, and the keys parked until caches have seen it.

Guarantees: a key is released when every cache that holds what it wrote has reached the write's
version, and not before; a bookmark or a later change of another object in that cache counts. A
write is no longer waited for when a list sets its cache back to an older version: the server
was restored, and the write may be lost. Parked keys hold no worker.
See also: `writes` (what a write is), `controller` (parks keys).
"""

# ruff: noqa: ASYNC109 - a clock enforces the caller's timeout, and the error names it
from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.cache import InformerState, InformerStopped, SharedInformer, has_reached
from kubeloop.kit import Clock, TaskOwner
from kubeloop.meta import ObjectKey, is_newer, is_valid_version

from .caches import Caches
from .writes import Write, would_hold

__all__ = ["BEHIND_AFTER", "ParkedKeys", "WriteLedger"]

Informer: TypeAlias = SharedInformer[Any]

BEHIND_AFTER = 180.0
"""Seconds that a key is parked before `/readyz` and an event report it."""
PRUNE_BEYOND = 1000
"""Keys with writes above which those whose writes were seen are removed."""
_TOLERANCE = 1e-6  # sums of floats differ from the exact time by a little


@final
class _Goal:
    """What one cache has to reach: everything that one key has written in its scope."""

    def __init__(self, informer: Informer) -> None:
        self._informer = informer
        self._rewinds = informer.indexer.store.rewinds
        # Written in this order: a cache that has the newest has the others.
        self._version = ""
        self._newest = ObjectKey("", "")
        # Writes after which the cache does not hold the object.
        self._leaving: dict[ObjectKey, Write] = {}
        # Versions that do not compare, with the lists that the cache had held by then.
        self._exact: dict[ObjectKey, tuple[str, int]] = {}

    def add(self, write: Write) -> None:
        if not would_hold(write, self._informer.scope):
            # The cache gets a change only if it holds the object, or is about to.
            self._leaving[write.key] = msgspec.structs.replace(write, body=b"")
        elif not is_valid_version(write.version):
            self._exact[write.key] = (write.version, self._informer.indexer.store.replacements)
        elif not self._version or not is_newer(self._version, than=write.version):
            self._version, self._newest = write.version, write.key
            self._leaving.pop(write.key, None)

    @property
    def is_void(self) -> bool:
        """Whether not to wait: the cache has stopped, or the server was restored."""
        informer = self._informer
        return (
            informer.state is InformerState.STOPPED
            or informer.indexer.store.rewinds != self._rewinds
        )

    @property
    def version(self) -> str:
        """The version to reach; empty if single objects matter as well."""
        return "" if self._leaving or self._exact else self._version

    def is_reached(self) -> bool:
        if self.is_void:
            return True
        if self._version and not self._has(self._newest, self._version):
            return False
        # All at once: an object that was created and deleted has to appear before it disappears.
        return all(map(self._has_left, self._leaving.values())) and all(
            itertools.starmap(self._has_exactly, self._exact.items())
        )

    def _has(self, key: ObjectKey, version: str) -> bool:
        indexer = self._informer.indexer
        if is_valid_version(indexer.version):
            return not is_newer(version, than=indexer.version)
        entry = indexer.entry(key)  # the collection's version does not compare
        return entry is not None and has_reached(entry.version, version)

    def _has_left(self, write: Write) -> bool:
        entry = self._informer.indexer.entry(write.key)
        if entry is None or (write.uid and entry.uid != write.uid):
            return True
        if not is_valid_version(write.version):
            return False
        if write.gone:  # or so it seemed, and it has changed since
            return is_valid_version(entry.version) and is_newer(entry.version, write.version)
        return has_reached(self._informer.indexer.version, write.version)

    def _has_exactly(self, key: ObjectKey, expected: tuple[str, int]) -> bool:
        version, replacements = expected
        indexer = self._informer.indexer
        entry = indexer.entry(key)
        return (
            entry is not None and entry.version == version
        ) or indexer.store.replacements > replacements

    def __str__(self) -> str:
        name, now = self._informer.name, self._informer.indexer.version or "nothing"
        objects = [str(key) for key in self._leaving or self._exact]
        more = f" and {len(objects) - 3} others" if len(objects) > 3 else ""
        goal = f"the write of {', '.join(objects[:3])}{more}"
        if self._version and not self._has(self._newest, self._version):
            goal = f"version {self._version}"
        return f"{goal} of {name}, which has reached {now}"


@final
class WriteLedger:
    """The writes of each key that a cache may not have seen yet."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._goals: dict[ObjectKey, dict[Informer, _Goal]] = {}
        self._prune_beyond = PRUNE_BEYOND

    def record(self, key: ObjectKey, write: Write) -> None:
        """The key has written, in its reconcile or in a task that runs on after it."""
        for informer in self._caches.of_write(write):
            goals = self._goals.setdefault(key, {})
            if informer not in goals or goals[informer].is_void:
                goals[informer] = _Goal(informer)
            goals[informer].add(write)
        if len(self._goals) > self._prune_beyond:  # keys that were not reconciled again
            for each in list(self._goals):
                self.lagging_cache(each)
            self._prune_beyond = max(PRUNE_BEYOND, 2 * len(self._goals))

    def lagging_cache(self, key: ObjectKey) -> tuple[Informer, _Goal] | None:
        """A cache that has not seen what the key wrote; forgets the writes if there is none."""
        goals = self._goals.get(key)
        if goals is None:
            return None
        for informer, goal in goals.items():
            if not goal.is_reached():
                return informer, goal
        del self._goals[key]
        return None

    async def wait(self, key: ObjectKey, *, timeout: float | None) -> None:
        """Wait until the caches have seen what the key wrote so far. Safe to cancel.

        Raises: NotSynced when that takes a cache longer than `timeout` seconds.
        """
        while (found := self.lagging_cache(key)) is not None:
            informer, goal = found
            await informer.wait_until(goal.is_reached, what=str(goal), timeout=timeout)

    def __len__(self) -> int:
        return len(self._goals)


class _Parked(msgspec.Struct):
    since: float
    priority: int


@final
class _KeysOfCache:
    """The keys that are parked for one cache."""

    def __init__(self, informer: Informer) -> None:
        self._informer = informer
        self._serials = itertools.count()
        self._rewinds = informer.indexer.store.rewinds
        # By version, so that a change of the cache costs one comparison however many keys wait.
        self._by_version: list[tuple[int, str, int, ObjectKey]] = []
        self._others: dict[ObjectKey, _Goal] = {}

    def add(self, key: ObjectKey, goal: _Goal) -> None:
        version = goal.version
        if version and is_valid_version(self._informer.indexer.version):
            entry = (len(version), version, next(self._serials), key)
            heapq.heappush(self._by_version, entry)
        else:
            self._others[key] = goal

    def is_due(self) -> bool:
        """Whether `take` would return a key."""
        if self._was_restored():
            return True
        head = self._by_version[0][1] if self._by_version else ""
        return bool(head and self._has(head)) or any(
            goal.is_reached() for goal in self._others.values()
        )

    def take(self) -> list[ObjectKey]:
        """Remove and return the keys whose goal may be reached."""
        if self._was_restored():
            self._rewinds = self._informer.indexer.store.rewinds
            found = [entry[-1] for entry in self._by_version] + list(self._others)
            self._by_version, self._others = [], {}
            return found
        found = [key for key, goal in self._others.items() if goal.is_reached()]
        for key in found:
            del self._others[key]
        while self._by_version and self._has(self._by_version[0][1]):
            found.append(heapq.heappop(self._by_version)[-1])
        return found

    def _has(self, version: str) -> bool:
        return has_reached(self._informer.indexer.version, version)

    def _was_restored(self) -> bool:
        return self._informer.indexer.store.rewinds != self._rewinds

    def __len__(self) -> int:
        return len(self._by_version) + len(self._others)


@final
class ParkedKeys:
    """Keys that wait for a cache, without a worker; `run()` releases them.

    `on_late` is called when a key has been parked for `BEHIND_AFTER` seconds, with the key and
    what it waits for, and with None when no key has been parked that long any more.
    """

    def __init__(
        self,
        ledger: WriteLedger,
        *,
        priority_of: Callable[[ObjectKey], int | None],
        release: Callable[[ObjectKey, int], None],
        on_late: Callable[[ObjectKey | None, str], None],
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._priority_of = priority_of
        self._release = release
        self._on_late = on_late
        self._clock = clock
        self._parked: dict[ObjectKey, _Parked] = {}  # the oldest first
        self._caches: dict[Informer, _KeysOfCache] = {}
        self._new_caches: list[Informer] = []  # those without a task yet
        self._has_parked = asyncio.Event()  # since the last check of `run()`
        self._has_released = asyncio.Event()  # since the last check of the age

    def park(self, key: ObjectKey) -> bool:
        """Park the key if a cache is behind its writes; False if none is.

        A key that is parked already keeps its age and gets the higher priority.
        """
        parked = self._parked.get(key)
        if parked is not None:
            parked.priority = max(parked.priority, self._priority_of(key) or 0)
            return True
        found = self._ledger.lagging_cache(key)
        if found is None:
            return False
        self._parked[key] = _Parked(self._clock.now(), self._priority_of(key) or 0)
        self._add(key, *found)
        self._has_parked.set()
        return True

    async def run(self) -> None:
        """Release keys until cancelled; keys that are parked then are dropped."""
        async with TaskOwner() as tasks:
            age: asyncio.Task[None] | None = None
            while True:
                await self._has_parked.wait()
                self._has_parked.clear()
                while self._new_caches:
                    informer = self._new_caches.pop()
                    tasks.spawn(self._release_keys(informer), name=f"keys behind {informer.name}")
                if age is None or age.done():
                    age = tasks.spawn(self._watch_age(), name="age of parked keys")

    def keys(self) -> tuple[ObjectKey, ...]:
        """The oldest first."""
        return tuple(self._parked)

    def oldest(self) -> float:
        """Seconds for which the oldest has been parked."""
        now = self._clock.now()
        return next((now - parked.since for parked in self._parked.values()), 0.0)

    def late(self) -> Iterator[tuple[ObjectKey, str]]:
        """The keys that have been parked for too long, and what they wait for."""
        before = self._clock.now() - BEHIND_AFTER + _TOLERANCE
        for key, parked in list(self._parked.items()):
            if parked.since > before:
                return
            if found := self._ledger.lagging_cache(key):
                yield key, str(found[1])

    def __len__(self) -> int:
        return len(self._parked)

    def _add(self, key: ObjectKey, informer: Informer, goal: _Goal) -> None:
        if informer not in self._caches:
            self._caches[informer] = _KeysOfCache(informer)
            self._new_caches.append(informer)
            self._has_parked.set()
        self._caches[informer].add(key, goal)

    async def _release_keys(self, informer: Informer) -> None:
        keys = self._caches[informer]
        while keys:
            try:
                await informer.wait_until(keys.is_due)
            except InformerStopped:
                return  # with the manager
            for key in keys.take():
                found = self._ledger.lagging_cache(key)
                if found is not None:
                    self._add(key, *found)
                    continue
                self._release(key, self._parked.pop(key).priority)
                self._has_released.set()
        del self._caches[informer]

    async def _watch_age(self) -> None:
        while self._parked:
            left = BEHIND_AFTER - self.oldest()
            if left > _TOLERANCE:
                await self._clock.sleep(left)
                continue
            late = next(self.late(), None)
            if late is not None:
                self._on_late(*late)
            while self.oldest() >= BEHIND_AFTER - _TOLERANCE:
                self._has_released.clear()
                await self._has_released.wait()
            self._on_late(None, "")
