"""An informer: one cache of a collection, shared by all of its handlers and listers.

Guarantees: one list and one watch, for any number of handlers. A handler finds its change in the
cache. As soon as the server can be reached, the cache has what the server has, and nothing else.
When the `async with` block ends, so has everything that the informer runs.

The path of an event, from the reflector to a handler:

    Reflector
       | RealFIFO.add / update / delete
       v
    is the queue idle?  --yes-->  DeltaApplier.apply_directly   (in the reflector's stack)
       | no                                  |
       v                                     |
    RealFIFO  -->  Controller  -->  DeltaApplier.__call__       (in the controller's task)
                                             |
                                             v
                                    ThreadSafeStore: store and indexes
                                             | Registration.put, for each handler
                                             v
    is the handler idle?  --yes-->  call it  (in the same stack)
       | no, or async                        ^
       v                                     |
    Backlog  -->  the handler's worker  -----+  (in a task of the registration)

Both stages follow one rule: with nothing queued before it, an event is passed on in the same
stack; otherwise it is queued, and a task takes it from there. So the order is the same on both
paths. The direct path saves two task switches, which cost more than all the rest
(docs/explanation/architecture.md has the figures). The reflector's stack is that of the callback
that received the event, if the watch has `pump`.

See also: `reflector` (follows the server), `indexer` (reading), `handlers` (notifications),
`factory` (shares informers).
"""

# ruff: noqa: ASYNC109 - a clock enforces the caller's timeout, and the error names it
from __future__ import annotations

import contextlib
import enum
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Generic, Self, TypedDict, TypeVar, Unpack, final

import msgspec

from kubeloop.kit import Clock, SystemClock, TaskOwner, strict_keywords
from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING, as_selector
from kubeloop.wire import get_logger

from .applier import DeltaApplier
from .changes import LIMIT, Callback, KeyCallback, by_change_type, filtered
from .codec import CodecStats, EntryCodec
from .controller import Controller, ControllerStats
from .delta_queue import DeltaQueue, RealFIFO
from .entry_decoder import EntryDecoder, Transform
from .handlers import ChangeStream, Handlers, HandlerStats, Registration
from .index import Indexers
from .indexer import Indexer, Lister, SelectorLike
from .list_watch import ListWatch, Scope
from .metrics import NO_METER, CacheMetrics
from .mutation_detector import MutationDetector, is_detector_enabled
from .reflector import Reflector, WatchErrorHandler
from .reflector_state import ReflectorStats
from .report import warn_of_unfiltered
from .storage import StorageFormat
from .store import StoreStats
from .waiting import InformerStopped, Progress, check_version, has_reached

__all__ = [
    "DROPPED",
    "InformerOptions",
    "InformerState",
    "InformerStats",
    "SharedInformer",
    "StorageOptions",
]

T = TypeVar("T")
log = get_logger(__name__)

# On average a third of an object, and of no use to a reader. Nothing is lost if an object without
# them is written: the server keeps its own unless an update has others.
DROPPED = ("metadata.managedFields",)
CROWDED = 2000  # deltas in the queue; beyond that the reflector waits


class StorageOptions(TypedDict, Generic[T], total=False):
    """How an informer stores objects of type `T`.

    `index` names indexes: by field path, or by function. `store_as` is the format of the
    objects in memory. `transform` changes each object before it is stored. `drop` names the
    fields that are cut out of each object as it arrives (`DROPPED` by default): they are absent
    in everything that is read from the cache, and a transform does not see them either.
    """

    index: Indexers[T] | None
    store_as: StorageFormat
    transform: Transform[T] | None
    drop: Sequence[str]


class InformerOptions(StorageOptions[T], Generic[T], total=False):
    """Keyword arguments of `SharedInformer`, for objects of type `T`.

    `resync` notifies handlers of all objects again, every so many seconds (0: never).
    `backlog` is how many notifications may wait for a slow handler before those of one object
    are merged. `sync_timeout` is how long `async with` waits for the first list.
    `on_watch_error` is called with the error of every failed attempt, in place of a log line.
    `detect_mutations` is for `store_as="objects"`: the informer fails if a caller changes an
    object in the cache (default: the environment variable
    KUBE_CACHE_MUTATION_DETECTOR).
    `name` is for logs and reports, `metrics_name` (default: `name`) for metrics. `queue` creates
    another delta queue than a `RealFIFO`.
    """

    resync: float
    backlog: int
    sync_timeout: float | None
    page_size: int
    check_consistency: bool
    detect_mutations: bool | None
    on_watch_error: WatchErrorHandler | None
    queue: Callable[[Indexer[T]], DeltaQueue] | None
    name: str
    metrics: CacheMetrics | None
    metrics_name: str
    clock: Clock | None


class InformerState(enum.StrEnum):
    """An informer runs once."""

    NEW = "new"
    RUNNING = "running"
    STOPPED = "stopped"


class InformerStats(msgspec.Struct, frozen=True):
    """A snapshot of an informer."""

    name: str
    scope: Scope
    state: InformerState
    has_synced: bool
    store: StoreStats
    codec: CodecStats
    reflector: ReflectorStats
    controller: ControllerStats
    handlers: tuple[HandlerStats, ...]


@final
class SharedInformer(Generic[T]):
    """Caches the collection behind `source` as objects of type `model`.

        async with SharedInformer(source, Pod, index={"node": "spec.nodeName"}) as pods:
            for pod in pods.lister.list("app=web"):
                ...

    `model` is a generated class, `dict`, or a struct with the fields you need. The block starts
    when the first list is in the cache. `InformerOptions` describes the keyword arguments.
    """

    @strict_keywords
    def __init__(
        self, source: ListWatch, model: type[T], **options: Unpack[InformerOptions[T]]
    ) -> None:
        scope = source.scope
        self.scope = scope
        self.name = options.get("name") or str(scope)
        self.store_as: StorageFormat = options.get("store_as", "bytes")
        self.transform = options.get("transform")
        self.drop = tuple(options.get("drop", DROPPED))
        self.on_watch_error = options.get("on_watch_error")
        self._sync_timeout = options.get("sync_timeout")
        self._default_resync = options.get("resync", 0.0)
        self._clock = clock = options.get("clock") or SystemClock()
        self._metrics = options.get("metrics")
        metrics_name = options.get("metrics_name") or options.get("name", "")
        self._metrics_labels = (metrics_name, scope.resource)
        self._meter = (
            NO_METER if self._metrics is None else self._metrics.meter(*self._metrics_labels)
        )

        self._codec = EntryCodec(
            model,
            store_as=self.store_as,
            drop=options.get("drop", DROPPED),
            api_version=scope.api_version,
            kind=scope.kind,
            messages=source.messages,
        )
        self.indexer = Indexer(self._codec, options.get("index"))
        self.lister = Lister(self.indexer)
        self._progress = Progress(clock)
        self._handlers: Handlers[T] = Handlers(
            self._codec,
            clock=clock,
            check_period=self._default_resync,
            limit=options.get("backlog", LIMIT),
            progress=self._progress,
            meter=self._meter,
            informer=self.name,
            is_upstream_synced=self._is_queue_synced,
        )
        self._detector = self._create_detector(options.get("detect_mutations"))
        self._applier = DeltaApplier(
            self.indexer,
            self._handlers.recipients,
            on_store=self._detector.add if self._detector is not None else None,
            after_change=self._report_progress,
            meter=self._meter,
            clock=clock,
        )
        create_queue = options.get("queue")
        self._queue = (
            create_queue(self.indexer)
            if create_queue
            else RealFIFO(bypass=self._applier.apply_directly, clock=clock)
        )
        self._reflector = self._create_reflector(source, options)
        self._controller = Controller(
            self._reflector,
            self._queue,
            self._applier,
            after_batch=self._report_progress,
            clock=clock,
            meter=self._meter,
        )
        self._state = InformerState.NEW
        self._tasks: TaskOwner | None = None  # while it runs
        self._exit_stack = contextlib.AsyncExitStack()

    # --- lifecycle

    async def run(self) -> None:
        """Run until cancelled; an informer runs once, a second call does nothing.

        Cancelled, it leaves the cache readable and nothing running.
        """
        if self._state is not InformerState.NEW:
            log.warning("%s: run() was called again: the informer is %s", self.name, self._state)
            return
        self._state = InformerState.RUNNING
        await self._run()

    async def _run(self) -> None:
        warn_of_unfiltered(self.scope)
        # Handlers that were added since may have shorter periods.
        self._reflector.resync = self._handlers.check_period
        try:
            async with TaskOwner() as tasks:
                self._tasks = tasks
                for registration in self._handlers.all():
                    self._start_worker(registration)
                if self._detector is not None:
                    tasks.spawn(self._detector.run(), name=f"mutation detector of {self.name}")
                await self._controller.run()
        finally:
            self._stop()

    async def __aenter__(self) -> Self:
        """Run it, and wait for the first list. Cancelled, it leaves nothing running.

        Raises:
            NotSynced: `sync_timeout` seconds have passed.
            InformerStopped: it has run already.
        """
        if self._state is not InformerState.NEW:
            raise InformerStopped(
                f"{self.name}: start: the informer is {self._state} (create another one)"
            )
        self._state = InformerState.RUNNING  # before the first await: only one caller starts it
        try:
            async with contextlib.AsyncExitStack() as stack:
                tasks = await stack.enter_async_context(TaskOwner())
                tasks.spawn(self._run(), name=f"informer {self.name}")
                await self.wait_synced(timeout=self._sync_timeout)
                self._exit_stack = stack.pop_all()
        finally:
            if self._tasks is None and self._state is InformerState.RUNNING:
                self._stop()  # cancelled before its first step
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._exit_stack.__aexit__(kind, error, trace)

    @property
    def state(self) -> InformerState:
        return self._state

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the cache; handlers may not have completed it yet."""
        return self._queue.has_synced

    @property
    def last_sync_version(self) -> str:
        """The resource version of the reflector; empty before the first list."""
        return self._reflector.last_sync_version

    async def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait for the first list. Safe to cancel.

        Raises:
            NotSynced: `timeout` seconds have passed.
            InformerStopped: the informer has stopped.
        """
        what = f"the first list of {self.name}"
        await self._wait(lambda: self.has_synced, what=what, timeout=timeout)

    # --- reading your writes

    async def wait_for_version(self, version: str, *, timeout: float | None = 10.0) -> None:
        """Wait until the cache has the write with that `version`. Safe to cancel.

            written = await client.resource(Pod).update(pod)
            await pods.wait_for_version(written.metadata.resource_version)

        For objects of this informer: the versions of others reach it only by bookmarks.

        Raises:
            NotSynced: `timeout` seconds have passed.
            InformerStopped: the informer has stopped.
            InvalidArgument: it is not a resource version.
        """
        check_version(version)
        await self._wait(
            lambda: has_reached(self.indexer.version, version),
            what=f"version {version} of {self.name}",
            timeout=timeout,
        )

    async def wait_until(
        self, condition: Callable[[], bool], *, what: str = "", timeout: float | None = None
    ) -> None:
        """Wait until `condition()`, which is called after each change of the cache.

        Bookmarks are changes, too. `what` is for the error. Safe to cancel.

        Raises:
            NotSynced: `timeout` seconds have passed.
            InformerStopped: the informer has stopped.
        """
        await self._wait(condition, what=what or f"a condition of {self.name}", timeout=timeout)

    async def get(
        self,
        name: str | ObjectKey,
        *,
        namespace: str = "",
        resource_version: str,
        timeout: float | None = 10.0,
    ) -> T | None:
        """As `lister.get`, from a cache that has at least the version `resource_version`.

        Raises as `wait_for_version` does. Safe to cancel.
        """
        await self.wait_for_version(resource_version, timeout=timeout)
        return self.lister.get(name, namespace=namespace)

    # --- handlers

    def add_handler(
        self,
        *,
        on_add: Callable[[T], Awaitable[object] | object] | None = None,
        on_update: Callable[[T, T], Awaitable[object] | object] | None = None,
        on_delete: Callable[[T], Awaitable[object] | object] | None = None,
        on_change: Callback[T] | None = None,
        selector: SelectorLike = EVERYTHING,
        where: Callable[[T], bool] | None = None,
        resync: float | None = None,
        name: str = "",
    ) -> Registration[T]:
        """Call functions for each change, synchronous or async; one after the other, in order.

        `on_change` receives a `Change` in place of objects, which has more: whether an add is
        of the first list, and whether the final state of a delete is known. A handler that is
        added late first receives all objects, as adds. `selector` and `where` filter objects; a
        delete passes if the state before it did. `resync` is the period of this handler; it has
        no effect, and is logged, if the informer has no resync period.

        An object that was deleted and created again during a watch gap is `on_delete` of the
        old one, then `on_add` of the new one. During `on_delete` the cache holds the new one
        already.

        Raises:
            InformerStopped: the informer has stopped.
        """
        callback = on_change or by_change_type(on_add, on_update, on_delete)
        parsed = as_selector(selector)
        if where is not None or not parsed.is_everything:
            callback = filtered(callback, codec=self._codec, selector=parsed, where=where)
        return self._register(callback, resync=resync, name=name)

    def add_key_handler(
        self,
        on_key: Callable[[ObjectKey], Awaitable[object] | object],
        *,
        selector: SelectorLike = EVERYTHING,
        resync: float | None = None,
        name: str = "",
    ) -> Registration[T]:
        """Call a function with the key of each object that changes; nothing is decoded.

        ```python
        pods.add_key_handler(queue.add)
        ```
        """
        parsed = as_selector(selector)
        callback: Callback[T] = KeyCallback(on_key)
        if not parsed.is_everything:
            callback = filtered(callback, codec=self._codec, selector=parsed)
        return self._register(callback, resync=resync, name=name)

    def changes(self, *, resync: float = 0.0, name: str = "") -> ChangeStream[T]:
        """All objects, as adds, then every change. Raises `InformerStopped`."""
        return self._register(None, resync=resync, name=name or "changes").stream()

    # --- indexes and stats

    async def add_indexers(self, indexers: Indexers[T]) -> None:
        """Index the cached objects and all later ones, while the event loop runs.

        Safe to cancel: none is added.

        Raises:
            IndexConflict: an index of that name exists; none is added.
            InformerStopped: the informer has stopped.
        """
        self._check_not_stopped("add indexes")
        await self.indexer.add_indexers_in_steps(indexers)

    def stats(self) -> InformerStats:
        return InformerStats(
            name=self.name,
            scope=self.scope,
            state=self._state,
            has_synced=self.has_synced,
            store=self.indexer.stats(),
            codec=self._codec.stats(),
            reflector=self._reflector.stats(),
            controller=self._controller.stats(),
            handlers=self._handlers.stats(),
        )

    def __repr__(self) -> str:
        return f"SharedInformer({self.name}, {self._state})"

    def _register(
        self, callback: Callback[T] | None, *, resync: float | None, name: str
    ) -> Registration[T]:
        self._check_not_stopped("add a handler")
        registration = self._handlers.add(
            callback,
            name=name,
            resync=self._default_resync if resync is None else resync,
            replay=self.indexer.store.entries(),
            has_started=self._state is InformerState.RUNNING,
        )
        if self._tasks is not None:
            self._start_worker(registration)
        return registration

    def _start_worker(self, registration: Registration[T]) -> None:
        assert self._tasks is not None
        if registration.needs_worker:
            name = f"{registration.name} of {self.name}"
            self._tasks.spawn(registration.run(), name=name)

    def _create_reflector(self, source: ListWatch, options: InformerOptions[T]) -> Reflector:
        return Reflector(
            source,
            self._queue,
            EntryDecoder(self._codec, transform=self.transform, kind=self.scope.kind),
            clock=self._clock,
            should_resync=self._handlers.should_resync,
            on_watch_error=self.on_watch_error,
            is_full=self._is_full,
            known=self.indexer.store.get,
            page_size=options.get("page_size", 0),
            check_consistency=options.get("check_consistency", False),
            meter=self._meter,
        )

    def _create_detector(self, requested: bool | None) -> MutationDetector[T] | None:  # noqa: FBT001
        is_enabled = is_detector_enabled() if requested is None else requested
        if not is_enabled or not self._codec.shares_objects:
            return None
        return MutationDetector(self._codec, clock=self._clock)

    def _is_queue_synced(self) -> bool:
        return self._queue.has_synced

    def _is_full(self) -> bool:
        return len(self._queue) >= CROWDED or self._handlers.is_behind()

    def _report_progress(self) -> None:
        if self._meter is not NO_METER:
            self._meter.set_store_version(self.indexer.version)
        if self._progress.waiting:
            self._progress.notify()

    async def _wait(
        self, condition: Callable[[], bool], *, what: str, timeout: float | None
    ) -> None:
        def is_met() -> bool:
            met = condition()
            if not met and self._state is InformerState.STOPPED:
                raise InformerStopped(f"{self.name}: the informer has stopped")
            return met

        await self._progress.until(is_met, what=what, timeout=timeout)

    def _check_not_stopped(self, what: str) -> None:
        if self._state is InformerState.STOPPED:
            raise InformerStopped(
                f"{self.name}: {what}: the informer has stopped (create another one)"
            )

    def _stop(self) -> None:
        self._state = InformerState.STOPPED
        self._tasks = None
        self._handlers.close()
        self._progress.notify()
        if self._metrics is not None:
            self._metrics.release(*self._metrics_labels)
