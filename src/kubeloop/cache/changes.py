"""A change as a handler receives it, and the callbacks that handlers are made of.

Guarantees: nothing is decoded before it is read, and the reader owns what it reads. A filter
passes consistent changes: an object that starts to match is added, one that stops is deleted.
See also: `handlers` (calls the callbacks; `ChangeStream`), `notifications` (what is queued).
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeAlias, TypeVar, final

from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING, Selector

from .codec import EntryCodec
from .entry import Entry
from .notifications import Notification

__all__ = ["Callback", "Change", "ChangeType", "by_change_type", "by_key", "filtered"]

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
    with `last_state_known` false the delete was missed, and it is the last known state.
    `is_initial` marks an add of the first list, or of an object that was there before the
    handler; `is_resync` an update that changes nothing.

    A change is about one object, by uid. An object that was deleted and created again during
    a watch gap is two changes, the delete of the old one and the add of the new one; both have
    `is_recreation`. During the first the cache already has the new object.
    """

    __slots__ = ("_codec", "_new", "_notification", "_old", "_previous")

    def __init__(self, notification: Notification, codec: EntryCodec[T]) -> None:
        self._notification = notification
        self._codec = codec
        self._old: T | None = None
        self._new: T | None = None
        self._previous: T | None = None

    @property
    def type(self) -> ChangeType:
        if self._notification.old is None:
            return ChangeType.ADDED
        return ChangeType.DELETED if self._notification.new is None else ChangeType.UPDATED

    @property
    def key(self) -> ObjectKey:
        return self._notification.key

    @property
    def old(self) -> T | None:
        """The object before, None for an add. Raises `DecodeError` if it is not valid."""
        if self._old is None and self._notification.old is not None:
            self._old = self._codec.decode(self._notification.old)
        return self._old

    @property
    def new(self) -> T | None:
        """The object after, None for a delete. Raises `DecodeError` if it is not valid."""
        if self._new is None and self._notification.new is not None:
            self._new = self._codec.decode(self._notification.new)
        return self._new

    @property
    def previous(self) -> T | None:
        """The object as the handler received it last, None for an add.

        Equal to `old`, except for a delete: its `old` is the final state, which may have other
        labels or owners if updates in between were merged into the delete.
        Raises `DecodeError` if it is not valid.
        """
        if self._notification.previous is None:
            return self.old
        if self._previous is None:
            self._previous = self._codec.decode(self._notification.previous)
        return self._previous

    @property
    def previous_entry(self) -> Entry | None:
        """Version, uid, labels and owners of `previous`, undecoded."""
        return self._notification.previous or self._notification.old

    @property
    def old_entry(self) -> Entry | None:
        """Version, uid, labels and owners before, undecoded."""
        return self._notification.old

    @property
    def new_entry(self) -> Entry | None:
        """Version, uid, labels and owners after, undecoded."""
        return self._notification.new

    @property
    def last_state_known(self) -> bool:
        return self._notification.last_state_known

    @property
    def is_initial(self) -> bool:
        return self._notification.is_initial

    @property
    def is_resync(self) -> bool:
        return self._notification.is_resync

    @property
    def is_recreation(self) -> bool:
        """Whether it is half of a re-creation whose delete was missed.

        True for the delete of an object whose name was found with another uid, and for the
        add of the object that has its name now. A delete and an add that the watch sent one
        after the other are not marked.
        """
        return self._notification.is_recreation

    def __repr__(self) -> str:
        return f"Change({self.type}, {self.key})"


# --- callbacks: from the user's functions to one function of a change

Callback: TypeAlias = Callable[[Change[T]], Awaitable[object] | object]


def by_key(on_key: Callable[[ObjectKey], Awaitable[object] | object]) -> Callback[Any]:
    """A callback for a function of keys."""
    return lambda change: on_key(change.key)


def by_change_type(
    on_add: Callable[[T], Any] | None,
    on_update: Callable[[T, T], Any] | None,
    on_delete: Callable[[T], Any] | None,
) -> Callback[T]:
    """A callback for a function of each type of change; None ignores that type."""

    def call(change: Change[T]) -> object:
        if change.old_entry is None:
            return on_add(_require(change.new)) if on_add else None
        if change.new_entry is None:
            return on_delete(_require(change.old)) if on_delete else None
        return on_update(_require(change.old), _require(change.new)) if on_update else None

    return call


def filtered(
    callback: Callback[T],
    *,
    codec: EntryCodec[T],
    selector: Selector = EVERYTHING,
    where: Callable[[T], bool] | None = None,
) -> Callback[T]:
    """A callback for the objects that match.

    For the callback, an object that starts to match is added, and one that no longer matches
    is deleted."""

    def matches(entry: Entry | None, decode: Callable[[], T | None]) -> bool:
        if entry is None or not selector.matches(entry.label_map):
            return False
        return where is None or where(_require(decode()))

    def call(change: Change[T]) -> object:
        # Of a delete: whether the handler has received the object, so that it must receive the
        # delete, whatever labels the final state has.
        old = matches(change.previous_entry, lambda: change.previous)
        new = matches(change.new_entry, lambda: change.new)
        if not old and not new:
            return None
        if (change.old_entry is None or old) and (change.new_entry is None or new):
            return callback(change)
        notification = Notification(
            change.key,
            change.old_entry if old else None,
            change.new_entry if new else None,
        )
        return callback(Change(notification, codec))

    return call


def _require(value: T | None) -> T:
    assert value is not None, "a change without the object it is about"
    return value
