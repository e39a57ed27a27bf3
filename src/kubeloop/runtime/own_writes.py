"""What each key of a controller has written, and the keys that wait until caches have seen it.

Guarantees: a key is released when every cache that holds what it wrote has reached the write's
version, and not before; a bookmark or a later change of anything else in that cache counts. A
write ends to be waited for when its cache is put back by a list that is older than what it had
reached: the server was restored, and the write may be lost. Keys that wait hold no worker.
See also: what a write is (`writes`), who parks keys (`controller`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.cache import InformerState, InformerStopped, SharedInformer
from kubeloop.kit import Clock, TaskOwner
from kubeloop.meta import ObjectKey, is_newer, is_valid_version

from .caches import Caches
from .writes import Write, would_hold

__all__ = ["BEHIND_AFTER", "ParkedKeys", "WriteLedger"]

Informer: TypeAlias = SharedInformer[Any]

BEHIND_AFTER = 180.0
"""Seconds that a key waits for a cache before `/readyz` and an event report it."""
PRUNE_BEYOND = 1000
"""Keys with writes; when there are more, those whose writes were seen are forgotten."""
_SLACK = 1e-6  # sums of floats miss their moment by a little


@final
class _Goal:
    """What one cache has to reach: everything that one key has written into its scope."""

    def __init__(self, informer: Informer) -> None:
        self._informer = informer
        self._rewinds = informer.indexer.store.rewinds
        # Written in this order, so whoever has the newest has the others.
        self._version = ""
        self._newest = ObjectKey("", "")
        # Writes after which the cache does not hold the object.
        self._leaving: dict[ObjectKey, Write] = {}
        # Versions that do not compare, with the lists that the cache had held by then.
        self._exact: dict[ObjectKey, tuple[str, int]] = {}

    def add(self, write: Write) -> None:
        if not would_hold(write, self._informer.scope):
            # The cache is told only if it holds the object, or is about to.
            self._leaving[write.key] = msgspec.structs.replace(write, body=b"")
        elif not is_valid_version(write.version):
            self._exact[write.key] = (write.version, self._informer.indexer.store.replacements)
        elif not self._version or not is_newer(self._version, than=write.version):
            self._version, self._newest = write.version, write.key
            self._leaving.pop(write.key, None)

    @property
    def is_void(self) -> bool:
        """Whether nothing is to be waited for: the cache has ended, or the server went back."""
        informer = self._informer
        return (
            informer.state is InformerState.STOPPED
            or informer.indexer.store.rewinds != self._rewinds
        )

    @property
    def version(self) -> str:
        """The version to reach, where that is all; empty where single objects matter, too."""
        return "" if self._leaving or self._exact else self._version

    def is_reached(self) -> bool:
        if self.is_void:
            return True
        if self._version and not self._has(self._newest, self._version):
            return False
        # All at once: an object that was created and deleted must come before it goes.
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
        if write.gone:  # or so it seemed: it has changed since
            return is_valid_version(entry.version) and is_newer(entry.version, write.version)
        return has_reached(self._informer.indexer.version, write.version)

    def _has_exactly(self, key: ObjectKey, wanted: tuple[str, int]) -> bool:
        version, replacements = wanted
        indexer = self._informer.indexer
        entry = indexer.entry(key)
        return (
            entry is not None and entry.version == version
        ) or indexer.store.replacements > replacements

    def __str__(self) -> str:
        name, now = self._informer.name, self._informer.indexer.version or "nothing"
        objects = [str(key) for key in self._leaving or self._exact]
        more = f" and {len(objects) - 3} others" if len(objects) > 3 else ""
        wanted = f"the write of {', '.join(objects[:3])}{more}"
        if self._version and not self._has(self._newest, self._version):
            wanted = f"version {self._version}"
        return f"{wanted} of {name}, which has reached {now}"


def has_reached(version: str, wanted: str) -> bool:
    """Whether `version` compares with `wanted`, and is the same or a later one."""
    return is_valid_version(version) and not is_newer(wanted, than=version)


@final
class WriteLedger:
    """The writes of each key that a cache may have still to see."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._goals: dict[ObjectKey, dict[Informer, _Goal]] = {}
        self._prune_beyond = PRUNE_BEYOND

    def note(self, key: ObjectKey, write: Write) -> None:
        """The key's own write was answered, in its reconcile or in a task that it has left."""
        for informer in self._caches.of_write(write):
            goals = self._goals.setdefault(key, {})
            if informer not in goals or goals[informer].is_void:
                goals[informer] = _Goal(informer)
            goals[informer].add(write)
        if len(self._goals) > self._prune_beyond:  # keys that never came again
            for each in list(self._goals):
                self.behind(each)
            self._prune_beyond = max(PRUNE_BEYOND, 2 * len(self._goals))

    def behind(self, key: ObjectKey) -> tuple[Informer, _Goal] | None:
        """A cache that has not seen what the key wrote; when there is none, that is forgotten."""
        for informer, goal in self._goals.get(key, {}).items():
            if not goal.is_reached():
                return informer, goal
        self._goals.pop(key, None)
        return None

    async def wait(self, key: ObjectKey, *, timeout: float | None) -> None:
        """Wait until the caches have seen what the key wrote so far. Safe to cancel.

        Raises: NotSynced when that takes a cache longer than `timeout` seconds.
        """
        while (found := self.behind(key)) is not None:
            informer, goal = found
            await informer.wait_until(goal.is_reached, what=str(goal), timeout=timeout)

    def __len__(self) -> int:
        return len(self._goals)


class _Parked(msgspec.Struct):
    since: float
    priority: int


@final
class _Queue:
    """The keys that wait for one cache."""

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
            place = (len(version), version, next(self._serials), key)
            heapq.heappush(self._by_version, place)
        else:
            self._others[key] = goal

    def is_due(self) -> bool:
        """Whether `take` would return a key."""
        if self._has_gone_back():
            return True
        head = self._by_version[0][1] if self._by_version else ""
        return bool(head and self._has(head)) or any(
            goal.is_reached() for goal in self._others.values()
        )

    def take(self) -> list[ObjectKey]:
        """Take the keys out whose goal may be reached."""
        if self._has_gone_back():
            self._rewinds = self._informer.indexer.store.rewinds
            found = [place[-1] for place in self._by_version] + list(self._others)
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

    def _has_gone_back(self) -> bool:
        return self._informer.indexer.store.rewinds != self._rewinds

    def __len__(self) -> int:
        return len(self._by_version) + len(self._others)


@final
class ParkedKeys:
    """Keys that wait for a cache, without a worker; released one by one while `run()` runs.

    `on_late` is called once a key has waited for `BEHIND_AFTER` seconds, with the key and what
    it waits for, and with None when no key has waited that long any more.
    """

    def __init__(
        self,
        ledger: WriteLedger,
        *,
        release: Callable[[ObjectKey, int], None],
        on_late: Callable[[ObjectKey | None, str], None],
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._release = release
        self._on_late = on_late
        self._clock = clock
        self._parked: dict[ObjectKey, _Parked] = {}  # the oldest first
        self._queues: dict[Informer, _Queue] = {}
        self._unfollowed: list[Informer] = []  # those with a queue and, as yet, no task
        self._has_parked = asyncio.Event()  # since `run()` last looked
        self._has_released = asyncio.Event()  # since the age was last looked at

    def park(self, key: ObjectKey, priority: int) -> bool:
        """Have the key wait, if a cache is behind its writes; False when none is.

        A key that waits already keeps its age and gets the higher priority.
        """
        parked = self._parked.get(key)
        if parked is not None:
            parked.priority = max(parked.priority, priority)
            return True
        found = self._ledger.behind(key)
        if found is None:
            return False
        self._parked[key] = _Parked(self._clock.now(), priority)
        self._queue(key, *found)
        self._has_parked.set()
        return True

    async def run(self) -> None:
        """Release keys until cancelled; those that wait then are dropped with their owner."""
        async with TaskOwner() as tasks:
            age: asyncio.Task[None] | None = None
            while True:
                await self._has_parked.wait()
                self._has_parked.clear()
                while self._unfollowed:
                    informer = self._unfollowed.pop()
                    tasks.spawn(self._follow(informer), name=f"keys behind {informer.name}")
                if age is None or age.done():
                    age = tasks.spawn(self._watch_age(), name="age of keys behind")

    def keys(self) -> tuple[ObjectKey, ...]:
        """The oldest first."""
        return tuple(self._parked)

    def oldest(self) -> float:
        """Seconds for which the first of them has waited."""
        now = self._clock.now()
        return next((now - parked.since for parked in self._parked.values()), 0.0)

    def late(self) -> Iterator[tuple[ObjectKey, str]]:
        """The keys that have waited for too long, and for what."""
        before = self._clock.now() - BEHIND_AFTER + _SLACK
        for key, parked in list(self._parked.items()):
            if parked.since > before:
                return
            if found := self._ledger.behind(key):
                yield key, str(found[1])

    def __len__(self) -> int:
        return len(self._parked)

    def _queue(self, key: ObjectKey, informer: Informer, goal: _Goal) -> None:
        if informer not in self._queues:
            self._queues[informer] = _Queue(informer)
            self._unfollowed.append(informer)
            self._has_parked.set()
        self._queues[informer].add(key, goal)

    async def _follow(self, informer: Informer) -> None:
        queue = self._queues[informer]
        while queue:
            try:
                await informer.wait_until(queue.is_due)
            except InformerStopped:
                return  # with the manager
            for key in queue.take():
                found = self._ledger.behind(key)
                if found is not None:
                    self._queue(key, *found)
                    continue
                self._release(key, self._parked.pop(key).priority)
                self._has_released.set()
        del self._queues[informer]

    async def _watch_age(self) -> None:
        while self._parked:
            left = BEHIND_AFTER - self.oldest()
            if left > _SLACK:
                await self._clock.sleep(left)
                continue
            late = next(self.late(), None)
            if late is not None:
                self._on_late(*late)
            while self.oldest() >= BEHIND_AFTER - _SLACK:
                self._has_released.clear()
                await self._has_released.wait()
            self._on_late(None, "")
