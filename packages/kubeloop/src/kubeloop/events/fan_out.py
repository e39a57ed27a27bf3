"""Distributes one stream of events to many watchers, each with its own queue.

Guarantees: `offer` never waits; each watcher gets copies of the events that were offered after
it was created, in order; an event that finds a queue full is dropped and counted. After
`close()` the watchers still get what was accepted.
Threads: `offer` is thread-safe, everything else belongs to the event loop's thread; until
there is a loop, `distribute` is thread-safe as well.
See also: `recorder` (creates events), `broadcaster` (runs the watchers).
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, Literal, TypeAlias, TypeVar, final

import msgspec

__all__ = ["BroadcastStats", "EventWatcher", "FanOut", "FullQueuePolicy", "WatcherStats"]

E = TypeVar("E")

FullQueuePolicy: TypeAlias = Literal["drop", "wait"]
"""What happens to an event that finds a watcher's queue full: that watcher misses it, or all
watchers wait until the queue has space, and new events are dropped when the incoming queue is
full as well (client-go: `DropIfChannelFull`, `WaitIfChannelFull`)."""


class WatcherStats(msgspec.Struct, frozen=True):
    """A snapshot of a watcher."""

    waiting: int  # in its queue
    taken: int
    dropped: int  # found its queue full


class BroadcastStats(msgspec.Struct, frozen=True):
    """A snapshot of the events that were offered."""

    accepted: int
    dropped: int  # found the incoming queue full, or the broadcast closed
    waiting: int  # accepted, and not yet in the queues of the watchers
    watchers: tuple[WatcherStats, ...]


@final
class EventWatcher(Generic[E]):
    """The events since it was created: `async for event in watcher`, until either side ends.

    Safe to cancel: no event is lost.
    """

    def __init__(self, limit: int, since: int, on_space: Callable[[], None]) -> None:
        self._limit = limit
        self._since = since
        self._on_space = on_space
        self._queue: deque[E] = deque()
        self._filled = asyncio.Event()  # set at the end as well
        self._open = True
        self._taken = 0
        self._dropped = 0

    def __aiter__(self) -> EventWatcher[E]:
        return self

    async def __anext__(self) -> E:
        while not self._queue:
            if not self._open:
                raise StopAsyncIteration
            self._filled.clear()
            await self._filled.wait()
        return self._take()

    def get_nowait(self) -> E | None:
        """The next event; None if there is none now."""
        return self._take() if self._queue else None

    def stop(self) -> None:
        """Accept no more events; those in the queue can still be read."""
        self._open = False
        self._filled.set()
        self._on_space()  # the other watchers need not wait for this one

    def stats(self) -> WatcherStats:
        return WatcherStats(len(self._queue), self._taken, self._dropped)

    @property
    def is_open(self) -> bool:
        """Whether it still accepts events."""
        return self._open

    def _take(self) -> E:
        event = self._queue.popleft()
        self._taken += 1
        self._on_space()
        return copy.deepcopy(event)  # mutable, and shared with the other watchers

    def _accepts(self, serial: int) -> bool:
        return self._open and serial >= self._since

    def _is_full(self) -> bool:
        return len(self._queue) >= self._limit

    def _put(self, event: E) -> None:
        if self._is_full():
            self._dropped += 1
            return
        self._queue.append(event)
        self._filled.set()


@final
class FanOut(Generic[E]):
    """The incoming queue and the watchers (client-go: `watch.Broadcaster`)."""

    def __init__(
        self, *, queue: int, watcher_queue: int, when_full: FullQueuePolicy = "drop"
    ) -> None:
        self._limit = queue
        self._watcher_limit = watcher_queue
        self._when_full = when_full
        # Guards the attributes below: until there is a loop, the thread that offers distributes.
        self._lock = threading.RLock()
        self._incoming: deque[tuple[int, E]] = deque()
        self._serial = 0
        self._open = True
        self._dropped = 0
        self._watchers: list[EventWatcher[E]] = []

    @property
    def is_open(self) -> bool:
        return self._open

    def offer(self, event: E) -> bool:
        """Accept an event for `distribute()`; False if it was dropped instead."""
        with self._lock:
            if not self._open or len(self._incoming) >= self._limit:
                self._dropped += 1
                return False
            self._incoming.append((self._serial, event))
            self._serial += 1
            return True

    def watch(self) -> EventWatcher[E]:
        """A watcher of all events that are offered from now on."""
        with self._lock:
            watcher: EventWatcher[E] = EventWatcher(
                self._watcher_limit, self._serial, self.distribute
            )
            if self._open:
                self._watchers.append(watcher)
            else:
                watcher.stop()
            return watcher

    def distribute(self) -> None:
        """Move incoming events to the watchers, as far as their queues have space."""
        with self._lock:
            self._watchers = [watcher for watcher in self._watchers if watcher.is_open]
            while self._incoming and self._put_all(*self._incoming[0]):
                self._incoming.popleft()
            if not self._open and not self._incoming:
                self.end()

    def close(self) -> None:
        """Accept no more; watchers end after the events that were accepted."""
        with self._lock:
            self._open = False
        self.distribute()

    def end(self) -> None:
        """Close, drop what was not distributed, and end the watchers."""
        with self._lock:
            self._open = False
            self._incoming.clear()
            watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            watcher.stop()

    def stats(self) -> BroadcastStats:
        return BroadcastStats(
            accepted=self._serial,
            dropped=self._dropped,
            waiting=len(self._incoming),
            watchers=tuple(watcher.stats() for watcher in self._watchers),
        )

    def _put_all(self, serial: int, event: E) -> bool:
        watchers = [watcher for watcher in self._watchers if watcher._accepts(serial)]
        if self._when_full == "wait" and any(watcher._is_full() for watcher in watchers):
            return False
        for watcher in watchers:
            watcher._put(event)
        return True
