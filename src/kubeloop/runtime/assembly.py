"""Makes everything that a manager runs, from what was declared.

Promises: what is made here is unmade in the opposite order when the stack is; nothing asks the
server yet, and of all parts only pages are served.
Elsewhere: declaring (`manager`), running (`life`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import final

import msgspec

from kubeloop import clients
from kubeloop.cache import InformerStats, WatchErrorHandler
from kubeloop.config import ClusterConfig
from kubeloop.election import DEFAULT_TOLERANCE, ElectorStats, LeaderElector
from kubeloop.events import BroadcastStats, EventBroadcaster
from kubeloop.kit import Clock
from kubeloop.rest import RESTClient, RESTStats
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import Event

from .caches import Cached, Caches, Namespaces
from .client import Client
from .context import Environment
from .controller import Controller, ControllerStats, caught_up
from .elections import LeaderElection, elector_for, lease_connection
from .endpoints import Address, Page, health_pages, metrics_pages, serving
from .health import Checks, Pulse, current, synced
from .metrics import AllMetrics
from .specs import ControllerSpec
from .tracing import reconcile_tracer

__all__ = ["Assembly", "ManagerStats", "Plan", "assembled"]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What was declared."""

    cluster: clients.APIClient | ClusterConfig | None
    namespace: Namespaces
    field_manager: str
    election: LeaderElection | None
    metrics: AllMetrics | None
    metrics_at: Address | None
    health_at: Address | None
    caches: tuple[Cached, ...]
    on_watch_error: WatchErrorHandler | None
    controllers: tuple[ControllerSpec, ...]
    crds: tuple[CustomResourceDefinition, ...]
    alive: Checks
    ready: Checks
    clock: Clock


class ManagerStats(msgspec.Struct, frozen=True):
    """Everything that a manager can say of itself."""

    state: str  # a value of `ManagerState`
    is_leader: bool
    addresses: Mapping[str, str] = {}  # of health and metrics, where they are served
    informers: tuple[InformerStats, ...] = ()
    controllers: tuple[ControllerStats, ...] = ()
    election: ElectorStats | None = None
    events: BroadcastStats | None = None
    requests: RESTStats | None = None


@final
class Assembly(msgspec.Struct, frozen=True):
    """What runs."""

    client: Client
    caches: Caches
    controllers: tuple[Controller, ...]
    elector: LeaderElector | None
    broadcaster: EventBroadcaster
    addresses: dict[str, str]
    crds: tuple[CustomResourceDefinition, ...]

    async def install_crds(self) -> None:
        """Have the server know the kinds that were declared. A cancelled call has done some."""
        for crd in self.crds:
            await self.client.apply(crd, force=True)

    def stats(self, state: str, *, is_leader: bool) -> ManagerStats:
        return ManagerStats(
            state=state,
            is_leader=is_leader,
            addresses=self.addresses,
            informers=tuple(informer.stats() for informer in self.caches),
            controllers=tuple(controller.stats() for controller in self.controllers),
            election=self.elector.stats() if self.elector is not None else None,
            events=self.broadcaster.stats(),
            requests=self.client.stats(),
        )


async def assembled(plan: Plan, stack: AsyncExitStack) -> Assembly:
    """Make it all; the stack unmakes it. Raises: ConfigError."""
    client = await _connected(plan, stack)
    metrics = plan.metrics
    caches = Caches(
        client,
        plan.caches,
        namespace=plan.namespace,
        metrics=metrics.caches if metrics else None,
        on_watch_error=plan.on_watch_error,
    )
    broadcaster = EventBroadcaster(clock=plan.clock)
    elector = _elector(plan, client, broadcaster, stack)
    # The pages come early, for whoever waits, and go late.
    addresses = await _served(plan, caches, elector, stack)
    await stack.enter_async_context(broadcaster)
    broadcaster.record_to(client.resource(Event))
    around = Environment(client, caches, plan.clock)
    controllers = tuple(_controller(plan, spec, around, broadcaster) for spec in plan.controllers)
    plan.ready.add("own-writes", lambda: caught_up(controllers))
    return Assembly(client, caches, controllers, elector, broadcaster, addresses, plan.crds)


async def _connected(plan: Plan, stack: AsyncExitStack) -> Client:
    given = plan.cluster
    if isinstance(given, clients.APIClient):
        if plan.field_manager:
            return Client(rest=given.rest, field_manager=plan.field_manager)
        return given if isinstance(given, Client) else Client.over(given)
    rest = RESTClient(
        given or ClusterConfig.load(),
        clock=plan.clock,
        metrics=plan.metrics.requests if plan.metrics else None,
    )
    await stack.enter_async_context(rest)
    return Client(rest=rest, field_manager=plan.field_manager)


def _elector(
    plan: Plan, client: Client, broadcaster: EventBroadcaster, stack: AsyncExitStack
) -> LeaderElector | None:
    if plan.election is None:
        return None
    leases = lease_connection(client)
    stack.push_async_callback(leases.aclose)
    return elector_for(
        plan.election,
        Client(rest=leases),
        events=broadcaster.recorder("leader-election"),
        metrics=plan.metrics.elections if plan.metrics else None,
        clock=plan.clock,
    )


async def _served(
    plan: Plan, caches: Caches, elector: LeaderElector | None, stack: AsyncExitStack
) -> dict[str, str]:
    """Serve the pages that were asked for; returns where."""
    plan.alive.add("streams", Pulse(caches, clock=plan.clock).check)
    if elector is not None:
        plan.alive.add("leadership", lambda: elector.check(tolerance=DEFAULT_TOLERANCE))
    plan.ready.add("caches", synced(caches))
    plan.ready.add("watches", current(caches))
    wanted: dict[Address, dict[str, Page]] = {}
    if plan.health_at is not None:
        wanted.setdefault(plan.health_at, {}).update(health_pages(plan.alive, plan.ready))
    if plan.metrics is not None and plan.metrics_at is not None:
        wanted.setdefault(plan.metrics_at, {}).update(metrics_pages(plan.metrics))
    found: dict[str, str] = {}
    for address, pages in wanted.items():
        real = await stack.enter_async_context(serving(address, pages))
        names = (("health", "/healthz"), ("metrics", "/metrics"))
        found |= {name: str(real) for name, path in names if path in pages}
    return found


def _controller(
    plan: Plan, spec: ControllerSpec, around: Environment, broadcaster: EventBroadcaster
) -> Controller:
    metrics = plan.metrics
    return Controller(
        spec,
        around,
        recorder=broadcaster.recorder(spec.name),
        tracer=reconcile_tracer(),
        metrics=metrics.reconciles if metrics else None,
        queue_metrics=metrics.queues if metrics else None,
    )
