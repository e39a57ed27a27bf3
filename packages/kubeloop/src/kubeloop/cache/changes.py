"""What a handler is notified of: notifications, their backlog, and changes, which users see.

Guarantees: a handler that keeps up receives every change, in order. For a slow handler the
notifications of one object are merged once `limit` notifications wait: the merged one leads
from the state it received last to the newest. So the backlog is bounded by the number of
objects, keys stay in the order of their first notification, and the notifications of each
object stay consistent: what was added is deleted once, and each update starts where the one
before ended. Only an object that was created and deleted while the handler was behind is left
out. A notification is about one object, by uid: a re-creation is a delete and an add.
Nothing is decoded before it is read, and the reader owns what it reads. A filter passes
consistent changes: an object that starts to match is added, one that no longer matches is
deleted.
See also: `applier` (creates notifications), `handlers` (calls the callbacks; `ChangeStream`).
"""

from __future__ import annotations

import enum
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar, final

import msgspec

from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING, Selector

from .codec import EntryCodec
from .entry import Entry, are_different_objects

__all__ = [
    "LIMIT",
    "Backlog",
    "Callback",
    "Change",
    "ChangeType",
    "KeyCallback",
    "Notification",
    "by_change_type",
    "filtered",
    "merge",
]

T = TypeVar("T")

LIMIT = 1024  # notifications that wait for a handler before those of one object are merged


# --- notifications and their backlog


@final
class Notification(msgspec.Struct, frozen=True, gc=False):
    """One change of one object. Without `old` it is an add, without `new` a delete."""

    key: ObjectKey
    old: Entry | None  # of a delete: the final state, as far as it is known
    new: Entry | None
    is_initial: bool = False  # an add of the first list, or of what was there before the handler
    last_state_known: bool = True
    is_recreation: bool = False  # half of a re-creation whose delete was missed
    # Of a delete: the state that the handler received last, where that is not the final state.
    # Filters and owners use it: an update that was merged into the delete may have changed
    # labels and owners.
    previous: Entry | None = None

    @property
    def is_resync(self) -> bool:
        """Whether nothing has changed."""
        old, new = self.old, self.new
        return old is not None and new is not None and old.version == new.version


def merge(queued: tuple[Notification, ...], latest: Notification) -> tuple[Notification, ...]:
    """The notifications of one object with one more: none, one, or a delete and an add."""
    if not queued:
        return (latest,)
    *before, last = queued
    if last.new is None:
        return _merge_after_delete(queued, latest)
    if latest.new is not None:  # an update: it starts from the state that the handler has
        return (*before, msgspec.structs.replace(last, new=latest.new))
    if last.old is None:
        return tuple(before)  # created and deleted
    return (*before, msgspec.structs.replace(latest, previous=last.old))


def _merge_after_delete(
    queued: tuple[Notification, ...], latest: Notification
) -> tuple[Notification, ...]:
    last = queued[-1]
    if latest.new is not None:
        return (*queued, msgspec.structs.replace(latest, old=None))
    if last.last_state_known or are_different_objects(last.old, latest.old):
        return queued
    previous = last.previous or last.old
    return (*queued[:-1], msgspec.structs.replace(latest, previous=previous))


@final
class Backlog:
    """The notifications that one handler has not received yet.

    `replay` are the objects that were there before the handler: they come first, as initial
    adds.
    """

    def __init__(self, *, replay: Iterable[Entry] = (), limit: int = LIMIT) -> None:
        self.limit = limit
        self._replay = deque(replay)
        self._in_order: deque[Notification] = deque()
        # Later than all of `_in_order`; at most a delete and an add for each key.
        self._by_key: OrderedDict[ObjectKey, tuple[Notification, ...]] = OrderedDict()
        self._second_notifications = 0  # of keys in `_by_key` that have two
        self.initial_left = len(self._replay)  # initial adds that the handler has not completed
        self.merged = 0  # notifications that became part of another one

    def __len__(self) -> int:
        queued = len(self._in_order) + len(self._by_key) + self._second_notifications
        return len(self._replay) + queued

    def put(self, notification: Notification) -> None:
        """Queue it, after all others."""
        self.initial_left += notification.is_initial
        if not self._by_key and len(self._in_order) < self.limit:
            self._in_order.append(notification)
            return
        before = self._by_key.get(notification.key, ())
        after = merge(before, notification)
        self._count(before, after, notification)
        if after:
            self._by_key[notification.key] = after
        else:
            del self._by_key[notification.key]

    def take(self) -> Notification | None:
        """The next one, None when there is none; call `done` after the handler."""
        if self._replay:
            entry = self._replay.popleft()
            return Notification(entry.key, None, entry, is_initial=True)
        if self._in_order:
            return self._in_order.popleft()
        return self._take_by_key() if self._by_key else None

    def bypass(self, notification: Notification) -> None:
        """It is handed over without being queued; call `done` after the handler."""
        self.initial_left += notification.is_initial

    def done(self, notification: Notification) -> None:
        """The handler has completed it."""
        self.initial_left -= notification.is_initial

    def clear(self) -> None:
        """Drop all notifications."""
        self._replay.clear()
        self._in_order.clear()
        self._by_key.clear()
        self._second_notifications = 0

    def _take_by_key(self) -> Notification:
        key, (first, *rest) = self._by_key.popitem(last=False)
        if rest:
            self._by_key[key] = tuple(rest)
            self._by_key.move_to_end(key, last=False)
            self._second_notifications -= 1
        return first

    def _count(
        self,
        before: tuple[Notification, ...],
        after: tuple[Notification, ...],
        latest: Notification,
    ) -> None:
        self.merged += len(before) + 1 - len(after)
        self._second_notifications += (len(after) > 1) - (len(before) > 1)
        initial_before = sum(each.is_initial for each in before) + latest.is_initial
        self.initial_left += sum(each.is_initial for each in after) - initial_before


# --- changes: notifications as users see them


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

    __slots__ = ("_codec", "_new", "_notification", "_old", "_previous", "is_initial", "key")

    def __init__(self, notification: Notification, codec: EntryCodec[T]) -> None:
        self.key = notification.key
        self.is_initial = notification.is_initial
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


@final
class KeyCallback:
    """A callback for a function of keys."""

    __slots__ = ("on_key",)

    def __init__(self, on_key: Callable[[ObjectKey], Awaitable[object] | object]) -> None:
        self.on_key = on_key

    def __call__(self, change: Change[Any]) -> object:
        return self.on_key(change.key)


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
