"""One controller on a stage: its caches, its time, and what it did, without a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from kubeloop.events import FakeRecorder
from kubeloop.kit import ManualClock, TaskOwner
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Reconcile, Result
from kubeloop.runtime.caches import Caches, Declarations
from kubeloop.runtime.context import Environment, Tracer
from kubeloop.runtime.controller import Controller
from kubeloop.runtime.metrics import ReconcileMetrics
from kubeloop.runtime.specs import ControllerSpec
from kubeloop.runtime.writes import Write

from .mirrors import Mirrors
from .sites import Website


class Stage:
    """A controller with its caches, and what it did."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.mirrors = Mirrors(self.clock)
        self.sites = self.mirrors.source(Website)
        self.calls: list[ObjectKey] = []
        self.moments: list[float] = []
        self.recorder = FakeRecorder(100)
        self.tracer: Tracer | None = None
        self.metrics: ReconcileMetrics | None = None
        self.controller: Controller

    @asynccontextmanager
    async def running(
        self,
        reconcile: Reconcile | None = None,
        *,
        as_it_is: Reconcile | None = None,
        **spec: Any,
    ) -> AsyncIterator[None]:
        """Run a controller while the block lasts; without a function it only notes calls."""

        async def noted(key: ObjectKey, ctx: Context) -> Result | None:
            self.calls.append(key)
            self.moments.append(self.clock.now())
            return await reconcile(key, ctx) if reconcile else None

        made = ControllerSpec(name="site", kind=Website, reconcile=as_it_is or noted, **spec)
        wanted = Declarations()
        for kind in made.kinds:
            wanted.want(kind, resync=made.resync)
        caches = Caches(self.mirrors, wanted)
        around = Environment(cast("Client", None), caches, self.clock)
        self.controller = Controller(
            made, around, recorder=self.recorder, tracer=self.tracer, metrics=self.metrics
        )
        async with TaskOwner() as tasks:
            for informer in caches:
                tasks.spawn(informer.run(), name=str(informer))
            tasks.spawn(self.controller.run(), name="controller")
            await self.clock.settle()
            yield

    async def until(self, is_so: Callable[[], object]) -> None:
        """Let things happen until something is so, while no time passes.

        The test's own limit ends it otherwise.
        """
        while not is_so():
            await self.clock.settle()

    def names(self) -> list[str]:
        return [key.name for key in self.calls]


def wrote(ctx: Context, write: Write) -> None:
    """As if `ctx.client` had sent it, and the server had answered."""
    ctx._ledger.note(ctx.key, write)


def says(*answers: object) -> Reconcile:
    """A function that gives these answers in turn, then nothing; errors are raised."""
    left = list(answers)

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        answer = left.pop(0) if left else None
        if isinstance(answer, BaseException):
            raise answer
        return cast("Result | None", answer)

    return reconcile
