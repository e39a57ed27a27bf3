"""Whoever is told of changes: functions, each with a backlog and a worker of its own.

Promises: each handler hears of changes one after the other and in order, whatever the
others do; a handler that fails is logged with the object's key, and hears of the next
change. A late handler first hears of all that is there, and neither misses nor hears
anything twice. Nothing is decoded for a handler that only wants keys.
Elsewhere: what waits for a slow handler (`notices`), who makes the changes (`applying`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar, final

import msgspec

from kubeloop.kit import Clock
from kubeloop.machinery import EVERYTHING, ObjectKey, Selector

from .changes import Change, ChangeStream
from .entry import Entry
from .keeper import Keeper
from .metrics import Meter
from .notices import Backlog, Notice
from .pace import Pace
from .resyncing import SHORTEST, ResyncPeriod
from .waiting import Progress

__all__ = [
    "Callback",
    "HandlerStats",
    "Handlers",
    "Registration",
    "by_key",
    "filtered",
    "split",
]

T = TypeVar("T")
log = logging.getLogger(__name__)

Callback = Callable[[Change[T]], Awaitable[object] | object]


class HandlerStats(msgspec.Struct, frozen=True):
    """How a handler is doing."""

    name: str
    waiting: int  # changes it has still to be told
    told: int
    merged: int  # changes told together with earlier ones because it was behind
    failures: int
    has_synced: bool
    resync: float


# --- from functions to one function of a change


def by_key(on_key: Callable[[ObjectKey], Awaitable[object] | object]) -> Callback[Any]:
    """For a function that only wants to know which object."""
    return lambda change: on_key(change.key)


def split(
    on_add: Callable[[T], Any] | None,
    on_update: Callable[[T, T], Any] | None,
    on_delete: Callable[[T], Any] | None,
) -> Callback[T]:
    """A function for each kind of change; those that are not there are not called."""

    def call(change: Change[T]) -> object:
        old, new = change.old_metadata, change.new_metadata
        if old is None:
            return on_add(_given(change.new)) if on_add else None
        if new is None:
            return on_delete(_given(change.old)) if on_delete else None
        return on_update(_given(change.old), _given(change.new)) if on_update else None

    return call


def filtered(
    call: Callback[T],
    *,
    keeper: Keeper[T],
    selector: Selector = EVERYTHING,
    where: Callable[[T], bool] | None = None,
) -> Callback[T]:
    """Only what passes: an object that no longer does is told as deleted, one that now does
    as added."""

    def passes(entry: Entry | None, read: Callable[[], T | None]) -> bool:
        if entry is None or not selector.matches(entry.label_map):
            return False
        return where is None or where(_given(read()))

    def told(change: Change[T]) -> object:
        old = passes(change.old_metadata, lambda: change.old)
        new = passes(change.new_metadata, lambda: change.new)
        if not old and not new:
            return None
        if (change.old_metadata is None or old) and (change.new_metadata is None or new):
            return call(change)
        notice = Notice(
            change.key,
            change.old_metadata if old else None,
            change.new_metadata if new else None,
        )
        return call(Change(notice, keeper))

    return told


def _given(found: T | None) -> T:
    assert found is not None, "a change without the object it is about"
    return found


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
        self._is_removed = False
        self._has_warned = False
        self._told = self._failures = 0

    # --- for users

    @property
    def has_synced(self) -> bool:
        """Whether the handler has finished with all of the first list, or of what it found."""
        return self._owner.is_upstream_synced() and self._backlog.initial_left == 0

    async def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait until `has_synced`. Safe to cancel. Raises `NotYet`."""
        await self._owner.progress.until(
            lambda: self.has_synced, what=f"the handler {self.name}", timeout=timeout
        )

    def remove(self) -> None:
        """Tell it nothing more; a call that runs comes to its end. Safe to repeat."""
        if self._is_removed:
            return
        self._is_removed = True
        self._backlog.clear()
        self._owner.forget(self)
        self._wakened.set()

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

    def put(self, notices: Iterable[Notice]) -> None:
        """Have it told."""
        if self._is_removed:
            return
        before, put = self._backlog.merged, self._backlog.put
        resyncs = self.period.is_resyncing
        for notice in notices:
            if resyncs or not notice.is_resync:
                put(notice)
        self._wakened.set()
        self._owner.meter.waiting(self.name, len(self._backlog))
        if self._backlog.merged > before:
            self._note_merged(self._backlog.merged - before)

    async def run(self) -> None:
        """Tell the handler what waits, until it is removed."""
        self._worker = asyncio.current_task()
        pace = Pace()
        try:
            while not self._is_removed:
                notice = self._backlog.take()
                if notice is None:
                    self._has_warned = False
                    self._wakened.clear()
                    await self._wakened.wait()
                    continue
                await self._tell(notice)
                if pace.is_due():
                    await pace.rest()
        finally:
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

    async def _tell(self, notice: Notice) -> None:
        assert self._call is not None, "a stream has no worker"
        try:
            result = self._call(Change(notice, self._keeper))
            if inspect.isawaitable(result):
                await result
        except Exception:
            self._failures += 1
            log.exception("%s: the handler %s failed", notice.key, self.name)
        self._told += 1
        self._backlog.told(notice)
        if notice.is_initial and self._backlog.initial_left == 0:
            self._owner.progress.notify()

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
        is_upstream_synced: Callable[[], bool],
    ) -> None:
        self._keeper = keeper
        self._clock = clock
        self._limit = limit
        self.check = check  # how often somebody looks whether a resync is due; 0 is never
        self.progress = progress
        self.meter = meter
        self.is_upstream_synced = is_upstream_synced
        self._all: dict[Registration[T], None] = {}
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
        registration = Registration(
            call,
            self._keeper,
            Backlog(replay=replay, limit=self._limit),
            name=name or f"handler-{self._serial}",
            period=self._period(resync, has_started=has_started),
            owner=self,
        )
        self._all[registration] = None
        return registration

    def audience(self) -> tuple[Registration[T], ...]:
        """Those who are to hear of a change that is made now, and nobody who comes later."""
        return tuple(self._all)

    def tell(self, audience: Sequence[Registration[T]], notices: Sequence[Notice]) -> None:
        for registration in audience:
            registration.put(notices)

    def should_resync(self) -> bool:
        """Look who is to be told everything again now; whether anybody is."""
        now = self._clock.now()
        due = [registration.period.tick(now) for registration in self._all]  # each has a say
        return any(due)

    def forget(self, registration: Registration[T]) -> None:
        self._all.pop(registration, None)

    def end(self) -> None:
        """The informer has ended: nobody is told anything more."""
        for registration in self.audience():
            registration.remove()

    def stats(self) -> tuple[HandlerStats, ...]:
        return tuple(registration.stats() for registration in self._all)

    def _period(self, resync: float, *, has_started: bool) -> ResyncPeriod:
        now = self._clock.now()
        if 0 < resync < SHORTEST:
            log.warning("resync every %g s: raised to %g s", resync, SHORTEST)
            resync = SHORTEST
        if 0 < resync < self.check and not has_started:
            self.check = resync
            for registration in self._all:
                registration.period.check_changed(resync, now)
        return ResyncPeriod(resync, self.check, now=now)
