"""DeltaFIFO: the changes of each object, collected by key, in the order of the keys' first change.

Guarantees: a key is queued once, with all its deltas since it was last taken, in order; only
two deletes in a row become one. A list that misses an object becomes a delete with unknown
final state. So does an object with another uid than the last one of its key: the delete of the
old one is queued before it. A delete of an object that is not known is dropped.
See also: `delta_queue` (the contract, and the queue that keeps the order across keys).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import final

from kubeloop.kit import Clock, SystemClock
from kubeloop.meta import ObjectKey

from .delta_queue import Batch, EntryTransform, KnownObjects, QueueBase, QueueStats
from .entry import (
    Delta,
    DeltaType,
    Entry,
    KeyFunc,
    are_different_objects,
    deltas_after,
    missed_delete,
)

__all__ = ["DeltaFIFO"]


@final
class DeltaFIFO(QueueBase):
    """Deltas by key; `known` is what the consumer has, to find missed deletes.

    With `emit_replaced` the objects of a list are `REPLACED` deltas, without it `SYNC`.
    `transform` changes every entry that is queued, except those of missed deletes and resyncs.
    `key` queues entries under another key than their own, as in

        DeltaFIFO(known, key=lambda entry: entry.uid)

    Then `known` must use the same keys. A key function that fails raises `UnkeyedObject` from
    the call that has the entry, and nothing is queued.
    """

    def __init__(
        self,
        known: KnownObjects | None = None,
        *,
        emit_replaced: bool = True,
        transform: EntryTransform | None = None,
        key: KeyFunc[Entry] | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(clock or SystemClock(), transform=transform, key=key)
        self._known = known
        self._list_type = DeltaType.REPLACED if emit_replaced else DeltaType.SYNC
        # Invariant: each key of `_items` is in `_order` once, and has at least one delta.
        self._items: dict[ObjectKey, list[Delta]] = {}
        self._order: deque[ObjectKey] = deque()
        self._populated = False
        self._initial: set[ObjectKey] = set()  # of the first list, not taken yet

    def __len__(self) -> int:
        return len(self._order)

    # --- for the producer

    def add(self, entry: Entry) -> None:
        self._put_state(DeltaType.ADDED, self._prepare(entry))
        self._populated = True

    def update(self, entry: Entry) -> None:
        self._put_state(DeltaType.UPDATED, self._prepare(entry))
        self._populated = True

    def delete(self, entry: Entry) -> None:
        """The server deleted the object; ignored if the object is not known."""
        gone = self._with_key(entry)
        if self._is_known(gone.key):
            final = gone if self._transform is None else self._transform(gone)
            self._put_state(DeltaType.DELETED, final)
        self._populated = True

    def missed_delete(self, key: ObjectKey, last_seen: Entry | None) -> None:
        """The object is gone, and its final state is not known; ignored if the object is not."""
        if last_seen is not None:
            last_seen = self._with_key(last_seen)
            key = last_seen.key
        if self._is_known(key):
            self._put(missed_delete(key, last_seen))
        self._populated = True

    def replace(self, entries: Iterable[Entry], version: str) -> None:  # noqa: ARG002
        """The collection is exactly this: all other objects are gone.

        Takes about a microsecond for each object. Raises what the transform raises, or
        `UnkeyedObject` of a key function, before anything is queued.
        """
        listed = [self._prepare(entry) for entry in entries]
        for entry in listed:
            self._put_state(self._list_type, entry)
        keys = {entry.key for entry in listed}
        missed = self._queued_but_gone(keys) + self._known_but_gone(keys)
        for delta in missed:
            self._put(delta)
        if not self._populated:
            self._populated = True
            self._initial = keys | {delta.key for delta in missed}

    def resync(self) -> None:
        """Queue the known objects that have no deltas, unchanged."""
        known = self._known
        if known is None:
            return
        known_keys = known.keys()
        for key in known_keys:
            entry = known.entry(key) if not self._has_deltas(key) else None
            if entry is not None:
                self._put(Delta(DeltaType.SYNC, entry.key, entry))

    def bookmark(self, version: str) -> None:
        """Queues nothing: a bookmark has no key."""

    # --- for the consumer

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
        """The batch was processed (`has_synced` counts it from the moment it was taken)."""
        self._in_flight = ()

    def put_back(self, batch: Batch) -> None:
        """Queue a batch again that could not be processed, before later deltas of its key."""
        key = batch.deltas[0].key
        self._in_flight = ()
        if key not in self._items:
            self._order.append(key)
        self._items[key] = [*batch.deltas, *self._items.get(key, ())]
        if batch.is_initial:
            self._initial.add(key)
        self._requeued += 1
        self._wakeup.set()

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

    def _put_state(self, kind: DeltaType, entry: Entry) -> None:
        """Queue the state of an object; if its uid is a new one, after the missed delete."""
        for delta in deltas_after(self._last_state(entry.key), Delta(kind, entry.key, entry)):
            self._put(delta)

    def _last_state(self, key: ObjectKey) -> Entry | None:
        """The newest state of a key that is queued, in flight or known; None if it is gone."""
        deltas: Sequence[Delta] = self._items.get(key, self._in_flight)
        if deltas and deltas[-1].key == key:
            return None if deltas[-1].type is DeltaType.DELETED else deltas[-1].entry
        return self._known.entry(key) if self._known is not None else None

    def _put(self, delta: Delta) -> None:
        self._added += 1
        queued = self._items.get(delta.key)
        if queued is None:
            self._items[delta.key] = [delta]
            self._order.append(delta.key)
            self._wakeup.set()
        elif delta.type is queued[-1].type is DeltaType.DELETED:
            is_same = not are_different_objects(queued[-1].entry, delta.entry)
            # As client-go's isDeletionDup: of two deletes the one with the final state stays.
            if is_same and not queued[-1].last_state_known:
                queued[-1] = delta
        else:
            queued.append(delta)

    def _queued_but_gone(self, keys: set[ObjectKey]) -> list[Delta]:
        last = {key: deltas[-1] for key, deltas in self._items.items()}
        in_flight = self._in_flight[-1] if self._in_flight else None
        if in_flight is not None and in_flight.type is not DeltaType.DELETED:
            last.setdefault(in_flight.key, in_flight)
        return [missed_delete(key, delta.entry) for key, delta in last.items() if key not in keys]

    def _known_but_gone(self, keys: set[ObjectKey]) -> list[Delta]:
        known = self._known
        if known is None:
            return []
        known_keys = known.keys()
        return [
            missed_delete(key, known.entry(key))
            for key in known_keys
            if key not in keys and not self._has_deltas(key)
        ]

    def _is_known(self, key: ObjectKey) -> bool:
        return self._has_deltas(key) or (
            self._known is not None and self._known.entry(key) is not None
        )

    def _has_deltas(self, key: ObjectKey) -> bool:
        """Whether a delta of the key is queued or in flight."""
        return key in self._items or any(delta.key == key for delta in self._in_flight[:1])
