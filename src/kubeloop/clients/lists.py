"""A page of a collection, and what is said of it; a change of one, and what kind it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Literal, TypeVar

import msgspec

__all__ = ["EventType", "ObjectList", "WatchEvent"]

T = TypeVar("T")

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


class ObjectList(msgspec.Struct, Generic[T], frozen=True):
    """Objects of a collection as they were at one `version`; iterate over it.

    `next_page` asks for the rest and is empty when there is none; `remaining` is how many
    those are, where the server says it.
    """

    items: list[T]
    version: str = ""
    next_page: str = ""
    remaining: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """One change: the object as it is now or, for DELETED, as it was last."""

    type: EventType
    object: T
