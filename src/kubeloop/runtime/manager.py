"""Runs everything that a controller process is made of, and ends it in order.

Promises: one failure policy: when a part fails, or ends that should not, `run()` ends with
its cause and everything else with it, so that whoever started the process can start it again.
Told to stop (SIGTERM, Ctrl-C, `stop()`), it finishes what is in work, gives the lease back
and writes the events that wait.
Elsewhere, in the order of a walk: what is made of the declarations (`assembly`), what happens
from start to end (`life`), reconciling (`controller`), the process around it (`process`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, final, overload

from kubeloop import clients
from kubeloop.cache import (
    CacheReport,
    Indexers,
    Lister,
    SharedInformer,
    StorageFormat,
    Transform,
    Watchable,
    WatchErrorHandler,
)
from kubeloop.clients import ALL_NAMESPACES, FieldSelection, LabelSelection, PartialObjectMetadata
from kubeloop.config import ClusterConfig
from kubeloop.crd import crd_of
from kubeloop.errors import InvalidArgument
from kubeloop.events import EventWatcher
from kubeloop.kit import Clock, Runnable, SystemClock
from kubeloop.meta import (
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

from .assembly import Assembly, ManagerStats, Plan, assembled
from .caches import (
    Cached,
    Declarations,
    Namespaces,
    checked_namespaces,
    name_of,
    named,
)
from .client import Client
from .elections import LeaderElection
from .endpoints import address_of
from .handlers import WatchSource
from .health import Check, Checks
from .life import Life, ManagerState, Part, RunnableEnded
from .metrics import AllMetrics
from .predicates import Predicate
from .process import arranged
from .results import is_delay
from .specs import RECONCILE_TIMEOUT, ControllerSpec, Reconcile, as_watches

__all__ = ["GRACE", "Manager"]

T = TypeVar("T")
F = TypeVar("F", bound=Reconcile)

GRACE = 30.0
"""Seconds that work in progress is given to end; a pod has 30 before it is killed."""


@final
class Manager:
    """A controller process.

        manager = Manager(leader_election="website-controller", health=8081, metrics=8080)

        @manager.controller(Website, owns=[Deployment], workers=8)
        async def reconcile(key: ObjectKey, ctx: Context) -> Result | None: ...

        run(manager.run())

    `cluster` is a client, which stays its giver's, a configuration, or nothing: kubeconfig or
    the pod's own account, looked for when it runs. `namespace` names the one that its caches
    are about, or several; without it they are about all. `metrics` and `health` are where those
    pages are served: a port, or an address. `on_watch_error` is called with the error of every
    failed round of its informers, in place of a log line. `grace` bounds the drain at the end.
    `signals`, `tune_gc` and `logs` say whether it may arrange the process for itself.
    """

    def __init__(
        self,
        cluster: clients.APIClient | ClusterConfig | None = None,
        *,
        namespace: Namespaces = ALL_NAMESPACES,
        leader_election: str | LeaderElection | None = None,
        metrics: int | str | None = None,
        metrics_registry: Any = None,
        health: int | str | None = None,
        field_manager: str = "",
        on_watch_error: WatchErrorHandler | None = None,
        grace: float = GRACE,
        signals: bool = True,
        tune_gc: bool = True,
        logs: bool = True,
        clock: Clock | None = None,
    ) -> None:
        # Keeps its arguments and no more: no file is read and no port opened before run().
        self._cluster = cluster
        self._namespace = checked_namespaces(namespace)
        self._election = (
            LeaderElection(leader_election) if isinstance(leader_election, str) else leader_election
        )
        self._field_manager = field_manager
        self._on_watch_error = on_watch_error
        self._metrics_at = None if metrics is None else address_of(metrics)
        self._health_at = None if health is None else address_of(health)
        if not is_delay(grace):
            raise InvalidArgument(f"grace {grace!r}: give seconds, zero or more")
        self._grace = grace
        self._arranges = (signals, tune_gc, logs)
        self._clock: Clock = clock or SystemClock()
        self._metrics = AllMetrics(metrics_registry) if self._metrics_at else None
        self._wanted = Declarations()
        self._specs: dict[str, ControllerSpec] = {}
        self._crds: dict[Any, CustomResourceDefinition] = {}
        self._parts: list[Part] = []
        self._alive = Checks("alive", clock=self._clock)
        self._ready = Checks("ready", clock=self._clock)
        self._phase = ManagerState.NEW  # or STARTING, ENDED; in between see `_life`
        self._stopping = asyncio.Event()
        self._begun = asyncio.Event()  # all controllers are at work
        self._made: Assembly | None = None  # once it runs
        self._life: Life | None = None  # while it runs

    # --- what it is made of

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
        """Have a function called with the keys of the objects of a kind that changed.

        `owns` names kinds whose objects the kind controls: their changes count as the
        owner's. `watches` are other kinds, with functions from their objects to keys.
        `predicates` choose among changes of the kind itself. `timeout` bounds each call, in
        seconds. `resync` has every key reconciled again, every so many seconds. `install_crd`
        makes the server know the class when the manager starts; the method of that name does it
        with labels and annotations. Returns the function.

        Raises: InvalidArgument when something does not fit, or the name (the kind's) is taken.
        """

        known_as = name or name_of(kind)

        def register(reconcile: F) -> F:
            spec = ControllerSpec(
                name=known_as,
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
        of: type[Any] | None = None,
        metadata_only: bool = False,
        namespace: Namespaces | None = None,
        selector: LabelSelection | None = None,
        field_selector: FieldSelection | None = None,
        index: Indexers[Any] | None = None,
        store_as: StorageFormat = "bytes",
        transform: Transform[Any] | None = None,
        on_watch_error: WatchErrorHandler | None = None,
    ) -> None:
        """Mirror a kind, for contexts to read, in another way than the default.

        Before the controllers that use it. `selector`, `field_selector` and `namespace` make the
        cache smaller, and so does `of`, a struct with only the fields you want, as which the
        objects are then read. `on_watch_error` takes the place of the manager's. The rest is
        as for `Client.informer`.

        Raises: InvalidArgument when the kind is declared already, or a manager runs.
        """
        self._must_be_new("declare a cache")
        form = PartialObjectMetadata if metadata_only else of or kind
        self._wanted.add(
            Cached(
                kind=kind,
                of=form if isinstance(form, type) else dict,
                metadata_only=metadata_only,
                namespace=None if namespace is None else checked_namespaces(namespace),
                selector=selector,
                field_selector=field_selector,
                index=index,
                store_as=store_as,
                transform=transform,
                on_watch_error=on_watch_error,
            )
        )

    def install_crd(
        self,
        *classes: type[Resource],
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Have the server know a kind by its classes, one a version, before anything starts.

        `labels` and `annotations` are the definition's own. A protected group (`*.k8s.io`,
        `*.kubernetes.io`) needs the annotation `api-approved.kubernetes.io`.

            manager.install_crd(Gate, annotations={"api-approved.kubernetes.io": "unapproved"})

        Raises: InvalidArgument for classes that no definition can be made of, and for labels or
        annotations that no object can have.
        """
        self._must_be_new("install a CRD")
        crd = crd_of(*classes)
        for key, value in (labels or {}).items():
            check_label_key(key)
            check_label_value(value)
        check_annotations(annotations or {})
        if labels:
            crd.metadata.labels = dict(labels)
        if annotations:
            crd.metadata.annotations = dict(annotations)
        self._crds[named(classes[0]).group_kind] = crd

    def add(self, part: Runnable, *, leader_only: bool = False) -> None:
        """Run something of yours beside the controllers; `run()` may come to an end by itself.

        When it fails, so does the manager. `leader_only` waits for leadership.
        """
        self._must_be_new("add a part")
        self._parts.append(Part(part, leader_only))

    def add_health_check(self, name: str, check: Check) -> None:
        """Ask `check` for /healthz: when it raises or says False, the process is restarted."""
        self._alive.add(name, check)

    def add_ready_check(self, name: str, check: Check) -> None:
        """Ask `check` for /readyz: when it raises or says False, nothing is sent here."""
        self._ready.add(name, check)

    # --- life

    async def run(self) -> None:
        """Run until it is told to stop, a part fails, or it is cancelled. Once.

        Raises: what a part failed with, LeadershipLost, RunnableEnded, ConfigError, and
        ShutdownTimeout when work has not ended 5 s after it was cancelled.
        Cancelled, it ends everything first, with the same bound.
        """
        self._must_be_new("run")
        self._phase = ManagerState.STARTING
        try:
            async with contextlib.AsyncExitStack() as stack:
                settled = stack.enter_context(self._arranged())
                made = self._made = await assembled(self._plan(), stack)
                life = self._life = Life(
                    made,
                    self._parts,
                    stopping=self._stopping,
                    grace=self._grace,
                    clock=self._clock,
                )
                await life.run(lambda: self._note_begun(settled))
        finally:
            self._phase, self._life = ManagerState.ENDED, None
            self._begun.set()  # or not, but nobody waits any longer

    def stop(self) -> None:
        """End in order: begin nothing more, finish what is in work. From the loop's thread."""
        self._stopping.set()

    async def wait_ready(self, *, timeout: float | None = None) -> None:
        """Wait until every controller is at work, which may need leadership. Safe to cancel.

        Raises: TimeoutError when `timeout` seconds have passed first, RunnableEnded when it ended.
        """
        async with self._clock.timeout(timeout):
            await self._begun.wait()
        if self._phase is ManagerState.ENDED:
            raise RunnableEnded(f"wait for {self!r}: it is over (what `run()` raised says why)")

    @property
    def client(self) -> Client:
        """The client that everything here uses. Raises: InvalidArgument before it runs."""
        return self._running().client

    @overload
    def lister(self, kind: type[T], /) -> Lister[T]: ...
    @overload
    def lister(
        self, kind: GroupVersionKind | GroupVersionResource, /
    ) -> Lister[dict[str, Any]]: ...
    def lister(self, kind: Any, /) -> Lister[Any]:
        """Reads the cache of a kind, for functions that map objects to keys.

        Raises: NotCached, InvalidArgument before it runs.
        """
        found: Lister[Any] = self._running().caches.lister(kind)
        return found

    def enqueue(self, controller: str, key: ObjectKey, *, after: float | None = None) -> None:
        """Have a controller reconcile a key, for reasons that no watch sees; from any thread.

        Raises: InvalidArgument when there is no such controller, it does not run, or it is no key.
        """
        if not isinstance(key, ObjectKey):
            raise InvalidArgument(
                f"enqueue {key!r}: it is no key (write ObjectKey(namespace, name))"
            )
        for each in self._running().controllers:
            if each.spec.name == controller:
                each.enqueue(key, after=after)
                return
        raise InvalidArgument(f"enqueue {key}: there is no controller {controller!r}")

    @property
    def is_leader(self) -> bool:
        """Whether the controllers may work: always, without an election."""
        elector = self._made.elector if self._made is not None else None
        return self._election is None or (elector is not None and elector.is_leader)

    @property
    def informers(self) -> tuple[SharedInformer[Any], ...]:
        """The mirrors that it runs, one a cache and namespace. Raises: InvalidArgument before."""
        return tuple(self._running().caches)

    def watch_events(self) -> EventWatcher[Event]:
        """Every event that is recorded from now on. Raises: InvalidArgument before it runs."""
        return self._running().broadcaster.watch()

    def report(self) -> CacheReport:
        """What all caches hold. Raises: InvalidArgument before it runs."""
        return self._running().caches.report()

    def stats(self) -> ManagerStats:
        if self._made is None:
            return ManagerStats(state=self._state, is_leader=self.is_leader)
        return self._made.stats(self._state, is_leader=self.is_leader)

    # --- the steps

    def _arranged(self) -> contextlib.AbstractContextManager[Callable[[], None]]:
        task = asyncio.current_task()
        assert task is not None, "run() is awaited by a task"
        signals, tune_gc, logs = self._arranges

        def end_at_once() -> None:
            if self._life is None or not self._life.end_at_once():
                task.cancel()

        return arranged(self.stop, end_at_once, signals=signals, tune_gc=tune_gc, logs=logs)

    def _note_begun(self, settled: Callable[[], None]) -> None:
        settled()
        self._begun.set()

    def _plan(self) -> Plan:
        return Plan(
            cluster=self._cluster,
            namespace=self._namespace,
            field_manager=self._field_manager,
            election=self._election,
            metrics=self._metrics,
            metrics_at=self._metrics_at,
            health_at=self._health_at,
            caches=tuple(self._wanted),
            on_watch_error=self._on_watch_error,
            controllers=tuple(self._specs.values()),
            crds=tuple(self._crds.values()),
            alive=self._alive,
            ready=self._ready,
            clock=self._clock,
        )

    def _install_once(self, cls: type[Resource]) -> None:
        """Install what no call of `install_crd` has declared, with metadata of its own."""
        if named(cls).group_kind not in self._crds:
            self.install_crd(cls)

    def _register(self, spec: ControllerSpec) -> None:
        self._must_be_new("add a controller")
        if spec.name in self._specs:
            raise InvalidArgument(
                f"controller {spec.name!r}: there is one of that name already (give another: name=)"
            )
        for kind in spec.kinds:
            self._wanted.want(kind, resync=spec.resync)
        self._specs[spec.name] = spec

    @property
    def _state(self) -> ManagerState:
        return self._phase if self._life is None else self._life.state

    def _must_be_new(self, what: str) -> None:
        if self._state is not ManagerState.NEW:
            raise InvalidArgument(f"{what}: the manager is {self._state} (do it before run())")

    def _running(self) -> Assembly:
        if self._made is None:
            raise InvalidArgument(
                "the manager does not run yet (ask from inside, or after a start)"
            )
        return self._made

    def __repr__(self) -> str:
        return f"Manager({', '.join(self._specs)}: {self._state})"


def _class_of(kind: Watchable) -> type[Resource]:
    if isinstance(kind, type):
        return kind
    raise InvalidArgument(
        f"install the CRD of {kind}: only a class says what its objects look like"
    )
