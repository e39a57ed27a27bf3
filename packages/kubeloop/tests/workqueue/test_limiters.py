"""Rate limiters, and the queue that uses them."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock, TokenBucket
from kubeloop.workqueue import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    PriorityQueue,
    RateLimiter,
    RateLimitingQueue,
    WithMaxWaitRateLimiter,
    default_controller_rate_limiter,
    default_item_based_rate_limiter,
)

from .conftest import Tasks, process_all


def waits(limiter: RateLimiter[str], count: int, key: str = "web") -> list[float]:
    return [limiter.when(key) for _ in range(count)]


def test_the_delay_doubles_with_every_failure_of_a_key() -> None:
    """WKQ-14, WKQ-16, WKQ-C6: when() itself counts a failure."""
    limiter: ItemExponentialFailureRateLimiter[str] = ItemExponentialFailureRateLimiter(0.001, 1)

    assert waits(limiter, 5) == pytest.approx([0.001, 0.002, 0.004, 0.008, 0.016])
    assert limiter.num_requeues("web") == 5
    assert limiter.when("other") == 0.001


def test_forget_resets_the_delay_of_a_key() -> None:
    """WKQ-14, WKQ-C6: the exponential limiter and the defaults."""
    limiter: ItemExponentialFailureRateLimiter[str] = ItemExponentialFailureRateLimiter(0.001, 1)
    waits(limiter, 5)

    limiter.forget("web")

    assert limiter.num_requeues("web") == 0
    assert limiter.when("web") == 0.001


@pytest.mark.parametrize("failures", [60, 64, 1100, 5000])
def test_the_delay_never_exceeds_its_maximum(failures: int) -> None:
    """WKQ-14, WKQ-C6: no overflow either."""
    limiter: ItemExponentialFailureRateLimiter[str] = ItemExponentialFailureRateLimiter(0.001, 1)

    assert waits(limiter, failures)[-1] == 1


def test_the_first_failures_wait_briefly_and_the_others_long() -> None:
    """WKQ-15, WKQ-C7: the other limiters."""
    limiter: ItemFastSlowRateLimiter[str] = ItemFastSlowRateLimiter(0.005, 10, 3)

    assert waits(limiter, 5) == [0.005, 0.005, 0.005, 10, 10]
    assert limiter.num_requeues("web") == 5
    limiter.forget("web")
    assert limiter.when("web") == 0.005


def test_a_bucket_limits_all_keys_together_and_counts_no_failures(clock: ManualClock) -> None:
    """WKQ-15: the other limiters."""
    limiter = BucketRateLimiter(TokenBucket(10, 2, clock=clock))

    found = [limiter.when(key) for key in ("a", "b", "c", "d")]
    limiter.forget("c")

    assert found == pytest.approx([0, 0, 0.1, 0.2])
    assert limiter.num_requeues("c") == 0


async def test_the_101st_key_in_one_instant_waits_100_ms(clock: ManualClock) -> None:
    """WKQ-C8: the default bucket."""
    bucket = TokenBucket(10, 100, clock=clock)
    queue: RateLimitingQueue[str] = RateLimitingQueue(BucketRateLimiter(bucket), clock=clock)

    for number in range(101):
        queue.add_rate_limited(str(number))

    assert (len(queue), queue.stats().delayed) == (100, 1)
    await clock.advance(0.0999)
    assert len(queue) == 100
    await clock.advance(0.0001)
    assert len(queue) == 101


def test_the_longest_delay_of_several_limiters_applies_and_all_of_them_count() -> None:
    """WKQ-15: the other limiters."""
    slow: ItemFastSlowRateLimiter[str] = ItemFastSlowRateLimiter(0.005, 3, 3)
    doubling: ItemExponentialFailureRateLimiter[str] = ItemExponentialFailureRateLimiter(1, 1000)
    limiter = MaxOfRateLimiter(slow, doubling)
    slow.when("web")

    assert waits(limiter, 4) == [1, 2, 4, 8]
    assert (slow.num_requeues("web"), doubling.num_requeues("web")) == (5, 4)
    assert limiter.num_requeues("web") == 5

    limiter.forget("web")
    assert limiter.num_requeues("web") == 0


def test_another_limiters_delay_can_be_capped() -> None:
    """WKQ-15: the other limiters."""
    limiter: WithMaxWaitRateLimiter[str] = WithMaxWaitRateLimiter(
        ItemExponentialFailureRateLimiter(1, 1000), 5
    )

    assert waits(limiter, 5) == [1, 2, 4, 5, 5]
    assert limiter.num_requeues("web") == 5
    limiter.forget("web")
    assert limiter.when("web") == 1


def test_the_default_for_controllers_has_client_gos_numbers(clock: ManualClock) -> None:
    """WKQ-14: the exponential limiter and the defaults."""
    limiter = default_controller_rate_limiter(clock=clock)
    each = limiter.limiters[0]

    assert isinstance(each, ItemExponentialFailureRateLimiter)
    assert (each.base_delay, each.max_delay) == (0.005, 1000)
    assert [limiter.when(number) for number in range(101)][-1] == pytest.approx(0.1)


def test_the_default_per_item_starts_at_one_millisecond() -> None:
    """WKQ-14: the exponential limiter and the defaults."""
    limiter: RateLimiter[Hashable] = default_item_based_rate_limiter()

    assert limiter.when("web") == 0.001
    assert waits(limiter, 40)[-1] == 1000


async def test_a_rate_limited_key_waits_for_the_delay_of_the_limiter(
    rate_limiting: RateLimitingQueue[str], clock: ManualClock
) -> None:
    """WKQ-13: rate limited adds."""
    rate_limiting.add_rate_limited("web")

    before = len(rate_limiting)
    await clock.advance(0.005)

    assert before == 0
    assert process_all(rate_limiting) == ["web"]
    assert rate_limiting.num_requeues("web") == 1


async def test_forget_does_not_remove_a_key_from_the_queue(
    rate_limiting: RateLimitingQueue[str], clock: ManualClock
) -> None:
    """WKQ-13: rate limited adds."""
    rate_limiting.add("queued")
    rate_limiting.add_rate_limited("web")

    rate_limiting.forget("web")
    rate_limiting.forget("queued")
    await clock.advance(0.005)

    assert rate_limiting.num_requeues("web") == 0
    assert process_all(rate_limiting) == ["queued", "web"]


async def test_with_rate_limited_and_after_the_shorter_delay_counts(
    rate_limiting: RateLimitingQueue[str], clock: ManualClock
) -> None:
    """WKQ-21: the rate-rate_limiting queue does as the priority queue."""
    rate_limiting.add("limited", rate_limited=True, after=60)
    rate_limiting.add("delayed", rate_limited=True, after=0.001)

    await clock.advance(0.001)
    first = process_all(rate_limiting)
    await clock.advance(0.004)

    assert (first, process_all(rate_limiting)) == (["delayed"], ["limited"])


def test_an_error_of_the_limiter_reaches_the_caller_and_leaves_the_queue_unchanged(
    clock: ManualClock,
) -> None:
    class Broken(Exception):
        pass

    class Limiter:
        def when(self, key: str) -> float:
            raise Broken

        def forget(self, key: str) -> None: ...
        def num_requeues(self, key: str) -> int:
            return 0

    queue: RateLimitingQueue[str] = RateLimitingQueue(Limiter(), clock=clock)

    with pytest.raises(Broken):
        queue.add_rate_limited("web")

    assert queue.stats().delayed == 0


@pytest.mark.parametrize("kind", [RateLimitingQueue, PriorityQueue])
def test_a_limiter_whose_delay_is_not_a_number_is_rejected(
    kind: type[RateLimitingQueue[str]], clock: ManualClock
) -> None:
    queue = kind(ItemFastSlowRateLimiter(float("nan"), 1, 1), clock=clock)

    with pytest.raises(InvalidArgument, match="add 'web' after nan s"):
        queue.add_rate_limited("web")

    assert (len(queue), queue.stats().delayed) == (0, 0)


def test_after_is_checked_before_a_failure_is_counted(
    rate_limiting: RateLimitingQueue[str],
) -> None:
    with pytest.raises(InvalidArgument):
        rate_limiting.add("web", rate_limited=True, after=float("nan"))

    assert rate_limiting.num_requeues("web") == 0


async def test_a_failing_key_backs_off_without_delaying_others(
    rate_limiting: RateLimitingQueue[str], clock: ManualClock, tasks: Tasks
) -> None:
    tried: dict[str, list[float]] = {"bad": [], "good": []}
    processing: set[str] = set()

    async def reconcile() -> None:
        while True:
            async with rate_limiting.item() as key:
                assert key not in processing
                processing.add(key)
                tried[key].append(clock.now())
                await clock.sleep(0.001)
                processing.discard(key)
                if key == "bad":
                    rate_limiting.add_rate_limited(key)
                else:
                    rate_limiting.forget(key)

    for _ in range(4):
        tasks.start(reconcile())
    rate_limiting.add("bad")
    for _ in range(10):
        rate_limiting.add("good")
        await clock.advance(0.01)

    pauses = [
        after - before - 0.001
        for before, after in zip(tried["bad"], tried["bad"][1:], strict=False)
    ]
    assert pauses == pytest.approx([0.005, 0.010, 0.020, 0.040])
    assert tried["good"] == pytest.approx([number / 100 for number in range(10)])
