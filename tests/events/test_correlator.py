"""Joining, counting and limiting, without a server."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kubeloop.events import (
    COMBINED_PREFIX,
    Correlated,
    Correlation,
    EventCorrelator,
    EventNames,
    EventRecorder,
    object_reference,
)
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Event
from tests.events.sinks import pod


class Bench:
    """A correlator, and a recorder to feed it."""

    def __init__(self, clock: ManualClock, correlation: Correlation | None = None) -> None:
        self._made: list[Event] = []
        self._recorder = EventRecorder(
            self._made.append, component="ctl", clock=clock, names=EventNames(clock)
        )
        self.correlator = EventCorrelator(correlation, clock=clock)

    def say(
        self, message: str = "up", reason: str = "Started", *, name: str = "web", part: str = ""
    ) -> Correlated | None:
        about = object_reference(pod(name, uid=name), field_path=part)
        self._recorder.event(about, "Normal", reason, message)
        return self.correlator.correlate(self._made[-1])

    def must(self, message: str = "up", **more: str) -> Correlated:
        found = self.say(message, **more)
        assert found is not None
        return found


@pytest.fixture
def bench(clock: ManualClock) -> Bench:
    return Bench(clock)


async def test_a_repetition_raises_the_count_of_the_first(bench: Bench, clock: ManualClock) -> None:
    """EVT-13, EVT-C1: with the first one's name, version and first moment."""
    first = bench.must()
    answer = first.event
    answer.metadata.resource_version = "55"
    bench.correlator.learn(first.key, answer)
    await clock.advance(60)

    second = bench.must()
    third = bench.must()

    assert (first.patch, first.event.count) == (None, 1)
    assert second.patch is not None
    assert msgspec.json.decode(second.patch) == {
        "count": 2,
        "lastTimestamp": "2030-01-01T00:01:00Z",
        "message": "up",
    }
    assert second.event.metadata.name == third.event.metadata.name == first.event.metadata.name
    assert second.event.metadata.resource_version == "55"
    assert second.event.first_timestamp == first.event.first_timestamp
    assert third.event.count == 3


def test_the_same_message_on_two_containers_is_two_events(bench: Bench) -> None:
    """EVT-C4: the field path is part of what is repeated."""
    one = bench.must(part="spec.containers{a}")
    other = bench.must(part="spec.containers{b}")

    assert (one.event.count, other.event.count) == (1, 1)
    assert one.event.metadata.name != other.event.metadata.name


def test_the_tenth_similar_event_stands_for_all_and_the_next_ones_are_counted(
    bench: Bench,
) -> None:
    """EVT-C2, EVT-12."""
    separate = [bench.must(f"message {n}") for n in range(9)]
    tenth = bench.must("message 9")
    eleventh = bench.must("message 10")

    assert all(each.event.count == 1 and each.patch is None for each in separate)
    assert (tenth.event.count, tenth.patch) == (1, None)
    assert tenth.event.message == f"{COMBINED_PREFIX}message 9"
    assert COMBINED_PREFIX == "(combined from similar events): "
    assert tenth.event.metadata.name not in {each.event.metadata.name for each in separate}
    assert eleventh.event.count == 2
    assert eleventh.event.metadata.name == tenth.event.metadata.name
    assert eleventh.patch is not None
    assert msgspec.json.decode(eleventh.patch)["message"] == f"{COMBINED_PREFIX}message 10"
    assert bench.correlator.stats().combined == 2


async def test_similar_events_that_are_far_apart_are_not_combined(
    bench: Bench, clock: ManualClock
) -> None:
    """EVT-C5: more than 600 s since the last one, and counting starts over."""
    for number in range(9):
        bench.must(f"message {number}")
    await clock.advance(600.5)

    found = bench.must("message 9")

    assert found.event.message == "message 9"


async def test_exactly_600_seconds_are_not_too_far(bench: Bench, clock: ManualClock) -> None:
    """EVT-12: only more than the interval starts over."""
    for number in range(9):
        bench.must(f"message {number}")
    await clock.advance(600)

    assert bench.must("message 9").event.message == f"{COMBINED_PREFIX}message 9"


async def test_the_26th_event_of_an_object_is_skipped_and_time_brings_one_more(
    bench: Bench, clock: ManualClock
) -> None:
    """EVT-C3, EVT-14, EVT-11: whatever its reason; the skipped one was counted all the same."""
    for number in range(25):
        assert bench.say(reason=f"Reason{number}") is not None

    assert bench.say(reason="Reason0") is None
    assert bench.say(reason="Other") is None
    assert bench.say(name="another") is not None
    await clock.advance(300)

    assert bench.must(reason="Reason0").event.count == 3
    assert bench.say(reason="Reason0") is None
    assert bench.correlator.stats().skipped == 3


def test_memory_is_bounded_and_the_longest_unused_is_forgotten(clock: ManualClock) -> None:
    """EVT-15: 4096 entries unless told otherwise."""
    bench = Bench(clock, Correlation(lru_size=2))
    bench.must(name="a")
    bench.must(name="b")
    bench.must(name="a")
    bench.must(name="c")

    assert bench.must(name="a").event.count == 3
    assert bench.must(name="b").event.count == 1
    assert bench.correlator.stats().remembered == 2


def test_settings_can_be_overridden_and_zero_means_the_default(clock: ManualClock) -> None:
    """EVT-15, X-8."""
    default = Correlation()
    assert (default.lru_size, default.burst, default.rate) == (4096, 25, 1 / 300)
    assert (default.max_events, default.interval) == (10, 600)
    zeros = Correlation(lru_size=0, burst=0, rate=0, max_events=0, interval=0)
    assert zeros.filled() == default

    bench = Bench(
        clock,
        Correlation(
            max_events=2,
            burst=3,
            similar=lambda event: (event.reason, event.message or ""),
            message=lambda event: f"many like {event.message}",
            spam=lambda event: "all the same",
        ),
    )

    bench.must("one", name="a")
    assert bench.must("two", name="b").event.message == "many like two"
    bench.must("three", name="c")
    assert bench.say("four", name="d") is None


@given(
    said=some.lists(
        some.tuples(some.sampled_from("abc"), some.integers(0, 14), some.integers(0, 400)),
        max_size=60,
    )
)
def test_counts_add_up_and_no_object_costs_more_than_its_allowance(
    said: list[tuple[str, int, int]],
) -> None:
    """EVT-13, EVT-14: counts of one name only ever grow."""
    asyncio.run(_add_up(said))


async def _add_up(said: list[tuple[str, int, int]]) -> None:
    clock = ManualClock()
    bench = Bench(clock)
    counts: dict[str, int] = {}
    written: dict[str, int] = {}
    for name, message, seconds in said:
        await clock.advance(seconds)
        found = bench.say(f"message {message}", name=name)
        if found is None:
            continue
        assert found.event.count is not None
        assert found.event.count > counts.get(found.event.metadata.name, 0)
        assert (found.patch is None) == (found.event.count == 1)
        counts[found.event.metadata.name] = found.event.count
        written[name] = written.get(name, 0) + 1

    assert all(number <= 25 + clock.now() / 300 + 1 for number in written.values())
