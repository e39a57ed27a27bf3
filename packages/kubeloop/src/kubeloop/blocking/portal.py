"""One event loop in one thread, for all blocking calls of the process.

Guarantees: the first call starts the thread; calls are thread-safe; when the interpreter exits,
tasks are cancelled and connections closed, in bounded time. The loop is paused between two
callbacks while the process forks, so that the child does not inherit a held lock or a partly
imported module. The child drops the thread, the loop and the connections of its parent without
touching them, and starts its own at its first call.
See also: `calls` (how a thread waits), `reference` (what is created again after a fork).
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Protocol, final

import msgspec

from kubeloop.errors import KubeError, TransportError

from .errors import BlockingInLoop, LoopClosed

__all__ = ["PORTAL", "ClientScope", "Closable", "Portal", "PortalStats", "TaskScope"]

# Seconds for cancelled tasks to end when the interpreter exits, and then for the thread.
_TASK_TIMEOUT = 1.0
_THREAD_TIMEOUT = 2.0
# Seconds that a fork waits for the current callback of the loop, which may import a module on a
# busy machine. A longer one may wait for a lock that the forking thread holds.
_PAUSE_TIMEOUT = 10.0


class Closable(Protocol):
    """An object with connections."""

    async def aclose(self) -> None: ...


class TaskScope(Protocol):
    """Owns the tasks of calls, streams and contexts: the portal, or one client."""

    @property
    def portal(self) -> Portal: ...

    def spawn(
        self, work: Coroutine[Any, Any, None], *, context: Context | None = None
    ) -> asyncio.Task[None]: ...

    def cancellation_error(self) -> KubeError:
        """The error for a caller whose task was cancelled by something else."""
        ...


class PortalStats(msgspec.Struct, frozen=True):
    """Counters of the loop thread."""

    running: bool
    forks: int  # from the first process to this one
    tasks: int
    clients: int  # open ones


@final
class _Loop:
    """A loop, its thread, tasks and clients; only that thread changes the sets."""

    def __init__(self) -> None:
        # Not uvloop: a forked process with its threads crashes at exit.
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="kubeloop", daemon=True)
        self.tasks: set[asyncio.Task[None]] = set()
        self.clients: set[Closable] = set()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self._close())
        finally:
            self.loop.close()

    async def _close(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_TASK_TIMEOUT)
        await asyncio.gather(*(each.aclose() for each in self.clients), return_exceptions=True)
        await self.loop.shutdown_asyncgens()


@final
class _Pause:
    """Blocks the loop from `reached` until `over`."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.over = threading.Event()

    def block(self) -> None:
        self.reached.set()
        self.over.wait(_PAUSE_TIMEOUT)


@final
class Portal:
    """Calls functions in the loop thread from other threads. One per process: `PORTAL`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: _Loop | None = None
        self._forks = 0
        self._is_closing = False
        self._forking = threading.local()  # `pause`, in the thread that forks

    @property
    def portal(self) -> Portal:
        return self

    @property
    def forks(self) -> int:
        """The fork count: an object with another count belongs to another process."""
        return self._forks

    @property
    def is_closing(self) -> bool:
        """Whether the interpreter exits; waiting threads are not woken then."""
        return self._is_closing

    # --- from any thread

    def enter(self) -> None:
        """Start the loop if needed, and check that this thread may wait.

        Raises: BlockingInLoop, LoopClosed.
        """
        _check_no_running_loop()
        self._ensure_loop()

    def post(self, function: Callable[[], object]) -> None:
        """Call a function in the loop thread, without waiting for it.

        Raises: LoopClosed.
        """
        current = self._ensure_loop()
        try:
            current.loop.call_soon_threadsafe(function)
        except RuntimeError as error:  # closed meanwhile
            raise LoopClosed(_CLOSED) from error

    def post_if_running(self, function: Callable[[], object], *, forks: int) -> None:
        """As `post`, but only if the loop runs, and no fork happened since `forks`."""
        current = self._loop
        if current is None or forks != self._forks or self._is_closing:
            return
        try:
            current.loop.call_soon_threadsafe(function)
        except RuntimeError:  # closed meanwhile, and all clients with it
            return

    def stats(self) -> PortalStats:
        current = self._loop
        return PortalStats(
            running=current is not None and not self._is_closing,
            forks=self._forks,
            tasks=len(current.tasks) if current else 0,
            clients=len(current.clients) if current else 0,
        )

    # --- from the loop thread

    def spawn(
        self, work: Coroutine[Any, Any, None], *, context: Context | None = None
    ) -> asyncio.Task[None]:
        """Start a task that the portal owns; `work` must not raise."""
        current = self._running()
        task = current.loop.create_task(work, context=context)
        current.tasks.add(task)
        task.add_done_callback(current.tasks.discard)
        return task

    def own(self, client: Closable) -> None:
        """Close the client when the interpreter exits, unless it is closed before."""
        self._running().clients.add(client)

    async def close_owned(self, client: Closable) -> None:
        """Close the client now. Safe to cancel: it is closed at exit then."""
        await client.aclose()
        self._running().clients.discard(client)

    def cancellation_error(self) -> KubeError:
        """As `TaskScope`."""
        return LoopClosed("the call was cancelled in the loop thread")

    # --- exit and fork

    def close(self) -> None:
        """Cancel tasks, close clients and stop the thread, because the interpreter exits.

        Only daemon threads can still wait; they are not woken, because they would fail in an
        interpreter that shuts down.
        """
        was_closing, self._is_closing = self._is_closing, True
        current = self._loop
        if current is not None and not was_closing:
            current.loop.call_soon_threadsafe(current.loop.stop)
            current.thread.join(_THREAD_TIMEOUT)

    def before_fork(self) -> None:
        """Pause the loop between two callbacks."""
        current = self._loop
        if current is None or self._is_closing or current.thread is threading.current_thread():
            return
        self._forking.pause = pause = _Pause()
        current.loop.call_soon_threadsafe(pause.block)
        pause.reached.wait(_PAUSE_TIMEOUT)

    def after_fork(self) -> None:
        """Resume the loop of the parent."""
        pause: _Pause | None = self._forking.__dict__.pop("pause", None)
        if pause is not None:
            pause.over.set()

    def reset(self) -> None:
        """Become the portal of a forked child."""
        old, self._loop = self._loop, None
        self._lock = threading.Lock()  # the old one may be held by a thread of the parent
        self._forks += 1
        if old is not None:
            # Sockets and selector are shared with the parent. Garbage collection would close
            # them, and change the epoll set of the parent.
            _leak((old, asyncio.all_tasks(old.loop)))

    def _ensure_loop(self) -> _Loop:
        if self._is_closing:
            raise LoopClosed(_CLOSED)
        current = self._loop
        return current if current is not None else self._start()

    def _start(self) -> _Loop:
        with self._lock:
            if self._loop is None:
                new = _Loop()
                try:
                    new.thread.start()
                except RuntimeError as error:  # the interpreter exits, or too many threads
                    new.loop.close()
                    raise LoopClosed(f"start the loop thread: {error}") from error
                self._loop = new
            return self._loop

    def _running(self) -> _Loop:
        assert self._loop is not None, "called in the loop thread"
        return self._loop


@final
class ClientScope:
    """The tasks of one client, which are cancelled when it is closed."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._tasks: set[asyncio.Task[None]] = set()  # changed by the loop thread only
        self._is_closed = False

    @property
    def portal(self) -> Portal:
        return self._portal

    def spawn(
        self, work: Coroutine[Any, Any, None], *, context: Context | None = None
    ) -> asyncio.Task[None]:
        """As `Portal.spawn`."""
        task = self._portal.spawn(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel all tasks, and wait for them. If cancelled, they may still run."""
        self._is_closed = True
        loop = asyncio.get_running_loop()
        # After a fork the set also has tasks of the parent, which must not be touched.
        tasks = [task for task in self._tasks if task.get_loop() is loop]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def cancellation_error(self) -> KubeError:
        """As `TaskScope`."""
        if self._is_closed:
            return TransportError("send a request: the client was closed meanwhile")
        return self._portal.cancellation_error()


_CLOSED = "send a request: the program is exiting (send it before, or in an earlier atexit handler)"


def _check_no_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise BlockingInLoop(
        "a blocking call in a thread with a running event loop would block that loop"
        " (use kubeloop.Client and await it, or asyncio.to_thread)"
    )


def _leak(value: object) -> None:
    """Keep an object alive on purpose, even at interpreter exit."""
    _leaked.append(value)
    if sys.implementation.name == "cpython":
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


_leaked: list[object] = []

PORTAL = Portal()

atexit.register(PORTAL.close)
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(
        before=PORTAL.before_fork,
        after_in_parent=PORTAL.after_fork,
        after_in_child=PORTAL.reset,
    )
