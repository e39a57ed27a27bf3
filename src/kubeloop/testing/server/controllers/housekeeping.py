"""What goes on behind the requests: definitions, dependents, ending namespaces, bookmarks.

Promises: what a write brings about besides itself happens soon after it, in order; one
bad object does not stop the rest.
Elsewhere: each sort of work (`definitions`, `gc`, `namespaces`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol, final

from kubeloop.kit import Clock

from ..storage.store import Change, Store
from ..watching import Hub

__all__ = ["BookmarkTicker", "Housekeeper", "Worker"]

log = logging.getLogger(__name__)

BOOKMARK_PERIOD = 60.0


class Worker(Protocol):
    """One sort of work: noted when something changes, done later."""

    @property
    def busy(self) -> bool: ...
    def observe(self, change: Change) -> None: ...
    def work(self) -> None: ...


@final
class Housekeeper:
    """Lets the workers see every change, and work."""

    def __init__(self, store: Store, workers: Sequence[Worker]) -> None:
        self._workers = tuple(workers)
        self._wake = asyncio.Event()
        store.listeners.append(self._observe)

    def work(self) -> None:
        """Work until nothing is left to do."""
        while busy := [each for each in self._workers if each.busy]:
            for worker in busy:
                try:
                    worker.work()
                except Exception:  # one bad object must not stop the rest
                    log.exception("%s: work was lost", type(worker).__name__)

    async def run(self) -> None:
        """Work whenever there is something to do, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self.work()

    def _observe(self, change: Change) -> None:
        for worker in self._workers:
            worker.observe(change)
            if worker.busy:
                self._wake.set()


@final
class BookmarkTicker:
    """Sends bookmarks from time to time."""

    def __init__(self, hub: Hub, *, clock: Clock, period: float = BOOKMARK_PERIOD) -> None:
        self._hub = hub
        self._clock = clock
        self._period = period

    async def run(self) -> None:
        """Send bookmarks until cancelled."""
        while True:
            await self._clock.sleep(self._period)
            self._hub.bookmark()
