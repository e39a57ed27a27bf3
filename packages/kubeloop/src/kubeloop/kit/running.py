"""Runs the main coroutine of a program on uvloop, where it is installed.

Guarantees: as `asyncio.run`: one new loop, closed at the end, with all tasks cancelled; Ctrl-C
cancels the main task. Beyond that, SIGTERM does the same as Ctrl-C, and the end has a bound:
tasks that ignore cancellation and threads that never end are abandoned, with a log line. Calls
of `asyncio.to_thread` can be awaited even after their caller was cancelled.
See also: ending a whole controller process in order (`kubeloop.runtime.Manager`).
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import functools
import gc
import logging
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, Self, TypeVar, cast, final

__all__ = [
    "TASKS_GRACE",
    "THREADS_GRACE",
    "ThreadCalls",
    "abort_run",
    "new_event_loop",
    "run",
]

T = TypeVar("T")
P = ParamSpec("P")
log = logging.getLogger(__name__)

TASKS_GRACE = 5.0
"""Seconds that tasks have to end after `main`; after half of it they are cancelled again."""
THREADS_GRACE = 10.0
"""Seconds that threads of `asyncio.to_thread` then have to end."""


def run(main: Coroutine[Any, Any, T], *, debug: bool | None = None) -> T:
    """Run `main` on a new event loop and return its result.

    SIGTERM cancels `main`, as Ctrl-C does, so that `finally` and `async with` blocks run; then
    `SystemExit(143)` is raised, after Ctrl-C `KeyboardInterrupt`. A second signal does not wait
    for that, and an error that `main` raises after it is logged, not raised. Your own signal
    handlers are kept, and a running `Manager` uses its own.

    Raises: RuntimeError when an event loop is already running in this thread, TypeError when
    `main` is not a coroutine.
    """
    if not asyncio.iscoroutine(main):
        raise TypeError(
            f"run {main!r}: it is not a coroutine (call the async function: run(main()))"
        )
    if asyncio._get_running_loop() is not None:
        main.close()
        raise RuntimeError(
            "run: an event loop is already running in this thread (await it instead)"
        )
    runner = asyncio.Runner(loop_factory=new_event_loop, debug=debug)
    threads = _DaemonThreads()
    runner.get_loop().set_default_executor(threads)
    main_task = _MainTask()
    try:
        with _handle_signals(main_task):
            return runner.run(main_task.run(main))
    except asyncio.CancelledError:
        if main_task.ended_by is None:
            raise
        raise _exit_for(main_task.ended_by) from None
    except Exception as error:
        if main_task.aborted_by is None:
            raise
        log.error("the program ends at once, with a failure: %s", error)
        raise _exit_for(main_task.aborted_by) from error
    finally:
        _close(runner, threads, at_once=main_task.aborted_by is not None)


def abort_run(number: int) -> None:
    """Make `run` in the main thread end as after a second signal `number`.

    For code that handles signals itself: once `main` has ended, `run` waits for no task and no
    thread. Does nothing if there is no `run`.
    """
    for main in _in_main_thread:
        main.abort(number)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """An event loop of uvloop where it is installed, else of asyncio."""
    try:
        import uvloop
    except ImportError:  # Windows, PyPy
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


# --- signals


@final
class _MainTask:
    """The main task: the first signal cancels it, the second one no longer waits for it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None  # while it runs
        self._first_signal: int | None = None
        self.ended_by: int | None = None  # the signal that ended it
        self.aborted_by: int | None = None  # the signal after which nothing is waited for

    async def run(self, main: Coroutine[Any, Any, T]) -> T:
        self._task = task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        try:
            return await main
        except asyncio.CancelledError:
            # If others cancelled it as well, the signal is not the only cause.
            if self._first_signal is not None and not task.uncancel():
                self.ended_by = self._first_signal
            raise
        finally:
            self._task = None

    def on_signal(self, number: int, _: object) -> None:
        if self._first_signal is not None or self._task is None:
            self.abort(number)
            raise _exit_for(number)
        self._first_signal = number
        self._task.cancel()
        # A signal handler in Python does not wake a sleeping event loop.
        self._task.get_loop().call_soon_threadsafe(lambda: None)

    def abort(self, number: int) -> None:
        """Wait for nothing once `main` has ended."""
        self._first_signal = self._first_signal or number
        self.aborted_by = number


_in_main_thread: list[_MainTask] = []  # at most one, while it runs


def _exit_for(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


@contextlib.contextmanager
def _handle_signals(main: _MainTask) -> Iterator[None]:
    """Let signals end `main`: in the main thread, unless the program has its own handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    ours = {which: before for which, before in usual.items() if signal.getsignal(which) is before}
    for which in ours:
        signal.signal(which, main.on_signal)
    _in_main_thread.append(main)
    try:
        yield
    finally:
        _in_main_thread.remove(main)
        for which, before in ours.items():
            if signal.getsignal(which) == main.on_signal:
                signal.signal(which, before)


# --- closing


def _close(runner: asyncio.Runner, threads: _DaemonThreads, *, at_once: bool) -> None:
    """Like `Runner.close`, but with a bound: that waits for every task and thread forever."""
    loop = runner.get_loop()
    left: set[asyncio.Task[Any]] = set()
    is_waiting = True
    try:
        if not at_once:
            left = loop.run_until_complete(_end_tasks())
            is_waiting = not threads.wait_all(THREADS_GRACE)
    finally:
        if left or is_waiting:
            _abandon(loop, is_waiting=is_waiting and not at_once)
        else:
            runner.close()


async def _end_tasks() -> set[asyncio.Task[Any]]:
    """Cancel all tasks, twice if necessary; returns those that have not ended."""
    left: set[asyncio.Task[Any]] = asyncio.all_tasks()
    left.discard(cast("asyncio.Task[Any]", asyncio.current_task()))
    for _ in range(2):
        for task in left:
            task.cancel()
        if left:
            ended, left = await asyncio.wait(left, timeout=TASKS_GRACE / 2)
            _report_failures(ended)
    generators = asyncio.ensure_future(asyncio.get_running_loop().shutdown_asyncgens())
    _, waiting = await asyncio.wait([generators], timeout=TASKS_GRACE)
    return left | waiting


def _report_failures(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            what = {"message": "a task failed at the end of the program", "exception": error}
            asyncio.get_running_loop().call_exception_handler({**what, "task": task})


def _abandon(loop: asyncio.AbstractEventLoop, *, is_waiting: bool) -> None:
    left = asyncio.all_tasks(loop)
    names = sorted(task.get_name() for task in left)
    if is_waiting:
        names.append("a thread of asyncio.to_thread")
    if names:
        log.error("the program ends, abandoning what still runs: %s", ", ".join(names))
    _keep(left)
    loop.close()


_kept: list[object] = []


def _keep(tasks: set[asyncio.Task[Any]]) -> None:
    """Keep a reference to tasks that cannot end.

    Otherwise Python would throw GeneratorExit into them, and one that swallows it would run
    forever, with no event loop that could stop it.
    """
    if not _kept:
        atexit.register(_keep_at_exit)
    for task in tasks:
        vars_of: Any = task
        vars_of._log_destroy_pending = False  # `_abandon` has logged it
    _kept.append(tasks)


def _keep_at_exit() -> None:
    cycle: list[object] = [*_kept]
    cycle.append(cycle)
    gc.freeze()  # only the collector would free a cycle, and it ignores frozen objects


# --- threads


@final
class ThreadCalls:
    """The calls of `asyncio.to_thread` that a block of code has running, under `run`.

    Tasks that start in the block are included. A thread cannot be cancelled: after the block was
    cancelled, this waits for its threads. With an executor other than that of `run`, no calls are
    known and there is nothing to wait for.

        with ThreadCalls() as calls:
            try:
                await work()
            finally:
                await calls.wait()
    """

    def __init__(self) -> None:
        self._running: set[Future[Any]] = set()
        self._outer: ThreadCalls | None = None
        self._token: contextvars.Token[ThreadCalls | None] | None = None  # in the block

    def add(self, call: Future[Any]) -> None:
        self._running.add(call)
        call.add_done_callback(self._running.discard)
        if self._outer is not None:
            self._outer.add(call)

    async def wait(self) -> None:
        """Wait until all calls have returned; a cancellation is deferred until then."""
        loop = asyncio.get_running_loop()
        interruption = None
        while pending := list(self._running):
            ended = asyncio.Event()

            def wake(_: object, ended: asyncio.Event = ended) -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(ended.set)

            pending[0].add_done_callback(wake)
            try:
                await ended.wait()
            except asyncio.CancelledError as error:
                interruption = error
        if interruption is not None:
            raise interruption

    def __enter__(self) -> Self:
        self._outer = _thread_calls.get()
        self._token = _thread_calls.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None, "a block ends once, after it has begun"
        _thread_calls.reset(self._token)


_thread_calls: contextvars.ContextVar[ThreadCalls | None] = contextvars.ContextVar(
    "kubeloop_thread_calls", default=None
)


@final
class _DaemonThreads(ThreadPoolExecutor):  # set_default_executor accepts no other type
    """A pool of daemon threads, which do not keep the process from exiting.

    Python joins the threads of the standard pool at exit, however long they take.
    """

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        self._calls: deque[Callable[[], None]] = deque()
        self._daemons: list[threading.Thread] = []
        self._idle = 0
        self._has_ended = False

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        with self._changed:
            if self._has_ended:
                raise RuntimeError(f"call {function!r} in a thread: the loop is being closed")
            call = functools.partial(function, *args, **kwargs)
            self._calls.append(functools.partial(_work, future, call))
            if self._idle < len(self._calls) and len(self._daemons) < self._max_workers:
                thread = threading.Thread(target=self._serve, name="kubeloop thread", daemon=True)
                thread.start()
                self._daemons.append(thread)
            self._changed.notify()
        calls = _thread_calls.get()
        # asyncio resolves host names in this pool; that is not work of the caller.
        if calls is not None and function is not socket.getaddrinfo:
            calls.add(future)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002, ARG002 - as the standard pool
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()
        for thread in self._daemons if wait else ():
            thread.join()

    def wait_all(self, seconds: float) -> bool:
        """Shut down and wait for running calls; False if they take longer than `seconds`."""
        self.shutdown(wait=False)
        until = time.monotonic() + seconds
        for thread in self._daemons:
            thread.join(max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._daemons)

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._calls or self._has_ended)
                self._idle -= 1
                if not self._calls:
                    return
                call = self._calls.popleft()
            call()
            del call  # or its arguments would stay alive until the next call


def _work(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - raised where the future is awaited
        future.set_exception(error)
