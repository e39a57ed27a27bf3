"""X-5: never two leaders, and never none for long.

The assumptions: identities differ, the rates of clocks differ by less than lease duration
over renew deadline, and no one else writes the holder or deletes the lease. Networks and
servers may do what they like, and processes may be stopped at any moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from kubeloop.election import ElectionTimes
from tests.election.simulation import Candidate, Network, World

# An example is minutes of simulated time: a few of them in a usual run, all in a long one.
EXAMPLES: Final = 40 if settings().max_examples <= 100 else settings().max_examples // 10
NO_FAULTS: Final = Network()
SLOW: Final = 25.0
FAST: Final = [1.0, 1.49, 1.49]


class Fault(msgspec.Struct, frozen=True):
    """A fault of one candidate, `after` seconds."""

    after: float
    candidate: int
    what: str
    much: float


faults = some.lists(
    some.builds(
        Fault,
        after=some.floats(0, 12),
        candidate=some.integers(0, 2),
        what=some.sampled_from(
            [
                "slow-there",
                "slow-back",
                "cut",
                "lossy",
                "conflict",
                "broken",
                "heal",
                "stop",
                "wall",
                "resign",
                "touch",
            ]
        ),
        much=some.floats(0, SLOW),
    ),
    max_size=8,
)


def inject(world: World, fault: Fault) -> None:
    victim = world.candidates[fault.candidate]
    doing: dict[str, Callable[[], None]] = {
        "stop": lambda: _stop(world, victim, fault.much),
        "wall": lambda: setattr(victim.clock, "wall_skew", (fault.much - 12) * 1000),
        "resign": victim.resign,
        "touch": lambda: _touch(world),
    }
    networks = {
        "slow-there": Network(there=fault.much),
        "slow-back": Network(back=fault.much),
        "cut": Network(is_cut=True),
        "lossy": Network(loses_responses=True),
        "conflict": Network(refuses="Conflict"),
        "broken": Network(refuses="InternalError"),
        "heal": Network(),
    }
    if fault.what in doing:
        doing[fault.what]()
    else:
        victim.network = networks[fault.what]


def _stop(world: World, victim: Candidate, seconds: float) -> None:
    until = world.clock.now() + seconds
    victim.clock.stopped_until = max(until, victim.clock.stopped_until)  # its timers wait for that


def _touch(world: World) -> None:
    if world.server.lease is not None:
        world.server.touch(lambda lease: lease.metadata.annotations.update(touched="yes"))


async def simulate(faults_in_order: list[Fault], rates: list[float], times: ElectionTimes) -> World:
    """Run three candidates with these faults, then without faults for long enough."""
    world = World(times)
    for number, rate in enumerate(rates):
        world.join(f"candidate-{number}", rate=rate, offset=number * 1000.0)
    try:
        for fault in faults_in_order:
            await world.advance(fault.after)
            inject(world, fault)
        for candidate in world.candidates:
            candidate.network = NO_FAULTS
        # Requests in flight arrive and stopped processes resume; then the bound counts.
        await world.advance(2 * SLOW)
        await world.advance(max_vacancy(times))
        assert world.leader is not None, "no leader although there are no faults"
    finally:
        await world.end()
    return world


def max_vacancy(times: ElectionTimes) -> float:
    """How long leadership is vacant at most: the lease expires, the next attempt finds it."""
    return times.lease_duration + 2 * 2.2 * times.retry_period


@settings(max_examples=EXAMPLES)
@given(faults_in_order=faults, rates=some.lists(some.floats(1.0, 1.49), min_size=3, max_size=3))
@example([Fault(5, 0, "slow-back", 4.8), Fault(7, 0, "cut", 0), Fault(12, 1, "heal", 0)], FAST)
@example([Fault(5, 0, "slow-there", 4.8), Fault(2, 0, "stop", 24), Fault(12, 1, "heal", 0)], FAST)
def test_at_most_one_leads_and_soon_one_does(
    faults_in_order: list[Fault], rates: list[float]
) -> None:
    """X-5: clock rates differ by less than 15/10.

    The examples: a response that is long in flight, and then the network is cut; a process
    that is stopped for longer than its lease, with a request that arrives meanwhile.
    """
    asyncio.run(simulate(faults_in_order, rates, ElectionTimes()))


@settings(max_examples=EXAMPLES)
@given(
    faults_in_order=faults,
    times=some.sampled_from(
        [
            ElectionTimes(lease_duration=4.9, renew_deadline=3, retry_period=1),
            ElectionTimes(lease_duration=60, renew_deadline=15, retry_period=5),
            ElectionTimes(lease_duration=15, renew_deadline=14.5, retry_period=2),
        ]
    ),
)
def test_other_durations_are_as_safe(faults_in_order: list[Fault], times: ElectionTimes) -> None:
    """X-5, LEA-C12: a lease of 4.9 s is written as 4 s."""
    asyncio.run(simulate(faults_in_order, [1.0, 1.0, 1.0], times))


@settings(max_examples=EXAMPLES)
@given(crash=some.floats(0.0, 30.0), rates=some.lists(some.floats(1.0, 1.49), min_size=3))
def test_after_a_crash_another_leads_within_the_vacancy_bound(
    crash: float, rates: list[float]
) -> None:
    """LEA-C2: one lease duration after the last renewal, and two attempts."""
    asyncio.run(_crash(crash, rates[:3]))


async def _crash(after: float, rates: list[float]) -> None:
    world = World()
    for number, rate in enumerate(rates):
        world.join(f"candidate-{number}", rate=rate)
    try:
        await world.advance(after + 0.1)
        leader = world.leader
        assert leader is not None
        leader.clock.stopped_until = 1e9

        await world.advance(max_vacancy(world.times))

        assert world.leader not in {None, leader}
    finally:
        await world.end()


async def test_a_released_lease_has_a_new_leader_at_the_next_attempt() -> None:
    """LEA-C5: the lease is available at once."""
    world = World()
    first, second = world.join("first"), world.join("second")
    try:
        await world.advance(10)
        assert world.leader is first
        first.rest = 60
        first.resign()

        await world.advance(1.5 + 2.2 * world.times.retry_period)

        assert world.leader is second
    finally:
        await world.end()


async def test_clocks_that_differ_too_much_allow_two_leaders() -> None:
    """X-5: beyond the assumption two may lead, so the simulation can find it."""
    world = World()
    slow, _ = world.join("slow"), world.join("fast", rate=3.0)

    with pytest.raises(AssertionError, match="lead at"):
        await _cut(world, slow)


async def _cut(world: World, leader: Candidate) -> None:
    try:
        await world.advance(9)
        leader.network = Network(is_cut=True)
        await world.advance(20)
    finally:
        await world.end()
