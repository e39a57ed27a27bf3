"""A call: work in the loop, and the one thread that waits for it.

Promises: what the work returns or raises comes out of the call; when the waiting is broken
off (Ctrl-C, a signal's exception), the work is cancelled and has ended before the exception
goes on; a second Ctrl-C does not wait. Context variables of the caller are seen by the work.
Elsewhere: more than one result (`stream`), blocks (`scope`).
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import queue
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, final

from .portal import Place, Portal

__all__ = ["answer", "call", "here"]

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

# A thread that waits for a lock looks up now and then: Windows does not interrupt it at all, and
# elsewhere another thread may take the signal, as when a process was stopped that it came to.
_NAP = 0.1 if sys.platform == "win32" else 1.0

_current: contextvars.ContextVar[_Call[Any]] = contextvars.ContextVar("kubeloop blocking call")


def call(place: Place, work: Callable[[], Awaitable[T]]) -> T:
    """Do `work` in the loop and wait for it here.

    Raises: what the work raises; BlockingInLoop, LoopClosed.
    """
    place.portal.enter()
    return _Call[T](place).wait(work)


def here(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """A function for the work to await: it is called in the thread that waits for the work.

    So that what a caller hands in may block, and make blocking calls of its own.
    """

    async def ask(*args: P.args, **options: P.kwargs) -> T:
        return await _current.get().ask(lambda: function(*args, **options))

    return ask


@final
class _Call(Generic[T]):
    """The loop's side and the thread's side of one call.

    Whatever the work leaves open, a connection say, keeps the work's context and so this
    object: it must not keep what belongs to the caller once the call is over.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._portal = place.portal
        # To the waiting thread: things to do there, and None when the outcome is known.
        self._mail: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._result: T | None = None
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_over = False  # no task, and there will be none; said before the last mail

    # --- the waiting thread

    def wait(self, work: Callable[[], Awaitable[T]]) -> T:
        context = contextvars.copy_context()
        try:
            self._portal.post(functools.partial(self._start, work, context))
            while (errand := self._next_mail()) is not None:
                errand()
        except BaseException:
            self._break_off()
            raise
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # it knows this frame by now: no circles
        result, self._result = self._result, None
        return cast("T", result)

    def _next_mail(self) -> Callable[[], None] | None:
        while True:
            try:
                return self._mail.get(timeout=_NAP)
            except queue.Empty:
                continue

    def _break_off(self) -> None:
        self._portal.post(self._cancel)
        # The last mail may have been taken in the moment of the interruption. What else
        # comes is not done: nobody wants the work any more.
        while not self._is_over:
            self._next_mail()

    # --- the loop

    def _start(self, work: Callable[[], Awaitable[T]], context: contextvars.Context) -> None:
        if not self._is_over and not self._portal.ending:
            context.run(_current.set, self)
            self._task = self._place.spawn(self._run(work), context=context)
            self._task.add_done_callback(self._end)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        elif not self._is_over:
            self._end()

    async def _run(self, work: Callable[[], Awaitable[T]]) -> None:
        try:
            self._result = await work()
        except asyncio.CancelledError:
            self._error = self._place.why_cancelled()
        except BaseException as error:  # noqa: BLE001 - the waiting thread is who wants it
            self._error = error

    def _end(self, _: object = None) -> None:
        self._is_over = True
        self._task = None  # its context knows this call: no circles
        if not self._portal.ending:
            self._mail.put(None)

    async def ask(self, function: Callable[[], R]) -> R:
        """Have the waiting thread call a function, and await what comes of it."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._mail.put(lambda: answer(self._portal, function, future, catch=Exception))
        return await future


def answer(
    portal: Portal,
    function: Callable[[], R],
    future: asyncio.Future[R],
    *,
    catch: type[BaseException],
) -> None:
    """Call a function in this thread, for a future of the loop; other errors leave here."""
    try:
        result = function()
    except catch as error:
        settle = functools.partial(future.set_exception, _bearable(error))
    else:
        settle = functools.partial(future.set_result, result)
    portal.post(lambda: None if future.done() else settle())


def _bearable(error: BaseException) -> Exception:
    """The error, as a future and a task can carry it."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    failure = RuntimeError(f"a function that was handed in raised {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
