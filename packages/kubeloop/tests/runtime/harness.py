"""A controller with its caches and a manual clock, without a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from kubeloop.events import FakeRecorder
from kubeloop.kit import ManualClock, TaskOwner
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Reconcile, Result
from kubeloop.runtime.caches import CacheDeclarations, Caches
from kubeloop.runtime.context import Environment
from kubeloop.runtime.controller import Controller
from kubeloop.runtime.metrics import ReconcileMetrics
from kubeloop.runtime.outcomes import OutcomeObserver
from kubeloop.runtime.specs import ControllerSpec
from kubeloop.runtime.tracing import Tracer
from kubeloop.runtime.writes import Write

from .fake_collections import FakeInformerClient
from .websites import Website


class ControllerHarness:
    """A controller, its caches, and the calls of its function."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.informer_client = FakeInformerClient(self.clock)
        self.sites = self.informer_client.source(Website)
        self.calls: list[ObjectKey] = []
        self.moments: list[float] = []
        self.recorder = FakeRecorder(100)
        self.tracer: Tracer | None = None
        self.metrics: ReconcileMetrics | None = None
        self.observers: list[OutcomeObserver] = []
        self.controller: Controller

    @asynccontextmanager
    async def running(
        self,
        reconcile: Reconcile | None = None,
        *,
        unwrapped: Reconcile | None = None,
        **spec: Any,
    ) -> AsyncIterator[None]:
        """Run a controller while the block runs; `calls` has the keys of all calls."""

        async def recorded(key: ObjectKey, ctx: Context) -> Result | None:
            self.calls.append(key)
            self.moments.append(self.clock.now())
            return await reconcile(key, ctx) if reconcile else None

        declared = ControllerSpec(
            name="site", kind=Website, reconcile=unwrapped or recorded, **spec
        )
        declarations = CacheDeclarations()
        for kind in declared.kinds:
            declarations.ensure(kind, resync=declared.resync)
        caches = Caches(self.informer_client, declarations)
        environment = Environment(cast("Client", None), caches, self.clock)
        self.controller = Controller(
            declared,
            environment,
            recorder=self.recorder,
            tracer=self.tracer,
            metrics=self.metrics,
            on_outcome=self.observers,
        )
        async with TaskOwner() as tasks:
            for informer in caches:
                tasks.spawn(informer.run(), name=str(informer))
            tasks.spawn(self.controller.run(), name="controller")
            await self.clock.settle()
            yield

    async def until(self, condition: Callable[[], object]) -> None:
        """Run the event loop until a condition holds, while no time passes.

        The timeout of the test ends it otherwise.
        """
        while not condition():
            await self.clock.settle()

    def names(self) -> list[str]:
        return [key.name for key in self.calls]


def wrote(ctx: Context, write: Write) -> None:
    """As if `ctx.client` had sent it, and the server had responded."""
    ctx._ledger.record(ctx.key, write)


def returns(*results: object) -> Reconcile:
    """A function that returns these results in turn, then None; errors are raised."""
    left = list(results)

    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        result = left.pop(0) if left else None
        if isinstance(result, BaseException):
            raise result
        return cast("Result | None", result)

    return reconcile
