"""The handlers of an informer: each has its registration, its backlog and its worker.

Guarantees: each handler receives changes one after the other and in order, whatever the others
do: a synchronous function as soon as the change is in the store, an async one by its worker. A
handler that fails is logged with the object's key, and receives the next change. A handler
that is added late first receives all objects in the store; it misses nothing and receives
nothing twice. Nothing is decoded for a handler that only needs keys.
See also: `changes` (what handlers receive, and their backlog), `applier` (creates
notifications).
"""

# ruff: noqa: ASYNC109 - a clock enforces the caller's timeout, and the error names it
from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeAlias, TypeVar, final

import msgspec

from kubeloop.kit import MAX_BLOCK, Clock, Yielder
from kubeloop.wire import get_logger

from .applier import Recipient
from .changes import Backlog, Callback, Change, KeyCallback, Notification
from .codec import EntryCodec
from .entry import Entry
from .metrics import Meter
from .waiting import InformerStopped, Progress

__all__ = [
    "Awaiting",
    "Buffering",
    "ChangeStream",
    "HandlerStats",
    "Handlers",
    "Idle",
    "Notifying",
    "Registration",
    "Removed",
    "ResyncPeriod",
]

T = TypeVar("T")
log = get_logger(__name__)

MAX_BLOCK_OF_ALL = 2 * MAX_BLOCK  # seconds that all handlers together may block the event loop
MAX_BACKPRESSURE = 0.5  # seconds that a reflector waits for slow handlers; then they merge more
MIN_RESYNC = 1.0


class HandlerStats(msgspec.Struct, frozen=True):
    """A snapshot of a handler."""

    name: str
    backlog: int  # notifications that wait
    notified: int
    merged: int  # notifications merged into others because it was behind
    failures: int
    has_synced: bool
    resync: float


# --- the states of a registration


class Buffering(msgspec.Struct, frozen=True):
    """No worker runs: notifications wait in the backlog. A stream stays in this state."""


class Idle(msgspec.Struct, frozen=True):
    """The worker waits and the backlog is empty: the next notification is handed over directly."""


class Awaiting(msgspec.Struct, frozen=True):
    """The worker awaits what an async handler returned."""

    notification: Notification
    result: Any  # an Awaitable


class Notifying(msgspec.Struct, frozen=True):
    """The worker hands over the backlog, after the call that `put` has started, if any."""

    started: Awaiting | None = None


class Removed(msgspec.Struct, frozen=True):
    """It receives nothing more. The worker ends after the call that `put` has started, if any: a
    handler may remove itself during its call."""

    started: Awaiting | None = None


State: TypeAlias = Buffering | Idle | Notifying | Awaiting | Removed
_BUFFERING, _IDLE, _NOTIFYING, _REMOVED = Buffering(), Idle(), Notifying(), Removed()


@final
class Registration(Generic[T]):
    """A handler's registration with an informer; `remove()` ends it.

    It is a state and two synchronous functions: `put` (the informer has notifications) and
    `step` (the worker makes its next move). `run` is the worker, and only waits:

        Buffering --run--> Notifying --backlog empty--> Idle --put--> Idle, or Notifying
        Notifying --async handler--> Awaiting --result--> Notifying
        any state --remove--> Removed
    """

    def __init__(
        self,
        callback: Callback[T] | None,
        codec: EntryCodec[T],
        backlog: Backlog,
        *,
        name: str,
        period: ResyncPeriod,
        owner: Handlers[T],
    ) -> None:
        self.name = name
        self.period = period
        self._callback = callback
        # A function of the key alone needs no `Change`.
        self._on_key = callback.on_key if isinstance(callback, KeyCallback) else None
        self._codec = codec
        self._backlog = backlog
        self._owner = owner
        self.state: State = _BUFFERING
        self._wakeup = asyncio.Event()
        self._worker: asyncio.Task[object] | None = None
        self._notified = self._failures = 0
        self._lag_is_logged = False  # once, until the worker has caught up

    # --- for users

    @property
    def has_synced(self) -> bool:
        """Whether the handler has completed the first list, or what was there before it."""
        return self._owner.is_upstream_synced() and self._backlog.initial_left == 0

    async def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait until `has_synced`. Safe to cancel.

        Raises:
            NotSynced: `timeout` seconds have passed.
            InformerStopped: it was removed, or the informer has stopped.
        """
        await self._owner.progress.until(
            self._check_synced, what=f"the handler {self.name}", timeout=timeout
        )

    def remove(self) -> None:
        """Notify it of nothing more; a running call completes. Idempotent."""
        state = self.state
        if isinstance(state, Removed):
            return
        self.state = _REMOVED
        self._backlog.clear()
        _discard(state)
        self._owner.forget(self)
        self._wakeup.set()
        self._owner.progress.notify()

    async def aclose(self) -> None:
        """Remove it, and wait until a running call has completed. Safe to cancel. Idempotent."""
        self.remove()
        if self._worker is not None and self._worker is not asyncio.current_task():
            await asyncio.wait({self._worker})

    def stats(self) -> HandlerStats:
        return HandlerStats(
            name=self.name,
            backlog=len(self._backlog),
            notified=self._notified,
            merged=self._backlog.merged,
            failures=self._failures,
            has_synced=self.has_synced,
            resync=self.period.seconds,
        )

    # --- for the informer

    @property
    def needs_worker(self) -> bool:
        """Whether a task has to `run()` it; a stream is read instead."""
        return self._callback is not None

    @property
    def is_behind(self) -> bool:
        """Whether its backlog is long for lack of CPU: the handler itself awaits nothing."""
        is_busy = isinstance(self.state, Notifying)
        return is_busy and len(self._backlog) > self._backlog.limit // 2

    def put(self, notifications: Sequence[Notification]) -> None:
        """Hand over notifications: directly if the handler is idle, else by the backlog."""
        if not self.period.is_resyncing:
            if len(notifications) == 1:
                if notifications[0].is_resync:
                    return
            else:
                notifications = [each for each in notifications if not each.is_resync]
        if self.state is _IDLE:
            self._put_directly(notifications)
        elif notifications and not isinstance(self.state, Removed):
            self._enqueue(notifications)

    def step(self) -> State:
        """Make the worker's next move; returns the state on which the worker acts.

        Notifying: call it again. Idle: wait for notifications. Awaiting: await the call. Removed:
        end.
        """
        state = self.state
        if isinstance(state, Removed):
            self.state = _REMOVED
            return state.started or _REMOVED
        if isinstance(state, Notifying) and state.started is not None:
            self.state = state.started
            return state.started
        notification = self._backlog.take()
        if notification is None:
            self._lag_is_logged = False
            self._owner.meter.set_backlog(self.name, 0)
            self.state = _IDLE
            return _IDLE
        self.state = _NOTIFYING
        result = self._call(notification)
        if result is None:
            self._complete(notification)
            return self.state
        awaiting = Awaiting(notification, result)
        if self.state is _NOTIFYING:  # else the handler has removed itself, and still completes
            self.state = awaiting
        return awaiting

    async def run(self) -> None:
        """Hand over notifications until it is removed."""
        self._worker = asyncio.current_task()
        yielder = Yielder()
        try:
            while not isinstance(state := self.step(), Removed):
                if isinstance(state, Idle):
                    self._wakeup.clear()
                    await self._wakeup.wait()
                    continue
                if isinstance(state, Awaiting):
                    await self._finish(state)
                if yielder.is_due(self._owner.max_block):
                    await yielder.yield_to_loop()
        finally:
            _discard(self.state)
            self.state = _REMOVED if isinstance(self.state, Removed) else _BUFFERING

    def stream(self) -> ChangeStream[T]:
        """A stream of the changes, in place of a handler and its worker."""
        return ChangeStream(self, self._backlog, self._codec, wakeup=self._wakeup)

    def _put_directly(self, notifications: Sequence[Notification]) -> None:
        """Call the handler in the caller's stack, which saves a switch to the worker.

        The worker takes over if there is something to await, or if more calls would block the
        event loop for too long.
        """
        if len(notifications) == 1:  # the caller keeps the time
            result = self._call(notifications[0])
            if result is not None:
                self._await_by_worker(notifications[0], result, ())
            return
        yielder = Yielder()
        for done, notification in enumerate(notifications, start=1):
            result = self._call(notification)
            if result is not None:
                self._await_by_worker(notification, result, notifications[done:])
                return
            if self.state is not _IDLE:
                return  # the handler has removed itself
            if done < len(notifications) and yielder.is_due(self._owner.max_block):
                self.state = _NOTIFYING
                self._enqueue(notifications[done:])
                return

    def _await_by_worker(
        self, notification: Notification, result: Awaitable[object], rest: Sequence[Notification]
    ) -> None:
        """Let the worker await what the handler returned, and hand over the rest."""
        self._backlog.bypass(notification)
        started = Awaiting(notification, result)
        if self.state is _IDLE:
            self.state = Notifying(started)
            self._enqueue(rest)
        else:  # the handler has removed itself
            self.state = Removed(started)
            self._enqueue(())

    def _enqueue(self, notifications: Sequence[Notification]) -> None:
        backlog = self._backlog
        merged = backlog.merged
        for notification in notifications:
            backlog.put(notification)
        self._wakeup.set()
        self._owner.meter.set_backlog(self.name, len(backlog))
        if backlog.merged > merged:
            self._report_merged(backlog.merged - merged)

    def _call(self, notification: Notification) -> Awaitable[object] | None:
        """Call the handler; returns what has to be awaited."""
        assert self._callback is not None, "a stream has no worker"
        result: Any
        self._notified += 1
        try:
            if self._on_key is not None:
                result = self._on_key(notification.key)
            else:
                result = self._callback(Change(notification, self._codec))
        # Synchronous code cannot be cancelled: a CancelledError from it is an ordinary error.
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - logged
            self._report_failure(notification, error)
            return None
        return result if result is not None and inspect.isawaitable(result) else None

    async def _finish(self, call: Awaiting) -> None:
        """Await what the handler returned."""
        try:
            await call.result
        except Exception as error:  # noqa: BLE001 - logged
            self._report_failure(call.notification, error)
        except asyncio.CancelledError as error:
            if self._worker is None or self._worker.cancelling():
                raise
            self._report_failure(call.notification, error)  # a task that it awaited was cancelled
        if isinstance(self.state, Awaiting):
            self.state = _NOTIFYING
        self._complete(call.notification)

    def _complete(self, notification: Notification) -> None:
        self._backlog.done(notification)
        if notification.is_initial and self._backlog.initial_left == 0:
            self._owner.progress.notify()

    def _check_synced(self) -> bool:
        if isinstance(self.state, Removed) and not self.has_synced:
            raise InformerStopped(
                f"wait for the handler {self.name}: it was removed, or its informer has stopped"
            )
        return self.has_synced

    def _report_failure(self, notification: Notification, error: BaseException) -> None:
        self._failures += 1
        log.error("%s: handler %s failed", notification.key, self.name, exc_info=error)

    def _report_merged(self, count: int) -> None:
        self._owner.meter.count_merged(self.name, count)
        if not self._lag_is_logged:
            self._lag_is_logged = True
            log.warning(
                "handler %s is %d changes behind: changes of one object are merged until it"
                " catches up",
                self.name,
                len(self._backlog),
            )

    def __repr__(self) -> str:
        return f"handler {self.name}"


def _discard(state: State) -> None:
    """Close the coroutine of a call that will not be awaited."""
    started = state.started if isinstance(state, Notifying | Removed) else None
    if started is not None and inspect.iscoroutine(started.result):
        started.result.close()


@final
class ChangeStream(Generic[T]):
    """Changes, one by one: `async for change in informer.changes(): ...`.

    It starts with the objects in the store, as adds. A stream that is read slowly merges the
    changes of one object, and never loses an object. It ends with the informer, or by `close()`;
    a stream without references is closed. `has_synced` says whether all objects that were there
    at the start have been read.
    """

    def __init__(
        self,
        registration: Registration[T],
        backlog: Backlog,
        codec: EntryCodec[T],
        *,
        wakeup: asyncio.Event,
    ) -> None:
        self._registration = registration
        self._backlog = backlog
        self._codec = codec
        self._wakeup = wakeup
        self._reading: Notification | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change[T]:
        """The next change. Safe to cancel: the next call returns it."""
        if self._reading is not None:
            self._backlog.done(self._reading)
            self._reading = None
        while not isinstance(self._registration.state, Removed):
            notification = self._backlog.take()
            if notification is not None:
                self._reading = notification
                return Change(notification, self._codec)
            self._wakeup.clear()
            await self._wakeup.wait()
        raise StopAsyncIteration

    @property
    def has_synced(self) -> bool:
        return self._registration.has_synced

    def close(self) -> None:
        """End it; what was not read is dropped. Idempotent."""
        self._registration.remove()

    async def aclose(self) -> None:
        """As `close`, for code that awaits it."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_registration"):
            self.close()


# --- all handlers of an informer


@final
class Handlers(Generic[T]):
    """The handlers of one informer."""

    def __init__(
        self,
        codec: EntryCodec[T],
        *,
        clock: Clock,
        check_period: float,
        limit: int,
        progress: Progress,
        meter: Meter,
        informer: str,
        is_upstream_synced: Callable[[], bool],
    ) -> None:
        self._codec = codec
        self._clock = clock
        self._limit = limit
        self.check_period = check_period  # how often the reflector checks for resyncs; 0: never
        self.progress = progress
        self.meter = meter
        self._informer = informer  # its name, for the log
        self.is_upstream_synced = is_upstream_synced
        self._all: dict[Registration[T], None] = {}
        self._recipients: tuple[Recipient, ...] = ()
        self.max_block = MAX_BLOCK  # seconds that one handler may block the event loop
        self._behind_since: float | None = None
        self._serial = 0

    def add(
        self,
        callback: Callback[T] | None,
        *,
        name: str,
        resync: float,
        replay: Iterable[Entry],
        has_started: bool,
    ) -> Registration[T]:
        """Register a handler; the caller starts its worker."""
        self._serial += 1
        name = name or f"handler-{self._serial}"
        registration = Registration(
            callback,
            self._codec,
            Backlog(replay=replay, limit=self._limit),
            name=name,
            period=self._resync_period(resync, name=name, has_started=has_started),
            owner=self,
        )
        self._all[registration] = None
        self._update_recipients()
        return registration

    def all(self) -> tuple[Registration[T], ...]:
        return tuple(self._all)

    def recipients(self) -> tuple[Recipient, ...]:
        """The handlers to notify of a change that is made now; not those added later."""
        return self._recipients

    def is_behind(self) -> bool:
        """Whether the reflector should wait because a handler is busy and far behind.

        For half a second at most: the cache is stale meanwhile, for all of its readers.
        """
        for registration in self._all:
            if registration.state is not _IDLE and registration.is_behind:
                break
        else:
            self._behind_since = None
            return False
        now = self._clock.now()
        if self._behind_since is None:
            self._behind_since = now
        return now - self._behind_since < MAX_BACKPRESSURE

    def should_resync(self) -> bool:
        """Decide which handlers are resynced now; returns whether one is."""
        now = self._clock.now()
        due = [registration.period.tick(now) for registration in self._all]  # ticks all of them
        return any(due)

    def forget(self, registration: Registration[T]) -> None:
        self._all.pop(registration, None)
        self._update_recipients()

    def close(self) -> None:
        """Remove all handlers."""
        for registration in self.all():
            registration.remove()

    def stats(self) -> tuple[HandlerStats, ...]:
        return tuple(registration.stats() for registration in self.all())

    def _update_recipients(self) -> None:
        self._recipients = tuple([registration.put for registration in self._all])
        self.max_block = min(MAX_BLOCK, MAX_BLOCK_OF_ALL / max(len(self._recipients), 1))

    def _resync_period(self, resync: float, *, name: str, has_started: bool) -> ResyncPeriod:
        now = self._clock.now()
        if resync > 0 and self.check_period == 0:
            # As in client-go the informer's period decides whether there are resyncs at all.
            log.warning(
                "%s: resync=%g of %s has no effect: the informer does not resync "
                "(set the resync period of the informer, too)",
                self._informer,
                resync,
                name,
            )
            resync = 0.0
        if 0 < resync < MIN_RESYNC:
            log.warning("resync every %g s: raised to %g s", resync, MIN_RESYNC)
            resync = MIN_RESYNC
        if 0 < resync < self.check_period and not has_started:
            self.check_period = resync
            for registration in self._all:
                registration.period.set_check_period(resync, now)
        return ResyncPeriod(resync, self.check_period, now=now)


@final
class ResyncPeriod:
    """When one handler is resynced: plain arithmetic on the times that are passed in."""

    def __init__(self, requested: float, check_period: float, *, now: float) -> None:
        self._requested = requested
        # CCH-85: until the first tick, a relist also notifies of unchanged objects.
        self.is_resyncing = True
        self.set_check_period(check_period, now)

    def set_check_period(self, check_period: float, now: float) -> None:
        """The reflector checks every so many seconds; 0 is never."""
        requested = self._requested
        if 0 < requested < check_period:
            log.warning("resync every %g s: only checked every %g s", requested, check_period)
        is_off = requested == 0 or check_period == 0
        self.seconds = 0.0 if is_off else max(requested, check_period)
        self._due = now + self.seconds

    def tick(self, now: float) -> bool:
        """Decide whether the handler is resynced this time."""
        # The tick is a sleep of many summed periods, which may end a little early.
        self.is_resyncing = self.seconds > 0 and now >= self._due - 1e-6
        if self.is_resyncing:
            self._due = now + self.seconds
        return self.is_resyncing
