"""Mirrors one collection of the API: its state once, then every change.

Promises: the target is only ever told states that the server was in, in the server's order;
whatever a new list or a new try can mend never leaves `run()`, and neither does anything
else: it goes on until it is cancelled. A server that only hangs up is asked ever less often,
down to once in half a minute.
Elsewhere: how the state is fetched (`fetching`), what errors mean (`verdicts`), servers that
went back (`probing`), what becomes of a change (`delta_queue`), who is told (`informer`).
"""

from __future__ import annotations

import asyncio
import logging
import math
import random as chance
from collections.abc import Callable, Iterable
from typing import Any, Protocol, final

from kubeloop.kit import Backoff, Clock, Delays, Random, ResettingBackoff, TaskOwner, is_ending
from kubeloop.machinery import (
    ConnectError,
    KubeError,
    ObjectKey,
    TooManyRequests,
    TransportError,
    is_api_error,
)
from kubeloop.wire import RawEvent

from .entry import Entry
from .fetching import Fetching, State
from .gathering import Gathering
from .intake import Intake
from .list_watch import ListWatch, Scope
from .metrics import NO_METER, Meter
from .mirror_stats import ReflectorState, ReflectorStats
from .pace import Pace
from .probing import Probing
from .verdicts import (
    InternalErrorWindow,
    UnreadableEvent,
    VeryShortWatch,
    is_expired,
    is_worth_a_wait,
    needs_newest,
)
from .watch_events import EventReader, OpenWatch

__all__ = [
    "BACKOFF",
    "BACKOFF_RESET",
    "GRACE",
    "MIN_WATCH_TIMEOUT",
    "SHORT_WATCH",
    "Reflector",
    "Target",
    "WatchErrorHandler",
]

log = logging.getLogger(__name__)

BACKOFF = Backoff(duration=0.8, factor=2.0, jitter=1.0, steps=38, cap=30.0)
BACKOFF_RESET = 120.0
MIN_WATCH_TIMEOUT = 300.0  # a watch is asked to last from this to twice as long
GRACE = 30.0  # for the server to end a watch itself; after that we do
SHORT_WATCH = 1.0

WatchErrorHandler = Callable[[Exception], None]


class Target(Protocol):
    """What a reflector fills: a `DeltaQueue`, or an `Indexer` without anything in between."""

    def add(self, entry: Entry, /) -> object: ...
    def update(self, entry: Entry, /) -> object: ...
    def delete(self, entry: Entry, /) -> object: ...
    def replace(self, entries: Iterable[Entry], version: str, /) -> object: ...
    def bookmark(self, version: str, /) -> object: ...
    def resync(self) -> object: ...


def _cancelled_inside(scope: Scope, error: asyncio.CancelledError) -> KubeError:
    """What a round failed with whose source was cancelled, but not the round itself."""
    found = KubeError(f"mirror {scope}: something that it waits for was cancelled")
    found.__cause__ = error
    return found


def _log_error(what: str, error: Exception) -> None:
    """The default of CCH-63."""
    if is_expired(error):
        log.debug("%s: too old: %s", what, error)
    elif isinstance(error, VeryShortWatch | TransportError):
        log.info("%s: %s", what, error)
    elif isinstance(error, KubeError):
        log.error("%s: failed, to be tried again: %s", what, error)
    else:
        log.error("%s: failed, to be tried again", what, exc_info=error)


@final
class Reflector:
    """Keeps `target` told of the collection behind `source` while `run()` runs.

    `resync` is the period in which `target.resync()` is called during watches, if
    `should_resync` agrees (0: never). `on_watch_error` hears of every round that fails.
    `is_full` says when the target has enough to do for now. `known` is what the target holds
    of an object: it stays, where a list has only an unreadable version of it.
    """

    def __init__(
        self,
        source: ListWatch,
        target: Target,
        intake: Intake[Any],
        *,
        clock: Clock,
        backoff: Delays | None = None,
        resync: float = 0.0,
        should_resync: Callable[[], bool] | None = None,
        on_watch_error: WatchErrorHandler | None = None,
        is_full: Callable[[], bool] | None = None,
        known: Callable[[ObjectKey], Entry | None] | None = None,
        page_size: int = 0,
        min_watch_timeout: float = MIN_WATCH_TIMEOUT,
        internal_error_patience: float = 0.0,
        check_consistency: bool = False,
        meter: Meter = NO_METER,
        random: Random = chance.random,
    ) -> None:
        self._source = source
        self._target = target
        self._intake = intake
        self._clock = clock
        self._delays: Delays = backoff or ResettingBackoff(
            BACKOFF, reset_after=BACKOFF_RESET, clock=clock, random=random
        )
        self.resync = resync  # taken over when a round begins to watch
        self._should_resync = should_resync
        self._on_watch_error = on_watch_error
        self._is_full = is_full
        self._known = known
        self._min_watch_timeout = max(min_watch_timeout, MIN_WATCH_TIMEOUT)
        self._internal_errors = InternalErrorWindow(internal_error_patience, clock)
        self._meter = meter
        self._random = random
        self._fetching = Fetching(
            source, intake, known=known, page_size=page_size, clock=clock, meter=meter
        )
        self._reader = EventReader(source.scope, intake, self._fetching)
        self._gathering = Gathering(
            source.scope,
            intake,
            self._fetching,
            clock=clock,
            check_consistency=check_consistency,
        )
        self._probing = Probing(
            source.scope,
            self._fetching,
            version=lambda: self._version,
            on_gone_back=self._refuse_version,
            clock=clock,
        )
        self._state = ReflectorState.NEW
        self._version = ""
        # The server refused `_version`: ask for the newest until it has given us a state.
        self._version_is_refused = False
        self._watch_lists = self._watches = self._short_watches = 0
        self._events = self._rounds = self._errors = 0
        self._last_error = ""
        self._last_came: float | None = None

    @property
    def last_sync_version(self) -> str:
        """The version up to which the target was told everything; empty before the first."""
        return self._version

    async def run(self) -> None:
        """Mirror until cancelled; the target keeps what it was told."""
        while True:
            self._rounds += 1
            try:
                await self._round()
            except Exception as error:  # noqa: BLE001 - nothing may end a mirror but its owner
                self._report(error)
            except asyncio.CancelledError as error:
                if is_ending():
                    raise
                self._report(_cancelled_inside(self._source.scope, error))
            await self._back_off()

    def stats(self) -> ReflectorStats:
        came = self._last_came
        return ReflectorStats(
            state=self._state,
            version=self._version,
            lists=self._fetching.lists,
            watch_lists=self._watch_lists,
            watches=self._watches,
            short_watches=self._short_watches,
            events=self._events,
            rounds=self._rounds,
            errors=self._errors,
            last_error=self._last_error,
            event_age=None if came is None else self._clock.now() - came,
            left_out=self._intake.stats(),
            backoff=self._delays.stats() if isinstance(self._delays, ResettingBackoff) else None,
        )

    # --- a round: the state, then changes until something ends it

    async def _round(self) -> None:
        watch = await self._stream_state() if self._source.streams_lists else None
        if watch is None:
            await self._list()
        try:
            async with TaskOwner() as tasks:
                self._probing.forget()
                if self.resync > 0:
                    tasks.spawn(self._tick(), name=f"resync {self._source.scope}")
                await self._follow(watch, tasks)
        finally:
            if watch is not None:
                await watch.aclose()

    async def _list(self) -> None:
        self._state = ReflectorState.LISTING
        try:
            state = await self._fetching.fetch(self._relist_version())
        except Exception as error:
            if not needs_newest(error):
                raise
            self._refuse_version()
            state = await self._fetching.fetch_again(self._relist_version())
        self._replace(state)

    def _replace(self, state: State) -> None:
        self._target.replace(state.entries, state.version)
        self._version_is_refused = False
        self._move_to(state.version)
        self._note_arrival()

    def _refuse_version(self) -> None:
        self._version_is_refused = True

    def _relist_version(self) -> str:
        return "" if self._version_is_refused else self._version or "0"

    # --- the state as a stream (WatchList)

    async def _stream_state(self) -> OpenWatch | None:
        """The watch that goes on where the state ends; None when only a list will do."""
        while True:
            watch = self._open(initial=True)
            try:
                async with self._clock.timeout(watch.seconds + GRACE):
                    state = await self._gathering.take(watch)
                if state is not None:
                    self._replace(state)
                    return watch
                await watch.aclose()
                log.info("%s: the initial state broke off, begun again", self._source.scope)
            except BaseException as error:
                await watch.aclose()
                if not isinstance(error, Exception):
                    raise
                if not self._may_stream_again(error):
                    log.info("%s: no initial state as a stream: %r", self._source.scope, error)
                    return None
                if needs_newest(error) and not self._version_is_refused:
                    self._refuse_version()
                    continue  # another question: no need to wait before it
            await self._back_off()

    def _may_stream_again(self, error: Exception) -> bool:
        transient = isinstance(error, TransportError) or is_worth_a_wait(error)
        return transient or needs_newest(error)

    # --- changes

    async def _follow(self, watch: OpenWatch | None, tasks: TaskOwner) -> None:
        """Watch, one watch after the other, until an error ends the round."""
        while True:
            watch = watch or self._open(initial=False)
            began, before = self._clock.now(), self._version
            try:
                await self._consume(watch)
            except ConnectError as error:
                self._note_error(error)
                await self._back_off()
            except TransportError as error:
                self._note_error(error)
                self._check_length(began, before)
            except KubeError as error:
                if is_api_error(error, TooManyRequests):
                    self._note_error(error)
                    await self._back_off()
                elif not self._internal_errors.allows(error):
                    raise
            else:
                self._check_length(began, before)
            finally:
                await watch.aclose()
                self._meter.watched(self._clock.now() - began, watch.events)
            self._probing.suspect(tasks)
            watch = None

    def _check_length(self, began: float, version_before: str) -> None:
        """A watch that ended at once and brought us nowhere ends the round.

        Bookmarks that repeat the version we have count as nothing: a server that sends one
        and hangs up would be asked without end.
        """
        if self._clock.now() - began < SHORT_WATCH and self._version == version_before:
            self._short_watches += 1
            self._meter.short_watch()
            raise VeryShortWatch(
                f"watch {self._source.scope} from {version_before}: it ended within "
                f"{SHORT_WATCH:g} s and brought nothing"
            )

    async def _consume(self, watch: OpenWatch) -> None:
        """Tell the target of all events of a watch; returns when it has ended."""
        pace = Pace()
        # Opened at no version, a watch begins with the state in no order: see CCH-58.
        ordered = watch.since not in {"", "0"} or watch.has_state
        try:
            async with self._clock.timeout(watch.seconds + GRACE) as life:
                self._state = ReflectorState.CONNECTING
                await watch.open()
                self._state = ReflectorState.WATCHING
                while batch := await watch.batch():
                    self._note_arrival()
                    for event in batch:
                        version = self._apply(event)
                        ordered = ordered or event.type != "ADDED"
                        if version and ordered:
                            self._move_to(version)
                        if pace.is_due():
                            await pace.rest()
                    while self._is_full is not None and self._is_full():
                        await pace.rest()
        except TimeoutError:
            if not life.expired():
                raise
            log.info("%s: the server did not end the watch in time", self._source.scope)

    def _apply(self, event: RawEvent) -> str:
        """Tell the target; returns the version that has been reached, if any."""
        self._events += 1
        if event.type == "BOOKMARK":
            version = self._intake.bookmark(event.object).version
            if version:
                self._target.bookmark(version)
            return version
        entry = self._reader.read(event, instead=self._reader.skipped)
        if entry is None:
            return ""
        try:
            self._tell(event.type, self._intake.transformed(entry))
        except Exception as error:  # a target's trouble with one object is its own
            if event.type == "DELETED" and self._is_held(entry.key):
                raise UnreadableEvent(f"watch {self._source.scope}: DELETED: {error}") from error
            self._note_error(error)
            log.error("%s: %s lost: %s", entry.key, event.type, error)
        return entry.version

    def _is_held(self, key: ObjectKey) -> bool:
        """Whether the target holds what nobody will speak of again: only a list can miss it."""
        return self._known is not None and self._known(key) is not None

    def _tell(self, kind: str, entry: Entry) -> None:
        if kind == "ADDED":
            self._target.add(entry)
        elif kind == "MODIFIED":
            self._target.update(entry)
        else:
            self._target.delete(entry)

    def _open(self, *, initial: bool) -> OpenWatch:
        seconds = self._watch_timeout()
        since = "" if initial and self._version_is_refused else self._version
        if initial:
            self._state = ReflectorState.LISTING
            self._watch_lists += 1
        else:
            self._watches += 1
        stream = self._source.watch(
            since=since, bookmarks=True, timeout_seconds=seconds, initial_events=initial
        )
        return OpenWatch(stream, since=since, seconds=seconds, has_state=initial)

    def _watch_timeout(self) -> int:
        low = math.ceil(self._min_watch_timeout)
        return low + int(self._random() * (low + 1))

    # --- time and trouble

    async def _tick(self) -> None:
        while True:
            await self._clock.sleep(self.resync)
            if self._should_resync is None or self._should_resync():
                self._target.resync()

    async def _back_off(self) -> None:
        self._state = ReflectorState.WAITING
        await self._clock.sleep(self._delays.next())

    def _move_to(self, version: str) -> None:
        self._version = version
        self._meter.reached(version)

    def _note_arrival(self) -> None:
        self._last_came = self._clock.now()

    def _note_error(self, error: Exception) -> None:
        self._errors += 1
        self._last_error = str(error) or repr(error)

    def _report(self, error: Exception) -> None:
        self._note_error(error)
        if self._on_watch_error is None:
            _log_error(str(self._source.scope), error)
            return
        try:
            self._on_watch_error(error)
        # Nobody can cancel plain code: what says so is a failure as well.
        except (Exception, asyncio.CancelledError):
            log.exception("%s: the watch error handler failed", self._source.scope)
