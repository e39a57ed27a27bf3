"""Accidents: a suspended machine, a deleted lease, callbacks and metrics that fail."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import final

import pytest

from kubeloop.election import LeaderElector, LeadershipLost
from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.wire.coordination.v1 import Lease, LeaseSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.election.conftest import BackgroundTasks, MakeElector, forever
from tests.election.leases import NAME, FakeLeases, Server, lease_of


@final
class SuspendedClock:
    """The clock of a suspended machine: time passed, and its timers did not run."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.sleep, self.timeout = clock.sleep, clock.timeout
        self.suspended_for = 0.0

    def now(self) -> float:
        return self._clock.now() + self.suspended_for

    def time(self) -> datetime:
        return self._clock.time()


async def lead(elector: LeaderElector) -> None:
    async with elector.leadership():
        await forever()


async def test_a_leader_suspended_for_longer_than_its_lease_stops_within_a_second(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C14: the clock shows it, although no timer has fired."""
    suspended = SuspendedClock(clock)
    elector = elector_of(clock=suspended)
    task = asyncio.create_task(lead(elector))
    await clock.advance(0.5)

    suspended.suspended_for = 3600
    assert not elector.is_leader
    server.lease = lease_of("you")
    await clock.advance(1)

    with pytest.raises(LeadershipLost, match="not renewed within 10 s"):
        await task
    assert server.spec.holder_identity == "you"


@pytest.mark.parametrize("check_after", [0.5, 1.0, 1.5])
async def test_work_that_checks_its_leadership_after_a_suspension_raises_one_error(
    clock: ManualClock, elector_of: MakeElector, check_after: float
) -> None:
    """LEA-C14: `ensure()` and the elector find out at the same moment, or one after the other."""
    suspended = SuspendedClock(clock)
    elector = elector_of(clock=suspended)

    async def lead_and_check() -> None:
        async with elector.leadership() as leadership:
            try:
                await clock.sleep(check_after)
            finally:
                leadership.ensure()

    task = asyncio.create_task(lead_and_check())
    await clock.advance(0)
    suspended.suspended_for = 3600
    await clock.advance(2)

    with pytest.raises(LeadershipLost):
        await task


async def test_a_leader_suspended_briefly_continues(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector
) -> None:
    suspended = SuspendedClock(clock)
    elector = elector_of(clock=suspended)
    tasks.spawn(lead(elector))
    await clock.advance(0.5)

    suspended.suspended_for = 7
    await clock.advance(30)

    assert elector.is_leader


async def test_a_suspended_candidate_does_not_acquire_a_lease_that_was_renewed(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-7: what it observed before is old, but what it reads now is new."""
    suspended = SuspendedClock(clock)
    server.lease = lease_of("you")
    elector = elector_of(clock=suspended)
    tasks.spawn(lead(elector))
    await clock.advance(1)

    suspended.suspended_for = 3600
    server.touch(_renew)
    await clock.advance(14)

    assert server.spec.holder_identity == "you"
    assert not elector.is_leader


async def test_a_deleted_lease_is_created_again_by_its_leader(
    clock: ManualClock,
    tasks: BackgroundTasks,
    elector_of: MakeElector,
    server: Server,
    leases: FakeLeases,
) -> None:
    elector = elector_of()
    tasks.spawn(lead(elector))
    await clock.advance(1)

    server.lease = None
    leases.requests.clear()
    await clock.advance(2)

    assert elector.is_leader
    assert server.spec.holder_identity == "me"
    assert leases.requests == ["UPDATE", "GET", "CREATE"]


async def test_a_lease_that_another_created_again_is_lost(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    elector = elector_of()
    task = asyncio.create_task(lead(elector))
    await clock.advance(1)

    server.lease = lease_of("you")
    await clock.advance(1.1)

    with pytest.raises(LeadershipLost, match="the holder of the lease is you"):
        await task
    assert server.spec.holder_identity == "you"


@pytest.mark.parametrize(
    "spec", [LeaseSpec(), LeaseSpec(holder_identity="you"), LeaseSpec(lease_duration_seconds=-5)]
)
async def test_an_incomplete_lease_is_available(
    clock: ManualClock,
    tasks: BackgroundTasks,
    elector_of: MakeElector,
    server: Server,
    spec: LeaseSpec,
) -> None:
    """LEA-6: without a duration there is nothing to wait for."""
    metadata = ObjectMeta(name=NAME, namespace="shop", resource_version="1")
    server.lease = Lease(metadata=metadata, spec=spec)
    elector = elector_of()

    tasks.spawn(lead(elector))
    await clock.advance(0.1)

    assert elector.is_leader
    assert server.spec.lease_duration_seconds == 15


async def test_a_lease_without_a_spec_is_acquired(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    server.lease = Lease.from_dict({"metadata": {"name": NAME, "resourceVersion": "1"}})
    elector = elector_of()

    tasks.spawn(lead(elector))
    await clock.advance(0.1)

    assert elector.is_leader
    assert server.spec.holder_identity == "me"


async def async_callback(leader: str = "") -> None:
    """Would never be awaited."""


async def test_async_callbacks_are_rejected(elector_of: MakeElector) -> None:
    with pytest.raises(InvalidArgument, match="an observer must be a plain function"):
        elector_of(observers=[async_callback])
    with pytest.raises(InvalidArgument, match="on_stopped must be a plain function"):
        await elector_of().run(forever, on_stopped=async_callback)


def _renew(lease: Lease) -> None:
    lease.spec.lease_transitions = (lease.spec.lease_transitions or 0) + 1


class BrokenMetrics:
    """Every report fails."""

    def set_leading(self, name: str, *, is_leader: bool) -> None:
        raise OSError(f"{name} {is_leader}: the disk is full")

    def count_slow_renewal(self, name: str) -> None:
        raise OSError(f"{name}: the disk is full")


async def test_metrics_that_fail_cost_neither_the_lease_nor_a_renewal(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    elector = elector_of(metrics=BrokenMetrics())
    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)

    for _ in range(20):  # annotating the lease: every renewal has to read it first
        server.touch(lambda lease: lease.metadata.annotations.update(note=str(clock.now())))
        await clock.advance(2)

    assert elector.is_leader
    assert elector.stats().lock.slow_renewals >= 19
