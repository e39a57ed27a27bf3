"""Waiting for conditions on watch events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from kubeloop.clients import WatchClosed, WatchEvent, until


class Events:
    """Some numbers as events, and whether they were closed."""

    def __init__(self, *numbers: int, hang: bool = False) -> None:
        self.numbers = list(numbers)
        self.hang = hang
        self.closed = False

    def __aiter__(self) -> AsyncIterator[WatchEvent[int]]:
        return self

    async def __anext__(self) -> WatchEvent[int]:
        if self.numbers:
            return WatchEvent("MODIFIED", self.numbers.pop(0))
        if self.hang:
            await asyncio.Event().wait()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True


def at_least(number: int) -> Callable[[WatchEvent[int]], bool]:
    return lambda event: event.object >= number


async def test_conditions_are_met_in_their_order() -> None:
    """WTC-6: UntilWithoutRetry(watcher, conditions...)."""
    events = Events(1, 5, 2, 7)

    found = await until(events, at_least(5), at_least(6))

    assert found is not None
    assert (found.object, events.closed) == (7, True)


async def test_an_event_that_meets_one_condition_is_shown_to_the_next() -> None:
    """WTC-6, WTC-C4: UntilWithoutRetry(watcher, conditions...)."""
    events = Events(1, 9, 2)

    found = await until(events, at_least(3), at_least(5))

    assert found is not None
    assert (found.object, events.numbers) == (9, [2])


async def test_without_conditions_nothing_is_waited_for() -> None:
    """WTC-6: UntilWithoutRetry(watcher, conditions...)."""
    events = Events(1)

    assert await until(events) is None
    assert (events.numbers, events.closed) == ([1], True)


async def test_a_stream_that_ends_too_early_is_an_error() -> None:
    """WTC-6: UntilWithoutRetry(watcher, conditions...)."""
    with pytest.raises(WatchClosed, match="1 of 2"):
        await until(Events(5), at_least(5), at_least(6))


async def test_what_a_condition_raises_leaves_with_the_event() -> None:
    """WTC-6: UntilWithoutRetry(watcher, conditions...)."""

    def broken(event: WatchEvent[int]) -> bool:
        raise LookupError("no")

    events = Events(5)
    with pytest.raises(LookupError) as caught:
        await until(events, broken)

    assert "MODIFIED of 5" in caught.value.__notes__[0]
    assert events.closed


async def test_being_cancelled_closes_the_events() -> None:
    """WTC-6, WTC-8, X-7: a bound is the caller's `asyncio.timeout`."""
    events = Events(hang=True)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await until(events, at_least(1))

    assert events.closed
