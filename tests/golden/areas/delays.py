"""Rate limiters, backoffs and retries, all without jitter and on a manual clock."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

from kubeloop.errors import InvalidArgument
from kubeloop.kit import (
    Backoff,
    KeyedBackoff,
    ManualClock,
    ResettingBackoff,
    TokenBucket,
    retry,
    until_true,
)
from kubeloop.workqueue import (
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    RateLimiter,
    WithMaxWaitRateLimiter,
    default_item_based_rate_limiter,
)
from tests.golden.case import Area, Case

_EXPONENTIAL = [(1, 1000), (5, 1_000_000), (10, 10), (100, 50), (1, 10**9), (3, 100), (0, 100)]
_FAST_SLOW = [(5, 1000, 3), (5, 1000, 0), (0, 100, 1), (100, 5, 2)]


def _steps(seed: int, count: int = 30) -> list[list[str]]:
    source = random.Random(seed)
    words = ["when"] * 6 + ["forget", "requeues"]
    return [[source.choice(words), source.choice("abc")] for _ in range(count)]


def _limiters() -> Iterator[dict[str, Any]]:
    for base, maximum in _EXPONENTIAL:
        yield {"kind": "exponential", "base": base, "maximum": maximum}
    for base, maximum, attempts in _FAST_SLOW:
        yield {"kind": "fastSlow", "base": base, "maximum": maximum, "attempts": attempts}
    parts = [
        {"kind": "exponential", "base": 1, "maximum": 1000},
        {"kind": "fastSlow", "base": 5, "maximum": 100, "attempts": 3},
    ]
    yield {"kind": "maxOf", "parts": parts}
    yield {"kind": "maxOf", "parts": []}
    yield {"kind": "maxWait", "maximum": 7, "parts": parts[:1]}
    yield {"kind": "defaultItem"}


def _clock_steps(seed: int, words: list[str]) -> list[dict[str, Any]]:
    source = random.Random(seed)
    return [
        {"do": source.choice(words), "key": source.choice("ab"), "by": source.choice(_TIMES)}
        for _ in range(25)
    ]


_TIMES = [0, 1, 10, 100, 500, 1000, 5000, 20000, 20001, 60000]
_KEYED = ["next"] * 4 + ["advance"] * 4 + ["get", "waitingSince", "waitingAt", "reset", "gc"]


def _cases() -> Iterator[Case]:
    for limiter in _limiters():
        for seed in range(4):
            yield Case("limiter.steps", {**limiter, "steps": _steps(seed)})
        long = [["when", "a"]] * 70
        yield Case("limiter.steps", {**limiter, "steps": long})
    source = random.Random(4)
    for rate, burst in itertools.product((0.5, 1, 5, 10, 100), (1, 2, 10)):
        at = sorted(source.choice(range(0, 4000, 10)) for _ in range(25))
        yield Case("bucket.reserve", {"Rate": rate, "Burst": burst, "At": at})
        yield Case("bucket.allow", {"Rate": rate, "Burst": burst, "At": at})
    for duration, factor, steps, cap in itertools.product(
        (0, 10, 100), (0, 0.5, 1, 1.5, 2, 10), (-1, 0, 1, 3, 10), (0, 5, 50, 500, 100000)
    ):
        settings = {"duration": duration, "factor": factor, "steps": steps, "cap": cap, "count": 8}
        yield Case("backoff.steps", settings)
    for seed, (initial, maximum) in itertools.product(range(12), ((100, 1000), (1000, 10000))):
        steps_on_clock = _clock_steps(seed, _KEYED)
        keyed = {"Initial": initial, "Maximum": maximum, "Steps": steps_on_clock}
        yield Case("backoff.keyed", keyed)
    for seed, after in itertools.product(range(6), (0, 1000, 30000)):
        backoff = {"duration": 100, "factor": 2, "steps": 6, "cap": 2000}
        given = {
            "Backoff": backoff,
            "After": after,
            "Steps": _clock_steps(seed, ["next", "advance"]),
        }
        yield Case("backoff.resetting", given)
    for count, failures in itertools.product((0, 1, 2, 5), (0, 1, 2, 4, 5, 9)):
        for retriable in (True, False):
            tries = {"Steps": count, "Failures": failures, "Retriable": retriable}
            yield Case("retry.onError", tries)
        yield Case("backoff.exponential", {"Steps": count, "Succeed": failures})


def _us(seconds: float) -> int:
    return math.floor(seconds * 1e6 + 0.5 + 1e-6)  # halves up, as Go rounds durations


def _limiter(given: Any) -> RateLimiter[str]:
    base, maximum = given.get("base", 0) / 1000, given.get("maximum", 0) / 1000
    parts = [_limiter(part) for part in given.get("parts", ())]
    match given["kind"]:
        case "exponential":
            return ItemExponentialFailureRateLimiter(base, maximum)
        case "fastSlow":
            return ItemFastSlowRateLimiter(base, maximum, given["attempts"])
        case "maxOf":
            return MaxOfRateLimiter(*parts)
        case "maxWait":
            return WithMaxWaitRateLimiter(parts[0], maximum)
    return default_item_based_rate_limiter()


def _limiter_steps(given: Any) -> list[Any]:
    limiter = _limiter(given)
    found: list[Any] = []
    for word, key in given["steps"]:
        if word == "when":
            found.append(_us(limiter.when(key)))
        elif word == "requeues":
            found.append(limiter.num_requeues(key))
        else:
            limiter.forget(key)
            found.append(None)
    return found


async def _reserve(given: Any) -> list[int]:
    return [_us(bucket.reserve()) async for bucket in _bucket_at_times(given)]


async def _try_take(given: Any) -> list[bool]:
    return [bucket.try_take() async for bucket in _bucket_at_times(given)]


async def _bucket_at_times(given: Any) -> AsyncIterator[TokenBucket]:
    """The bucket, at each of the times."""
    clock = ManualClock()
    bucket = TokenBucket(given["Rate"], given["Burst"], clock=clock)
    passed = 0
    for at in given["At"]:
        await clock.advance((at - passed) / 1000)
        passed = at
        yield bucket


def _backoff(given: Any) -> Backoff:
    return Backoff(
        duration=given["duration"] / 1000,
        factor=given["factor"],
        steps=given["steps"],
        cap=given["cap"] / 1000,
    )


def _backoff_steps(given: Any) -> Any:
    delays = _backoff(given).delays()
    found = [_us(delays.next()) for _ in range(given["count"])]
    return {"delays": found, "left": delays.steps}


async def _run_keyed(given: Any) -> list[Any]:
    clock = ManualClock()
    backoff: KeyedBackoff[str] = KeyedBackoff(
        given["Initial"] / 1000, given["Maximum"] / 1000, clock=clock
    )
    return [await _keyed_step(backoff, clock, step) for step in given["Steps"]]


async def _keyed_step(backoff: KeyedBackoff[str], clock: ManualClock, step: Any) -> Any:
    key, by = step["key"], step["by"] / 1000
    match step["do"]:
        case "advance":
            await clock.advance(by)
        case "next":
            return _us(backoff.next(key))
        case "get":
            return _us(backoff.get(key))
        case "waitingSince":
            return backoff.is_waiting_since(key, clock.now() - by)
        case "waitingAt":
            return backoff.is_waiting_at(key, clock.now() - by)
        case "reset":
            backoff.reset(key)
        case "gc":
            backoff.gc()
    return None


async def _run_resetting(given: Any) -> list[Any]:
    clock = ManualClock()
    delays = ResettingBackoff(
        _backoff(given["Backoff"]), reset_after=given["After"] / 1000, clock=clock
    )
    found: list[Any] = []
    for step in given["Steps"]:
        if step["do"] == "advance":
            await clock.advance(step["by"] / 1000)
            found.append(None)
        else:
            found.append(_us(delays.next()))
    return found


class _FailedError(Exception):
    """An error that is retried."""


def _on_loop(answer: Callable[[Any], Coroutine[Any, Any, Any]]) -> Callable[[Any], Any]:
    return lambda given: asyncio.run(answer(given))


async def _retry(given: Any) -> Any:
    calls = 0

    async def attempt() -> None:
        nonlocal calls
        calls += 1
        if calls <= given["Failures"]:
            raise _FailedError

    backoff = Backoff(duration=0.0, factor=1, steps=given["Steps"])
    clock = ManualClock()
    try:
        await retry(attempt, when=lambda _: given["Retriable"], clock=clock, backoff=backoff)
    except ValueError as error:
        raise InvalidArgument(str(error)) from error
    except _FailedError:
        return {"calls": calls, "failed": True}
    return {"calls": calls, "failed": False}


async def _poll(given: Any) -> Any:
    calls = 0

    async def condition() -> bool:
        nonlocal calls
        calls += 1
        return bool(calls == given["Succeed"])

    backoff = Backoff(duration=0.0, factor=1, steps=given["Steps"])
    try:
        await until_true(condition, backoff=backoff, clock=ManualClock())
    except TimeoutError:
        return {"calls": calls, "failed": True}
    return {"calls": calls, "failed": False}


AREA = Area(
    _cases,
    {
        "limiter.steps": _limiter_steps,
        "bucket.reserve": _on_loop(_reserve),
        "bucket.allow": _on_loop(_try_take),
        "backoff.steps": _backoff_steps,
        "backoff.keyed": _on_loop(_run_keyed),
        "backoff.resetting": _on_loop(_run_resetting),
        "retry.onError": _on_loop(_retry),
        "backoff.exponential": _on_loop(_poll),
    },
)
