"""Controllers: from changes to keys, from keys to calls of the reconcile function.

Guarantees: a key is never reconciled by two workers at once, and a key that fails backs off
without delaying others; whatever the function does (raise, hang, return an invalid result) is
logged with the key and costs at most the time of its own worker. It starts when its caches
have synced, and a reconcile sees in them what the last reconcile of the key has written.
Not `kubeloop.cache.Controller`, which is client-go's: that one connects a reflector to a store.
This one is controller-runtime's; users declare it with `Manager.controller`.
See also: `predicates` (which changes count), `handlers` (which keys they add), `context` (what
the function is given), `manager` (runs controllers).
"""

from __future__ import annotations

import asyncio
import inspect
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from enum import StrEnum
from typing import Any, final

import msgspec

from kubeloop.cache import NotSynced, Registration, SharedInformer, Watchable
from kubeloop.events import Recorder
from kubeloop.kit import TaskOwner, ThreadCalls
from kubeloop.meta import GroupVersionKind, ObjectKey
from kubeloop.wire import get_logger, resource_of
from kubeloop.wire.core.v1 import ObjectReference
from kubeloop.workqueue import PriorityQueue, QueueMetrics, QueueShutDown, QueueStats

from .context import Context, Environment
from .handlers import Handler, enqueue_mapped, enqueue_object, enqueue_owner
from .health import Unhealthy
from .kinds import canonical_kind, group_kind
from .metrics import DURATIONS, ReconcileMetrics, ReconcileResult
from .outcomes import OutcomeObserver, ReconcileReport, notify_observers
from .own_writes import BEHIND_AFTER, ParkedKeys, WriteLedger
from .results import (
    Done,
    Failed,
    Outcome,
    ReconcileTimeout,
    Requeue,
    TerminalError,
    as_exception,
    error_text,
    log_failure,
    not_awaitable,
    outcome_of,
)
from .specs import ControllerSpec
from .tracing import Tracer

__all__ = ["Controller", "ControllerState", "ControllerStats", "FailingKey", "check_own_writes"]

log = get_logger(__name__)

SYNC_WARNING_INTERVAL = 30.0
"""Seconds between two warnings about caches that have not synced."""

MAX_FAILING = 1000
"""Keys of which a controller stores the last error; others are only counted and logged."""
MAX_ERROR = 1000
"""Characters of an error that are stored."""

_TOLERANCE = 1e-6  # sums of floats differ from the exact time by a little
_NO_SPAN = nullcontext(None)


class ControllerState(StrEnum):
    """The lifecycle of a controller."""

    STANDING_BY = "standing by"
    WAITING_FOR_CACHES = "waiting for caches"
    RUNNING = "running"
    DRAINING = "draining"  # starts no more reconciles, and waits for the running ones
    ENDED = "ended"


class FailingKey(msgspec.Struct, frozen=True):
    """A key whose last reconcile failed."""

    key: ObjectKey
    error: str
    attempts: int
    is_terminal: bool  # not retried until the object changes
    age: float  # seconds since the failure


class ControllerStats(msgspec.Struct, frozen=True):
    """A snapshot of a controller."""

    name: str
    state: ControllerState
    queue: QueueStats
    workers: int
    active: tuple[str, ...]  # keys that are being reconciled
    succeeded: int
    failed: int
    terminal: int
    timed_out: int
    last_error: str
    durations: Mapping[float, int] = {}  # reconciles by the upper bound of their seconds
    # Parked keys, the oldest first, and the seconds of that one.
    waiting_for_cache: tuple[str, ...] = ()
    longest_cache_wait: float = 0.0
    failing: tuple[FailingKey, ...] = ()  # the newest first; at most `MAX_FAILING`
    informers: tuple[str, ...] = ()  # the names of those of its kind, once it has started


@final
class Controller:
    """Runs one `ControllerSpec` (controller-runtime: `controller.Controller`)."""

    def __init__(
        self,
        spec: ControllerSpec,
        environment: Environment,
        *,
        recorder: Recorder,
        tracer: Tracer | None = None,
        metrics: ReconcileMetrics | None = None,
        queue_metrics: QueueMetrics | None = None,
        on_outcome: Sequence[OutcomeObserver] = (),
    ) -> None:
        self.spec = spec
        self._environment = environment
        self._clock = environment.clock
        self._recorder = recorder
        self._tracer = tracer
        self._metrics = metrics
        self._on_outcome = tuple(on_outcome)
        self._queue: PriorityQueue[ObjectKey] = PriorityQueue(
            spec.limiter, name=spec.name, clock=environment.clock, metrics=queue_metrics
        )
        self._state = ControllerState.STANDING_BY
        self._started = asyncio.Event()
        self._idle = asyncio.Event()  # no key is being reconciled
        self._idle.set()
        # The keys in processing, the oldest first, with the time of their start and their worker.
        self._active: dict[ObjectKey, tuple[float, asyncio.Task[Any]]] = {}
        self._late: set[ObjectKey] = set()  # those that were cancelled after the timeout
        self._ledger = WriteLedger(environment.caches)
        self._parked = ParkedKeys(
            self._ledger,
            priority_of=self._queue.priority_of,
            release=lambda key, priority: self._queue.add(key, priority=priority),
            on_late=self._report_late,
            clock=environment.clock,
        )
        self._succeeded = self._failed = self._terminal = self._timed_out = 0
        self._last_error = ""
        # The error, its time and whether it is terminal, of each key whose last reconcile failed.
        self._failing: dict[ObjectKey, tuple[str, float, bool]] = {}
        self._informers: tuple[str, ...] = ()
        self._durations = [0] * len(DURATIONS)

    # --- lifecycle

    async def run(self) -> None:
        """Reconcile until cancelled; running reconciles are cancelled as well."""
        registrations: list[Registration[Any]] = []
        try:
            self._state = ControllerState.WAITING_FOR_CACHES
            await self._wait_for_caches()
            registrations += self._add_handlers(namespaced=await self._is_namespaced())
            informers = self._environment.caches.informers(self.spec.kind)
            self._informers = tuple(each.name for each in informers)
            self._state = ControllerState.RUNNING
            self._started.set()
            if self._metrics is not None:
                self._metrics.start(
                    self.spec.name,
                    workers=self.spec.workers,
                    parked=self._parked.__len__,
                    longest_parked=self._parked.oldest,
                )
            log.info("%s: started with %d workers", self.spec.name, self.spec.workers)
            async with TaskOwner() as tasks:
                tasks.spawn(self._queue.run(), name=f"{self} queue")
                tasks.spawn(self._parked.run(), name=f"{self} parked keys")
                if self.spec.timeout is not None:
                    late = self._cancel_late(self.spec.timeout)
                    tasks.spawn(late, name=f"{self} timeout")
                workers = [
                    tasks.spawn(self._work(), name=f"{self} worker {number}")
                    for number in range(self.spec.workers)
                ]
                try:
                    await asyncio.wait(workers)
                finally:
                    # Before the workers are cancelled: so they know that it was not the function,
                    # and a worker whose function suppresses it gets no other key.
                    self.close()
        finally:
            self._state = ControllerState.ENDED
            self._queue.shut_down()
            for registration in registrations:
                registration.remove()

    async def wait_started(self) -> None:
        """Wait until its caches have synced and its workers run. Safe to cancel."""
        await self._started.wait()

    def close(self) -> None:
        """Start no more reconciles."""
        self._state = ControllerState.DRAINING
        self._queue.shut_down()

    async def wait_idle(self) -> None:
        """Wait until no key is being reconciled. Safe to cancel."""
        await self._idle.wait()

    def enqueue(self, key: ObjectKey, *, after: float | None = None) -> None:
        """Add a key, now or `after` seconds; from any thread."""
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
            durations=dict(zip(DURATIONS, self._durations, strict=True)),
            waiting_for_cache=tuple(map(str, self._parked.keys())),
            longest_cache_wait=self._parked.oldest(),
            failing=self._failing_keys(),
            informers=self._informers,
        )

    def _failing_keys(self) -> tuple[FailingKey, ...]:
        now = self._clock.now()
        return tuple(
            FailingKey(key, error, self._queue.num_requeues(key), terminal, max(now - at, 0.0))
            for key, (error, at, terminal) in reversed(self._failing.items())
        )

    def late_keys(self) -> str:
        """The keys that have been parked for `BEHIND_AFTER` seconds, as text; empty if none has."""
        late = list(self._parked.late())
        if not late:
            return ""
        key, what = late[0]
        return f"{self.spec.name}: {len(late)}, the oldest is {key}: {what}"

    def __repr__(self) -> str:
        return f"controller {self.spec.name}"

    # --- from changes to keys

    def _add_handlers(self, *, namespaced: bool) -> list[Registration[Any]]:
        spec, queue = self.spec, self._queue
        registrations = self._add_handler(spec.kind, enqueue_object(queue, spec.predicates))
        owner = group_kind(spec.kind)
        for watch in spec.owns:
            assert owner is not None, "checked by the spec"
            handler = enqueue_owner(queue, watch.predicates, owner, namespaced=namespaced)
            registrations += self._add_handler(watch.kind, handler)
        for watch in spec.watches:
            assert watch.to is not None, "checked by the spec"
            handler = enqueue_mapped(queue, watch.predicates, watch.to)
            registrations += self._add_handler(watch.kind, handler)
        return registrations

    def _add_handler(self, kind: Watchable, handler: Handler) -> list[Registration[Any]]:
        return [
            informer.add_handler(on_change=handler, resync=self.spec.resync, name=str(self))
            for informer in self._environment.caches.informers(kind)
        ]

    async def _is_namespaced(self) -> bool:
        """Whether the kind is namespaced; asks discovery only if the keys of owners need it."""
        kind = self.spec.kind
        if not self.spec.owns or not isinstance(kind, GroupVersionKind):
            return not isinstance(kind, type) or resource_of(kind).namespaced
        return (await self._environment.client.resource(kind).info()).namespaced

    async def _wait_for_caches(self) -> None:
        for kind in self.spec.kinds:
            for informer in self._environment.caches.informers(kind):
                await self._wait_synced(informer)

    async def _wait_synced(self, informer: SharedInformer[Any]) -> None:
        while not informer.has_synced:
            try:
                await informer.wait_synced(timeout=SYNC_WARNING_INTERVAL)
            except NotSynced:
                log.warning(
                    "%s: still waiting for the first list of %s, last error: %s",
                    self.spec.name,
                    informer.name,
                    informer.stats().reflector.last_error or "none",
                )

    # --- from keys to the function

    async def _work(self) -> None:
        worker = asyncio.current_task()
        assert worker is not None, "a coroutine runs in a task"
        try:
            while True:
                key = await self._queue.get()
                try:
                    # While draining, keys are left to the next start. A parked key is done for
                    # the queue, so that it holds no worker; if its object changes meanwhile,
                    # it gets here again and stays parked.
                    if self._state is not ControllerState.DRAINING and not self._parked.park(key):
                        await self._process(key, worker)
                finally:
                    self._queue.done(key)
        except QueueShutDown:
            return
        finally:
            self.close()  # a worker that failed ends the others

    async def _process(self, key: ObjectKey, worker: asyncio.Task[Any]) -> None:
        """Reconcile a key and act on its outcome; count it as active meanwhile."""
        started = self._clock.now()
        self._active[key] = started, worker
        self._idle.clear()
        metrics, name = self._metrics, self.spec.name
        if metrics is not None:
            metrics.set_active(name, len(self._active))
        try:
            with ThreadCalls() as calls:
                try:
                    outcome = await self._reconcile(key, worker)
                finally:
                    if self._state is not ControllerState.RUNNING:
                        # The key is active as long as a thread of its function runs: the next
                        # leader must not start before that.
                        self._late.add(key)  # the function has ended: nothing is to be cancelled
                        await calls.wait()
        finally:
            del self._active[key]
            self._late.discard(key)
            if not self._active:
                self._idle.set()
            if metrics is not None:
                metrics.set_active(name, len(self._active))
        self._settle(key, outcome, self._clock.now() - started)

    async def _cancel_late(self, longest: float) -> None:
        """Cancel each reconcile that takes longer than `longest` seconds.

        One task for all of them: a timer for each would take a fifth of the CPU time of a short
        reconcile. Safe to cancel.
        """
        while True:
            oldest = next((key for key in self._active if key not in self._late), None)
            if oldest is None:
                await self._clock.sleep(longest)
                continue
            started, worker = self._active[oldest]
            left = started + longest - self._clock.now()
            if left > _TOLERANCE:
                await self._clock.sleep(left)
            else:
                self._late.add(oldest)
                worker.cancel()

    # --- parked keys

    def _report_late(self, key: ObjectKey | None, what: str) -> None:
        if key is None:
            log.info("%s: the caches have caught up with the writes", self.spec.name)
            return
        log.warning(
            "%s %s: not reconciled for %g s, because a cache has not seen its own write: %s"
            " (%d keys are parked)",
            *(self.spec.name, key, BEHIND_AFTER, what, len(self._parked)),
        )
        reference = self._reference(key)
        if reference is not None:
            self._recorder.event(
                reference,
                "Warning",
                "CacheBehind",
                "not reconciled for %g s, because the cache has not seen its own write: %s",
                *(BEHIND_AFTER, what),
            )

    def _reference(self, key: ObjectKey) -> ObjectReference | None:
        """The reference to the key's object, for an event; None if only its resource is known."""
        gvk = canonical_kind(self.spec.kind)
        if not isinstance(gvk, GroupVersionKind):
            return None
        informers = self._environment.caches.informers(self.spec.kind)
        entry = next(filter(None, (each.indexer.entry(key) for each in informers)), None)
        return ObjectReference(
            api_version=gvk.api_version,
            kind=gvk.kind,
            namespace=key.namespace or None,
            name=key.name,
            uid=entry.uid if entry else None,
        )

    # --- one reconcile

    async def _reconcile(self, key: ObjectKey, worker: asyncio.Task[Any]) -> Outcome:
        name = self.spec.name
        with self._tracer.reconcile(name, key) if self._tracer else _NO_SPAN as span:
            context = Context(
                self._environment,
                key,
                controller=name,
                recorder=self._recorder,
                ledger=self._ledger,
                attempt=self._queue.num_requeues(key),
                span=span,
            )
            outcome = await self._call(key, context)
            if worker.cancelling():
                outcome = await self._undo_cancel(worker, outcome)
            if span is not None and isinstance(outcome, Failed):
                span.record_exception(outcome.error)
            return outcome

    async def _call(self, key: ObjectKey, context: Context) -> Outcome:
        try:
            result: object = self.spec.reconcile(key, context)
            if inspect.isawaitable(result):
                return outcome_of(await result)
            return not_awaitable(result)
        except TerminalError as error:
            return Failed(error, terminal=True)
        except TimeoutError as error:
            return Failed(self._timeout_error(error) if key in self._late else error)
        except Exception as error:  # noqa: BLE001 - of the user's function; logged and retried
            return Failed(error)
        except asyncio.CancelledError as error:
            if self._is_only_late(key):
                return Failed(self._timeout_error(error))
            if self._state is not ControllerState.RUNNING:
                raise
            return Failed(as_exception(error))  # the function was cancelled from inside
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - odd, but no reason to end the others
            return Failed(as_exception(error))

    async def _undo_cancel(self, worker: asyncio.Task[Any], outcome: Outcome) -> Outcome:
        """Undo that a function cancelled its own task, which is the worker."""
        if self._state is not ControllerState.RUNNING:
            return outcome
        try:
            await asyncio.sleep(0)  # raises the cancellation, if it was not raised yet
        except asyncio.CancelledError as error:
            # The loop has run: the controller may be stopping now.
            if self._state is not ControllerState.RUNNING:
                raise
            outcome = Failed(as_exception(error))
        while worker.uncancel():
            pass
        return outcome

    def _is_only_late(self, key: ObjectKey) -> bool:
        """Whether the worker was cancelled for the timeout, and not by others as well."""
        worker = asyncio.current_task()
        return key in self._late and worker is not None and worker.uncancel() == 0

    def _timeout_error(self, cause: BaseException) -> ReconcileTimeout:
        error = ReconcileTimeout(
            f"cancelled after {self.spec.timeout:g} s (give the controller another timeout, or"
            " return Result(requeue_after=…) instead of waiting)"
        )
        error.__cause__ = cause
        return error

    # --- the outcome

    def _settle(self, key: ObjectKey, outcome: Outcome, seconds: float) -> None:
        if self._on_outcome:
            report = ReconcileReport(
                controller=self.spec.name,
                key=key,
                outcome=outcome,
                attempt=self._queue.num_requeues(key),
                seconds=seconds,
                queue=self._queue.stats,
            )
            notify_observers(self._on_outcome, report)
        if self._failing:
            self._failing.pop(key, None)
        if isinstance(outcome, Done):
            self._queue.forget(key)
            self._count("success", seconds)
            return
        priority = self._queue.priority_of(key) or 0
        match outcome:
            case Requeue(None):
                self._queue.add(key, rate_limited=True, priority=priority)
                self._count("requeue", seconds)
            case Requeue(after):
                self._queue.forget(key)
                self._queue.add(key, after=after, priority=priority)
                self._count("requeue_after", seconds)
            case Failed(error, terminal=True):
                self._queue.forget(key)
                self._fail(key, error, seconds, terminal=True)
            case Failed(error):
                self._queue.add(key, rate_limited=True, priority=priority)
                self._fail(key, error, seconds, terminal=False)

    def _fail(self, key: ObjectKey, error: Exception, seconds: float, *, terminal: bool) -> None:
        text = error_text(error)
        self._last_error = f"{key}: {text}"
        if len(self._failing) < MAX_FAILING:
            self._failing[key] = text[:MAX_ERROR], self._clock.now(), terminal
        self._terminal += terminal
        self._timed_out += isinstance(error, ReconcileTimeout)
        self._count("error", seconds, error, terminal=terminal)
        log_failure(self.spec.name, key, error, self._queue.num_requeues(key), terminal=terminal)

    def _count(
        self,
        result: ReconcileResult,
        seconds: float,
        error: Exception | None = None,
        *,
        terminal: bool = False,
    ) -> None:
        self._durations[bisect_left(DURATIONS, seconds)] += 1
        if error is None:
            self._succeeded += 1
        else:
            self._failed += 1
        if self._metrics is not None:
            self._metrics.observe_reconcile(
                self.spec.name,
                result,
                seconds=seconds,
                terminal=terminal,
                timed_out=isinstance(error, ReconcileTimeout),
            )


def check_own_writes(controllers: Iterable[Controller]) -> None:
    """A readiness check. Raises: Unhealthy when keys have been parked for too long."""
    late = list(filter(None, (each.late_keys() for each in controllers)))
    if late:
        raise Unhealthy(
            f"keys have waited for more than {BEHIND_AFTER:g} s until a cache has seen what they"
            f" wrote: {'; '.join(late)}"
        )
