"""RealFIFO: every delta by itself, in the order in which things happened, across all keys.

Promises: nothing is merged and nothing dropped; what comes out is what came in, in order.
Where the queue knows what its consumer holds, an object that comes with another uid than the
last one of its key is preceded by the delete of the old one.
A list is one item («the collection is exactly this»), whatever its length: who it misses is
found out against the store when it is worked on. So putting 100,000 objects in takes no time.
Elsewhere: the queue that gathers by key (`deltas`), waiting (`delta_queue`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
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
    bookmark,
    deleted,
    missed_delete,
    replaced,
    replaced_all,
    sync,
    sync_all,
    updated,
)
from .key_functions import KeyFunc

__all__ = ["BATCH", "RealFIFO"]

BATCH = 1000  # the most that come out together
_ALONE = frozenset({DeltaType.REPLACED_ALL, DeltaType.SYNC_ALL, DeltaType.BOOKMARK})


@final
class RealFIFO(Popping):
    """Deltas in order. Without `known` a list is one item; with it, one for each object.

    `at_once` may take a delta that nothing waits before, and which then is never queued; it
    says whether it did. `transform` sees every entry that is queued, except what was missed
    or is only told again. `key` is as for a `DeltaFIFO`.

    Without `known` the queue cannot compare uids: its consumer does, with what it holds.
    """

    def __init__(
        self,
        known: KnownEntries | None = None,
        *,
        at_once: Callable[[Delta], bool] | None = None,
        transform: EntryTransform | None = None,
        key: KeyFunc[Entry] | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(clock or SystemClock(), transform=transform, key=key)
        self._known = known
        self._at_once = at_once
        self._items: deque[Delta] = deque()
        # The newest delta of each key that waits or is being worked on; only with `known`.
        self._last: dict[ObjectKey, Delta] = {}
        self._populated = False
        self._initial = 0  # items up to the end of the first list, not worked on yet

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_atomic(self) -> bool:
        """Whether a list is one item."""
        return self._known is None

    # --- filling

    def add(self, entry: Entry) -> None:
        delta = added(self._prepared(entry))
        self._populated = True
        self._queue_state(delta)

    def update(self, entry: Entry) -> None:
        delta = updated(self._prepared(entry))
        self._populated = True
        self._queue_state(delta)

    def delete(self, entry: Entry) -> None:
        """The server said that it is gone; told even if nobody knows it."""
        delta = deleted(self._prepared(entry))
        self._populated = True
        self._queue_state(delta)

    def missed_delete(self, key: ObjectKey, last_seen: Entry | None) -> None:
        """It is gone, and nobody saw the final state."""
        if last_seen is not None:
            last_seen = self._keyed(last_seen)
            key = last_seen.key
        self._populated = True
        self._queue(missed_delete(key, last_seen))

    def replace(self, entries: Iterable[Entry], version: str) -> None:
        """The collection is exactly this.

        Raises what the transform raises, or `UnkeyedObject` of a key function; then nothing
        is queued.
        """
        is_plain = self._transform is None and self._key is None
        listed = tuple(entries if is_plain else map(self._prepared, entries))
        if self._known is None:
            self._queue(replaced_all(listed, version))
        else:
            for delta in self._missing(listed, self._known):
                self._queue(delta)
            for entry in listed:
                self._queue_state(replaced(entry))
        if not self._populated:
            self._populated = True
            self._initial = len(self._items)

    def resync(self) -> None:
        """Tell everything again; one for each object that has no news waiting, if not atomic."""
        if self._known is None:
            self._queue(sync_all())
            return
        held = self._known.keys()
        for key in held:
            entry = self._known.entry(key) if key not in self._last else None
            if entry is not None:
                self._queue(sync(entry))

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        if self._known is None:
            self._queue(bookmark(version))

    # --- emptying

    @property
    def has_synced(self) -> bool:
        """Whether the first list was worked on to its end; once true it stays true."""
        return self._populated and not self._initial

    def take_nowait(self, *, at_most: int = 1) -> Batch | None:
        """The next deltas, of different keys; None when there are none.

        What is about the whole collection comes alone, and the first list's end ends a batch.

        Raises:
            QueueClosed: the queue is closed and empty.
        """
        if not self._items:
            self._check_open()
            return None
        is_initial = not self.has_synced
        bound = min(at_most, BATCH, self._initial or BATCH)
        deltas = [self._items.popleft()]
        if bound > 1 and deltas[0].type not in _ALONE:
            self._take_more(deltas, bound)
        self._taken += len(deltas)
        self._in_flight = deltas
        return Batch(deltas, is_initial)

    def done(self, batch: Batch) -> None:
        """The batch counts as worked on."""
        self._in_flight = ()
        for delta in batch.deltas if self._last else ():
            if self._last.get(delta.key) is delta:
                del self._last[delta.key]
        self._initial = max(self._initial - len(batch.deltas), 0)

    def put_back(self, batch: Batch) -> None:
        """Queue again what could not be worked on, ahead of everything."""
        self._in_flight = ()
        self._items.extendleft(reversed(batch.deltas))
        self._requeued += 1
        self._wake()

    def stats(self) -> QueueStats:
        waiting = tuple(self._items)  # in one step: it may be asked from another thread
        return QueueStats(
            deltas=len(waiting),
            keys=len({delta.key for delta in waiting if delta.type not in _ALONE}),
            added=self._added,
            taken=self._taken,
            requeued=self._requeued,
            initial_left=self._initial,
            has_synced=self.has_synced,
            closed=self._closed,
        )

    def _queue(self, delta: Delta) -> None:
        self._added += 1
        # The consumer has worked on all there was, the first list included.
        is_idle = not (self._items or self._in_flight or self._initial or self._closed)
        if is_idle and self._populated and self._at_once is not None and self._at_once(delta):
            self._taken += 1
            return
        self._items.append(delta)
        if self._known is not None:
            self._last[delta.key] = delta
        self._wake()

    def _queue_state(self, delta: Delta) -> None:
        """Queue the state of an object; if its uid is a new one, after the missed delete."""
        if self._known is None:
            self._queue(delta)
            return
        for each in deltas_after(self._last_state(delta.key, self._known), delta):
            self._queue(each)

    def _last_state(self, key: ObjectKey, known: KnownEntries) -> Entry | None:
        """The newest state of a key that is queued, in work or known; None if it is gone."""
        last = self._last.get(key)
        if last is None:
            return known.entry(key)
        return None if last.type is DeltaType.DELETED else last.entry

    def _take_more(self, deltas: list[Delta], bound: int) -> None:
        keys = {deltas[0].key}
        while self._items and len(deltas) < bound:
            following = self._items[0]
            if following.type in _ALONE or following.key in keys:
                return
            keys.add(following.key)
            deltas.append(self._items.popleft())

    def _missing(self, listed: tuple[Entry, ...], known: KnownEntries) -> list[Delta]:
        """Deletes of what a list misses, except where one is queued already."""
        keys = {entry.key for entry in listed}
        held = known.keys()
        gone = [
            missed_delete(key, delta.entry)
            for key, delta in self._last.items()
            if key not in keys and delta.type is not DeltaType.DELETED
        ]
        gone += [
            missed_delete(key, known.entry(key))
            for key in held
            if key not in keys and key not in self._last
        ]
        return gone
