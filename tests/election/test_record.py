"""What a lease says, and who may take it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kubeloop.election import (
    Claim,
    EndOfTerm,
    Free,
    LeaseRecord,
    Ours,
    Seen,
    Taken,
    claim_on,
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
    ("holder", "now", "claim"),
    [
        pytest.param("you", 14.9, Taken("you"), id="LEA-6 another's and valid"),
        pytest.param("you", 15.0, Free(), id="LEA-C2 another's and run out"),
        pytest.param("", 0.0, Free(), id="LEA-8 nobody's"),
        pytest.param("me", 0.0, Ours(), id="LEA-C4 ours"),
        pytest.param("me", 99.0, Ours(), id="LEA-6 ours and run out"),
    ],
)
def test_a_lease_is_taken_when_nobody_holds_it_any_more(
    holder: str, now: float, claim: Claim
) -> None:
    seen = Seen(LeaseRecord(holder=holder, duration=15), at=0.0)

    assert claim_on(seen, "me", now) == claim


@pytest.mark.parametrize(
    ("holder", "preferred", "now", "claim"),
    [
        pytest.param("me", "", 1.0, Ours(), id="LEA-19 given to us"),
        pytest.param("me", "you", 1.0, EndOfTerm("you"), id="LEA-C13 another is preferred"),
        pytest.param("me", "", 15.0, Taken("me"), id="LEA-19 run out"),
        pytest.param("you", "", 99.0, Taken("you"), id="LEA-19 never taken"),
        pytest.param("", "", 0.0, Taken(""), id="LEA-19 not even from nobody"),
    ],
)
def test_a_coordinated_lease_is_only_ever_given(
    holder: str, preferred: str, now: float, claim: Claim
) -> None:
    record = LeaseRecord(holder=holder, duration=15, preferred_holder=preferred)

    assert claim_on(Seen(record, at=0.0), "me", now, coordinated=True) == claim


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
    """LEA-7, LEA-C3, LEA-C14: whatever the lease says of moments."""
    record = LeaseRecord(holder=holder, duration=duration, renewed=MicroTime.of(renewed))

    claim = claim_on(Seen(record, at), "me", at + later)

    assert (claim == Free()) == (at + duration <= at + later)


def test_a_renewal_keeps_who_acquired_when_and_how_often_it_changed() -> None:
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


def test_a_takeover_counts_one_transition_more() -> None:
    """LEA-C2, LEA-C5."""
    before = LeaseRecord(holder="you", duration=3, acquired=EARLIER, transitions=7)

    after = next_record(before, "me", 15, NOON)

    assert (after.holder, after.transitions) == ("me", 8)
    assert after.acquired == after.renewed == NOON


def test_a_renewal_in_the_same_microsecond_still_changes_the_lease() -> None:
    before = LeaseRecord(holder="me", duration=15, renewed=MicroTime.of(NOON))

    assert next_record(before, "me", 15, NOON) != before


def test_a_released_lease_names_nobody_for_a_second() -> None:
    """LEA-11: transitions are kept."""
    before = LeaseRecord(holder="me", duration=15, acquired=EARLIER, transitions=7)

    after = released_record(before, NOON)

    assert (after.holder, after.duration, after.transitions) == ("", 1, 7)
    assert after.acquired == after.renewed == NOON


def test_a_record_is_written_with_microseconds_beside_labels_that_stay() -> None:
    """LEA-4."""
    lease = lease_of("you")
    lease.metadata.labels = {"theirs": "1", "ours": "old"}

    made = with_record(lease, next_record(read_record(lease), "me", 15, NOON), {"ours": "new"})

    assert made.metadata.labels == {"theirs": "1", "ours": "new"}
    assert made.to_dict()["spec"]["renewTime"] == "2030-01-01T12:00:00.000000Z"
    assert lease.spec.holder_identity == "you"


def test_a_new_lease_starts_with_no_transitions() -> None:
    """LEA-C1."""
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


def test_a_lease_without_a_spec_is_nobodys() -> None:
    lease = lease_of("")
    lease.spec.holder_identity = None
    lease.spec.lease_duration_seconds = None

    assert read_record(lease) == LeaseRecord(transitions=3)
