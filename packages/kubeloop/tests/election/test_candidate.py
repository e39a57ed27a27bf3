"""Candidates of a coordinated election."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator
from datetime import UTC, timedelta

import msgspec
import pytest

from kubeloop.election import RENEW_INTERVAL, Candidate
from kubeloop.errors import ConnectError, InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.wire import MicroTime
from kubeloop.wire.coordination.v1beta1 import LeaseCandidate
from tests.election.conftest import BackgroundTasks
from tests.election.leases import error_response


class Change(msgspec.Struct, frozen=True):
    type: str
    object: LeaseCandidate


class Candidates:
    """A `LeaseCandidateClient` whose watch reports what the test puts into `changes`."""

    def __init__(self) -> None:
        self.object: LeaseCandidate | None = None
        self.changes: asyncio.Queue[Change] = asyncio.Queue()
        self.requests: list[str] = []
        self.is_down = False

    async def get(self, name: str, /) -> LeaseCandidate:
        self._count("GET")
        if self.object is None:
            raise error_response("GET leasecandidate", "NotFound")
        return copy.deepcopy(self.object)

    async def create(self, candidate: LeaseCandidate, /) -> LeaseCandidate:
        self._count("CREATE")
        self.object = candidate
        return candidate

    async def update(self, candidate: LeaseCandidate, /) -> LeaseCandidate:
        self._count("UPDATE")
        self.object = candidate
        return candidate

    async def watch(self, *, field_selector: str) -> AsyncGenerator[Change, None]:
        self._count(f"WATCH {field_selector}")
        while True:
            yield await self.changes.get()

    def _count(self, what: str) -> None:
        self.requests.append(what)
        if self.is_down:
            raise ConnectError(f"{what}: connection refused")


@pytest.fixture
def candidates() -> Candidates:
    return Candidates()


@pytest.fixture
def candidate(candidates: Candidates, clock: ManualClock) -> Candidate:
    return Candidate(
        candidates,
        "me",
        lease="controller",
        binary_version="1.37.0",
        emulation_version="1.36.0",
        clock=clock,
    )


async def test_a_candidate_is_created_and_renewed_every_five_minutes(
    candidate: Candidate, candidates: Candidates, clock: ManualClock, tasks: BackgroundTasks
) -> None:
    """LEA-20: renewed before the server expires it."""
    tasks.spawn(candidate.run())
    await clock.advance(1)
    assert candidates.object is not None
    assert candidates.object.to_dict() == {
        "apiVersion": "coordination.k8s.io/v1beta1",
        "kind": "LeaseCandidate",
        "metadata": {"name": "me"},
        "spec": {
            "leaseName": "controller",
            "binaryVersion": "1.37.0",
            "emulationVersion": "1.36.0",
            "strategy": "OldestEmulationVersion",
            "renewTime": "2030-01-01T00:00:00.000000Z",
        },
    }

    await clock.advance(RENEW_INTERVAL)

    assert candidates.object.spec.renew_time == MicroTime(2030, 1, 1, 0, 5, tzinfo=UTC)
    assert candidate.stats().renewals == 2
    assert "WATCH metadata.name=me" in candidates.requests


async def test_a_pinged_candidate_is_renewed_at_once(
    candidate: Candidate, candidates: Candidates, clock: ManualClock, tasks: BackgroundTasks
) -> None:
    """LEA-20: when pingTime is later than renewTime, and only then."""
    tasks.spawn(candidate.run())
    await clock.advance(10)
    assert candidates.object is not None
    pinged = copy.deepcopy(candidates.object)
    pinged.spec.ping_time = MicroTime.of(clock.time() - timedelta(seconds=20))
    candidates.changes.put_nowait(Change("MODIFIED", pinged))
    await clock.advance(1)
    assert candidate.stats().renewals == 1

    pinged.spec.ping_time = MicroTime.of(clock.time())
    candidates.changes.put_nowait(Change("MODIFIED", pinged))
    await clock.advance(0)

    assert candidate.stats().renewals == 2


async def test_a_deleted_candidate_is_created_again(
    candidate: Candidate, candidates: Candidates, clock: ManualClock, tasks: BackgroundTasks
) -> None:
    """LEA-20: created if missing."""
    tasks.spawn(candidate.run())
    await clock.advance(1)
    gone, candidates.object = candidates.object, None
    assert gone is not None

    candidates.changes.put_nowait(Change("DELETED", gone))
    await clock.advance(0)

    assert candidates.object is not None


async def test_failures_are_retried_with_growing_delays(
    candidate: Candidate, candidates: Candidates, clock: ManualClock, tasks: BackgroundTasks
) -> None:
    """LEA-20: 5 ms, doubling."""
    candidates.is_down = True
    tasks.spawn(candidate.run())

    await clock.advance(1)
    attempts = candidates.requests.count("GET")
    candidates.is_down = False
    await clock.advance(2)

    assert attempts == 8  # at 0, 5, 15, 35, 75, 155, 315 and 635 ms
    assert candidate.stats().renewals == 1


def test_a_candidate_needs_a_name_and_a_lease(candidates: Candidates) -> None:
    with pytest.raises(InvalidArgument, match="both need a name"):
        Candidate(candidates, "", lease="controller", binary_version="1")
