"""The lock on a lease: reads, acquires, renews and releases it.

Guarantees: every request has a deadline; a lease that another candidate holds is never
written; a lease is written back with the resource version that was read, so that of two
candidates that acquire it one fails. A failed attempt is counted and raises nothing.
See also: `record` (who may acquire a lease), `elector` (when to try).
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
    Available,
    HeldBySelf,
    LeaseRecord,
    LeaseStatus,
    ObservedRecord,
    lease_status,
    new_lease,
    next_record,
    read_record,
    released_record,
    with_record,
)
from .times import ElectionTimes

__all__ = ["Acquisition", "LeaseClient", "LeaseLock", "LockStats"]

T = TypeVar("T")
log = get_logger(__name__)

# Expected during an election or an outage; the next attempt may succeed.
_TRANSIENT = (TransportError, OSError, Conflict, AlreadyExists, NotFound)


class LeaseClient(Protocol):
    """The leases of one namespace; `client.resource(Lease)` fits."""

    async def get(self, name: str, /) -> Lease: ...
    async def create(self, lease: Lease, /) -> Lease: ...
    async def update(self, lease: Lease, /) -> Lease: ...


class Acquisition(msgspec.Struct, frozen=True):
    """A successful write of the lease: it has `record`, and had not before `sent_at`."""

    record: LeaseRecord
    sent_at: float


class LockStats(msgspec.Struct, frozen=True):
    """A snapshot of the counters of a lock."""

    writes: int  # that acquired or renewed the lease
    slow_renewals: int  # of these, renewals that had to read the lease first
    failures: int  # requests that ended in an error
    last_error: str


@final
class LeaseLock:
    """One candidate's lock on one lease (client-go: `resourcelock.LeaseLock`)."""

    def __init__(
        self,
        leases: LeaseClient,
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
        self._leases = leases
        self._name = name
        self._identity = identity
        self._times = times
        self._coordinated = coordinated
        self._labels = dict(labels or {})
        self._observers = tuple(observers)
        self._on_slow_renewal = on_slow_renewal
        self._clock = clock
        self._lease: Lease | None = None  # as the server sent it last
        self._observed: ObservedRecord | None = None
        self._reported_holder = ""  # the last one that the observers were called with
        self._is_unsure = False  # a write was sent, and its result is not known
        self._writes = self._slow_renewals = self._failures = 0
        self._last_error = ""

    @property
    def lease(self) -> Lease | None:
        """A copy of the lease as it was last observed."""
        return copy.deepcopy(self._lease)

    @property
    def holder(self) -> str:
        """The holder that was last observed; empty if there was none."""
        return self._observed.record.holder if self._observed is not None else ""

    @property
    def changed_at(self) -> float | None:
        """When the lease was last observed to change, by our own clock."""
        return self._observed.at if self._observed is not None else None

    @property
    def may_be_held(self) -> bool:
        """Whether we are the observed holder, or a write with an unknown result made us that."""
        return self.holder == self._identity or self._is_unsure

    def status(self) -> LeaseStatus:
        """What the observed lease is to us; a lease that was never observed is available."""
        if self._observed is None:
            return Available()
        now = self._clock.now()
        return lease_status(self._observed, self._identity, now, coordinated=self._coordinated)

    def is_held_by_other(self) -> bool:
        """Whether another candidate is the observed holder, even if the lease has expired."""
        return self.holder not in {"", self._identity}

    def stats(self) -> LockStats:
        return LockStats(self._writes, self._slow_renewals, self._failures, self._last_error)

    async def acquire_or_renew(self, until: float | None = None) -> Acquisition | None:
        """Try once to acquire or renew the lease; None if that failed.

        A leader gives the end of its term as `until`: nothing is sent after it.
        A cancelled call may have acquired the lease.
        """
        try:
            return await self._renew_directly(until) or await self._read_and_write(until)
        except Exception as error:  # noqa: BLE001 - of any client; the next attempt may succeed
            self._count_failure(error)
            return None

    async def release(self) -> None:
        """Remove ourselves as the holder, if we are; takes at most one renew deadline.

        A failure is only counted: the lease then expires. A cancelled call may have
        released the lease.
        """
        try:
            async with self._clock.timeout(self._times.renew_deadline):
                while not await self._try_release():
                    pass
        except Exception as error:  # noqa: BLE001 - see above
            self._count_failure(error)
        self._is_unsure = False

    async def _renew_directly(self, until: float | None) -> Acquisition | None:
        """Renew a lease that we hold without reading it first; None if that fails.

        client-go's fast path: a steady renewal is one request.
        """
        observed, lease = self._observed, self._lease
        if self._coordinated or lease is None or observed is None:
            return None
        if observed.record.holder != self._identity or not observed.is_valid(self._clock.now()):
            return None
        try:
            return await self._write(lease, observed.record, until)
        except Exception as error:  # noqa: BLE001 - reading the lease again finds the cause
            self._count_failure(error)
            return None

    async def _read_and_write(self, until: float | None) -> Acquisition | None:
        try:
            lease = await self._send(lambda: self._leases.get(self._name), until)
        except NotFound:
            return None if self._coordinated else await self._write(None, None, until)
        self._observe(lease)
        # A leader that finds another holder has lost, even if that lease has expired since.
        if until is not None and self.is_held_by_other():
            return None
        if not isinstance(self.status(), HeldBySelf | Available):
            return None
        record = read_record(lease)
        if record.holder == self._identity:
            self._slow_renewals += 1
            self._on_slow_renewal()
        return await self._write(lease, record, until)

    async def _write(
        self, lease: Lease | None, before: LeaseRecord | None, until: float | None
    ) -> Acquisition:
        duration = self._times.written_duration
        record = next_record(before, self._identity, duration, self._clock.time())
        sent_at = self._clock.now()  # no other candidate can have observed it any earlier
        if lease is None:
            created = new_lease(self._name, record, self._labels)
            response = await self._send_write(lambda: self._leases.create(created), until)
        else:
            changed = with_record(lease, record, self._labels)
            response = await self._send_write(lambda: self._leases.update(changed), until)
        self._observe(response)
        self._writes += 1
        return Acquisition(record, sent_at)

    async def _try_release(self) -> bool:
        """Release the lease as it is now; False if it changed between read and write."""
        lease = await self._send(lambda: self._leases.get(self._name))
        self._observe(lease)
        record = read_record(lease)
        if record.holder != self._identity:
            return True  # another candidate has acquired it meanwhile
        empty = with_record(lease, released_record(record, self._clock.time()), self._labels)
        try:
            self._observe(await self._send(lambda: self._leases.update(empty)))
        except Conflict:
            return False
        return True

    async def _send_write(self, send: Callable[[], Awaitable[Lease]], until: float | None) -> Lease:
        """Send a write; without a response the server may have stored it all the same."""
        self._is_unsure = True
        try:
            response = await self._send(send, until)
        except ApiError as error:
            self._is_unsure = error.code >= 500
            raise
        self._is_unsure = False
        return response

    async def _send(self, request: Callable[[], Awaitable[T]], until: float | None = None) -> T:
        timeout = self._times.request_timeout
        if until is not None:
            timeout = min(timeout, until - self._clock.now())
        if timeout <= 0:
            raise TimeoutError(f"lease {self._name}: no time is left for another request")
        async with self._clock.timeout(timeout):
            return await request()

    # --- observing

    def _observe(self, lease: Lease) -> None:
        record = read_record(lease)
        self._lease = lease
        if self._observed is None or self._observed.record != record:
            self._observed = ObservedRecord(record, self._clock.now())
        if self._reported_holder == record.holder:
            return
        self._reported_holder = record.holder
        for observer in self._observers:
            call = functools.partial(self._call_observer, observer, record.holder)
            asyncio.get_running_loop().call_soon(call)

    def _call_observer(self, observer: Callable[[str], object], holder: str) -> None:
        try:
            observer(holder)
        except Exception:
            log.exception("%s: observer %r failed", self, observer)

    def _count_failure(self, error: Exception) -> None:
        self._failures += 1
        self._last_error = str(error) or type(error).__name__
        level = logging.INFO if isinstance(error, _TRANSIENT) else logging.WARNING
        log.log(level, "%s: attempt failed, will retry: %s", self, self._last_error)

    def __repr__(self) -> str:
        return f"election {self._name} as {self._identity}"
