"""The simulation: the controllers of all kinds in one manager.

Guarantees: uses only the API, with informers and work queues like any controller, so that it
recovers from every fault a test injects; when the block ends, its tasks have ended, and the
objects it created stay.
See also: what each controller does (the modules of the kinds).
"""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Self, final

import msgspec

from kubeloop import clients
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, SystemClock, running
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Manager, WatchSource
from kubeloop.wire.apps.v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
from kubeloop.wire.batch.v1 import Job
from kubeloop.wire.core.v1 import Node, Pod, Service
from kubeloop.wire.discovery.v1 import EndpointSlice
from kubeloop.wire.policy.v1 import PodDisruptionBudget

from .daemon_sets import reconcile_daemon_set
from .deployments import reconcile_deployment
from .disruption_budgets import reconcile_budget, selector_of
from .jobs import Jobs
from .kubelet import Kubelet
from .nodes import reconcile_node, register_nodes
from .pods import owner_uid
from .replica_sets import reconcile_replica_set
from .services import reconcile_service, selects
from .stateful_sets import reconcile_stateful_set

__all__ = ["Workloads", "WorkloadsStats"]

KUBELETS = 16  # workers of the pod controller


class WorkloadsStats(msgspec.Struct, frozen=True):
    """A snapshot of the simulation's caches and controllers."""

    nodes: int
    pods: int
    steps: int  # successful reconciles
    failures: int  # failed reconciles, which are retried


@final
class Workloads:
    """Simulates nodes and controllers on a server for one `async with` block.

    Deployments, stateful sets and daemon sets roll out, jobs complete, services get endpoints,
    and pods run on `nodes` nodes. Each step of a pod's lifecycle (started, ready, gone) takes
    `delay` seconds on the `clock`. `cluster` is a configuration or a client; the caller closes
    the client.

        async with APIServer() as server, Workloads(server.config):
            deployments = server.client().apps_v1.deployments("default")
            await deployments.create(web)
            await deployments.wait_for("web", condition="Available")
    """

    def __init__(
        self,
        cluster: clients.APIClient | ClusterConfig,
        *,
        nodes: int = 3,
        delay: float = 0.1,
        clock: Clock | None = None,
    ) -> None:
        if nodes < 0 or not delay >= 0:
            raise InvalidArgument(f"Workloads(nodes={nodes}, delay={delay}): negative value")
        clock = clock or SystemClock()
        self._nodes = nodes
        self._manager = Manager(
            cluster,
            field_manager="kubeloop-workloads",
            clock=clock,
            grace=0,
            signals=False,
            tune_gc=False,
            logs=False,
        )
        self._running = contextlib.AsyncExitStack()
        self._declare_caches()
        self._declare_sets()
        self._declare_pods(Kubelet(delay=delay, clock=clock), Jobs(delay=delay, clock=clock))

    def stats(self) -> WorkloadsStats:
        """A snapshot. Raises: InvalidArgument before the block."""
        controllers = self._manager.stats().controllers
        return WorkloadsStats(
            nodes=len(self._manager.lister(Node)),
            pods=len(self._manager.lister(Pod)),
            steps=sum(each.succeeded for each in controllers),
            failures=sum(each.failed for each in controllers),
        )

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(running(self._manager))
            await self._manager.wait_ready()
            await register_nodes(self._manager.client, self._nodes)
            self._running = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._running.aclose()

    def __repr__(self) -> str:
        return f"Workloads({self._manager!r})"

    # --- controllers

    def _declare_caches(self) -> None:
        # Every controller reads pods all the time: decode them once, and never modify them.
        index = {"owner": owner_uid, "node": lambda pod: [pod.spec.node_name or ""]}
        self._manager.cache(Pod, store_as="objects", index=index)

    def _declare_sets(self) -> None:
        declare = self._manager.controller
        declare(Deployment, owns=[ReplicaSet], workers=4)(reconcile_deployment)
        declare(ReplicaSet, owns=[Pod], workers=4)(reconcile_replica_set)
        declare(StatefulSet, owns=[Pod], workers=4)(reconcile_stateful_set)
        everywhere = WatchSource(Node, to=lambda _: self._manager.lister(DaemonSet).keys())
        declare(DaemonSet, owns=[Pod], watches=[everywhere])(reconcile_daemon_set)

    def _declare_pods(self, kubelet: Kubelet, jobs: Jobs) -> None:
        declare = self._manager.controller
        declare(Node)(reconcile_node)
        declare(Pod, watches=[WatchSource(Node, to=self._unbound)], workers=KUBELETS)(
            kubelet.reconcile
        )
        declare(Job, owns=[Pod], workers=4)(jobs.reconcile)
        pods = WatchSource(Pod, to=self._services)
        declare(Service, owns=[EndpointSlice], watches=[pods])(reconcile_service)
        budgeted = WatchSource(Pod, to=self._budgets)
        declare(PodDisruptionBudget, watches=[budgeted])(reconcile_budget)

    def _unbound(self, _: Node) -> list[ObjectKey]:
        return self._manager.lister(Pod).keys_by_index("node", "")

    def _services(self, pod: Pod) -> list[ObjectKey]:
        services = self._manager.lister(Service).list(namespace=pod.metadata.namespace)
        return [ObjectKey.of(each) for each in services if selects(each, pod)]

    def _budgets(self, pod: Pod) -> list[ObjectKey]:
        budgets = self._manager.lister(PodDisruptionBudget).list(namespace=pod.metadata.namespace)
        labels = pod.metadata.labels
        return [ObjectKey.of(each) for each in budgets if selector_of(each).matches(labels)]
