"""Keys by rank, the smallest first; each key once, and its rank may change.

Promises: adding and taking cost the logarithm of the number of keys, looking up
and removing a key cost the same for any number; keys of one rank leave by `turn`.
Elsewhere: what the rank means (`delays`: a moment; `priority`: the importance).
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar, final

__all__ = ["KeyHeap"]

K = TypeVar("K", bound=Hashable)

# So many outdated entries are never worth a sweep.
_FEW = 64


@final
class KeyHeap(Generic[K]):
    """A heap that finds its keys again.

    An entry that was replaced or removed stays in the heap until it comes to the
    top or until such entries are the greater part: then they are swept out.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, K]] = []
        self._entries: dict[K, tuple[float, int, K]] = {}  # the entry of each key that counts

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def put(self, key: K, rank: float, turn: int) -> None:
        """Add the key, or give it another place; no two keys may have one `turn`."""
        entry = self._entries[key] = (rank, turn, key)
        heapq.heappush(self._heap, entry)
        if len(self._heap) > 2 * len(self._entries) + _FEW:
            self._sweep()

    def rank(self, key: K) -> float | None:
        """The key's rank; None for a key that is not here."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def first(self) -> float | None:
        """The smallest rank; None when there is no key."""
        while self._heap:
            entry = self._heap[0]
            if self._entries.get(entry[2]) is entry:
                return entry[0]
            heapq.heappop(self._heap)
        return None

    def pop(self) -> K:
        """Take out the first key.

        Raises: IndexError when there is none.
        """
        while True:
            entry = heapq.heappop(self._heap)
            key = entry[2]
            if self._entries.get(key) is entry:
                del self._entries[key]
                return key

    def discard(self, key: K) -> None:
        """Take out this key; nothing happens when it is not here."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Take out every key."""
        self._heap.clear()
        self._entries.clear()

    def _sweep(self) -> None:
        self._heap = list(self._entries.values())
        heapq.heapify(self._heap)
