"""A queue in which what matters more goes first.

Promises: of the keys that are ready, those of the highest priority leave first, and
among them those that came first. A key has one place: adding it again makes it more
important or earlier, never less or later.
Elsewhere: which event has which priority (`kubeloop.runtime`).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Generic, TypeVar, final

from kubeloop.kit import Clock

from .delays import refuse_nan
from .heap import KeyHeap
from .limits import ItemExponentialLimiter, RateLimiter
from .metrics import QueueMetrics
from .queue import Phase, WorkQueue
from .rate_limiting import RateLimitingQueue

__all__ = ["LOW_PRIORITY", "PriorityQueue"]

K = TypeVar("K", bound=Hashable)

LOW_PRIORITY = -100
"""For keys of the initial list and of resyncs: behind every live change."""


@final
class _ByPriority(Generic[K]):
    """The order of the queued keys."""

    def __init__(self) -> None:
        # Priority and number of every key that is queued, waits, or was added while in work.
        self.places: dict[K, tuple[int, int]] = {}
        self._heap: KeyHeap[K] = KeyHeap()

    def __len__(self) -> int:
        return len(self._heap)

    def append(self, key: K) -> None:
        priority, number = self.places[key]
        self._heap.put(key, -priority, number)

    def popleft(self) -> K:
        return self._heap.pop()

    def touch(self, key: K) -> None:
        if self._heap.rank(key) != -self.places[key][0]:
            self.append(key)

    def raise_to(self, key: K, priority: int, number: int) -> None:
        """Note a new key, or that one has become more important."""
        place = self.places.get(key)
        if place is None:
            self.places[key] = (priority, number)
        elif priority > place[0]:
            self.places[key] = (priority, place[1])

    def forget(self, key: K) -> int:
        """The key's place is given up; returns its priority."""
        return self.places.pop(key)[0]


@final
class PriorityQueue(RateLimitingQueue[K]):
    """A `RateLimitingQueue` with priorities (controller-runtime: `priorityqueue`).

    It differs from the queue it inherits from in what controller-runtime's does: adding
    a key that waits replaces the waiting, `len()` also counts keys that were added
    while in work, `drain()` does not wait, and the default limiter has no limit on
    all keys together.
    """

    def __init__(
        self,
        limiter: RateLimiter[K] | None = None,
        *,
        name: str = "",
        clock: Clock | None = None,
        metrics: QueueMetrics | None = None,
    ) -> None:
        self._by_priority: _ByPriority[K] = _ByPriority()
        self._handed_out: dict[K, int] = {}  # the priority of each key in work
        super().__init__(
            ItemExponentialLimiter() if limiter is None else limiter,
            name=name,
            clock=clock,
            metrics=metrics,
            order=self._by_priority,
        )

    def __len__(self) -> int:
        """How many keys are ready, those included that wait for the end of work on them."""
        self._settle()
        return len(self._dirty)

    def add(
        self,
        key: K,
        *,
        after: float | None = None,
        rate_limited: bool = False,
        priority: int = 0,
    ) -> None:
        """Have the key worked on (controller-runtime: `AddWithOpts`).

        A key that is here keeps the higher priority and the earlier moment. With
        `after` and `rate_limited` the shorter delay counts.
        """
        self._add_placed(key, after, rate_limited, priority, None)

    def add_threadsafe(
        self,
        key: K,
        *,
        after: float | None = None,
        rate_limited: bool = False,
        priority: int = 0,
    ) -> None:
        """`add`, from any thread; delays count from this call."""
        refuse_nan(key, after or 0.0)
        now = self._now()
        self._inbox.put(
            functools.partial(self._add_placed, key, after, rate_limited, priority, now)
        )

    async def get_with_priority(self) -> tuple[K, int]:
        """`get()`, and the priority with which the key was queued.

        Safe to cancel: no key is lost.

        Raises: QueueShutDown, as `get()` does.
        """
        key = await self.get()
        return key, self._handed_out[key]

    def priority_of(self, key: K) -> int | None:
        """The priority with which a key in work was handed out; None for any other key."""
        return self._handed_out.get(key)

    def done(self, key: K) -> None:
        super().done(key)
        del self._handed_out[key]

    async def drain(self) -> None:
        """`shut_down()`, and no more: what is in work is not waited for."""
        self.shut_down()

    def _add_placed(
        self,
        key: K,
        after: float | None,
        rate_limited: bool,  # noqa: FBT001 - add() has names for them
        priority: int,
        asked: float | None,
    ) -> None:
        delay = self._delay(key, after, rate_limited=rate_limited)
        if self._phase != "open":
            return
        if delay is not None:
            self._note_retry()
        self._by_priority.raise_to(key, priority, next(self._serials))
        # What is ready is ready: only its priority can change.
        if key in self._dirty or delay is None or delay <= 0:
            self._later.discard(key)
            WorkQueue.add(self, key)
        else:
            self._add_later(key, delay + (self._now() if asked is None else asked))

    def _delay(self, key: K, after: float | None, *, rate_limited: bool) -> float | None:
        if after is not None:
            refuse_nan(key, after)
        return self._shortest(key, after) if rate_limited else after

    def _hand_out(self, now: float) -> K:
        key = super()._hand_out(now)
        self._handed_out[key] = self._by_priority.forget(key)
        return key

    def _close(self, phase: Phase) -> None:
        super()._close(phase)
        # The places of the keys that waited are dropped with them.
        for key in self._by_priority.places.keys() - self._dirty:
            self._by_priority.forget(key)
