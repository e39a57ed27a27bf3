"""The controller by itself: a reflector, a queue, and work (CCH-74, CCH-89)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from kubeloop.cache import Controller, Delta, EntryCodec, EntryDecoder, Indexer, RealFIFO, Reflector
from kubeloop.cache.controller import FIRST_BATCH
from kubeloop.kit import ManualClock, TaskOwner
from tests.cache.objects import block_loop, entry
from tests.support.model_server import ModelServer


def controller_of(
    server: ModelServer, clock: ManualClock, work: object, queue: RealFIFO | None = None
) -> Controller:
    queue = RealFIFO(clock=clock) if queue is None else queue
    reflector = Reflector(server, queue, EntryDecoder(EntryCodec(dict)), clock=clock)
    return Controller(reflector, queue, work, clock=clock)  # type: ignore[arg-type] # work fits


async def test_batches_are_processed_one_at_a_time_and_a_slow_one_delays_the_rest(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-89: the informer's handlers are what does not."""
    done: list[str] = []

    async def work(deltas: Sequence[Delta], is_initial: bool) -> None:
        await clock.sleep(10)
        done.extend(f"{delta.type} {is_initial}" for delta in deltas)

    controller = controller_of(server, clock, work)
    async with TaskOwner() as tasks:
        tasks.spawn(controller.run(), name="controller")
        await clock.settle()
        server.put("web")
        await clock.advance(5)
        assert done == []
        before = controller.has_synced

        await clock.advance(15)

        assert done == ["ReplacedAll True", "Added False"]
        assert (before, controller.has_synced) == (False, True)
        assert controller.last_sync_version == "11"
        assert controller.stats().batches == 2


async def test_batches_that_take_long_to_process_are_small(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-44: a batch is processed without yielding, and the loop must not be blocked."""
    sizes: list[int] = []

    def work(deltas: Sequence[Delta], is_initial: bool) -> None:
        sizes.append(len(deltas))
        for _ in deltas:
            block_loop()

    queue = RealFIFO(clock=clock)
    for serial in range(30):
        queue.add(entry(f"pod-{serial}"))
    controller = controller_of(server, clock, work, queue)
    async with TaskOwner() as tasks:
        tasks.spawn(controller.run(), name="controller")
        await clock.settle()

    assert sizes[0] == FIRST_BATCH
    assert set(sizes[1:]) == {1}


async def test_a_failed_batch_is_retried_and_nothing_overtakes_it(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-74: after a second."""
    failures, done = [ValueError("no"), ValueError("no")], []

    def work(deltas: Sequence[Delta], is_initial: bool) -> None:
        if failures:
            raise failures.pop()
        done.append([str(delta.type) for delta in deltas])

    controller = controller_of(server, clock, work)
    async with TaskOwner() as tasks:
        tasks.spawn(controller.run(), name="controller")
        await clock.settle()
        server.put("web")
        await clock.advance(1.9)
        assert done == []

        await clock.advance(0.2)

        assert done == [["ReplacedAll"], ["Added"]]
        assert controller.stats().failures == 2


async def test_the_end_closes_the_queue_and_ends_the_reflector(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-74, CCH-26: on cancellation."""
    queue = RealFIFO(clock=clock)
    controller = controller_of(server, clock, lambda deltas, is_initial: None, queue)
    running = asyncio.create_task(controller.run())
    await clock.settle()

    running.cancel()
    await asyncio.wait([running])

    assert queue.stats().closed
    assert server.open_watches == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_reflector_may_feed_an_indexer_directly(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    pods = Indexer(EntryCodec(dict))
    reflector = Reflector(server, pods, EntryDecoder(EntryCodec(dict)), clock=clock)
    async with TaskOwner() as tasks:
        tasks.spawn(reflector.run(), name="reflector")
        await clock.settle()
        server.put("db")
        server.delete("web")
        server.bookmark()
        await clock.settle()

        assert [key.name for key in pods.keys()] == ["db"]  # noqa: SIM118 - no dict
        assert pods.version == "13"
