"""Reconciles the keys of one kind: from changes to a queue, from the queue to a function.

Promises: a key is never with two workers at once, and one that fails waits longer and longer
without keeping others waiting; whatever the function does (raise, hang, return rubbish) is
logged with the key and costs at most its own worker's time; it begins when its caches are
complete, and sees in them what its last try for the key has written.
Elsewhere: which changes count (`predicates`), whose key they are (`handlers`), what the
function is given (`context`), who runs controllers (`manager`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.cache import NotYet, Registration, SharedInformer, Watchable
from kubeloop.events import RecordsEvents
from kubeloop.kit import TaskOwner
from kubeloop.machinery import Conflict, GroupVersionKind, InvalidValue, KubeError, ObjectKey
from kubeloop.wire import resource_of
from kubeloop.workqueue import PriorityQueue, QueueMetrics, QueueShutDown, QueueStats, RateLimiter

from .caches import group_kind
from .context import Context, Surroundings, Tracer
from .handlers import Handler, Watch, on_mapped, on_owned, on_self
from .metrics import ReconcileMetrics, ReconcileResult
from .predicates import Predicate
from .results import ReconcileTimeout, Result, TerminalError
from .writes import Write

__all__ = [
    "RECONCILE_WITHIN",
    "Controller",
    "ControllerSpec",
    "ControllerStats",
    "Reconcile",
]

log = logging.getLogger(__name__)

Reconcile: TypeAlias = Callable[[ObjectKey, Context], Awaitable[Result | None]]

RECONCILE_WITHIN = 300.0
"""Seconds after which a reconcile is cancelled, unless its controller says otherwise."""
STILL_WAITING = 30.0
"""Seconds between two lines about caches that are not complete."""


class ControllerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a controller is to do. Raises: InvalidValue."""

    name: str
    kind: Watchable
    reconcile: Reconcile
    owns: tuple[Watch, ...] = ()
    watches: tuple[Watch, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    workers: int = 1
    timeout: float | None = RECONCILE_WITHIN
    resync: float = 0.0
    leader_only: bool = True
    limiter: RateLimiter[ObjectKey] | None = None

    def __post_init__(self) -> None:
        where = f"controller {self.name!r}"
        if not self.name:
            raise InvalidValue(f"{where}: it needs a name")
        if self.workers < 1:
            raise InvalidValue(f"{where}: {self.workers} workers (give one or more)")
        if self.timeout is not None and not self.timeout > 0:
            raise InvalidValue(f"{where}: timeout {self.timeout} (give seconds, or None for none)")
        if any(watch.to is None for watch in self.watches):
            raise InvalidValue(f"{where}: a watch without `to` (whose keys? or use `owns`)")
        if self.owns and group_kind(self.kind) is None:
            raise InvalidValue(f"{where}: owners are known by kind (name {self.kind} by its kind)")

    @property
    def kinds(self) -> tuple[Watchable, ...]:
        """All kinds whose changes it has to be told."""
        return (self.kind, *(watch.kind for watch in (*self.owns, *self.watches)))


class ControllerStats(msgspec.Struct, frozen=True):
    """What a controller has done, and what it is at."""

    name: str
    state: str  # waiting for caches, running, draining, ended
    queue: QueueStats
    workers: int
    active: tuple[str, ...]  # keys in work
    succeeded: int
    failed: int
    terminal: int
    timed_out: int
    last_error: str


class _Done(msgspec.Struct, frozen=True):
    """Nothing more to do until something changes."""


class _Again(msgspec.Struct, frozen=True):
    """The key once more: after so many seconds, or when the limiter says."""

    after: float | None = None


class _Failed(msgspec.Struct, frozen=True):
    """It raised; `for_good` when only a change can mend it."""

    error: Exception
    for_good: bool = False


_Outcome: TypeAlias = _Done | _Again | _Failed


@final
class Controller:
    """Runs one `ControllerSpec` while `run()` runs."""

    def __init__(
        self,
        spec: ControllerSpec,
        around: Surroundings,
        *,
        recorder: RecordsEvents,
        tracer: Tracer | None = None,
        metrics: ReconcileMetrics | None = None,
        queue_metrics: QueueMetrics | None = None,
    ) -> None:
        self.spec = spec
        self._around = around
        self._clock = around.clock
        self._recorder = recorder
        self._tracer = tracer
        self._metrics = metrics
        self._queue: PriorityQueue[ObjectKey] = PriorityQueue(
            spec.limiter, name=spec.name, clock=around.clock, metrics=queue_metrics
        )
        self._state = "waiting for caches"
        self._begun = asyncio.Event()
        self._idle = asyncio.Event()  # no key is in work
        self._idle.set()
        self._active: dict[ObjectKey, float] = {}  # with the moment when work began
        self._unseen: dict[ObjectKey, list[Write]] = {}  # what the last try of a key wrote
        self._succeeded = self._failed = self._terminal = self._timed_out = 0
        self._last_error = ""

    # --- life

    async def run(self) -> None:
        """Reconcile until cancelled; then what was in work is cancelled as well."""
        registrations: list[Registration[Any]] = []
        try:
            await self._wait_for_caches()
            registrations += self._listen(namespaced=await self._is_namespaced())
            self._state = "running"
            self._begun.set()
            if self._metrics is not None:
                self._metrics.workers(self.spec.name, self.spec.workers)
            log.info("%s: reconciling with %d workers", self.spec.name, self.spec.workers)
            async with TaskOwner() as tasks:
                tasks.spawn(self._queue.run(), name=f"{self} queue")
                workers = [
                    tasks.spawn(self._work(), name=f"{self} worker {number}")
                    for number in range(self.spec.workers)
                ]
                await asyncio.wait(workers)
        finally:
            self._state = "ended"
            self._queue.shut_down()
            for registration in registrations:
                registration.remove()

    async def wait_begun(self) -> None:
        """Wait until its caches are complete and its workers at work. Safe to cancel."""
        await self._begun.wait()

    def close(self) -> None:
        """Begin nothing more."""
        self._state = "draining"
        self._queue.shut_down()

    async def drained(self) -> None:
        """Wait until nothing is in work. Safe to cancel."""
        await self._idle.wait()

    def enqueue(self, key: ObjectKey, *, after: float | None = None) -> None:
        """Have a key reconciled, now or later; from any thread."""
        self._queue.add_threadsafe(key, after=after)

    def stats(self) -> ControllerStats:
        return ControllerStats(
            name=self.spec.name,
            state=self._state,
            queue=self._queue.stats(),
            workers=self.spec.workers,
            active=tuple(sorted(map(str, self._active))),
            succeeded=self._succeeded,
            failed=self._failed,
            terminal=self._terminal,
            timed_out=self._timed_out,
            last_error=self._last_error,
        )

    def __repr__(self) -> str:
        return f"controller {self.spec.name}"

    # --- from changes to keys

    def _listen(self, *, namespaced: bool) -> list[Registration[Any]]:
        spec, queue = self.spec, self._queue
        registrations = [self._told(spec.kind, on_self(queue, spec.predicates))]
        owner = group_kind(spec.kind)
        for watch in spec.owns:
            assert owner is not None, "checked when the spec was made"
            handler = on_owned(queue, watch.predicates, owner, namespaced=namespaced)
            registrations.append(self._told(watch.kind, handler))
        for watch in spec.watches:
            assert watch.to is not None, "checked when the spec was made"
            registrations.append(
                self._told(watch.kind, on_mapped(queue, watch.predicates, watch.to))
            )
        return registrations

    def _told(self, kind: Watchable, handler: Handler) -> Registration[Any]:
        informer = self._around.caches.informer(kind)
        return informer.add_handler(on_change=handler, resync=self.spec.resync, name=str(self))

    async def _is_namespaced(self) -> bool:
        """Whether the kind is; only those who own others have to know."""
        kind = self.spec.kind
        if not self.spec.owns or not isinstance(kind, GroupVersionKind):
            return not isinstance(kind, type) or resource_of(kind).namespaced
        return (await self._around.client.resource(kind).info()).namespaced

    async def _wait_for_caches(self) -> None:
        for kind in self.spec.kinds:
            informer = self._around.caches.informer(kind)
            while not informer.has_synced:
                try:
                    await informer.wait_synced(timeout=STILL_WAITING)
                except NotYet:
                    self._complain(informer)

    def _complain(self, informer: SharedInformer[Any]) -> None:
        error = informer.stats().reflector.last_error or "none"
        log.warning(
            "%s: still waiting for the first list of %s, last error: %s",
            self.spec.name,
            informer.name,
            error,
        )

    # --- from keys to the function

    async def _work(self) -> None:
        while True:
            try:
                key = await self._queue.get()
            except QueueShutDown:
                return
            try:
                if self._state != "draining":  # what was queued comes again with the next start
                    await self._handle(key)
            finally:
                self._queue.done(key)

    async def _handle(self, key: ObjectKey) -> None:
        began = self._begin(key)
        try:
            await self._catch_up(key)
            outcome = await self._attempt(key)
        finally:
            self._end(key)
        self._settle(key, outcome, self._clock.now() - began)

    def _begin(self, key: ObjectKey) -> float:
        began = self._active[key] = self._clock.now()
        self._idle.clear()
        self._report_active()
        return began

    def _end(self, key: ObjectKey) -> None:
        del self._active[key]
        if not self._active:
            self._idle.set()
        self._report_active()

    async def _catch_up(self, key: ObjectKey) -> None:
        """Let the caches see what the last try wrote, so that this one does not undo it."""
        writes = self._unseen.pop(key, None)
        if not writes:
            return
        try:
            await self._around.caches.caught_up(writes)
        except KubeError as error:
            log.warning("%s %s: reconciled with an old cache: %s", self.spec.name, key, error)

    async def _attempt(self, key: ObjectKey) -> _Outcome:
        spec = self.spec
        with ExitStack() as stack:
            span = None
            if self._tracer is not None:
                span = stack.enter_context(self._tracer.reconcile(spec.name, key))
            context = Context(
                self._around,
                key,
                controller=spec.name,
                recorder=self._recorder,
                attempt=self._queue.requeues(key),
                span=span,
            )
            try:
                return await self._call(key, context)
            finally:
                if context.writes:
                    self._unseen[key] = context.writes

    async def _call(self, key: ObjectKey, context: Context) -> _Outcome:
        try:
            async with self._clock.timeout(self.spec.timeout) as bound:
                return _judged(await self.spec.reconcile(key, context))
        except TerminalError as error:
            return _Failed(error, for_good=True)
        except TimeoutError as error:
            return _Failed(self._too_long(error) if bound.expired() else error)
        except Exception as error:  # noqa: BLE001 - the user's own; logged with the key, retried
            return _Failed(error)
        except asyncio.CancelledError as error:
            if _is_ending():
                raise
            # Something inside was cancelled, and not this worker.
            wrapped = KubeError("cancelled from inside")
            wrapped.__cause__ = error
            return _Failed(wrapped)

    def _too_long(self, error: TimeoutError) -> ReconcileTimeout:
        late = ReconcileTimeout(
            f"cancelled after {self.spec.timeout:g} s (give the controller another timeout, or"
            " return Result(requeue_after=…) in place of waiting)"
        )
        late.__cause__ = error
        return late

    # --- what follows

    def _settle(self, key: ObjectKey, outcome: _Outcome, seconds: float) -> None:
        priority = self._queue.priority_of(key) or 0
        match outcome:
            case _Done():
                self._queue.forget(key)
                self._count("success", seconds)
            case _Again(None):
                self._queue.add(key, rate_limited=True, priority=priority)
                self._count("requeue", seconds)
            case _Again(after):
                self._queue.forget(key)
                self._queue.add(key, after=after, priority=priority)
                self._count("requeue_after", seconds)
            case _Failed(error, for_good=True):
                self._queue.forget(key)
                self._fail(key, error, seconds, terminal=True)
            case _Failed(error):
                self._queue.add(key, rate_limited=True, priority=priority)
                self._fail(key, error, seconds, terminal=False)

    def _fail(self, key: ObjectKey, error: Exception, seconds: float, *, terminal: bool) -> None:
        self._last_error = f"{key}: {_words(error)}"
        self._terminal += terminal
        self._timed_out += isinstance(error, ReconcileTimeout)
        self._count("error", seconds, error, terminal=terminal)
        _log_failure(self.spec.name, key, error, self._queue.requeues(key), terminal=terminal)

    def _count(
        self,
        result: ReconcileResult,
        seconds: float,
        error: Exception | None = None,
        *,
        terminal: bool = False,
    ) -> None:
        if error is None:
            self._succeeded += 1
        else:
            self._failed += 1
        if self._metrics is not None:
            self._metrics.reconciled(
                self.spec.name,
                result,
                seconds=seconds,
                terminal=terminal,
                timed_out=isinstance(error, ReconcileTimeout),
            )

    def _report_active(self) -> None:
        if self._metrics is not None:
            self._metrics.active(self.spec.name, len(self._active))


def _judged(said: object) -> _Outcome:
    """What a function's answer means; what is no answer cannot be mended by another try."""
    match said:
        case None:
            return _Done()
        case Result(requeue_after=None, requeue=requeue):
            return _Again() if requeue else _Done()
        case Result(requeue_after=after):
            return _Again(after)
    return _Failed(
        InvalidValue(f"reconcile returned {said!r} (return a Result, or nothing)"), for_good=True
    )


def _is_ending() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _log_failure(
    name: str, key: ObjectKey, error: Exception, tries: int, *, terminal: bool
) -> None:
    what = _words(error)
    if terminal:
        log.error("%s %s: given up until it changes: %s", name, key, what)
    elif isinstance(error, Conflict):
        log.info("%s %s: to be tried again (%d): %s", name, key, tries, what)
    elif isinstance(error, KubeError):
        log.warning("%s %s: failed, to be tried again (%d): %s", name, key, tries, what)
    else:
        log.error("%s %s: failed, to be tried again (%d)", name, key, tries, exc_info=error)


def as_watches(wanted: Sequence[Watchable | Watch]) -> tuple[Watch, ...]:
    """Kinds as watches, where a kind alone says enough."""
    return tuple(each if isinstance(each, Watch) else Watch(each) for each in wanted)
