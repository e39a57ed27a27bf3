"""DeltaFIFO: what happened to each object, gathered by key, in the order of first news.

Promises: a key waits once, with everything that happened to it since it was last taken, in
order; only two deletes in a row become one. A list that misses an object becomes a delete
that says «last state unknown», and so does an object that comes with another uid than the
last one of its key: the delete of the old one is queued before it. A delete of what nobody
ever knew is dropped.
Elsewhere: the queue that keeps the order across keys (`in_order`), waiting (`delta_queue`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import final

from kubeloop.kit import Clock, SystemClock
from kubeloop.meta import ObjectKey

from .delta_queue import (
    Batch,
    EntryTransform,
    KnownEntries,
    Popping,
    QueueStats,
    deltas_after,
)
from .entry import (
    Delta,
    DeltaType,
    Entry,
    added,
    are_different_objects,
    deleted,
    missed_delete,
    replaced,
    sync,
    updated,
)
from .key_functions import KeyFunc

__all__ = ["DeltaFIFO"]


@final
class DeltaFIFO(Popping):
    """Deltas by key; `known` is what the consumer holds, to conclude deletes from.

    With `emit_replaced` the objects of a list come out as Replaced, without as Sync.
    `transform` sees every entry that is queued, except what was missed or is only told again.
    `key` files entries under another key than their own, as in

        DeltaFIFO(known, key=lambda entry: entry.uid)

    Then `known` has to be filed in the same way. A key function that fails raises
    `UnkeyedObject` from the call that brought the entry, and nothing is queued.
    """

    def __init__(
        self,
        known: KnownEntries | None = None,
        *,
        emit_replaced: bool = True,
        transform: EntryTransform | None = None,
        key: KeyFunc[Entry] | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(clock or SystemClock(), transform=transform, key=key)
        self._known = known
        self._listed = replaced if emit_replaced else sync
        # Each key of `_items` is in `_order` once, and its deltas are never none.
        self._items: dict[ObjectKey, list[Delta]] = {}
        self._order: deque[ObjectKey] = deque()
        self._populated = False
        self._initial: set[ObjectKey] = set()  # of the first list, not taken yet

    def __len__(self) -> int:
        return len(self._order)

    # --- filling

    def add(self, entry: Entry) -> None:
        self._queue_state(added(self._prepared(entry)))
        self._populated = True

    def update(self, entry: Entry) -> None:
        self._queue_state(updated(self._prepared(entry)))
        self._populated = True

    def delete(self, entry: Entry) -> None:
        """The server said that it is gone; nothing happens if nobody knows it."""
        gone = self._keyed(entry)
        if self._is_known(gone.key):
            self._queue_state(deleted(self._transformed(gone)))
        self._populated = True

    def missed_delete(self, key: ObjectKey, last_seen: Entry | None) -> None:
        """It is gone, and nobody saw the final state; nothing happens if nobody knows it."""
        if last_seen is not None:
            last_seen = self._keyed(last_seen)
            key = last_seen.key
        if self._is_known(key):
            self._queue(missed_delete(key, last_seen))
        self._populated = True

    def replace(self, entries: Iterable[Entry], version: str) -> None:  # noqa: ARG002
        """The collection is exactly this: all others are gone.

        Takes about a microsecond for each object. Raises what the transform raises, or
        `UnkeyedObject` of a key function, before anything is queued.
        """
        listed = [self._prepared(entry) for entry in entries]
        for entry in listed:
            self._queue_state(self._listed(entry))
        keys = {entry.key for entry in listed}
        missed = self._queued_but_gone(keys) + self._known_but_gone(keys)
        for delta in missed:
            self._queue(delta)
        if not self._populated:
            self._populated = True
            self._initial = keys | {delta.key for delta in missed}

    def resync(self) -> None:
        """Tell again what is known and has no news waiting."""
        known = self._known
        if known is None:
            return
        held = known.keys()
        for key in held:
            entry = known.entry(key) if not self._has_news(key) else None
            if entry is not None:
                self._queue(sync(entry))

    def bookmark(self, version: str) -> None:
        """Says nothing about any key, so nothing is queued."""

    # --- emptying

    @property
    def has_synced(self) -> bool:
        """Whether every key of the first list was taken; once true it stays true."""
        return self._populated and not self._initial

    def take_nowait(self, *, at_most: int = 1) -> Batch | None:  # noqa: ARG002
        """All deltas of the next key; None when there is none.

        Raises:
            QueueClosed: the queue is closed and empty.
        """
        if not self._order:
            self._check_open()
            return None
        is_initial = not self.has_synced
        key = self._order.popleft()
        self._initial.discard(key)
        deltas = self._items.pop(key)
        self._taken += len(deltas)
        self._in_flight = deltas
        return Batch(deltas, is_initial)

    def done(self, batch: Batch) -> None:  # noqa: ARG002 - there is one in flight
        """The batch was worked on (for `has_synced` it counts from the moment it was taken)."""
        self._in_flight = ()

    def put_back(self, batch: Batch) -> None:
        """Queue again what could not be worked on, ahead of its key's later news."""
        key = batch.deltas[0].key
        self._in_flight = ()
        if key not in self._items:
            self._order.append(key)
        self._items[key] = [*batch.deltas, *self._items.get(key, ())]
        if batch.is_initial:
            self._initial.add(key)
        self._requeued += 1
        self._wake()

    def stats(self) -> QueueStats:
        return QueueStats(
            deltas=sum(map(len, self._items.values())),
            keys=len(self._order),
            added=self._added,
            taken=self._taken,
            requeued=self._requeued,
            initial_left=len(self._initial),
            has_synced=self.has_synced,
            closed=self._closed,
        )

    def _queue_state(self, delta: Delta) -> None:
        """Queue the state of an object; if its uid is a new one, after the missed delete."""
        for each in deltas_after(self._last_state(delta.key), delta):
            self._queue(each)

    def _last_state(self, key: ObjectKey) -> Entry | None:
        """The newest state of a key that is queued, in work or known; None if it is gone."""
        news: Sequence[Delta] = self._items.get(key, self._in_flight)
        if news and news[-1].key == key:
            return None if news[-1].type is DeltaType.DELETED else news[-1].entry
        return self._known.entry(key) if self._known is not None else None

    def _queue(self, delta: Delta) -> None:
        self._added += 1
        waiting = self._items.get(delta.key)
        if waiting is None:
            self._items[delta.key] = [delta]
            self._order.append(delta.key)
            self._wake()
        elif delta.type is waiting[-1].type is DeltaType.DELETED:
            is_same = not are_different_objects(waiting[-1].entry, delta.entry)
            if is_same and not waiting[-1].last_state_known:  # the one that knows more is kept
                waiting[-1] = delta
        else:
            waiting.append(delta)

    def _queued_but_gone(self, keys: set[ObjectKey]) -> list[Delta]:
        last = {key: deltas[-1] for key, deltas in self._items.items()}
        working = self._in_flight[-1] if self._in_flight else None
        if working is not None and working.type is not DeltaType.DELETED:
            last.setdefault(working.key, working)
        return [missed_delete(key, delta.entry) for key, delta in last.items() if key not in keys]

    def _known_but_gone(self, keys: set[ObjectKey]) -> list[Delta]:
        known = self._known
        if known is None:
            return []
        held = known.keys()
        gone = [key for key in held if key not in keys and not self._has_news(key)]
        return [missed_delete(key, known.entry(key)) for key in gone]

    def _is_known(self, key: ObjectKey) -> bool:
        return self._has_news(key) or (
            self._known is not None and self._known.entry(key) is not None
        )

    def _has_news(self, key: ObjectKey) -> bool:
        """Whether something about it waits, or is being worked on."""
        return key in self._items or any(delta.key == key for delta in self._in_flight[:1])
