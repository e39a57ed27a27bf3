"""Every task has an owner that awaits it.

Guarantees: when a block ends, its tasks have ended; one failure is raised as it is, several in
a group; a cancellation of the caller is never swallowed, only deferred until the tasks have
ended, and a failure meanwhile is its `__cause__`. Nowhere else is a cancellation caught or
deferred.
See also: timeouts (`clock`).
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Protocol, TypeVar, final

import msgspec

__all__ = [
    "Runnable",
    "TaskOwner",
    "TaskStats",
    "cancel_and_wait",
    "is_cancelling",
    "leaf_tasks",
    "run_to_completion",
    "running",
]

T = TypeVar("T")

# The open blocks of each task, so that what runs below a task can be found.
_blocks: weakref.WeakKeyDictionary[asyncio.Task[Any], list[TaskOwner]] = weakref.WeakKeyDictionary()


class Runnable(Protocol):
    """Something long-lived: `run()` lasts until it is cancelled."""

    async def run(self) -> None: ...


class TaskStats(msgspec.Struct, frozen=True):
    """The tasks of an owner, by state."""

    running: tuple[str, ...]  # by name, sorted
    finished: int  # returned
    cancelled: int
    failed: int


@final
class TaskOwner:
    """Owns the tasks that are spawned in its block, and ends them with it.

    A failed task makes the block fail, as if the body had raised the error; with `on_failure`
    the error and the name of the task are passed to that instead, and the other tasks continue.
    At the end of the block, running tasks are cancelled and awaited. For one block.

        async with TaskOwner() as tasks:
            tasks.spawn(reflector.run(), name="reflector")
    """

    def __init__(self, *, on_failure: Callable[[str, Exception], None] | None = None) -> None:
        self._on_failure = on_failure
        self._block: asyncio.Task[object] | None = None  # whose body it is
        self._cancels_before = 0  # of the block's task; timeouts around it may count some
        self._open = False
        self._has_failed = False  # a task did, and the block was cancelled for it
        self._running: set[asyncio.Task[None]] = set()
        self._failures: list[BaseException] = []
        self._finished = 0
        self._cancelled = 0
        self._failed = 0

    async def __aenter__(self) -> TaskOwner:
        if self._block is not None:
            raise RuntimeError("a TaskOwner is for one block (make another one)")
        self._block = asyncio.current_task()
        assert self._block is not None, "a coroutine runs in a task"
        self._cancels_before = self._block.cancelling()
        self._open = True
        _blocks.setdefault(self._block, []).append(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        if not self._has_failed:  # or a second cancellation would interrupt their cleaning up
            self._cancel_all()
        interruption = await _outlast(self._running)
        self._leave()
        failure = self._failure(error)
        is_cancelled = self._is_cancelled_by_others()
        if interruption is not None or (is_cancelled and failure is not None):
            raise interruption or asyncio.CancelledError from failure
        if failure is not None and failure is not error:
            raise failure

    def spawn(self, work: Coroutine[object, object, None], *, name: str) -> asyncio.Task[None]:
        """Start `work` as a task of this block; the caller may cancel it.

        Raises: RuntimeError when the block has not begun, or is ending.
        """
        owned = self._owned(work, name)
        try:
            if not self._open:
                raise RuntimeError("the block is not open")
            if self._has_failed:
                raise RuntimeError("another task has failed, and the block is about to end")
            task = asyncio.create_task(owned, name=name)
        except RuntimeError as refusal:
            owned.close()  # or Python would warn about a coroutine that was never awaited
            work.close()
            raise RuntimeError(f"spawn {name}: {refusal} (spawn while it lasts)") from refusal
        self._running.add(task)
        task.add_done_callback(self._record_end)
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

    def _leave(self) -> None:
        assert self._block is not None
        blocks = _blocks[self._block]
        blocks.remove(self)
        if not blocks:
            del _blocks[self._block]

    def _record_end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if task.cancelled():
            self._cancelled += 1
            return
        failure = task.exception()
        if failure is None:
            return
        self._failures.append(failure)
        if self._open and not self._has_failed:
            self._fail_block()

    def _fail_block(self) -> None:
        assert self._block is not None
        self._has_failed = True
        self._cancel_all()
        self._block.cancel()  # undone in __aexit__

    def _cancel_all(self) -> None:
        for task in self._running:
            task.cancel()

    def _is_cancelled_by_others(self) -> bool:
        """Whether the block's task was cancelled from outside; undoes our own cancellation."""
        assert self._block is not None
        cancels = self._block.uncancel() if self._has_failed else self._block.cancelling()
        return cancels > self._cancels_before

    def _failure(self, error: BaseException | None) -> BaseException | None:
        """What the block raises: one failure as it is, or several in a group."""
        failures, self._failures = self._failures, []
        if error is not None and not isinstance(error, asyncio.CancelledError):
            failures.append(error)
        # KeyboardInterrupt and SystemExit are never wrapped.
        fatal = [failure for failure in failures if not isinstance(failure, Exception)]
        if fatal or len(failures) <= 1:
            return next(iter(fatal or failures), None)
        return BaseExceptionGroup("several tasks of a block failed", failures)


@asynccontextmanager
async def running(*parts: Runnable) -> AsyncIterator[None]:
    """Run `parts` while the block lasts; when one fails, the block fails with it."""
    async with TaskOwner() as tasks:
        for part in parts:
            tasks.spawn(part.run(), name=repr(part))
        yield


def is_cancelling() -> bool:
    """Whether this task itself is being cancelled, not just something that it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def leaf_tasks(task: asyncio.Task[Any]) -> list[asyncio.Task[Any]]:
    """The innermost running tasks below `task`; the task itself when it has no block."""
    below = [each for owner in _blocks.get(task, ()) for each in owner._running]
    if not below:
        return [] if task.done() else [task]
    return [leaf for each in below for leaf in leaf_tasks(each)]


async def cancel_and_wait(task: asyncio.Task[object]) -> None:
    """Cancel a task and wait until it has ended; raises what the task raises.

    If the caller is cancelled meanwhile, the task is still awaited first, because the caller
    owns it.
    """
    if task is asyncio.current_task():
        raise RuntimeError(f"cancel {task.get_name()}: a task cannot wait for its own end")
    task.cancel()
    interruption = await _outlast([task])
    failure = None if task.cancelled() else task.exception()
    if interruption is not None:
        raise interruption from failure
    if failure is not None:
        raise failure


async def run_to_completion(work: Coroutine[object, object, T]) -> T:
    """Await `work` to its end even if the caller is cancelled; then raise the cancellation.

    For cleanup such as releasing a lease; give it a timeout of its own. Raises what `work`
    raises; if the caller was cancelled, that error is the cause of the cancellation.
    """
    task = asyncio.create_task(work)
    interruption = await _outlast([task])
    if interruption is not None:
        failure = None if task.cancelled() else task.exception()
        raise interruption from failure
    return task.result()


async def _outlast(tasks: Iterable[asyncio.Task[Any]]) -> asyncio.CancelledError | None:
    """Wait until the tasks are done; returns a cancellation that arrived meanwhile."""
    interruption = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            interruption = error
    return interruption
