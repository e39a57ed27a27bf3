"""Whoever is told of changes: functions, each with a backlog and a worker of its own.

Promises: each handler hears of changes one after the other and in order, whatever the
others do: a plain function as soon as the change is in the store, an async one by its
worker; a handler that fails is logged with the object's key, and hears of the next
change. A late handler first hears of all that is there, and neither misses nor hears
anything twice. Nothing is decoded for a handler that only wants keys.
Elsewhere: what is called (`callbacks`), what waits for a slow handler (`notices`), who makes
the changes (`applying`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Generic, TypeVar, final

import msgspec

from kubeloop.kit import MAX_BLOCK, Clock, Yielder
from kubeloop.machinery import get_logger

from .applying import Audience
from .callbacks import Callback
from .changes import Change, ChangeStream
from .entry import Entry
from .keeper import Keeper
from .metrics import Meter
from .notices import Backlog, Notice
from .resyncing import SHORTEST, ResyncPeriod
from .waiting import InformerStopped, Progress

__all__ = ["HandlerStats", "Handlers", "Registration"]

T = TypeVar("T")
log = get_logger(__name__)

HANDLERS_HOLD = 2 * MAX_BLOCK  # seconds that all handlers of an informer may hold the event loop
PATIENCE = 0.5  # seconds that everybody waits for one who is behind; then it is told less

# A call of a handler: what it was told, and what is left to await.
_Begun = tuple[Notice, Awaitable[object] | None]


class HandlerStats(msgspec.Struct, frozen=True):
    """How a handler is doing."""

    name: str
    waiting: int  # changes it has still to be told
    told: int
    merged: int  # changes told together with earlier ones because it was behind
    failures: int
    has_synced: bool
    resync: float


# --- one handler


@final
class Registration(Generic[T]):
    """A handler's place at an informer; `remove()` gives it up."""

    def __init__(
        self,
        call: Callback[T] | None,
        keeper: Keeper[T],
        backlog: Backlog,
        *,
        name: str,
        period: ResyncPeriod,
        owner: Handlers[T],
    ) -> None:
        self.name = name
        self.period = period
        self._call = call
        self._keeper = keeper
        self._backlog = backlog
        self._owner = owner
        self._wakened = asyncio.Event()
        self._ended = asyncio.Event()
        self._worker: asyncio.Task[object] | None = None
        self._is_idle = False  # nothing waits, the worker does: what comes can be told at once
        self._can_go_on = False  # the worker runs, and does not wait for what a call awaits
        self._begun: _Begun | None = None  # by `put`, to be awaited by the worker
        self._is_removed = False
        self._has_warned = False
        self._told = self._failures = 0

    # --- for users

    @property
    def has_synced(self) -> bool:
        """Whether the handler has finished with all of the first list, or of what it found."""
        return self._owner.is_upstream_synced() and self._backlog.initial_left == 0

    async def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait until `has_synced`. Safe to cancel.

        Raises:
            NotYet: `timeout` seconds have passed first.
            InformerStopped: it was removed before, or the informer has ended.
        """
        await self._owner.progress.until(
            self._is_synced, what=f"the handler {self.name}", timeout=timeout
        )

    def remove(self) -> None:
        """Tell it nothing more; a call that runs comes to its end. Safe to repeat."""
        if self._is_removed:
            return
        self._is_removed = True
        self._backlog.clear()
        self._drop_begun()
        self._owner.forget(self)
        self._wakened.set()
        self._owner.progress.notify()

    async def aclose(self) -> None:
        """Remove it, and wait until a call that runs has ended. Safe to cancel, and to repeat."""
        self.remove()
        if self._worker is not None and self._worker is not asyncio.current_task():
            await self._ended.wait()

    def stats(self) -> HandlerStats:
        return HandlerStats(
            name=self.name,
            waiting=len(self._backlog),
            told=self._told,
            merged=self._backlog.merged,
            failures=self._failures,
            has_synced=self.has_synced,
            resync=self.period.seconds,
        )

    # --- for the informer

    @property
    def wants_worker(self) -> bool:
        """Whether somebody has to `run()` it: a stream is read, not run."""
        return self._call is not None

    @property
    def is_behind(self) -> bool:
        """Whether much waits for it that it could be told now, were the processor free."""
        return self._can_go_on and len(self._backlog) > self._backlog.limit // 2

    def put(self, notices: Sequence[Notice]) -> None:
        """Have it told: at once if nothing waits before, else when its turn comes."""
        if self._is_removed:
            return
        if not self.period.is_resyncing:
            notices = [notice for notice in notices if not notice.is_resync]
        told = self._tell_at_once(notices) if self._is_idle else 0
        if told < len(notices) or self._begun is not None:
            self._wake_for(notices[told:])

    async def run(self) -> None:
        """Tell the handler what waits, until it is removed."""
        self._worker = asyncio.current_task()
        self._can_go_on = True
        yielder = Yielder()
        try:
            while self._begun is not None or not self._is_removed:
                if (begun := self._next()) is None:
                    await self._rest()
                    continue
                notice, result = begun
                if result is not None:
                    await self._finish(notice, result)
                self._note_told(notice)
                if yielder.is_due(self._owner.hold):
                    await yielder.yield_to_loop()
        finally:
            self._is_idle = self._can_go_on = False
            self._drop_begun()
            self._ended.set()

    def stream(self) -> ChangeStream[T]:
        """A stream in the place of a worker."""
        return ChangeStream(
            self._backlog,
            self._keeper,
            wakened=self._wakened,
            closed=self.remove,
            has_ended=lambda: self._is_removed,
            is_upstream_synced=self._owner.is_upstream_synced,
        )

    def _tell_at_once(self, notices: Sequence[Notice]) -> int:
        """Tell it from here, which takes no turn of the event loop; how many need no more.

        The worker goes on where that would hold the loop, or there is something to await.
        """
        last = len(notices)
        yielder = Yielder() if last > 1 else None  # of a single one the caller keeps the time
        for count, notice in enumerate(notices, start=1):
            result = self._call_with(notice)
            if result is not None:
                self._backlog.passed(notice)
                self._begun = notice, result
            if self._is_removed:
                return last  # by itself
            if result is not None or (yielder is not None and yielder.is_due(self._owner.hold)):
                return count
        return last

    def _wake_for(self, notices: Sequence[Notice]) -> None:
        before, put = self._backlog.merged, self._backlog.put
        for notice in notices:
            put(notice)
        self._is_idle = False
        self._wakened.set()
        self._owner.meter.waiting(self.name, len(self._backlog))
        if self._backlog.merged > before:
            self._note_merged(self._backlog.merged - before)

    async def _rest(self) -> None:
        """Wait until something has come that was not told at once."""
        self._has_warned = False
        self._owner.meter.waiting(self.name, 0)
        self._is_idle = True
        self._wakened.clear()
        await self._wakened.wait()

    def _next(self) -> _Begun | None:
        """The next call to see to its end: begun when the change came, or begun now."""
        if self._begun is not None:
            begun, self._begun = self._begun, None
            return begun
        notice = self._backlog.take()
        return None if notice is None else (notice, self._call_with(notice))

    def _call_with(self, notice: Notice) -> Awaitable[object] | None:
        """Call the handler; returns what is left to await."""
        assert self._call is not None, "a stream has no worker"
        self._told += 1
        try:
            result = self._call(Change(notice, self._keeper))
        # Nobody can cancel plain code: what says so is a failure as well.
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the next one is told
            self._note_failure(notice, error)
            return None
        return result if result is not None and inspect.isawaitable(result) else None

    async def _finish(self, notice: Notice, result: Awaitable[object]) -> None:
        self._can_go_on = False
        try:
            await result
        except Exception as error:  # noqa: BLE001 - as above
            self._note_failure(notice, error)
        except asyncio.CancelledError as error:
            if self._worker is None or self._worker.cancelling():
                raise
            self._note_failure(notice, error)  # something that it awaited was cancelled
        self._can_go_on = True

    def _is_synced(self) -> bool:
        if self._is_removed and not self.has_synced:
            raise InformerStopped(
                f"wait for the handler {self.name}: it was removed, or its informer has ended"
            )
        return self.has_synced

    def _note_told(self, notice: Notice) -> None:
        self._backlog.told(notice)
        if notice.is_initial and self._backlog.initial_left == 0:
            self._owner.progress.notify()

    def _note_failure(self, notice: Notice, error: BaseException) -> None:
        self._failures += 1
        log.error("%s: the handler %s failed", notice.key, self.name, exc_info=error)

    def _drop_begun(self) -> None:
        if self._begun is not None and inspect.iscoroutine(self._begun[1]):
            self._begun[1].close()  # nothing of it has run, and nothing will
        self._begun = None

    def _note_merged(self, count: int) -> None:
        self._owner.meter.merged(self.name, count)
        if not self._has_warned:
            self._has_warned = True  # once until it has caught up
            log.warning(
                "the handler %s is %d changes behind: changes of one object are told together",
                self.name,
                len(self._backlog),
            )

    def __repr__(self) -> str:
        return f"handler {self.name}"


# --- all handlers of an informer


@final
class Handlers(Generic[T]):
    """The handlers of one informer."""

    def __init__(
        self,
        keeper: Keeper[T],
        *,
        clock: Clock,
        check: float,
        limit: int,
        progress: Progress,
        meter: Meter,
        informer: str,
        is_upstream_synced: Callable[[], bool],
    ) -> None:
        self._keeper = keeper
        self._clock = clock
        self._limit = limit
        self.check = check  # how often somebody looks whether a resync is due; 0 is never
        self.progress = progress
        self.meter = meter
        self._informer = informer  # its name, for the log
        self.is_upstream_synced = is_upstream_synced
        self._all: dict[Registration[T], None] = {}
        self._audience: Audience = functools.partial(_tell, ())  # the same, ready to be told
        self.hold = MAX_BLOCK  # seconds that one handler may hold the event loop
        self._behind_since: float | None = None
        self._serial = 0

    def add(
        self,
        call: Callback[T] | None,
        *,
        name: str,
        resync: float,
        replay: Iterable[Entry],
        has_started: bool,
    ) -> Registration[T]:
        """A new handler; it has still to be given a worker."""
        self._serial += 1
        name = name or f"handler-{self._serial}"
        registration = Registration(
            call,
            self._keeper,
            Backlog(replay=replay, limit=self._limit),
            name=name,
            period=self._period(resync, name=name, has_started=has_started),
            owner=self,
        )
        self._all[registration] = None
        self._note_membership()
        return registration

    def all(self) -> tuple[Registration[T], ...]:
        return tuple(self._all)

    def audience(self) -> Audience:
        """Those who are to hear of a change that is made now, and nobody who comes later."""
        return self._audience

    def is_behind(self) -> bool:
        """Whether somebody could be told much, were the processor free.

        Not for long at a time: whoever waits for this does not read meanwhile, and the cache
        of everybody grows old.
        """
        if not any(registration.is_behind for registration in self._all):
            self._behind_since = None
            return False
        now = self._clock.now()
        if self._behind_since is None:
            self._behind_since = now
        return now - self._behind_since < PATIENCE

    def should_resync(self) -> bool:
        """Look who is to be told everything again now; whether anybody is."""
        now = self._clock.now()
        due = [registration.period.tick(now) for registration in self._all]  # each has a say
        return any(due)

    def forget(self, registration: Registration[T]) -> None:
        self._all.pop(registration, None)
        self._note_membership()

    def end(self) -> None:
        """The informer has ended: nobody is told anything more."""
        for registration in self.all():
            registration.remove()

    def stats(self) -> tuple[HandlerStats, ...]:
        return tuple(registration.stats() for registration in self.all())

    def _note_membership(self) -> None:
        members = self.all()
        self._audience = functools.partial(_tell, members)
        self.hold = min(MAX_BLOCK, HANDLERS_HOLD / max(len(members), 1))

    def _period(self, resync: float, *, name: str, has_started: bool) -> ResyncPeriod:
        now = self._clock.now()
        if resync > 0 and self.check == 0:
            # As in client-go the informer's own period decides whether there are resyncs at all.
            log.warning(
                "%s: resync=%g of %s has no effect: the informer does not resync "
                "(give the informer a resync period, too)",
                self._informer,
                resync,
                name,
            )
            resync = 0.0
        if 0 < resync < SHORTEST:
            log.warning("resync every %g s: raised to %g s", resync, SHORTEST)
            resync = SHORTEST
        if 0 < resync < self.check and not has_started:
            self.check = resync
            for registration in self._all:
                registration.period.check_changed(resync, now)
        return ResyncPeriod(resync, self.check, now=now)


def _tell(audience: Iterable[Registration[T]], notices: Sequence[Notice]) -> None:
    for registration in audience:
        registration.put(notices)
