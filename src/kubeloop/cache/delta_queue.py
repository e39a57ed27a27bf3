"""What stands between a reflector and the store: deltas in, deltas out, once each.

Promises: what was put in comes out, in the order that the queue promises, until it is
closed and empty. Taking is plain code (`take_nowait`, `done`, `put_back`); `pop` only waits.
One consumer: what it works on is out of the queue but not out of mind, and producers need
not wait for it.
Elsewhere: the two queues (`deltas`, `in_order`), who works on deltas (`controller`).
"""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias, final

import msgspec

from kubeloop.kit import Clock
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

from .entry import Delta, DeltaType, Entry, are_different_objects, missed_delete
from .errors import QueueClosed, Requeue
from .key_functions import KeyFunc, key_from

__all__ = [
    "Batch",
    "DeltaQueue",
    "EntryTransform",
    "KnownEntries",
    "Popping",
    "Process",
    "QueueStats",
    "deltas_after",
]

log = get_logger(__name__)

# What is done with the deltas that come out together; it may take its time.
Process: TypeAlias = Callable[[Sequence[Delta], bool], Awaitable[None] | None]
# What is made of an entry before it is queued; it must be content to see one twice.
EntryTransform: TypeAlias = Callable[[Entry], Entry]


class KnownEntries(Protocol):
    """What the consumer holds already, to conclude deletes from: an `Indexer` fits."""

    def keys(self) -> list[ObjectKey]: ...
    def entry(self, key: ObjectKey) -> Entry | None: ...


@final
class Batch(msgspec.Struct, frozen=True):
    """Deltas that come out together, and whether they belong to the first list."""

    deltas: Sequence[Delta]
    is_initial: bool


class QueueStats(msgspec.Struct, frozen=True):
    """How full a queue is, and what came of it so far."""

    deltas: int  # waiting
    keys: int  # waiting, different ones
    added: int  # deltas that were ever queued
    taken: int  # deltas that were ever taken out
    requeued: int
    initial_left: int  # of the first list, not worked on yet
    has_synced: bool
    closed: bool


class DeltaQueue(Protocol):
    """A queue of deltas: a reflector fills it, one consumer empties it."""

    def add(self, entry: Entry) -> None: ...
    def update(self, entry: Entry) -> None: ...
    def delete(self, entry: Entry) -> None:
        """The server said that it is gone; `entry` is its final state."""
        ...

    def missed_delete(self, key: ObjectKey, last_seen: Entry | None) -> None:
        """It is gone, and nobody saw the final state."""
        ...

    def replace(self, entries: Iterable[Entry], version: str) -> None:
        """The collection is exactly this. Raises what the transform raises: nothing is queued."""
        ...

    def resync(self) -> None:
        """Tell everything again."""
        ...

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        ...

    @property
    def has_synced(self) -> bool:
        """Whether the first list has been worked on; once true it stays true."""
        ...

    def take_nowait(self, *, at_most: int = 1) -> Batch | None:
        """The next deltas, None when there are none; `done` or `put_back` must follow.

        A batch of more than one delta is about different keys, except that a `DeltaFIFO`
        hands out all deltas of one key together, and of one key only.
        Raises `QueueClosed` when it is closed and empty.
        """
        ...

    def done(self, batch: Batch) -> None: ...
    def put_back(self, batch: Batch) -> None:
        """Queue again what could not be worked on, ahead of what came since for its keys."""
        ...

    async def pop(self, process: Process, *, at_most: int = 1) -> Batch:
        """Wait for deltas and have them worked on; returns them. As `Popping.pop`."""
        ...

    def close(self) -> None:
        """Wake who waits; what is queued can still be popped."""
        ...

    def __len__(self) -> int: ...
    def stats(self) -> QueueStats: ...


class Popping(abc.ABC):
    """Waiting, working and closing, the same for all queues; made to be inherited."""

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
        self._woken = asyncio.Event()
        self._closed = False
        # Taken and not yet worked on. Who concludes from what the consumer holds must count it
        # in, or a list that comes meanwhile finds the object nowhere and its delete is lost.
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
        """Wait for deltas and have them worked on; returns them.

        What `process` raises is raised; the deltas are gone unless it raises `Requeue`.
        Safe to cancel while it waits: nothing is lost. Cancelled inside `process`, they
        count as worked on.

        Raises:
            QueueClosed: the queue is closed and empty.
        """
        while (batch := self.take_nowait(at_most=at_most)) is None:
            self._woken.clear()
            await self._woken.wait()
        with self._worked_on(batch):
            result = process(batch.deltas, batch.is_initial)
            if result is not None:
                await result
        return batch

    def pop_nowait(
        self, process: Callable[[Sequence[Delta], bool], None], *, at_most: int = 1
    ) -> Batch | None:
        """As `pop`, without waiting: None when there is nothing; `process` is plain."""
        batch = self.take_nowait(at_most=at_most)
        if batch is not None:
            with self._worked_on(batch):
                process(batch.deltas, batch.is_initial)
        return batch

    def close(self) -> None:
        """Wake who waits; what is queued can still be popped."""
        self._closed = True
        self._woken.set()

    def _wake(self) -> None:
        self._woken.set()

    def _prepared(self, entry: Entry) -> Entry:
        """The entry as it is queued: under the key function's key, then transformed."""
        return self._transformed(self._keyed(entry))

    def _transformed(self, entry: Entry) -> Entry:
        return entry if self._transform is None else self._transform(entry)

    def _keyed(self, entry: Entry) -> Entry:
        if self._key is None:
            return entry
        return msgspec.structs.replace(entry, key=key_from(self._key, entry))

    def _check_open(self) -> None:
        """For who found nothing. Raises `QueueClosed`."""
        if self._closed:
            raise QueueClosed("take from a delta queue: it is closed and empty")

    @contextmanager
    def _worked_on(self, batch: Batch) -> Iterator[None]:
        began = self._clock.now()
        try:
            yield
        except Requeue as again:
            self.put_back(batch)
            raise again.__cause__ or again from None
        except BaseException:
            self.done(batch)
            raise
        self.done(batch)
        self._report(batch, self._clock.now() - began)

    def _report(self, batch: Batch, seconds: float) -> None:
        bound = min(SLOW * len(batch.deltas), SLOWEST)
        if seconds > bound and len(self) > CROWDED:
            first = batch.deltas[0]
            what = first.key if first.key.name else first.type
            log.info("%s: worked on for %.2f s while %d deltas wait", what, seconds, len(self))


def deltas_after(last: Entry | None, delta: Delta) -> Sequence[Delta]:
    """What to queue for a delta where `last` is the last known state of its key.

    A delta about another uid than the last one means that a delete was missed.
    """
    if not are_different_objects(last, delta.entry):
        return (delta,)
    if delta.type is DeltaType.DELETED:
        # The one that is gone was never queued: what ends here is the object before it.
        return (missed_delete(delta.key, last),)
    return (
        missed_delete(delta.key, last, is_recreation=True),
        msgspec.structs.replace(delta, is_recreation=True),
    )


# Work that takes longer while others wait is worth a line in the log (a batch: for each delta).
SLOW = 0.1
SLOWEST = 1.0
CROWDED = 10
