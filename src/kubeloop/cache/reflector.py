"""Mirrors one collection of the API: its state once, then every change.

Promises: the target is only ever told states that the server was in, in the server's order;
whatever a new list or a new try can mend never leaves `run()`, and neither does anything
else: it goes on until it is cancelled. A server that only hangs up is asked ever less often,
down to once in half a minute, whatever its watches brought. Every failed attempt is counted,
and failures that go on are logged at growing intervals.
Elsewhere: how the state is fetched (`fetching`), as a stream (`gathering`, `watch_list`), what
errors mean (`verdicts`), failures that go on (`outage`), servers that went back (`probing`),
what becomes of a change (`delta_queue`), who is told (`informer`).
"""

from __future__ import annotations

import asyncio
import logging
import math
import random as chance
from collections.abc import Callable, Iterable
from typing import Any, Protocol, final

from kubeloop.errors import (
    ConnectError,
    KubeError,
    TimeoutExceeded,
    TooManyRequests,
    TransportError,
    find_api_error,
    is_api_error,
)
from kubeloop.kit import (
    Backoff,
    Clock,
    Delays,
    Random,
    ResettingBackoff,
    StormBackoff,
    TaskOwner,
    Yielder,
    is_cancelling,
)
from kubeloop.meta import ObjectKey
from kubeloop.wire import RawEvent, get_logger

from .entry import Entry
from .fetching import Fetching, State
from .gathering import Gathering
from .intake import EntryDecoder
from .list_watch import ListWatch, Scope
from .metrics import NO_METER, Meter
from .mirror_stats import ReflectorState, ReflectorStats
from .outage import Attempts
from .probing import Probing
from .verdicts import (
    InternalErrorWindow,
    UnreadableEvent,
    VeryShortWatch,
    is_expired,
    needs_newest,
)
from .watch_events import EventReader, OpenWatch
from .watch_list import (
    RETRY_STREAMS_AFTER,
    AfterStream,
    StreamStalled,
    WatchListSupport,
    after_failed_stream,
    is_unsupported,
)

__all__ = [
    "BACKOFF",
    "BACKOFF_RESET",
    "GRACE",
    "MIN_WATCH_TIMEOUT",
    "OPEN_WITHIN",
    "SHORT_WATCH",
    "Reflector",
    "Target",
    "WatchErrorHandler",
]

log = get_logger(__name__)

BACKOFF = Backoff(duration=0.8, factor=2.0, jitter=1.0, steps=38, cap=30.0)
BACKOFF_RESET = 120.0
MIN_WATCH_TIMEOUT = 300.0  # a watch is asked to last from this to twice as long
GRACE = 30.0  # for the server to end a watch itself; after that we do
SHORT_WATCH = 1.0
OPEN_WITHIN = 60.0  # seconds for the server to accept a watch
LONGEST_RETRY_AFTER = 60.0  # no server can make a reflector wait longer

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


def _retry_after(error: Exception | None) -> float:
    """The seconds that the server asked us to wait; 0 where it did not."""
    answer = None if error is None else find_api_error(error)
    return 0.0 if answer is None else min(float(answer.retry_after), LONGEST_RETRY_AFTER)


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
        intake: EntryDecoder[Any],
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
        self._storm = StormBackoff(BACKOFF, random=random)
        self._attempts = Attempts(str(source.scope), clock=clock, meter=meter)
        shared: WatchListSupport | None = getattr(source, "watch_list_support", None)
        self._watch_list_support = shared or WatchListSupport()
        self._fetching = Fetching(
            source, intake, known=known, page_size=page_size, clock=clock, meter=meter
        )
        self._reader = EventReader(source.scope, intake, self._fetching)
        self._gathering = Gathering(
            source.scope,
            intake,
            self._fetching,
            clock=clock,
            on_arrival=self._note_arrival,
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
        self._watch_lists = self._fallbacks = self._watches = self._short_watches = 0
        self._events = self._rounds = 0
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
                await self._back_off(error)
            except asyncio.CancelledError as error:
                if is_cancelling():
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
            fallbacks=self._fallbacks,
            watches=self._watches,
            short_watches=self._short_watches,
            events=self._events,
            rounds=self._rounds,
            errors=self._attempts.errors,
            last_error=self._attempts.last_error,
            outage=self._attempts.stats(),
            event_age=None if came is None else self._clock.now() - came,
            left_out=self._intake.stats(),
            backoff=self._delays.stats() if isinstance(self._delays, ResettingBackoff) else None,
        )

    # --- a round: the state, then changes until something ends it

    async def _round(self) -> None:
        streamed = await self._stream_state() if self._may_stream() else None
        watch = streamed if isinstance(streamed, OpenWatch) else None
        if watch is None:
            await self._list()
            if isinstance(streamed, Exception):
                self._remember_fault(streamed)
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
        self._begin_attempt(ReflectorState.LISTING)
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

    @property
    def _group(self) -> str:
        return self._source.scope.resource.partition(".")[2]

    def _may_stream(self) -> bool:
        now = self._clock.now()
        return self._source.streams_lists and self._watch_list_support.is_usable(self._group, now)

    async def _stream_state(self) -> OpenWatch | Exception | None:
        """The watch that goes on where the state ends; otherwise the state has to be listed.

        An exception is a fault of the stream, to be remembered if the list works.
        """
        # While lists fail as well, one stream a round is enough.
        may_retry, retries = self._attempts.outage is None, 0
        delays = BACKOFF.delays(random=self._random)  # fresh, so that a list follows soon
        while True:
            watch = await self._begin_watch(initial=True)
            try:
                self._replace(await self._take_state(watch))
            except BaseException as error:
                self._storm.end(self._clock.now())
                await watch.aclose()
                if not isinstance(error, Exception):
                    raise
                failure = error
            else:
                if self._watch_list_support.note_success(self._group):
                    log.info("%s: initial states can be streamed again", self._source.scope)
                return watch
            then = after_failed_stream(
                failure,
                retries=retries,
                may_retry=may_retry and self._may_stream(),
                from_newest=watch.since == "",
            )
            if then is AfterStream.FROM_NEWEST:  # an answer that versions have now and then
                self._refuse_version()
                continue
            self._attempts.fail(failure, has_alternative=then is not AfterStream.RETRY)
            match then:
                case AfterStream.RETRY:
                    retries += 1
                    await self._wait(max(delays.next(), _retry_after(failure)))
                case AfterStream.LIST:
                    self._fallbacks += 1
                    log.info("%s: no initial state as a stream: %s", self._source.scope, failure)
                    return None
                case AfterStream.LIST_AND_REMEMBER:
                    self._fallbacks += 1
                    return failure

    async def _take_state(self, watch: OpenWatch) -> State:
        try:
            async with self._clock.timeout(watch.seconds + GRACE) as life:
                return await self._gathering.take(watch)
        except TimeoutError as error:
            if not life.expired():
                raise
            raise StreamStalled(
                f"watch {self._source.scope}: the stream of the initial state was not complete"
                f" after {watch.seconds + GRACE:g} s"
            ) from error

    def _remember_fault(self, fault: Exception) -> None:
        """The list worked: all reflectors of this group list for a while."""
        now = self._clock.now()
        if self._watch_list_support.note_fault(self._group, str(fault), now):
            log.log(
                logging.INFO if is_unsupported(fault) else logging.WARNING,
                "%s: lists work here and streams of the initial state (WatchList) do not,"
                " listing for the next %.0f minutes: %s",
                self._source.scope,
                RETRY_STREAMS_AFTER / 60,
                fault,
            )

    # --- changes

    async def _follow(self, watch: OpenWatch | None, tasks: TaskOwner) -> None:
        """Watch, one watch after the other, until an error ends the round."""
        while True:
            watch = watch or await self._begin_watch(initial=False)
            began, before = self._clock.now(), self._version
            try:
                await self._consume(watch)
            except ConnectError as error:
                self._attempts.fail(error)
                await self._back_off()
            except TransportError as error:
                self._check_length(began, before, error)
                self._attempts.fail(error)
            except KubeError as error:
                if is_api_error(error, TooManyRequests):
                    self._attempts.fail(error)
                    await self._back_off(error)
                elif self._internal_errors.allows(error):
                    self._attempts.fail(error)
                else:
                    raise
            else:
                self._check_length(began, before)
            finally:
                await watch.aclose()
                self._meter.observe_watch(self._clock.now() - began, watch.events)
            self._probing.suspect(tasks)
            watch = None

    def _check_length(
        self, began: float, version_before: str, failure: Exception | None = None
    ) -> None:
        """A watch that ended at once and brought us nowhere ends the round.

        Bookmarks that repeat the version we have count as nothing: a server that sends one
        and hangs up would be asked without end.
        """
        if self._clock.now() - began < SHORT_WATCH and self._version == version_before:
            self._short_watches += 1
            self._meter.count_short_watch()
            raise VeryShortWatch(
                f"watch {self._source.scope} from {version_before}: it ended within "
                f"{SHORT_WATCH:g} s and brought nothing{f': {failure}' if failure else ''}"
            ) from failure

    async def _consume(self, watch: OpenWatch) -> None:
        """Tell the target of all events of a watch; returns when it has ended."""
        yielder = Yielder()
        # Opened at no version, a watch begins with the state in no order: see CCH-58.
        ordered = watch.since not in {"", "0"} or watch.has_state
        try:
            async with self._clock.timeout(watch.seconds + GRACE) as life:
                await self._wait_until_open(watch)
                while batch := await watch.batch():
                    self._note_arrival()
                    for event in batch:
                        version = self._apply(event)
                        ordered = ordered or event.type != "ADDED"
                        if version and ordered:
                            self._move_to(version)
                        if yielder.is_due():
                            await yielder.yield_to_loop()
                    while self._is_full is not None and self._is_full():
                        await yielder.yield_to_loop()
        except TimeoutError:
            if not life.expired():
                raise
            log.info("%s: the server did not end the watch in time", self._source.scope)
        finally:
            self._storm.end(self._clock.now())

    async def _wait_until_open(self, watch: OpenWatch) -> None:
        if watch.has_state:  # it was open before
            self._state = ReflectorState.WATCHING
            return
        self._begin_attempt(ReflectorState.CONNECTING)
        try:
            async with self._clock.timeout(OPEN_WITHIN) as opening:
                await watch.open()
        except TimeoutError as error:
            if not opening.expired():
                raise
            raise TimeoutExceeded(
                f"watch {self._source.scope}: no answer within {OPEN_WITHIN:g} s"
            ) from error
        self._state = ReflectorState.WATCHING
        if watch.tells_when_open:
            self._attempts.succeed()
        else:
            self._attempts.assume_success()

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
            self._attempts.count(error)
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

    async def _begin_watch(self, *, initial: bool) -> OpenWatch:
        await self._avoid_storm()
        seconds = self._watch_timeout()
        since = "" if initial and self._version_is_refused else self._version
        if initial:
            self._begin_attempt(ReflectorState.LISTING)
            self._watch_lists += 1
        else:
            self._watches += 1
        stream = self._source.watch(
            resource_version=since, bookmarks=True, timeout_seconds=seconds, initial_events=initial
        )
        return OpenWatch(stream, since=since, seconds=seconds, has_state=initial)

    async def _avoid_storm(self) -> None:
        """Wait where watches have followed one another too quickly, whatever they brought."""
        was_active = self._storm.is_active
        delay = self._storm.delay(self._clock.now())
        if delay > 0:
            if not was_active:
                log.warning(
                    "%s: the server ends its watches at once, waiting before the next ones",
                    self._source.scope,
                )
            await self._wait(delay)
        self._storm.begin(self._clock.now())

    def _watch_timeout(self) -> int:
        low = math.ceil(self._min_watch_timeout)
        return low + int(self._random() * (low + 1))

    # --- time and trouble

    async def _tick(self) -> None:
        while True:
            await self._clock.sleep(self.resync)
            if self._should_resync is None or self._should_resync():
                self._target.resync()

    async def _back_off(self, error: Exception | None = None) -> None:
        """Wait, and no shorter than the server asks for."""
        await self._wait(max(self._delays.next(), _retry_after(error)))

    async def _wait(self, seconds: float) -> None:
        self._state = ReflectorState.WAITING
        await self._clock.sleep(seconds)

    def _move_to(self, version: str) -> None:
        self._version = version
        self._meter.set_reflector_version(version)

    # --- attempts, and what became of them

    def _begin_attempt(self, state: ReflectorState) -> None:
        self._state = state
        self._attempts.begin()

    def _note_arrival(self) -> None:
        self._last_came = self._clock.now()
        self._attempts.succeed()

    def _report(self, error: Exception) -> None:
        self._attempts.fail(error)
        if self._on_watch_error is None:
            _log_error(str(self._source.scope), error)
            return
        try:
            self._on_watch_error(error)
        # Nobody can cancel plain code: what says so is a failure as well.
        except (Exception, asyncio.CancelledError):
            log.exception("%s: the watch error handler failed", self._source.scope)
