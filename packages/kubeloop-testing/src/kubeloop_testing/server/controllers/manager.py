"""Runs the controllers of the server, and the ticker of bookmarks.

It has the role of kube-controller-manager for the few controllers that the API itself needs.

Guarantees: the effects of a write (garbage collection, served CRDs, terminated namespaces)
follow soon after it, in order; an error in one controller does not stop the others.
See also: `definitions`, `flow_schemas`, `gc`, `namespaces`, `protection` (the controllers).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol, final

from kubeloop.kit import Clock

from ..storage.store import Change, Storage, Store
from ..watching import Hub

__all__ = ["BookmarkTicker", "Controller", "ControllerManager"]

log = logging.getLogger(__name__)

BOOKMARK_PERIOD = 60.0  # the watch cache of kube-apiserver sends one about every minute


class Controller(Protocol):
    """Queues what a change makes necessary, and does it later."""

    @property
    def collections(self) -> frozenset[Storage] | None:
        """The collections whose changes it observes; None for all."""
        ...

    @property
    def observes_deletions(self) -> bool:
        """Whether it observes deletions in all collections."""
        ...

    @property
    def busy(self) -> bool:
        """Whether work is queued."""
        ...

    def observe(self, change: Change) -> bool:
        """Queue the work of a change; returns whether work is queued."""
        ...

    def work(self) -> None:
        """Do all queued work."""
        ...


@final
class ControllerManager:
    """Passes each change to the controllers that observe it, and runs them."""

    def __init__(self, store: Store, controllers: Sequence[Controller]) -> None:
        self._controllers = tuple(controllers)
        # The controllers for the changes of a collection, without and with deletions.
        self._observers: dict[tuple[Storage, bool], tuple[Controller, ...]] = {}
        self._wake = asyncio.Event()
        store.subscribe(self._observe)

    def work(self) -> None:
        """Run the controllers until none has work: one may queue work for another."""
        while busy := [each for each in self._controllers if each.busy]:
            for controller in busy:
                try:
                    controller.work()
                except Exception:  # one bad object must not stop the rest
                    log.exception(
                        "%s: failed, its current object is skipped", type(controller).__name__
                    )

    async def run(self) -> None:
        """Run the controllers whenever they have work, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self.work()

    def _observe(self, change: Change) -> None:
        key = change.storage, change.new is None
        observers = self._observers.get(key)
        if observers is None:
            observers = self._observers[key] = self._find_observers(change)
        for controller in observers:
            if controller.observe(change):
                self._wake.set()

    def _find_observers(self, change: Change) -> tuple[Controller, ...]:
        return tuple(
            each
            for each in self._controllers
            if each.collections is None
            or change.storage in each.collections
            or (change.new is None and each.observes_deletions)
        )


@final
class BookmarkTicker:
    """Sends bookmarks to all watches that allow them, once per period."""

    def __init__(self, hub: Hub, *, clock: Clock, period: float = BOOKMARK_PERIOD) -> None:
        self._hub = hub
        self._clock = clock
        self._period = period

    async def run(self) -> None:
        """Send bookmarks until cancelled."""
        while True:
            await self._clock.sleep(self._period)
            self._hub.bookmark()
