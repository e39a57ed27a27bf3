"""Many pieces of work, a few at a time."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.workqueue import parallelize

from .conftest import Tasks


@pytest.mark.parametrize("chunk_size", [1, 7, 1000, 5000])
@pytest.mark.parametrize("workers", [1, 2, 2000])
async def test_each_piece_runs_exactly_once(workers: int, chunk_size: int) -> None:
    """WKQ-19, WKQ-C10: ParallelizeUntil."""
    run: list[int] = []

    async def work(piece: int) -> None:
        await asyncio.sleep(0)
        run.append(piece)

    await parallelize(work, 1000, workers=workers, chunk_size=chunk_size)

    assert sorted(run) == list(range(1000))


@pytest.mark.parametrize(
    ("workers", "chunk_size", "at_once"), [(3, 1, 3), (50, 1, 10), (4, 5, 2), (1, 1, 1)]
)
async def test_no_more_run_at_once_than_there_are_workers_and_chunks(
    workers: int, chunk_size: int, at_once: int, clock: ManualClock
) -> None:
    """WKQ-19: ParallelizeUntil."""
    running, most = 0, 0

    async def work(piece: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    # With a manual clock, because after 5 ms of real time a worker yields to the loop.
    await parallelize(work, 10, workers=workers, chunk_size=chunk_size, clock=clock)

    assert most == at_once


async def test_no_piece_starts_once_until_is_set(clock: ManualClock, tasks: Tasks) -> None:
    """WKQ-19: the call returns when the started pieces have ended."""
    stop = asyncio.Event()
    ended: list[int] = []

    async def work(piece: int) -> None:
        await clock.sleep(1)
        ended.append(piece)

    running = tasks.start(parallelize(work, 100, workers=2, chunk_size=10, until=stop))
    await clock.advance(0.5)
    stop.set()
    await clock.settle()
    before = running.done()
    await clock.advance(1)

    assert not before
    assert running.done()
    assert sorted(ended) == [0, 10]


async def test_no_piece_runs_when_until_is_set_before() -> None:
    """WKQ-C10: stopped before the first piece."""
    stop = asyncio.Event()
    stop.set()
    run: list[int] = []

    async def work(piece: int) -> None:
        run.append(piece)

    await parallelize(work, 1000, workers=2, until=stop)

    assert run == []


async def test_zero_pieces_return_at_once() -> None:
    """WKQ-19: ParallelizeUntil."""

    async def work(piece: int) -> None:
        raise AssertionError

    await parallelize(work, 0, workers=3)


async def test_cancelling_cancels_the_running_pieces(clock: ManualClock, tasks: Tasks) -> None:
    """At once, and nothing is left running."""
    cancelled: list[int] = []

    async def work(piece: int) -> None:
        try:
            await clock.sleep(3600)
        except asyncio.CancelledError:
            cancelled.append(piece)
            raise

    running = tasks.start(parallelize(work, 100, workers=3))
    await clock.settle()

    running.cancel()
    await clock.settle()

    assert running.cancelled()
    assert sorted(cancelled) == [0, 1, 2]


async def test_a_piece_that_fails_cancels_the_others_and_its_error_is_raised() -> None:
    started: list[int] = []

    async def work(piece: int) -> None:
        started.append(piece)
        if piece == 1:
            raise LookupError("piece 1")
        await asyncio.Event().wait()

    with pytest.raises(LookupError, match="piece 1"):
        await parallelize(work, 100, workers=2)

    assert started == [0, 1]


@pytest.mark.parametrize(("workers", "chunk_size"), [(0, 1), (1, 0), (-1, 1)])
async def test_zero_workers_or_an_empty_chunk_are_rejected(workers: int, chunk_size: int) -> None:
    async def work(piece: int) -> None: ...

    with pytest.raises(InvalidArgument, match="at least 1"):
        await parallelize(work, 3, workers=workers, chunk_size=chunk_size)
