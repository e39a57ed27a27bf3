"""Holding a lease: reading it, taking it, renewing it, giving it back.

Promises: every request has a deadline; a lease that another holds is never written; what
was read is written back with its version, so that of two who take a lease one fails. A try
that fails is counted and raises nothing.
Elsewhere: who may take a lease (`record`), when to try and what it is for (`elector`).
"""

from __future__ import annotations

import asyncio
import copy
import functools
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar, final

import msgspec

from kubeloop.errors import AlreadyExists, ApiError, Conflict, NotFound, TransportError
from kubeloop.kit import Clock
from kubeloop.wire import get_logger
from kubeloop.wire.coordination.v1 import Lease

from .record import (
    Claim,
    Free,
    LeaseRecord,
    Ours,
    Seen,
    claim_on,
    new_lease,
    next_record,
    read_record,
    released_record,
    with_record,
)
from .times import ElectionTimes

__all__ = ["Held", "LeaseLock", "LeaseStore", "LockStats"]

T = TypeVar("T")
log = get_logger(__name__)

_PASSING = (TransportError, OSError, Conflict, AlreadyExists, NotFound)


class LeaseStore(Protocol):
    """What an elector asks of a client for leases in one namespace, and no more."""

    async def get(self, name: str, /) -> Lease: ...
    async def create(self, lease: Lease, /) -> Lease: ...
    async def update(self, lease: Lease, /) -> Lease: ...


class Held(msgspec.Struct, frozen=True):
    """A write that arrived: the lease says `record`, and did not before `sent_at`."""

    record: LeaseRecord
    sent_at: float


class LockStats(msgspec.Struct, frozen=True):
    """What was tried."""

    writes: int  # that took or renewed the lease
    slow_renewals: int  # of these, renewals that had to read the lease first
    failures: int  # requests that ended in an error
    last_error: str


@final
class LeaseLock:
    """One candidate's view of one lease, and its hand on it."""

    def __init__(
        self,
        store: LeaseStore,
        name: str,
        identity: str,
        *,
        times: ElectionTimes,
        coordinated: bool = False,
        labels: Mapping[str, str] | None = None,
        observers: Sequence[Callable[[str], object]] = (),
        on_slow_renewal: Callable[[], object] = lambda: None,
        clock: Clock,
    ) -> None:
        self._store = store
        self._name = name
        self._identity = identity
        self._times = times
        self._coordinated = coordinated
        self._labels = dict(labels or {})
        self._observers = tuple(observers)
        self._on_slow_renewal = on_slow_renewal
        self._clock = clock
        self._lease: Lease | None = None  # as the server sent it last
        self._seen: Seen | None = None
        self._told = ""  # the holder that the observers know of
        self._is_unsure = False  # a write was sent, and whether it arrived is not known
        self._writes = self._slow_renewals = self._failures = 0
        self._last_error = ""

    @property
    def lease(self) -> Lease | None:
        """A copy of the lease as it was last seen."""
        return copy.deepcopy(self._lease)

    @property
    def holder(self) -> str:
        """Whom the lease named when it was last seen; empty when nobody or never."""
        return self._seen.record.holder if self._seen is not None else ""

    @property
    def changed_at(self) -> float | None:
        """The moment on our clock at which the lease was last seen to change."""
        return self._seen.at if self._seen is not None else None

    @property
    def may_be_ours(self) -> bool:
        """Whether the lease names us as far as we know, or may do so without our knowing."""
        return self.holder == self._identity or self._is_unsure

    def claim(self) -> Claim:
        """What we may do about the lease as it was last seen; it was never seen: nobody's."""
        if self._seen is None:
            return Free()
        now = self._clock.now()
        return claim_on(self._seen, self._identity, now, coordinated=self._coordinated)

    def is_anothers(self) -> bool:
        """Whether the lease names somebody else, however long ago that was."""
        return self.holder not in {"", self._identity}

    def stats(self) -> LockStats:
        return LockStats(self._writes, self._slow_renewals, self._failures, self._last_error)

    async def take(self, until: float | None = None) -> Held | None:
        """Take or renew the lease, once; None when that failed.

        A leader says `until` when its term lasts: nothing is sent after it.
        A cancelled call may have taken it.
        """
        try:
            return await self._renew_at_once(until) or await self._read_and_write(until)
        except Exception as error:  # noqa: BLE001 - the store is not ours; the next try may do
            self._note(error)
            return None

    async def release(self) -> None:
        """Give the lease back if it is ours; takes at most one renew deadline.

        What fails is only counted: the lease runs out by itself then. A cancelled call may
        have given it back.
        """
        try:
            async with self._clock.timeout(self._times.renew_deadline):
                while not await self._write_release():
                    pass
        except Exception as error:  # noqa: BLE001 - see above
            self._note(error)
        self._is_unsure = False

    async def _renew_at_once(self, until: float | None) -> Held | None:
        """Renew what we know to be ours without reading it first; None when that fails."""
        seen, lease = self._seen, self._lease
        if self._coordinated or lease is None or seen is None:
            return None
        if seen.record.holder != self._identity or not seen.is_valid(self._clock.now()):
            return None
        try:
            return await self._write(lease, seen.record, until)
        except Exception as error:  # noqa: BLE001 - reading it again tells what is wrong
            self._note(error)
            return None

    async def _read_and_write(self, until: float | None) -> Held | None:
        try:
            lease = await self._ask(lambda: self._store.get(self._name), until)
        except NotFound:
            return None if self._coordinated else await self._write(None, None, until)
        self._see(lease)
        # A leader that finds another in its place has lost, even to one who is gone already.
        if until is not None and self.is_anothers():
            return None
        if not isinstance(self.claim(), Ours | Free):
            return None
        record = read_record(lease)
        self._count_slow(record)
        return await self._write(lease, record, until)

    async def _write(
        self, lease: Lease | None, before: LeaseRecord | None, until: float | None
    ) -> Held:
        duration = self._times.written_duration
        record = next_record(before, self._identity, duration, self._clock.time())
        sent_at = self._clock.now()  # others cannot have seen it any earlier
        if lease is None:
            made = new_lease(self._name, record, self._labels)
            answer = await self._sent(lambda: self._store.create(made), until)
        else:
            changed = with_record(lease, record, self._labels)
            answer = await self._sent(lambda: self._store.update(changed), until)
        self._see(answer)
        self._writes += 1
        return Held(record, sent_at)

    async def _write_release(self) -> bool:
        """Give the lease back as it is now; False when it changed under our hands."""
        lease = await self._ask(lambda: self._store.get(self._name))
        self._see(lease)
        record = read_record(lease)
        if record.holder != self._identity:
            return True  # somebody else's by now
        empty = with_record(lease, released_record(record, self._clock.time()), self._labels)
        try:
            self._see(await self._ask(lambda: self._store.update(empty)))
        except Conflict:
            return False
        return True

    async def _sent(self, send: Callable[[], Awaitable[Lease]], until: float | None) -> Lease:
        """The answer to a write; without one it may have been done all the same."""
        self._is_unsure = True
        try:
            answer = await self._ask(send, until)
        except ApiError as error:
            self._is_unsure = error.code >= 500
            raise
        self._is_unsure = False
        return answer

    async def _ask(self, request: Callable[[], Awaitable[T]], until: float | None = None) -> T:
        patience = self._times.request_timeout
        if until is not None:
            patience = min(patience, until - self._clock.now())
        if patience <= 0:
            raise TimeoutError(f"lease {self._name}: no time is left for another request")
        async with self._clock.timeout(patience):
            return await request()

    # --- what is known, and who is told

    def _see(self, lease: Lease) -> None:
        record = read_record(lease)
        self._lease = lease
        if self._seen is None or self._seen.record != record:
            self._seen = Seen(record, self._clock.now())
        if self._told == record.holder:
            return
        self._told = record.holder
        for observer in self._observers:
            tell = functools.partial(self._tell, observer, record.holder)
            asyncio.get_running_loop().call_soon(tell)

    def _tell(self, observer: Callable[[str], object], holder: str) -> None:
        try:
            observer(holder)
        except Exception:
            log.exception("%s: observer %r failed", self, observer)

    def _count_slow(self, before: LeaseRecord) -> None:
        if before.holder == self._identity:
            self._slow_renewals += 1
            self._on_slow_renewal()

    def _note(self, error: Exception) -> None:
        self._failures += 1
        self._last_error = str(error) or type(error).__name__
        # What another try can mend is nothing special; of the rest a human should know.
        level = logging.INFO if isinstance(error, _PASSING) else logging.WARNING
        log.log(level, "%s: try failed: %s", self, self._last_error)

    def __repr__(self) -> str:
        return f"election {self._name} as {self._identity}"
