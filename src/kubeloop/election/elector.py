"""Leader election: of many candidates at most one leads, as long as it holds a lease.

Promises: the work is cancelled when the lease is lost, and at the latest one renew deadline
after the last renewal that is known to have arrived was sent; so no two candidates lead at
once while their clocks' rates differ by less than lease duration over renew deadline. The
lease is given back after the work has ended, and only while it is ours. Every request has a
deadline.
Not promised: that a process which was stopped for longer than its lease does nothing in the
second in which it wakes up. Ask `Leadership.ensure()` before what must not happen twice.
Elsewhere: who may take a lease (`record`), which durations make sense (`times`).

    async with elector.leadership():
        await work()  # cancelled when the lease is lost, which then raises LeadershipLost
"""

from __future__ import annotations

import asyncio
import inspect
import random as chance
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, Protocol, TypeAlias, final

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, Random, SystemClock, TaskOwner, jittered, run_to_completion
from kubeloop.wire import get_logger
from kubeloop.wire.coordination.v1 import Lease

from .errors import LeadershipLost, LeaseNotRenewed
from .lock import Held, LeaseLock, LeaseStore, LockStats
from .metrics import ElectionMetrics, Reporter
from .record import EndOfTerm, Taken
from .times import JITTER_FACTOR, ElectionTimes

__all__ = [
    "ElectionEvents",
    "ElectorState",
    "ElectorStats",
    "Idle",
    "LeaderElector",
    "Leadership",
    "Leading",
    "Waiting",
]

log = get_logger(__name__)

# Sums of floats miss their moment by a little: too early is safe, and never late.
_SLACK = 1e-6

# The shortest pause between two tries to renew is this part of a retry period.
_SHORTEST = 8

LOOK_EVERY = 1.0
"""Seconds between two looks at the clock, whatever the timers say."""


class ElectionEvents(Protocol):
    """What an elector asks of a recorder of events, if it has one."""

    def event(
        self,
        about: Lease,
        type: Literal["Normal"],  # noqa: A002 - the API's own word for it
        reason: str,
        message: str,
        /,
    ) -> None: ...


class Idle(msgspec.Struct, frozen=True):
    """No candidate: nobody has asked for leadership, or it is over."""


class Waiting(msgspec.Struct, frozen=True):
    """A candidate that does not lead."""


class Leading(msgspec.Struct, frozen=True):
    """The leader; the moments are those of the elector's clock."""

    until: float  # when the work is cancelled, unless the lease is renewed before
    expires: float  # when others may take the lease, by our clock
    transitions: int  # how often the lease had changed hands


ElectorState: TypeAlias = Idle | Waiting | Leading


class ElectorStats(msgspec.Struct, frozen=True):
    """Where an elector stands."""

    state: ElectorState
    leader: str  # whom the lease named last; empty when nobody
    lock: LockStats
    name: str = ""  # the lease
    identity: str = ""  # who this candidate is


@final
class Leadership:
    """What the work is given while it may go on."""

    def __init__(self, elector: LeaderElector, transitions: int) -> None:
        self._elector = elector
        self.transitions = transitions
        """Grows with every change of leader: a token by which others can refuse the old one."""

    def remaining(self) -> float:
        """Seconds until leadership ends unless it is renewed; zero when it is over."""
        return self._elector.remaining()

    def ensure(self) -> None:
        """Raises: LeadershipLost when it is over, even if the work was not told yet."""
        if self.remaining() <= 0:
            raise LeadershipLost(f"{self._elector}: leadership is over (do nothing more)")


@final
class LeaderElector:
    """Stands for election with one identity, for the lease `name` in the store's namespace.

    Identities must differ between candidates: one who finds its own in the lease takes it at
    once. `observers` are told the identity of every new leader, soon after it was seen.
    `hard_exit` is called when the work has not ended half-way between the end of leadership
    and the end of the lease, `lambda: os._exit(1)` for instance.

    Raises:
        InvalidArgument: no name, no identity, or an observer that would have to be awaited.
    """

    def __init__(
        self,
        store: LeaseStore,
        name: str,
        *,
        identity: str,
        times: ElectionTimes | None = None,
        release: bool = True,
        coordinated: bool = False,
        labels: Mapping[str, str] | None = None,
        observers: Sequence[Callable[[str], object]] = (),
        events: ElectionEvents | None = None,
        metrics: ElectionMetrics | None = None,
        hard_exit: Callable[[], object] | None = None,
        clock: Clock | None = None,
        random: Random = chance.random,
    ) -> None:
        if not name or not identity:
            raise InvalidArgument(
                f"election {name!r} as {identity!r}: the lease needs a name and each candidate an"
                " identity of its own (the pod's name, or the host's and a random part)"
            )
        for observer in observers:
            _refuse_async(observer, "an observer")
        self._name = name
        self._identity = identity
        self._times = times or ElectionTimes()
        self._releases = release
        self._events = events
        self._reporter = Reporter(name, metrics)
        self._hard_exit = hard_exit
        self._clock: Clock = clock or SystemClock()
        self._random = random
        self._lock = LeaseLock(
            store,
            name,
            identity,
            times=self._times,
            coordinated=coordinated,
            labels=labels,
            observers=observers,
            on_slow_renewal=self._reporter.slow_path,
            clock=self._clock,
        )
        self._state: ElectorState = Idle()
        self._loss: LeadershipLost | None = None  # why this term ended, said once
        self._renewal: asyncio.Task[None] | None = None  # while the block lasts
        self._reporter.leading(leads=False)

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def times(self) -> ElectionTimes:
        return self._times

    @property
    def leader(self) -> str:
        """Whom the lease named when it was last seen; empty when nobody or never."""
        return self._lock.holder

    @property
    def is_leader(self) -> bool:
        """Whether this process leads now."""
        return self.remaining() > 0

    def remaining(self) -> float:
        """Seconds for which this process leads even if nothing is renewed; zero for others."""
        if not isinstance(self._state, Leading):
            return 0.0
        left = self._state.until - self._clock.now()
        return left if left > _SLACK else 0.0

    def stats(self) -> ElectorStats:
        return ElectorStats(
            self._state, self.leader, self._lock.stats(), self._name, self._identity
        )

    def check(self, *, tolerance: float = 0.0) -> None:
        """Raises: LeaseNotRenewed when we lead on after lease duration and `tolerance`."""
        changed_at = self._lock.changed_at
        if not isinstance(self._state, Leading) or changed_at is None:
            return
        late = self._clock.now() - changed_at - self._times.lease_duration
        if late > tolerance:
            raise LeaseNotRenewed(
                f"{self}: the lease ran out {late:.1f} s ago and the work has not ended"
                " (restart this process)"
            )

    # --- leading

    @asynccontextmanager
    async def leadership(self) -> AsyncIterator[Leadership]:
        """Wait for leadership, and hold it while the block lasts.

        The block is cancelled when the lease is lost. After it has ended, in whatever way,
        the lease is given back if it is still ours; that is finished even when the caller is
        cancelled, and takes at most one renew deadline.

        Raises: LeadershipLost after the block was cancelled.
        """
        if not isinstance(self._state, Idle):
            raise RuntimeError(f"{self}: one leadership at a time (use another elector)")
        self._state, self._loss = Waiting(), None
        try:
            leading = await self._acquire()
            async with TaskOwner() as outer:
                outer.spawn(self._watch_overrun(), name=f"{self} overrun")
                async with TaskOwner() as tasks:
                    tasks.spawn(self._end_in_time(), name=f"{self} deadline")
                    tasks.spawn(self._notice_suspension(), name=f"{self} suspension")
                    self._renewal = tasks.spawn(self._renew(), name=f"{self} renewal")
                    yield Leadership(self, leading.transitions)
        finally:
            await run_to_completion(self._end())

    def abandon(self) -> None:
        """Renew the lease no more: its block does not end although it was cancelled.

        So the lease expires. It is released only when the block does end before that.
        """
        if self._renewal is not None:
            self._renewal.cancel()

    async def run(
        self,
        lead: Callable[[], Awaitable[object]],
        *,
        on_stopped: Callable[[], object] | None = None,
    ) -> None:
        """Lead once: wait for leadership, await `lead()`, and return when either is over.

        `lead` is cancelled when the lease is lost; what it raises leaves here. `on_stopped`
        is called exactly once at the end, also when we never led.
        """
        if not callable(lead):
            raise InvalidArgument(f"{self}: lead must be a function that does the leader's work")
        _refuse_async(on_stopped, "on_stopped")
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
        while not await self._try():
            await self._clock.sleep(jittered(self._times.retry_period, JITTER_FACTOR, self._random))
        assert isinstance(self._state, Leading)
        log.info("%s: leading", self)
        self._reporter.leading(leads=True)
        self._record("became leader")
        return self._state

    async def _renew(self) -> None:
        pause = self._times.retry_period
        while True:
            await self._clock.sleep(pause)
            is_renewed = await self._try()
            self._give_way()
            pause = self._times.retry_period if is_renewed else self._pause_after_failure()

    def _pause_after_failure(self) -> float:
        """Shorter towards the end: an outage that is over just before it costs no leadership."""
        period = self._times.retry_period
        return min(period, max(self.remaining() / 2, period / _SHORTEST))

    async def _end_in_time(self) -> None:
        """The deadline, kept apart from the requests so that none of them can hold it up."""
        while (left := self.remaining()) > 0:
            await self._clock.sleep(left)
        self._lose_late()

    async def _notice_suspension(self) -> None:
        """A machine that was suspended wakes up with its timers where they were."""
        while self.remaining() > 0:
            await self._clock.sleep(LOOK_EVERY)
        self._lose_late()

    async def _watch_overrun(self) -> None:
        while (left := self._overrun_at() - self._clock.now()) > 0:
            await self._clock.sleep(min(max(left, _SLACK), LOOK_EVERY))
        log.error("%s: the work has not ended, and soon another may lead", self)
        if self._hard_exit is not None:
            self._hard_exit()

    def _overrun_at(self) -> float:
        assert isinstance(self._state, Leading)
        return (self._state.until + self._state.expires) / 2

    def _give_way(self) -> None:
        """End the term at once when the lease says that it is over."""
        if self._lock.is_anothers():
            self._lose(f"the lease names {self.leader}")
        match self._lock.claim():
            case EndOfTerm(preferred):
                self._lose(f"the control plane prefers {preferred}")
            case Taken(""):
                self._lose("the lease names nobody")
            case _:
                pass

    def _lose_late(self) -> None:
        error = self._lock.stats().last_error or "none"
        self._lose(f"not renewed within {self._times.term:g} s, last error: {error}")

    def _lose(self, why: str) -> None:
        if self._loss is not None:
            return
        if isinstance(self._state, Leading):  # from now on, even if the work takes its time
            self._state = msgspec.structs.replace(self._state, until=self._clock.now())
        self._loss = LeadershipLost(f"{self}: leadership lost: {why} (stand for it again)")
        raise self._loss

    async def _try(self) -> bool:
        until = self._state.until if isinstance(self._state, Leading) else None
        held = await self._lock.take(until)
        return held is not None and self._lead_with(held)

    def _lead_with(self, held: Held) -> bool:
        """Begin a term or lengthen it; False when the answer came too late for that."""
        if isinstance(self._state, Leading) and not self.is_leader:
            return False  # the work is being cancelled: what is over stays over
        until = held.sent_at + self._times.term
        if until <= self._clock.now():
            return False
        expires = held.sent_at + held.record.duration
        self._state = Leading(until, expires, held.record.transitions)
        return True

    async def _end(self) -> None:
        """After the work: no longer lead, and give the lease back."""
        was_leading = isinstance(self._state, Leading)
        self._state = Waiting()
        try:
            if self._releases and self._lock.may_be_ours:
                await self._lock.release()
        finally:
            self._state = Idle()
            if was_leading:
                log.info("%s: no longer leading", self)
                self._reporter.leading(leads=False)
                self._record("stopped leading")

    # --- who is told

    def _record(self, what: str) -> None:
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


def _refuse_async(function: object, what: str) -> None:
    """Nobody would await it, and nothing would happen."""
    if inspect.iscoroutinefunction(function):
        raise InvalidArgument(f"{what} is to be a plain function, and {function!r} is async")
