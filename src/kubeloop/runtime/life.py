"""What a manager does from its start to its end: install, begin, lead, drain.

Guarantees: one failure policy: when a part fails, or ends that should not, everything ends with
its cause. Told to stop, it begins nothing more, lets what is in work come to its end within
`grace` seconds, and releases the lease. Cancelled, it does the same without waiting. Work that
does not end when it is cancelled is cancelled once more, and left behind after `CANCEL_TIMEOUT`
seconds: the lease is not renewed then, and never released.
See also: what is declared (`manager`), what is made of it (`assembly`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from enum import StrEnum
from typing import Any, final

import msgspec

from kubeloop.cache import SharedInformer
from kubeloop.errors import KubeError
from kubeloop.kit import Clock, Runnable, TaskOwner, ThreadCalls, is_cancelling, leaf_tasks
from kubeloop.wire import get_logger

from .assembly import Assembly
from .controller import Controller

__all__ = ["CANCEL_TIMEOUT", "Life", "ManagerState", "Part", "RunnableEnded", "ShutdownTimeout"]

log = get_logger(__name__)

CANCEL_TIMEOUT = 5.0
"""Seconds that cancelled work is given to end; half-way through it is cancelled once more."""


@final
class RunnableEnded(KubeError):
    """A part of a manager that is to last came to its end."""


@final
class ShutdownTimeout(KubeError, TimeoutError):
    """A manager has ended although some of its work has not: it ignores cancellation.

    `running` names the keys, runnables and handlers. End the process: the lease, if there is
    one, is left to expire.
    """

    def __init__(self, running: Sequence[str]) -> None:
        super().__init__(running)
        self.running = tuple(running)

    def _message(self) -> str:
        return (
            f"end the manager: {', '.join(self.running)}: still running although it was cancelled"
            " twice (let CancelledError pass and threads end; end this process)"
        )


class Part(msgspec.Struct, frozen=True):
    """Something of the user's that runs beside the controllers."""

    part: Runnable
    leader_only: bool


class ManagerState(StrEnum):
    """Where a manager is in its life."""

    NEW = "new"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


@final
class Life:
    """Runs everything that was made, once, until `stopping` is set."""

    def __init__(
        self,
        made: Assembly,
        parts: Sequence[Part],
        *,
        stopping: asyncio.Event,
        grace: float,
        clock: Clock,
    ) -> None:
        self._made = made
        self._parts = tuple(parts)
        self._stopping = stopping
        self._grace = grace
        self._clock = clock
        self._spawned: list[tuple[object, asyncio.Task[None]]] = []
        loop = asyncio.get_running_loop()
        self._cancelling: asyncio.Future[None] = loop.create_future()  # work is being cancelled
        self._given_up: asyncio.Future[None] = loop.create_future()  # it is not to be waited for
        self._is_waiting = False  # for the end of work that was cancelled
        self.state = ManagerState.STARTING

    async def run(self, when_begun: Callable[[], None]) -> None:
        """Live; `when_begun` is called once every controller is at work, if that comes.

        Raises: what a part failed with, LeadershipLost, RunnableEnded, ShutdownTimeout, what the
        server says to a CRD.
        """
        await self._install()
        if self._stopping.is_set():
            return
        self.state = ManagerState.RUNNING
        living = asyncio.create_task(self._live(when_begun), name="manager")
        interruption: asyncio.CancelledError | None = None
        try:
            await asyncio.wait([living, self._cancelling], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as error:
            interruption = error
            living.cancel()
        self._is_waiting = True
        interruption = await self._wait_cancelled(living) or interruption
        self._is_waiting = False
        failure = self._failure(living)
        if interruption is not None:
            raise interruption from failure
        if failure is not None:
            raise failure

    def end_at_once(self) -> bool:
        """Wait no longer for work that is being cancelled; False when none is, as yet."""
        if self._is_waiting and not self._given_up.done():
            self._given_up.set_result(None)
        return self._is_waiting

    async def _live(self, when_begun: Callable[[], None]) -> None:
        async with TaskOwner() as tasks:
            try:
                for informer in self._made.caches:
                    lasting = self._lasting(informer)
                    self._spawn(tasks, informer, lasting, name=f"informer {informer.name}")
                begun = self._begin(tasks, leader_only=False)
                tasks.spawn(self._wait_begun(when_begun), name="first lists")
                begun.append(tasks.spawn(self._lead(), name="leading"))
                await self._wait_told()
                self.state = ManagerState.STOPPING
                await self._drain()
                self._note_cancelling()
                for task in begun:
                    task.cancel()
                await asyncio.wait(begun)  # before the caches end that they read
            finally:
                self._note_cancelling()

    async def _wait_cancelled(self, living: asyncio.Task[None]) -> asyncio.CancelledError | None:
        """Wait for the end of cancelled work, within bounds; returns a cancellation meanwhile."""
        self._note_cancelling()
        interruption = None
        for _ in range(2):
            until = self._clock.now() + CANCEL_TIMEOUT / 2
            while not (living.done() or self._given_up.done()):
                try:
                    async with self._clock.timeout(until - self._clock.now()):
                        await asyncio.wait(
                            [living, self._given_up], return_when=asyncio.FIRST_COMPLETED
                        )
                except TimeoutError:
                    break
                except asyncio.CancelledError as error:
                    interruption = error
            if not living.done():
                leaves = leaf_tasks(living)
                living.cancel()  # the caches end as well, which others have waited with
                for task in leaves:
                    task.cancel()
        return interruption

    def _failure(self, living: asyncio.Task[None]) -> BaseException | None:
        if living.done():
            return _raised(living)
        if self._made.elector is not None:
            self._made.elector.abandon()
        living.add_done_callback(_raised)  # or Python would complain that it was not looked at
        error = ShutdownTimeout(list(self._still_running()) or [repr(living.get_name())])
        log.error("%s", error)
        return error

    def _still_running(self) -> Iterator[str]:
        for part, task in self._spawned:
            if task.done():
                continue
            if isinstance(part, Controller):
                keys = part.stats().active or ("a thread of a key that timed out",)
                yield from (f"{part.spec.name} {key}" for key in keys)
            elif isinstance(part, SharedInformer):
                yield from (leaf.get_name() for leaf in leaf_tasks(task))
            else:
                for leaf in leaf_tasks(task):
                    yield repr(part) if leaf is task else f"{part!r} {leaf.get_name()}"

    def _note_cancelling(self) -> None:
        if not self._cancelling.done():
            self._cancelling.set_result(None)

    async def _install(self) -> None:
        """What has to be there before anything begins; a server that is slow holds up no end."""
        async with TaskOwner() as tasks:
            installing = tasks.spawn(self._made.install_crds(), name="CRDs")
            told = tasks.spawn(self._wait_told(), name="told to stop")
            await asyncio.wait([installing, told], return_when=asyncio.FIRST_COMPLETED)

    async def _wait_told(self) -> None:
        await self._stopping.wait()

    async def _lead(self) -> None:
        """What only the leader does, until cancelled. Raises: LeadershipLost."""
        async with contextlib.AsyncExitStack() as stack:
            if self._made.elector is not None:
                await stack.enter_async_context(self._made.elector.leadership())
            tasks = await stack.enter_async_context(TaskOwner())
            stack.callback(self._note_cancelling)  # the lease is lost, or a part has failed
            self._begin(tasks, leader_only=True)
            await asyncio.get_running_loop().create_future()  # until cancelled

    def _begin(self, tasks: TaskOwner, *, leader_only: bool) -> list[asyncio.Task[None]]:
        begun: list[asyncio.Task[None]] = []
        for controller in self._made.controllers:
            if controller.spec.leader_only is leader_only:
                lasting = self._lasting(controller)
                begun.append(self._spawn(tasks, controller, lasting, name=str(controller)))
        for each in self._parts:
            if each.leader_only is leader_only:
                run = _seen_to_its_end(each.part)
                begun.append(self._spawn(tasks, each.part, run, name=repr(each.part)))
        return begun

    def _spawn(
        self,
        tasks: TaskOwner,
        part: object,
        run: Coroutine[object, object, None],
        *,
        name: str,
    ) -> asyncio.Task[None]:
        task = tasks.spawn(run, name=name)
        self._spawned.append((part, task))
        return task

    async def _wait_begun(self, when_begun: Callable[[], None]) -> None:
        for controller in self._made.controllers:
            await controller.wait_begun()
        when_begun()

    async def _lasting(self, part: Runnable) -> None:
        """A part that is to last: its end is a failure as well."""
        await _seen_to_its_end(part)
        if not self._stopping.is_set():
            raise RunnableEnded(
                f"{part!r} came to its end and should not have (a fault in kubeloop)"
            )

    async def _drain(self) -> None:
        log.info("ending: waiting for what is in work")
        for controller in self._made.controllers:
            controller.close()
        try:
            async with self._clock.timeout(self._grace):
                for controller in self._made.controllers:
                    await controller.drained()
        except TimeoutError:
            active = [key for each in self._made.controllers for key in each.stats().active]
            log.error("ending: cancelled after %g s: %s", self._grace, ", ".join(active))


async def _seen_to_its_end(part: Runnable) -> None:
    """Run a part. One that is cancelled and not by us has failed: nobody would notice its end.

    One that is cancelled by us has ended when its threads have, too.
    """
    with ThreadCalls() as calls:
        try:
            await part.run()
        except asyncio.CancelledError as error:
            if is_cancelling():
                await calls.wait()
                raise
            raise RunnableEnded(f"{part!r} was cancelled from inside (it should not be)") from error


def _raised(task: asyncio.Task[Any]) -> BaseException | None:
    return None if task.cancelled() else task.exception()
