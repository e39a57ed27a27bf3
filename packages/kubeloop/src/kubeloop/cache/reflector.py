"""Feeds one collection of the API to a target: list once, then watch.

Guarantees: the target only receives states that the server was in, in the server's order. No
error leaves `run()`: it lists, watches and retries until it is cancelled. At most five lists and
watches begin within two seconds, and a server that only closes its watches gets fewer and fewer,
down to one in half a minute. Every failed attempt is counted, and repeated failures are logged at
growing intervals.
See also: `reflector_state` (the state and the step), `pager` (lists), `watch_list` (streaming
lists), `outage` (repeated failures), `delta_queue` (the queue that is fed).
"""

from __future__ import annotations

import asyncio
import functools
import logging
import math
import random as chance
from collections.abc import Awaitable, Callable, Iterable, Iterator
from time import perf_counter
from typing import Any, Protocol, TypedDict, Unpack, final

from kubeloop.errors import (
    DecodeError,
    KubeError,
    NotAcceptable,
    NotFound,
    TimeoutExceeded,
    TransportError,
    UnsupportedMediaType,
)
from kubeloop.kit import (
    Backoff,
    Clock,
    Delays,
    Random,
    ResettingBackoff,
    StormBackoff,
    SystemClock,
    TaskOwner,
    TimeBudget,
    is_cancelling,
)
from kubeloop.meta import ObjectKey
from kubeloop.wire import RawEvent, UnknownFields, get_logger

from .entry import Entry
from .entry_decoder import EntryDecoder, EntryEvent
from .list_watch import ApplyEvents, ListWatch, MessageFormat, OpenWatch, as_stream
from .metrics import NO_METER, Meter
from .outage import Attempts
from .pager import ListPager, ListResult
from .reflector_errors import (
    InternalErrorWindow,
    UnreadableEvent,
    VersionWentBack,
    VeryShortWatch,
    is_expired,
    is_older,
    raise_error_event,
    source_cancelled,
)
from .reflector_state import (
    Aborted,
    AttemptFailed,
    BackingOff,
    Ended,
    Failed,
    FellBack,
    Listing,
    Observation,
    Opened,
    ReadAgain,
    ReflectorStats,
    Started,
    Starting,
    State,
    Streaming,
    Synced,
    Throttled,
    Waited,
    Watching,
    advance,
    effect_of,
    reported_state,
    step,
)
from .watch_list import (
    RETRY_STREAMS_AFTER,
    InitialStream,
    StreamStalled,
    WatchListSupport,
    check_consistency,
    is_unsupported,
)

__all__ = ["Reflector", "ReflectorOptions", "Target", "WatchErrorHandler"]

log = get_logger(__name__)

BACKOFF = Backoff(duration=0.8, factor=2.0, jitter=1.0, steps=38, cap=30.0)
BACKOFF_RESET = 120.0
# A kind that is not served may have a CRD soon: for this long it is requested this often.
AWAIT_KIND = 60.0
AWAIT_KIND_DELAY = 2.0
MIN_WATCH_TIMEOUT = 300.0  # a watch is requested for this to twice as long
GRACE = 30.0  # for the server to end a watch itself, before we close it
OPEN_WITHIN = 60.0  # seconds for the server to accept a watch
SILENCE = 60.0  # seconds from the end of a watch to a request for the server's version

WatchErrorHandler = Callable[[Exception], None]


class Target(Protocol):
    """What a reflector feeds: a `DeltaQueue`, or an `Indexer` directly."""

    def add(self, entry: Entry, /) -> object: ...
    def update(self, entry: Entry, /) -> object: ...
    def delete(self, entry: Entry, /) -> object: ...
    def replace(self, entries: Iterable[Entry], version: str, /) -> object: ...
    def bookmark(self, version: str, /) -> object: ...
    def resync(self) -> object: ...


class ReflectorOptions(TypedDict, total=False):
    """Options of a reflector; each has a default."""

    backoff: Delays | None
    resync: float  # seconds between calls of `target.resync()` during watches; 0: never
    should_resync: Callable[[], bool] | None
    on_watch_error: WatchErrorHandler | None  # called for each error that leads to a new list
    is_full: Callable[[], bool] | None  # whether the target has enough to process for now
    # The cached entry of an object: it stays if a list has the object in an unreadable state.
    known: Callable[[ObjectKey], Entry | None] | None
    page_size: int
    min_watch_timeout: float
    internal_error_patience: float  # seconds for which internal errors of a watch are tolerated
    check_consistency: bool  # compare each streamed state with a list of the same version
    meter: Meter
    random: Random


@final
class Reflector:
    """Keeps `target` equal to the collection behind `source` while `run()` runs."""

    def __init__(
        self,
        source: ListWatch,
        target: Target,
        decoder: EntryDecoder[Any],
        *,
        clock: Clock | None = None,
        **options: Unpack[ReflectorOptions],
    ) -> None:
        scope, meter = source.scope, options.get("meter", NO_METER)
        random = options.get("random", chance.random)
        clock = clock or SystemClock()
        self._source = source
        self._scope = scope
        self._target = target
        self._decoder = decoder
        self._clock = clock
        self._options = options
        self._meter = meter
        self._is_metered = meter is not NO_METER
        self._random = random
        self.resync = options.get("resync", 0.0)  # read when a list or a stream is complete
        self._known = options.get("known")
        self._is_full = options.get("is_full") or _is_never_full
        self._delays: Delays = options.get("backoff") or ResettingBackoff(
            BACKOFF, reset_after=BACKOFF_RESET, clock=clock, random=random
        )
        # Short again for each round, so that a list follows soon after streams that fail.
        self._stream_delays = BACKOFF.delays(random=random)
        self._storm = StormBackoff(BACKOFF, random=random)
        self._internal_errors = InternalErrorWindow(
            options.get("internal_error_patience", 0.0), clock
        )
        self._attempts = Attempts(str(scope), clock=clock, meter=meter)
        self._watch_list_support = source.watch_list_support or WatchListSupport()
        self._pager = ListPager(
            source,
            decoder,
            known=self._known,
            page_size=options.get("page_size", 0),
            clock=clock,
            meter=meter,
        )
        self._deliver: dict[str, Callable[[Entry], object]] = {
            "ADDED": target.add,
            "MODIFIED": target.update,
            "DELETED": target.delete,
        }
        self._messages = source.messages
        self._state: State = Starting()
        self._budget = TimeBudget()
        self._watch_lists = self._fallbacks = self._watches = self._short_watches = 0
        self._events = self._rounds = 0

    @property
    def last_sync_version(self) -> str:
        """The version up to which the target has everything; empty before the first list."""
        return self._state.position.version

    def stats(self) -> ReflectorStats:
        return ReflectorStats(
            state=reported_state(self._state),
            version=self._state.position.version,
            lists=self._pager.lists,
            watch_lists=self._watch_lists,
            fallbacks=self._fallbacks,
            watches=self._watches,
            short_watches=self._short_watches,
            events=self._events,
            rounds=self._rounds,
            errors=self._attempts.errors,
            last_error=self._attempts.last_error,
            outage=self._attempts.stats(),
            event_age=self._attempts.event_age(),
            left_out=self._decoder.stats(),
            backoff=self._delays.stats() if isinstance(self._delays, ResettingBackoff) else None,
            format="protobuf" if self._messages is not None and self._messages.is_used else "json",
        )

    # --- the loop: act on the state, observe the outcome

    async def run(self) -> None:
        """List and watch until cancelled; the target keeps the last state."""
        while True:
            try:
                match self._state:
                    case Starting():
                        self._start()
                    case Listing() as state:
                        await self._list(state)
                    case Streaming() | Watching() | BackingOff(then=Watching()):
                        await self._follow()
                    case BackingOff() as state:
                        await self._back_off(state)
            except Exception as error:  # noqa: BLE001 - only its owner may end a reflector
                self._observe(Aborted(error))
            except asyncio.CancelledError as error:
                if is_cancelling():
                    raise
                self._observe(Aborted(source_cancelled(self._scope, error)))

    def _start(self) -> None:
        self._rounds += 1
        self._stream_delays.reset()
        is_failing = self._attempts.outage is not None
        self._observe(Started(self._can_stream(), is_failing))

    def _observe(self, observation: Observation) -> None:
        """Take a step, and report what the step is about."""
        if isinstance(observation, Failed | Aborted):
            self._check_format(observation.error)
        before = self._state
        self._state = step(before, observation, scope=str(self._scope))
        match effect_of(before, observation, self._state):
            case ReadAgain(error):
                if isinstance(error, VeryShortWatch):
                    self._short_watches += 1
                    self._meter.count_short_watch()
                self._report(error)
            case FellBack(error, is_suspected):
                self._fallbacks += 1
                self._attempts.fail(error, has_alternative=True)
                if not is_suspected:
                    log.info("%s: stream failed, listing: %s", self._scope, error)
            case AttemptFailed(error):
                self._attempts.fail(error)

    def _check_format(self, error: Exception) -> None:
        """Request JSON from now on if protobuf cannot have what the server has."""
        messages = self._messages
        if messages is None or not isinstance(
            error, UnknownFields | NotAcceptable | UnsupportedMediaType
        ):
            return
        messages.switch_to_json()
        log.warning("%s: read as JSON from now on, not as protobuf: %s", self._scope, error)

    async def _back_off(self, state: BackingOff) -> None:
        """Wait, and no shorter than the server requests."""
        delays = self._stream_delays if isinstance(state.then, Streaming) else self._delays
        delay = delays.next()
        outage = self._attempts.stats()
        if _is_not_served(state.error) and outage is not None and outage.seconds < AWAIT_KIND:
            delay = min(delay, AWAIT_KIND_DELAY)
        await self._clock.sleep(max(delay, state.at_least))
        self._observe(Waited())

    # --- the collection, as a list or as a stream

    async def _list(self, state: Listing) -> None:
        await self._avoid_storm()
        self._attempts.begin()
        try:
            result = await self._pager.list_all(
                state.position.list_version, is_retry=state.is_retry
            )
            self._replace(result)
        except Exception as error:  # noqa: BLE001 - the step decides
            self._observe(Failed(error))
            return
        if state.stream_error is not None:
            self._remember_fault(state.stream_error)

    def _replace(self, result: ListResult) -> None:
        self._target.replace(result.entries, result.version)
        self._observe(Synced(result.version))
        self._meter.set_reflector_version(result.version)
        self._attempts.receive()

    def _can_stream(self) -> bool:
        now = self._clock.now()
        return self._source.streams_lists and self._watch_list_support.is_usable(self._group, now)

    @property
    def _group(self) -> str:
        return self._scope.resource.partition(".")[2]

    def _remember_fault(self, fault: Exception) -> None:
        """The list succeeded: all reflectors of this group list for a while."""
        now = self._clock.now()
        if self._watch_list_support.add_fault(self._group, str(fault), now):
            log.log(
                logging.INFO if is_unsupported(fault) else logging.WARNING,
                "%s: lists work here and streams of the initial state (WatchList) do not,"
                " listing for the next %.0f minutes: %s",
                self._scope,
                RETRY_STREAMS_AFTER / 60,
                fault,
            )

    # --- changes

    async def _follow(self) -> None:
        """Watch, one watch after the other, until the collection has to be read again."""
        async with TaskOwner() as tasks:
            if not isinstance(self._state, Streaming):
                self._start_resync(tasks)
            if self._messages is not None and self._messages.is_used:
                tasks.spawn(self._wait_for_unknown_fields(self._messages), name="unknown fields")
            while True:
                match self._state:
                    case Streaming() as state:
                        await self._watch(state.position.stream_version, tasks, initial=True)
                    case Watching() as state:
                        if state.is_suspect:
                            self._spawn_probe(tasks, state.position.version)
                        await self._watch(state.since, tasks, initial=False)
                    case BackingOff(then=Watching()) as waiting:
                        await self._back_off(waiting)
                    case _:
                        return

    async def _watch(self, since: str, tasks: TaskOwner, *, initial: bool) -> None:
        watch = await self._open(since, initial=initial)
        events = self._events
        failure: Exception | None = None
        try:
            async with self._clock.timeout(watch.seconds + GRACE) as lifetime:
                await self._receive(watch, tasks)
        except Exception as error:  # noqa: BLE001 - the step decides
            failure = error
            if isinstance(error, TimeoutError) and lifetime.expired():
                failure = self._after_lifetime(watch)
        finally:
            now = self._clock.now()
            seconds = now - watch.started
            self._storm.end(now)
            await watch.aclose()
            is_streaming = self._is_streaming()
            if not is_streaming:
                self._meter.observe_watch(seconds, self._events - events)
        if failure is None:
            self._observe(Ended(seconds))
        elif is_streaming:
            self._observe(Failed(failure, can_stream=self._can_stream()))
        else:
            is_tolerated = self._internal_errors.allows(failure)
            self._observe(Failed(failure, seconds, is_tolerated=is_tolerated))

    def _after_lifetime(self, watch: OpenWatch) -> Exception | None:
        """The server did not end a watch in time: an error if its state is not complete."""
        if isinstance(self._state, Streaming):
            return StreamStalled(
                f"watch {self._scope}: the stream of the initial state was not complete after"
                f" {watch.seconds + GRACE:g} s"
            )
        log.info("%s: the server did not end the watch in time", self._scope)
        return None

    async def _open(self, since: str, *, initial: bool) -> OpenWatch:
        await self._avoid_storm()
        low = math.ceil(max(self._options.get("min_watch_timeout", 0.0), MIN_WATCH_TIMEOUT))
        seconds = low + int(self._random() * (low + 1))
        if initial:
            self._watch_lists += 1
        else:
            self._watches += 1
        stream = self._source.watch(
            resource_version=since, bookmarks=True, timeout_seconds=seconds, initial_events=initial
        )
        return OpenWatch(
            as_stream(stream),
            since=since,
            seconds=seconds,
            has_state=initial,
            started=self._clock.now(),
        )

    async def _avoid_storm(self) -> None:
        """Wait if requests followed one another too quickly, even if they had events."""
        was_active = self._storm.is_active
        delay = self._storm.delay(self._clock.now())
        if delay > 0:
            if not was_active:
                log.warning(
                    "%s: the server ends requests at once, backing off before the next one",
                    self._scope,
                )
            self._observe(Throttled())
            await self._clock.sleep(delay)
            self._observe(Waited())
        self._storm.begin(self._clock.now())

    async def _receive(self, watch: OpenWatch, tasks: TaskOwner) -> None:
        """Apply all events of a watch to the target; returns when it has ended."""
        apply = functools.partial(self._apply_events, watch)
        if not watch.has_state:
            await self._wait_until_open(watch)
            await watch.pump(apply, self._decoder.split)
            return
        self._attempts.begin()
        stream = InitialStream(self._scope, self._decoder, self._pager, self._attempts, self._clock)
        async with TaskOwner() as checks:
            receiver = _StateReceiver(
                stream,
                self._budget,
                checks,
                check=self._check_consistency if self._options.get("check_consistency") else None,
                sync=functools.partial(self._sync, watch, tasks),
                then=apply,
            )
            await watch.pump(receiver.apply, self._decoder.split)
            stream.check_complete()

    async def _check_consistency(self, streamed: ListResult) -> None:
        listed = await self._pager.list_exactly(streamed.version)
        check_consistency(self._scope, streamed, listed)

    def _is_streaming(self) -> bool:
        return isinstance(self._state, Streaming)

    def _sync(self, watch: OpenWatch, tasks: TaskOwner, result: ListResult) -> None:
        """The state of a stream is complete, and its watch continues."""
        self._replace(result)
        watch.started = self._clock.now()
        self._start_resync(tasks)
        if self._watch_list_support.clear_fault(self._group):
            log.info("%s: initial states can be streamed again", self._scope)

    async def _wait_until_open(self, watch: OpenWatch) -> None:
        self._attempts.begin()
        try:
            async with self._clock.timeout(OPEN_WITHIN) as opening:
                is_accepted = await watch.open()
        except TimeoutError as error:
            if not opening.expired():
                raise
            raise TimeoutExceeded(
                f"watch {self._scope}: no response within {OPEN_WITHIN:g} s"
            ) from error
        self._observe(Opened())
        if is_accepted:
            self._attempts.succeed()
        else:
            self._attempts.assume_success()

    def _apply_events(self, watch: OpenWatch, events: Iterator[RawEvent]) -> bool:
        """Apply events to the target while there is time, and until it has enough.

        Plain code, which a transport calls in the callback that received the events.
        """
        reached = ""
        count = 0
        budget = self._budget
        until = budget.begin()
        try:
            for event in events:
                if not count:
                    self._attempts.receive()
                count += 1
                version = self._apply(event)
                if not watch.is_ordered:
                    watch.is_ordered = event.type != "ADDED"
                if version and watch.is_ordered:
                    reached = version
                if perf_counter() >= until:
                    budget.pause()
                    return False
            budget.end()
            return not self._is_full()
        finally:
            # Also when an event fails: the ones before it are applied.
            self._events += count
            if reached:
                self._state = advance(self._state, reached)
                if self._is_metered:
                    self._meter.set_reflector_version(reached)

    def _apply(self, event: RawEvent) -> str:
        """Apply an event to the target; returns the version that is reached, if any."""
        deliver = self._deliver.get(event.type)
        if deliver is None:
            return self._apply_bookmark(event)
        try:
            if isinstance(event, EntryEvent):
                entry = event.entry
            else:
                entry = self._decoder.decode_event(event)
        except UnknownFields:
            raise  # JSON has them: the collection is read again
        except DecodeError as error:
            self._pager.check_listed(event, error)
            key = self._decoder.read_key(event.object)
            log.error("%s: skipped, still unreadable: %s", key, error)
            return ""
        if entry is None:
            return ""
        try:
            if self._decoder.has_transform:
                entry = self._decoder.transform(entry)
            deliver(entry)
        except UnknownFields:
            raise
        except Exception as error:  # of one object: the watch continues
            if event.type == "DELETED" and self._is_known(entry.key):
                # No later event is about this object: only a list shows that it is gone.
                raise UnreadableEvent(f"watch {self._scope}: DELETED: {error}") from error
            self._attempts.count(error)
            log.error("%s: %s lost: %s", entry.key, event.type, error)
        return entry.version

    def _apply_bookmark(self, event: RawEvent) -> str:
        if event.type != "BOOKMARK":
            raise_error_event(event, self._scope)
            return ""
        version = self._decoder.read_bookmark(event.object).version
        if version:
            self._target.bookmark(version)
        return version

    def _is_known(self, key: ObjectKey) -> bool:
        return self._known is not None and self._known(key) is not None

    # --- beside the watches

    async def _wait_for_unknown_fields(self, messages: MessageFormat) -> None:
        """Raise what a reader reports who found fields that our models do not know."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[None] = loop.create_future()

        def report(error: Exception) -> None:
            if not found.done():
                found.set_exception(error)

        messages.on_report = lambda error: loop.call_soon_threadsafe(report, error)
        try:
            await found
        finally:
            messages.on_report = None

    def _start_resync(self, tasks: TaskOwner) -> None:
        if self.resync > 0:
            tasks.spawn(self._resync_repeatedly(), name=f"resync {self._scope}")

    async def _resync_repeatedly(self) -> None:
        should_resync = self._options.get("should_resync")
        while True:
            await self._clock.sleep(self.resync)
            if should_resync is None or should_resync():
                self._target.resync()

    def _spawn_probe(self, tasks: TaskOwner, version: str) -> None:
        """Probe the server after a while, if that is not planned for this version already."""
        name = f"staleness probe of {self._scope} at {version}"
        if name not in tasks.stats().running:
            tasks.spawn(self._probe(version), name=name)

    async def _probe(self, suspected: str) -> None:
        """Ask a silent server for its version; raises `VersionWentBack` if it is older.

        However long the watch lasted: on a computer that was suspended, the clock does not
        show why it ended. A server that sends anything new meanwhile is not asked.
        """
        while True:
            await self._clock.sleep(SILENCE)
            if self.last_sync_version != suspected:
                return
            try:
                version = await self._pager.newest_version()
            except KubeError:
                continue  # it is unavailable again
            if is_older(version, than=suspected):
                raise VersionWentBack(
                    f"watch {self._scope} from {suspected}: the server is at {version}"
                )
            return

    # --- reports

    def _report(self, error: Exception) -> None:
        self._attempts.fail(error)
        on_watch_error = self._options.get("on_watch_error")
        if on_watch_error is None:
            outage = self._attempts.outage
            is_repeated = outage is not None and outage.failures > 1
            _log_error(str(self._scope), error, is_repeated=is_repeated)
            return
        try:
            on_watch_error(error)
        # Synchronous code cannot be cancelled: a CancelledError from it is an ordinary error.
        except (Exception, asyncio.CancelledError):
            log.exception("%s: the watch error handler failed", self._scope)


@final
class _StateReceiver:
    """Receives a watch that begins with the state: first that, at once, then its changes.

    `check` may reject a complete state; events wait until it has returned. `sync` gives the target
    the state, and `then` gets what follows. The tasks of `checks` begin here.
    """

    def __init__(
        self,
        stream: InitialStream,
        budget: TimeBudget,
        checks: TaskOwner,
        *,
        check: Callable[[ListResult], Awaitable[None]] | None,
        sync: Callable[[ListResult], None],
        then: ApplyEvents,
    ) -> None:
        self._stream = stream
        self._budget = budget
        self._checks = checks
        self._check = check
        self._sync = sync
        self._then = then
        self._is_synced = False  # the target has the state
        self._silence = checks.spawn(stream.check_silence(), name=f"silence {stream.scope}")

    def apply(self, events: Iterator[RawEvent]) -> bool:
        """Plain code, which a transport calls; False: call it again with the same iterator."""
        return self._then(events) if self._is_synced else self._take(events)

    def _take(self, events: Iterator[RawEvent]) -> bool:
        if not self._stream.take(events, self._budget, on_complete=self._complete):
            return False
        if not self._stream.is_complete:
            return True
        return self._is_synced and self._then(events)  # False until it is checked

    def _complete(self, state: ListResult) -> None:
        self._silence.cancel()
        if self._check is None:
            self._end(state)
        else:
            self._checks.spawn(
                self._check_state(self._check, state), name=f"consistency {self._stream.scope}"
            )

    async def _check_state(
        self, check: Callable[[ListResult], Awaitable[None]], state: ListResult
    ) -> None:
        await check(state)
        self._end(state)

    def _end(self, state: ListResult) -> None:
        self._sync(state)
        self._is_synced = True


def _is_never_full() -> bool:
    return False


def _is_not_served(error: Exception | None) -> bool:
    """Whether the server has no such kind; a list of one that it has is never a 404."""
    return isinstance(error, NotFound)


def _log_error(scope: str, error: Exception, *, is_repeated: bool) -> None:
    """Log an error after which the collection is read again, at client-go's levels (CCH-63)."""
    if is_expired(error):
        log.debug("%s: expired, will list again: %s", scope, error)
    elif _is_not_served(error):
        # Installing a controller before its CRD is no error; an outage is warned about anyway.
        level = logging.DEBUG if is_repeated else logging.INFO
        log.log(level, "%s: not served yet, will retry: %s", scope, error)
    elif isinstance(error, VeryShortWatch | TransportError):
        log.info("%s: %s", scope, error)
    elif isinstance(error, KubeError):
        log.error("%s: list or watch failed, will retry: %s", scope, error)
    else:
        log.error("%s: list or watch failed, will retry", scope, exc_info=error)
