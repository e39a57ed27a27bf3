"""One mirror of a collection for everybody in the process who wants to know.

Promises: one list and one watch, however many handlers; whoever is told of a change finds
it in the cache; what the server had is here and what it has not is not, whatever happens on
the way, as soon as the server can be reached. When the block ends, so has all that runs.
Elsewhere: following the server (`reflector`), reading (`lister`), telling (`handlers`),
sharing informers (`factory`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import contextlib
import enum
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Generic, Self, TypeVar, final

import msgspec

from kubeloop.kit import Clock, SystemClock, TaskOwner
from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING, as_selector
from kubeloop.wire import get_logger

from .applying import Applying
from .callbacks import Callback, by_key, filtered, split
from .changes import ChangeStream
from .codec import CodecStats, EntryCodec
from .controller import Controller, ControllerStats
from .delta_queue import DeltaQueue
from .entry import Delta
from .entry_decoder import EntryDecoder, Transform
from .handlers import Handlers, HandlerStats, Registration
from .in_order import RealFIFO
from .index import Indexers
from .indexer import Indexer
from .keeping import StorageFormat
from .list_watch import ListWatch, Scope
from .lister import Lister, SelectorLike
from .metrics import NO_METER, CacheMetrics
from .mutation_detector import MutationDetector, is_detector_enabled
from .notices import LIMIT
from .reflector import Reflector, WatchErrorHandler
from .reflector_state import ReflectorStats
from .report import warn_of_unfiltered
from .store import StoreStats
from .waiting import InformerStopped, Progress, check_version, has_reached

__all__ = ["InformerState", "InformerStats", "SharedInformer"]

T = TypeVar("T")
log = get_logger(__name__)

CROWDED = 2000  # deltas that wait; beyond that the reflector takes a rest


class InformerState(enum.StrEnum):
    """Where an informer is in its one life."""

    NEW = "new"
    RUNNING = "running"
    STOPPED = "stopped"


class InformerStats(msgspec.Struct, frozen=True):
    """Everything that can be said of an informer."""

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
    """Mirrors the collection behind `source` as objects of the type `of`.

        async with SharedInformer(source, Pod, index={"node": "spec.nodeName"}) as pods:
            for pod in pods.lister.list("app=web"):
                ...

    `of` is a model, `dict`, or a struct with only the fields you want (a view). The block
    begins when the first list is here. `index` names indexes: by field path, or by function.
    `keeping` says how objects are held. `transform` changes each object before it is held.
    `resync` tells handlers everything again, every so many seconds (0: never). `backlog` is
    how many changes may wait for a slow handler before those of one object become one.
    `on_watch_error` is called with the error of every failed round, in place of a log line.
    `detect_mutations` is for `store_as="objects"`: whoever changes an object that is held makes
    the informer fail (by default where KUBE_CACHE_MUTATION_DETECTOR says so).
    `name` is for logs and reports, `metrics_name` (or else `name`) for metrics. `queue` makes
    another delta queue than the default, which is the in-order one, as in client-go: a list
    is one item of it, held all at once, and no change of the watch is merged with another.
    """

    def __init__(
        self,
        source: ListWatch,
        of: type[T],
        *,
        index: Indexers[T] | None = None,
        keeping: StorageFormat = "bytes",
        transform: Transform[T] | None = None,
        resync: float = 0.0,
        backlog: int = LIMIT,
        sync_timeout: float | None = None,
        page_size: int = 0,
        check_consistency: bool = False,
        detect_mutations: bool | None = None,
        on_watch_error: WatchErrorHandler | None = None,
        queue: Callable[[Indexer[T]], DeltaQueue] | None = None,
        name: str = "",
        metrics: CacheMetrics | None = None,
        metrics_name: str = "",
        clock: Clock | None = None,
    ) -> None:
        scope = source.scope
        self.scope = scope
        self.name = name or str(scope)
        self.keeping = keeping
        self.transform = transform
        self._clock = clock or SystemClock()
        self._sync_timeout = sync_timeout
        self._default_resync = resync
        self._metrics = metrics
        self._metrics_place = (metrics_name or name, scope.resource)
        self._meter = metrics.meter(*self._metrics_place) if metrics is not None else NO_METER
        self._is_metered = self._meter is not NO_METER
        self._codec = EntryCodec(
            of, keeping=keeping, api_version=scope.api_version, kind=scope.kind
        )
        self.indexer = Indexer(self._codec, index)
        self.lister = Lister(self.indexer)
        self._queue = (
            queue(self.indexer) if queue else RealFIFO(at_once=self._at_once, clock=self._clock)
        )
        self._progress = Progress(self._clock)
        self._handlers: Handlers[T] = Handlers(
            self._codec,
            clock=self._clock,
            check=resync,
            limit=backlog,
            progress=self._progress,
            meter=self._meter,
            informer=self.name,
            is_upstream_synced=lambda: self._queue.has_synced,
        )
        wanted = is_detector_enabled() if detect_mutations is None else detect_mutations
        self._detector = (
            MutationDetector(self._codec, clock=self._clock)
            if wanted and self._codec.shares
            else None
        )
        self._reflector = Reflector(
            source,
            self._queue,
            EntryDecoder(self._codec, transform=transform, kind=scope.kind),
            clock=self._clock,
            should_resync=self._handlers.should_resync,
            on_watch_error=on_watch_error,
            is_full=lambda: len(self._queue) >= CROWDED or self._handlers.is_behind(),
            known=self.indexer.entry,
            page_size=page_size,
            check_consistency=check_consistency,
            meter=self._meter,
        )
        self._applying = Applying(
            self.indexer,
            self._handlers.audience,
            on_held=self._detector.add if self._detector is not None else None,
        )
        self._controller = Controller(
            self._reflector,
            self._queue,
            self._applying,
            after_batch=self._note_progress,
            clock=self._clock,
            meter=self._meter,
        )
        self._state = InformerState.NEW
        self._tasks: TaskOwner | None = None  # while it runs
        self._life = contextlib.AsyncExitStack()

    # --- life

    async def run(self) -> None:
        """Mirror until cancelled; for one life only, a second call does nothing.

        Cancelled, it leaves the cache readable and nothing running.
        """
        if self._state is not InformerState.NEW:
            log.warning("%s: run again: it is %s already", self.name, self._state)
            return
        self._state = InformerState.RUNNING
        await self._live()

    async def _live(self) -> None:
        warn_of_unfiltered(self.scope)
        self._reflector.resync = self._handlers.check
        try:
            async with TaskOwner() as tasks:
                self._tasks = tasks
                for registration in self._handlers.all():
                    self._give_worker(registration)
                if self._detector is not None:
                    tasks.spawn(self._detector.run(), name=f"mutation detector of {self.name}")
                await self._controller.run()
        finally:
            self._end()

    async def __aenter__(self) -> Self:
        """Run it, and wait for the first list. Cancelled, nothing is left running.

        Raises:
            NotSynced: there was none within `sync_timeout`.
            InformerStopped: it has run already.
        """
        if self._state is not InformerState.NEW:
            raise InformerStopped(
                f"{self.name}: begin: it is {self._state} already (make another one)"
            )
        self._state = InformerState.RUNNING  # at once: of two who begin it, only one does
        try:
            async with contextlib.AsyncExitStack() as stack:
                tasks = await stack.enter_async_context(TaskOwner())
                tasks.spawn(self._live(), name=f"informer {self.name}")
                await self.wait_synced(timeout=self._sync_timeout)
                self._life = stack.pop_all()
        finally:
            if self._tasks is None and self._state is InformerState.RUNNING:
                self._end()  # cancelled before its first step
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._life.__aexit__(kind, error, trace)

    @property
    def state(self) -> InformerState:
        return self._state

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the cache; handlers may still be at work on it."""
        return self._queue.has_synced

    @property
    def last_sync_version(self) -> str:
        """The version that the reflector has come to; empty before the first list."""
        return self._reflector.last_sync_version

    async def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait for the first list. Safe to cancel.

        Raises:
            NotSynced: `timeout` seconds have passed first.
            InformerStopped: it ended before.
        """
        what = f"the first list of {self.name}"
        await self._progress.until(lambda: self._is_so(self.has_synced), what=what, timeout=timeout)

    # --- reading your writes

    async def wait_for_version(self, version: str, *, timeout: float | None = 10.0) -> None:
        """Wait until the cache has seen what was written as `version`. Safe to cancel.

            written = await client.update(pod)
            await pods.wait_for_version(written.metadata.resource_version)

        For objects that this informer mirrors: of others it hears only by bookmarks.

        Raises:
            NotSynced: `timeout` seconds have passed first.
            InformerStopped: it ended before.
            InvalidArgument: it is no resource version.
        """
        check_version(version)
        await self._progress.until(
            lambda: self._is_so(has_reached(self.indexer.version, version)),
            what=f"version {version} of {self.name}",
            timeout=timeout,
        )

    async def wait_until(
        self, condition: Callable[[], bool], *, what: str = "", timeout: float | None = None
    ) -> None:
        """Wait until `condition()`, which is called after each change of the cache.

        Bookmarks are changes, too. `what` is for the error. Safe to cancel.

        Raises:
            NotSynced: `timeout` seconds have passed first.
            InformerStopped: it ended before.
        """
        await self._progress.until(
            lambda: self._is_so(condition()),
            what=what or f"a condition of {self.name}",
            timeout=timeout,
        )

    async def get(
        self,
        name: str | ObjectKey,
        *,
        namespace: str = "",
        resource_version: str,
        timeout: float | None = 10.0,
    ) -> T | None:
        """As `lister.get`, from a cache that has seen the version `resource_version`.

        Raises as `wait_for_version` does. Safe to cancel.
        """
        await self.wait_for_version(resource_version, timeout=timeout)
        return self.lister.get(name, namespace=namespace)

    # --- being told

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
        """Have functions called, plain or async; one after the other, in order.

        `on_change` is given a `Change` in place of objects, which says more: whether an add
        is of the first list, and whether the final state of a delete is known. One that comes
        late first hears of everything there is, as adds. `selector` and `where` let only some
        objects pass; a delete passes if the state reported before it did. `resync` is this
        handler's own period, for an informer that has one, too; otherwise a warning says that
        it has no effect.

        An object that was deleted and created again during a watch gap is `on_delete` of the
        old one, then `on_add` of the new one. During `on_delete` the cache holds the new one
        already.

        Raises:
            InformerStopped: the informer has ended.
        """
        call = on_change or split(on_add, on_update, on_delete)
        chosen = as_selector(selector)
        if where is not None or not chosen.is_everything:
            call = filtered(call, codec=self._codec, selector=chosen, where=where)
        return self._register(call, resync=resync, name=name)

    def add_key_handler(
        self,
        on_key: Callable[[ObjectKey], Awaitable[object] | object],
        *,
        selector: SelectorLike = EVERYTHING,
        resync: float | None = None,
        name: str = "",
    ) -> Registration[T]:
        """Have a function called with the key of each object that changes; nothing is decoded.

        ```python
        pods.add_key_handler(queue.add)
        ```
        """
        chosen = as_selector(selector)
        call: Callback[T] = by_key(on_key)
        if not chosen.is_everything:
            call = filtered(call, codec=self._codec, selector=chosen)
        return self._register(call, resync=resync, name=name)

    def changes(self, *, resync: float = 0.0, name: str = "") -> ChangeStream[T]:
        """All there is, as adds, then every change. Raises `InformerStopped`."""
        return self._register(None, resync=resync, name=name or "changes").stream()

    # --- the rest

    async def add_indexers(self, indexers: Indexers[T]) -> None:
        """Index what is held and what comes, while the event loop goes on.

        Safe to cancel: none is added.

        Raises:
            IndexConflict: one of the names is taken; none is added.
            InformerStopped: the informer has ended.
        """
        self._check_alive("add indexes")
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
        self, call: Callback[T] | None, *, resync: float | None, name: str
    ) -> Registration[T]:
        self._check_alive("add a handler")
        registration = self._handlers.add(
            call,
            name=name,
            resync=self._default_resync if resync is None else resync,
            replay=self.indexer.entries(),
            has_started=self._state is InformerState.RUNNING,
        )
        if self._tasks is not None:
            self._give_worker(registration)
        return registration

    def _give_worker(self, registration: Registration[T]) -> None:
        assert self._tasks is not None
        if registration.wants_worker:
            name = f"{registration.name} of {self.name}"
            self._tasks.spawn(registration.run(), name=name)

    def _at_once(self, delta: Delta) -> bool:
        """Work on a change when it comes, past the queue, if nothing waits there.

        What fails is left to the queue, and so to the controller, which tries again.
        """
        began = self._clock.now() if self._is_metered else 0.0
        try:
            is_done = self._applying.at_once(delta)
        except Exception:
            log.exception("%s: could not be worked on, to be tried again", delta.key)
            return False
        if self._is_metered:
            self._meter.observe_processing(self._clock.now() - began)
        self._note_progress()
        return is_done

    def _note_progress(self) -> None:
        if self._is_metered:
            self._meter.set_store_version(self.indexer.version)
        self._progress.notify()

    def _is_so(self, met: bool) -> bool:  # noqa: FBT001
        if not met and self._state is InformerState.STOPPED:
            raise InformerStopped(f"{self.name}: it has ended, and nothing more will come")
        return met

    def _check_alive(self, what: str) -> None:
        if self._state is InformerState.STOPPED:
            raise InformerStopped(f"{self.name}: {what}: it has ended (make another one)")

    def _end(self) -> None:
        self._state = InformerState.STOPPED
        self._tasks = None
        self._handlers.end()
        self._progress.notify()
        if self._metrics is not None:
            self._metrics.release(*self._metrics_place)
