"""How long failing keys wait, and what that means for a queue."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from kubeloop.kit import ManualClock, TokenBucket
from kubeloop.workqueue import (
    DEFAULT_BURST,
    DEFAULT_ITEM_BASE,
    DEFAULT_RATE,
    DEFAULT_RETRY_BASE,
    DEFAULT_RETRY_MAXIMUM,
    BucketLimiter,
    ItemExponentialLimiter,
    ItemFastSlowLimiter,
    MaxOfLimiter,
    MaxWaitLimiter,
    RateLimiter,
    RateLimitingQueue,
    default_item_limiter,
    default_limiter,
)

from .conftest import Tasks, take_all


def waits(limiter: RateLimiter[str], count: int, key: str = "web") -> list[float]:
    return [limiter.when(key) for _ in range(count)]


def test_the_delay_doubles_with_every_failure_of_a_key() -> None:
    """WKQ-14, WKQ-16, WKQ-C6: asking is counting."""
    limiter: ItemExponentialLimiter[str] = ItemExponentialLimiter(0.001, 1)

    assert waits(limiter, 5) == pytest.approx([0.001, 0.002, 0.004, 0.008, 0.016])
    assert limiter.requeues("web") == 5
    assert limiter.when("other") == 0.001


def test_a_forgotten_key_begins_with_the_shortest_delay() -> None:
    """WKQ-14, WKQ-C6."""
    limiter: ItemExponentialLimiter[str] = ItemExponentialLimiter(0.001, 1)
    waits(limiter, 5)

    limiter.forget("web")

    assert limiter.requeues("web") == 0
    assert limiter.when("web") == 0.001


@pytest.mark.parametrize("failures", [60, 64, 1100, 5000])
def test_the_delay_never_exceeds_its_maximum(failures: int) -> None:
    """WKQ-14, WKQ-C6: no overflow either."""
    limiter: ItemExponentialLimiter[str] = ItemExponentialLimiter(0.001, 1)

    assert waits(limiter, failures)[-1] == 1


def test_the_first_failures_are_fast_and_the_rest_are_slow() -> None:
    """WKQ-15, WKQ-C7."""
    limiter: ItemFastSlowLimiter[str] = ItemFastSlowLimiter(0.005, 10, 3)

    assert waits(limiter, 5) == [0.005, 0.005, 0.005, 10, 10]
    assert limiter.requeues("web") == 5
    limiter.forget("web")
    assert limiter.when("web") == 0.005


def test_a_bucket_limits_all_keys_together_and_counts_none(clock: ManualClock) -> None:
    """WKQ-15."""
    limiter = BucketLimiter(TokenBucket(10, 2, clock=clock))

    found = [limiter.when(key) for key in ("a", "b", "c", "d")]
    limiter.forget("c")

    assert found == pytest.approx([0, 0, 0.1, 0.2])
    assert limiter.requeues("c") == 0


async def test_the_101st_key_in_one_instant_waits_100_ms(clock: ManualClock) -> None:
    """WKQ-C8."""
    bucket = TokenBucket(DEFAULT_RATE, DEFAULT_BURST, clock=clock)
    queue: RateLimitingQueue[str] = RateLimitingQueue(BucketLimiter(bucket), clock=clock)

    for number in range(101):
        queue.add_rate_limited(str(number))

    assert (len(queue), queue.stats().waiting) == (100, 1)
    await clock.advance(0.0999)
    assert len(queue) == 100
    await clock.advance(0.0001)
    assert len(queue) == 101


def test_the_strictest_of_several_limiters_counts_and_all_are_charged() -> None:
    """WKQ-15."""
    slow: ItemFastSlowLimiter[str] = ItemFastSlowLimiter(0.005, 3, 3)
    doubling: ItemExponentialLimiter[str] = ItemExponentialLimiter(1, 1000)
    limiter = MaxOfLimiter(slow, doubling)
    slow.when("web")

    assert waits(limiter, 4) == [1, 2, 4, 8]
    assert (slow.requeues("web"), doubling.requeues("web")) == (5, 4)
    assert limiter.requeues("web") == 5

    limiter.forget("web")
    assert limiter.requeues("web") == 0


def test_another_limiters_delay_can_be_capped() -> None:
    """WKQ-15."""
    limiter: MaxWaitLimiter[str] = MaxWaitLimiter(ItemExponentialLimiter(1, 1000), 5)

    assert waits(limiter, 5) == [1, 2, 4, 5, 5]
    assert limiter.requeues("web") == 5
    limiter.forget("web")
    assert limiter.when("web") == 1


def test_controllers_get_client_gos_numbers(clock: ManualClock) -> None:
    """WKQ-14, X-8."""
    limiter = default_limiter(clock=clock)
    each = limiter.limiters[0]

    assert isinstance(each, ItemExponentialLimiter)
    assert (each.base, each.maximum) == (DEFAULT_RETRY_BASE, DEFAULT_RETRY_MAXIMUM)
    assert (DEFAULT_RETRY_BASE, DEFAULT_RETRY_MAXIMUM) == (0.005, 1000)
    assert (DEFAULT_RATE, DEFAULT_BURST) == (10, 100)
    assert [limiter.when(number) for number in range(101)][-1] == pytest.approx(0.1)


def test_the_default_for_items_alone_begins_at_one_millisecond() -> None:
    """WKQ-14."""
    limiter: RateLimiter[Hashable] = default_item_limiter()

    assert limiter.when("web") == DEFAULT_ITEM_BASE == 0.001
    assert waits(limiter, 40)[-1] == 1000


async def test_a_rate_limited_key_waits_as_long_as_its_limiter_says(
    limiting: RateLimitingQueue[str], clock: ManualClock
) -> None:
    """WKQ-13."""
    limiting.add_rate_limited("web")

    before = len(limiting)
    await clock.advance(0.005)

    assert before == 0
    assert take_all(limiting) == ["web"]
    assert limiting.requeues("web") == 1


async def test_forgetting_a_key_does_not_take_it_out_of_the_queue(
    limiting: RateLimitingQueue[str], clock: ManualClock
) -> None:
    """WKQ-13."""
    limiting.add("queued")
    limiting.add_rate_limited("web")

    limiting.forget("web")
    limiting.forget("queued")
    await clock.advance(0.005)

    assert limiting.requeues("web") == 0
    assert take_all(limiting) == ["queued", "web"]


async def test_with_a_limit_and_a_delay_the_shorter_one_counts(
    limiting: RateLimitingQueue[str], clock: ManualClock
) -> None:
    """WKQ-21, for the queue that the priority queue is made of."""
    limiting.add("limited", rate_limited=True, after=60)
    limiting.add("delayed", rate_limited=True, after=0.001)

    await clock.advance(0.001)
    first = take_all(limiting)
    await clock.advance(0.004)

    assert (first, take_all(limiting)) == (["delayed"], ["limited"])


def test_a_limiter_that_fails_tells_its_caller_and_leaves_the_queue_alone(
    clock: ManualClock,
) -> None:
    class Broken(Exception):
        pass

    class Limiter:
        def when(self, key: str) -> float:
            raise Broken

        def forget(self, key: str) -> None: ...
        def requeues(self, key: str) -> int:
            return 0

    queue: RateLimitingQueue[str] = RateLimitingQueue(Limiter(), clock=clock)

    with pytest.raises(Broken):
        queue.add_rate_limited("web")

    assert queue.stats().waiting == 0


async def test_a_failing_key_backs_off_without_delaying_others(
    limiting: RateLimitingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    """X-4."""
    tried: dict[str, list[float]] = {"bad": [], "good": []}
    in_work: set[str] = set()

    async def reconcile() -> None:
        while True:
            async with limiting.item() as key:
                assert key not in in_work
                in_work.add(key)
                tried[key].append(clock.now())
                await clock.sleep(0.001)
                in_work.discard(key)
                if key == "bad":
                    limiting.add_rate_limited(key)
                else:
                    limiting.forget(key)

    for _ in range(4):
        tasks.begin(reconcile())
    limiting.add("bad")
    for _ in range(10):
        limiting.add("good")
        await clock.advance(0.01)

    pauses = [
        after - before - 0.001
        for before, after in zip(tried["bad"], tried["bad"][1:], strict=False)
    ]
    assert pauses == pytest.approx([0.005, 0.010, 0.020, 0.040])
    assert tried["good"] == pytest.approx([number / 100 for number in range(10)])
