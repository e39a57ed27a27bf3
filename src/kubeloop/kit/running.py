"""Running a program's main coroutine, on the fastest event loop there is.

Guarantees: as `asyncio.run`: one new loop, closed at the end, with all tasks cancelled; Ctrl-C
cancels the main task. Beyond that, SIGTERM does the same as Ctrl-C, and the end has a bound:
tasks that ignore cancellation and threads that never end are left behind, with a log line. What
runs in threads of `asyncio.to_thread` can be waited for, also after its caller was cancelled.
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
    "TASKS_WITHIN",
    "THREADS_WITHIN",
    "ThreadCalls",
    "end_run_at_once",
    "new_event_loop",
    "run",
]

T = TypeVar("T")
P = ParamSpec("P")
log = logging.getLogger(__name__)

TASKS_WITHIN = 5.0
"""Seconds that tasks are given to end after `main` has; half-way they are cancelled once more."""
THREADS_WITHIN = 10.0
"""Seconds that threads of `asyncio.to_thread` are given to end after that."""


def run(main: Coroutine[Any, Any, T], *, debug: bool | None = None) -> T:
    """Run `main` to its end on a new loop and return what it returns.

    SIGTERM cancels `main`, as Ctrl-C does, so that `finally` and `async with` are left in order;
    then `SystemExit(143)` is raised, after Ctrl-C `KeyboardInterrupt`. A second signal does not
    wait for that. Handlers of your own stay, and while a `Manager` runs, its handlers count.

    Raises: RuntimeError when a loop is running in this thread already, TypeError when `main` is
    no coroutine.
    """
    if not asyncio.iscoroutine(main):
        raise TypeError(f"run {main!r}: it is no coroutine (call the async function: run(main()))")
    if asyncio._get_running_loop() is not None:
        main.close()
        raise RuntimeError("run: a loop is running in this thread already (await it instead)")
    runner = asyncio.Runner(loop_factory=new_event_loop, debug=debug)
    threads = _DaemonThreads()
    runner.get_loop().set_default_executor(threads)
    watched = _Main()
    try:
        with _handled_signals(watched):
            return runner.run(watched.run(main))
    except asyncio.CancelledError:
        if watched.ended_by is None:
            raise
        raise _exit_for(watched.ended_by) from None
    finally:
        _close(runner, threads, at_once=watched.is_given_up)


def end_run_at_once(number: int) -> None:
    """Have the `run` of the main thread end as after a second signal, which is `number`.

    For those who handle signals in its place: once `main` has ended, no task and no thread is
    waited for. Does nothing where there is no `run`.
    """
    for main in _in_main_thread:
        main.give_up(number)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop of uvloop where that is installed, else the standard one."""
    try:
        import uvloop
    except ImportError:  # Windows, PyPy
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


# --- signals


@final
class _Main:
    """The main task; cancelled by the first signal, and given up at the second."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None  # while it runs
        self._came: int | None = None  # the first signal
        self.ended_by: int | None = None  # the signal that ended it
        self.is_given_up = False

    async def run(self, main: Coroutine[Any, Any, T]) -> T:
        self._task = task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        try:
            return await main
        except asyncio.CancelledError:
            # Cancelled by others as well, it is not for us to say why.
            if self._came is not None and not task.uncancel():
                self.ended_by = self._came
            raise
        finally:
            self._task = None

    def on_signal(self, number: int, _: object) -> None:
        if self._came is not None or self._task is None:
            self.give_up(number)
            raise _exit_for(number)
        self._came = number
        self._task.cancel()
        # The loop may sleep, and a handler in Python does not wake it.
        self._task.get_loop().call_soon_threadsafe(lambda: None)

    def give_up(self, number: int) -> None:
        """Wait for nothing once `main` has ended; when it was cancelled, the signal did it."""
        self._came = self._came or number
        self.is_given_up = True


_in_main_thread: list[_Main] = []  # one, while it runs


def _exit_for(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


@contextlib.contextmanager
def _handled_signals(main: _Main) -> Iterator[None]:
    """Have signals end `main`, in the main thread and where the program has no handlers."""
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


# --- the end


def _close(runner: asyncio.Runner, threads: _DaemonThreads, *, at_once: bool) -> None:
    """As `Runner.close`, which waits for every task and thread however long they take."""
    loop = runner.get_loop()
    left: set[asyncio.Task[Any]] = set()
    is_waiting = True
    try:
        if not at_once:
            left = loop.run_until_complete(_end_tasks())
            is_waiting = not threads.wait_all(THREADS_WITHIN)
    finally:
        if left or is_waiting:
            _leave_behind(loop, is_waiting=is_waiting and not at_once)
        else:
            runner.close()


async def _end_tasks() -> set[asyncio.Task[Any]]:
    """Cancel all tasks, twice if need be; returns those that have not ended."""
    left: set[asyncio.Task[Any]] = asyncio.all_tasks()
    left.discard(cast("asyncio.Task[Any]", asyncio.current_task()))
    for _ in range(2):
        for task in left:
            task.cancel()
        if left:
            ended, left = await asyncio.wait(left, timeout=TASKS_WITHIN / 2)
            _report_failures(ended)
    generators = asyncio.ensure_future(asyncio.get_running_loop().shutdown_asyncgens())
    _, waiting = await asyncio.wait([generators], timeout=TASKS_WITHIN)
    return left | waiting


def _report_failures(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            what = {"message": "a task failed at the end of the program", "exception": error}
            asyncio.get_running_loop().call_exception_handler({**what, "task": task})


def _leave_behind(loop: asyncio.AbstractEventLoop, *, is_waiting: bool) -> None:
    left = asyncio.all_tasks(loop)
    names = sorted(task.get_name() for task in left)
    if is_waiting:
        names.append("a thread of asyncio.to_thread")
    if names:
        log.error("the program has ended, still running and left behind: %s", ", ".join(names))
    _keep(left)
    loop.close()


_kept: list[object] = []


def _keep(tasks: set[asyncio.Task[Any]]) -> None:
    """Never let go of tasks that cannot end.

    Python would throw GeneratorExit into them, and one that swallows it would go round for
    ever, with no loop that could stop it.
    """
    if not _kept:
        atexit.register(_keep_at_exit)
    for task in tasks:
        vars_of: Any = task
        vars_of._log_destroy_pending = False  # reported in our own words
    _kept.append(tasks)


def _keep_at_exit() -> None:
    circle: list[object] = [*_kept]
    circle.append(circle)
    gc.freeze()  # what is in a circle is only found by the collector, which does not look here


# --- threads


@final
class ThreadCalls:
    """What a block of code has running in threads, by `asyncio.to_thread` and below `run`.

    Tasks and blocks that begin in the block count as well. A thread cannot be cancelled: when a
    block of code was, this tells whether its work is over. With another executor than that of
    `run` nothing is known, and there is nothing to wait for.

        with ThreadCalls() as calls:
            try:
                await work()
            finally:
                await calls.ended()
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

    async def ended(self) -> None:
        """Wait until none runs any more; a cancellation meanwhile is put off until then."""
        loop = asyncio.get_running_loop()
        interruption = None
        while pending := list(self._running):
            ended = asyncio.Event()

            def wake(_: object, ended: asyncio.Event = ended) -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
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
class _DaemonThreads(ThreadPoolExecutor):  # a loop takes no other kind
    """A pool whose threads do not keep the process from ending.

    Those of the standard pool are joined when Python exits, however long they take.
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
        # The standard loop resolves host names here: that is no work of the caller's.
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
        """Shut down, and wait for what is in work; False when that takes longer."""
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
            del call  # or what it holds would live until the next one comes


def _work(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - the caller's, who awaits it
        future.set_exception(error)
