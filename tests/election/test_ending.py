"""How leadership ends: the order of things, the release, who is told."""

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
from tests.election.conftest import MakeElector, Programs, forever
from tests.election.leases import Server, Store, Weather, lease_of


class Diary:
    """What happened, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def event(self, about: Lease, kind: str, reason: str, message: str, /) -> None:
        self.lines.append(f"{about.kind} {about.metadata.name}: {kind} {reason} {message}")


# --- the release


async def test_the_lease_is_given_back_after_the_work(
    elector_of: MakeElector, server: Server, store: Store
) -> None:
    """LEA-11: read again, then written with nobody in it."""
    server.lease = lease_of("")
    async with elector_of().leadership():
        store.requests.clear()

    assert store.requests == ["GET", "UPDATE"]
    assert (server.spec.holder_identity, server.spec.lease_duration_seconds) == ("", 1)
    assert server.spec.lease_transitions == 4
    assert server.spec.acquire_time == server.spec.renew_time


async def test_without_release_the_lease_is_left_to_run_out(
    elector_of: MakeElector, server: Server
) -> None:
    """LEA-11."""
    async with elector_of(release=False).leadership():
        pass

    assert server.spec.holder_identity == "me"


async def test_the_work_has_ended_before_the_lease_is_given_back(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-12, needs 39: also when the work takes its time to end; nobody leads beside it."""
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


async def test_a_conflict_on_release_is_tried_again(
    elector_of: MakeElector, server: Server, clock: ManualClock, store: Store
) -> None:
    """LEA-C9."""
    async with asyncio.timeout(5):
        async with elector_of().leadership():
            store.weather = Weather(slow_back=0.5)
            task = asyncio.create_task(_disturb(clock, server))
        assert await task == ["me"]

    assert server.spec.holder_identity == ""
    assert store.requests[-4:] == ["GET", "UPDATE", "GET", "UPDATE"]


async def _disturb(clock: ManualClock, server: Server) -> list[str | None]:
    """Touch the lease while the release has read it and not yet written it."""
    await clock.advance(0.2)
    holders = [server.spec.holder_identity]
    server.touch(lambda lease: lease.metadata.annotations.update(touched="yes"))
    await clock.advance(5)
    return holders


async def test_what_another_has_taken_is_not_released(
    elector_of: MakeElector, server: Server, store: Store
) -> None:
    """V-14, LEA-C10: the lease is read first, and what it says now counts."""
    async with elector_of().leadership():
        server.touch(_held_by_you)
        store.requests.clear()

    assert store.requests == ["GET"]
    assert server.spec.holder_identity == "you"


async def test_what_we_know_to_be_anothers_is_not_even_read(
    clock: ManualClock, elector_of: MakeElector, server: Server, store: Store
) -> None:
    """LEA-C10: our last observation says another holder, so nothing is written."""
    server.lease = lease_of("you")
    task = asyncio.create_task(elector_of().run(forever))
    await clock.advance(1)
    store.requests.clear()

    task.cancel()
    await asyncio.wait([task])

    assert store.requests == []


async def test_a_lease_that_may_have_been_taken_unnoticed_is_given_back(
    clock: ManualClock, elector_of: MakeElector, server: Server, store: Store
) -> None:
    """LEA-11: cancelled while the answer was on its way."""
    store.weather = Weather(slow_back=1)
    task = asyncio.create_task(elector_of().run(forever))
    await clock.advance(1.5)
    assert server.spec.holder_identity == "me"

    task.cancel()
    await clock.advance(5)

    assert server.spec.holder_identity == ""


async def test_a_release_takes_no_longer_than_the_renew_deadline(
    clock: ManualClock, elector_of: MakeElector, store: Store
) -> None:
    """LEA-11, X-7: a server that never answers is not waited for."""
    task = asyncio.create_task(elector_of().run(forever))
    await clock.advance(1)
    store.weather.slow_there = 1000

    task.cancel()
    await clock.advance(10)

    assert task.cancelled()


# --- the work


async def test_work_that_fails_ends_leadership_and_its_error_leaves(
    elector_of: MakeElector, server: Server
) -> None:
    """needs 39: nobody goes on leading after the work has died."""
    with pytest.raises(ZeroDivisionError):
        async with elector_of().leadership():
            _ = 1 / 0

    assert server.spec.holder_identity == ""


async def test_the_order_at_the_end_is_work_release_stopped(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-12, LEA-13, V-14: start, new leader, the work's end, stopped; told once each."""
    diary = Diary()

    async def work() -> None:
        diary.lines.append("start")
        try:
            await forever()
        finally:
            diary.lines.append("work ended")

    elector = elector_of(observers=[lambda who: diary.lines.append(f"leader {who!r}")])
    task = asyncio.create_task(elector.run(work, on_stopped=lambda: diary.lines.append("stopped")))
    await clock.advance(5)
    task.cancel()
    await clock.advance(0)

    assert diary.lines == ["start", "leader 'me'", "work ended", "leader ''", "stopped"]


async def test_stopped_is_told_once_even_to_one_who_never_led(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C8, LEA-12."""
    server.lease = lease_of("you")
    told: list[str] = []

    async def work() -> None:
        told.append("start")

    task = asyncio.create_task(elector_of().run(work, on_stopped=lambda: told.append("stop")))
    await clock.advance(1)
    task.cancel()
    await clock.advance(0)

    assert told == ["stop"]
    assert task.cancelled()


async def test_run_returns_after_losing_and_does_not_lead_again_by_itself(
    clock: ManualClock, elector_of: MakeElector, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """LEA-14, LEA-C7."""
    told: list[str] = []
    task = asyncio.create_task(elector_of().run(forever, on_stopped=lambda: told.append("stop")))
    await clock.advance(1)
    store.weather.is_cut = True

    await clock.advance(11)

    assert (task.done(), task.exception(), told) == (True, None, ["stop"])
    assert "leadership lost" in caplog.text


async def test_leadership_that_was_lost_can_be_stood_for_again(
    clock: ManualClock, elector_of: MakeElector, store: Store
) -> None:
    """LEA-14: by whoever wants it."""
    elector = elector_of()
    task = asyncio.create_task(elector.run(forever))
    await clock.advance(1)
    store.weather.is_cut = True
    await clock.advance(11)
    await task
    store.weather.is_cut = False

    async with elector.leadership():
        assert elector.is_leader


async def test_work_that_does_not_end_is_ended_the_hard_way(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector, store: Store
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
    store.weather.is_cut = True

    await clock.advance(80)

    assert exits == [12.5]  # the term ended at 10, the lease at 15
    await task


# --- who is told


async def test_observers_are_told_every_new_leader_and_their_errors_do_no_harm(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector, server: Server
) -> None:
    """LEA-13: including the first one seen and ourselves."""
    server.lease = lease_of("you")
    seen: list[str] = []

    def broken(who: str) -> None:
        raise ValueError(who)

    elector = elector_of(observers=[broken, seen.append])
    tasks.spawn(elector.run(forever), name="me")
    await clock.advance(20)

    assert seen == ["you", "me"]


async def test_the_lease_gets_events(elector_of: MakeElector) -> None:
    """LEA-15."""
    diary = Diary()

    async with elector_of(events=diary).leadership():
        pass

    assert diary.lines == [
        "Lease controller: Normal LeaderElection me became leader",
        "Lease controller: Normal LeaderElection me stopped leading",
    ]


async def test_a_recorder_that_fails_does_no_harm(elector_of: MakeElector) -> None:
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


async def test_health_fails_when_a_leader_goes_on_after_its_lease(
    clock: ManualClock, elector_of: MakeElector, store: Store
) -> None:
    """LEA-17: with a tolerance; well before an elector is attached."""
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
    store.weather.is_cut = True
    await clock.advance(16.9)
    health.check()
    await clock.advance(0.2)

    with pytest.raises(LeaseNotRenewed, match=r"ran out 3\.1 s ago"):
        health.check()
    await clock.advance(60)
    health.check()
    await task


# --- coordinated elections


async def test_a_coordinated_candidate_only_leads_when_it_is_given_the_lease(
    clock: ManualClock, tasks: Programs, elector_of: MakeElector, server: Server, store: Store
) -> None:
    """LEA-19: it neither makes nor takes one."""
    elector = elector_of(coordinated=True)
    tasks.spawn(elector.run(forever), name="me")
    await clock.advance(10)
    server.lease = lease_of("", strategy="OldestEmulationVersion")
    await clock.advance(40)
    assert set(store.requests) == {"GET"}

    server.touch(_held_by_me)
    await clock.advance(2)

    assert elector.is_leader
    assert server.spec.strategy == "OldestEmulationVersion"
    assert server.spec.lease_transitions == 3


async def test_a_coordinated_leader_gives_up_when_another_is_preferred(
    clock: ManualClock, elector_of: MakeElector, server: Server
) -> None:
    """LEA-C13, LEA-19: within one renew round."""
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
    """LEA-19: holder is us is one of the conditions."""
    server.lease = lease_of("me", strategy="OldestEmulationVersion")
    task = asyncio.create_task(_lead_forever(elector_of(coordinated=True)))
    await clock.advance(1)

    server.touch(lambda lease: setattr(lease.spec, "holder_identity", ""))
    await clock.advance(1)

    with pytest.raises(LeadershipLost, match="names nobody"):
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
