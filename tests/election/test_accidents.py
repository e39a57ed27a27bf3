"""What no election is made for, and happens: a machine that slept, a lease that was deleted."""

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
from tests.election.conftest import MakeElector, Programs, forever
from tests.election.leases import NAME, Server, Store, lease_of


@final
class SleepyClock:
    """A machine's clock: while it was suspended time went on, and its timers did not."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.sleep, self.timeout = clock.sleep, clock.timeout
        self.slept = 0.0

    def now(self) -> float:
        return self._clock.now() + self.slept

    def time(self) -> datetime:
        return self._clock.time()


async def lead(elector: LeaderElector) -> None:
    async with elector.leadership():
        await forever()


async def test_a_leader_that_slept_through_its_lease_stops_within_a_second(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C14: the clock knows, although no timer has fired."""
    sleepy = SleepyClock(clock)
    elector = elector_of(clock=sleepy)
    task = asyncio.create_task(lead(elector))
    await clock.advance(0.5)

    sleepy.slept = 3600
    assert not elector.is_leader
    server.lease = lease_of("you")
    await clock.advance(1)

    with pytest.raises(LeadershipLost, match="not renewed within 10 s"):
        await task
    assert server.spec.holder_identity == "you"


async def test_a_leader_that_slept_briefly_goes_on(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector
) -> None:
    sleepy = SleepyClock(clock)
    elector = elector_of(clock=sleepy)
    tasks.spawn(lead(elector))
    await clock.advance(0.5)

    sleepy.slept = 7
    await clock.advance(30)

    assert elector.is_leader


async def test_a_candidate_that_slept_does_not_take_a_lease_that_was_renewed(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector, server: Server
) -> None:
    """LEA-7: what it saw before is old, but what it reads now is new."""
    sleepy = SleepyClock(clock)
    server.lease = lease_of("you")
    elector = elector_of(clock=sleepy)
    tasks.spawn(lead(elector))
    await clock.advance(1)

    sleepy.slept = 3600
    server.touch(_renewed)
    await clock.advance(14)

    assert server.spec.holder_identity == "you"
    assert not elector.is_leader


async def test_a_lease_that_was_deleted_is_made_again_by_its_leader(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector, server: Server, store: Store
) -> None:
    elector = elector_of()
    tasks.spawn(lead(elector))
    await clock.advance(1)

    server.lease = None
    store.requests.clear()
    await clock.advance(2)

    assert elector.is_leader
    assert server.spec.holder_identity == "me"
    assert store.requests == ["UPDATE", "GET", "CREATE"]


async def test_a_lease_that_was_deleted_and_made_by_another_is_lost(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    elector = elector_of()
    task = asyncio.create_task(lead(elector))
    await clock.advance(1)

    server.lease = lease_of("you")
    await clock.advance(1.1)

    with pytest.raises(LeadershipLost, match="the lease names you"):
        await task
    assert server.spec.holder_identity == "you"


@pytest.mark.parametrize(
    "spec", [LeaseSpec(), LeaseSpec(holder_identity="you"), LeaseSpec(lease_duration_seconds=-5)]
)
async def test_a_lease_that_says_nothing_binds_nobody(
    clock: ManualClock,
    tasks: Programs,
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


async def test_a_lease_without_a_spec_is_taken(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector, server: Server
) -> None:
    server.lease = Lease.from_dict({"metadata": {"name": NAME, "resourceVersion": "1"}})
    elector = elector_of()

    tasks.spawn(lead(elector))
    await clock.advance(0.1)

    assert elector.is_leader
    assert server.spec.holder_identity == "me"


async def in_vain(leader: str = "") -> None:
    """Nobody would await this."""


async def test_functions_that_nobody_would_await_are_refused(elector_of: MakeElector) -> None:
    with pytest.raises(InvalidArgument, match="an observer is to be a plain function"):
        elector_of(observers=[in_vain])
    with pytest.raises(InvalidArgument, match="on_stopped is to be a plain function"):
        await elector_of().run(forever, on_stopped=in_vain)


def _renewed(lease: Lease) -> None:
    lease.spec.lease_transitions = (lease.spec.lease_transitions or 0) + 1


class BrokenMetrics:
    """Whatever is reported fails."""

    def leading(self, name: str, *, leads: bool) -> None:
        raise OSError(f"{name} {leads}: the disk is full")

    def slow_path(self, name: str) -> None:
        raise OSError(f"{name}: the disk is full")


async def test_metrics_that_fail_cost_neither_the_lease_nor_a_renewal(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector, server: Server
) -> None:
    elector = elector_of(metrics=BrokenMetrics())
    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)

    for _ in range(20):  # somebody annotates the lease: every renewal has to read it first
        server.touch(lambda lease: lease.metadata.annotations.update(note=str(clock.now())))
        await clock.advance(2)

    assert elector.is_leader
    assert elector.stats().lock.slow_renewals >= 19
