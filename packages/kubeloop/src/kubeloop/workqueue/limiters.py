"""Rate limiters: how long a key waits after a failure.

Pure counting: nothing here waits. Each `when()` counts one more failure of the key,
until `forget()`; a key that is never forgotten stays in memory. Limiters are
not thread-safe.
See also: `rate_limiting` (the queue that waits), `kubeloop.kit` (limits on requests).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar, final

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, Limiter, SystemClock, TokenBucket

__all__ = [
    "BucketRateLimiter",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "RateLimiter",
    "WithMaxWaitRateLimiter",
    "check_delay",
    "default_controller_rate_limiter",
    "default_item_based_rate_limiter",
    "retry_delay",
]

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[K_contra]):
    """Decides how long a key waits before it is processed again (client-go: `RateLimiter`)."""

    def when(self, key: K_contra) -> float:
        """Count one more failure of the key; returns the delay in seconds."""
        ...

    def forget(self, key: K_contra) -> None:
        """Reset the key: it succeeded, or will not be retried."""
        ...

    def num_requeues(self, key: K_contra) -> int:
        """How many failures of the key are counted since it was last forgotten."""
        ...


@final
class ItemExponentialFailureRateLimiter(Generic[K]):
    """Waits `base_delay` after a key's first failure, doubled with each further one.

    The delay never exceeds `max_delay` (WKQ-14).
    """

    def __init__(self, base_delay: float = 0.005, max_delay: float = 1000.0) -> None:
        self.base_delay = base_delay
        self.max_delay = max_delay
        self._failures: Counter[K] = Counter()

    def when(self, key: K) -> float:
        failures = self._failures[key]
        self._failures[key] = failures + 1
        try:
            delay = math.ldexp(self.base_delay, failures)
        except OverflowError:  # after about a thousand failures
            return self.max_delay
        return min(delay, self.max_delay)

    def forget(self, key: K) -> None:
        self._failures.pop(key, None)

    def num_requeues(self, key: K) -> int:
        return self._failures.get(key, 0)  # in a Counter, [] of a missing key is slow


@final
class ItemFastSlowRateLimiter(Generic[K]):
    """Waits `fast_delay` after a key's first `max_fast_attempts` failures, then `slow_delay`."""

    def __init__(self, fast_delay: float, slow_delay: float, max_fast_attempts: int) -> None:
        self.fast_delay = fast_delay
        self.slow_delay = slow_delay
        self.max_fast_attempts = max_fast_attempts
        self._failures: Counter[K] = Counter()

    def when(self, key: K) -> float:
        failures = self._failures[key]
        self._failures[key] = failures + 1
        return self.fast_delay if failures < self.max_fast_attempts else self.slow_delay

    def forget(self, key: K) -> None:
        self._failures.pop(key, None)

    def num_requeues(self, key: K) -> int:
        return self._failures.get(key, 0)  # in a Counter, [] of a missing key is slow


@final
class BucketRateLimiter:
    """Limits all keys together: each failure reserves the next token of a bucket."""

    def __init__(self, bucket: Limiter) -> None:
        self._bucket = bucket

    def when(self, key: Hashable) -> float:  # noqa: ARG002 - the Protocol's
        return self._bucket.reserve()

    def forget(self, key: Hashable) -> None:
        """Does nothing: a bucket does not count by key."""

    def num_requeues(self, key: Hashable) -> int:  # noqa: ARG002 - the Protocol's
        return 0


@final
class MaxOfRateLimiter(Generic[K]):
    """The longest delay of several limiters; each of them counts every failure."""

    def __init__(self, *limiters: RateLimiter[K]) -> None:
        self.limiters = limiters

    def when(self, key: K) -> float:
        return max((limiter.when(key) for limiter in self.limiters), default=0.0)

    def forget(self, key: K) -> None:
        for limiter in self.limiters:
            limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        return max((limiter.num_requeues(key) for limiter in self.limiters), default=0)


@final
class WithMaxWaitRateLimiter(Generic[K]):
    """Another limiter's delay, but at most `max_delay`."""

    def __init__(self, limiter: RateLimiter[K], max_delay: float) -> None:
        self.limiter = limiter
        self.max_delay = max_delay

    def when(self, key: K) -> float:
        return min(self.limiter.when(key), self.max_delay)

    def forget(self, key: K) -> None:
        self.limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        return self.limiter.num_requeues(key)


def default_controller_rate_limiter(*, clock: Clock | None = None) -> MaxOfRateLimiter[Hashable]:
    """Per key 5 ms, doubled up to 1000 s; all keys together 10 a second after a burst of 100.

    client-go's `DefaultTypedControllerRateLimiter`, with its numbers (WKQ-14).
    """
    per_key: ItemExponentialFailureRateLimiter[Hashable] = ItemExponentialFailureRateLimiter()
    bucket = TokenBucket(10.0, 100, clock=clock or SystemClock())
    return MaxOfRateLimiter(per_key, BucketRateLimiter(bucket))


def default_item_based_rate_limiter() -> ItemExponentialFailureRateLimiter[Hashable]:
    """Per key 1 ms, doubled up to 1000 s (client-go: `DefaultTypedItemBasedRateLimiter`)."""
    return ItemExponentialFailureRateLimiter(0.001, 1000.0)


def retry_delay(limiter: RateLimiter[K], key: K, after: float | None) -> float:
    """Count a failure and return its delay, `after` if that is shorter (WKQ-21)."""
    check_delay(key, after)  # before the failure is counted
    delay = limiter.when(key)
    return delay if after is None else min(delay, after)


def check_delay(key: object, delay: float | None) -> None:
    """Reject a delay that no clock can wait for.

    Raises: InvalidArgument.
    """
    if delay is not None and math.isnan(delay):
        raise InvalidArgument(f"add {key!r} after {delay} s: not a number (give seconds)")
