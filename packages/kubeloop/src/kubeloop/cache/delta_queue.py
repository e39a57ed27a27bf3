"""The queue between a reflector and a store: its contract, and `RealFIFO`, the default.

Guarantees: what was queued is popped, in the queue's order, until the queue is closed and
empty. Taking deltas is synchronous (`take_nowait`, `done`, `put_back`); only `pop` waits. There
is one consumer. Producers never wait for the batch that it processes.
`RealFIFO` keeps each delta, in the order in which changes happened, across all keys. A list is
one delta (the collection is exactly this), so queueing 100,000 objects takes no time: the
consumer finds the deleted ones when it compares the list with the store.
See also: `delta_fifo` (deltas by key), `controller` (the consumer).
"""

from __future__ import annotations

import abc
import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias, final

import msgspec

from kubeloop.kit import Clock, SystemClock
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

from .entry import Delta, DeltaType, Entry, KeyFunc, deltas_after, key_from, missed_delete
from .errors import QueueClosed, Requeue

__all__ = [
    "MAX_BATCH",
    "Batch",
    "DeltaQueue",
    "EntryTransform",
    "KnownObjects",
    "Process",
    "QueueBase",
    "QueueStats",
    "RealFIFO",
]

log = get_logger(__name__)

# Called with the deltas of a batch, and with whether they belong to the first list.
Process: TypeAlias = Callable[[Sequence[Delta], bool], Awaitable[None] | None]
# Changes an entry before it is queued. It may see the same entry twice.
EntryTransform: TypeAlias = Callable[[Entry], Entry]


class KnownObjects(Protocol):
    """What the consumer has, to find missed deletes (client-go: `KnownObjects`)."""

    def keys(self) -> list[ObjectKey]: ...
    def entry(self, key: ObjectKey) -> Entry | None: ...


@final
class Batch(msgspec.Struct, frozen=True):
    """Deltas that are processed together, and whether they belong to the first list."""

    deltas: Sequence[Delta]
    is_initial: bool


class QueueStats(msgspec.Struct, frozen=True):
    """What is queued, and what was."""

    deltas: int  # queued now
    keys: int  # different ones, queued now
    added: int  # deltas that were ever queued
    taken: int  # deltas that were ever taken
    requeued: int  # batches that were put back
    initial_left: int  # of the first list, not processed yet
    has_synced: bool
    closed: bool


class DeltaQueue(Protocol):
    """A queue of deltas: a reflector fills it, one consumer empties it."""

    def add(self, entry: Entry) -> None: ...
    def update(self, entry: Entry) -> None: ...
    def delete(self, entry: Entry) -> None:
        """The server deleted the object; `entry` is its final state."""
        ...

    def missed_delete(self, key: ObjectKey, last_seen: Entry | None) -> None:
        """The object is gone, and its final state is not known."""
        ...

    def replace(self, entries: Iterable[Entry], version: str) -> None:
        """The collection is exactly this. Raises what a transform raises, and queues nothing."""
        ...

    def resync(self) -> None:
        """Queue what the consumer has, unchanged."""
        ...

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        ...

    @property
    def has_synced(self) -> bool:
        """Whether the first list is processed; once true it stays true."""
        ...

    def take_nowait(self, *, at_most: int = 1) -> Batch | None:
        """The next deltas, None when there are none; call `done` or `put_back` afterwards.

        The deltas of a batch have different keys, except that a `DeltaFIFO` returns all deltas
        of one key, and of one key only. Raises `QueueClosed` when it is closed and empty.
        """
        ...

    def done(self, batch: Batch) -> None: ...
    def put_back(self, batch: Batch) -> None:
        """Queue a batch again that could not be processed, before later deltas of its keys."""
        ...

    async def pop(self, process: Process, *, at_most: int = 1) -> Batch:
        """Wait for deltas, process them, and return them, as `DeltaFIFO.pop` does."""
        ...

    def close(self) -> None:
        """Wake the consumer; what is queued can still be popped."""
        ...

    def __len__(self) -> int: ...
    def stats(self) -> QueueStats: ...


class QueueBase(abc.ABC):
    """What both queues have in common: waiting, processing, closing."""

    def __init__(
        self,
        clock: Clock,
        *,
        transform: EntryTransform | None = None,
        key: KeyFunc[Entry] | None = None,
    ) -> None:
        self._clock = clock
        self._transform = transform
        self._key = key
        self._wakeup = asyncio.Event()
        self._closed = False
        # Taken and not processed yet. A list that arrives meanwhile must count these deltas as
        # known objects: they are in no store yet, and their deletes would be lost.
        self._in_flight: Sequence[Delta] = ()
        self._added = self._taken = self._requeued = 0

    @abc.abstractmethod
    def take_nowait(self, *, at_most: int = 1) -> Batch | None: ...

    @abc.abstractmethod
    def done(self, batch: Batch) -> None: ...

    @abc.abstractmethod
    def put_back(self, batch: Batch) -> None: ...

    @abc.abstractmethod
    def __len__(self) -> int: ...

    async def pop(self, process: Process, *, at_most: int = 1) -> Batch:
        """Wait for deltas, process them, and return them.

        Raises what `process` raises; the deltas are gone unless that is `Requeue`.
        Safe to cancel while it waits: nothing is lost. Cancelled inside `process`, they count
        as processed.

        Raises:
            QueueClosed: the queue is closed and empty.
        """
        while (batch := self.take_nowait(at_most=at_most)) is None:
            self._wakeup.clear()
            await self._wakeup.wait()
        with self._processing(batch):
            result = process(batch.deltas, batch.is_initial)
            if result is not None:
                await result
        return batch

    def pop_nowait(
        self, process: Callable[[Sequence[Delta], bool], None], *, at_most: int = 1
    ) -> Batch | None:
        """As `pop` with a synchronous `process`; None when nothing is queued."""
        batch = self.take_nowait(at_most=at_most)
        if batch is not None:
            with self._processing(batch):
                process(batch.deltas, batch.is_initial)
        return batch

    def close(self) -> None:
        """Wake the consumer; what is queued can still be popped."""
        self._closed = True
        self._wakeup.set()

    def _prepare(self, entry: Entry) -> Entry:
        """The entry to queue: under the key function's key, then transformed."""
        entry = self._with_key(entry)
        return entry if self._transform is None else self._transform(entry)

    def _with_key(self, entry: Entry) -> Entry:
        if self._key is None:
            return entry
        return msgspec.structs.replace(entry, key=key_from(self._key, entry))

    def _check_open(self) -> None:
        """Raises `QueueClosed`; for a queue that is empty."""
        if self._closed:
            raise QueueClosed("take from a delta queue: it is closed and empty")

    @contextmanager
    def _processing(self, batch: Batch) -> Iterator[None]:
        started = self._clock.now()
        try:
            yield
        except Requeue as requeue:
            self.put_back(batch)
            raise requeue.__cause__ or requeue from None
        except BaseException:
            self.done(batch)
            raise
        self.done(batch)
        self._log_slow(batch, self._clock.now() - started)

    def _log_slow(self, batch: Batch, seconds: float) -> None:
        bound = min(SLOW * len(batch.deltas), SLOWEST)
        if seconds > bound and len(self) > CROWDED:
            first = batch.deltas[0]
            subject = first.key if first.key.name else first.type
            log.info(
                "%s: processing took %.2f s, %d deltas are queued", subject, seconds, len(self)
            )


# Processing that takes longer while deltas are queued is logged (for a batch: per delta).
SLOW = 0.1
SLOWEST = 1.0
CROWDED = 10

MAX_BATCH = 1000
_ALONE = frozenset({DeltaType.REPLACED_ALL, DeltaType.SYNC_ALL, DeltaType.BOOKMARK})


@final
class RealFIFO(QueueBase):
    """Deltas in order. Without `known` a list is one delta; with it, one for each object.

    `bypass` may process a delta when nothing is queued or in flight; it returns whether it did,
    and then the delta is not queued. `transform` changes every entry that is queued, except
    those of missed deletes and resyncs. `key` is as for a `DeltaFIFO`.

    With `known` the queue also finds re-created objects: the delete of the old one is queued
    before a delta with another uid. Without, the consumer compares uids.
    """

    def __init__(
        self,
        known: KnownObjects | None = None,
        *,
        bypass: Callable[[Delta], bool] | None = None,
        transform: EntryTransform | None = None,
        key: KeyFunc[Entry] | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(clock or SystemClock(), transform=transform, key=key)
        self._known = known
        self._bypass = bypass
        self._changes_entries = transform is not None or key is not None
        self._items: deque[Delta] = deque()
        # The newest delta of each key that is queued or in flight; only with `known`.
        self._last: dict[ObjectKey, Delta] = {}
        self._populated = False
        self._initial = 0  # deltas up to the end of the first list, not processed yet

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_atomic(self) -> bool:
        """Whether a list is one delta."""
        return self._known is None

    # --- for the producer

    def add(self, entry: Entry) -> None:
        self._put_state(DeltaType.ADDED, entry)

    def update(self, entry: Entry) -> None:
        self._put_state(DeltaType.UPDATED, entry)

    def delete(self, entry: Entry) -> None:
        """The server deleted the object; queued even if the object is not known."""
        self._put_state(DeltaType.DELETED, entry)

    def missed_delete(self, key: ObjectKey, last_seen: Entry | None) -> None:
        """The object is gone, and its final state is not known."""
        if last_seen is not None:
            last_seen = self._with_key(last_seen)
            key = last_seen.key
        self._populated = True
        self._put(missed_delete(key, last_seen))

    def replace(self, entries: Iterable[Entry], version: str) -> None:
        """The collection is exactly this.

        Raises what the transform raises, or `UnkeyedObject` of a key function; then nothing
        is queued.
        """
        listed = tuple(map(self._prepare, entries) if self._changes_entries else entries)
        if self._known is None:
            self._put(Delta(DeltaType.REPLACED_ALL, entries=listed, version=version))
        else:
            for delta in self._missed_deletes(listed, self._known):
                self._put(delta)
            for entry in listed:
                self._put_with_recreation(Delta(DeltaType.REPLACED, entry.key, entry), self._known)
        if not self._populated:
            self._populated = True
            self._initial = len(self._items)

    def resync(self) -> None:
        """Queue everything unchanged; with `known`, each object without a queued delta."""
        known = self._known
        if known is None:
            self._put(Delta(DeltaType.SYNC_ALL))
            return
        known_keys = known.keys()
        for key in known_keys:
            entry = known.entry(key) if key not in self._last else None
            if entry is not None:
                self._put(Delta(DeltaType.SYNC, entry.key, entry))

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        if self._known is None:
            self._put(Delta(DeltaType.BOOKMARK, version=version))

    # --- for the consumer

    @property
    def has_synced(self) -> bool:
        """Whether the first list is processed to its end; once true it stays true."""
        return self._populated and not self._initial

    def take_nowait(self, *, at_most: int = 1) -> Batch | None:
        """The next deltas, of different keys; None when there are none.

        A delta about the whole collection is a batch of its own, and the end of the first list
        ends a batch.

        Raises:
            QueueClosed: the queue is closed and empty.
        """
        if not self._items:
            self._check_open()
            return None
        is_initial = not self.has_synced
        bound = min(at_most, MAX_BATCH, self._initial or MAX_BATCH)
        deltas = [self._items.popleft()]
        if bound > 1 and deltas[0].type not in _ALONE:
            self._take_more(deltas, bound)
        self._taken += len(deltas)
        self._in_flight = deltas
        return Batch(deltas, is_initial)

    def done(self, batch: Batch) -> None:
        """The batch counts as processed."""
        self._in_flight = ()
        for delta in batch.deltas if self._last else ():
            if self._last.get(delta.key) is delta:
                del self._last[delta.key]
        self._initial = max(self._initial - len(batch.deltas), 0)

    def put_back(self, batch: Batch) -> None:
        """Queue a batch again that could not be processed, at the front."""
        self._in_flight = ()
        self._items.extendleft(reversed(batch.deltas))
        self._requeued += 1
        self._wakeup.set()

    def stats(self) -> QueueStats:
        queued = tuple(self._items)  # one atomic copy: any thread may call this
        return QueueStats(
            deltas=len(queued),
            keys=len({delta.key for delta in queued if delta.type not in _ALONE}),
            added=self._added,
            taken=self._taken,
            requeued=self._requeued,
            initial_left=self._initial,
            has_synced=self.has_synced,
            closed=self._closed,
        )

    def _put_state(self, kind: DeltaType, entry: Entry) -> None:
        if self._changes_entries:
            entry = self._prepare(entry)
        self._populated = True
        delta = Delta(kind, entry.key, entry)
        if self._known is None:
            self._put(delta)
        else:
            self._put_with_recreation(delta, self._known)

    def _put_with_recreation(self, delta: Delta, known: KnownObjects) -> None:
        """Queue a delta; if its uid is a new one, after the missed delete."""
        last = self._last.get(delta.key)
        if last is None:
            state = known.entry(delta.key)
        else:
            state = None if last.type is DeltaType.DELETED else last.entry
        for each in deltas_after(state, delta):
            self._put(each)

    def _put(self, delta: Delta) -> None:
        self._added += 1
        # Idle: the consumer has processed everything, the first list included. Then the delta
        # is processed in the producer's stack, which saves a switch to the consumer's task.
        is_busy = self._items or self._in_flight or self._initial or self._closed
        if self._bypass is not None and not is_busy and self._populated and self._bypass(delta):
            self._taken += 1
            return
        self._items.append(delta)
        if self._known is not None:
            self._last[delta.key] = delta
        self._wakeup.set()

    def _take_more(self, deltas: list[Delta], bound: int) -> None:
        keys = {deltas[0].key}
        while self._items and len(deltas) < bound:
            following = self._items[0]
            if following.type in _ALONE or following.key in keys:
                return
            keys.add(following.key)
            deltas.append(self._items.popleft())

    def _missed_deletes(self, listed: tuple[Entry, ...], known: KnownObjects) -> list[Delta]:
        """Deletes of what a list misses, except where one is queued already."""
        keys = {entry.key for entry in listed}
        known_keys = known.keys()
        gone = [
            missed_delete(key, delta.entry)
            for key, delta in self._last.items()
            if key not in keys and delta.type is not DeltaType.DELETED
        ]
        gone += [
            missed_delete(key, known.entry(key))
            for key in known_keys
            if key not in keys and key not in self._last
        ]
        return gone
