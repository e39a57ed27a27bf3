"""The lifecycle of a manager: install, start, lead, drain.

Guarantees: one failure policy: when a runnable fails, or one ends that should not, everything
ends with its error. `stop()` starts no more reconciles, waits up to `grace` seconds for the
running ones, and releases the lease. A cancelled manager does the same without waiting. Work
that does not end when it is cancelled is cancelled once more, and abandoned after
`CANCEL_TIMEOUT` seconds (`AT_ONCE_TIMEOUT` after a second signal): the lease is not renewed
then, and never released.
See also: `manager` (the declarations), `assembly` (what is created from them).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, final

import msgspec

from kubeloop.cache import SharedInformer
from kubeloop.errors import KubeError
from kubeloop.kit import Clock, Runnable, TaskOwner, ThreadCalls, is_cancelling, leaf_tasks
from kubeloop.wire import get_logger

from .assembly import Assembly, ManagerState
from .controller import Controller

__all__ = [
    "CANCEL_TIMEOUT",
    "Lifecycle",
    "RunnableEnded",
    "RunnableEntry",
    "ShutdownTimeout",
]

log = get_logger(__name__)

CANCEL_TIMEOUT = 5.0
"""Seconds that cancelled work has to end; after half of it, it is cancelled once more."""
AT_ONCE_TIMEOUT = 0.5
"""Seconds that it has after a second signal."""


@final
class RunnableEnded(KubeError):
    """A runnable of a manager ended, and should run until it is cancelled."""


@final
class ShutdownTimeout(KubeError, TimeoutError):
    """A manager has ended although some of its work ignores cancellation.

    `running` names the keys, runnables and handlers. End the process; the lease, if there is
    one, expires.
    """

    def __init__(self, running: Sequence[str]) -> None:
        super().__init__(running)
        self.running = tuple(running)

    def _message(self) -> str:
        return (
            f"stop the manager: {', '.join(self.running)}: still running after two cancellations"
            " (let CancelledError pass and threads end; end this process)"
        )


class RunnableEntry(msgspec.Struct, frozen=True):
    """A runnable of the user."""

    runnable: Runnable
    leader_only: bool


@final
class Lifecycle:
    """Runs an assembly once, until `stopping` is set."""

    def __init__(
        self,
        assembly: Assembly,
        runnables: Sequence[RunnableEntry],
        *,
        stopping: asyncio.Event,
        grace: float,
        clock: Clock,
    ) -> None:
        self._assembly = assembly
        self._runnables = tuple(runnables)
        self._stopping = stopping
        self._grace = grace
        self._clock = clock
        self._spawned: list[tuple[object, asyncio.Task[None]]] = []
        loop = asyncio.get_running_loop()
        # Done when work is being cancelled, and when it is not waited for any more.
        self._cancelling: asyncio.Future[None] = loop.create_future()
        self._abandoned: asyncio.Future[None] = loop.create_future()
        self._is_waiting = False  # for work that was cancelled
        self.state = ManagerState.STARTING

    async def run(self, on_started: Callable[[], None]) -> None:
        """Run; `on_started` is called when all controllers have started.

        Raises: the error of a runnable, LeadershipLost, RunnableEnded, ShutdownTimeout, the
        server's error for a CRD.
        """
        await self._install()
        if self._stopping.is_set():
            return
        self.state = ManagerState.RUNNING
        main = asyncio.create_task(self._run(on_started), name="manager")
        interruption: asyncio.CancelledError | None = None
        try:
            await asyncio.wait([main, self._cancelling], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as error:
            interruption = error
            main.cancel()
        self._is_waiting = True
        interruption = await self._wait_cancelled(main) or interruption
        self._is_waiting = False
        failure = self._failure(main)
        if interruption is not None:
            raise interruption from failure
        if failure is not None:
            raise failure

    def end_at_once(self) -> bool:
        """Wait for cancelled work only `AT_ONCE_TIMEOUT`; False if none is being cancelled yet."""
        if self._is_waiting and not self._abandoned.done():
            self._abandoned.set_result(None)
        return self._is_waiting

    async def _run(self, on_started: Callable[[], None]) -> None:
        async with TaskOwner() as tasks:
            try:
                for informer in self._assembly.caches:
                    run = self._run_forever(informer)
                    self._spawn(tasks, informer, run, name=f"informer {informer.name}")
                started = self._start(tasks, leader_only=False)
                tasks.spawn(self._wait_started(on_started), name="first lists")
                started.append(tasks.spawn(self._lead(), name="leading"))
                await self._stopping.wait()
                self.state = ManagerState.STOPPING
                await self._drain()
                self._set_cancelling()
                for task in started:
                    task.cancel()
                await asyncio.wait(started)  # before the caches that they read end
            finally:
                self._set_cancelling()

    async def _wait_cancelled(self, main: asyncio.Task[None]) -> asyncio.CancelledError | None:
        """Wait for cancelled work, within bounds; returns a cancellation of the caller."""
        self._set_cancelling()
        interruption = None
        for _ in range(2):
            until = self._clock.now() + CANCEL_TIMEOUT / 2
            while not (main.done() or self._abandoned.done()):
                try:
                    async with self._clock.timeout(until - self._clock.now()):
                        await asyncio.wait(
                            [main, self._abandoned], return_when=asyncio.FIRST_COMPLETED
                        )
                except TimeoutError:
                    break
                except asyncio.CancelledError as error:
                    interruption = error
            if not main.done():
                leaves = leaf_tasks(main)
                main.cancel()  # now also the caches, which end after the work
                for task in leaves:
                    task.cancel()
        if self._abandoned.done() and not main.done():
            # It may have been cancelled in this very turn of the loop.
            try:
                await asyncio.wait([main], timeout=AT_ONCE_TIMEOUT)
            except asyncio.CancelledError as error:
                interruption = error
        return interruption

    def _failure(self, main: asyncio.Task[None]) -> BaseException | None:
        if main.done():
            return _exception_of(main)
        if self._assembly.elector is not None:
            self._assembly.elector.abandon()
        main.add_done_callback(_exception_of)  # asyncio warns of exceptions that were not read
        error = ShutdownTimeout(list(self._still_running()) or [repr(main.get_name())])
        log.error("%s", error)
        return error

    def _still_running(self) -> Iterator[str]:
        for runnable, task in self._spawned:
            if task.done():
                continue
            if isinstance(runnable, Controller):
                keys = runnable.stats().active or ("a thread of a key that timed out",)
                yield from (f"{runnable.spec.name} {key}" for key in keys)
            elif isinstance(runnable, SharedInformer):
                yield from (leaf.get_name() for leaf in leaf_tasks(task))
            else:
                for leaf in leaf_tasks(task):
                    yield repr(runnable) if leaf is task else f"{runnable!r} {leaf.get_name()}"

    def _set_cancelling(self) -> None:
        if not self._cancelling.done():
            self._cancelling.set_result(None)

    async def _install(self) -> None:
        """Install CRDs before anything starts; a slow server does not delay a stop."""
        async with TaskOwner() as tasks:
            installation = tasks.spawn(self._assembly.install_crds(), name="CRDs")
            stop = tasks.spawn(self._wait_stopping(), name="stop")
            await asyncio.wait([installation, stop], return_when=asyncio.FIRST_COMPLETED)

    async def _wait_stopping(self) -> None:
        await self._stopping.wait()

    async def _lead(self) -> None:
        """Run what only the leader runs, until cancelled. Raises: LeadershipLost."""
        async with contextlib.AsyncExitStack() as stack:
            if self._assembly.elector is not None:
                await stack.enter_async_context(self._assembly.elector.leadership())
            tasks = await stack.enter_async_context(TaskOwner())
            stack.callback(self._set_cancelling)  # the lease is lost, or a runnable has failed
            self._start(tasks, leader_only=True)
            await asyncio.get_running_loop().create_future()  # until cancelled

    def _start(self, tasks: TaskOwner, *, leader_only: bool) -> list[asyncio.Task[None]]:
        started: list[asyncio.Task[None]] = []
        for controller in self._assembly.controllers:
            if controller.spec.leader_only is leader_only:
                run = self._run_forever(controller)
                started.append(self._spawn(tasks, controller, run, name=str(controller)))
        for each in self._runnables:
            if each.leader_only is leader_only:
                run = _run_to_end(each.runnable)
                started.append(self._spawn(tasks, each.runnable, run, name=repr(each.runnable)))
        return started

    def _spawn(
        self,
        tasks: TaskOwner,
        runnable: object,
        run: Coroutine[object, object, None],
        *,
        name: str,
    ) -> asyncio.Task[None]:
        task = tasks.spawn(run, name=name)
        self._spawned.append((runnable, task))
        return task

    async def _wait_started(self, on_started: Callable[[], None]) -> None:
        for controller in self._assembly.controllers:
            await controller.wait_started()
        on_started()

    async def _run_forever(self, runnable: Runnable) -> None:
        """Run a controller or an informer, whose end is a failure as well."""
        await _run_to_end(runnable)
        if not self._stopping.is_set():
            raise RunnableEnded(f"{runnable!r} ended and should not have (a bug in kubeloop)")

    async def _drain(self) -> None:
        log.info("stopping: waiting for running reconciles")
        for controller in self._assembly.controllers:
            controller.close()
        try:
            async with self._clock.timeout(self._grace):
                for controller in self._assembly.controllers:
                    await controller.wait_idle()
        except TimeoutError:
            active = [key for each in self._assembly.controllers for key in each.stats().active]
            log.error("stopping: cancelled after %g s: %s", self._grace, ", ".join(active))


async def _run_to_end(runnable: Runnable) -> None:
    """Run a runnable and, if we cancel it, wait for its threads.

    A cancellation that is not ours is a failure: otherwise its end would go unnoticed.
    """
    with ThreadCalls() as calls:
        try:
            await runnable.run()
        except asyncio.CancelledError as error:
            if is_cancelling():
                await calls.wait()
                raise
            raise RunnableEnded(f"{runnable!r} was cancelled from inside") from error


def _exception_of(task: asyncio.Task[Any]) -> BaseException | None:
    return None if task.cancelled() else task.exception()
