"""A queue that also takes keys for later.

Promises: a key waits once, for the earliest moment that was asked for; when the moment
comes it is added as if somebody had added it then. There is no task behind it: due
keys are taken in by whoever looks, and a waiting `get()` watches the clock.
Elsewhere: how long a failing key should wait (`limits`, `rate_limiting`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Hashable
from typing import TypeVar

from kubeloop.kit import Clock
from kubeloop.machinery import InvalidValue

from .heap import KeyHeap
from .metrics import QueueMetrics
from .queue import Order, Phase, WorkQueue

__all__ = ["DelayingQueue"]

K = TypeVar("K", bound=Hashable)

# Sums of floats miss their moment by a little, and a timer may end that much early.
_SLACK = 1e-9
# So many due keys are moved for one key that is taken: the queue keeps up, and moving a
# hundred thousand of them never holds the loop.
_LOT = 64
_NEVER = math.inf


class DelayingQueue(WorkQueue[K]):
    """A `WorkQueue` with keys for later (client-go: `DelayingInterface`).

    A key may be queued and wait at once: adding it now does not take back what was
    asked for later. Keys that wait are dropped at shutdown.
    """

    def __init__(
        self,
        *,
        name: str = "",
        clock: Clock | None = None,
        metrics: QueueMetrics | None = None,
        order: Order[K] | None = None,
    ) -> None:
        super().__init__(name=name, clock=clock, metrics=metrics, order=order)
        self._later: KeyHeap[K] = KeyHeap()
        self._due = _NEVER  # from when on _later has something to give
        self._serials = itertools.count()

    def add(self, key: K, *, after: float | None = None) -> None:
        """Have the key worked on, now or `after` so many seconds (client-go: `AddAfter`).

        Zero or less is now, and counts as a retry all the same. Never blocks.

        Raises: InvalidValue when `after` is not a number.
        """
        if after is None:
            super().add(key)
        else:
            self._add_after(key, after, self._now())

    def add_threadsafe(self, key: K, *, after: float | None = None) -> None:
        """`add`, from any thread; `after` counts from this call."""
        if after is None:
            super().add_threadsafe(key)
            return
        refuse_nan(key, after)
        self._inbox.put(functools.partial(self._add_after, key, after, self._now()))

    def _add_after(self, key: K, after: float, asked: float) -> None:
        refuse_nan(key, after)
        if self._phase != "open":
            return
        self._note_retry()
        if after > 0:
            self._add_later(key, asked + after)
        else:
            WorkQueue.add(self, key)

    def _note_retry(self) -> None:
        self._retries += 1
        if self._recorder is not None:
            self._recorder.retried()

    def _add_later(self, key: K, moment: float) -> None:
        known = self._later.rank(key)
        if known is not None and known <= moment:
            return
        self._later.put(key, moment, next(self._serials))
        if moment - _SLACK < self._due:
            self._due = moment - _SLACK
            self._line.retime()

    def _is_ready(self, now: float) -> bool:
        ready = WorkQueue._is_ready(self, now)
        if now < self._due:
            return ready
        self._take_due(now, at_most=_LOT)
        return bool(self._order)

    def _settle(self) -> None:
        super()._settle()
        now = self._now()
        while now >= self._due:
            self._take_due(now, at_most=_LOT)

    def _next_moment(self) -> float | None:
        return self._later.first()

    def _count_waiting(self) -> int:
        return len(self._later)

    def _close(self, phase: Phase) -> None:
        super()._close(phase)
        self._later.clear()
        self._due = _NEVER

    def _take_due(self, now: float, *, at_most: int) -> None:
        """Add keys whose moment has come, and note when the next one does."""
        for _ in range(at_most):
            moment = self._later.first()
            self._due = _NEVER if moment is None else moment - _SLACK
            if now < self._due:
                return
            WorkQueue.add(self, self._later.pop())
        # _due is in the past now, and whoever looks next goes on.


def refuse_nan(key: object, after: float) -> None:
    if math.isnan(after):
        raise InvalidValue(f"add {key!r} after {after} s: not a number (give seconds)")
