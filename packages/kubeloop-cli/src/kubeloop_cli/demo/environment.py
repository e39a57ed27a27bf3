"""Everything that the demo runs: a server, simulated nodes, two candidates, an inspector.

Guarantees: all ports are on loopback, and free ones unless given; everything stops at the end
of the block. A candidate that loses its lease is restarted, as a Deployment would do.
See also: `scenes` (what happens), `snapshot` (what the dashboard shows).
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
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Event, Pod
from kubeloop_testing import APIServer, Workloads

from .controller import Website, reconcile
from .log import DemoLog

__all__ = ["CANDIDATES", "DemoEnvironment", "DemoFailed", "PodView", "start_environment"]

CANDIDATES = ("alice", "bob")
# Short, so that a failover takes seconds; a leader that blocks for three seconds loses the lease.
TIMES = ElectionTimes(lease_duration=4.0, renew_deadline=3.0, retry_period=0.5)
TIMEOUT = 60.0  # seconds to wait for a state


class DemoFailed(KubeError):
    """The demo could not start, or an expected result did not appear."""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Status(msgspec.Struct, rename="camel"):
    phase: str = ""


class PodView(msgspec.Struct):
    """The fields of a pod that the demo uses; decoding skips the others."""

    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


@final
class DemoEnvironment:
    """What the scenes act on, and what the dashboard shows."""

    def __init__(
        self, server: APIServer, log: DemoLog, *, tasks: TaskOwner, clock: Clock, pace: float
    ) -> None:
        self.server = server
        self.log = log
        self.client: Client = server.client()
        self.managers: dict[str, Manager] = {}  # running managers by candidate
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
        """The leader, or the other candidate. Raises: DemoFailed if none runs."""
        running = list(self.managers.values())
        if not running:
            raise DemoFailed("demo: no candidate runs (this is a bug)")
        return self.managers.get(self.leader, running[0])

    def start(self, name: str) -> None:
        """Start a candidate, which waits for the lease."""
        self._create_manager(name)
        self._candidates[name] = self._tasks.spawn(self._run_candidate(name), name=name)

    async def kill(self, name: str) -> None:
        """Stop a candidate without releasing the lease, as if its machine had failed."""
        del self.managers[name]
        await cancel_and_wait(self._candidates.pop(name))

    async def _run_candidate(self, name: str) -> None:
        while True:
            try:
                await self.managers[name].run()
            except LeadershipLost as error:
                self.log.warning(str(error))
                self._create_manager(name)

    def _create_manager(self, name: str) -> None:
        election = LeaderElection("websites", identity=name, times=TIMES, release=False)
        manager = Manager(
            self.client, leader_election=election, signals=False, tune_gc=False, logs=False
        )
        manager.cache(Pod, model=PodView)
        controller = manager.controller(Website, owns=[Deployment], workers=4, install_crd=True)
        controller(self._reconcile)
        self.managers[name] = manager

    async def _reconcile(self, key: ObjectKey, ctx: Context) -> None:
        started = time.perf_counter()
        try:
            await reconcile(key, ctx)
        finally:
            self.latencies.append(time.perf_counter() - started)

    # --- time

    async def pause(self, seconds: float) -> None:
        """Give the viewer time; scaled by `--seconds`. Safe to cancel."""
        await self._clock.sleep(seconds * self._pace)

    async def until(self, what: str, condition: Callable[[], bool | Awaitable[bool]]) -> None:
        """Wait for a condition. Safe to cancel. Raises: DemoFailed after a minute."""
        try:
            async with self._clock.timeout(TIMEOUT):
                while not await _value_of(condition()):
                    await self._clock.sleep(0.02)
        except TimeoutError as error:
            raise DemoFailed(
                f"demo: timed out after {TIMEOUT:g} s waiting for {what} (is the machine busy?)"
            ) from error

    # --- events

    async def follow_events(self) -> None:
        """Collect the last events of the cluster until cancelled."""
        async with self.client.informer(Event) as informer:
            async for change in informer.changes():
                if change.new is not None:
                    self.events.append(change.new)


async def _value_of(result: bool | Awaitable[bool]) -> bool:  # noqa: FBT001 - of a condition
    return result if isinstance(result, bool) else await result


@contextlib.asynccontextmanager
async def start_environment(
    log: DemoLog, *, clock: Clock, pace: float, port: int, inspector_port: int
) -> AsyncIterator[DemoEnvironment]:
    """A server with nodes and two candidates, but no objects. Raises: DemoFailed."""
    async with contextlib.AsyncExitStack() as stack:
        server = await _enter(stack, APIServer(port=port), f"serve on port {port}")
        await stack.enter_async_context(Workloads(server.config, delay=0.2 * pace))
        tasks = await stack.enter_async_context(TaskOwner())
        env = DemoEnvironment(server, log, tasks=tasks, clock=clock, pace=pace)
        tasks.spawn(env.follow_events(), name="events")
        for name in CANDIDATES:
            env.start(name)
        page = Inspector(*env.managers.values(), port=inspector_port, name="kubeloop demo")
        env.inspector = await _enter(stack, page, f"the inspector on port {inspector_port}")
        yield env


async def _enter(stack: contextlib.AsyncExitStack, manager: Any, what: str) -> Any:
    try:
        return await stack.enter_async_context(manager)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise DemoFailed(f"{what}: {reason} (choose another port)") from error
    except ConfigError as error:
        raise DemoFailed(str(error)) from error
