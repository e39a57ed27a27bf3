"""What a handler can do to itself and to others: cancellations, removal, blocking the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kubeloop.cache import Change, InformerStopped, SharedInformer
from kubeloop.cache.handlers import MAX_BACKPRESSURE, MAX_BLOCK_OF_ALL
from kubeloop.kit import ManualClock, TaskOwner
from tests.cache.objects import block_loop
from tests.support.model_server import ModelServer

Pod = dict[str, Any]


@pytest.fixture
def pods(server: ModelServer, clock: ManualClock) -> SharedInformer[Pod]:
    return SharedInformer(server, dict, clock=clock)


def synchronous(names: list[str]) -> Callable[[Pod], object]:
    def handle(pod: Pod) -> None:
        names.append(pod["metadata"]["name"])
        if names[-1] == "bad":
            raise asyncio.CancelledError

    return handle


def asynchronous(names: list[str]) -> Callable[[Pod], object]:
    async def handle(pod: Pod) -> None:
        synchronous(names)(pod)

    return handle


@pytest.mark.parametrize("kind", [synchronous, asynchronous])
@pytest.mark.parametrize("late", [False, True], ids=["from the start", "late"])
async def test_a_cancellation_from_inside_a_handler_is_an_ordinary_failure(
    server: ModelServer,
    clock: ManualClock,
    pods: SharedInformer[Pod],
    kind: Callable[[list[str]], Callable[[Pod], object]],
    late: bool,
) -> None:
    """CCH-80: it ends neither the informer nor the handler."""
    names: list[str] = []
    async with pods:
        if late:
            server.put("bad")
            await clock.settle()
        handler = pods.add_handler(on_add=kind(names))
        await clock.settle()
        if not late:
            server.put("bad")
        server.put("good")
        await clock.settle()

        assert names == ["bad", "good"]
        assert handler.stats().failures == 1
        assert len(pods.lister) == 2


async def test_waiting_for_a_handler_ends_with_an_error_when_it_is_removed(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    server.put("a")
    async with pods:
        stuck = pods.add_handler(on_add=lambda pod: asyncio.Event().wait())
        waiting = asyncio.ensure_future(stuck.wait_synced())
        await clock.settle()
        stuck.remove()

        with pytest.raises(InformerStopped, match="it was removed"):
            await waiting


async def test_waiting_for_a_handler_ends_with_an_error_when_the_informer_stops(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """X-7: nothing waits forever."""
    server.put("a")
    async with pods:
        stuck = pods.add_handler(on_add=lambda pod: asyncio.Event().wait())
        waiting = asyncio.ensure_future(stuck.wait_synced())
        await clock.settle()

    with pytest.raises(InformerStopped, match="its informer has stopped"):
        await waiting


async def test_the_awaitable_of_a_handler_that_removed_itself_is_awaited(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-81: a running call completes, also if it bypassed the backlog."""
    lines: list[str] = []

    async def cleanup(name: str) -> None:
        await clock.sleep(1)
        lines.append(f"cleanup {name}")

    def handle(change: Change[Pod]) -> object:
        lines.append(change.key.name)
        registration.remove()
        return cleanup(change.key.name)

    registration = pods.add_handler(on_change=handle)
    async with pods:
        await clock.settle()
        server.put("a")
        server.put("b")
        await clock.advance(2)
        await registration.aclose()

        assert lines == ["a", "cleanup a"]
        assert registration.stats().backlog == 0


class SlowHandlerClock:
    """A clock on which time passes when a handler says so."""

    def __init__(self) -> None:
        clock = ManualClock()
        self._now, self.time = clock.now, clock.time
        self.sleep, self.timeout, self.timer = clock.sleep, clock.timeout, clock.timer
        self.passed = 0.0

    def now(self) -> float:
        return self._now() + self.passed


async def test_the_reflector_does_not_wait_long_for_a_handler_that_is_far_behind(
    server: ModelServer,
) -> None:
    """CCH-78: while a late handler receives the cached objects, the cache stays current."""
    for serial in range(20):
        server.put(f"pod-{serial}")
    clock = SlowHandlerClock()
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, backlog=2)
    counts: list[int] = []

    def slow(change: Change[Pod]) -> None:
        counts.append(len(pods.lister))
        clock.passed += MAX_BACKPRESSURE / 5
        block_loop()

    async with pods:
        late = pods.add_handler(on_change=slow)
        for name in "abc":
            server.put(name)
        await late.wait_synced()

        assert counts[0] == 20
        assert counts[19] == 23  # the last object that was cached before the handler


async def test_slow_calls_of_a_list_let_other_tasks_run(
    server: ModelServer,
) -> None:
    """Each call blocks the loop; all of them together must not."""
    for serial in range(10):
        server.put(f"pod-{serial}")
    pods: SharedInformer[Pod] = SharedInformer(server, dict)
    calls = 0

    def slow(pod: Pod) -> None:
        nonlocal calls
        calls += 1
        block_loop()

    async with pods:
        pods.add_handler(on_add=slow)
        while calls < 10:
            before = calls
            await asyncio.sleep(0)

            assert calls - before <= 1


async def test_many_handlers_together_block_the_loop_no_longer_than_a_few(
    server: ModelServer,
) -> None:
    """Each has its share of the time, and one call at least."""
    for serial in range(40):
        server.put(f"pod-{serial}")
    pods: SharedInformer[Pod] = SharedInformer(server, dict)
    handlers, calls, most = 20, 0, 0

    def brief(pod: Pod) -> None:
        nonlocal calls
        calls += 1
        block_loop(MAX_BLOCK_OF_ALL / handlers)

    for _ in range(handlers):
        pods.add_handler(on_add=brief)
    async with TaskOwner() as tasks:
        tasks.spawn(pods.run(), name="pods")
        while calls < 40 * handlers:
            before = calls
            await asyncio.sleep(0)
            most = max(most, calls - before)

    assert most <= 4 * handlers  # directly and by the workers, with a margin
