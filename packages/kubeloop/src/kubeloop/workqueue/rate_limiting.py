"""Queues for keys that are to be processed later, and for keys that failed.

`DelayingQueue` adds `after=`; `RateLimitingQueue` gets the delay from a limiter.

Guarantees: a key waits once, for the earliest time it was added with; only a key that
fails waits longer each time. No background task: `get()` watches the clock.
See also: `limiters` (how long a key waits), `priority` (a queue with priorities).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import TypeVar, final

from kubeloop.kit import Clock

from .limiters import RateLimiter, check_delay, default_controller_rate_limiter, retry_delay
from .metrics import QueueMetrics
from .ordering import Order
from .queue import WorkQueue

__all__ = ["DelayingQueue", "RateLimitingQueue"]

K = TypeVar("K", bound=Hashable)


@final
class DelayingQueue(WorkQueue[K]):
    """A work queue that can add a key later (client-go: `TypedDelayingInterface`).

    Adding a key without a delay does not cancel its delay: it is processed now and later
    (WKQ-11). Shutdown drops delayed keys (WKQ-12).
    """

    def add(self, key: K, *, after: float | None = None) -> None:
        """Add a key, now or `after` seconds (client-go: `AddAfter`); never blocks.

        Zero or less is now, but counts as a retry in the metrics.

        Raises: InvalidArgument when `after` is not a number.
        """
        if after is None:
            self._add_ready(key)
        else:
            self._add_after(key, after, self._now())

    def add_threadsafe(self, key: K, *, after: float | None = None) -> None:
        """`add` from any thread; the delay starts with this call."""
        if after is None:
            super().add_threadsafe(key)
            return
        check_delay(key, after)
        self._calls.put(functools.partial(self._add_after, key, after, self._now()))


@final
class RateLimitingQueue(WorkQueue[K]):
    """A work queue with delays and retries (client-go: `TypedRateLimitingInterface`).

    ```python
    async with queue.item() as key:
        try:
            await reconcile(key)
        except ApiError:
            queue.add_rate_limited(key)
        else:
            queue.forget(key)
    ```

    Without a `limiter` it uses `default_controller_rate_limiter()`. Delays behave as in
    `DelayingQueue`.
    """

    def __init__(
        self,
        limiter: RateLimiter[K] | None = None,
        *,
        name: str = "",
        clock: Clock | None = None,
        metrics: QueueMetrics | None = None,
        order: Order[K] | None = None,
    ) -> None:
        super().__init__(name=name, clock=clock, metrics=metrics, order=order)
        if limiter is None:
            limiter = default_controller_rate_limiter(clock=self._clock)
        self._limiter = limiter

    def add(self, key: K, *, after: float | None = None, rate_limited: bool = False) -> None:
        """Add a key: now, `after` seconds, or after the limiter's delay.

        With both options the shorter delay counts.

        Raises: InvalidArgument when `after` is not a number.
        """
        if rate_limited:
            self._add_rate_limited(key, after, self._now())
        elif after is None:
            self._add_ready(key)
        else:
            self._add_after(key, after, self._now())

    def add_rate_limited(self, key: K) -> None:
        """Add a key that failed, after the limiter's delay; counts one failure."""
        self._add_rate_limited(key, None, self._now())

    def add_threadsafe(
        self, key: K, *, after: float | None = None, rate_limited: bool = False
    ) -> None:
        """`add` from any thread; the delay starts with this call."""
        check_delay(key, after)
        now = self._now()
        if rate_limited:
            self._calls.put(functools.partial(self._add_rate_limited, key, after, now))
        elif after is None:
            super().add_threadsafe(key)
        else:
            self._calls.put(functools.partial(self._add_after, key, after, now))

    def forget(self, key: K) -> None:
        """Reset the key's failures; does not remove it from the queue (WKQ-13)."""
        self._limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """How many failures of the key are counted since it was last forgotten."""
        return self._limiter.num_requeues(key)

    def _add_rate_limited(self, key: K, after: float | None, now: float) -> None:
        self._add_after(key, retry_delay(self._limiter, key, after), now)
