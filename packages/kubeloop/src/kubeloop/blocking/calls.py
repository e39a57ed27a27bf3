"""A blocking call: a coroutine runs in the loop thread, and the caller waits for it.

Guarantees: the call returns or raises what the coroutine does. If the caller is interrupted
(Ctrl-C, an exception of a signal handler), the task is cancelled and has ended before the
exception propagates; a second Ctrl-C does not wait. The task has the context variables of the
caller.
See also: `stream` (several results), `context` (`with` blocks).
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import queue
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, final

from .portal import Portal, TaskScope

__all__ = ["call", "in_caller_thread", "resolve"]

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

# A thread that waits for a lock wakes up from time to time to run signal handlers: Windows does
# not interrupt the wait, and elsewhere the signal may be delivered to another thread.
_POLL = 0.1 if sys.platform == "win32" else 1.0

_current: contextvars.ContextVar[_Call[Any]] = contextvars.ContextVar("kubeloop blocking call")


def call(scope: TaskScope, function: Callable[[], Awaitable[T]]) -> T:
    """Await the result of `function` in the loop thread, and wait for it here.

    Raises: what the function raises; BlockingInLoop, LoopClosed.
    """
    scope.portal.enter()
    return _Call[T](scope).wait(function)


def in_caller_thread(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """An async function that runs `function` in the thread that waits for the call.

    So a function of the user may block, and make blocking calls itself.
    """

    async def run(*args: P.args, **options: P.kwargs) -> T:
        return await _current.get().run_in_caller(lambda: function(*args, **options))

    return run


@final
class _Call(Generic[T]):
    """One call, as the caller's thread and the loop thread see it.

    Objects that outlive the call, such as a connection, keep its context and so this object
    alive: after the call it must not reference anything of the caller.
    """

    def __init__(self, scope: TaskScope) -> None:
        self._scope = scope
        self._portal = scope.portal
        # For the caller's thread: functions to call there; None when the call has ended.
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._result: T | None = None
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_over = False  # no task, and none will start; set before None is put into the inbox

    # --- the caller's thread

    def wait(self, function: Callable[[], Awaitable[T]]) -> T:
        context = contextvars.copy_context()
        try:
            self._portal.post(functools.partial(self._start, function, context))
            while (callback := self._next()) is not None:
                callback()
        except BaseException:
            self._abort()
            raise
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # its traceback references this frame: avoid a cycle
        result, self._result = self._result, None
        return cast("T", result)

    def _next(self) -> Callable[[], None] | None:
        while True:
            try:
                return self._inbox.get(timeout=_POLL)
            except queue.Empty:
                continue

    def _abort(self) -> None:
        self._portal.post(self._cancel)
        # The final None may have been taken just before the interruption. Other callbacks are
        # not called: the call is aborted.
        while not self._is_over:
            self._next()

    # --- the loop thread

    def _start(self, function: Callable[[], Awaitable[T]], context: contextvars.Context) -> None:
        if not self._is_over and not self._portal.is_closing:
            context.run(_current.set, self)
            self._task = self._scope.spawn(self._run(function), context=context)
            self._task.add_done_callback(self._end)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        elif not self._is_over:
            self._end()

    async def _run(self, function: Callable[[], Awaitable[T]]) -> None:
        try:
            self._result = await function()
        except asyncio.CancelledError:
            self._error = self._scope.cancellation_error()
        except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
            self._error = error

    def _end(self, _: object = None) -> None:
        self._is_over = True
        self._task = None  # its context references this call: avoid a cycle
        if not self._portal.is_closing:
            self._inbox.put(None)

    async def run_in_caller(self, function: Callable[[], R]) -> R:
        """Call a function in the caller's thread, and await its result."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._inbox.put(lambda: resolve(self._portal, function, future, catch=Exception))
        return await future


def resolve(
    portal: Portal,
    function: Callable[[], R],
    future: asyncio.Future[R],
    *,
    catch: type[BaseException],
) -> None:
    """Call a function in this thread, and set its result on a future of the loop.

    Errors other than `catch` propagate here.
    """
    try:
        result = function()
    except catch as error:
        settle = functools.partial(future.set_exception, _as_exception(error))
    else:
        settle = functools.partial(future.set_result, result)
    portal.post(lambda: None if future.done() else settle())


def _as_exception(error: BaseException) -> Exception:
    """The error as an exception that a future accepts."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    failure = RuntimeError(f"a callback raised {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
