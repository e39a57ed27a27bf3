"""What a manager does from its start to its end: install, begin, lead, drain.

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

from kubeloop.kit import Clock, Runnable, TaskOwner, cancel_and_wait, is_ending
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
        self.state = "starting"  # then running, stopping

    async def run(self, when_begun: Callable[[], None]) -> None:
        """Live; `when_begun` is called once every controller is at work, if that comes.

        Raises: what a part failed with, LeadershipLost, PartEnded, what the server says to a CRD.
        """
        await self._install()
        if self._stopping.is_set():
            return
        self.state = "running"
        async with TaskOwner() as tasks:
            for informer in self._made.caches:
                tasks.spawn(self._lasting(informer), name=f"informer {informer.name}")
            self._begin(tasks, leader_only=False)
            tasks.spawn(self._wait_begun(when_begun), name="first lists")
            leading = tasks.spawn(self._lead(), name="leading")
            await self._wait_told()
            self.state = "stopping"
            await self._drain()
            await cancel_and_wait(leading)

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
            self._begin(tasks, leader_only=True)
            await asyncio.get_running_loop().create_future()  # until cancelled

    def _begin(self, tasks: TaskOwner, *, leader_only: bool) -> None:
        for controller in self._made.controllers:
            if controller.spec.leader_only is leader_only:
                tasks.spawn(self._lasting(controller), name=str(controller))
        for each in self._parts:
            if each.leader_only is leader_only:
                tasks.spawn(_seen_to_its_end(each.part), name=repr(each.part))

    async def _wait_begun(self, when_begun: Callable[[], None]) -> None:
        for controller in self._made.controllers:
            await controller.wait_begun()
        when_begun()

    async def _lasting(self, part: Runnable) -> None:
        """A part that is to last: its end is a failure as well."""
        await _seen_to_its_end(part)
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


async def _seen_to_its_end(part: Runnable) -> None:
    """Run a part. One that is cancelled and not by us has failed: nobody would notice its end."""
    try:
        await part.run()
    except asyncio.CancelledError as error:
        if is_ending():
            raise
        raise PartEnded(f"{part!r} was cancelled from inside (it should not be)") from error
