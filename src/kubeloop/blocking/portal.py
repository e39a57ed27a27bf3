"""One event loop in one thread, for all blocking calls of the process.

Promises: the thread is started by the first call and never before; calls may come from any
thread; when the interpreter ends, what runs is cancelled and every connection closed, in
bounded time. While the process is forked the loop stands still between two steps, so that a
child does not inherit half a step: a lock that nobody will release, half a module. The child
forgets the thread, the loop and the connections of its parent without touching them, and
starts its own at its first call.
Elsewhere: how a thread waits for a call (`calls`), what is made anew after a fork (`route`).
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

__all__ = ["PORTAL", "Branch", "Closable", "Place", "Portal", "PortalStats"]

# What is cancelled at the end of the program has so long to close, and then the thread.
_PATIENCE = 1.0
_LAST_PATIENCE = 2.0
# A fork waits so long for the step that the loop is at, which may be the import of a module on
# a busy machine; one that takes longer may wait for something that the forking thread holds.
_LONGEST_STEP = 10.0


class Closable(Protocol):
    """What holds connections."""

    async def aclose(self) -> None: ...


class Place(Protocol):
    """Where the work of calls, streams and blocks is done: the portal, or a branch of it."""

    @property
    def portal(self) -> Portal: ...

    def spawn(
        self, work: Coroutine[Any, Any, None], *, context: Context | None = None
    ) -> asyncio.Task[None]: ...

    def why_cancelled(self) -> KubeError:
        """What to raise when work was cancelled by nobody who waits for it."""
        ...


class PortalStats(msgspec.Struct, frozen=True):
    """What goes on behind the portal."""

    running: bool
    forks: int  # between the first process and this one
    tasks: int
    clients: int  # that are open


@final
class _Loop:
    """A loop, its thread and what lives there; the sets are touched by that thread alone."""

    def __init__(self) -> None:
        # Not uvloop: a process that is forked beside its threads crashes when it ends.
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._serve, name="kubeloop", daemon=True)
        self.tasks: set[asyncio.Task[None]] = set()
        self.clients: set[Closable] = set()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self._farewell())
        finally:
            self.loop.close()

    async def _farewell(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_PATIENCE)
        await asyncio.gather(*(each.aclose() for each in self.clients), return_exceptions=True)
        await self.loop.shutdown_asyncgens()


@final
class _Pause:
    """The loop stands still from `reached` until `over`."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.over = threading.Event()

    def hold(self) -> None:
        self.reached.set()
        self.over.wait(_LONGEST_STEP)


@final
class Portal:
    """The way from threads into the loop. There is one a process: `PORTAL`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: _Loop | None = None
        self._forks = 0
        self._ending = False
        self._forking = threading.local()  # `pause`: the loop's, for the thread that forks

    @property
    def portal(self) -> Portal:
        return self

    @property
    def forks(self) -> int:
        """Grows with each fork: what was opened under another number is another process's."""
        return self._forks

    @property
    def ending(self) -> bool:
        """Whether the program is at its end; nobody is woken any more then."""
        return self._ending

    # --- from any thread

    def enter(self) -> None:
        """Make sure that the loop is there and that waiting for it is no harm.

        Raises: BlockingInLoop, LoopClosed.
        """
        _refuse_in_loop()
        self._running()

    def post(self, function: Callable[[], object]) -> None:
        """Have a function called in the loop, soon.

        Raises: LoopClosed.
        """
        there = self._running()
        try:
            there.loop.call_soon_threadsafe(function)
        except RuntimeError as error:  # closed while we asked
            raise LoopClosed(_ENDED) from error

    def post_if_running(self, function: Callable[[], object], *, forks: int) -> None:
        """As `post`, but only to the loop that there is, and only if no fork came between."""
        there = self._there
        if there is None or forks != self._forks or self._ending:
            return
        try:
            there.loop.call_soon_threadsafe(function)
        except RuntimeError:  # closed while we asked: what was to be closed is closed
            return

    def stats(self) -> PortalStats:
        there = self._there
        return PortalStats(
            running=there is not None and not self._ending,
            forks=self._forks,
            tasks=len(there.tasks) if there else 0,
            clients=len(there.clients) if there else 0,
        )

    # --- from the loop's thread

    def spawn(
        self, work: Coroutine[Any, Any, None], *, context: Context | None = None
    ) -> asyncio.Task[None]:
        """Run `work`, which must not raise, and be its owner."""
        there = self._here()
        task = there.loop.create_task(work, context=context)
        there.tasks.add(task)
        task.add_done_callback(there.tasks.discard)
        return task

    def own(self, client: Closable) -> None:
        """Close it at the end, unless somebody does so before."""
        self._here().clients.add(client)

    async def close_owned(self, client: Closable) -> None:
        """Close it now. Safe to cancel: it is closed at the end of the program then."""
        await client.aclose()
        self._here().clients.discard(client)

    def why_cancelled(self) -> KubeError:
        """As `Place` says."""
        return LoopClosed("the call was cancelled from within the loop")

    # --- the ends

    def end(self) -> None:
        """Cancel what runs, close what is open, end the thread: the interpreter is ending.

        Threads that still wait are left asleep: all others have ended before, and a daemon
        that woke up now would only complain.
        """
        was_ending, self._ending = self._ending, True
        there = self._there
        if there is not None and not was_ending:
            there.loop.call_soon_threadsafe(there.loop.stop)
            there.thread.join(_LAST_PATIENCE)

    def before_fork(self) -> None:
        """Let the loop stand still, between two steps."""
        there = self._there
        if there is None or self._ending or there.thread is threading.current_thread():
            return
        self._forking.pause = pause = _Pause()
        there.loop.call_soon_threadsafe(pause.hold)
        pause.reached.wait(_LONGEST_STEP)

    def after_fork(self) -> None:
        """Let the parent's loop go on."""
        pause: _Pause | None = self._forking.__dict__.pop("pause", None)
        if pause is not None:
            pause.over.set()

    def forget(self) -> None:
        """Be the portal of a new process, right after the fork that made it."""
        there, self._there = self._there, None
        self._lock = threading.Lock()  # whoever held the old one is not in this process
        self._forks += 1
        if there is not None:
            # Their sockets and their selector are shared with the parent: to close them, as
            # a collected object does, would be felt there.
            _keep_for_ever((there, asyncio.all_tasks(there.loop)))

    def _running(self) -> _Loop:
        if self._ending:
            raise LoopClosed(_ENDED)
        there = self._there
        return there if there is not None else self._start()

    def _start(self) -> _Loop:
        with self._lock:
            if self._there is None:
                there = _Loop()
                try:
                    there.thread.start()
                except RuntimeError as error:  # no threads any more, or too many
                    there.loop.close()
                    raise LoopClosed(f"start the thread of the event loop: {error}") from error
                self._there = there
            return self._there

    def _here(self) -> _Loop:
        assert self._there is not None, "nothing runs in a loop that was not started"
        return self._there


@final
class Branch:
    """The part of what runs behind the portal that belongs to one client, and ends with it."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._tasks: set[asyncio.Task[None]] = set()  # touched by the loop's thread alone
        self._is_ended = False

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

    async def end(self) -> None:
        """Cancel what runs, and wait for its end. Cancelled, it may still run."""
        self._is_ended = True
        here = asyncio.get_running_loop()
        # After a fork there are tasks of the parent among them, which are not to be touched.
        tasks = [task for task in self._tasks if task.get_loop() is here]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def why_cancelled(self) -> KubeError:
        """As `Place` says."""
        if self._is_ended:
            return TransportError("call the cluster: the client was closed meanwhile")
        return self._portal.why_cancelled()


_ENDED = "call the cluster: the program is ending (do it before, or in an earlier atexit handler)"


def _refuse_in_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise BlockingInLoop(
        "a blocking call in a thread where an event loop runs would stop that loop"
        " (use kubeloop.Client and await it, or asyncio.to_thread)"
    )


def _keep_for_ever(thing: object) -> None:
    """Leak on purpose: the thing is not even collected when the interpreter ends."""
    _kept.append(thing)
    if sys.implementation.name == "cpython":
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


_kept: list[object] = []

PORTAL = Portal()

atexit.register(PORTAL.end)
if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(
        before=PORTAL.before_fork,
        after_in_parent=PORTAL.after_fork,
        after_in_child=PORTAL.forget,
    )
