"""Runs a reflector and works on what it brings (client-go: `cache.Controller`).

Promises: what is queued is worked on in order, one batch at a time; work that fails is
logged and tried again after a second, and nothing behind it overtakes. When it ends, the
reflector has ended and the queue is closed.
Elsewhere: the work itself (`applying`), handlers (`informer`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Protocol, final

import msgspec

from kubeloop.kit import MAX_BLOCK, Clock, TaskOwner, Yielder
from kubeloop.wire import get_logger

from .delta_queue import DeltaQueue, Process, QueueStats
from .entry import Delta
from .errors import QueueClosed, Requeue
from .metrics import NO_METER, Meter

__all__ = ["BATCH", "Controller", "ControllerStats", "DeltaProducer"]

log = get_logger(__name__)

BATCH = 256  # a batch is worked on without a pause: no more than take a few milliseconds
FIRST_BATCH = 16  # before it is known how long they take: an index function may need one for each
AGAIN = 1.0  # seconds


class DeltaProducer(Protocol):
    """What fills the queue; a `Reflector` fits."""

    @property
    def last_sync_version(self) -> str: ...
    async def run(self) -> None: ...


class ControllerStats(msgspec.Struct, frozen=True):
    """What was worked on."""

    queue: QueueStats
    batches: int
    failures: int


@final
class Controller:
    """Fills `queue` from `reflector` and empties it into `process` while `run()` runs.

    `after_batch` is called when a batch counts as worked on.
    """

    def __init__(
        self,
        reflector: DeltaProducer,
        queue: DeltaQueue,
        process: Process,
        *,
        clock: Clock,
        after_batch: Callable[[], None] | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        self._reflector = reflector
        self._queue = queue
        self._process = process
        self._clock = clock
        self._after_batch = after_batch
        self._meter = meter
        self._batches = self._failures = 0
        self._at_most = FIRST_BATCH

    async def run(self) -> None:
        """Mirror and work until cancelled; then the queue is closed."""
        try:
            async with TaskOwner() as tasks:
                tasks.spawn(self._reflector.run(), name=f"reflector of {self!r}")
                await self._work()
        finally:
            self._queue.close()

    @property
    def has_synced(self) -> bool:
        """Whether the first list has been worked on."""
        return self._queue.has_synced

    @property
    def last_sync_version(self) -> str:
        """The version up to which everything was queued; empty before the first list."""
        return self._reflector.last_sync_version

    def stats(self) -> ControllerStats:
        return ControllerStats(self._queue.stats(), self._batches, self._failures)

    async def _work(self) -> None:
        yielder = Yielder()
        while True:
            try:
                await self._queue.pop(self._try, at_most=self._at_most)
            except QueueClosed:
                return
            except Exception:
                self._failures += 1
                log.exception("deltas could not be worked on, to be tried again")
                await self._clock.sleep(AGAIN)
            else:
                if self._after_batch is not None:
                    self._after_batch()
            if yielder.is_due():
                await yielder.yield_to_loop()

    async def _try(self, deltas: Sequence[Delta], is_initial: bool) -> None:  # noqa: FBT001
        began = self._clock.now()
        self._meter.set_queued(len(self._queue))
        held = perf_counter()
        try:
            work: Awaitable[None] | None = self._process(deltas, is_initial)
            if work is not None:
                await work
            else:
                self._learn_size(len(deltas), perf_counter() - held)
        except Exception as error:
            raise Requeue from error
        self._batches += 1
        self._meter.observe_processing(self._clock.now() - began)

    def _learn_size(self, count: int, seconds: float) -> None:
        """So many deltas held the loop so long: take as many as it may be held for."""
        fitting = int(count * MAX_BLOCK / seconds) if seconds else BATCH
        self._at_most = min(max(fitting, 1), BATCH)
