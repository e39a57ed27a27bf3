"""What a manager does from its start to its end: begin, lead, drain.

Promises: one failure policy: when a part fails, or ends that should not, everything ends with
its cause. Told to stop, it begins nothing more, lets what is in work come to its end within
`grace` seconds, and gives the lease back. Cancelled, it does the same without waiting.
Elsewhere: what is declared (`manager`), what is made of it (`assembly`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import final

import msgspec

from kubeloop.kit import Clock, Runnable, TaskOwner, cancel_and_wait
from kubeloop.machinery import KubeError

from .assembly import Assembly

__all__ = ["Life", "Part", "PartEnded"]

log = logging.getLogger(__name__)


@final
class PartEnded(KubeError):
    """A part of a manager that is to last came to its end."""


class Part(msgspec.Struct, frozen=True):
    """Something of the user's that runs beside the controllers."""

    part: Runnable
    leader_only: bool


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
        self.state = "running"  # or stopping

    async def run(self, when_begun: Callable[[], None]) -> None:
        """Live; `when_begun` is called once every controller is at work, if that comes.

        Raises: what a part failed with, LeadershipLost, PartEnded.
        """
        async with TaskOwner() as tasks:
            for informer in self._made.caches:
                tasks.spawn(self._lasting(informer), name=f"informer {informer.name}")
            self._begin(tasks, leader_only=False)
            tasks.spawn(self._wait_begun(when_begun), name="first lists")
            leading = tasks.spawn(self._lead(), name="leading")
            await self._stopping.wait()
            self.state = "stopping"
            await self._drain()
            await cancel_and_wait(leading)

    async def _lead(self) -> None:
        """What only the leader does, until cancelled. Raises: LeadershipLost."""
        async with contextlib.AsyncExitStack() as stack:
            if self._made.elector is not None:
                await stack.enter_async_context(self._made.elector.leadership())
            tasks = await stack.enter_async_context(TaskOwner())
            self._begin(tasks, leader_only=True)
            await asyncio.get_running_loop().create_future()  # until cancelled

    def _begin(self, tasks: TaskOwner, *, leader_only: bool) -> None:
        for controller in self._made.controllers:
            if controller.spec.leader_only is leader_only:
                tasks.spawn(self._lasting(controller), name=str(controller))
        for each in self._parts:
            if each.leader_only is leader_only:
                tasks.spawn(each.part.run(), name=repr(each.part))

    async def _wait_begun(self, when_begun: Callable[[], None]) -> None:
        for controller in self._made.controllers:
            await controller.wait_begun()
        when_begun()

    async def _lasting(self, part: Runnable) -> None:
        """A part that is to last: its end is a failure as well."""
        await part.run()
        if not self._stopping.is_set():
            raise PartEnded(f"{part!r} came to its end and should not have (a fault in kubeloop)")

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
