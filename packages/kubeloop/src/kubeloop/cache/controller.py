"""Runs a reflector and processes what it queues (client-go: `cache.Controller`).

Guarantees: deltas are processed in order, one batch at a time; a batch that fails is logged
and retried after a second, and none overtakes it. When `run()` ends, the reflector has ended
and the queue is closed.
See also: `informer` (processes deltas with it), `delta_queue` (the queue).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Protocol, final

import msgspec

from kubeloop.kit import MAX_BLOCK, Clock, SystemClock, TaskOwner, Yielder
from kubeloop.wire import get_logger

from .delta_queue import DeltaQueue, Process, QueueStats
from .entry import Delta
from .errors import QueueClosed, Requeue
from .metrics import NO_METER, Meter

__all__ = ["Controller", "ControllerStats", "DeltaProducer"]

log = get_logger(__name__)

MAX_BATCH = 256  # deltas; a batch is processed without yielding to the event loop
FIRST_BATCH = 16  # before it is known how long they take: index functions may be slow
RETRY_AFTER = 1.0  # seconds


class DeltaProducer(Protocol):
    """What fills the queue: a `Reflector` fits."""

    @property
    def last_sync_version(self) -> str: ...
    async def run(self) -> None: ...


class ControllerStats(msgspec.Struct, frozen=True):
    """What was processed."""

    queue: QueueStats
    batches: int
    failures: int


@final
class Controller:
    """Fills `queue` from `reflector` and empties it into `process` while `run()` runs.

    The arguments are the fields of client-go's `cache.Config`; those about lists and watches
    are arguments of `Reflector`. `process` is called with the deltas of a batch, and with
    whether they belong to the first list. `after_batch` is called after each batch that was
    processed.
    """

    def __init__(
        self,
        reflector: DeltaProducer,
        queue: DeltaQueue,
        process: Process,
        *,
        clock: Clock | None = None,
        after_batch: Callable[[], None] | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        self._reflector = reflector
        self._queue = queue
        self._process = process
        self._clock = clock or SystemClock()
        self._after_batch = after_batch
        self._meter = meter
        self._batches = self._failures = 0
        self._batch_size = FIRST_BATCH

    async def run(self) -> None:
        """Run the reflector and process deltas until cancelled; then the queue is closed."""
        try:
            async with TaskOwner() as tasks:
                tasks.spawn(self._reflector.run(), name=f"reflector of {self!r}")
                await self._process_deltas()
        finally:
            self._queue.close()

    @property
    def has_synced(self) -> bool:
        """Whether the first list has been processed."""
        return self._queue.has_synced

    @property
    def last_sync_version(self) -> str:
        """The version up to which everything was queued; empty before the first list."""
        return self._reflector.last_sync_version

    def stats(self) -> ControllerStats:
        return ControllerStats(self._queue.stats(), self._batches, self._failures)

    async def _process_deltas(self) -> None:
        yielder = Yielder()
        while True:
            try:
                await self._queue.pop(self._process_batch, at_most=self._batch_size)
            except QueueClosed:
                return
            except Exception:
                self._failures += 1
                log.exception("processing deltas failed, will retry in %g s", RETRY_AFTER)
                await self._clock.sleep(RETRY_AFTER)
            else:
                if self._after_batch is not None:
                    self._after_batch()
            if yielder.is_due():
                await yielder.yield_to_loop()

    async def _process_batch(self, deltas: Sequence[Delta], is_initial: bool) -> None:  # noqa: FBT001
        started, blocked_since = self._clock.now(), perf_counter()
        self._meter.set_queued(len(self._queue))
        try:
            work = self._process(deltas, is_initial)
            if work is not None:
                await work
            else:
                self._adjust_batch_size(len(deltas), perf_counter() - blocked_since)
        except Exception as error:
            raise Requeue from error
        self._batches += 1
        self._meter.observe_processing(self._clock.now() - started)

    def _adjust_batch_size(self, count: int, seconds: float) -> None:
        """`count` deltas blocked the loop for `seconds`: take as many as it may be blocked for."""
        fitting = int(count * MAX_BLOCK / seconds) if seconds else MAX_BATCH
        self._batch_size = min(max(fitting, 1), MAX_BATCH)
