"""Runs everything that a controller process is made of, and ends it in order.

Promises: one failure policy: when a part fails, or ends that should not, `run()` ends with
its cause and everything else with it, so that whoever started the process can start it again.
Told to stop (SIGTERM, Ctrl-C, `stop()`), it begins nothing more, lets what is in work come
to its end within `grace` seconds, gives the lease back and writes the events that wait.
Cancelled, it does the same without waiting for work.
Elsewhere: reconciling (`controller`), health (`health`), the process (`process`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, final, overload

import msgspec

from kubeloop import clients
from kubeloop.cache import (
    CacheReport,
    Indexers,
    InformerStats,
    Keeping,
    Lister,
    Transform,
    Watchable,
)
from kubeloop.clients import ALL, FieldSelection, LabelSelection, PartialObjectMetadata
from kubeloop.config import ClusterConfig
from kubeloop.election import ElectorStats
from kubeloop.events import BroadcastStats
from kubeloop.kit import Clock, Runnable, SystemClock, TaskOwner, cancel_and_wait
from kubeloop.machinery import (
    GroupVersionKind,
    GroupVersionResource,
    InvalidValue,
    KubeError,
    ObjectKey,
)
from kubeloop.rest import RESTStats
from kubeloop.wire import Resource
from kubeloop.workqueue import RateLimiter

from .assembly import Assembly, Plan, assembled
from .caches import Cached, Declarations, named
from .client import Client
from .controller import ControllerStats
from .elections import LeaderElection
from .endpoints import address_of
from .handlers import Watch
from .health import Check, Checks
from .metrics import AllMetrics
from .predicates import Predicate
from .process import calm_collector, log_in_background, on_signals
from .specs import RECONCILE_WITHIN, ControllerSpec, Reconcile, as_watches

__all__ = ["GRACE", "Manager", "ManagerStats", "PartEnded"]

T = TypeVar("T")
F = TypeVar("F", bound=Reconcile)
log = logging.getLogger(__name__)

GRACE = 30.0
"""Seconds that work in progress is given to end; a pod has 30 before it is killed."""


@final
class PartEnded(KubeError):
    """A part of a manager that is to last came to its end."""


class ManagerStats(msgspec.Struct, frozen=True):
    """Everything that a manager can say of itself."""

    state: str  # new, starting, running, stopping, ended
    is_leader: bool
    addresses: Mapping[str, str] = {}  # of health and metrics, where they are served
    informers: tuple[InformerStats, ...] = ()
    controllers: tuple[ControllerStats, ...] = ()
    election: ElectorStats | None = None
    events: BroadcastStats | None = None
    requests: RESTStats | None = None


class _Part(msgspec.Struct, frozen=True):
    part: Runnable
    leader_only: bool


@final
class Manager:
    """A controller process.

        manager = Manager(leader_election="website-controller", health=8081, metrics=8080)

        @manager.controller(Website, owns=[Deployment], workers=8)
        async def reconcile(key: ObjectKey, ctx: Context) -> Result | None: ...

        run(manager.run())

    `cluster` is a client, which stays its giver's, a configuration, or nothing: kubeconfig or
    the pod's own account, looked for when it runs. `namespace` is the one that its caches are
    about (all, unless one is named). `metrics` and `health` are where those pages are served:
    a port, or an address. `grace` bounds the drain at the end. `signals`, `tune_gc` and
    `logs` say whether it may arrange the process for itself.
    """

    def __init__(
        self,
        cluster: clients.Client | ClusterConfig | None = None,
        *,
        namespace: str = ALL,
        leader_election: str | LeaderElection | None = None,
        metrics: int | str | None = None,
        metrics_registry: Any = None,
        health: int | str | None = None,
        field_manager: str = "",
        grace: float = GRACE,
        signals: bool = True,
        tune_gc: bool = True,
        logs: bool = True,
        clock: Clock | None = None,
    ) -> None:
        # Keeps its arguments and no more: no file is read and no port opened before run().
        self._cluster = cluster
        self._namespace = namespace
        self._election = (
            LeaderElection(leader_election) if isinstance(leader_election, str) else leader_election
        )
        self._field_manager = field_manager
        self._metrics_at = None if metrics is None else address_of(metrics)
        self._health_at = None if health is None else address_of(health)
        self._grace = grace
        self._arranges = (signals, tune_gc, logs)
        self._clock: Clock = clock or SystemClock()
        self._metrics = AllMetrics(metrics_registry) if self._metrics_at else None
        self._wanted = Declarations()
        self._specs: dict[str, ControllerSpec] = {}
        self._crds: dict[Any, tuple[type[Resource], ...]] = {}
        self._parts: list[_Part] = []
        self._alive = Checks("alive", clock=self._clock)
        self._ready = Checks("ready", clock=self._clock)
        self._state = "new"
        self._stopping = asyncio.Event()
        self._begun = asyncio.Event()  # all controllers are at work
        self._made: Assembly | None = None  # once it runs

    # --- what it is made of

    def controller(
        self,
        kind: Watchable,
        /,
        *,
        owns: Sequence[Watchable | Watch] = (),
        watches: Sequence[Watch] = (),
        predicates: Sequence[Predicate] = (),
        workers: int = 1,
        timeout: float | None = RECONCILE_WITHIN,
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
        makes the server know the class when the manager starts. Returns the function.

        Raises: InvalidValue when the name (by default the kind's) is taken, or does not fit.
        """

        def register(reconcile: F) -> F:
            spec = ControllerSpec(
                name=name or _name_of(kind),
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
                self.install_crd(_class_of(kind))
            return reconcile

        return register

    def cache(
        self,
        kind: Watchable,
        /,
        *,
        of: type[Any] | None = None,
        metadata_only: bool = False,
        namespace: str | None = None,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        index: Indexers[Any] | None = None,
        keeping: Keeping = "bytes",
        transform: Transform[Any] | None = None,
    ) -> None:
        """Mirror a kind, for contexts to read, in another way than the default.

        Before the controllers that use it. `labels`, `fields` and `namespace` make the cache
        smaller, and so does `of`, a struct with only the fields you want, as which the
        objects are then read. The rest is as for `Client.informer`.

        Raises: InvalidValue when the kind is declared already, or a manager runs.
        """
        self._must_be_new("declare a cache")
        form = PartialObjectMetadata if metadata_only else of or kind
        self._wanted.add(
            Cached(
                kind=kind,
                of=form if isinstance(form, type) else dict,
                metadata_only=metadata_only,
                namespace=namespace,
                labels=labels,
                fields=fields,
                index=index,
                keeping=keeping,
                transform=transform,
            )
        )

    def install_crd(self, *classes: type[Resource]) -> None:
        """Have the server know a kind by its classes, one a version, before anything starts."""
        self._must_be_new("install a CRD")
        self._crds[named(classes[0]).group_kind] = classes

    def add(self, part: Runnable, *, leader_only: bool = False) -> None:
        """Run something of yours beside the controllers; `run()` may come to an end by itself.

        When it fails, so does the manager. `leader_only` waits for leadership.
        """
        self._must_be_new("add a part")
        self._parts.append(_Part(part, leader_only))

    def add_health_check(self, name: str, check: Check) -> None:
        """Ask `check` for /healthz: when it raises or says False, the process is restarted."""
        self._alive.add(name, check)

    def add_ready_check(self, name: str, check: Check) -> None:
        """Ask `check` for /readyz: when it raises or says False, nothing is sent here."""
        self._ready.add(name, check)

    # --- life

    async def run(self) -> None:
        """Run until it is told to stop, a part fails, or it is cancelled. Once.

        Raises: what a part failed with, LeadershipLost, PartEnded, ConfigError.
        Cancelled, it ends everything first.
        """
        self._must_be_new("run")
        self._state = "starting"
        try:
            async with contextlib.AsyncExitStack() as stack:
                is_settled = self._arrange(stack)
                made = self._made = await assembled(self._plan(), stack)
                await self._live(made, is_settled)
        finally:
            self._state = "ended"

    def stop(self) -> None:
        """End in order: begin nothing more, finish what is in work. From the loop's thread."""
        self._stopping.set()

    async def wait_ready(self, *, timeout: float | None = None) -> None:
        """Wait until every controller is at work, which may need leadership. Safe to cancel.

        Raises: TimeoutError when `timeout` seconds have passed first.
        """
        async with self._clock.timeout(timeout):
            await self._begun.wait()

    @property
    def client(self) -> Client:
        """The client that everything here uses. Raises: InvalidValue before it runs."""
        return self._running().client

    @overload
    def lister(self, kind: type[T], /) -> Lister[T]: ...
    @overload
    def lister(
        self, kind: GroupVersionKind | GroupVersionResource, /
    ) -> Lister[dict[str, Any]]: ...
    def lister(self, kind: Any, /) -> Lister[Any]:
        """Reads the cache of a kind, for functions that map objects to keys.

        Raises: NotCached, InvalidValue before it runs.
        """
        found: Lister[Any] = self._running().caches.lister(kind)
        return found

    def enqueue(self, controller: str, key: ObjectKey, *, after: float | None = None) -> None:
        """Have a controller reconcile a key, for reasons that no watch sees; from any thread.

        Raises: InvalidValue when there is no such controller, or it does not run.
        """
        for each in self._running().controllers:
            if each.spec.name == controller:
                each.enqueue(key, after=after)
                return
        raise InvalidValue(f"enqueue {key}: there is no controller {controller!r}")

    @property
    def is_leader(self) -> bool:
        """Whether the controllers may work: always, without an election."""
        if self._election is None:
            return True
        elector = self._made.elector if self._made is not None else None
        return elector is not None and elector.is_leader

    def report(self) -> CacheReport:
        """What all caches hold. Raises: InvalidValue before it runs."""
        return self._running().caches.report()

    def stats(self) -> ManagerStats:
        made = self._made
        if made is None:
            return ManagerStats(state=self._state, is_leader=self.is_leader)
        return ManagerStats(
            state=self._state,
            is_leader=self.is_leader,
            addresses=made.addresses,
            informers=tuple(informer.stats() for informer in made.caches),
            controllers=tuple(controller.stats() for controller in made.controllers),
            election=made.elector.stats() if made.elector is not None else None,
            events=made.broadcaster.stats(),
            requests=made.client.stats(),
        )

    # --- the steps

    def _arrange(self, stack: contextlib.AsyncExitStack) -> Callable[[], None]:
        """Arrange the process; returns what to call when everything is loaded."""
        signals, tune_gc, logs = self._arranges
        if logs:
            stack.enter_context(log_in_background())
        if signals:
            task = asyncio.current_task()
            assert task is not None, "run() is awaited by a task"
            stack.enter_context(on_signals(self.stop, task.cancel))
        return stack.enter_context(calm_collector()) if tune_gc else lambda: None

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
            controllers=tuple(self._specs.values()),
            crds=tuple(self._crds.values()),
            alive=self._alive,
            ready=self._ready,
            clock=self._clock,
        )

    async def _live(self, made: Assembly, is_settled: Callable[[], None]) -> None:
        async with TaskOwner() as tasks:
            for informer in made.caches:
                tasks.spawn(self._lasting(informer), name=f"informer {informer.name}")
            self._begin(tasks, made, leader_only=False)
            tasks.spawn(self._settle(made, is_settled), name="first lists")
            leading = tasks.spawn(self._lead(made), name="leading")
            self._state = "running"
            await self._stopping.wait()
            self._state = "stopping"
            await self._drain(made)
            await cancel_and_wait(leading)

    async def _lead(self, made: Assembly) -> None:
        """What only the leader does, until cancelled. Raises: LeadershipLost."""
        async with contextlib.AsyncExitStack() as stack:
            if made.elector is not None:
                await stack.enter_async_context(made.elector.leadership())
            tasks = await stack.enter_async_context(TaskOwner())
            self._begin(tasks, made, leader_only=True)
            await asyncio.get_running_loop().create_future()  # until cancelled

    def _begin(self, tasks: TaskOwner, made: Assembly, *, leader_only: bool) -> None:
        for controller in made.controllers:
            if controller.spec.leader_only is leader_only:
                tasks.spawn(self._lasting(controller), name=str(controller))
        for each in self._parts:
            if each.leader_only is leader_only:
                tasks.spawn(each.part.run(), name=repr(each.part))

    async def _settle(self, made: Assembly, is_settled: Callable[[], None]) -> None:
        for controller in made.controllers:
            await controller.wait_begun()
        is_settled()
        self._begun.set()

    async def _lasting(self, part: Runnable) -> None:
        """A part that is to last: its end is a failure as well."""
        await part.run()
        if not self._stopping.is_set():
            raise PartEnded(f"{part!r} came to its end and should not have (a fault in kubeloop)")

    async def _drain(self, made: Assembly) -> None:
        log.info("ending: waiting for what is in work")
        for controller in made.controllers:
            controller.close()
        try:
            async with self._clock.timeout(self._grace):
                for controller in made.controllers:
                    await controller.drained()
        except TimeoutError:
            active = [key for each in made.controllers for key in each.stats().active]
            log.error("ending: cancelled after %g s: %s", self._grace, ", ".join(active))

    def _register(self, spec: ControllerSpec) -> None:
        self._must_be_new("add a controller")
        if spec.name in self._specs:
            raise InvalidValue(
                f"controller {spec.name!r}: there is one of that name already (give another: name=)"
            )
        for kind in spec.kinds:
            self._wanted.want(kind, resync=spec.resync)
        self._specs[spec.name] = spec

    def _must_be_new(self, what: str) -> None:
        if self._state != "new":
            raise InvalidValue(f"{what}: the manager is {self._state} (do it before run())")

    def _running(self) -> Assembly:
        if self._made is None:
            raise InvalidValue("the manager does not run yet (ask from inside, or after a start)")
        return self._made

    def __repr__(self) -> str:
        return f"Manager({', '.join(self._specs)}: {self._state})"


def _name_of(kind: Watchable) -> str:
    found = named(kind)
    said = found.kind if isinstance(found, GroupVersionKind) else found.resource
    return str(said).lower()


def _class_of(kind: Watchable) -> type[Resource]:
    if isinstance(kind, type):
        return kind
    raise InvalidValue(f"install the CRD of {kind}: only a class says what its objects look like")
