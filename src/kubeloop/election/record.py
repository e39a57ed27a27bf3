"""What a lease says, and who may take it.

Promises: everything here is plain code on values; whether a lease is still good is decided
by how long ago we saw it change, on our own clock, never by the times it names, so that
clocks may be set as they like.
Elsewhere: asking the server and waiting (`elector`).
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
    "Claim",
    "EndOfTerm",
    "Free",
    "LeaseRecord",
    "Ours",
    "Seen",
    "Taken",
    "claim_on",
    "new_lease",
    "next_record",
    "read_record",
    "released_record",
    "with_record",
]

# The shortest difference that a lease can express.
_TICK = timedelta(microseconds=1)


class LeaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a lease says of the election."""

    holder: str = ""  # empty when nobody holds it
    duration: int = 0  # whole seconds
    acquired: MicroTime | None = None
    renewed: MicroTime | None = None
    transitions: int = 0
    strategy: str = ""  # set where the control plane coordinates the election
    preferred_holder: str = ""


class Seen(msgspec.Struct, frozen=True):
    """A record, and the moment on our clock at which it was new."""

    record: LeaseRecord
    at: float

    def is_valid(self, now: float) -> bool:
        """Whether its holder may still count on it."""
        return self.at + self.record.duration > now


class Ours(msgspec.Struct, frozen=True):
    """We hold the lease and may renew it."""


class Free(msgspec.Struct, frozen=True):
    """Nobody holds the lease, or nobody does any more."""


class Taken(msgspec.Struct, frozen=True):
    """Somebody else holds the lease, or it is not ours to take."""

    holder: str


class EndOfTerm(msgspec.Struct, frozen=True):
    """We hold the lease, and the control plane prefers another."""

    preferred: str


Claim: TypeAlias = Ours | Free | Taken | EndOfTerm


def claim_on(seen: Seen, identity: str, now: float, *, coordinated: bool = False) -> Claim:
    """What `identity` may do about a lease that was seen like this.

    In a `coordinated` election only the control plane gives the lease away.
    """
    record = seen.record
    if coordinated:
        if record.holder != identity or not seen.is_valid(now):
            return Taken(record.holder)
        return EndOfTerm(record.preferred_holder) if record.preferred_holder else Ours()
    if record.holder == identity:
        return Ours()
    return Taken(record.holder) if record.holder and seen.is_valid(now) else Free()


def next_record(
    before: LeaseRecord | None, identity: str, duration: int, moment: datetime
) -> LeaseRecord:
    """The record with which `identity` renews its lease, takes it over, or starts it."""
    now = MicroTime.of(moment)
    if before is None:
        return LeaseRecord(holder=identity, duration=duration, acquired=now, renewed=now)
    if now == before.renewed:  # others notice a renewal by the change
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
    """The record that lets anybody take the lease at once."""
    now = MicroTime.of(moment)
    return msgspec.structs.replace(before, holder="", duration=1, acquired=now, renewed=now)


def read_record(lease: Lease) -> LeaseRecord:
    """What a lease says."""
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
    """A copy of the lease that says `record` and has `labels` besides its own."""
    made = copy.deepcopy(lease)
    spec = made.spec
    spec.holder_identity = record.holder
    spec.lease_duration_seconds = record.duration
    spec.acquire_time = record.acquired
    spec.renew_time = record.renewed
    spec.lease_transitions = record.transitions
    spec.strategy = record.strategy or None
    spec.preferred_holder = record.preferred_holder or None
    if labels:
        made.metadata.labels.update(labels)
    return made


def new_lease(name: str, record: LeaseRecord, labels: Mapping[str, str]) -> Lease:
    """A lease that does not exist yet."""
    return with_record(Lease(metadata=ObjectMeta(name=name), spec=LeaseSpec()), record, labels)
