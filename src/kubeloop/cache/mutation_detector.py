"""Tells when somebody changes what a cache holds: for caches that hand out what they keep.

Promises: an object that is changed within minutes of being cached is found, with its key
and both states. It costs an encoding of every object each second: for tests and for the
hunt, not for every day.
Elsewhere: the keeping that needs it (`keeping`, `objects`); others hand out copies.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, final

import msgspec

from kubeloop.kit import Clock, SystemClock, Yielder
from kubeloop.machinery import KubeError, ObjectKey

from .entry import Entry
from .keeper import Keeper

__all__ = ["CacheMutated", "MutationDetector", "MutationDetectorStats", "detector_wanted"]

T = TypeVar("T")

PERIOD = 1.0
RETAINED = 120.0
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def detector_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether KUBE_CACHE_MUTATION_DETECTOR asks for it, as client-go reads it."""
    return environment.get("KUBE_CACHE_MUTATION_DETECTOR", "") in _TRUE


@final
class CacheMutated(KubeError):
    """An object that the cache handed out to be read was changed."""

    def __init__(self, key: ObjectKey, *, before: bytes, after: bytes) -> None:
        super().__init__(
            f"{key} in the cache was changed by somebody who was to read it "
            "(copy an object before changing it, or keep bytes)"
        )
        self.key = key
        self.before = before
        self.after = after


class MutationDetectorStats(msgspec.Struct, frozen=True):
    """What is watched, and what was found."""

    watched: int
    checks: int
    mutations: int


class _Watched(msgspec.Struct):
    entry: Entry
    text: bytes  # as it was when it came, or was last told about


@final
class MutationDetector(Generic[T]):
    """Compares what a keeper of objects keeps with what it was; see `detector_wanted`.

    Tell it every entry that is stored. Objects are watched for at least `retained` seconds
    and at most twice as long. With `on_mutation` it goes on; without, `run()` raises.
    """

    def __init__(
        self,
        keeper: Keeper[T],
        *,
        on_mutation: Callable[[CacheMutated], Any] | None = None,
        period: float = PERIOD,
        retained: float = RETAINED,
        clock: Clock | None = None,
    ) -> None:
        self._keeper = keeper
        self._on_mutation = on_mutation
        self._period = period
        self._retained = retained
        self._clock = clock or SystemClock()
        self._young: list[_Watched] = []
        self._old: list[_Watched] = []
        self._rotated: float | None = None  # when the young became the old
        self._checks = self._mutations = 0

    def add(self, entry: Entry) -> None:
        """Watch an entry that a store holds from now on."""
        self._young.append(_Watched(entry, self._keeper.raw(entry)))

    async def run(self) -> None:
        """Check until cancelled.

        Raises:
            CacheMutated: an object was changed, and nobody was named to be told.
        """
        while True:
            await self._clock.sleep(self._period)
            yielder = Yielder()
            for watched in [*self._young, *self._old]:
                self._check(watched)
                if yielder.is_due():
                    await yielder.yield_to_loop()
            self._checks += 1
            self._rotate()

    def check_nowait(self) -> None:
        """Compare everything at once. Raises or tells as `run` does."""
        for watched in [*self._young, *self._old]:
            self._check(watched)
        self._checks += 1
        self._rotate()

    def stats(self) -> MutationDetectorStats:
        return MutationDetectorStats(
            watched=len(self._young) + len(self._old),
            checks=self._checks,
            mutations=self._mutations,
        )

    def _check(self, watched: _Watched) -> None:
        now = self._keeper.raw(watched.entry)
        if now != watched.text:
            self._mutations += 1
            found = CacheMutated(watched.entry.key, before=watched.text, after=now)
            watched.text = now
            self._tell(found)

    def _tell(self, found: CacheMutated) -> None:
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
