"""Acquiring a lease, renewing it, losing it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kubeloop.election import (
    ElectionTimes,
    Idle,
    LeaderElector,
    Leadership,
    LeadershipLost,
    Leading,
    Standby,
)
from kubeloop.kit import ManualClock
from kubeloop.wire import MicroTime
from kubeloop.wire.coordination.v1 import Lease
from tests.election.conftest import BackgroundTasks, MakeElector, forever
from tests.election.leases import FakeLeases, NetworkFaults, Server, lease_of


async def lead(elector: LeaderElector) -> None:
    """The usual program: lead once."""
    await elector.run(forever)


# --- acquiring


async def test_a_missing_lease_is_created(
    server: Server, elector_of: MakeElector, clock: ManualClock
) -> None:
    """LEA-C1, LEA-6: transitions are 0."""
    async with elector_of(labels={"app": "web"}).leadership() as leadership:
        assert server.spec.holder_identity == "me"
        assert (server.spec.lease_transitions, leadership.transitions) == (0, 0)
        assert server.spec.lease_duration_seconds == 15
        assert server.lease is not None
        assert server.lease.metadata.labels == {"app": "web"}
        assert server.log == ["GET", "CREATE"]


async def test_a_candidate_tries_at_once_and_then_at_jittered_intervals(
    clock: ManualClock,
    tasks: BackgroundTasks,
    elector_of: MakeElector,
    leases: FakeLeases,
    server: Server,
) -> None:
    """LEA-5: 1.0 to 2.2 retry periods apart."""
    server.lease = lease_of("you", duration=1000)
    tasks.spawn(lead(elector_of(random=lambda: 0.5)), name="me")
    moments = []

    for _ in range(100):
        before = len(leases.requests)
        await clock.advance(0.1)
        moments += [clock.now()] * (len(leases.requests) - before)

    assert moments == pytest.approx([0.1, 3.2, 6.4, 9.6])


async def test_a_lease_is_acquired_only_after_its_holder_stops_renewing(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C2, LEA-7: after its own duration since the last change that we observed."""
    server.lease = lease_of("you", duration=6)
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    for second in range(20):
        await clock.advance(2)
        server.touch(_renew_at(second))
        assert elector.leader == "you"

    await clock.advance(5.9)
    assert elector.remaining() == 0
    await clock.advance(2.2)

    assert elector.is_leader
    assert server.spec.lease_transitions == 4


async def test_an_old_lease_is_waited_for_like_any_other(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C3: its times are ignored."""
    long_ago = MicroTime(1999, 1, 1, tzinfo=UTC)
    server.lease = lease_of("you", renew_time=long_ago, acquire_time=long_ago)
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")

    await clock.advance(14)
    assert elector.remaining() == 0
    await clock.advance(2)

    assert elector.is_leader


async def test_our_own_lease_is_acquired_at_once_after_a_restart(
    elector_of: MakeElector, server: Server
) -> None:
    """LEA-C4: neither transitions nor acquireTime change."""
    before = MicroTime(2029, 1, 1, tzinfo=UTC)
    server.lease = lease_of("me", acquire_time=before)

    async with elector_of().leadership():
        assert server.spec.lease_transitions == 3
        assert server.spec.acquire_time == before
        assert server.spec.renew_time == datetime(2030, 1, 1, tzinfo=UTC)


async def test_a_released_lease_is_acquired_at_the_next_attempt(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C5, LEA-8: one transition more."""
    server.lease = lease_of("you")
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)

    server.touch(_held_by(""))
    await clock.advance(1)

    assert elector.is_leader
    assert server.spec.lease_transitions == 4


async def test_of_two_candidates_that_acquire_a_lease_at_once_one_fails(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-9: the version that was read is written back."""
    server.lease = lease_of("")
    clients = [FakeLeases(server, clock), FakeLeases(server, clock)]
    for each in clients:
        each.faults = NetworkFaults(slow_back=0.1)
    electors = [elector_of(identity=f"e{n}", leases=each) for n, each in enumerate(clients)]
    for elector in electors:
        tasks.spawn(lead(elector), name=repr(elector))

    await clock.advance(1)

    assert [elector.is_leader for elector in electors] == [True, False]
    assert "Conflict" in electors[1].stats().lock.last_error


@pytest.mark.parametrize("reason", ["Forbidden", "InternalError"])
async def test_reading_the_lease_is_retried(
    clock: ManualClock,
    tasks: BackgroundTasks,
    elector_of: MakeElector,
    leases: FakeLeases,
    reason: str,
) -> None:
    """LEA-6: another error than NotFound is a failed attempt, and creates no lease."""
    leases.faults.fails_with = reason
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)
    assert leases.requests == ["GET"]

    leases.faults.fails_with = ""
    await clock.advance(1)

    assert elector.is_leader


# --- renewing


async def test_steady_renewal_is_one_update_and_no_read(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-C6, LEA-10: every retry period."""
    tasks.spawn(lead(elector_of()), name="me")
    await clock.advance(0)
    leases.requests.clear()

    await clock.advance(8)

    assert leases.requests == ["UPDATE"] * 4


async def test_after_a_conflict_the_lease_is_read_and_written(
    clock: ManualClock,
    tasks: BackgroundTasks,
    elector_of: MakeElector,
    leases: FakeLeases,
    server: Server,
) -> None:
    """LEA-C6, LEA-9: our lease was changed, and we still hold it."""
    tasks.spawn(lead(elector_of()), name="me")
    await clock.advance(0)
    leases.requests.clear()

    server.touch(lambda lease: lease.metadata.annotations.update(note="hello"))
    await clock.advance(4)

    assert leases.requests == ["UPDATE", "GET", "UPDATE", "UPDATE"]


async def test_leadership_survives_an_outage_shorter_than_the_renew_deadline(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-C7: renewals succeed again in time."""
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    await clock.advance(2)

    leases.faults.is_cut = True
    await clock.advance(7.5)
    assert elector.is_leader
    leases.faults.is_cut = False
    await clock.advance(20)

    assert elector.is_leader


async def test_attempts_follow_more_closely_towards_the_deadline(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-C7: with attempts every 2 s, one at 8 s would have been the last."""
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    await clock.advance(2)

    leases.faults.is_cut = True
    await clock.advance(9.7)
    leases.faults.is_cut = False
    await clock.advance(20)

    assert elector.is_leader


async def test_a_longer_outage_ends_leadership_one_renew_deadline_after_the_last_renewal(
    clock: ManualClock, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-C7, LEA-10, LEA-14: the block is cancelled, and the elector makes no further attempt."""
    elector = elector_of()
    cancelled_at = []

    async def work() -> None:
        try:
            await forever()
        finally:
            cancelled_at.append(clock.now())

    async def program() -> None:
        async with elector.leadership():
            await work()

    task = asyncio.create_task(program())
    await clock.advance(2)
    leases.faults.is_cut = True
    await clock.advance(20)

    with pytest.raises(LeadershipLost, match=r"not renewed within 10 s, last error: .*refused"):
        await task
    assert cancelled_at == pytest.approx([12.0], abs=1e-3)
    assert elector.stats().state == Idle()


async def test_a_request_that_hangs_does_not_delay_the_end_of_the_term(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """needs 39: each request has a deadline, and the term has its own."""
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)
    leases.faults.slow_there = 1000

    await clock.advance(8.9)
    assert elector.remaining() > 0
    await clock.advance(0.2)

    assert elector.remaining() == 0
    assert elector.stats().lock.failures == 1  # 5 s, and what was left of the term for the next


async def test_a_renewal_with_a_late_response_counts_from_when_it_was_sent(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """X-5: others count from when the server had it, which may be long before the response."""
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)

    leases.faults.slow_back = 4
    await clock.advance(5.5)

    state = elector.stats().state
    assert isinstance(state, Leading)
    assert (state.until, state.expires) == (12.0, 17.0)


async def test_a_leader_that_observes_another_holder_stops_at_once(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-10: no need to wait for the deadline."""
    elector = elector_of()
    task = asyncio.create_task(_lead_forever(elector))
    await clock.advance(1)

    server.touch(_held_by("you"))
    await clock.advance(1.1)

    with pytest.raises(LeadershipLost, match="the holder of the lease is you"):
        await task
    assert server.spec.holder_identity == "you"


async def test_after_a_lost_response_the_lease_is_read_again(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-6: the renewal had arrived, so the next one conflicts, reads and renews."""
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)
    leases.faults.loses_responses = True
    await clock.advance(1.5)
    leases.faults.loses_responses = False
    leases.requests.clear()

    await clock.advance(2)

    assert leases.requests == ["UPDATE", "GET", "UPDATE"]
    assert elector.is_leader


async def test_changes_of_the_wall_clock_do_not_matter(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C14, LEA-7: only the monotonic clock counts."""
    elector = elector_of()
    tasks.spawn(lead(elector), name="me")
    other = elector_of(identity="you", leases=FakeLeases(server, clock))
    tasks.spawn(lead(other), name="you")

    for jump in (-86_400, 172_800, -3600, 0.5):
        clock.jump_wall(jump)
        await clock.advance(10)
        assert (elector.is_leader, other.is_leader) == (True, False)


async def test_short_leases_are_renewed_in_time(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C12: written as one second, and renewed within that."""
    times = ElectionTimes(lease_duration=1.5, renew_deadline=1.2, retry_period=0.2)
    elector = elector_of(times=times)
    tasks.spawn(lead(elector), name="me")

    await clock.advance(10)

    assert elector.is_leader
    assert server.spec.lease_duration_seconds == 1


# --- state


async def test_an_elector_reports_its_state(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-16: is_leader and leader, as last observed; empty at first."""
    server.lease = lease_of("you")
    elector = elector_of()
    assert (elector.leader, elector.is_leader, elector.stats().state) == ("", False, Idle())

    tasks.spawn(lead(elector), name="me")
    await clock.advance(1)
    assert (elector.leader, elector.is_leader, elector.stats().state) == ("you", False, Standby())
    server.touch(_held_by(""))
    await clock.advance(1)

    assert (elector.leader, elector.is_leader) == ("me", True)
    assert elector.stats().state == Leading(until=12.0, expires=17.0, transitions=4)


async def test_the_work_can_check_that_it_still_leads(
    clock: ManualClock, elector_of: MakeElector
) -> None:
    """needs 39: also in a process that was stopped."""
    given: list[Leadership] = []
    elector = elector_of()
    async with elector.leadership() as leadership:
        given.append(leadership)
        leadership.ensure()
        assert leadership.remaining() == 10.0

    with pytest.raises(LeadershipLost, match="stop the work"):
        given[0].ensure()


async def test_one_elector_leads_once_at_a_time(elector_of: MakeElector) -> None:
    elector = elector_of()
    async with elector.leadership():
        with pytest.raises(RuntimeError, match="one leadership at a time"):
            async with elector.leadership():
                pass

    async with elector.leadership():
        assert elector.is_leader


async def _lead_forever(elector: LeaderElector) -> None:
    async with elector.leadership():
        await forever()


def _held_by(holder: str) -> Callable[[Lease], None]:
    def change(lease: Lease) -> None:
        lease.spec.holder_identity = holder

    return change


def _renew_at(second: int) -> Callable[[Lease], None]:
    def change(lease: Lease) -> None:
        lease.spec.renew_time = MicroTime(2031, 1, 1, second=second, tzinfo=UTC)

    return change
