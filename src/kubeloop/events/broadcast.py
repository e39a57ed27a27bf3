"""One stream of events handed to many watchers, each with a queue of its own.

Promises: offering an event never waits; each watcher gets the events that were offered
after it came, in their order, as objects of its own; what does not fit is dropped and
counted, the newest first. When it closes, watchers still get what was accepted.
Threads: `offer` may be called from any thread, everything else from the event loop's; while
there is none yet, `pump` as well.
Elsewhere: who makes events (`recorder`), who runs the watchers (`broadcaster`).
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, Literal, TypeAlias, TypeVar, final

import msgspec

__all__ = ["Broadcast", "BroadcastStats", "EventWatcher", "WatcherStats", "WhenFull"]

E = TypeVar("E")

WhenFull: TypeAlias = Literal["drop", "wait"]
"""What becomes of an event that finds a watcher's queue full: that watcher misses it, or
all wait until there is room (and further events are dropped where they come in)."""


class WatcherStats(msgspec.Struct, frozen=True):
    """How far a watcher has come."""

    waiting: int  # in its queue
    taken: int
    dropped: int  # found its queue full


class BroadcastStats(msgspec.Struct, frozen=True):
    """What was offered so far, and what became of it."""

    accepted: int
    dropped: int  # found the incoming queue full, or the broadcast closed
    waiting: int  # accepted and not yet handed to the watchers
    watchers: tuple[WatcherStats, ...]


@final
class EventWatcher(Generic[E]):
    """The events since it came: `async for event in watcher`, until it or the broadcast ends.

    Taking an event is safe to cancel: none is lost.
    """

    def __init__(self, limit: int, since: int, on_room: Callable[[], None]) -> None:
        self._limit = limit
        self._since = since
        self._on_room = on_room
        self._queue: deque[E] = deque()
        self._filled = asyncio.Event()  # set as well when nothing more will come
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
        """The next event, or None while there is none."""
        return self._take() if self._queue else None

    def stop(self) -> None:
        """Take no more; what is in the queue can still be had."""
        self._open = False
        self._filled.set()
        self._on_room()  # the others need not wait for this one any more

    def stats(self) -> WatcherStats:
        return WatcherStats(len(self._queue), self._taken, self._dropped)

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._open

    def _take(self) -> E:
        event = self._queue.popleft()
        self._taken += 1
        self._on_room()
        return copy.deepcopy(event)  # events can be changed, and the other watchers have it too

    def _wants(self, serial: int) -> bool:
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
class Broadcast(Generic[E]):
    """The incoming queue and the watchers behind it."""

    def __init__(self, *, queue: int, watcher_queue: int, when_full: WhenFull = "drop") -> None:
        self._limit = queue
        self._watcher_limit = watcher_queue
        self._when_full = when_full
        # Guards what follows: before there is a loop, whichever thread offers also hands on.
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
        """Accept an event, to be handed on by `pump`; False when it was dropped instead."""
        with self._lock:
            if not self._open or len(self._incoming) >= self._limit:
                self._dropped += 1
                return False
            self._incoming.append((self._serial, event))
            self._serial += 1
            return True

    def watch(self) -> EventWatcher[E]:
        """A watcher of everything that is offered from now on."""
        with self._lock:
            watcher: EventWatcher[E] = EventWatcher(self._watcher_limit, self._serial, self.pump)
            if self._open:
                self._watchers.append(watcher)
            else:
                watcher.stop()
            return watcher

    def pump(self) -> None:
        """Hand on what has come in, as far as there is room."""
        with self._lock:
            self._watchers = [watcher for watcher in self._watchers if watcher.is_open]
            while self._incoming and self._hand_on(*self._incoming[0]):
                self._incoming.popleft()
            if not self._open and not self._incoming:
                self.end()

    def close(self) -> None:
        """Accept no more; watchers end once they have had what was accepted."""
        with self._lock:
            self._open = False
        self.pump()

    def end(self) -> None:
        """Close, and let the watchers end whatever is still to be handed on."""
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

    def _hand_on(self, serial: int, event: E) -> bool:
        wanting = [watcher for watcher in self._watchers if watcher._wants(serial)]
        if self._when_full == "wait" and any(watcher._is_full() for watcher in wanting):
            return False
        for watcher in wanting:
            watcher._put(event)
        return True
