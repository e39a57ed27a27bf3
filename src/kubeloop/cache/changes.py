"""A change as a handler sees it, and changes as a stream.

Promises: nothing is decoded before somebody looks, and what is handed out is the reader's
own. A stream begins with what there is, then tells every change; one that is not read for
long tells the changes of an object together, and never loses an object.
Elsewhere: functions instead of a stream (`handlers`), what waits for a slow reader (`notices`).
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar, final

from kubeloop.meta import ObjectKey

from .entry import Entry
from .keeper import Keeper
from .notices import Backlog, Notice

__all__ = ["Change", "ChangeStream", "ChangeType"]

T = TypeVar("T")


class ChangeType(enum.StrEnum):
    """What happened to an object."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"


@final
class Change(Generic[T]):
    """One change of one object; `old` and `new` are decoded when they are first read.

    An add has no `old`, a delete no `new`. The `old` of a delete is the object's final state;
    with `last_state_known` false nobody saw the delete, and it is the last state that was
    seen. `is_initial` says that an add is of the first list, or of what there was when the
    handler came; `is_resync` that an update changes nothing and is only told again.

    A change is about one object, by uid. An object that was deleted and created again during
    a watch gap is two changes, the delete of the old one and the add of the new one; both say
    `is_recreation`. During the first the cache holds the new object already.
    """

    __slots__ = ("_keeper", "_new", "_notice", "_old", "_previous")

    def __init__(self, notice: Notice, keeper: Keeper[T]) -> None:
        self._notice = notice
        self._keeper = keeper
        self._old: T | None = None
        self._new: T | None = None
        self._previous: T | None = None

    @property
    def type(self) -> ChangeType:
        if self._notice.old is None:
            return ChangeType.ADDED
        return ChangeType.DELETED if self._notice.new is None else ChangeType.UPDATED

    @property
    def key(self) -> ObjectKey:
        return self._notice.key

    @property
    def old(self) -> T | None:
        """The object before, None for an add. Raises `DecodeError` if it does not read."""
        if self._old is None and self._notice.old is not None:
            self._old = self._keeper.give(self._notice.old)
        return self._old

    @property
    def new(self) -> T | None:
        """The object after, None for a delete. Raises `DecodeError` if it does not read."""
        if self._new is None and self._notice.new is not None:
            self._new = self._keeper.give(self._notice.new)
        return self._new

    @property
    def previous(self) -> T | None:
        """The object as the handler was notified of it last, None for an add.

        Equal to `old`, except for a delete: its `old` is the final state, which may have other
        labels or owners if updates in between were merged into the delete.
        Raises `DecodeError` if it does not read.
        """
        if self._notice.previous is None:
            return self.old
        if self._previous is None:
            self._previous = self._keeper.give(self._notice.previous)
        return self._previous

    @property
    def previous_metadata(self) -> Entry | None:
        """Version, uid, labels and owners of `previous`, without decoding anything."""
        return self._notice.previous or self._notice.old

    @property
    def old_metadata(self) -> Entry | None:
        """Version, uid, labels and owners before, without decoding anything."""
        return self._notice.old

    @property
    def new_metadata(self) -> Entry | None:
        """Version, uid, labels and owners after, without decoding anything."""
        return self._notice.new

    @property
    def last_state_known(self) -> bool:
        return self._notice.last_state_known

    @property
    def is_initial(self) -> bool:
        return self._notice.is_initial

    @property
    def is_resync(self) -> bool:
        return self._notice.is_resync

    @property
    def is_recreation(self) -> bool:
        """Whether it is half of a re-creation whose delete was not seen.

        True for the delete of an object whose name was found with another uid, and for the
        add of the object that has taken its place. A delete and an add that the watch brought
        one by one are not marked.
        """
        return self._notice.is_recreation

    def __repr__(self) -> str:
        return f"Change({self.type}, {self.key})"


@final
class ChangeStream(Generic[T]):
    """Changes, one by one: `async for change in informer.changes(): ...`.

    It ends with the informer, or by `close()`; one that is forgotten is closed. `has_synced`
    says whether all that was there at the beginning has been read.
    """

    def __init__(
        self,
        backlog: Backlog,
        keeper: Keeper[T],
        *,
        wakened: asyncio.Event,
        closed: Callable[[], None],
        has_ended: Callable[[], bool],
        is_upstream_synced: Callable[[], bool],
    ) -> None:
        self._backlog = backlog
        self._keeper = keeper
        self._wakened = wakened
        self._on_close = closed
        self._has_ended = has_ended
        self._is_upstream_synced = is_upstream_synced
        self._reading: Notice | None = None
        self._is_closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change[T]:
        """The next change. Safe to cancel: it comes with the next call."""
        self._finish_reading()
        while not self._is_closed and not self._has_ended():
            notice = self._backlog.take()
            if notice is not None:
                self._reading = notice
                return Change(notice, self._keeper)
            self._wakened.clear()
            await self._wakened.wait()
        raise StopAsyncIteration

    @property
    def has_synced(self) -> bool:
        return self._is_upstream_synced() and self._backlog.initial_left == 0

    def close(self) -> None:
        """End it; what was not read is dropped. Safe to repeat."""
        if not self._is_closed:
            self._is_closed = True
            self._on_close()
            self._wakened.set()

    async def aclose(self) -> None:
        """As `close`, for those who await it."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            self._is_closed = True
            self._on_close()

    def _finish_reading(self) -> None:
        if self._reading is not None:
            self._backlog.told(self._reading)
            self._reading = None
