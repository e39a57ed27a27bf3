"""The manager: runs the caches, controllers and endpoints of a process, and stops them in order.

Guarantees: one failure policy: when a runnable fails, or one ends that should not, `run()` ends
everything and raises the error, so that the process can be restarted. On SIGTERM, Ctrl-C and
`stop()` it finishes running reconciles, releases the lease and writes queued events.
See also, in the order of a start: `assembly` (creates the parts), `lifecycle` (starts and stops
them), `controller` (reconciles), `process` (signals, logs, garbage collection).
"""

# ruff: noqa: ASYNC109 - a clock enforces the caller's timeout, and the error names it
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, final, overload

from kubeloop import clients
from kubeloop.cache import (
    DROPPED,
    CacheReport,
    Indexers,
    Lister,
    SharedInformer,
    StorageFormat,
    Transform,
    Watchable,
    WatchErrorHandler,
)
from kubeloop.clients import (
    ALL_NAMESPACES,
    FieldSelection,
    LabelSelection,
    PartialObjectMetadata,
    ReadFormat,
)
from kubeloop.config import ClusterConfig
from kubeloop.crd import crd_of
from kubeloop.errors import InvalidArgument
from kubeloop.events import EventWatcher
from kubeloop.kit import Clock, Runnable, SystemClock
from kubeloop.meta import (
    GroupKind,
    GroupVersionKind,
    GroupVersionResource,
    ObjectKey,
    check_annotations,
    check_label_key,
    check_label_value,
)
from kubeloop.wire import Resource
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import Event
from kubeloop.workqueue import RateLimiter

from .assembly import Assembly, ManagerState, ManagerStats, Plan, assemble
from .caches import CacheDeclaration, CacheDeclarations, Namespaces, check_namespaces
from .client import Client, InformerOptions
from .endpoints import parse_address
from .handlers import WatchSource
from .health import Check, HealthChecks
from .kinds import check_kind, controller_name
from .leader_election import LeaderElection
from .lifecycle import Lifecycle, RunnableEnded, RunnableEntry
from .metrics import AllMetrics
from .outcomes import OutcomeObserver
from .predicates import Predicate
from .process import configure_process
from .results import is_delay
from .specs import RECONCILE_TIMEOUT, ControllerSpec, Reconcile, as_watches

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["GRACE", "Manager"]

T = TypeVar("T")
F = TypeVar("F", bound=Reconcile)

GRACE = 30.0
"""Default grace period in seconds; a pod has 30 before it is killed."""


@final
class Manager:
    """A controller process (controller-runtime: `manager.Manager`).

        manager = Manager(leader_election="website-controller", health=8081, metrics=8080)

        @manager.controller(Website, owns=[Deployment], workers=8)
        async def reconcile(key: ObjectKey, ctx: Context) -> Result | None: ...

        run(manager.run())

    `cluster` is a client, which the caller closes, or a configuration; by default the
    kubeconfig or the in-cluster configuration, loaded by `run()`. `namespace` limits the caches
    to one namespace or several. `metrics` and `health` are the ports or addresses of those
    endpoints. `on_watch_error` is called with the error of every failed attempt of an informer,
    in place of a log line; `on_outcome` with the `ReconcileReport` of every reconcile that has
    ended, on the event loop, so it must not block. `grace` is how long shutdown waits for running
    reconciles. `signals`, `tune_gc` and `logs` allow it to handle signals, to tune the garbage
    collector and to configure logging while it runs.
    """

    def __init__(
        self,
        cluster: clients.APIClient | ClusterConfig | None = None,
        *,
        namespace: Namespaces = ALL_NAMESPACES,
        leader_election: str | LeaderElection | None = None,
        metrics: int | str | None = None,
        metrics_registry: CollectorRegistry | None = None,
        health: int | str | None = None,
        field_manager: str = "",
        on_watch_error: WatchErrorHandler | None = None,
        on_outcome: OutcomeObserver | None = None,
        grace: float = GRACE,
        signals: bool = True,
        tune_gc: bool = True,
        logs: bool = True,
        clock: Clock | None = None,
    ) -> None:
        # No file is read and no port opened before run().
        self._cluster = cluster
        self._namespace = check_namespaces(namespace)
        self._election = (
            LeaderElection(leader_election) if isinstance(leader_election, str) else leader_election
        )
        self._field_manager = field_manager
        self._on_watch_error = on_watch_error
        self._on_outcome = on_outcome
        self._metrics_at = None if metrics is None else parse_address(metrics)
        self._health_at = None if health is None else parse_address(health)
        if not is_delay(grace):
            raise InvalidArgument(f"grace {grace!r}: give seconds, zero or more")
        self._grace = grace
        self._process_settings = (signals, tune_gc, logs)
        self._clock: Clock = clock or SystemClock()
        self._metrics = AllMetrics(metrics_registry) if self._metrics_at else None
        self._caches = CacheDeclarations()
        self._specs: dict[str, ControllerSpec] = {}
        self._crds: dict[GroupKind, CustomResourceDefinition] = {}
        self._runnables: list[RunnableEntry] = []
        self._alive = HealthChecks("liveness", clock=self._clock)
        self._ready = HealthChecks("readiness", clock=self._clock)
        self._outer_state = ManagerState.NEW  # or STARTING, ENDED; in between see `_lifecycle`
        self._stopping = asyncio.Event()
        self._started = asyncio.Event()  # all controllers have started
        self._assembly: Assembly | None = None  # from run() on
        self._lifecycle: Lifecycle | None = None  # while it runs

    # --- declarations

    def controller(
        self,
        kind: Watchable,
        /,
        *,
        owns: Sequence[Watchable | WatchSource] = (),
        watches: Sequence[WatchSource] = (),
        predicates: Sequence[Predicate] = (),
        workers: int = 1,
        timeout: float | None = RECONCILE_TIMEOUT,
        resync: float = 0.0,
        limiter: RateLimiter[ObjectKey] | None = None,
        name: str = "",
        leader_only: bool = True,
        install_crd: bool = False,
    ) -> Callable[[F], F]:
        """Call a function with the keys of objects of a kind that changed.

        `owns` are kinds whose objects the kind controls: a change of one adds the key of its
        owner. `watches` are other kinds, with functions from their objects to keys.
        `predicates` filter changes of the kind itself. `timeout` bounds each call, in seconds.
        `resync` is the period in seconds after which every key is reconciled again.
        `install_crd` applies the CRD of the class at the start; the method of that name does
        it with labels and annotations. Returns the function.

        Raises: InvalidArgument when an argument is invalid, or the name (by default the kind's) is
        in use.
        """
        name = name or controller_name(kind)

        def register(reconcile: F) -> F:
            spec = ControllerSpec(
                name=name,
                kind=kind,
                reconcile=reconcile,
                owns=as_watches(owns),
                watches=tuple(watches),
                predicates=tuple(predicates),
                workers=workers,
                timeout=timeout,
                resync=resync,
                leader_only=leader_only,
                limiter=limiter,
            )
            self._register(spec)
            if install_crd:
                self._install_once(_class_of(kind))
            return reconcile

        return register

    def cache(
        self,
        kind: Watchable,
        /,
        *,
        model: type[Any] | None = None,
        metadata_only: bool = False,
        namespace: Namespaces | None = None,
        selector: LabelSelection | None = None,
        field_selector: FieldSelection | None = None,
        index: Indexers[Any] | None = None,
        store_as: StorageFormat = "bytes",
        transform: Transform[Any] | None = None,
        drop: Sequence[str] = DROPPED,
        format: ReadFormat | None = None,  # noqa: A002 - what it is
        on_watch_error: WatchErrorHandler | None = None,
    ) -> None:
        """Cache a kind with other options than the default, for contexts to read.

        Call it before the controllers that use the kind. `selector`, `field_selector` and
        `namespace` limit the cached objects; `model` is a struct with only the fields you
        need, as which they are read. `on_watch_error` replaces the manager's. The other options
        are those of `Client.informer`.

        Raises: InvalidArgument when the kind is declared already, or the manager runs.
        """
        self._check_new("declare a cache")
        options: InformerOptions[Any] = {
            "selector": selector,
            "field_selector": field_selector,
            "index": index,
            "store_as": store_as,
            "transform": transform,
            "drop": drop,
            "format": format,
        }
        if on_watch_error is not None:
            options["on_watch_error"] = on_watch_error
        if metadata_only:
            model = PartialObjectMetadata
        elif model is None:
            model = kind if isinstance(kind, type) else dict
        self._caches.add(
            CacheDeclaration(
                kind=kind,
                model=model,
                metadata_only=metadata_only,
                namespace=None if namespace is None else check_namespaces(namespace),
                options=options,
            )
        )

    def install_crd(
        self,
        *classes: type[Resource],
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Apply the CRD of a kind before anything starts; give one class for each version.

        `labels` and `annotations` are those of the CRD. A protected group (`*.k8s.io`,
        `*.kubernetes.io`) needs the annotation `api-approved.kubernetes.io`.

            manager.install_crd(Gate, annotations={"api-approved.kubernetes.io": "unapproved"})

        Raises: InvalidArgument for classes without a valid CRD, and for invalid labels or
        annotations.
        """
        self._check_new("install a CRD")
        crd = crd_of(*classes)
        for key, value in (labels or {}).items():
            check_label_key(key)
            check_label_value(value)
        check_annotations(annotations or {})
        if labels:
            crd.metadata.labels = dict(labels)
        if annotations:
            crd.metadata.annotations = dict(annotations)
        self._crds[_group_kind(classes[0])] = crd

    def add(self, runnable: Runnable, *, leader_only: bool = False) -> None:
        """Run a runnable beside the controllers; its `run()` may end.

        When it fails, so does the manager. With `leader_only` it waits for leadership.
        """
        self._check_new("add a runnable")
        self._runnables.append(RunnableEntry(runnable, leader_only))

    def add_health_check(self, name: str, check: Check) -> None:
        """Add a check to /healthz: if it raises or returns False, the kubelet restarts the pod."""
        self._alive.add(name, check)

    def add_ready_check(self, name: str, check: Check) -> None:
        """Add a check to /readyz: if it raises or returns False, the pod gets no traffic."""
        self._ready.add(name, check)

    # --- lifecycle

    async def run(self) -> None:
        """Run until `stop()` or a signal, until a runnable fails, or until cancelled. Once.

        Raises: the error of a runnable, LeadershipLost, RunnableEnded, ConfigError, and
        ShutdownTimeout when work has not ended 5 s after it was cancelled.
        Cancelled, it ends everything first, with the same bound.
        """
        self._check_new("run")
        self._outer_state = ManagerState.STARTING
        try:
            async with contextlib.AsyncExitStack() as stack:
                after_start = stack.enter_context(self._configure_process())
                self._assembly = await assemble(self._plan(), stack)
                self._lifecycle = Lifecycle(
                    self._assembly,
                    self._runnables,
                    stopping=self._stopping,
                    grace=self._grace,
                    clock=self._clock,
                )

                def on_started() -> None:
                    after_start()
                    self._started.set()

                await self._lifecycle.run(on_started)
        finally:
            self._outer_state, self._lifecycle = ManagerState.ENDED, None
            self._started.set()  # wakes wait_ready(), which checks the state

    def stop(self) -> None:
        """Stop: start no more reconciles, finish the running ones. On the event loop's thread."""
        self._stopping.set()

    async def wait_ready(self, *, timeout: float | None = None) -> None:
        """Wait until all controllers have started, which may need leadership. Safe to cancel.

        Raises: TimeoutError after `timeout` seconds, RunnableEnded when the manager has ended.
        """
        async with self._clock.timeout(timeout):
            await self._started.wait()
        if self._outer_state is ManagerState.ENDED:
            raise RunnableEnded(f"wait for {self!r}: it has ended (see what `run()` raised)")

    @property
    def client(self) -> Client:
        """The client of the manager. Raises: InvalidArgument before `run()`."""
        return self._running().client

    @overload
    def lister(self, kind: type[T], /) -> Lister[T]: ...
    @overload
    def lister(
        self, kind: GroupVersionKind | GroupVersionResource, /
    ) -> Lister[dict[str, Any]]: ...
    def lister(self, kind: Any, /) -> Lister[Any]:
        """The lister of a kind, for functions from objects to keys.

        Raises: NotCached; InvalidArgument before `run()`.
        """
        found: Lister[Any] = self._running().caches.lister(kind)
        return found

    def enqueue(self, controller: str, key: ObjectKey, *, after: float | None = None) -> None:
        """Add a key to a controller, for causes that no watch reports; from any thread.

        Raises: InvalidArgument when there is no such controller, for a wrong key, and before
        `run()`.
        """
        if not isinstance(key, ObjectKey):
            raise InvalidArgument(f"enqueue {key!r}: not a key (write ObjectKey(namespace, name))")
        for each in self._running().controllers:
            if each.spec.name == controller:
                each.enqueue(key, after=after)
                return
        raise InvalidArgument(
            f"enqueue {key}: no controller {controller!r}; available: {', '.join(self._specs)}"
        )

    @property
    def is_leader(self) -> bool:
        """Whether this process leads; always True without an election."""
        elector = self._assembly.elector if self._assembly is not None else None
        return self._election is None or (elector is not None and elector.is_leader)

    @property
    def informers(self) -> tuple[SharedInformer[Any], ...]:
        """Its informers, one per cache and namespace. Raises: InvalidArgument before `run()`."""
        return tuple(self._running().caches)

    def watch_events(self) -> EventWatcher[Event]:
        """All events that are recorded from now on. Raises: InvalidArgument before `run()`."""
        return self._running().broadcaster.watch()

    def report(self) -> CacheReport:
        """What all caches hold. Raises: InvalidArgument before `run()`."""
        return self._running().caches.report()

    def stats(self) -> ManagerStats:
        if self._assembly is None:
            return ManagerStats(state=self._state, is_leader=self.is_leader)
        return self._assembly.stats(self._state, is_leader=self.is_leader)

    # --- steps

    def _configure_process(self) -> contextlib.AbstractContextManager[Callable[[], None]]:
        task = asyncio.current_task()
        assert task is not None, "run() is awaited by a task"
        signals, tune_gc, logs = self._process_settings

        def end_at_once() -> None:
            if self._lifecycle is None or not self._lifecycle.end_at_once():
                task.cancel()

        return configure_process(
            self.stop, end_at_once, signals=signals, tune_gc=tune_gc, logs=logs
        )

    def _plan(self) -> Plan:
        return Plan(
            cluster=self._cluster,
            namespace=self._namespace,
            field_manager=self._field_manager,
            election=self._election,
            metrics=self._metrics,
            metrics_at=self._metrics_at,
            health_at=self._health_at,
            caches=tuple(self._caches),
            on_watch_error=self._on_watch_error,
            on_outcome=self._on_outcome,
            controllers=tuple(self._specs.values()),
            crds=tuple(self._crds.values()),
            alive=self._alive,
            ready=self._ready,
            clock=self._clock,
        )

    def _install_once(self, cls: type[Resource]) -> None:
        """Install a CRD, unless a call of `install_crd` has declared it with metadata."""
        if _group_kind(cls) not in self._crds:
            self.install_crd(cls)

    def _register(self, spec: ControllerSpec) -> None:
        self._check_new("add a controller")
        if spec.name in self._specs:
            raise InvalidArgument(
                f"controller {spec.name!r}: the name is in use (give another: name=)"
            )
        for kind in spec.kinds:
            self._caches.ensure(kind, resync=spec.resync)
        self._specs[spec.name] = spec

    @property
    def _state(self) -> ManagerState:
        return self._outer_state if self._lifecycle is None else self._lifecycle.state

    def _check_new(self, what: str) -> None:
        if self._state is not ManagerState.NEW:
            raise InvalidArgument(f"{what}: the manager is {self._state} (do it before run())")

    def _running(self) -> Assembly:
        if self._assembly is None:
            raise InvalidArgument("the manager does not run yet (await run() first)")
        return self._assembly

    def __repr__(self) -> str:
        return f"Manager({', '.join(self._specs)}: {self._state})"


def _class_of(kind: Watchable) -> type[Resource]:
    if isinstance(kind, type):
        return kind
    raise InvalidArgument(
        f"install the CRD of {kind}: only a class has the schema (give the class)"
    )


def _group_kind(cls: type[Resource]) -> GroupKind:
    name = check_kind(cls)
    assert isinstance(name, GroupVersionKind), "a class has a kind"
    return name.group_kind
