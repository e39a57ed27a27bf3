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
import inspect
from bisect import bisect_left
from collections.abc import Iterable, Mapping
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

from .caches import group_kind, named
from .context import Context, Environment, Tracer
from .handlers import Handler, on_mapped, on_owned, on_self
from .health import Unhealthy
from .metrics import DURATIONS, ReconcileMetrics, ReconcileResult
from .outcomes import (
    Again,
    Done,
    Failed,
    Outcome,
    contained,
    judged,
    log_failure,
    not_awaited,
    words,
)
from .own_writes import BEHIND_AFTER, ParkedKeys, WriteLedger
from .results import ReconcileTimeout, TerminalError
from .specs import ControllerSpec

__all__ = ["Controller", "ControllerState", "ControllerStats", "caught_up"]

log = get_logger(__name__)

STILL_WAITING = 30.0
"""Seconds between two lines about caches that are not complete."""

_NO_SPAN = nullcontext(None)


class ControllerState(StrEnum):
    """Where a controller is in its life; a drained one processes what it has, and ends."""

    STANDING_BY = "standing by"
    WAITING_FOR_CACHES = "waiting for caches"
    RUNNING = "running"
    DRAINING = "draining"
    ENDED = "ended"


class ControllerStats(msgspec.Struct, frozen=True):
    """What a controller has done, and what it is at."""

    name: str
    state: str  # a value of `ControllerState`
    queue: QueueStats
    workers: int
    active: tuple[str, ...]  # keys in work
    succeeded: int
    failed: int
    terminal: int
    timed_out: int
    last_error: str
    durations: Mapping[float, int] = {}  # tries by the least of `DURATIONS` that they stayed within
    # Keys that wait until a cache has seen what they wrote, the oldest first, and its seconds.
    waiting_for_cache: tuple[str, ...] = ()
    longest_cache_wait: float = 0.0


@final
class Controller:
    """Runs one `ControllerSpec` while `run()` runs."""

    def __init__(
        self,
        spec: ControllerSpec,
        around: Environment,
        *,
        recorder: Recorder,
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
        self._state = ControllerState.STANDING_BY
        self._begun = asyncio.Event()
        self._idle = asyncio.Event()  # no key is in work
        self._idle.set()
        self._active: dict[ObjectKey, float] = {}  # with the moment when work began
        self._ledger = WriteLedger(around.caches)
        self._parked = ParkedKeys(
            self._ledger, release=self._unpark, on_late=self._report_late, clock=around.clock
        )
        self._succeeded = self._failed = self._terminal = self._timed_out = 0
        self._last_error = ""
        self._durations = [0] * len(DURATIONS)

    # --- life

    async def run(self) -> None:
        """Reconcile until cancelled; then what was in work is cancelled as well."""
        registrations: list[Registration[Any]] = []
        try:
            self._state = ControllerState.WAITING_FOR_CACHES
            await self._wait_for_caches()
            registrations += self._listen(namespaced=await self._is_namespaced())
            self._state = ControllerState.RUNNING
            self._begun.set()
            if self._metrics is not None:
                self._metrics.workers(self.spec.name, self.spec.workers)
                self._metrics.waiting_for_cache(
                    self.spec.name, keys=self._parked.__len__, oldest=self._parked.oldest
                )
            log.info("%s: reconciling, %d at a time", self.spec.name, self.spec.workers)
            async with TaskOwner() as tasks:
                tasks.spawn(self._queue.run(), name=f"{self} queue")
                tasks.spawn(self._parked.run(), name=f"{self} keys that wait for a cache")
                workers = [
                    tasks.spawn(self._work(), name=f"{self} worker {number}")
                    for number in range(self.spec.workers)
                ]
                try:
                    await asyncio.wait(workers)
                finally:
                    # Before they are cancelled: so they know by whom, and one whose function
                    # swallows it takes no other key.
                    self.close()
        finally:
            self._state = ControllerState.ENDED
            self._queue.shut_down()
            for registration in registrations:
                registration.remove()

    async def wait_begun(self) -> None:
        """Wait until its caches are complete and its workers at work. Safe to cancel."""
        await self._begun.wait()

    def close(self) -> None:
        """Begin nothing more."""
        self._state = ControllerState.DRAINING
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
            durations=dict(zip(DURATIONS, self._durations, strict=True)),
            waiting_for_cache=tuple(map(str, self._parked.keys())),
            longest_cache_wait=self._parked.oldest(),
        )

    def behind(self) -> str:
        """Which keys have waited for a cache for `BEHIND_AFTER` seconds; empty when none has."""
        late = list(self._parked.late())
        if not late:
            return ""
        key, what = late[0]
        return f"{self.spec.name}: {len(late)}, of which {key} is the oldest: {what}"

    def __repr__(self) -> str:
        return f"controller {self.spec.name}"

    # --- from changes to keys

    def _listen(self, *, namespaced: bool) -> list[Registration[Any]]:
        spec, queue = self.spec, self._queue
        registrations = self._told(spec.kind, on_self(queue, spec.predicates))
        owner = group_kind(spec.kind)
        for watch in spec.owns:
            assert owner is not None, "checked when the spec was made"
            handler = on_owned(queue, watch.predicates, owner, namespaced=namespaced)
            registrations += self._told(watch.kind, handler)
        for watch in spec.watches:
            assert watch.to is not None, "checked when the spec was made"
            registrations += self._told(watch.kind, on_mapped(queue, watch.predicates, watch.to))
        return registrations

    def _told(self, kind: Watchable, handler: Handler) -> list[Registration[Any]]:
        return [
            informer.add_handler(on_change=handler, resync=self.spec.resync, name=str(self))
            for informer in self._around.caches.informers(kind)
        ]

    async def _is_namespaced(self) -> bool:
        """Whether the kind is; only those who own others have to know."""
        kind = self.spec.kind
        if not self.spec.owns or not isinstance(kind, GroupVersionKind):
            return not isinstance(kind, type) or resource_of(kind).namespaced
        return (await self._around.client.resource(kind).info()).namespaced

    async def _wait_for_caches(self) -> None:
        for kind in self.spec.kinds:
            for informer in self._around.caches.informers(kind):
                await self._wait_for(informer)

    async def _wait_for(self, informer: SharedInformer[Any]) -> None:
        while not informer.has_synced:
            try:
                await informer.wait_synced(timeout=STILL_WAITING)
            except NotSynced:
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
        try:
            while True:
                key = await self._queue.get()
                try:
                    # What is queued during the drain comes with the next start.
                    if self._state != ControllerState.DRAINING and not self._park(key):
                        await self._handle(key)
                finally:
                    self._queue.done(key)
        except QueueShutDown:
            return
        finally:
            self.close()  # if it has failed, the others are to end as well

    async def _handle(self, key: ObjectKey) -> None:
        began = self._begin(key)
        try:
            with ThreadCalls() as calls:
                try:
                    outcome = await self._attempt(key)
                finally:
                    if self._state != "running":
                        # The key is in work as long as a thread of its function is: the next
                        # leader must not begin before that.
                        await calls.wait()
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

    # --- waiting for caches

    def _park(self, key: ObjectKey) -> bool:
        """Have a key wait that wrote what a cache has not seen: reconciled now, it would undo it.

        It is done for the queue meanwhile, so that no worker waits with it; a change of it
        leads here again, and no further.
        """
        return self._parked.park(key, self._queue.priority_of(key) or 0)

    def _unpark(self, key: ObjectKey, priority: int) -> None:
        self._queue.add(key, priority=priority)

    def _report_late(self, key: ObjectKey | None, what: str) -> None:
        if key is None:
            log.info("%s: the caches have caught up with what was written", self.spec.name)
            return
        waiting = len(self._parked)
        log.warning(
            "%s %s: not reconciled for %g s, because a cache has not seen what it wrote: %s"
            " (%d keys wait)",
            *(self.spec.name, key, BEHIND_AFTER, what, waiting),
        )
        about = self._reference(key)
        if about is not None:
            self._recorder.event(
                about,
                "Warning",
                "CacheBehind",
                "not reconciled for %g s, because the cache has not seen its own write: %s",
                *(BEHIND_AFTER, what),
            )

    def _reference(self, key: ObjectKey) -> ObjectReference | None:
        """The key's object, as an event refers to it; None where its kind has no known name."""
        gvk = named(self.spec.kind)
        if not isinstance(gvk, GroupVersionKind):
            return None
        held = (each.indexer.entry(key) for each in self._around.caches.informers(self.spec.kind))
        entry = next(filter(None, held), None)
        return ObjectReference(
            api_version=gvk.api_version,
            kind=gvk.kind,
            namespace=key.namespace or None,
            name=key.name,
            uid=entry.uid if entry else None,
        )

    # --- one try

    async def _attempt(self, key: ObjectKey) -> Outcome:
        name = self.spec.name
        with self._tracer.reconcile(name, key) if self._tracer else _NO_SPAN as span:
            context = Context(
                self._around,
                key,
                controller=name,
                recorder=self._recorder,
                ledger=self._ledger,
                attempt=self._queue.num_requeues(key),
                span=span,
            )
            outcome = await self._taken_back(await self._call(key, context))
            if span is not None and isinstance(outcome, Failed):
                span.record_exception(outcome.error)
            return outcome

    async def _call(self, key: ObjectKey, context: Context) -> Outcome:
        try:
            async with self._clock.timeout(self.spec.timeout) as bound:
                said: object = self.spec.reconcile(key, context)
                return judged(await said) if inspect.isawaitable(said) else not_awaited(said)
        except TerminalError as error:
            return Failed(error, for_good=True)
        except TimeoutError as error:
            return Failed(self._too_long(error) if bound.expired() else error)
        except Exception as error:  # noqa: BLE001 - the user's own; logged with the key, retried
            return Failed(error)
        except asyncio.CancelledError as error:
            if self._state != ControllerState.RUNNING:
                raise
            return Failed(contained(error))  # something inside was cancelled, not by us
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - odd, and no reason to end the others
            return Failed(contained(error))

    async def _taken_back(self, outcome: Outcome) -> Outcome:
        """The outcome, after undoing what a function did that cancelled its task: the worker."""
        worker = asyncio.current_task()
        if worker is None or not worker.cancelling() or self._state != ControllerState.RUNNING:
            return outcome
        try:
            await asyncio.sleep(0)  # where it arrives, if it has not yet
        except asyncio.CancelledError as error:
            if self._state != ControllerState.RUNNING:
                raise
            outcome = Failed(contained(error))
        while worker.uncancel():
            pass
        return outcome

    def _too_long(self, error: TimeoutError) -> ReconcileTimeout:
        late = ReconcileTimeout(
            f"cancelled after {self.spec.timeout:g} s (give the controller another timeout, or"
            " return Result(requeue_after=…) in place of waiting)"
        )
        late.__cause__ = error
        return late

    # --- what follows

    def _settle(self, key: ObjectKey, outcome: Outcome, seconds: float) -> None:
        priority = self._queue.priority_of(key) or 0
        match outcome:
            case Done():
                self._queue.forget(key)
                self._count("success", seconds)
            case Again(None):
                self._queue.add(key, rate_limited=True, priority=priority)
                self._count("requeue", seconds)
            case Again(after):
                self._queue.forget(key)
                self._queue.add(key, after=after, priority=priority)
                self._count("requeue_after", seconds)
            case Failed(error, for_good=True):
                self._queue.forget(key)
                self._fail(key, error, seconds, terminal=True)
            case Failed(error):
                self._queue.add(key, rate_limited=True, priority=priority)
                self._fail(key, error, seconds, terminal=False)

    def _fail(self, key: ObjectKey, error: Exception, seconds: float, *, terminal: bool) -> None:
        self._last_error = f"{key}: {words(error)}"
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


def caught_up(controllers: Iterable[Controller]) -> None:
    """A check of readiness. Raises: Unhealthy when keys have waited for a cache for too long."""
    behind = list(filter(None, (each.behind() for each in controllers)))
    if behind:
        raise Unhealthy(
            f"keys have waited for more than {BEHIND_AFTER:g} s until a cache has seen what they"
            f" wrote: {'; '.join(behind)}"
        )
