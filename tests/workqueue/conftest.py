"""Queues on a clock that stands still, and metrics that remember what they were told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import pytest

from kubeloop.kit import ManualClock
from kubeloop.workqueue import DelayingQueue, PriorityQueue, RateLimitingQueue, WorkQueue

T = TypeVar("T")


class Noted:
    """A `QueueMetrics` that writes everything down."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.depths: list[int] = [0]
        self.adds = 0
        self.retries = 0
        self.waited: list[float] = []
        self.worked: list[float] = []
        self.running: list[tuple[float, float]] = []

    def depth(self, name: str, keys: int) -> None:
        self.names.add(name)
        self.depths.append(keys)

    def added(self, name: str) -> None:
        self.adds += 1

    def handed_out(self, name: str, *, waited: float) -> None:
        self.waited.append(waited)

    def done(self, name: str, *, worked: float) -> None:
        self.worked.append(worked)

    def retried(self, name: str) -> None:
        self.retries += 1

    def in_work(self, name: str, *, unfinished: float, longest: float) -> None:
        self.running.append((unfinished, longest))


class Tasks:
    """Begins tasks for a test and ends them with it."""

    def __init__(self) -> None:
        self._all: list[asyncio.Task[Any]] = []

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._all.append(task)
        return task

    async def end(self) -> None:
        for task in self._all:
            task.cancel()
        await asyncio.gather(*self._all, return_exceptions=True)


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    begun = Tasks()
    yield begun
    await begun.end()


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
def limiting(clock: ManualClock) -> RateLimitingQueue[str]:
    return RateLimitingQueue(clock=clock)


@pytest.fixture
def ranked(clock: ManualClock) -> PriorityQueue[str]:
    return PriorityQueue(clock=clock)


def take_all(queue: WorkQueue[str]) -> list[str]:
    """Hand out and finish everything that is ready."""
    taken = []
    while len(queue):
        key = queue.get_nowait()
        queue.done(key)
        taken.append(key)
    return taken
