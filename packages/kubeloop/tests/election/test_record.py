"""The record in a lease, and who may acquire it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kubeloop.election import (
    Available,
    EndOfTerm,
    HeldByOther,
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
from kubeloop.wire import MicroTime
from tests.election.leases import lease_of

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
EARLIER = MicroTime(2030, 1, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("holder", "now", "status"),
    [
        pytest.param("you", 14.9, HeldByOther("you"), id="LEA-6 held by another and valid"),
        pytest.param("you", 15.0, Available(), id="LEA-C2 held by another and expired"),
        pytest.param("", 0.0, Available(), id="LEA-8 without a holder"),
        pytest.param("me", 0.0, HeldBySelf(), id="LEA-C4 held by us"),
        pytest.param("me", 99.0, HeldBySelf(), id="LEA-6 held by us and expired"),
    ],
)
def test_a_lease_is_available_when_it_has_no_holder_or_has_expired(
    holder: str, now: float, status: LeaseStatus
) -> None:
    observed = ObservedRecord(LeaseRecord(holder=holder, duration=15), at=0.0)

    assert lease_status(observed, "me", now) == status


@pytest.mark.parametrize(
    ("holder", "preferred", "now", "status"),
    [
        pytest.param("me", "", 1.0, HeldBySelf(), id="LEA-19 assigned to us"),
        pytest.param("me", "you", 1.0, EndOfTerm("you"), id="LEA-C13 another is preferred"),
        pytest.param("me", "", 15.0, HeldByOther("me"), id="LEA-19 expired"),
        pytest.param("you", "", 99.0, HeldByOther("you"), id="LEA-19 never acquired"),
        pytest.param("", "", 0.0, HeldByOther(""), id="LEA-19 not even without a holder"),
    ],
)
def test_only_the_control_plane_assigns_a_coordinated_lease(
    holder: str, preferred: str, now: float, status: LeaseStatus
) -> None:
    record = LeaseRecord(holder=holder, duration=15, preferred_holder=preferred)

    assert lease_status(ObservedRecord(record, at=0.0), "me", now, coordinated=True) == status


@given(
    holder=some.sampled_from(["you", "they"]),
    duration=some.integers(0, 60),
    at=some.floats(0, 1e6),
    later=some.floats(0, 120),
    renewed=some.datetimes(timezones=some.just(UTC)),
)
def test_only_the_time_since_a_change_was_seen_decides(
    holder: str, duration: int, at: float, later: float, renewed: datetime
) -> None:
    """LEA-7, LEA-C3, LEA-C14: the times in the lease are ignored."""
    record = LeaseRecord(holder=holder, duration=duration, renewed=MicroTime.of(renewed))

    status = lease_status(ObservedRecord(record, at), "me", at + later)

    assert (status == Available()) == (at + duration <= at + later)


def test_a_renewal_keeps_the_acquire_time_and_the_transitions() -> None:
    """LEA-6: and keeps the strategy, LEA-19."""
    before = LeaseRecord(
        holder="me", duration=3, acquired=EARLIER, renewed=EARLIER, transitions=7, strategy="S"
    )

    after = next_record(before, "me", 15, NOON)

    assert after == LeaseRecord(
        holder="me",
        duration=15,
        acquired=EARLIER,
        renewed=MicroTime.of(NOON),
        transitions=7,
        strategy="S",
    )


def test_acquiring_from_another_adds_one_transition() -> None:
    """LEA-C2, LEA-C5: and sets both times."""
    before = LeaseRecord(holder="you", duration=3, acquired=EARLIER, transitions=7)

    after = next_record(before, "me", 15, NOON)

    assert (after.holder, after.transitions) == ("me", 8)
    assert after.acquired == after.renewed == NOON


def test_a_renewal_in_the_same_microsecond_still_changes_the_lease() -> None:
    before = LeaseRecord(holder="me", duration=15, renewed=MicroTime.of(NOON))

    assert next_record(before, "me", 15, NOON) != before


def test_a_released_lease_has_no_holder_and_lasts_one_second() -> None:
    """LEA-11: transitions are kept."""
    before = LeaseRecord(holder="me", duration=15, acquired=EARLIER, transitions=7)

    after = released_record(before, NOON)

    assert (after.holder, after.duration, after.transitions) == ("", 1, 7)
    assert after.acquired == after.renewed == NOON


def test_a_record_is_written_with_microseconds_and_labels_are_merged() -> None:
    """LEA-4: MicroTime, and labels of others stay."""
    lease = lease_of("you")
    lease.metadata.labels = {"theirs": "1", "ours": "old"}

    changed = with_record(lease, next_record(read_record(lease), "me", 15, NOON), {"ours": "new"})

    assert changed.metadata.labels == {"theirs": "1", "ours": "new"}
    assert changed.to_dict()["spec"]["renewTime"] == "2030-01-01T12:00:00.000000Z"
    assert lease.spec.holder_identity == "you"


def test_a_new_lease_starts_with_no_transitions() -> None:
    """LEA-C1: created by us."""
    lease = new_lease("controller", next_record(None, "me", 15, NOON), {"app": "web"})

    assert lease.to_dict() == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "controller", "labels": {"app": "web"}},
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "leaseTransitions": 0,
            "acquireTime": "2030-01-01T12:00:00.000000Z",
            "renewTime": "2030-01-01T12:00:00.000000Z",
        },
    }


def test_a_lease_without_a_spec_has_no_holder() -> None:
    lease = lease_of("")
    lease.spec.holder_identity = None
    lease.spec.lease_duration_seconds = None

    assert read_record(lease) == LeaseRecord(transitions=3)
