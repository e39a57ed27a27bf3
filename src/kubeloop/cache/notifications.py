"""Notifications for one handler, and the backlog of those that it has not received yet.

Guarantees: a handler that keeps up receives every change, in order. For a slow handler the
notifications of one object are merged once `limit` notifications wait: the merged one leads
from the state it received last to the newest. So the backlog is bounded by the number of
objects, keys stay in the order of their first notification, and the notifications of each
object stay consistent: what was added is deleted once, and each update starts where the one
before ended. Only an object that was created and deleted while the handler was behind is left
out. A notification is about one object, by uid: a re-creation is a delete and an add.
See also: `applier` (creates notifications), `handlers` (hands them over).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import final

import msgspec

from kubeloop.meta import ObjectKey

from .entry import Entry, are_different_objects

__all__ = ["LIMIT", "Backlog", "Notification", "merge"]

LIMIT = 1024


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
