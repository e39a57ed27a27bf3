"""Every task has an owner that awaits it.

Promises: when a block ends, so have its tasks; one failure leaves as it came, several
in a group; a cancellation of the caller is never swallowed, only put off until what
has to end has ended (a failure on the way out may leave in its place). Nowhere else
is a cancellation caught or put off.
Elsewhere: how long anything may take (`clock`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Protocol, TypeVar, final

import msgspec

__all__ = ["Runnable", "TaskOwner", "TaskStats", "cancel_and_wait", "running", "to_the_end"]

T = TypeVar("T")


class Runnable(Protocol):
    """Something long-lived: `run()` lasts until it is cancelled."""

    async def run(self) -> None: ...


class TaskStats(msgspec.Struct, frozen=True):
    """What became of an owner's tasks so far."""

    running: tuple[str, ...]  # by name, sorted
    finished: int  # came to their own end
    cancelled: int
    failed: int


@final
class TaskOwner:
    """Owns tasks that begin while its block lasts, and ends them with it.

    A task's failure makes the block fail, as if the body had raised it; with
    `on_failure` it is handed over instead, with the task's name, and the others go on.
    At the end of the block what still runs is cancelled and awaited. For one block.

        async with TaskOwner() as tasks:
            tasks.spawn(reflector.run(), name="reflector")
    """

    def __init__(self, *, on_failure: Callable[[str, Exception], None] | None = None) -> None:
        self._on_failure = on_failure
        self._group = asyncio.TaskGroup()
        self._open = False
        self._running: set[asyncio.Task[None]] = set()
        self._finished = 0
        self._cancelled = 0
        self._failed = 0

    async def __aenter__(self) -> TaskOwner:
        await self._group.__aenter__()
        self._open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        for task in self._running:
            task.cancel()
        try:
            await self._group.__aexit__(kind, error, trace)
        except BaseExceptionGroup as failures:
            if len(failures.exceptions) > 1:
                raise
            failure = failures.exceptions[0]
        else:
            return
        # One failure needs no group. Raised out here because `from None` would erase
        # the cause that the failure came with.
        if failure is not error:
            raise failure

    def spawn(self, work: Coroutine[object, object, None], *, name: str) -> asyncio.Task[None]:
        """Begin `work` as a task of this block; who gets the task may cancel it.

        Raises: RuntimeError when the block has not begun, or is ending.
        """
        owned = self._owned(work, name)
        try:
            if not self._open:
                raise RuntimeError("the block is not open")
            # Refused as well when another task has failed and the block will soon learn of it.
            task = self._group.create_task(owned, name=name)
        except RuntimeError as refusal:
            owned.close()  # or Python would warn that nobody awaited them
            work.close()
            raise RuntimeError(f"spawn {name}: {refusal} (spawn while it lasts)") from refusal
        self._running.add(task)
        task.add_done_callback(self._note_end)
        # Cancelled before its first step, the task never touches `work`.
        task.add_done_callback(lambda _: work.close())
        return task

    def stats(self) -> TaskStats:
        names = sorted(task.get_name() for task in self._running if not task.done())
        return TaskStats(tuple(names), self._finished, self._cancelled, self._failed)

    async def _owned(self, work: Coroutine[object, object, None], name: str) -> None:
        try:
            await work
        except Exception as error:
            self._failed += 1
            if self._on_failure is None:
                raise
            self._on_failure(name, error)
        else:
            self._finished += 1

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._cancelled += task.cancelled()


@asynccontextmanager
async def running(*parts: Runnable) -> AsyncIterator[None]:
    """Run `parts` while the block lasts; when one fails, the block fails with it."""
    async with TaskOwner() as tasks:
        for part in parts:
            tasks.spawn(part.run(), name=repr(part))
        yield


async def cancel_and_wait(task: asyncio.Task[object]) -> None:
    """End a task and wait until it has ended; what it raises besides that leaves here.

    When the caller is cancelled meanwhile, the task is still awaited first: it has one
    owner, and that is the caller.
    """
    if task is asyncio.current_task():
        raise RuntimeError(f"cancel {task.get_name()}: a task cannot wait for its own end")
    task.cancel()
    interruption = await _outlast(task)
    failure = None if task.cancelled() else task.exception()
    if interruption is not None:
        raise interruption from failure
    if failure is not None:
        raise failure


async def to_the_end(work: Coroutine[object, object, T]) -> T:
    """Await `work` to its end even when the caller is cancelled before; only then say so.

    For what has to be left in order on the way out, such as giving up a lease; bound
    it by a timeout of its own. What `work` raises leaves here, unless the caller was
    cancelled: then it is the cause of the cancellation that is raised.
    """
    task = asyncio.create_task(work)
    interruption = await _outlast(task)
    if interruption is not None:
        failure = None if task.cancelled() else task.exception()
        raise interruption from failure
    return task.result()


async def _outlast(task: asyncio.Task[T]) -> asyncio.CancelledError | None:
    """Wait until the task is done, and return a cancellation that came meanwhile."""
    interruption = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            interruption = error
    return interruption
