"""A map that forgets what was not used for longest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar, final

__all__ = ["LeastRecent"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@final
class LeastRecent(Generic[K, V]):
    """Holds at most `limit` values; reading and writing both count as use."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._limit:
            self._values.popitem(last=False)

    def __len__(self) -> int:
        return len(self._values)
