"""How long a key that failed has to wait.

Promises: asking is counting: each `when()` is one more failure of that key, until it is
forgotten. Nothing here waits, and a key that nobody forgets is remembered for ever.
Nothing here may be shared between threads.
Elsewhere: the waiting (`rate_limiting`); limits on requests (`kubeloop.kit`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar, final

from kubeloop.kit import Clock, Limiter, SystemClock, TokenBucket

__all__ = [
    "DEFAULT_BURST",
    "DEFAULT_ITEM_BASE",
    "DEFAULT_RATE",
    "DEFAULT_RETRY_BASE",
    "DEFAULT_RETRY_MAXIMUM",
    "BucketLimiter",
    "ItemExponentialLimiter",
    "ItemFastSlowLimiter",
    "MaxOfLimiter",
    "MaxWaitLimiter",
    "RateLimiter",
    "default_item_limiter",
    "default_limiter",
]

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)

DEFAULT_RETRY_BASE = 0.005
DEFAULT_RETRY_MAXIMUM = 1000.0
DEFAULT_RATE = 10.0
DEFAULT_BURST = 100
DEFAULT_ITEM_BASE = 0.001


class RateLimiter(Protocol[K_contra]):
    """What a rate-limiting queue asks."""

    def when(self, key: K_contra) -> float:
        """Count one more failure of the key; returns the seconds it has to wait."""
        ...

    def forget(self, key: K_contra) -> None:
        """The key has succeeded, or nobody will try it again."""
        ...

    def requeues(self, key: K_contra) -> int:
        """How many failures of the key are remembered (client-go: `NumRequeues`)."""
        ...


class _Failures(Generic[K]):
    """Counts by key."""

    def __init__(self) -> None:
        self._counts: dict[K, int] = {}

    def count(self, key: K) -> int:
        """One more; returns how many there were before."""
        before = self._counts.get(key, 0)
        self._counts[key] = before + 1
        return before

    def forget(self, key: K) -> None:
        self._counts.pop(key, None)

    def requeues(self, key: K) -> int:
        return self._counts.get(key, 0)


@final
class ItemExponentialLimiter(_Failures[K]):
    """`base` seconds for a key's first failure, twice as long for each further one, up to
    `maximum`."""

    def __init__(
        self, base: float = DEFAULT_RETRY_BASE, maximum: float = DEFAULT_RETRY_MAXIMUM
    ) -> None:
        super().__init__()
        self.base = base
        self.maximum = maximum

    def when(self, key: K) -> float:
        failures = self.count(key)
        try:
            return min(math.ldexp(self.base, failures), self.maximum)
        except OverflowError:
            return self.maximum


@final
class ItemFastSlowLimiter(_Failures[K]):
    """`fast` seconds for a key's first `fast_attempts` failures, `slow` ones from then on."""

    def __init__(self, fast: float, slow: float, fast_attempts: int) -> None:
        super().__init__()
        self.fast = fast
        self.slow = slow
        self.fast_attempts = fast_attempts

    def when(self, key: K) -> float:
        return self.fast if self.count(key) < self.fast_attempts else self.slow


@final
class BucketLimiter:
    """A limit on all keys together: each failure takes the next token of a bucket."""

    def __init__(self, bucket: Limiter) -> None:
        self._bucket = bucket

    def when(self, key: Hashable) -> float:  # noqa: ARG002 - the Protocol's
        return self._bucket.reserve()

    def forget(self, key: Hashable) -> None:
        """Nothing: a bucket knows no keys."""

    def requeues(self, key: Hashable) -> int:  # noqa: ARG002 - the Protocol's
        return 0


@final
class MaxOfLimiter(Generic[K]):
    """The strictest of several limiters; all of them count every failure."""

    def __init__(self, *limiters: RateLimiter[K]) -> None:
        self.limiters = limiters

    def when(self, key: K) -> float:
        # A list, not a generator that could stop early: each one has to count.
        return max([limiter.when(key) for limiter in self.limiters], default=0.0)

    def forget(self, key: K) -> None:
        for limiter in self.limiters:
            limiter.forget(key)

    def requeues(self, key: K) -> int:
        return max([limiter.requeues(key) for limiter in self.limiters], default=0)


@final
class MaxWaitLimiter(Generic[K]):
    """Another limiter, but never more than `maximum` seconds."""

    def __init__(self, limiter: RateLimiter[K], maximum: float) -> None:
        self.limiter = limiter
        self.maximum = maximum

    def when(self, key: K) -> float:
        return min(self.limiter.when(key), self.maximum)

    def forget(self, key: K) -> None:
        self.limiter.forget(key)

    def requeues(self, key: K) -> int:
        return self.limiter.requeues(key)


def default_limiter(*, clock: Clock | None = None) -> MaxOfLimiter[Hashable]:
    """What controllers use (client-go: `DefaultTypedControllerRateLimiter`).

    5 ms for a key's first failure, doubled up to 1000 s, and for all keys together
    10 a second after the first 100.
    """
    bucket = TokenBucket(DEFAULT_RATE, DEFAULT_BURST, clock=clock or SystemClock())
    each: ItemExponentialLimiter[Hashable] = ItemExponentialLimiter()
    return MaxOfLimiter(each, BucketLimiter(bucket))


def default_item_limiter() -> ItemExponentialLimiter[Hashable]:
    """1 ms for a key's first failure, doubled up to 1000 s; other keys do not matter."""
    return ItemExponentialLimiter(DEFAULT_ITEM_BASE, DEFAULT_RETRY_MAXIMUM)
