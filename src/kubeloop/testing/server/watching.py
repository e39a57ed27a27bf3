"""Tells watchers of changes: each event encoded once, each queue bounded.

Promises: a watcher sees every change after its start that concerns its selection, in
order, or its stream ends; an object that leaves the selection arrives as DELETED and one
that enters it as ADDED; one that reads too slowly is cut off, and the server's memory
stays bounded.
Elsewhere: how the events get to the client (`streaming`), what is stored (`store`).
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, final

import msgspec

from .representations.representation import Representation
from .statuses import Refusal, expired, too_large_version
from .storage.selection import Selection
from .storage.store import Change, Entry, Storage, Store, encoded, entry_of

__all__ = ["Hub", "HubStats", "WatchStart", "Watcher", "error_event", "event_bytes"]

QUEUE = 10_000  # events that may wait for one watcher
INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]

_OPENINGS = {
    name: b'{"type":"%s","object":' % name.encode()
    for name in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}


def event_bytes(kind: EventType, obj: bytes) -> bytes:
    """One event as it stands in the stream."""
    return _OPENINGS[kind] + obj + b"}\n"


class WatchStart(msgspec.Struct, frozen=True):
    """Where a watch begins and what it is told besides changes."""

    version: int | None = None  # None: the latest, whatever it is
    initial_events: bool = True  # whether what exists is told first
    end_of_initial_events: bool = False  # whether a bookmark closes them
    bookmarks: bool = False


_Memo: TypeAlias = dict[tuple[object, str], bytes]


@final
class Watcher:
    """One stream of events; `take` and `wait` are for whoever sends them."""

    def __init__(
        self, selection: Selection, form: Representation, *, limit: int, bookmarks: bool
    ) -> None:
        self.selection = selection
        self.form = form
        self.bookmarks = bookmarks
        self.after = 0  # changes up to this version are not for this watcher
        self.ended = False  # nothing more will come: the stream closes
        self.abort_connections = False  # it ended because its reader was too slow
        # Breaks the connection: whoever sends may wait for a reader that never reads.
        self.on_cut_off: Callable[[], None] | None = None
        self.initial: Iterator[bytes] | None = None
        self._queue: deque[bytes] = deque()
        self._limit = limit
        self._waiter: asyncio.Future[None] | None = None
        self._columns_sent = False

    def offer(self, change: Change, memo: _Memo) -> None:
        """Queue the change if it concerns this watcher."""
        if change.version <= self.after:
            return
        told = self._told(change, memo)
        if told is not None:
            self.push(told)

    def push(self, event: bytes) -> None:
        """Queue one event; beyond the limit the watcher is cut off."""
        if self.ended:
            return
        if len(self._queue) >= self._limit:
            self.abort_connections = True
            self._queue.clear()
            self.end()
            if self.on_cut_off is not None:
                self.on_cut_off()
            return
        self._queue.append(event)
        self._wake()

    def end(self) -> None:
        """Close the stream once what is queued is sent."""
        self.ended = True
        self._wake()

    def take(self, most: int = 512) -> list[bytes]:
        """Up to `most` events that wait, without waiting; what existed at the start first."""
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
        """Wait until something is queued or the stream ended. Safe to cancel."""
        if self._queue or self.ended or self.initial is not None:
            return
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    @property
    def waiting(self) -> int:
        """How many events wait to be sent."""
        return len(self._queue)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _told(self, change: Change, memo: _Memo) -> bytes | None:
        old, new = change.old, change.new
        select = self.selection
        was = old is not None and select.wants(old)
        is_in = new is not None and select.wants(new)
        if is_in:
            assert new is not None
            return self._event("MODIFIED" if was else "ADDED", new, memo)
        if not was:
            return None
        if change.last is not None:
            return self._event("DELETED", change.last, memo)
        return self._left(change, memo)

    def _left(self, change: Change, memo: _Memo) -> bytes:
        """An object that left the selection: its former state under the new version."""
        key = (self.form.cache_key, "left")
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
        # Only the first event of a stream carries the columns.
        table = self.form.table([entry.obj], columns=not self._columns_sent)
        self._columns_sent = True
        return event_bytes(kind, encoded(table))

    def told_initially(self, entries: list[Entry]) -> Iterator[bytes]:
        """What exists, as ADDED events, rendered while it is sent."""
        memo: _Memo = {}
        for entry in entries:
            memo.clear()
            yield self._event("ADDED", entry, memo)


class HubStats(msgspec.Struct, frozen=True):
    """Who watches."""

    watchers: int
    waiting: int  # events that wait to be sent, of all watchers
    abort_connections: int  # watchers that were too slow, so far


@final
class Hub:
    """Knows all watchers and hands each change of the store to those it concerns."""

    def __init__(self, store: Store, *, queue: int = QUEUE) -> None:
        self._store = store
        self._queue = queue
        self._watchers: dict[Storage, set[Watcher]] = {}
        self._cut_off = 0
        store.listeners.append(self._publish)

    def open(self, selection: Selection, form: Representation, start: WatchStart) -> Watcher:
        """Begin a watch; whoever opens it closes it with `close`.

        Raises:
            Refusal: 410 for a version older than the history, 504 for one that does not
                exist yet where the state at that version is asked for.
        """
        watcher = Watcher(selection, form, limit=self._queue, bookmarks=start.bookmarks)
        if start.initial_events:
            self._tell_state(watcher, start)
        else:
            self._tell_changes(watcher, start)
        self._watchers.setdefault(form.served.storage, set()).add(watcher)
        return watcher

    def close(self, watcher: Watcher) -> None:
        """Forget a watcher; closing twice is no matter."""
        watchers = self._watchers.get(watcher.form.served.storage, set())
        if watcher in watchers:
            watchers.discard(watcher)
            self._cut_off += watcher.abort_connections

    def end_all(self, storage: Storage | None = None) -> None:
        """End every stream, or those of one collection."""
        for found, watchers in self._watchers.items():
            if storage in {None, found}:
                for watcher in list(watchers):
                    watcher.end()

    def bookmark(self) -> None:
        """Send a bookmark to everyone who asked for them."""
        for watchers in self._watchers.values():
            for watcher in watchers:
                # A stream that still tells what existed has not reached this version.
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
            abort_connections=self._cut_off,
        )

    def _tell_state(self, watcher: Watcher, start: WatchStart) -> None:
        current = self._store.version
        if start.version is not None and start.version > current:
            raise too_large_version(start.version, current)
        collection = self._store.collection(watcher.form.served.storage)
        select = watcher.selection
        entries = collection.select(select.namespace)
        if not select.everything:
            entries = [entry for entry in entries if select.matches(entry)]
        watcher.after = current
        watcher.initial = watcher.told_initially(entries)
        if start.end_of_initial_events and start.bookmarks:
            watcher.initial = _closed(watcher.initial, watcher, current)

    def _tell_changes(self, watcher: Watcher, start: WatchStart) -> None:
        version = self._store.version if start.version is None else start.version
        watcher.after = version
        collection = self._store.collection(watcher.form.served.storage)
        changes = collection.since(version)
        if changes is None:
            raise expired(f"too old resource version: {version} ({collection.floor})")
        watcher.initial = _told(watcher, changes)

    def _publish(self, change: Change) -> None:
        watchers = self._watchers.get(change.storage)
        if watchers:
            memo: _Memo = {}
            for watcher in watchers:
                watcher.offer(change, memo)


def _closed(events: Iterator[bytes], watcher: Watcher, version: int) -> Iterator[bytes]:
    yield from events
    yield event_bytes(
        "BOOKMARK", watcher.form.encode_bookmark(version, annotations=INITIAL_EVENTS_END)
    )


def _told(watcher: Watcher, changes: list[Change]) -> Iterator[bytes]:
    for change in changes:
        event = watcher._told(change, {})
        if event is not None:
            yield event


def error_event(refusal: Refusal) -> bytes:
    """A refusal within a stream."""
    return event_bytes("ERROR", encoded(refusal.status))
