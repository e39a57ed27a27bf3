"""The end of leadership: order, release, callbacks, events, metrics, health."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import prometheus_client
import pytest

from kubeloop.election import (
    ELECTION_METRIC_NAMES,
    ElectionHealth,
    LeaderElector,
    LeadershipLost,
    LeaseNotRenewed,
    PrometheusElectionMetrics,
)
from kubeloop.kit import ManualClock
from kubeloop.wire.coordination.v1 import Lease
from tests.election.conftest import BackgroundTasks, MakeElector, forever
from tests.election.leases import FakeLeases, NetworkFaults, Server, lease_of


class RecordedLines:
    """A recorder that keeps lines, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def event(self, about: Lease, kind: str, reason: str, message: str, /) -> None:
        self.lines.append(f"{about.kind} {about.metadata.name}: {kind} {reason} {message}")


# --- the release


async def test_the_lease_is_released_after_the_work(
    elector_of: MakeElector, server: Server, leases: FakeLeases
) -> None:
    """LEA-11: read again, then written without a holder."""
    server.lease = lease_of("")
    async with elector_of().leadership():
        leases.requests.clear()

    assert leases.requests == ["GET", "UPDATE"]
    assert (server.spec.holder_identity, server.spec.lease_duration_seconds) == ("", 1)
    assert server.spec.lease_transitions == 4
    assert server.spec.acquire_time == server.spec.renew_time


async def test_without_release_the_lease_expires(elector_of: MakeElector, server: Server) -> None:
    """LEA-11: releasing is optional."""
    async with elector_of(release=False).leadership():
        pass

    assert server.spec.holder_identity == "me"


async def test_the_work_has_ended_before_the_lease_is_released(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-12, needs 39: also when the work takes its time to end; no other candidate leads meanwhile."""
    holders = []

    async def work() -> None:
        try:
            await forever()
        finally:
            await clock.sleep(3)
            holders.append(server.spec.holder_identity)

    task = asyncio.create_task(elector_of().run(work))
    await clock.advance(5)
    task.cancel()
    await clock.advance(4)

    assert holders == ["me"]
    assert server.spec.holder_identity == ""
    assert task.cancelled()


async def test_a_conflict_on_release_is_retried(
    elector_of: MakeElector, server: Server, clock: ManualClock, leases: FakeLeases
) -> None:
    """LEA-C9: with the version that is read again."""
    async with asyncio.timeout(5):
        async with elector_of().leadership():
            leases.faults = NetworkFaults(slow_back=0.5)
            task = asyncio.create_task(_disturb(clock, server))
        assert await task == ["me"]

    assert server.spec.holder_identity == ""
    assert leases.requests[-4:] == ["GET", "UPDATE", "GET", "UPDATE"]


async def _disturb(clock: ManualClock, server: Server) -> list[str | None]:
    """Touch the lease while the release has read it and not yet written it."""
    await clock.advance(0.2)
    holders = [server.spec.holder_identity]
    server.touch(lambda lease: lease.metadata.annotations.update(touched="yes"))
    await clock.advance(5)
    return holders


async def test_a_lease_that_another_has_acquired_is_not_released(
    elector_of: MakeElector, server: Server, leases: FakeLeases
) -> None:
    """V-14, LEA-C10: the lease is read first, and its current holder counts."""
    async with elector_of().leadership():
        server.touch(_held_by_you)
        leases.requests.clear()

    assert leases.requests == ["GET"]
    assert server.spec.holder_identity == "you"


async def test_a_lease_that_another_is_known_to_hold_is_not_even_read(
    clock: ManualClock, elector_of: MakeElector, server: Server, leases: FakeLeases
) -> None:
    """LEA-C10: we last observed another holder, so nothing is written."""
    server.lease = lease_of("you")
    task = asyncio.create_task(elector_of().run(forever))
    await clock.advance(1)
    leases.requests.clear()

    task.cancel()
    await asyncio.wait([task])

    assert leases.requests == []


async def test_a_lease_that_may_have_been_acquired_is_released(
    clock: ManualClock, elector_of: MakeElector, server: Server, leases: FakeLeases
) -> None:
    """LEA-11: cancelled before the response arrived."""
    leases.faults = NetworkFaults(slow_back=1)
    task = asyncio.create_task(elector_of().run(forever))
    await clock.advance(1.5)
    assert server.spec.holder_identity == "me"

    task.cancel()
    await clock.advance(5)

    assert server.spec.holder_identity == ""


async def test_a_release_takes_no_longer_than_the_renew_deadline(
    clock: ManualClock, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-11, X-7: a server that never responds delays nothing."""
    task = asyncio.create_task(elector_of().run(forever))
    await clock.advance(1)
    leases.faults.slow_there = 1000

    task.cancel()
    await clock.advance(10)

    assert task.cancelled()


# --- the work


async def test_work_that_fails_ends_leadership_and_its_error_is_raised(
    elector_of: MakeElector, server: Server
) -> None:
    """needs 39: leadership ends with the work."""
    with pytest.raises(ZeroDivisionError):
        async with elector_of().leadership():
            _ = 1 / 0

    assert server.spec.holder_identity == ""


async def test_the_order_at_the_end_is_work_release_stopped(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-12, LEA-13, V-14: start, new leader, the work's end, stopped; once each."""
    recorder = RecordedLines()

    async def work() -> None:
        recorder.lines.append("start")
        try:
            await forever()
        finally:
            recorder.lines.append("work ended")

    elector = elector_of(observers=[lambda who: recorder.lines.append(f"leader {who!r}")])
    task = asyncio.create_task(
        elector.run(work, on_stopped=lambda: recorder.lines.append("stopped"))
    )
    await clock.advance(5)
    task.cancel()
    await clock.advance(0)

    assert recorder.lines == ["start", "leader 'me'", "work ended", "leader ''", "stopped"]


async def test_on_stopped_is_called_once_even_if_we_never_led(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C8, LEA-12: cancelled as a candidate."""
    server.lease = lease_of("you")
    calls: list[str] = []

    async def work() -> None:
        calls.append("start")

    task = asyncio.create_task(elector_of().run(work, on_stopped=lambda: calls.append("stop")))
    await clock.advance(1)
    task.cancel()
    await clock.advance(0)

    assert calls == ["stop"]
    assert task.cancelled()


async def test_run_returns_after_losing_and_does_not_lead_again_by_itself(
    clock: ManualClock,
    elector_of: MakeElector,
    leases: FakeLeases,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """LEA-14, LEA-C7: one call is one term."""
    calls: list[str] = []
    task = asyncio.create_task(elector_of().run(forever, on_stopped=lambda: calls.append("stop")))
    await clock.advance(1)
    leases.faults.is_cut = True

    await clock.advance(11)

    assert (task.done(), task.exception(), calls) == (True, None, ["stop"])
    assert "leadership lost" in caplog.text


async def test_a_candidate_that_lost_leadership_can_try_again(
    clock: ManualClock, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-14: with the same elector."""
    elector = elector_of()
    task = asyncio.create_task(elector.run(forever))
    await clock.advance(1)
    leases.faults.is_cut = True
    await clock.advance(11)
    await task
    leases.faults.is_cut = False

    async with elector.leadership():
        assert elector.is_leader


async def test_hard_exit_is_called_if_the_work_does_not_end(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """needs 39: two would lead when shutting down outlasts the lease."""
    exits: list[float] = []

    async def stubborn() -> None:
        try:
            await forever()
        finally:
            await clock.sleep(60)

    elector = elector_of(hard_exit=lambda: exits.append(clock.now()))
    task = asyncio.create_task(elector.run(stubborn))
    await clock.advance(1)
    leases.faults.is_cut = True

    await clock.advance(80)

    assert exits == [12.5]  # the term ended at 10, the lease at 15
    await task


# --- callbacks, events, metrics, health


async def test_observers_are_called_with_every_new_leader_and_their_errors_are_contained(
    clock: ManualClock, tasks: BackgroundTasks, elector_of: MakeElector, server: Server
) -> None:
    """LEA-13: including the first one seen and this one."""
    server.lease = lease_of("you")
    seen: list[str] = []

    def broken(who: str) -> None:
        raise ValueError(who)

    elector = elector_of(observers=[broken, seen.append])
    tasks.spawn(elector.run(forever), name="me")
    await clock.advance(20)

    assert seen == ["you", "me"]


async def test_the_lease_gets_events(elector_of: MakeElector) -> None:
    """LEA-15: at the begin and at the end of a term."""
    recorder = RecordedLines()

    async with elector_of(events=recorder).leadership():
        pass

    assert recorder.lines == [
        "Lease controller: Normal LeaderElection me became leader",
        "Lease controller: Normal LeaderElection me stopped leading",
    ]


async def test_errors_of_the_recorder_are_contained(elector_of: MakeElector) -> None:
    class Broken:
        def event(self, *_: Any) -> None:
            raise OSError("disk full")

    async with elector_of(events=Broken()).leadership() as leadership:
        leadership.ensure()


async def test_metrics_carry_the_names_of_client_go(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-18: 0 at creation, 1 while leading, and renewals that needed a read."""
    registry = prometheus_client.CollectorRegistry()
    elector = elector_of(metrics=PrometheusElectionMetrics(registry))

    def value(name: str) -> float | None:
        return registry.get_sample_value(name, {"name": "controller"})

    status, slow = ELECTION_METRIC_NAMES
    assert value(status) == 0
    async with elector.leadership():
        assert (value(status), value(slow)) == (1, None)
        server.touch(lambda lease: lease.metadata.annotations.update(note="hello"))
        await clock.advance(2)
        assert value(slow) == 1
    assert value(status) == 0


async def test_health_fails_when_a_leader_continues_after_its_lease(
    clock: ManualClock, elector_of: MakeElector, leases: FakeLeases
) -> None:
    """LEA-17: with a tolerance; passes before an elector is attached."""
    health = ElectionHealth(tolerance=3)
    health.check()
    elector = elector_of()
    health.attach(elector)
    health.check()

    async def stubborn() -> None:
        try:
            await forever()
        finally:
            await clock.sleep(60)

    task = asyncio.create_task(elector.run(stubborn))
    await clock.advance(1)
    leases.faults.is_cut = True
    await clock.advance(16.9)
    health.check()
    await clock.advance(0.2)

    with pytest.raises(LeaseNotRenewed, match=r"expired 3\.1 s ago"):
        health.check()
    await clock.advance(60)
    health.check()
    await task


# --- coordinated elections


async def test_a_coordinated_candidate_leads_only_if_it_is_assigned_the_lease(
    clock: ManualClock,
    tasks: BackgroundTasks,
    elector_of: MakeElector,
    server: Server,
    leases: FakeLeases,
) -> None:
    """LEA-19: it neither creates nor acquires one."""
    elector = elector_of(coordinated=True)
    tasks.spawn(elector.run(forever), name="me")
    await clock.advance(10)
    server.lease = lease_of("", strategy="OldestEmulationVersion")
    await clock.advance(40)
    assert set(leases.requests) == {"GET"}

    server.touch(_held_by_me)
    await clock.advance(2)

    assert elector.is_leader
    assert server.spec.strategy == "OldestEmulationVersion"
    assert server.spec.lease_transitions == 3


async def test_a_coordinated_leader_stops_when_another_is_preferred(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C13, LEA-19: with the next renewal."""
    server.lease = lease_of("me", strategy="OldestEmulationVersion")
    elector = elector_of(coordinated=True, release=False)
    task = asyncio.create_task(_lead_forever(elector))
    await clock.advance(6)
    assert elector.is_leader
    renewed = server.spec.renew_time

    server.touch(lambda lease: setattr(lease.spec, "preferred_holder", "you"))
    await clock.advance(2)

    with pytest.raises(LeadershipLost, match="prefers you"):
        await task
    assert (server.spec.holder_identity, server.spec.renew_time) == ("me", renewed)


async def test_a_coordinated_lease_that_was_emptied_is_lost(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-19: we must be the holder."""
    server.lease = lease_of("me", strategy="OldestEmulationVersion")
    task = asyncio.create_task(_lead_forever(elector_of(coordinated=True)))
    await clock.advance(1)

    server.touch(lambda lease: setattr(lease.spec, "holder_identity", ""))
    await clock.advance(1)

    with pytest.raises(LeadershipLost, match="has no holder"):
        await task


async def _lead_forever(elector: LeaderElector) -> None:
    async with elector.leadership():
        await forever()


def _held_by_you(lease: Lease) -> None:
    lease.spec.holder_identity = "you"


def _held_by_me(lease: Lease) -> None:
    lease.spec.holder_identity = "me"


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kubeloop.election")
