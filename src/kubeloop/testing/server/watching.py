"""Delivers changes to watches: each event is encoded once, each queue is bounded.

It has the role of kube-apiserver's watch cache and its cacheWatchers.

Guarantees: a watcher gets every change after its start that matches its selection, in order,
or its stream ends; an object that leaves the selection is a DELETED event, one that enters it
an ADDED event; a watcher that reads too slowly is closed, so memory stays bounded.
See also: `serving.streaming` (sending the events), `storage.store` (the changes).
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, final

import msgspec

from .representations.representation import Representation
from .statuses import StatusError, expired, too_large_version
from .storage.selection import Selection
from .storage.store import Change, Entry, Storage, Store, encoded, entry_of

__all__ = ["Hub", "HubStats", "WatchStart", "Watcher", "error_event", "event_bytes"]

QUEUE = 10_000  # events that may be queued for one watcher
INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]

_OPENINGS = {
    name: b'{"type":"%s","object":' % name.encode()
    for name in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}


def event_bytes(kind: EventType, obj: bytes) -> bytes:
    """One event, as one line of the stream."""
    return _OPENINGS[kind] + obj + b"}\n"


class WatchStart(msgspec.Struct, frozen=True):
    """Where a watch starts, and which events it gets besides changes."""

    version: int | None = None  # None: the latest
    initial_events: bool = True  # whether existing objects are sent first, as ADDED
    end_of_initial_events: bool = False  # whether a bookmark ends them (WatchList)
    bookmarks: bool = False


# The encoded event of one change, by representation and type: shared by all watchers.
_Memo: TypeAlias = dict[tuple[object, str], bytes]


@final
class Watcher:
    """One stream of events; its sender calls `take` and `wait`."""

    def __init__(
        self, selection: Selection, form: Representation, *, limit: int, bookmarks: bool
    ) -> None:
        self.selection = selection
        self.form = form
        self.bookmarks = bookmarks
        self.after = 0  # the watcher gets changes after this version
        self.ended = False  # no more events follow: the stream closes
        self.cut_off = False  # it ended because its client was too slow
        # Breaks the connection: the sender may be blocked by a client that never reads.
        self.on_cut_off: Callable[[], None] | None = None
        self.initial: Iterator[bytes] | None = None
        self._queue: deque[bytes] = deque()
        self._limit = limit
        self._waiter: asyncio.Future[None] | None = None
        self._columns_sent = False

    def offer(self, change: Change, memo: _Memo) -> None:
        """Queue the event of a change, if it matches the selection."""
        if change.version <= self.after:
            return
        event = self.event_of(change, memo)
        if event is not None:
            self.push(event)

    def push(self, event: bytes) -> None:
        """Queue one event; a watcher with a full queue is cut off."""
        if self.ended:
            return
        if len(self._queue) >= self._limit:
            # kube-apiserver, too, closes a slow watch instead of blocking the others.
            self.cut_off = True
            self._queue.clear()
            self.end()
            if self.on_cut_off is not None:
                self.on_cut_off()
            return
        self._queue.append(event)
        self._wake()

    def end(self) -> None:
        """Close the stream after the queued events."""
        self.ended = True
        self._wake()

    def take(self, most: int = 512) -> list[bytes]:
        """Up to `most` queued events, without waiting; the initial ones first."""
        if self.initial is not None:
            batch = list(itertools.islice(self.initial, most))
            if len(batch) == most:
                return batch
            self.initial = None
            if batch:
                return batch
        queue = self._queue
        if len(queue) <= most:
            batch = list(queue)
            queue.clear()
            return batch
        return [queue.popleft() for _ in range(most)]

    async def wait(self) -> None:
        """Wait until an event is queued or the stream ended. Cancelling loses no event."""
        if self._queue or self.ended or self.initial is not None:
            return
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    @property
    def waiting(self) -> int:
        """The number of queued events."""
        return len(self._queue)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def event_of(self, change: Change, memo: _Memo) -> bytes | None:
        """The event of a change for this watcher; None if the change does not match."""
        old, new = change.old, change.new
        select = self.selection
        matched = old is not None and select.selects(old)
        if new is not None and select.selects(new):
            return self._event("MODIFIED" if matched else "ADDED", new, memo)
        if not matched:
            return None
        if change.last is not None:
            return self._event("DELETED", change.last, memo)
        return self._deselected(change, memo)

    def _deselected(self, change: Change, memo: _Memo) -> bytes:
        """An object that left the selection: DELETED with its old state and the new version."""
        key = (self.form.cache_key, "deselected")
        found = memo.get(key)
        if found is None:
            assert change.old is not None
            former = entry_of(change.old.obj, change.version)
            found = memo[key] = event_bytes("DELETED", self.form.encode_object(former))
        return found

    def _event(self, kind: EventType, entry: Entry, memo: _Memo) -> bytes:
        if self.form.kind == "Table":
            return self._row(kind, entry)
        key = (self.form.cache_key, kind)
        found = memo.get(key)
        if found is None:
            found = memo[key] = event_bytes(kind, self.form.encode_object(entry))
        return found

    def _row(self, kind: EventType, entry: Entry) -> bytes:
        # Only the first event of a stream has the column definitions, as kubectl expects.
        table = self.form.table([entry.obj], columns=not self._columns_sent)
        self._columns_sent = True
        return event_bytes(kind, encoded(table))

    def initial_events(self, entries: list[Entry]) -> Iterator[bytes]:
        """Existing objects as ADDED events, encoded while they are sent."""
        memo: _Memo = {}
        for entry in entries:
            memo.clear()
            yield self._event("ADDED", entry, memo)


class HubStats(msgspec.Struct, frozen=True):
    """The open watches."""

    watchers: int
    waiting: int  # queued events of all watchers
    cut_off: int  # watchers that were too slow, since the start


@final
class Hub:
    """All open watches; passes each change of the store to those of its collection."""

    def __init__(self, store: Store, *, queue: int = QUEUE) -> None:
        self._store = store
        self._queue = queue
        self._watchers: dict[Storage, set[Watcher]] = {}
        self._cut_off = 0
        store.subscribe(self._publish)

    def open(self, selection: Selection, form: Representation, start: WatchStart) -> Watcher:
        """Start a watch; the caller ends it with `close`.

        Raises:
            StatusError: 410 for a version that is compacted, 504 for a version in the future
                if initial events are requested.
        """
        watcher = Watcher(selection, form, limit=self._queue, bookmarks=start.bookmarks)
        if start.initial_events:
            self._start_with_state(watcher, start)
        else:
            self._start_at_version(watcher, start)
        self._watchers.setdefault(form.served.storage, set()).add(watcher)
        return watcher

    def close(self, watcher: Watcher) -> None:
        """Remove a watcher; idempotent."""
        watchers = self._watchers.get(watcher.form.served.storage, set())
        if watcher in watchers:
            watchers.discard(watcher)
            self._cut_off += watcher.cut_off

    def end_all(self, storage: Storage | None = None) -> None:
        """End every stream, or those of one collection."""
        for found, watchers in self._watchers.items():
            if storage in {None, found}:
                for watcher in list(watchers):
                    watcher.end()

    def bookmark(self) -> None:
        """Send a bookmark to every watch with allowWatchBookmarks."""
        for watchers in self._watchers.values():
            for watcher in watchers:
                # A stream that still sends initial events has not reached this version.
                if watcher.bookmarks and watcher.initial is None:
                    watcher.push(self.bookmark_for(watcher))

    def bookmark_for(self, watcher: Watcher) -> bytes:
        version = max(self._store.version, watcher.after)
        return event_bytes("BOOKMARK", watcher.form.encode_bookmark(version))

    def stats(self) -> HubStats:
        every = [each for found in self._watchers.values() for each in found]
        return HubStats(
            watchers=len(every),
            waiting=sum(each.waiting for each in every),
            cut_off=self._cut_off,
        )

    def _start_with_state(self, watcher: Watcher, start: WatchStart) -> None:
        current = self._store.version
        if start.version is not None and start.version > current:
            raise too_large_version(start.version, current)
        collection = self._store.collection(watcher.form.served.storage)
        select = watcher.selection
        entries = collection.select(select.namespace)
        if not select.everything:
            entries = [entry for entry in entries if select.matches(entry)]
        watcher.after = current
        watcher.initial = watcher.initial_events(entries)
        if start.end_of_initial_events and start.bookmarks:
            watcher.initial = _with_end_bookmark(watcher.initial, watcher, current)

    def _start_at_version(self, watcher: Watcher, start: WatchStart) -> None:
        version = self._store.version if start.version is None else start.version
        watcher.after = version
        collection = self._store.collection(watcher.form.served.storage)
        changes = collection.since(version)
        if changes is None:
            raise expired(f"too old resource version: {version} ({collection.floor})")
        watcher.initial = _events_of(watcher, changes)

    def _publish(self, change: Change) -> None:
        watchers = self._watchers.get(change.storage)
        if watchers:
            memo: _Memo = {}
            for watcher in watchers:
                watcher.offer(change, memo)


def _with_end_bookmark(events: Iterator[bytes], watcher: Watcher, version: int) -> Iterator[bytes]:
    yield from events
    yield event_bytes(
        "BOOKMARK", watcher.form.encode_bookmark(version, annotations=INITIAL_EVENTS_END)
    )


def _events_of(watcher: Watcher, changes: list[Change]) -> Iterator[bytes]:
    for change in changes:
        event = watcher.event_of(change, {})
        if event is not None:
            yield event


def error_event(error: StatusError) -> bytes:
    """An error within a stream: an ERROR event with the Status."""
    return event_bytes("ERROR", encoded(error.status))
