"""Queues with a manual clock, and metrics that record what is reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import pytest

from kubeloop.kit import ManualClock
from kubeloop.workqueue import DelayingQueue, PriorityQueue, RateLimitingQueue, WorkQueue

T = TypeVar("T")


class RecordedMetrics:
    """A `QueueMetrics` that records every report."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.depths: list[int] = [0]
        self.adds = 0
        self.retries = 0
        self.queue_durations: list[float] = []
        self.work_durations: list[float] = []
        self.processing: list[tuple[float, float]] = []

    def set_depth(self, name: str, keys: int) -> None:
        self.names.add(name)
        self.depths.append(keys)

    def count_add(self, name: str) -> None:
        self.adds += 1

    def observe_queue_duration(self, name: str, seconds: float) -> None:
        self.queue_durations.append(seconds)

    def observe_work_duration(self, name: str, seconds: float) -> None:
        self.work_durations.append(seconds)

    def count_retry(self, name: str) -> None:
        self.retries += 1

    def set_processing(self, name: str, *, unfinished_work: float, longest_running: float) -> None:
        self.processing.append((unfinished_work, longest_running))


class Tasks:
    """Starts tasks for a test and cancels them when it ends."""

    def __init__(self) -> None:
        self._all: list[asyncio.Task[Any]] = []

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._all.append(task)
        return task

    async def cancel(self) -> None:
        for task in self._all:
            task.cancel()
        await asyncio.gather(*self._all, return_exceptions=True)


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    started = Tasks()
    yield started
    await started.cancel()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def plain(clock: ManualClock) -> WorkQueue[str]:
    return WorkQueue(clock=clock)


@pytest.fixture
def queue(clock: ManualClock) -> DelayingQueue[str]:
    return DelayingQueue(clock=clock)


@pytest.fixture
def rate_limiting(clock: ManualClock) -> RateLimitingQueue[str]:
    return RateLimitingQueue(clock=clock)


@pytest.fixture
def priority_queue(clock: ManualClock) -> PriorityQueue[str]:
    return PriorityQueue(clock=clock)


def process_all(queue: WorkQueue[str]) -> list[str]:
    """Process every key that is ready; returns them in order."""
    taken = []
    while len(queue):
        key = queue.get_nowait()
        queue.done(key)
        taken.append(key)
    return taken
