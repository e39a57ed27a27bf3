"""The content of a lease, and what a candidate may do about it.

Guarantees: plain functions of values. Whether a lease is still valid depends on how long ago
we observed it change, by our own clock, never on the times in it: as in client-go, the clocks
of candidates need not agree.
See also: `lock` (requests), `elector` (when to send them).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypeAlias

import msgspec

from kubeloop.wire import MicroTime
from kubeloop.wire.coordination.v1 import Lease, LeaseSpec
from kubeloop.wire.meta.v1 import ObjectMeta

__all__ = [
    "Available",
    "EndOfTerm",
    "HeldByOther",
    "HeldBySelf",
    "LeaseRecord",
    "LeaseStatus",
    "ObservedRecord",
    "lease_status",
    "new_lease",
    "next_record",
    "read_record",
    "released_record",
    "with_record",
]

# The shortest difference that a lease can express.
_TICK = timedelta(microseconds=1)


class LeaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The election's part of a lease (client-go: `LeaderElectionRecord`)."""

    holder: str = ""  # empty: no holder
    duration: int = 0  # whole seconds
    acquired: MicroTime | None = None
    renewed: MicroTime | None = None
    transitions: int = 0
    strategy: str = ""  # set where the control plane coordinates the election
    preferred_holder: str = ""


class ObservedRecord(msgspec.Struct, frozen=True):
    """A record, and when we first observed it, by our own clock."""

    record: LeaseRecord
    at: float

    def is_valid(self, now: float) -> bool:
        """Whether its holder may still rely on it."""
        return self.at + self.record.duration > now


class HeldBySelf(msgspec.Struct, frozen=True):
    """We hold the lease and may renew it."""


class Available(msgspec.Struct, frozen=True):
    """The lease has no holder, or has expired: any candidate may acquire it."""


class HeldByOther(msgspec.Struct, frozen=True):
    """Another candidate holds the lease, or only the control plane may assign it."""

    holder: str


class EndOfTerm(msgspec.Struct, frozen=True):
    """We hold the lease, and the control plane prefers another holder."""

    preferred: str


LeaseStatus: TypeAlias = HeldBySelf | Available | HeldByOther | EndOfTerm


def lease_status(
    observed: ObservedRecord, identity: str, now: float, *, coordinated: bool = False
) -> LeaseStatus:
    """What the lease is to the candidate `identity`.

    In a `coordinated` election only the control plane assigns the lease.
    """
    record = observed.record
    if coordinated:
        if record.holder != identity or not observed.is_valid(now):
            return HeldByOther(record.holder)
        return EndOfTerm(record.preferred_holder) if record.preferred_holder else HeldBySelf()
    if record.holder == identity:
        return HeldBySelf()
    if record.holder and observed.is_valid(now):
        return HeldByOther(record.holder)
    return Available()


def next_record(
    before: LeaseRecord | None, identity: str, duration: int, moment: datetime
) -> LeaseRecord:
    """The record with which `identity` creates, acquires or renews a lease."""
    now = MicroTime.of(moment)
    if before is None:
        return LeaseRecord(holder=identity, duration=duration, acquired=now, renewed=now)
    if now == before.renewed:  # others notice a renewal only if the record changes
        now = MicroTime.of(now + _TICK)
    if before.holder == identity:
        return msgspec.structs.replace(before, duration=duration, renewed=now)
    return msgspec.structs.replace(
        before,
        holder=identity,
        duration=duration,
        acquired=now,
        renewed=now,
        transitions=before.transitions + 1,
    )


def released_record(before: LeaseRecord, moment: datetime) -> LeaseRecord:
    """The record without a holder, which any candidate may replace at once."""
    now = MicroTime.of(moment)
    return msgspec.structs.replace(before, holder="", duration=1, acquired=now, renewed=now)


def read_record(lease: Lease) -> LeaseRecord:
    """The record in a lease; fields that are not set are empty or zero."""
    spec = lease.spec
    return LeaseRecord(
        holder=spec.holder_identity or "",
        duration=spec.lease_duration_seconds or 0,
        acquired=spec.acquire_time,
        renewed=spec.renew_time,
        transitions=spec.lease_transitions or 0,
        strategy=spec.strategy or "",
        preferred_holder=spec.preferred_holder or "",
    )


def with_record(lease: Lease, record: LeaseRecord, labels: Mapping[str, str]) -> Lease:
    """A copy of the lease with this record, and with `labels` added to its labels."""
    changed = copy.deepcopy(lease)
    spec = changed.spec
    spec.holder_identity = record.holder
    spec.lease_duration_seconds = record.duration
    spec.acquire_time = record.acquired
    spec.renew_time = record.renewed
    spec.lease_transitions = record.transitions
    spec.strategy = record.strategy or None
    spec.preferred_holder = record.preferred_holder or None
    if labels:
        changed.metadata.labels.update(labels)
    return changed


def new_lease(name: str, record: LeaseRecord, labels: Mapping[str, str]) -> Lease:
    """A lease to create."""
    return with_record(Lease(metadata=ObjectMeta(name=name), spec=LeaseSpec()), record, labels)
