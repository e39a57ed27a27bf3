"""Many pieces, a few at a time."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.kit import ManualClock
from kubeloop.machinery import InvalidValue
from kubeloop.workqueue import parallelize

from .conftest import Tasks


@pytest.mark.parametrize("chunk_size", [1, 7, 1000, 5000])
@pytest.mark.parametrize("workers", [1, 2, 2000])
async def test_each_piece_runs_exactly_once(workers: int, chunk_size: int) -> None:
    """WKQ-19, WKQ-C10."""
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
    """WKQ-19."""
    running, most = 0, 0

    async def work(piece: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    # On a clock that stands still: after a few real milliseconds the loop gets a turn in between.
    await parallelize(work, 10, workers=workers, chunk_size=chunk_size, clock=clock)

    assert most == at_once


async def test_no_piece_begins_once_the_end_is_called(clock: ManualClock, tasks: Tasks) -> None:
    """WKQ-19: those that were begun come to their end, and only then the call returns."""
    stop = asyncio.Event()
    ended: list[int] = []

    async def work(piece: int) -> None:
        await clock.sleep(1)
        ended.append(piece)

    running = tasks.begin(parallelize(work, 100, workers=2, chunk_size=10, until=stop))
    await clock.advance(0.5)
    stop.set()
    await clock.settle()
    before = running.done()
    await clock.advance(1)

    assert not before
    assert running.done()
    assert sorted(ended) == [0, 10]


async def test_nothing_runs_when_the_end_was_called_before() -> None:
    """WKQ-C10."""
    stop = asyncio.Event()
    stop.set()
    run: list[int] = []

    async def work(piece: int) -> None:
        run.append(piece)

    await parallelize(work, 1000, workers=2, until=stop)

    assert run == []


async def test_no_pieces_are_done_at_once() -> None:
    """WKQ-19."""

    async def work(piece: int) -> None:
        raise AssertionError

    await parallelize(work, 0, workers=3)


async def test_cancelling_ends_the_pieces_in_work(clock: ManualClock, tasks: Tasks) -> None:
    """X-7: promptly, and nothing is left running."""
    cancelled: list[int] = []

    async def work(piece: int) -> None:
        try:
            await clock.sleep(3600)
        except asyncio.CancelledError:
            cancelled.append(piece)
            raise

    running = tasks.begin(parallelize(work, 100, workers=3))
    await clock.settle()

    running.cancel()
    await clock.settle()

    assert running.cancelled()
    assert sorted(cancelled) == [0, 1, 2]


async def test_a_piece_that_fails_ends_the_others_and_is_raised_as_it_is() -> None:
    begun: list[int] = []

    async def work(piece: int) -> None:
        begun.append(piece)
        if piece == 1:
            raise LookupError("piece 1")
        await asyncio.Event().wait()

    with pytest.raises(LookupError, match="piece 1"):
        await parallelize(work, 100, workers=2)

    assert begun == [0, 1]


@pytest.mark.parametrize(("workers", "chunk_size"), [(0, 1), (1, 0), (-1, 1)])
async def test_work_without_workers_is_refused(workers: int, chunk_size: int) -> None:
    async def work(piece: int) -> None: ...

    with pytest.raises(InvalidValue, match="at least 1"):
        await parallelize(work, 3, workers=workers, chunk_size=chunk_size)
