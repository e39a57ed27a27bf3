"""Work queues as users write them; mypy and pyright read it, and the tests run none of it."""

from __future__ import annotations

from typing import assert_type

from kubeloop import ObjectKey
from kubeloop.workqueue import (
    DelayingQueue,
    ItemExponentialFailureRateLimiter,
    MaxOfRateLimiter,
    PriorityQueue,
    RateLimiter,
    RateLimitingQueue,
    WithMaxWaitRateLimiter,
    WorkQueue,
    default_controller_rate_limiter,
)

KEY = ObjectKey("shop", "web")


async def options(
    plain: WorkQueue[ObjectKey],
    delaying: DelayingQueue[ObjectKey],
    rate_limiting: RateLimitingQueue[ObjectKey],
    priorities: PriorityQueue[ObjectKey],
) -> None:
    """Each queue takes the options it has, and a checker refuses the others."""
    plain.add(KEY)
    plain.add(KEY, after=1)  # type: ignore[call-arg]
    delaying.add(KEY, after=1)
    delaying.add(KEY, rate_limited=True)  # type: ignore[call-arg]
    rate_limiting.add(KEY, after=1, rate_limited=True)
    rate_limiting.add(KEY, priority=1)  # type: ignore[call-arg]
    priorities.add(KEY, after=1, rate_limited=True, priority=1)
    plain.add("shop/web")  # type: ignore[arg-type]


async def workers(queue: PriorityQueue[ObjectKey]) -> None:
    async with queue.item() as key:
        assert_type(key, ObjectKey)
    assert_type(await queue.get(), ObjectKey)
    assert_type(await queue.get_with_priority(), tuple[ObjectKey, int])
    general: list[WorkQueue[ObjectKey]] = [queue, RateLimitingQueue(), DelayingQueue()]
    for each in general:
        await each.drain()


class Impatient:
    """A limiter of one's own."""

    def when(self, key: ObjectKey) -> float:
        return 0.1 if key.namespace == "shop" else 60.0

    def forget(self, key: ObjectKey) -> None: ...

    def num_requeues(self, key: ObjectKey) -> int:
        return 0


def limiters() -> None:
    per_key: RateLimiter[ObjectKey] = ItemExponentialFailureRateLimiter(1, 60)
    queue: RateLimitingQueue[ObjectKey] = RateLimitingQueue(MaxOfRateLimiter(per_key, Impatient()))
    assert_type(queue.num_requeues(KEY), int)
    other: PriorityQueue[ObjectKey] = PriorityQueue(default_controller_rate_limiter())
    other.forget(KEY)
    capped: WithMaxWaitRateLimiter[ObjectKey] = WithMaxWaitRateLimiter(Impatient(), 30)
    RateLimitingQueue(capped).add_rate_limited(KEY)
