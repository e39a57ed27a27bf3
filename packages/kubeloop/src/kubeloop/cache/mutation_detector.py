"""Finds code that changes a cached object: for caches that share objects with their readers.

Guarantees: an object that is changed within minutes of being cached is found, with its key and
both states. It encodes every object each second: for tests and debugging, not for production.
See also: `storage` (the format `objects` needs it; the others return copies).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, final

import msgspec

from kubeloop.errors import KubeError
from kubeloop.kit import Clock, SystemClock, Yielder
from kubeloop.meta import ObjectKey

from .codec import EntryCodec
from .entry import Entry

__all__ = ["CacheMutated", "MutationDetector", "MutationDetectorStats", "is_detector_enabled"]

T = TypeVar("T")

PERIOD = 1.0
RETAINED = 120.0
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def is_detector_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether KUBE_CACHE_MUTATION_DETECTOR enables it, parsed as in client-go."""
    return environment.get("KUBE_CACHE_MUTATION_DETECTOR", "") in _TRUE


@final
class CacheMutated(KubeError):
    """A caller changed an object in the cache."""

    def __init__(self, key: ObjectKey, *, before: bytes, after: bytes) -> None:
        super().__init__(
            f"{key} in the cache was changed by one of its readers "
            '(copy an object before you change it, or use store_as="bytes")'
        )
        self.key = key
        self.before = before
        self.after = after


class MutationDetectorStats(msgspec.Struct, frozen=True):
    """What is checked, and what was found."""

    objects: int
    checks: int
    mutations: int


class _Snapshot(msgspec.Struct):
    entry: Entry
    text: bytes  # when it was stored, or last reported as changed


@final
class MutationDetector(Generic[T]):
    """Compares cached objects with what they were; needs a codec that shares objects.

    Call `add` with every entry that is stored. Objects are checked for at least `retained`
    seconds and at most twice as long. With `on_mutation` it continues after a mutation; without,
    `run()` raises.
    """

    def __init__(
        self,
        codec: EntryCodec[T],
        *,
        on_mutation: Callable[[CacheMutated], Any] | None = None,
        period: float = PERIOD,
        retained: float = RETAINED,
        clock: Clock | None = None,
    ) -> None:
        self._codec = codec
        self._on_mutation = on_mutation
        self._period = period
        self._retained = retained
        self._clock = clock or SystemClock()
        self._young: list[_Snapshot] = []
        self._old: list[_Snapshot] = []
        self._rotated: float | None = None  # when `_young` last became `_old`
        self._checks = self._mutations = 0

    def add(self, entry: Entry) -> None:
        """Check an entry that was stored."""
        self._young.append(_Snapshot(entry, self._codec.raw(entry)))

    async def run(self) -> None:
        """Check until cancelled.

        Raises:
            CacheMutated: an object was changed, and there is no `on_mutation`.
        """
        while True:
            await self._clock.sleep(self._period)
            yielder = Yielder()
            for snapshot in [*self._young, *self._old]:
                self._check(snapshot)
                if yielder.is_due():
                    await yielder.yield_to_loop()
            self._checks += 1
            self._rotate()

    def check_nowait(self) -> None:
        """Check all objects now. Raises, or calls `on_mutation`, as `run` does."""
        for snapshot in [*self._young, *self._old]:
            self._check(snapshot)
        self._checks += 1
        self._rotate()

    def stats(self) -> MutationDetectorStats:
        return MutationDetectorStats(
            objects=len(self._young) + len(self._old),
            checks=self._checks,
            mutations=self._mutations,
        )

    def _check(self, snapshot: _Snapshot) -> None:
        now = self._codec.raw(snapshot.entry)
        if now != snapshot.text:
            self._mutations += 1
            found = CacheMutated(snapshot.entry.key, before=snapshot.text, after=now)
            snapshot.text = now
            self._report(found)

    def _report(self, found: CacheMutated) -> None:
        if self._on_mutation is None:
            raise found
        self._on_mutation(found)

    def _rotate(self) -> None:
        now = self._clock.now()
        if self._rotated is None:
            self._rotated = now
        if now - self._rotated > self._retained:
            self._old, self._young = self._young, []
            self._rotated = now
