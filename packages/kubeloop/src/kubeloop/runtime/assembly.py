"""Creates everything that a manager runs, from its declarations.

Guarantees: the exit stack closes what is created here, in reverse order; nothing sends a
request yet, and only the endpoints run.
See also: `manager` (the declarations), `lifecycle` (runs the assembly).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from enum import StrEnum
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

from .caches import CacheDeclaration, Caches, Namespaces
from .client import Client
from .context import Environment
from .controller import Controller, ControllerStats, check_own_writes
from .endpoints import Address, Page, health_pages, metrics_pages, serving
from .health import HealthChecks, LivenessMonitor, current_check, synced_check
from .leader_election import LeaderElection, create_elector, lease_connection
from .metrics import AllMetrics
from .outcomes import OutcomeObserver, observers_of_context
from .specs import ControllerSpec
from .tracing import reconcile_tracer

__all__ = ["Assembly", "ManagerState", "ManagerStats", "Plan", "assemble"]


class ManagerState(StrEnum):
    """The lifecycle of a manager."""

    NEW = "new"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The declarations of a manager."""

    cluster: clients.APIClient | ClusterConfig | None
    namespace: Namespaces
    field_manager: str
    election: LeaderElection | None
    metrics: AllMetrics | None
    metrics_at: Address | None
    health_at: Address | None
    caches: tuple[CacheDeclaration, ...]
    on_watch_error: WatchErrorHandler | None
    on_outcome: OutcomeObserver | None
    controllers: tuple[ControllerSpec, ...]
    crds: tuple[CustomResourceDefinition, ...]
    alive: HealthChecks
    ready: HealthChecks
    clock: Clock


class ManagerStats(msgspec.Struct, frozen=True):
    """A snapshot of a manager."""

    state: ManagerState
    is_leader: bool
    addresses: Mapping[str, str] = {}  # of health and metrics, where they are served
    informers: tuple[InformerStats, ...] = ()
    controllers: tuple[ControllerStats, ...] = ()
    election: ElectorStats | None = None
    events: BroadcastStats | None = None
    requests: RESTStats | None = None


@final
class Assembly(msgspec.Struct, frozen=True):
    """Everything that a manager runs."""

    client: Client
    caches: Caches
    controllers: tuple[Controller, ...]
    elector: LeaderElector | None
    broadcaster: EventBroadcaster
    addresses: dict[str, str]
    crds: tuple[CustomResourceDefinition, ...]

    async def install_crds(self) -> None:
        """Apply the CRDs that were declared. A cancelled call has applied some."""
        for crd in self.crds:
            await self.client.apply(crd, force=True)

    def stats(self, state: ManagerState, *, is_leader: bool) -> ManagerStats:
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


async def assemble(plan: Plan, stack: AsyncExitStack) -> Assembly:
    """Create everything; `stack` closes it. Raises: ConfigError."""
    client = await _connect(plan, stack)
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
    # Entered first, closed last: probes get a response during the start and the shutdown.
    addresses = await _serve(plan, caches, elector, stack)
    await stack.enter_async_context(broadcaster)
    broadcaster.record_to(client.resource(Event))
    environment = Environment(client, caches, plan.clock)
    controllers = tuple(
        _controller(plan, spec, environment, broadcaster) for spec in plan.controllers
    )
    plan.ready.add("own-writes", lambda: check_own_writes(controllers))
    return Assembly(client, caches, controllers, elector, broadcaster, addresses, plan.crds)


async def _connect(plan: Plan, stack: AsyncExitStack) -> Client:
    given = plan.cluster
    if isinstance(given, clients.APIClient):
        if isinstance(given, Client) and not plan.field_manager:
            return given
        return Client.over(given, field_manager=plan.field_manager)
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
    return create_elector(
        plan.election,
        Client(rest=leases),
        events=broadcaster.recorder("leader-election"),
        metrics=plan.metrics.elections if plan.metrics else None,
        clock=plan.clock,
    )


async def _serve(
    plan: Plan, caches: Caches, elector: LeaderElector | None, stack: AsyncExitStack
) -> dict[str, str]:
    """Serve the endpoints that were declared; returns their addresses."""
    plan.alive.add("streams", LivenessMonitor(caches, clock=plan.clock).check)
    if elector is not None:
        plan.alive.add("leadership", lambda: elector.check(tolerance=DEFAULT_TOLERANCE))
    plan.ready.add("caches", synced_check(caches))
    plan.ready.add("watches", current_check(caches))
    endpoints: dict[Address, dict[str, Page]] = {}
    if plan.health_at is not None:
        endpoints.setdefault(plan.health_at, {}).update(health_pages(plan.alive, plan.ready))
    if plan.metrics is not None and plan.metrics_at is not None:
        endpoints.setdefault(plan.metrics_at, {}).update(metrics_pages(plan.metrics))
    served: dict[str, str] = {}
    for address, pages in endpoints.items():
        real = await stack.enter_async_context(serving(address, pages))
        names = (("health", "/healthz"), ("metrics", "/metrics"))
        served |= {name: str(real) for name, path in names if path in pages}
    return served


def _controller(
    plan: Plan, spec: ControllerSpec, environment: Environment, broadcaster: EventBroadcaster
) -> Controller:
    metrics = plan.metrics
    own = () if plan.on_outcome is None else (plan.on_outcome,)
    return Controller(
        spec,
        environment,
        recorder=broadcaster.recorder(spec.name),
        tracer=reconcile_tracer(),
        metrics=metrics.reconciles if metrics else None,
        queue_metrics=metrics.queues if metrics else None,
        on_outcome=(*observers_of_context(), *own),
    )
