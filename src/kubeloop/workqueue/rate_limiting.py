"""A queue that makes failing keys wait.

Promises: only the key that fails waits longer and longer; who succeeds is forgotten when
the worker says so, and only then.
Elsewhere: how long the wait is (`limits`).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import TypeVar

from kubeloop.kit import Clock

from .delays import DelayingQueue, refuse_nan
from .limits import RateLimiter, default_limiter
from .metrics import QueueMetrics
from .queue import Order

__all__ = ["RateLimitingQueue"]

K = TypeVar("K", bound=Hashable)


class RateLimitingQueue(DelayingQueue[K]):
    """A `DelayingQueue` that asks a limiter how long (client-go: `RateLimitingInterface`).

    ```python
    async with queue.item() as key:
        try:
            await reconcile(key)
        except ApiError:
            queue.add_rate_limited(key)
        else:
            queue.forget(key)
    ```
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
        self._limiter = default_limiter(clock=self._clock) if limiter is None else limiter

    def add(self, key: K, *, after: float | None = None, rate_limited: bool = False) -> None:
        """Have the key worked on: now, `after` so many seconds, or when the limiter says.

        With both, the shorter delay counts.
        """
        if rate_limited:
            self._add_limited(key, after, self._now())
        else:
            super().add(key, after=after)

    def add_rate_limited(self, key: K) -> None:
        """Have the key worked on again after a failure, which this call counts."""
        self.add(key, rate_limited=True)

    def add_threadsafe(
        self, key: K, *, after: float | None = None, rate_limited: bool = False
    ) -> None:
        """`add`, from any thread; delays count from this call."""
        if not rate_limited:
            super().add_threadsafe(key, after=after)
            return
        refuse_nan(key, after or 0.0)
        self._inbox.put(functools.partial(self._add_limited, key, after, self._now()))

    def forget(self, key: K) -> None:
        """Begin with the shortest delay at the next failure; the queue stays as it is."""
        self._limiter.forget(key)

    def requeues(self, key: K) -> int:
        """How many failures of the key the limiter remembers."""
        return self._limiter.requeues(key)

    def _add_limited(self, key: K, after: float | None, asked: float) -> None:
        self._add_after(key, self._shortest(key, after), asked)

    def _shortest(self, key: K, after: float | None) -> float:
        delay = self._limiter.when(key)
        return delay if after is None else min(delay, after)
