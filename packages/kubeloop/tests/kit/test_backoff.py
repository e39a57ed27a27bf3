"""Backoff: the delays of client-go, and bounds that always hold."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.kit import (
    Backoff,
    Delays,
    KeyedBackoff,
    ManualClock,
    ResettingBackoff,
    StormBackoff,
    jittered,
)

# CCH-48: the backoff of a reflector between two attempts.
REFLECTOR = Backoff(duration=0.8, factor=2.0, jitter=1.0, steps=38, cap=30.0)


def none() -> float:
    return 0.0


def half() -> float:
    return 0.5


def sequence(delays: Delays, count: int) -> list[float]:
    return [round(delays.next(), 6) for _ in range(count)]


@pytest.mark.parametrize(
    ("backoff", "expected"),
    [
        pytest.param(Backoff(duration=2, factor=3), [2, 2, 2], id="UTL-1 no steps, no growth"),
        pytest.param(
            Backoff(duration=1, factor=3, steps=2), [1, 3, 9, 9], id="UTL-1 steps used up"
        ),
        pytest.param(Backoff(duration=1, steps=5), [1, 1, 1], id="UTL-1 factor zero"),
        pytest.param(Backoff(duration=1, factor=10, steps=9, cap=5), [1, 5, 5], id="UTL-1 cap"),
        pytest.param(Backoff(duration=9, factor=2, steps=9, cap=5), [9, 5, 5], id="UTL-1 cap late"),
        pytest.param(Backoff(duration=1, steps=-3, factor=2), [1, 1], id="UTL-1 negative steps"),
        pytest.param(
            REFLECTOR, [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30], id="CCH-48 before jitter"
        ),
    ],
)
def test_delays_grow_by_the_factor_until_the_steps_end(
    backoff: Backoff, expected: list[float]
) -> None:
    assert sequence(backoff.delays(random=none), len(expected)) == expected


def test_a_delay_that_would_pass_the_cap_ends_the_steps() -> None:
    """UTL-1: one that only reaches the cap does not."""
    passing = Backoff(duration=1, factor=10, steps=10, cap=5).delays()
    reaching = Backoff(duration=1, factor=5, steps=10, cap=5).delays()

    passing.next()
    reaching.next()

    assert passing.steps == 0
    assert reaching.steps == 9


@pytest.mark.parametrize(("factor", "expected"), [(0.5, 12.5), (2.0, 20.0), (0.0, 15), (-1.0, 15)])
def test_jitter_adds_a_part_and_a_missing_factor_counts_as_one(
    factor: float, expected: float
) -> None:
    """UTL-2: jitter."""
    assert jittered(10, factor, half) == expected


@pytest.mark.parametrize(("jitter", "expected"), [(1.0, 1.5), (0.0, 1.0), (-1.0, 1.0)])
def test_a_backoff_applies_jitter_only_above_zero(jitter: float, expected: float) -> None:
    """UTL-2: jitter."""
    assert Backoff(duration=1, jitter=jitter).delays(random=half).next() == expected


@given(
    duration=st.floats(0, 100),
    factor=st.floats(0, 10),
    jitter=st.floats(-1, 3),
    steps=st.integers(-1, 20),
    cap=st.floats(0, 500),
    numbers=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=30),
)
def test_no_delay_leaves_its_bounds(
    *, duration: float, factor: float, jitter: float, steps: int, cap: float, numbers: list[float]
) -> None:
    """UTL-1, UTL-2: a delay is the plain one up to the plain one and its jitter, within the cap."""
    backoff = Backoff(duration=duration, factor=factor, jitter=jitter, steps=steps, cap=cap)
    plain = backoff.delays(random=none)
    spread = backoff.delays(random=iter(numbers).__next__)

    for _ in range(len(numbers)):
        low, delay = plain.next(), spread.next()

        assert low <= delay <= low * (1 + max(jitter, 0)) * (1 + 1e-12)
        assert cap == 0 or low <= max(cap, duration)
        assert plain.steps <= max(steps, 0)


def test_reset_restarts_the_delays_and_never_changes_the_settings() -> None:
    delays = REFLECTOR.delays(random=none)
    first = sequence(delays, 4)

    delays.reset()

    assert sequence(delays, 4) == first
    assert delays.stats().given == 4
    assert delays.stats().steps == 34
    assert REFLECTOR.duration == 0.8


@pytest.mark.parametrize(("duration", "factor"), [(-1.0, 1.0), (1.0, -1.0), (float("nan"), 1.0)])
def test_settings_that_make_no_delay_are_refused(duration: float, factor: float) -> None:
    with pytest.raises(ValueError, match="neither may be negative"):
        Backoff(duration=duration, factor=factor)


async def test_delays_restart_two_minutes_after_the_last_reset(clock: ManualClock) -> None:
    """V-6, CCH-48, UTL-6: waited out one by one, and although nothing ever succeeded."""
    delays = ResettingBackoff(REFLECTOR, reset_after=120, clock=clock, random=none)
    waited: list[float] = []

    for _ in range(11):
        waited.append(round(delays.next(), 6))
        await clock.advance(waited[-1])

    assert waited == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30, 0.8, 1.6]


async def test_the_delays_restart_only_after_more_than_reset_after(clock: ManualClock) -> None:
    """CCH-48: more than two minutes."""
    delays = ResettingBackoff(REFLECTOR, reset_after=120, clock=clock, random=none)
    delays.next()

    await clock.advance(120)

    assert delays.next() == 1.6
    await clock.advance(1)
    assert delays.next() == 0.8


async def test_an_explicit_reset_also_restarts_the_period(clock: ManualClock) -> None:
    """CCH-48: counted from the last reset."""
    delays = ResettingBackoff(REFLECTOR, reset_after=120, clock=clock, random=none)
    await clock.advance(119)
    delays.reset()
    first = delays.next()

    await clock.advance(119)

    assert [first, delays.next()] == [0.8, 1.6]
    assert delays.stats().given == 2


def test_the_jitter_of_the_reflector_at_most_doubles_a_delay(clock: ManualClock) -> None:
    """CCH-48: actual is d to 2d."""
    delays = ResettingBackoff(REFLECTOR, reset_after=120, clock=clock, random=half)

    assert sequence(delays, 3) == [1.2, 2.4, 4.8]


@pytest.mark.parametrize("reset_after", [0.0, -1.0])
def test_without_reset_after_the_delay_is_constant(clock: ManualClock, reset_after: float) -> None:
    """UTL-6: DelayWithReset."""
    delays = ResettingBackoff(REFLECTOR, reset_after=reset_after, clock=clock, random=half)

    assert sequence(delays, 4) == [1.2] * 4


def test_a_keys_delay_doubles_up_to_the_maximum(clock: ManualClock) -> None:
    """UTL-C4, UTL-9: backoff by key."""
    backoff = KeyedBackoff[str](1, 10, clock=clock)

    assert [backoff.next("web") for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    assert backoff.get("web") == 10
    assert backoff.get("never failed") == 0
    assert backoff.stats().keys == 1
    assert backoff.stats().longest == 10


@pytest.mark.parametrize(("quiet", "expected"), [(20.0, 4.0), (20.001, 1.0)])
async def test_a_key_starts_again_after_more_than_twice_the_maximum(
    clock: ManualClock, quiet: float, expected: float
) -> None:
    """UTL-C4, UTL-9: backoff by key."""
    backoff = KeyedBackoff[str](1, 10, clock=clock)
    backoff.next("web")
    backoff.next("web")

    await clock.advance(quiet)

    assert backoff.next("web") == expected


def test_the_time_of_the_failure_decides_about_expiry(clock: ManualClock) -> None:
    """UTL-9: eventTime - lastUpdate."""
    backoff = KeyedBackoff[str](1, 10, clock=clock)
    backoff.next("web")

    assert backoff.next("web", at=21) == 1
    assert backoff.next("web", at=19) == 2


def test_a_keys_jitter_adds_a_part_of_the_current_delay(clock: ManualClock) -> None:
    """UTL-9: min(2*current + jitter, max), and the first delay is the initial one."""
    backoff = KeyedBackoff[str](1, 10, clock=clock, jitter=1, random=half)

    assert [backoff.next("web") for _ in range(4)] == [1, 2.5, 6.25, 10]


async def test_when_a_key_expires_can_be_chosen(clock: ManualClock) -> None:
    """UTL-9: backoff by key."""
    backoff = KeyedBackoff[str](
        1, 10, clock=clock, expired=lambda at, updated, _maximum: at - updated > 3
    )
    backoff.next("web")
    await clock.advance(4)

    assert backoff.next("web") == 1


async def test_within_the_delay_a_key_waits(clock: ManualClock) -> None:
    """UTL-10: IsInBackOffSince."""
    backoff = KeyedBackoff[str](2, 10, clock=clock)
    await clock.advance(100)
    backoff.next("web")

    assert backoff.is_waiting_at("web", 101.9)
    assert not backoff.is_waiting_at("web", 102)
    assert backoff.is_waiting_since("web", 98.1)
    assert not backoff.is_waiting_since("web", 98)


async def test_unknown_and_expired_keys_do_not_wait(clock: ManualClock) -> None:
    """UTL-10: IsInBackOffSince."""
    backoff = KeyedBackoff[str](50, 10, clock=clock)
    backoff.next("web")
    await clock.advance(21)

    assert not backoff.is_waiting_since("web", 21)
    assert not backoff.is_waiting_at("web", 21)
    assert not backoff.is_waiting_since("never failed", 21)
    assert not backoff.is_waiting_at("never failed", 21)


async def test_gc_forgets_only_what_has_expired(clock: ManualClock) -> None:
    """UTL-9: backoff by key."""
    backoff = KeyedBackoff[str](1, 10, clock=clock)
    backoff.next("old")
    await clock.advance(1)
    backoff.next("young")
    await clock.advance(20)

    assert backoff.gc() == 1
    assert backoff.get("old") == 0
    assert backoff.get("young") == 1


def test_reset_forgets_a_key_and_ignores_unknown_ones(clock: ManualClock) -> None:
    """UTL-9: backoff by key."""
    backoff = KeyedBackoff[str](1, 10, clock=clock)
    backoff.next("web")

    backoff.reset("web")
    backoff.reset("web")

    assert backoff.next("web") == 1


# --- requests that follow one another too quickly


def begins(lengths: list[float]) -> list[float]:
    """The start times of requests of these durations, each as early as allowed."""
    storm, now, found = StormBackoff(REFLECTOR, random=none), 0.0, []
    for length in lengths:
        now += storm.delay(now)
        storm.begin(now)
        found.append(now)
        now += length
        storm.end(now)
    return found


def test_the_sixth_request_within_two_seconds_is_delayed_and_each_further_one_longer() -> None:
    found = begins([0.0] * 14)

    gaps = [round(b - a, 1) for a, b in itertools.pairwise(found)]
    assert gaps == [0, 0, 0, 0, 2, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30]


def test_requests_that_are_rarer_than_five_in_two_seconds_are_never_delayed() -> None:
    found = begins([0.5] * 100)

    assert found[-1] == pytest.approx(0.5 * 99)


def test_a_storm_ends_with_a_request_that_lasted_a_minute() -> None:
    found = begins([0.0] * 10 + [61.0] + [0.0] * 6)

    gaps = [round(b - a, 1) for a, b in itertools.pairwise(found[10:])]
    assert gaps == [61, 0, 0, 0, 0, 2]


def test_a_request_that_lasts_longer_than_the_delay_is_followed_at_once() -> None:
    found = begins([0.0] * 8 + [10.0] * 5)

    assert [round(b - a, 1) for a, b in itertools.pairwise(found[8:])] == [10, 10, 10, 10]


@given(st.lists(st.floats(0.0, 90.0) | st.just(0.0), max_size=80))
def test_no_two_seconds_ever_see_more_than_five_requests(lengths: list[float]) -> None:
    found = begins(lengths)

    assert all(later - first >= 2.0 for first, later in zip(found, found[5:], strict=False))
