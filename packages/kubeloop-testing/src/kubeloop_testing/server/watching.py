"""Delivers changes to watches: each event is encoded once, each queue is bounded.

It has the role of kube-apiserver's watch cache and its cacheWatchers. A change is compared once
with each distinct selection in its namespace, however many watches have that selection. All
events of one iteration of the event loop are handed to a watch's sink together; watches with the
same events share the bytes.

Guarantees: a watcher gets every change after its start that matches its selection, in order,
or its stream ends; an object that leaves the selection is a DELETED event, one that enters it
an ADDED event; a watcher that reads too slowly is closed, so memory stays bounded.
See also: `serving.streaming` (sending the events), `storage.store` (the changes).
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias, final

import msgspec

from kubeloop.wire.protobuf_writing import to_protobuf, watch_frame

from .representations.representation import Representation
from .statuses import StatusError, expired, too_large_version
from .storage.selection import Selection
from .storage.store import Change, Entry, Storage, Store, encoded, entry_of

__all__ = ["Hub", "HubStats", "Sink", "WatchStart", "Watcher", "error_event", "event_bytes"]

QUEUE = 10_000  # events that may be queued for one watcher
INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]

_OPENINGS = {
    name: b'{"type":"%s","object":' % name.encode()
    for name in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}


def event_bytes(kind: EventType, obj: bytes, *, is_protobuf: bool = False) -> bytes:
    """One event with its object, which is JSON: one line of the stream, or one frame."""
    if is_protobuf:
        return watch_frame(kind, to_protobuf(msgspec.json.decode(obj)))
    return _OPENINGS[kind] + obj + b"}\n"


class WatchStart(msgspec.Struct, frozen=True):
    """Where a watch starts, and which events it gets besides changes."""

    version: int | None = None  # None: the latest
    initial_events: bool = True  # whether existing objects are sent first, as ADDED
    end_of_initial_events: bool = False  # whether a bookmark ends them (WatchList)
    bookmarks: bool = False


# The encoded event of one change, by representation and type: shared by all watchers.
_Memo: TypeAlias = dict[tuple[object, str], bytes]

# Events that follow each other, as one part of a stream: shared by all watchers that get the same.
_Chunks: TypeAlias = dict[tuple[bytes, ...], bytes]

# Sends a chunk at once; False if it cannot now, and then the events stay queued.
Sink: TypeAlias = Callable[[bytes], bool]


def chunk_of(events: Iterable[bytes]) -> bytes:
    """Events as one chunk of a response with `Transfer-Encoding: chunked` (RFC 9112, 7.1)."""
    data = b"".join(events)
    return b"%x\r\n%b\r\n" % (len(data), data)


@final
class Watcher:
    """One stream of events; its sender calls `take` and `wait`.

    While the sender waits with a sink, the hub passes events to the sink and does not wake the
    sender: with many watches that is most of the cost of an event.
    """

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
        self._sink: Sink | None = None  # while the sender waits
        self._columns_sent = False

    @property
    def group(self) -> tuple[object, ...]:
        """Equal for watchers that get the same event for every change."""
        # Only the first row of a Table's stream has columns, so each stream is encoded by itself.
        form = self if self.form.kind == "Table" else self.form.cache_key
        return (self.selection.labels, self.selection.fields, form)

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
        if self._sink is None:
            self._wake()

    def flush(self, chunks: _Chunks) -> None:
        """Pass the queued events to the sink; wake the sender if there is none, or it refuses."""
        queue, sink = self._queue, self._sink
        if not queue:
            return
        if sink is not None:
            events = tuple(queue)
            data = chunks.get(events)
            if data is None:
                data = chunks[events] = chunk_of(events)
            if sink(data):
                queue.clear()
                return
            self._sink = None
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

    async def wait(self, sink: Sink | None = None) -> None:
        """Wait until an event is queued that `sink` did not take, or the stream ended.

        Cancelling loses no event.
        """
        if self._queue or self.ended or self.initial is not None:
            return
        self._waiter = asyncio.get_running_loop().create_future()
        self._sink = sink
        try:
            await self._waiter
        finally:
            self._waiter = self._sink = None

    @property
    def has_sink(self) -> bool:
        return self._sink is not None

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
            found = memo[key] = self._encode("DELETED", self.form.encode_object(former))
        return found

    def _event(self, kind: EventType, entry: Entry, memo: _Memo) -> bytes:
        if self.form.kind == "Table":
            return self._row(kind, entry)
        key = (self.form.cache_key, kind)
        found = memo.get(key)
        if found is None:
            found = memo[key] = (
                watch_frame(kind, self.form.encode_envelope(entry))
                if self.form.is_protobuf
                else event_bytes(kind, self.form.encode_object(entry))
            )
        return found

    def _encode(self, kind: EventType, obj: bytes) -> bytes:
        return event_bytes(kind, obj, is_protobuf=self.form.is_protobuf)

    def bookmark(self, version: int, *, annotations: dict[str, str] | None = None) -> bytes:
        """A bookmark at a version."""
        return self._encode("BOOKMARK", self.form.encode_bookmark(version, annotations=annotations))

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


_Groups: TypeAlias = dict[tuple[object, ...], dict[Watcher, None]]  # by `Watcher.group`


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
        # By collection, and by namespace ("" for all): a change of another is not seen at all.
        self._groups: dict[Storage, dict[str, _Groups]] = {}
        self._changed: dict[Watcher, None] = {}  # they have events for the next flush
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
        groups = self._groups.setdefault(form.served.storage, {})
        groups.setdefault(selection.namespace, {}).setdefault(watcher.group, {})[watcher] = None
        return watcher

    def close(self, watcher: Watcher) -> None:
        """Remove a watcher; idempotent."""
        by_namespace = self._groups.get(watcher.form.served.storage, {})
        groups = by_namespace.get(watcher.selection.namespace, {})
        watchers = groups.get(watcher.group, {})
        if watcher in watchers:
            del watchers[watcher]
            self._cut_off += watcher.cut_off
        if not watchers:
            groups.pop(watcher.group, None)

    def end_all(self, storage: Storage | None = None) -> None:
        """End every stream, or those of one collection."""
        for watcher in list(self._watchers(storage)):
            watcher.end()

    def bookmark(self) -> None:
        """Send a bookmark to every watch with allowWatchBookmarks."""
        for watcher in self._watchers():
            self.send_bookmark(watcher)

    def send_bookmark(self, watcher: Watcher) -> None:
        """Send a bookmark to one watch with allowWatchBookmarks, if anything was written."""
        version = self._store.version
        # A stream that still sends initial events has not reached this version, and one that
        # began at this version knows it.
        if watcher.bookmarks and watcher.initial is None and version > watcher.after:
            self._push(watcher, watcher.bookmark(version))

    def stats(self) -> HubStats:
        every = list(self._watchers())
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

    def _watchers(self, storage: Storage | None = None) -> Iterator[Watcher]:
        for found, by_namespace in self._groups.items():
            if storage in {None, found}:
                for groups in by_namespace.values():
                    for watchers in groups.values():
                        yield from watchers

    def _publish(self, change: Change) -> None:
        by_namespace = self._groups.get(change.storage)
        if not by_namespace:
            return
        memo: _Memo = {}
        self._publish_to(by_namespace.get("", {}), change, memo)
        # Keys of cluster-scoped objects have no slash, and no namespace is watched for them.
        namespace, slash, _ = change.key.partition("/")
        if slash:
            self._publish_to(by_namespace.get(namespace, {}), change, memo)

    def _publish_to(self, groups: _Groups, change: Change, memo: _Memo) -> None:
        for watchers in groups.values():
            event: bytes | None = None
            is_encoded = False
            for watcher in watchers:
                if change.version <= watcher.after:
                    continue
                if not is_encoded:
                    event, is_encoded = watcher.event_of(change, memo), True
                if event is None:
                    break
                self._push(watcher, event)

    def _push(self, watcher: Watcher, event: bytes) -> None:
        watcher.push(event)
        if watcher.has_sink:
            if not self._changed:
                # Changes that follow within this iteration of the event loop go with it.
                asyncio.get_running_loop().call_soon(self._flush)
            self._changed[watcher] = None

    def _flush(self) -> None:
        changed, self._changed = self._changed, {}
        chunks: _Chunks = {}
        for watcher in changed:
            watcher.flush(chunks)


def _with_end_bookmark(events: Iterator[bytes], watcher: Watcher, version: int) -> Iterator[bytes]:
    yield from events
    yield watcher.bookmark(version, annotations=INITIAL_EVENTS_END)


def _events_of(watcher: Watcher, changes: list[Change]) -> Iterator[bytes]:
    for change in changes:
        event = watcher.event_of(change, {})
        if event is not None:
            yield event


def error_event(error: StatusError, *, is_protobuf: bool = False) -> bytes:
    """An error within a stream: an ERROR event with the Status."""
    return event_bytes("ERROR", encoded(error.status), is_protobuf=is_protobuf)
