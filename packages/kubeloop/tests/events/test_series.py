"""Events of events.k8s.io: single ones, series, and their end."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from kubeloop.errors import ConnectError
from kubeloop.events import (
    FINISH_AFTER,
    REFRESH_EVERY,
    SERIES_QUEUE,
    WRITE_QUEUE,
    WRITERS,
    AlreadyRecording,
    EventBroadcasterAdapter,
    SeriesBroadcaster,
)
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Event as CoreEvent
from kubeloop.wire.events.v1 import Event
from tests.events.sinks import Sink, error_response, node, pod


def bind(recorder: Any, note: str = "bound", about: Any = None, **more: Any) -> None:
    recorder.event(about or pod(), "Normal", "Bound", "Bind", note, **more)


async def test_isomorphic_events_become_a_series_of_the_first(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-C12, EVT-18: created, patched once, then counted in memory."""
    async with SeriesBroadcaster(clock=clock) as events:
        writer = events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl", host="h")
        for number in range(4):
            changed = pod()
            changed.metadata.resource_version = str(number)
            bind(recorder, f"note {number}", changed)
            await clock.advance(1)
        assert series_sink.verbs == ["CREATE", "PATCH"]
        assert writer.stats().tracker.unwritten == 1
        create, patch = series_sink.calls
        assert create.body["note"] == "note 0"
        assert create.body["reportingInstance"] == "example.com/ctl-h"
        assert (patch.name, patch.namespace) == (create.name, "shop")
        assert patch.body == {
            "series": {"count": 2, "lastObservedTime": "2030-01-01T00:00:01.000000Z"}
        }

    assert series_sink.verbs == ["CREATE", "PATCH", "PATCH"]
    assert series_sink.calls[-1].body["series"]["count"] == 4


async def test_events_that_differ_in_more_than_the_note_are_no_series(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-18: type, action, reason, controller, regarding and related count."""
    async with SeriesBroadcaster(clock=clock) as events:
        events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl")
        bind(recorder)
        bind(recorder, about=pod("other"))
        bind(recorder, related=node())
        bind(events.recorder("example.com/another"))
        recorder.event(pod(), "Warning", "Bound", "Bind", "bound")
        recorder.event(pod(), "Normal", "Bound", "Unbind", "bound")

    assert series_sink.verbs == ["CREATE"] * 6
    assert series_sink.calls[0].body["reportingInstance"].endswith(f"-{socket.gethostname()}")


async def test_a_series_that_continues_is_written_every_thirty_minutes(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-19: with its count."""
    async with SeriesBroadcaster(clock=clock) as events:
        events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl")
        for _ in range(16):
            bind(recorder)
            await clock.advance(120)
        assert REFRESH_EVERY == 1800
        assert series_sink.verbs == ["CREATE", "PATCH", "PATCH"]
        assert series_sink.calls[-1].body["series"]["count"] == 15


async def test_a_series_without_repetitions_is_written_a_last_time_and_forgotten(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-19: six minutes; a later occurrence is a new event."""
    async with SeriesBroadcaster(clock=clock) as events:
        writer = events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl")
        for _ in range(3):
            bind(recorder)
        bind(recorder, about=pod("single"))
        await clock.advance(1)
        assert (writer.stats().tracker.series, writer.stats().tracker.singles) == (1, 1)

        await clock.advance(2 * FINISH_AFTER)

        assert FINISH_AFTER == 360
        assert (writer.stats().tracker.series, writer.stats().tracker.singles) == (0, 0)
        assert series_sink.calls[-1].body["series"]["count"] == 3
        bind(recorder)
    assert series_sink.calls[-1].verb == "CREATE"


async def test_a_series_that_could_not_be_written_at_its_end_is_kept(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-19: until the next time."""
    async with SeriesBroadcaster(clock=clock) as events:
        writer = events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl")
        bind(recorder)
        bind(recorder)
        await clock.advance(1)
        series_sink.failures.append(ConnectError("refused"))

        await clock.advance(2 * FINISH_AFTER)
        assert writer.stats().tracker.series == 1
        await clock.advance(FINISH_AFTER)

        assert writer.stats().tracker.series == 0


async def test_a_series_whose_event_is_gone_is_created_again(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-20: PATCH 404, CREATE."""
    async with SeriesBroadcaster(clock=clock) as events:
        events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl")
        bind(recorder)
        await clock.settle()
        series_sink.stored.clear()
        bind(recorder)

    assert series_sink.verbs == ["CREATE", "PATCH", "CREATE"]
    assert series_sink.calls[-1].body["series"]["count"] == 2


async def test_already_exists_is_retried_for_a_series_and_dropped_for_a_single_event(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-20: 10 s and up to a quarter later."""
    async with SeriesBroadcaster(clock=clock) as events:
        writer = events.record_to(series_sink, random=lambda: 0.5)
        recorder = events.recorder("example.com/ctl")
        series_sink.failures.append(error_response("AlreadyExists"))
        bind(recorder)
        await clock.advance(100)
        assert series_sink.verbs == ["CREATE"]

        series_sink.failures += [error_response("NotFound"), error_response("AlreadyExists")]
        bind(recorder)
        await clock.advance(11)
        assert series_sink.verbs == ["CREATE", "PATCH", "CREATE"]
        await clock.advance(0.5)

        assert series_sink.verbs[3:] == ["PATCH", "CREATE"]
        assert writer.stats().lost == 0


async def test_a_single_event_that_does_not_arrive_is_sent_twelve_times(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-20: with 10 s between two attempts."""
    series_sink.failures += [ConnectError("refused")] * 20
    async with SeriesBroadcaster(clock=clock) as events:
        writer = events.record_to(series_sink)
        bind(events.recorder("example.com/ctl"))
        await clock.advance(200)

        assert len(series_sink.calls) == 12
        assert writer.stats().lost == 1


async def test_an_event_without_a_namespace_is_rejected_before_it_is_sent(
    series_sink: Sink[Event], clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-20: and logged."""
    async with SeriesBroadcaster(clock=clock) as events:
        events.record_to(series_sink)
        events.record(Event())

    assert series_sink.calls == []
    assert "it has no namespace" in caplog.text


async def test_eight_workers_write_at_once_and_the_overflow_is_dropped_and_logged(
    series_sink: Sink[Event], clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-17: queues of 25 and 1000."""
    assert (SERIES_QUEUE, WRITE_QUEUE, WRITERS) == (25, 1000, 8)
    series_sink.gate.clear()
    async with SeriesBroadcaster(clock=clock) as events:
        writer = events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl")
        for number in range(WRITERS + WRITE_QUEUE + 3):
            bind(recorder, about=pod(f"p{number}"))
            if number % 100 == 0:
                await clock.settle()
        await clock.settle()
        assert len(series_sink.calls) == WRITERS
        assert (writer.stats().waiting, writer.stats().lost) == (WRITE_QUEUE, 3)
        assert "the write queue is full" in caplog.text

        series_sink.gate.set()

    assert len(series_sink.calls) == WRITERS + WRITE_QUEUE


async def test_two_events_at_once_are_written_one_after_the_other(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-18: a series is patched once its event is there."""
    async with SeriesBroadcaster(clock=clock) as events:
        events.record_to(series_sink)
        recorder = events.recorder("example.com/ctl")
        for _ in range(3):
            bind(recorder)

    assert series_sink.verbs == ["CREATE", "PATCH"]
    assert series_sink.calls[-1].body["series"]["count"] == 3


async def test_recording_to_a_second_sink_is_an_error(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-21: a broadcaster has one sink."""
    async with SeriesBroadcaster(clock=clock) as events:
        events.record_to(series_sink)

        with pytest.raises(AlreadyRecording, match="a sink already"):
            events.record_to(series_sink)


@pytest.mark.parametrize("is_served", [True, False])
async def test_an_adapter_records_to_the_api_that_the_server_serves(
    sink: Sink[CoreEvent], series_sink: Sink[Event], clock: ManualClock, is_served: bool
) -> None:
    """EVT-22: core events have neither an action nor a related object."""
    adapter = EventBroadcasterAdapter(sink, series_sink if is_served else None, clock=clock)
    async with adapter as events:
        bind(events.recorder("example.com/ctl"), "to %s", related=node())
        events.core_recorder("ctl").event(pod(), "Normal", "Started", "up")

    assert len(series_sink.calls) == is_served
    bodies = [call.body for call in sink.calls]
    assert bodies[-1]["reason"] == "Started"
    if not is_served:
        assert (bodies[0]["message"], bodies[0]["reportingComponent"]) == (
            "to %s",
            "example.com/ctl",
        )
        assert not {"action", "related"} & bodies[0].keys()


async def test_a_cancelled_writer_leaves_no_task(
    series_sink: Sink[Event], clock: ManualClock
) -> None:
    """X-7: everything ends with its scope."""
    before = asyncio.all_tasks()
    async with SeriesBroadcaster(clock=clock) as events:
        events.record_to(series_sink)
        await clock.settle()
        assert len(asyncio.all_tasks()) > len(before)

    assert asyncio.all_tasks() == before
