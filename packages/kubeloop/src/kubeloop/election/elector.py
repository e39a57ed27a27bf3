"""Leader election: at most one of many candidates leads, as long as it holds a lease.

Guarantees: the work is cancelled when the lease is lost, at the latest one renew deadline
after the last successful renewal was sent. So no two candidates lead at once while the rates
of their clocks differ by less than lease duration / renew deadline. The lease is released
after the work has ended, and only while we hold it. Every request has a deadline.
Not guaranteed: that a process which was suspended for longer than its lease does nothing in
the second in which it resumes. Call `Leadership.ensure()` before an action that must not
happen twice.
See also: `record` (who may acquire a lease), `times` (the durations), `lock` (the requests).

    async with elector.leadership():
        await work()  # cancelled when the lease is lost, which then raises LeadershipLost
"""

from __future__ import annotations

import asyncio
import inspect
import random as chance
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Literal, Protocol, TypeAlias, final

import msgspec

from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.kit import Clock, Random, SystemClock, TaskOwner, jittered, run_to_completion
from kubeloop.wire import get_logger
from kubeloop.wire.coordination.v1 import Lease

from .lock import Acquisition, LeaseClient, LeaseLock, LockStats
from .metrics import ElectionMetrics, MetricsReporter
from .record import EndOfTerm, HeldByOther
from .times import JITTER_FACTOR, ElectionTimes

__all__ = [
    "DEFAULT_TOLERANCE",
    "ElectionHealth",
    "ElectionRecorder",
    "ElectorState",
    "ElectorStats",
    "Idle",
    "LeaderElector",
    "Leadership",
    "LeadershipLost",
    "Leading",
    "LeaseNotRenewed",
    "Standby",
]

log = get_logger(__name__)

DEFAULT_TOLERANCE: Final = 20.0
"""Seconds after its lease has expired that a leader may still work before it is unhealthy."""

# Sums of floats differ from the exact time by a little: early is safe, late is not.
_TOLERANCE = 1e-6
# After a failed renewal the next attempt follows after at least this part of a retry period.
_MIN_PAUSE = 1 / 8
# Seconds between two checks of the clock. Timers do not run while a machine is suspended.
_CLOCK_CHECK_INTERVAL = 1.0


@final
class LeadershipLost(KubeError):
    """We no longer hold the lease, or cannot know that we do; the work was cancelled."""


@final
class LeaseNotRenewed(KubeError):
    """A failed health check: the work continues although the lease has expired."""


class ElectionRecorder(Protocol):
    """Records events about the lease; an `EventRecorder` fits."""

    def event(
        self,
        about: Lease,
        type: Literal["Normal"],  # noqa: A002 - the API's own word for it
        reason: str,
        message: str,
        /,
    ) -> None: ...


class Idle(msgspec.Struct, frozen=True):
    """Not a candidate: `leadership()` was not entered, or has ended."""


class Standby(msgspec.Struct, frozen=True):
    """A candidate that does not lead."""


class Leading(msgspec.Struct, frozen=True):
    """The leader; times are those of the elector's clock."""

    until: float  # when the work is cancelled, unless the lease is renewed before
    expires: float  # when other candidates may acquire the lease, by our clock
    transitions: int  # how often the lease had changed its holder


ElectorState: TypeAlias = Idle | Standby | Leading


class ElectorStats(msgspec.Struct, frozen=True):
    """A snapshot of an elector."""

    state: ElectorState
    leader: str  # the observed holder; empty if there is none
    lock: LockStats
    name: str = ""  # of the lease
    identity: str = ""  # of this candidate


@final
class Leadership:
    """One term: what the leader's work is given."""

    def __init__(self, elector: LeaderElector, transitions: int) -> None:
        self._elector = elector
        self.transitions = transitions
        """Grows with every change of leader: a fencing token by which others can reject the
        writes of a former leader."""

    def remaining(self) -> float:
        """Seconds until the term ends unless the lease is renewed; zero if it has ended."""
        return self._elector.remaining()

    def ensure(self) -> None:
        """Raises: LeadershipLost if the term has ended, even if the work runs on."""
        if self.remaining() <= 0:
            raise LeadershipLost(f"{self._elector}: leadership has ended (stop the work)")


@final
class LeaderElector:
    """A candidate for the lease `name` in the namespace of `leases` (client-go: the same).

    Every candidate needs another identity: one that finds its own in the lease acquires it at
    once. `observers` are called with the identity of every new leader, soon after it was
    observed. `hard_exit` is called if the work has not ended half-way between the end of
    the term and the end of the lease; `lambda: os._exit(1)` for example.

    Raises:
        InvalidArgument: the name or the identity is empty, or an observer is async.
    """

    def __init__(
        self,
        leases: LeaseClient,
        name: str,
        *,
        identity: str,
        times: ElectionTimes | None = None,
        release: bool = True,
        coordinated: bool = False,
        labels: Mapping[str, str] | None = None,
        observers: Sequence[Callable[[str], object]] = (),
        events: ElectionRecorder | None = None,
        metrics: ElectionMetrics | None = None,
        hard_exit: Callable[[], object] | None = None,
        clock: Clock | None = None,
        random: Random = chance.random,
    ) -> None:
        if not name or not identity:
            raise InvalidArgument(
                f"election {name!r} as {identity!r}: the lease needs a name, and each candidate its"
                " own identity (the name of the pod, or of the host with a random part)"
            )
        for observer in observers:
            _reject_async(observer, "an observer")
        self._name = name
        self._identity = identity
        self._times = times or ElectionTimes()
        self._releases = release
        self._events = events
        self._reporter = MetricsReporter(name, metrics)
        self._hard_exit = hard_exit
        self._clock: Clock = clock or SystemClock()
        self._random = random
        self._lock = LeaseLock(
            leases,
            name,
            identity,
            times=self._times,
            coordinated=coordinated,
            labels=labels,
            observers=observers,
            on_slow_renewal=self._reporter.count_slow_renewal,
            clock=self._clock,
        )
        self._state: ElectorState = Idle()
        self._loss: LeadershipLost | None = None  # why this term ended; raised once
        self._renewal: asyncio.Task[None] | None = None  # while the block lasts
        self._reporter.set_leading(is_leader=False)

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def times(self) -> ElectionTimes:
        return self._times

    @property
    def leader(self) -> str:
        """The holder of the lease when it was last observed; empty if there was none."""
        return self._lock.holder

    @property
    def is_leader(self) -> bool:
        """Whether this process leads now."""
        return self.remaining() > 0

    def remaining(self) -> float:
        """Seconds for which this process leads without another renewal; zero if it does not."""
        if not isinstance(self._state, Leading):
            return 0.0
        left = self._state.until - self._clock.now()
        return left if left > _TOLERANCE else 0.0

    def stats(self) -> ElectorStats:
        return ElectorStats(
            self._state, self.leader, self._lock.stats(), self._name, self._identity
        )

    def check(self, *, tolerance: float = 0.0) -> None:
        """Raises: LeaseNotRenewed if we work `tolerance` seconds after the lease expired."""
        changed_at = self._lock.changed_at
        if not isinstance(self._state, Leading) or changed_at is None:
            return
        late = self._clock.now() - changed_at - self._times.lease_duration
        if late > tolerance:
            raise LeaseNotRenewed(
                f"{self}: the lease expired {late:.1f} s ago and the work has not ended"
                " (restart this process)"
            )

    # --- leading

    @asynccontextmanager
    async def leadership(self) -> AsyncIterator[Leadership]:
        """Wait for leadership, and hold it while the block runs.

        The block is cancelled when the lease is lost. After the block has ended, for any
        reason, the lease is released if we still hold it; that completes even if the caller
        is cancelled, and takes at most one renew deadline.

        Raises: LeadershipLost after the block was cancelled.
        """
        if not isinstance(self._state, Idle):
            raise RuntimeError(f"{self}: one leadership at a time (use another elector)")
        self._state, self._loss = Standby(), None
        try:
            leading = await self._acquire()
            async with TaskOwner() as outer:
                outer.spawn(self._watch_overrun(), name=f"{self} overrun")
                async with TaskOwner() as tasks:
                    tasks.spawn(self._enforce_deadline(), name=f"{self} deadline")
                    tasks.spawn(self._detect_suspension(), name=f"{self} suspension")
                    self._renewal = tasks.spawn(self._renew(), name=f"{self} renewal")
                    try:
                        yield Leadership(self, leading.transitions)
                    except LeadershipLost as error:
                        # Of `ensure()`. A task of ours may raise its own for the same reason: one
                        # loss is one error, and not a group of two.
                        if self._loss is None:
                            self._loss = error
                            raise
        finally:
            await run_to_completion(self._end_term())

    def abandon(self) -> None:
        """Stop renewing the lease, because the block does not end although it was cancelled.

        The lease expires; it is released only if the block ends before that.
        """
        if self._renewal is not None:
            self._renewal.cancel()

    async def run(
        self,
        lead: Callable[[], Awaitable[object]],
        *,
        on_stopped: Callable[[], object] | None = None,
    ) -> None:
        """Lead once: wait for leadership, await `lead()`, and return when either ends.

        `lead` is cancelled when the lease is lost; what it raises is raised here. `on_stopped`
        is called exactly once at the end, also if we never led (client-go: `OnStoppedLeading`).
        """
        if not callable(lead):
            raise InvalidArgument(f"{self}: lead must be a function that does the leader's work")
        _reject_async(on_stopped, "on_stopped")
        try:
            async with self.leadership():
                await lead()
        except LeadershipLost as error:
            log.warning("%s", error)
        finally:
            if on_stopped is not None:
                on_stopped()

    async def _acquire(self) -> Leading:
        log.info("%s: waiting for the lease", self)
        while not await self._try_acquire_or_renew():
            await self._clock.sleep(jittered(self._times.retry_period, JITTER_FACTOR, self._random))
        assert isinstance(self._state, Leading)
        log.info("%s: became leader", self)
        self._reporter.set_leading(is_leader=True)
        self._record_event("became leader")
        return self._state

    async def _renew(self) -> None:
        pause = self._times.retry_period
        while True:
            await self._clock.sleep(pause)
            is_renewed = await self._try_acquire_or_renew()
            self._check_holder()
            pause = self._times.retry_period if is_renewed else self._pause_after_failure()

    def _pause_after_failure(self) -> float:
        """Shorter towards the end: an outage that ends just before it costs no leadership."""
        period = self._times.retry_period
        return min(period, max(self.remaining() / 2, period * _MIN_PAUSE))

    async def _enforce_deadline(self) -> None:
        """End the term in time, in a task of its own: no request can delay it."""
        while (left := self.remaining()) > 0:
            await self._clock.sleep(left)
        self._lose_unrenewed()

    async def _detect_suspension(self) -> None:
        """End the term of a machine that was suspended: its other timers have not moved."""
        while self.remaining() > 0:
            await self._clock.sleep(_CLOCK_CHECK_INTERVAL)
        self._lose_unrenewed()

    async def _watch_overrun(self) -> None:
        while (left := self._overrun_at() - self._clock.now()) > 0:
            await self._clock.sleep(min(max(left, _TOLERANCE), _CLOCK_CHECK_INTERVAL))
        log.error("%s: the work has not ended, and another candidate may lead soon", self)
        if self._hard_exit is not None:
            self._hard_exit()

    def _overrun_at(self) -> float:
        assert isinstance(self._state, Leading)
        return (self._state.until + self._state.expires) / 2

    def _check_holder(self) -> None:
        """End the term at once if the lease has another holder, or is to have one."""
        if self._lock.is_held_by_other():
            self._lose(f"the holder of the lease is {self.leader}")
        match self._lock.status():
            case EndOfTerm(preferred):
                self._lose(f"the control plane prefers {preferred}")
            case HeldByOther(""):
                self._lose("the lease has no holder")
            case _:
                pass

    def _lose_unrenewed(self) -> None:
        error = self._lock.stats().last_error or "none"
        self._lose(f"not renewed within {self._times.term:g} s, last error: {error}")

    def _lose(self, why: str) -> None:
        if self._loss is not None:
            return
        if isinstance(self._state, Leading):  # from now on, however long the work takes to end
            self._state = msgspec.structs.replace(self._state, until=self._clock.now())
        self._loss = LeadershipLost(f"{self}: leadership lost: {why} (become a candidate again)")
        raise self._loss

    async def _try_acquire_or_renew(self) -> bool:
        until = self._state.until if isinstance(self._state, Leading) else None
        acquired = await self._lock.acquire_or_renew(until)
        return acquired is not None and self._extend_term(acquired)

    def _extend_term(self, acquired: Acquisition) -> bool:
        """Begin or extend the term; False if the response came too late for that."""
        if isinstance(self._state, Leading) and not self.is_leader:
            return False  # the work is being cancelled: a term that has ended stays ended
        until = acquired.sent_at + self._times.term
        if until <= self._clock.now():
            return False
        expires = acquired.sent_at + acquired.record.duration
        self._state = Leading(until, expires, acquired.record.transitions)
        return True

    async def _end_term(self) -> None:
        """After the work: stop leading, and release the lease."""
        was_leading = isinstance(self._state, Leading)
        self._state = Standby()
        try:
            if self._releases and self._lock.may_be_held:
                await self._lock.release()
        finally:
            self._state = Idle()
            if was_leading:
                log.info("%s: stopped leading", self)
                self._reporter.set_leading(is_leader=False)
                self._record_event("stopped leading")

    def _record_event(self, what: str) -> None:
        lease = self._lock.lease
        if self._events is None or lease is None:
            return
        try:
            about = Lease(metadata=lease.metadata)
            self._events.event(about, "Normal", "LeaderElection", f"{self._identity} {what}")
        except Exception:
            log.exception("%s: the event %r was not recorded", self, what)

    def __repr__(self) -> str:
        return f"election {self._name} as {self._identity}"


@final
class ElectionHealth:
    """A liveness check that can be served before the elector exists (client-go: `HealthzAdaptor`).

    It passes until an elector is attached.
    """

    def __init__(self, *, tolerance: float = DEFAULT_TOLERANCE) -> None:
        self._tolerance = tolerance
        self._elector: LeaderElector | None = None

    def attach(self, elector: LeaderElector) -> None:
        """Check `elector` from now on."""
        self._elector = elector

    def check(self) -> None:
        """Raises: LeaseNotRenewed if the elector leads although its lease has expired."""
        if self._elector is not None:
            self._elector.check(tolerance=self._tolerance)


def _reject_async(function: object, what: str) -> None:
    """Raises: InvalidArgument for an async function, which would never be awaited."""
    if inspect.iscoroutinefunction(function):
        raise InvalidArgument(f"{what} must be a plain function, but {function!r} is async")
