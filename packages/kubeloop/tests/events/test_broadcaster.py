"""From recorders to sinks, loggers and watchers."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from kubeloop.errors import (
    Cause,
    ConnectError,
    InvalidArgument,
    ServiceUnavailable,
    UnexpectedObject,
)
from kubeloop.events import (
    FLUSH_WITHIN,
    MAX_ATTEMPTS,
    QUEUE,
    RETRY_DELAY,
    WATCHER_QUEUE,
    EventBroadcaster,
    EventRecorder,
)
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Event
from kubeloop.wire.meta.v1 import ObjectMeta, StatusCause
from tests.events.sinks import Sink, error_response, node, pod

# --- writing


async def test_the_same_event_three_times_is_one_creation_and_two_patches(
    sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-C1, EVT-6, EVT-7, EVT-9: the count and the last time are patched."""
    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        recorder = events.recorder("ctl")
        for _ in range(3):
            recorder.event(pod(), "Normal", "Started", "up")
            await clock.advance(1)

    assert sink.verbs == ["CREATE", "PATCH", "PATCH"]
    assert {call.name for call in sink.calls} == {sink.calls[0].name}
    assert {call.namespace for call in sink.calls} == {"shop"}
    (stored,) = sink.stored.values()
    assert (stored["count"], stored["firstTimestamp"]) == (3, "2030-01-01T00:00:00Z")
    assert stored["lastTimestamp"] == "2030-01-01T00:00:02Z"


async def test_a_patch_of_an_event_that_is_gone_becomes_a_creation(
    sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-C6, EVT-7: the count is kept, the version is not sent."""
    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        recorder = events.recorder("ctl")
        recorder.event(node(), "Normal", "Started", "up")
        await clock.settle()
        sink.stored.clear()
        recorder.event(node(), "Normal", "Started", "up")

    assert sink.verbs == ["CREATE", "PATCH", "CREATE"]
    assert sink.calls[-1].body["count"] == 2
    assert "resourceVersion" not in sink.calls[-1].body["metadata"]
    assert sink.calls[-1].namespace == "default"


@pytest.mark.parametrize(
    ("reason", "level"),
    [
        ("Forbidden", logging.ERROR),
        ("AlreadyExists", logging.DEBUG),
        ("Terminating", logging.DEBUG),
    ],
)
async def test_an_event_that_the_server_rejects_is_dropped_after_one_attempt(
    sink: Sink[Event],
    clock: ManualClock,
    reason: str,
    level: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """EVT-C7, EVT-8: logged as an error, unless it exists or its namespace is being deleted."""
    caplog.set_level(logging.DEBUG, "kubeloop.events")
    terminating = StatusCause(reason=Cause.NAMESPACE_TERMINATING)
    error = (
        error_response("Forbidden", causes=[terminating])
        if reason == "Terminating"
        else error_response(reason)
    )
    sink.failures.append(error)

    async with EventBroadcaster(clock=clock) as events:
        writer = events.record_to(sink)
        events.recorder("ctl").event(pod(), "Normal", "Started", "up")
        await clock.advance(200)

    assert sink.verbs == ["CREATE"]
    assert [record.levelno for record in caplog.records] == [level]
    assert writer.stats().lost == (level == logging.ERROR)


@pytest.mark.parametrize(
    "error",
    [ConnectError("refused"), ConnectionResetError(), TimeoutError(), UnexpectedObject({})],
    ids=lambda error: type(error).__name__,
)
async def test_an_event_that_did_not_arrive_is_sent_twelve_times(
    sink: Sink[Event], clock: ManualClock, error: Exception
) -> None:
    """EVT-8, EVT-C7: the first delay is random, the others are 10 s."""
    sink.failures += [error] * 20
    async with EventBroadcaster(clock=clock) as events:
        writer = events.record_to(sink, random=lambda: 0.25)
        events.recorder("ctl").event(pod(), "Normal", "Started", "up")
        attempts = []
        for seconds in (2.4, 0.1, 9.9, 0.1, 300):
            await clock.advance(seconds)
            attempts.append(len(sink.calls))

    assert (MAX_ATTEMPTS, RETRY_DELAY) == (12, 10.0)
    assert attempts == [1, 2, 2, 3, 12]
    assert writer.stats().lost == 1


async def test_an_event_that_cannot_be_sent_is_not_retried(
    sink: Sink[Event], clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-8: errors in building a request; and the next event is sent after any exception."""
    sink.failures += [TypeError("a sink's mistake")]
    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        recorder = events.recorder("ctl")
        recorder.event(pod(), "Normal", "Started", "up")
        recorder.event(pod(), "Normal", "Started", "other")
        events.record(Event())

    assert sink.verbs == ["CREATE", "CREATE"]
    assert "a sink's mistake" in caplog.text
    assert "it has no namespace" in caplog.text


async def test_writing_is_sequential_and_a_blocked_write_delays_the_next(
    sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-10: counts arrive in order."""
    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        sink.gate.clear()
        recorder = events.recorder("ctl")
        recorder.event(pod(), "Normal", "Started", "up")
        recorder.event(pod(), "Normal", "Stopped", "down")
        await clock.settle()
        assert len(sink.calls) == 1

        sink.gate.set()
        await clock.settle()

        assert len(sink.calls) == 2


async def test_each_sink_has_its_own_counts(sink: Sink[Event], clock: ManualClock) -> None:
    """EVT-C11, EVT-4: a later sink starts with 1."""
    late: Sink[Event] = Sink()
    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        recorder = events.recorder("ctl")
        recorder.event(pod(), "Normal", "Started", "up")
        events.record_to(late)
        recorder.event(pod(), "Normal", "Started", "up")

    assert sink.verbs == ["CREATE", "PATCH"]
    assert late.verbs == ["CREATE"]
    assert late.calls[0].body["count"] == 1


async def test_a_writer_can_be_stopped(sink: Sink[Event], clock: ManualClock) -> None:
    async with EventBroadcaster(clock=clock) as events:
        writer = events.record_to(sink)
        recorder = events.recorder("ctl")
        recorder.event(pod(), "Normal", "Started", "up")
        writer.stop()
        recorder.event(pod(), "Normal", "Started", "again")

    assert sink.verbs == ["CREATE"]


# --- queues


async def test_a_burst_at_a_stalled_sink_drops_exactly_the_overflow(
    sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-C13, EVT-3: the newest are dropped, and the recorder never waits."""
    sink.gate.clear()
    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        recorder = events.recorder("ctl")
        recorder.event(pod("p0"), "Normal", "Started", "up")
        await clock.settle()  # it is being written
        for number in range(1, 2000):
            recorder.event(pod(f"p{number}"), "Normal", "Started", "up")
        assert events.stats().watchers[0].dropped == 999

        sink.gate.set()

    assert (QUEUE, WATCHER_QUEUE) == (1000, 1000)
    names = [call.body["involvedObject"]["name"] for call in sink.calls]
    assert names == [f"p{number}" for number in range(1001)]


async def test_waiting_for_a_full_watcher_fills_the_incoming_queue(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-3: with `wait` no watcher misses what was accepted; the rest is dropped and logged."""
    broadcaster = EventBroadcaster(queue=3, watcher_queue=2, when_full="wait", clock=clock)
    async with broadcaster as events:
        watcher = events.watch()
        recorder = events.recorder("ctl")
        for number in range(6):
            recorder.event(pod(), "Normal", "Started", f"{number}")
        late = events.watch()
        assert (events.stats().waiting, events.stats().dropped) == (3, 1)
        assert "the queue is full" in caplog.text

        seen = [event.message for event in iter(watcher.get_nowait, None)]
        recorder.event(pod(), "Normal", "Started", "last")

        assert seen == ["0", "1", "2", "3", "4"]
        assert [event.message for event in iter(late.get_nowait, None)] == ["last"]


async def test_a_watcher_gets_the_events_recorded_after_it_was_created(clock: ManualClock) -> None:
    """EVT-4: as copies, until the block ends."""
    async with EventBroadcaster(clock=clock) as events:
        recorder = events.recorder("ctl")
        recorder.event(pod(), "Normal", "Started", "before")
        one, other = events.watch(), events.watch()
        recorder.event(pod(), "Normal", "Started", "after")

        first = await anext(one)
        first.message = "changed"

        second = await anext(other)
        assert second.message == "after"
        recorder.event(pod(), "Normal", "Started", "unread")

    assert [event.message async for event in one] == ["unread"]
    assert events.watch().get_nowait() is None


async def test_recording_after_the_end_neither_raises_nor_waits(
    sink: Sink[Event], clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-C10, EVT-3: it is logged."""
    async with EventBroadcaster(clock=clock) as events:
        recorder = events.recorder("ctl")
        events.record_to(sink)

    recorder.event(pod(), "Normal", "Started", "too late")

    assert sink.calls == []
    assert "the broadcaster has ended" in caplog.text


@pytest.fixture
def _frequent_thread_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_frequent_thread_switches")
async def test_events_of_threads_before_the_block_are_each_distributed_once(
    clock: ManualClock,
) -> None:
    events = EventBroadcaster(clock=clock)
    watcher = events.watch()
    created = [Event(metadata=ObjectMeta(name=f"e{number}")) for number in range(WATCHER_QUEUE)]

    def record(thread: int) -> None:
        for event in created[thread::4]:
            events.record(event)

    await asyncio.gather(*(asyncio.to_thread(record, thread) for thread in range(4)))

    seen = [event.metadata.name for event in iter(watcher.get_nowait, None)]
    assert sorted(seen) == sorted(event.metadata.name for event in created)


async def test_events_may_be_recorded_from_other_threads(sink: Sink[Event]) -> None:
    async with EventBroadcaster() as events:
        events.record_to(sink)
        recorder = events.recorder("ctl")
        await asyncio.to_thread(recorder.event, pod(), "Normal", "Started", "up")

    assert sink.verbs == ["CREATE"]


# --- the end


async def test_leaving_the_block_writes_what_was_recorded(
    sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-4: nothing was written before."""
    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        for number in range(20):
            events.recorder("ctl").event(pod(f"p{number}"), "Normal", "Started", "up")

    assert len(sink.calls) == 20


async def test_a_cancelled_block_is_flushed_as_well(sink: Sink[Event], clock: ManualClock) -> None:
    """EVT-4, X-7: a cancelled block is flushed without retry delays."""
    sink.failures += [ConnectError("refused")]

    async def program() -> None:
        async with EventBroadcaster(clock=clock) as events:
            events.record_to(sink)
            recorders.append(events.recorder("ctl"))
            recorders[0].event(pod(), "Normal", "Started", "late")
            await asyncio.Event().wait()

    recorders: list[EventRecorder] = []
    task = asyncio.create_task(program())
    await clock.settle()
    recorders[0].event(pod(), "Normal", "Started", "goes")
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert [call.body["message"] for call in sink.calls] == ["late", "late", "goes"]


async def test_the_flush_is_bounded_if_a_sink_hangs(
    sink: Sink[Event], clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-4: the end takes five seconds at most, and logs what was lost."""
    sink.gate.clear()

    async def program() -> None:
        async with EventBroadcaster(clock=clock) as events:
            events.record_to(sink)
            events.recorder("ctl").event(pod(), "Normal", "Started", "up")

    task = asyncio.create_task(program())
    await clock.advance(FLUSH_WITHIN)

    assert task.done()
    assert "the rest is lost" in caplog.text


# --- logs


async def test_events_are_logged_by_functions_and_loggers(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-5: as text, and with their fields; exceptions of a handler are contained."""
    caplog.set_level(logging.DEBUG)
    lines: list[str] = []

    def broken(event: Event) -> None:
        raise ServiceUnavailable("x", error_response("Gone").status)

    async with EventBroadcaster(clock=clock) as events:
        events.on_event(broken)
        events.log_to(lines.append)
        events.log_to(logging.getLogger("app.events"), level=logging.WARNING)
        events.recorder("ctl").event(pod(), "Normal", "Started", "up")

    assert lines == ["Event(Pod shop/web): type: 'Normal' reason: 'Started' up"]
    record: Any = next(each for each in caplog.records if each.name == "app.events")
    assert record.levelno == logging.WARNING
    assert record.event["reason"] == "Started"


async def test_an_async_handler_is_rejected() -> None:
    async def handler(event: Event) -> None:
        """Would never be awaited."""

    async with EventBroadcaster() as events:
        with pytest.raises(InvalidArgument, match="it is async"):
            events.on_event(handler)


async def test_an_event_that_waits_for_a_retry_is_sent_once_more_at_the_end(
    sink: Sink[Event], clock: ManualClock
) -> None:
    """EVT-4: shutdown writes what was to be retried."""
    sink.failures.append(ConnectError("refused"))

    async with EventBroadcaster(clock=clock) as events:
        events.record_to(sink)
        events.recorder("ctl").event(pod(), "Normal", "Started", "up")
        await clock.settle()
        assert sink.verbs == ["CREATE"]

    assert sink.verbs == ["CREATE", "CREATE"]
    assert len(sink.stored) == 1
