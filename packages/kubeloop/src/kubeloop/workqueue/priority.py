"""A work queue with priorities, as controllers use it.

Guarantees: of the ready keys, those with the highest priority are processed first, and
among them those that were added first. A key has one entry: adding it again can raise
its priority or make it ready earlier, never the opposite.
See also: `ordering` (the order itself), `kubeloop.runtime` (which event has which
priority).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable
from typing import TypeVar, final

from kubeloop.kit import Clock

from .limiters import ItemExponentialFailureRateLimiter, RateLimiter, check_delay, retry_delay
from .metrics import QueueMetrics
from .ordering import PriorityOrder
from .queue import QueueState, WorkQueue

__all__ = ["LOW_PRIORITY", "PriorityQueue"]

K = TypeVar("K", bound=Hashable)

LOW_PRIORITY = -100
"""For keys of the initial list and of resyncs: after every live change."""


@final
class PriorityQueue(WorkQueue[K]):
    """A work queue with priorities, delays and retries (controller-runtime: `PriorityQueue`).

    Unlike `RateLimitingQueue`: adding a key without a delay replaces its delay, and the
    default limiter has no limit on all keys together (WKQ-21, WKQ-22). Unlike
    controller-runtime's: `len()` and `drain()` mean what they mean for every work queue.
    """

    def __init__(
        self,
        limiter: RateLimiter[K] | None = None,
        *,
        name: str = "",
        clock: Clock | None = None,
        metrics: QueueMetrics | None = None,
    ) -> None:
        self._order: PriorityOrder[K] = PriorityOrder()
        super().__init__(name=name, clock=clock, metrics=metrics, order=self._order)
        self._limiter = ItemExponentialFailureRateLimiter() if limiter is None else limiter

    def add(
        self,
        key: K,
        *,
        after: float | None = None,
        rate_limited: bool = False,
        priority: int = 0,
    ) -> None:
        """Add a key: now, `after` seconds, or after the limiter's delay.

        A key that was added before keeps the higher priority and the earlier time. With
        `after` and `rate_limited` the shorter delay counts (controller-runtime: `AddWithOpts`).

        Raises: InvalidArgument when `after` is not a number.
        """
        if rate_limited or after is not None:
            self._add_later(key, after, rate_limited, priority, self._now())
        elif self._state is QueueState.OPEN:
            self._order.raise_to(key, priority)
            if self._delayed.next_check < math.inf:  # a key may be delayed
                self._delayed.discard(key)
            self._add_ready(key)

    def add_rate_limited(self, key: K) -> None:
        """Add a key that failed, after the limiter's delay; counts one failure."""
        self.add(key, rate_limited=True)

    def add_threadsafe(
        self,
        key: K,
        *,
        after: float | None = None,
        rate_limited: bool = False,
        priority: int = 0,
    ) -> None:
        """`add` from any thread; the delay starts with this call."""
        check_delay(key, after)
        if rate_limited or after is not None:
            add = functools.partial(
                self._add_later, key, after, rate_limited, priority, self._now()
            )
        else:
            add = functools.partial(self.add, key, priority=priority)
        self._calls.put(add)

    async def get_with_priority(self) -> tuple[K, int]:
        """`get()`, with the priority of the key.

        Safe to cancel: no key is lost.

        Raises: QueueShutDown, as `get()` does.
        """
        key = await self.get()
        return key, self._order.priority_of(key) or 0

    def priority_of(self, key: K) -> int | None:
        """The priority of a key that is being processed; None for any other key."""
        return self._order.priority_of(key)

    def done(self, key: K) -> None:
        super().done(key)
        self._order.done(key)

    def forget(self, key: K) -> None:
        """Reset the key's failures; does not remove it from the queue (WKQ-13)."""
        self._limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """How many failures of the key are counted since it was last forgotten."""
        return self._limiter.num_requeues(key)

    def _add_later(
        self,
        key: K,
        after: float | None,
        rate_limited: bool,  # noqa: FBT001 - named in the public methods
        priority: int,
        now: float,
    ) -> None:
        delay = retry_delay(self._limiter, key, after) if rate_limited else after or 0.0
        check_delay(key, delay)
        if self._state is not QueueState.OPEN:
            return
        self._count_retry()
        # A key that is ready stays ready: only its priority can change.
        if delay <= 0 or key in self._dirty:
            self.add(key, priority=priority)
        else:
            self._order.raise_to(key, priority)
            self._delay_until(key, now + delay)

    def _close(self, state: QueueState) -> None:
        super()._close(state)
        self._order.retain(self._dirty)  # shutdown has dropped the delayed keys
