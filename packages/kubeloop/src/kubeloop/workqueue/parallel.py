"""Runs many small pieces of work, a few at a time.

See also: `queue` (work that arrives over time).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, SystemClock, TaskOwner, Yielder

__all__ = ["parallelize"]


async def parallelize(
    work: Callable[[int], Awaitable[None]],
    pieces: int,
    *,
    workers: int,
    chunk_size: int = 1,
    until: asyncio.Event | None = None,
    clock: Clock | None = None,
) -> None:
    """Await `work(0)` to `work(pieces - 1)`, each once (client-go: `ParallelizeUntil`).

    At most `workers` pieces run at once; a worker takes `chunk_size` of them at a time.
    Once `until` is set no piece starts, and the call returns when the started ones have
    ended. A piece that fails cancels the others, and its error is raised.
    Safe to cancel: running pieces are cancelled and awaited.

    Raises: InvalidArgument when `workers` or `chunk_size` is less than 1.
    """
    if workers < 1 or chunk_size < 1:
        raise InvalidArgument(
            f"run {pieces} pieces with {workers} workers in chunks of {chunk_size}:"
            " workers and chunk_size must be at least 1"
        )
    yielder = Yielder((clock or SystemClock()).now, starts_now=False)
    chunks = (range(at, min(at + chunk_size, pieces)) for at in range(0, pieces, chunk_size))

    async def run_chunks() -> None:
        for piece in _pieces(chunks, until):
            if yielder.is_due():
                await yielder.yield_to_loop()
                if until is not None and until.is_set():
                    return
            await work(piece)

    count = min(workers, -(-pieces // chunk_size))
    async with TaskOwner() as tasks:
        running = [tasks.spawn(run_chunks(), name=f"pieces {n}") for n in range(count)]
        if running:
            await asyncio.wait(running)


def _pieces(chunks: Iterator[range], until: asyncio.Event | None) -> Iterator[int]:
    """The pieces of one worker; all workers share `chunks`."""
    for chunk in chunks:
        for piece in chunk:
            if until is not None and until.is_set():
                return
            yield piece
