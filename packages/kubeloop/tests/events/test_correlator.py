"""Aggregating, counting and limiting, without a server."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kubeloop.events import (
    AGGREGATE_PREFIX,
    CorrelatorOptions,
    EventCorrelator,
    EventNames,
    EventRecorder,
    EventToWrite,
    object_reference,
)
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Event
from tests.events.sinks import pod


class CorrelatorInput:
    """A correlator, and a recorder that feeds it."""

    def __init__(self, clock: ManualClock, correlation: CorrelatorOptions | None = None) -> None:
        self._events: list[Event] = []
        self._recorder = EventRecorder(
            self._events.append, component="ctl", clock=clock, names=EventNames(clock)
        )
        self.correlator = EventCorrelator(correlation, clock=clock)

    def record(
        self, message: str = "up", reason: str = "Started", *, name: str = "web", part: str = ""
    ) -> EventToWrite | None:
        about = object_reference(pod(name, uid=name), field_path=part)
        self._recorder.event(about, "Normal", reason, message)
        return self.correlator.correlate(self._events[-1])

    def record_and_expect(self, message: str = "up", **more: str) -> EventToWrite:
        to_write = self.record(message, **more)
        assert to_write is not None
        return to_write


@pytest.fixture
def feed(clock: ManualClock) -> CorrelatorInput:
    return CorrelatorInput(clock)


async def test_a_repetition_raises_the_count_of_the_first(
    feed: CorrelatorInput, clock: ManualClock
) -> None:
    """EVT-13, EVT-C1: with the first one's name, version and time."""
    first = feed.record_and_expect()
    stored = first.event
    stored.metadata.resource_version = "55"
    feed.correlator.update(first.key, stored)
    await clock.advance(60)

    second = feed.record_and_expect()
    third = feed.record_and_expect()

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


def test_the_same_message_on_two_containers_is_two_events(feed: CorrelatorInput) -> None:
    """EVT-C4: the field path is part of what is repeated."""
    one = feed.record_and_expect(part="spec.containers{a}")
    other = feed.record_and_expect(part="spec.containers{b}")

    assert (one.event.count, other.event.count) == (1, 1)
    assert one.event.metadata.name != other.event.metadata.name


def test_the_tenth_similar_event_becomes_an_aggregate_and_the_next_ones_are_counted(
    feed: CorrelatorInput,
) -> None:
    """EVT-C2, EVT-12: with the prefix of client-go."""
    separate = [feed.record_and_expect(f"message {n}") for n in range(9)]
    tenth = feed.record_and_expect("message 9")
    eleventh = feed.record_and_expect("message 10")

    assert all(each.event.count == 1 and each.patch is None for each in separate)
    assert (tenth.event.count, tenth.patch) == (1, None)
    assert tenth.event.message == f"{AGGREGATE_PREFIX}message 9"
    assert AGGREGATE_PREFIX == "(combined from similar events): "
    assert tenth.event.metadata.name not in {each.event.metadata.name for each in separate}
    assert eleventh.event.count == 2
    assert eleventh.event.metadata.name == tenth.event.metadata.name
    assert eleventh.patch is not None
    assert msgspec.json.decode(eleventh.patch)["message"] == f"{AGGREGATE_PREFIX}message 10"
    assert feed.correlator.stats().aggregated == 2


async def test_similar_events_that_are_far_apart_are_not_aggregated(
    feed: CorrelatorInput, clock: ManualClock
) -> None:
    """EVT-C5: more than 600 s since the last one reset the aggregate."""
    for number in range(9):
        feed.record_and_expect(f"message {number}")
    await clock.advance(600.5)

    to_write = feed.record_and_expect("message 9")

    assert to_write.event.message == "message 9"


async def test_exactly_600_seconds_apart_are_still_aggregated(
    feed: CorrelatorInput, clock: ManualClock
) -> None:
    """EVT-12: only more than the interval resets it."""
    for number in range(9):
        feed.record_and_expect(f"message {number}")
    await clock.advance(600)

    assert feed.record_and_expect("message 9").event.message == f"{AGGREGATE_PREFIX}message 9"


async def test_the_spam_filter_drops_the_26th_event_of_an_object_and_refills(
    feed: CorrelatorInput, clock: ManualClock
) -> None:
    """EVT-C3, EVT-14, EVT-11: for any reason; the dropped one is still counted."""
    for number in range(25):
        assert feed.record(reason=f"Reason{number}") is not None

    assert feed.record(reason="Reason0") is None
    assert feed.record(reason="Other") is None
    assert feed.record(name="another") is not None
    await clock.advance(300)

    assert feed.record_and_expect(reason="Reason0").event.count == 3
    assert feed.record(reason="Reason0") is None
    assert feed.correlator.stats().skipped == 3


def test_memory_is_bounded_and_the_least_recently_used_is_evicted(clock: ManualClock) -> None:
    """EVT-15: 4096 entries by default."""
    feed = CorrelatorInput(clock, CorrelatorOptions(lru_size=2))
    feed.record_and_expect(name="a")
    feed.record_and_expect(name="b")
    feed.record_and_expect(name="a")
    feed.record_and_expect(name="c")

    assert feed.record_and_expect(name="a").event.count == 3
    assert feed.record_and_expect(name="b").event.count == 1
    assert feed.correlator.stats().cached == 2


def test_settings_can_be_overridden_and_zero_means_the_default(clock: ManualClock) -> None:
    """EVT-15, X-8: the defaults are those of client-go."""
    default = CorrelatorOptions()
    assert (default.lru_size, default.burst, default.rate) == (4096, 25, 1 / 300)
    assert (default.max_events, default.interval) == (10, 600)
    zeros = CorrelatorOptions(lru_size=0, burst=0, rate=0, max_events=0, interval=0)
    assert zeros.with_defaults() == default

    feed = CorrelatorInput(
        clock,
        CorrelatorOptions(
            max_events=2,
            burst=3,
            similar=lambda event: (event.reason, event.message or ""),
            message=lambda event: f"many like {event.message}",
            spam=lambda event: "all the same",
        ),
    )

    feed.record_and_expect("one", name="a")
    assert feed.record_and_expect("two", name="b").event.message == "many like two"
    feed.record_and_expect("three", name="c")
    assert feed.record("four", name="d") is None


@given(
    recorded=some.lists(
        some.tuples(some.sampled_from("abc"), some.integers(0, 14), some.integers(0, 400)),
        max_size=60,
    )
)
def test_counts_add_up_and_the_spam_filter_bounds_writes_per_object(
    recorded: list[tuple[str, int, int]],
) -> None:
    """EVT-13, EVT-14: counts of one name only grow."""
    asyncio.run(_add_up(recorded))


async def _add_up(recorded: list[tuple[str, int, int]]) -> None:
    clock = ManualClock()
    feed = CorrelatorInput(clock)
    counts: dict[str, int] = {}
    written: dict[str, int] = {}
    for name, message, seconds in recorded:
        await clock.advance(seconds)
        to_write = feed.record(f"message {message}", name=name)
        if to_write is None:
            continue
        assert to_write.event.count is not None
        assert to_write.event.count > counts.get(to_write.event.metadata.name, 0)
        assert (to_write.patch is None) == (to_write.event.count == 1)
        counts[to_write.event.metadata.name] = to_write.event.count
        written[name] = written.get(name, 0) + 1

    assert all(number <= 25 + clock.now() / 300 + 1 for number in written.values())
