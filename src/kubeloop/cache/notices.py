"""What a handler has still to be told, and how much of it at most.

Promises: a handler that keeps up is told every change, in order. One that does not is told
less and less of the same: beyond `limit` waiting changes, those of one object become one,
from the state it was told last to the newest. So its memory is bounded by the number of
objects, the order of first news stays, and the story of each object stays true: what was
added is deleted once, each update starts where the one before ended. Only an object that
came and went while the handler was behind is not told at all. A notice is about one object,
by uid: a re-creation is two notices, a delete and an add.
Elsewhere: who tells (`applying`), who is told (`handlers`).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import final

import msgspec

from kubeloop.meta import ObjectKey

from .entry import Entry, are_different_objects

__all__ = ["LIMIT", "Backlog", "Notice", "merged"]

LIMIT = 1024


@final
class Notice(msgspec.Struct, frozen=True, gc=False):
    """One change of one object. Without `old` it is an add, without `new` a delete."""

    key: ObjectKey
    old: Entry | None  # of a delete: the final state, as far as it is known
    new: Entry | None
    is_initial: bool = False  # an add of the first list, or of what a late handler found there
    last_state_known: bool = True
    is_recreation: bool = False  # half of a re-creation whose delete was not seen
    # Of a delete: the state that the handler was notified of last, where that is another one
    # than the final state. Filters and owners go by it: an update that was merged into the
    # delete may have changed labels and owners.
    previous: Entry | None = None

    @property
    def is_resync(self) -> bool:
        """Whether nothing has changed: it is only told again."""
        old, new = self.old, self.new
        return old is not None and new is not None and old.version == new.version


def merged(waiting: tuple[Notice, ...], news: Notice) -> tuple[Notice, ...]:
    """What is left to tell of one object: nothing, one thing, or a delete and an add."""
    if not waiting:
        return (news,)
    *before, last = waiting
    if last.new is None:
        return _after_delete(waiting, news)
    if news.new is not None:  # an update: it begins where the handler was told to be
        return (*before, msgspec.structs.replace(last, new=news.new))
    if last.old is None:
        return tuple(before)  # it came and went
    return (*before, msgspec.structs.replace(news, previous=last.old))


def _after_delete(waiting: tuple[Notice, ...], news: Notice) -> tuple[Notice, ...]:
    last = waiting[-1]
    if news.new is not None:
        return (*waiting, msgspec.structs.replace(news, old=None))
    if last.last_state_known or are_different_objects(last.old, news.old):
        return waiting
    previous = last.previous or last.old
    return (*waiting[:-1], msgspec.structs.replace(news, previous=previous))


@final
class Backlog:
    """The changes that wait for one handler.

    `replay` is what there was when the handler came: it is told first, as initial adds.
    """

    def __init__(self, *, replay: Iterable[Entry] = (), limit: int = LIMIT) -> None:
        self.limit = limit
        self._replay = deque(replay)
        self._in_order: deque[Notice] = deque()
        # Later than all of `_in_order`; at most a delete and an add for each key.
        self._by_key: OrderedDict[ObjectKey, tuple[Notice, ...]] = OrderedDict()
        self._second_notices = 0  # of keys in `_by_key` that have two
        self.initial_left = len(self._replay)  # initial adds that were not told to the end
        self.merged = 0  # changes that were not told by themselves

    def __len__(self) -> int:
        waiting = len(self._in_order) + len(self._by_key) + self._second_notices
        return len(self._replay) + waiting

    def put(self, notice: Notice) -> None:
        """Have it told, as soon as all before it has been."""
        self.initial_left += notice.is_initial
        if not self._by_key and len(self._in_order) < self.limit:
            self._in_order.append(notice)
            return
        before = self._by_key.get(notice.key, ())
        after = merged(before, notice)
        self._count(before, after, notice)
        if after:
            self._by_key[notice.key] = after
        else:
            del self._by_key[notice.key]

    def take(self) -> Notice | None:
        """The next one to tell, None when there is none; `told` must follow."""
        if self._replay:
            entry = self._replay.popleft()
            return Notice(entry.key, None, entry, is_initial=True)
        if self._in_order:
            return self._in_order.popleft()
        return self._take_by_key() if self._by_key else None

    def passed(self, notice: Notice) -> None:
        """It is told now, past the backlog, in which nothing waits; `told` must follow."""
        self.initial_left += notice.is_initial

    def told(self, notice: Notice) -> None:
        """The handler has finished with it."""
        self.initial_left -= notice.is_initial

    def clear(self) -> None:
        """Tell nothing more."""
        self._replay.clear()
        self._in_order.clear()
        self._by_key.clear()
        self._second_notices = 0

    def _take_by_key(self) -> Notice:
        key, (first, *rest) = self._by_key.popitem(last=False)
        if rest:
            self._by_key[key] = tuple(rest)
            self._by_key.move_to_end(key, last=False)
            self._second_notices -= 1
        return first

    def _count(self, before: tuple[Notice, ...], after: tuple[Notice, ...], news: Notice) -> None:
        self.merged += len(before) + 1 - len(after)
        self._second_notices += (len(after) > 1) - (len(before) > 1)
        initial_before = sum(notice.is_initial for notice in before) + news.is_initial
        self.initial_left += sum(notice.is_initial for notice in after) - initial_before
