"""A call: work in the loop, and the one thread that waits for it.

Promises: what the work returns or raises comes out of the call; when the waiting is broken
off (Ctrl-C, a signal's exception), the work is cancelled and has ended before the exception
goes on; a second Ctrl-C does not wait. Context variables of the caller are seen by the work.
Elsewhere: more than one result (`stream`), blocks (`scope`).
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, final

from .errors import LoopEnded
from .portal import Portal

__all__ = ["call", "here"]

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

# Windows does not interrupt a thread that waits for a lock: there it looks up now and then.
_NAP = 0.1 if sys.platform == "win32" else None

_current: contextvars.ContextVar[_Call[Any]] = contextvars.ContextVar("kubeloop blocking call")


def call(portal: Portal, work: Callable[[], Awaitable[T]]) -> T:
    """Do `work` in the loop and wait for it here.

    Raises: what the work raises; BlockingInLoop, LoopEnded.
    """
    portal.enter()
    return _Call(portal, work).wait()


def here(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """A function for the work to await: it is called in the thread that waits for the work.

    So that what a caller hands in may block, and make blocking calls of its own.
    """

    async def ask(*args: P.args, **options: P.kwargs) -> T:
        return await _current.get().ask(lambda: function(*args, **options))

    return ask


@final
class _Call(Generic[T]):
    """The loop's side and the thread's side of one call."""

    def __init__(self, portal: Portal, work: Callable[[], Awaitable[T]]) -> None:
        self._portal = portal
        self._work = work
        self._context = contextvars.copy_context()
        # To the waiting thread: things to do there, and None when the outcome is known.
        self._mail: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._result: T | None = None
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_over = False  # no task, and there will be none

    # --- the waiting thread

    def wait(self) -> T:
        try:
            self._portal.post(self._start)
            while (errand := self._next_mail()) is not None:
                errand()
        except BaseException:
            self._break_off()
            raise
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # it knows this frame by now: no circles
        return cast("T", self._result)

    def _next_mail(self) -> Callable[[], None] | None:
        while True:
            try:
                return self._mail.get(timeout=_NAP)
            except queue.Empty:
                continue

    def _break_off(self) -> None:
        self._portal.post(self._cancel)
        while self._next_mail() is not None:
            pass  # nothing is done here for work that is not wanted any more

    # --- the loop

    def _start(self) -> None:
        if not self._is_over and not self._portal.ending:
            self._context.run(_current.set, self)
            self._task = self._portal.spawn(self._run(), context=self._context)
            self._task.add_done_callback(self._end)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        elif not self._is_over:
            self._end()

    async def _run(self) -> None:
        try:
            self._result = await self._work()
        except asyncio.CancelledError:
            self._error = LoopEnded("the call was cancelled from within the loop")
        except BaseException as error:  # noqa: BLE001 - the waiting thread is who wants it
            self._error = error

    def _end(self, _: object = None) -> None:
        self._is_over = True
        if not self._portal.ending:
            self._mail.put(None)

    async def ask(self, function: Callable[[], R]) -> R:
        """Have the waiting thread call a function, and await what comes of it."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[R] = loop.create_future()
        self._mail.put(lambda: self._answer(function, answer))
        return await answer

    def _answer(self, function: Callable[[], R], answer: asyncio.Future[R]) -> None:
        try:
            result = function()
        except StopIteration as error:
            failure: Exception = RuntimeError("a function that was handed in raised StopIteration")
            failure.__cause__ = error  # no future takes a StopIteration
            self._portal.post(lambda: _settle(answer, error=failure))
        except Exception as error:  # noqa: BLE001 - it is the work's, which may mend it
            failure = error
            self._portal.post(lambda: _settle(answer, error=failure))
        else:
            self._portal.post(lambda: _settle(answer, result))


def _settle(
    answer: asyncio.Future[R], result: R | None = None, *, error: Exception | None = None
) -> None:
    if answer.done():  # cancelled meanwhile
        return
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(cast("R", result))
