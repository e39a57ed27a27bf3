"""Which key is next: by priority, or by the time at which it becomes ready.

Pure data structures: no event loop, no clock, no threads.

Guarantees: a key has at most one entry; adding and removing the first key take
logarithmic time, looking up and discarding a key constant time.
See also: `queue` (what happens to a key), `limiters` (how long a failed key waits).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from typing import Generic, Protocol, TypeVar, final

__all__ = ["DelayedKeys", "KeyHeap", "Order", "PriorityOrder"]

K = TypeVar("K", bound=Hashable)

# A heap with fewer stale entries than this is not worth rebuilding.
_MIN_STALE = 64
# Sums of floats differ from the exact time by a little, and a timer may fire that much early.
_TOLERANCE = 1e-9
_NEVER = math.inf


class Order(Protocol[K]):
    """Decides which ready key is next (client-go: the `Queue` interface of a work queue).

    Two methods have the names of `collections.deque`, so that the default order, first
    in, first out, is a deque without a wrapper.
    """

    def __len__(self) -> int: ...

    def append(self, key: K) -> None:
        """Add a key that is not in here (client-go: `Push`)."""
        ...

    def popleft(self) -> K:
        """Remove and return the next key; only called when there is one (client-go: `Pop`)."""
        ...

    def touch(self, key: K) -> None:
        """A key that is in here was added again (client-go: `Touch`)."""
        ...


@final
class KeyHeap(Generic[K]):
    """A heap of keys by rank, smallest first, in which a key can be found and moved.

    A replaced or discarded entry stays in the heap until it reaches the top, or until
    such stale entries are the majority: then the heap is rebuilt without them.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, K]] = []
        # The current entry of each key. An entry in _heap that is not in here is stale.
        # Public for the queue's hot path, which only needs their number.
        self.entries: dict[K, tuple[float, int, K]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: K) -> bool:
        return key in self.entries

    def put(self, key: K, rank: float, serial: int) -> None:
        """Add the key or change its rank; `serial` breaks ties and must be unique."""
        entry = self.entries[key] = (rank, serial, key)
        heapq.heappush(self._heap, entry)
        if len(self._heap) > 2 * len(self.entries) + _MIN_STALE:
            self._heap = list(self.entries.values())
            heapq.heapify(self._heap)

    def rank(self, key: K) -> float | None:
        """The key's rank; None if the key is not in the heap."""
        entry = self.entries.get(key)
        return None if entry is None else entry[0]

    def first_rank(self) -> float | None:
        """The smallest rank; None if the heap is empty."""
        while self._heap:
            entry = self._heap[0]
            if self.entries.get(entry[2]) is entry:
                return entry[0]
            heapq.heappop(self._heap)
        return None

    def pop(self) -> K:
        """Remove and return the key with the smallest rank.

        Raises: IndexError when the heap is empty.
        """
        while True:
            entry = heapq.heappop(self._heap)
            key = entry[2]
            if self.entries.get(key) is entry:
                del self.entries[key]
                return key

    def discard(self, key: K) -> None:
        """Remove the key if it is in the heap."""
        self.entries.pop(key, None)

    def clear(self) -> None:
        """Remove every key."""
        self._heap.clear()
        self.entries.clear()


@final
class DelayedKeys(Generic[K]):
    """Keys that wait until they become ready (client-go: `waitForPriorityQueue`)."""

    def __init__(self) -> None:
        self._heap: KeyHeap[K] = KeyHeap()
        self._serials = itertools.count()
        # pop_ready() returns None for any time before this one. An attribute, because the
        # queue compares it on every get().
        self.next_check = _NEVER

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, key: K, ready_at: float) -> bool:
        """Let the key wait; returns whether the next key is now ready earlier than before.

        A key waits once, for the earliest time it was added with (WKQ-10).
        """
        current = self._heap.rank(key)
        if current is not None and current <= ready_at:
            return False
        self._heap.put(key, ready_at, next(self._serials))
        if ready_at - _TOLERANCE >= self.next_check:
            return False
        self.next_check = ready_at - _TOLERANCE
        return True

    def discard(self, key: K) -> None:
        """Stop waiting for the key, if it waits."""
        if key in self._heap:
            self._heap.discard(key)
            # Or `add` would compare a later key with a time at which nothing is ready any more,
            # and no get() that waits would notice the key.
            first = self._heap.first_rank()
            self.next_check = _NEVER if first is None else first - _TOLERANCE

    def next_ready_at(self) -> float | None:
        """When the next key becomes ready; None if no key waits."""
        return self._heap.first_rank()

    def pop_ready(self, now: float) -> K | None:
        """Remove and return the key that became ready first; None if none is ready."""
        first = self._heap.first_rank()
        self.next_check = _NEVER if first is None else first - _TOLERANCE
        return self._heap.pop() if now >= self.next_check else None

    def clear(self) -> None:
        """Drop every key."""
        self._heap.clear()
        self.next_check = _NEVER


@final
class PriorityOrder(Generic[K]):
    """Highest priority first; among equals, the key that was added first (WKQ-20)."""

    def __init__(self) -> None:
        # Priority and serial of every key that is to be processed: ready, waiting for a
        # delay, or added again while it is being processed. Only ready keys are in _heap.
        self._places: dict[K, tuple[int, int]] = {}
        self._heap: KeyHeap[K] = KeyHeap()
        self._serials = itertools.count()
        # The priority of each key between popleft() and done().
        self._processing: dict[K, int] = {}

    def __len__(self) -> int:
        return len(self._heap.entries)

    def raise_to(self, key: K, priority: int) -> None:
        """Set the priority of a new key; a known key keeps the higher one (WKQ-21)."""
        place = self._places.get(key)
        if place is None:
            self._places[key] = (priority, next(self._serials))
        elif priority > place[0]:
            self._places[key] = (priority, place[1])

    def retain(self, keys: AbstractSet[K]) -> None:
        """Forget every other key that is not being processed."""
        for key in self._places.keys() - keys:
            del self._places[key]

    def append(self, key: K) -> None:
        """Make the key ready; `raise_to()` was called for it before."""
        priority, serial = self._places[key]
        self._heap.put(key, -priority, serial)

    def popleft(self) -> K:
        key = self._heap.pop()
        self._processing[key] = self._places.pop(key)[0]
        return key

    def touch(self, key: K) -> None:
        if self._heap.rank(key) != -self._places[key][0]:
            self.append(key)

    def priority_of(self, key: K) -> int | None:
        """The priority of a key that is being processed; None for any other key."""
        return self._processing.get(key)

    def done(self, key: K) -> None:
        """The key is no longer being processed."""
        del self._processing[key]
