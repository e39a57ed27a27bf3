"""Everything that the demo runs: a server, a simulated cluster, two candidates, a page.

Promises: all of it listens on this machine alone, on free ports unless one is named, and is
gone when the block ends; a candidate that loses its lease is started again, as a cluster
would do.
Elsewhere: what happens on it (`story`), how it looks (`picture`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, final

import msgspec

from kubeloop import Client, Context, KubeError, Manager, ObjectKey
from kubeloop.election import ElectionTimes, LeadershipLost
from kubeloop.errors import ConfigError
from kubeloop.inspector import Inspector
from kubeloop.kit import Clock, TaskOwner, cancel_and_wait
from kubeloop.runtime import LeaderElection
from kubeloop.testing import APIServer, Workloads
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Event, Pod

from .controller import Website, reconcile
from .narrator import Narrator

__all__ = ["CANDIDATES", "DemoFailed", "PodView", "Stage", "staged"]

CANDIDATES = ("alice", "bob")
# Short, so that a failover can be watched; a leader that stalls for three seconds loses.
TIMES = ElectionTimes(lease_duration=4.0, renew_deadline=3.0, retry_period=0.5)
PATIENCE = 60.0  # seconds after which something that has not come will not


class DemoFailed(KubeError):
    """The demo could not begin, or did not see what it promised."""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Status(msgspec.Struct, rename="camel"):
    phase: str = ""


class PodView(msgspec.Struct):
    """As much of a pod as the demo looks at; the rest is skipped when it is read."""

    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


@final
class Stage:
    """What the scenes act on, and what the picture shows."""

    def __init__(
        self, server: APIServer, narrator: Narrator, *, tasks: TaskOwner, clock: Clock, pace: float
    ) -> None:
        self.server = server
        self.narrator = narrator
        self.client: Client = server.client()
        self.managers: dict[str, Manager] = {}  # by candidate; those that run
        self.inspector: Inspector | None = None
        self.latencies: deque[float] = deque(maxlen=100)  # seconds, of the last reconciles
        self.events: deque[Event] = deque(maxlen=20)
        self._tasks = tasks
        self._clock = clock
        self._pace = pace
        self._candidates: dict[str, asyncio.Task[None]] = {}

    # --- the candidates

    @property
    def leader(self) -> str:
        """The candidate that leads; empty while none does."""
        return next((name for name, each in self.managers.items() if each.is_leader), "")

    @property
    def manager(self) -> Manager:
        """The leader's, or else that of whoever waits. Raises: DemoFailed when none runs."""
        running = list(self.managers.values())
        if not running:
            raise DemoFailed("demo: no candidate runs (this is a bug)")
        return self.managers.get(self.leader, running[0])

    def begin(self, name: str) -> None:
        """Start a candidate, which waits for the lease."""
        self._enlist(name)
        self._candidates[name] = self._tasks.spawn(self._stand(name), name=name)

    async def kill(self, name: str) -> None:
        """End a candidate at once: it gives no lease back, as if its machine had died."""
        del self.managers[name]
        await cancel_and_wait(self._candidates.pop(name))

    async def _stand(self, name: str) -> None:
        while True:
            try:
                await self.managers[name].run()
            except LeadershipLost as error:
                self.narrator.logged(str(error))
                self._enlist(name)

    def _enlist(self, name: str) -> None:
        election = LeaderElection("websites", identity=name, times=TIMES, release=False)
        manager = Manager(
            self.client, leader_election=election, signals=False, tune_gc=False, logs=False
        )
        manager.cache(Pod, model=PodView)
        controller = manager.controller(Website, owns=[Deployment], workers=4, install_crd=True)
        controller(self._timed)
        self.managers[name] = manager

    async def _timed(self, key: ObjectKey, ctx: Context) -> None:
        began = time.perf_counter()
        try:
            await reconcile(key, ctx)
        finally:
            self.latencies.append(time.perf_counter() - began)

    # --- time

    async def pause(self, seconds: float) -> None:
        """Give the reader time; none where nobody reads. Safe to cancel."""
        await self._clock.sleep(seconds * self._pace)

    async def until(self, what: str, is_so: Callable[[], bool | Awaitable[bool]]) -> None:
        """Wait until something is so. Safe to cancel. Raises: DemoFailed when it never is."""
        try:
            async with self._clock.timeout(PATIENCE):
                while not await _answer(is_so()):
                    await self._clock.sleep(0.02)
        except TimeoutError as error:
            raise DemoFailed(
                f"demo: waited {PATIENCE:g} s for {what}, in vain (is the machine very busy?)"
            ) from error

    # --- what the reader is shown

    async def follow_events(self) -> None:
        """Keep the last events of the cluster, until cancelled."""
        async with self.client.informer(Event) as mirror:
            async for change in mirror.changes():
                if change.new is not None:
                    self.events.append(change.new)


async def _answer(said: bool | Awaitable[bool]) -> bool:  # noqa: FBT001 - whatever was asked
    return said if isinstance(said, bool) else await said


@contextlib.asynccontextmanager
async def staged(
    narrator: Narrator, *, clock: Clock, pace: float, port: int, inspector_port: int
) -> AsyncIterator[Stage]:
    """A stage with nothing on it but a server and nodes. Raises: DemoFailed."""
    async with contextlib.AsyncExitStack() as stack:
        server = await _opened(stack, APIServer(port=port), f"serve at port {port}")
        await stack.enter_async_context(Workloads(server.config, delay=0.2 * pace))
        tasks = await stack.enter_async_context(TaskOwner())
        stage = Stage(server, narrator, tasks=tasks, clock=clock, pace=pace)
        tasks.spawn(stage.follow_events(), name="events")
        for name in CANDIDATES:
            stage.begin(name)
        page = Inspector(*stage.managers.values(), port=inspector_port, name="kubeloop demo")
        stage.inspector = await _opened(stack, page, f"the inspector at port {inspector_port}")
        yield stage


async def _opened(stack: contextlib.AsyncExitStack, thing: Any, what: str) -> Any:
    try:
        return await stack.enter_async_context(thing)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise DemoFailed(f"{what}: {why} (choose another port)") from error
    except ConfigError as error:
        raise DemoFailed(str(error)) from error
