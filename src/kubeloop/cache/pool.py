"""One value for many equal ones: what thousands of objects repeat is held once.

Promises: what comes out equals what went in; a pool never grows beyond its bound. A pool
that is full starts anew, which costs some sharing and is never wrong.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar, final

__all__ = ["Pool"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@final
class Pool(Generic[K, V]):
    """Values by what makes them equal. For one thread."""

    __slots__ = ("_at_most", "_values")

    def __init__(self, *, at_most: int) -> None:
        self._at_most = at_most
        self._values: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        return self._values.get(key)

    def put(self, key: K, value: V) -> V:
        """Hold `value` for those who come with an equal key; returns the one to use."""
        if len(self._values) >= self._at_most:
            self._values.clear()
        return self._values.setdefault(key, value)

    def __len__(self) -> int:
        return len(self._values)
