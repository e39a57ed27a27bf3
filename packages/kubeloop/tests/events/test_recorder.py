"""The content of events, and what cannot become one."""

from __future__ import annotations

import copy
import threading
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kubeloop.clients import event_selector
from kubeloop.errors import InvalidArgument
from kubeloop.events import (
    EVENT_TYPES,
    EventNames,
    EventRecorder,
    FakeRecorder,
    FakeRecorderFull,
    FakeSeriesRecorder,
    Recorder,
    SeriesRecorder,
    SeriesRecorderLike,
    object_reference,
)
from kubeloop.kit import ManualClock
from kubeloop.meta import problems_of_dns_subdomain
from kubeloop.wire.core.v1 import Event, ObjectReference, PodList
from kubeloop.wire.events.v1 import Event as NewEvent
from tests.events.sinks import node, pod

NEW_YEAR = datetime(2030, 1, 1, tzinfo=UTC)
NANOSECONDS = f"{int(NEW_YEAR.timestamp()) * 10**9:x}"


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def recorder(events: list[Event], clock: ManualClock) -> EventRecorder:
    return EventRecorder(
        events.append, component="web-ctl", host="node-1", clock=clock, names=EventNames(clock)
    )


def test_an_event_names_its_object_its_reason_and_its_source(
    recorder: EventRecorder, events: list[Event]
) -> None:
    """EVT-2: all fields that client-go sets."""
    recorder.event(pod(), "Normal", "Started", "started %s in %d s", "web", 3)

    assert events[0].to_dict() == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"web.{NANOSECONDS}", "namespace": "shop"},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": "web",
            "namespace": "shop",
            "uid": "u1",
            "resourceVersion": "7",
        },
        "type": "Normal",
        "reason": "Started",
        "message": "started web in 3 s",
        "count": 1,
        "firstTimestamp": "2030-01-01T00:00:00Z",
        "lastTimestamp": "2030-01-01T00:00:00Z",
        "source": {"component": "web-ctl", "host": "node-1"},
        "reportingComponent": "web-ctl",
        "reportingInstance": "node-1",
    }


def test_an_event_may_have_annotations_and_a_time_in_the_past(
    recorder: EventRecorder, events: list[Event]
) -> None:
    """EVT-1: AnnotatedEventf, and past time."""
    before = datetime(2029, 12, 31, tzinfo=UTC)

    recorder.event(pod(), "Normal", "Started", "100%", annotations={"trace": "1"}, at=before)

    assert events[0].metadata.annotations == {"trace": "1"}
    assert (events[0].first_timestamp, events[0].last_timestamp) == (before, before)
    assert events[0].message == "100%"


def test_an_event_on_a_node_is_in_the_default_namespace(
    recorder: EventRecorder, events: list[Event]
) -> None:
    """EVT-C9: a Node has none."""
    recorder.event(node(), "Warning", "NotReady", "gone")

    assert events[0].metadata.namespace == "default"
    assert events[0].involved_object.namespace is None


@pytest.mark.parametrize("name", ["Web", "x" * 250, "a_b", ""])
def test_an_object_name_that_cannot_be_part_of_an_event_name_is_replaced(
    recorder: EventRecorder, events: list[Event], name: str
) -> None:
    """EVT-C8: by a random one."""
    recorder.event(pod(name), "Normal", "Started", "up")

    assert uuid.UUID(events[0].metadata.name).version == 4


@given(names=some.lists(some.sampled_from(["web", "db", "Not A Name"]), max_size=50))
def test_event_names_are_unique(names: list[str]) -> None:
    """EVT-2: even if the clock does not advance."""
    maker = EventNames(ManualClock())

    made = [maker.name_for(name) for name in names]

    assert len(set(made)) == len(made)
    assert not any(problems_of_dns_subdomain(name) for name in made)


def test_an_unknown_type_is_logged_and_dropped(
    recorder: EventRecorder, events: list[Event], caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-1: the log names the valid types."""
    recorder.event(pod(), "Error", "Broken", "x")  # type: ignore[arg-type] # the test's point

    assert events == []
    assert "type 'Error' is unknown (use Normal or Warning)" in caplog.text
    assert sorted(EVENT_TYPES) == ["Normal", "Warning"]


@pytest.mark.parametrize("about", [None, "web", 7, {}, {"kind": "Pod"}, object()])
def test_an_event_about_something_else_than_an_object_is_logged_and_dropped(
    recorder: EventRecorder, events: list[Event], caplog: pytest.LogCaptureFixture, about: Any
) -> None:
    """EVT-1, WTC-C16: recording never raises."""
    recorder.event(about, "Normal", "Started", "x")

    assert events == []
    assert "cannot be recorded" in caplog.text


def test_arguments_that_do_not_fit_leave_the_message_unformatted(
    recorder: EventRecorder, events: list[Event], caplog: pytest.LogCaptureFixture
) -> None:
    """EVT-1: recording never raises."""
    recorder.event(pod(), "Normal", "Started", "%d of %d", "one")

    assert events[0].message == "%d of %d"
    assert "does not fit" in caplog.text


def test_a_message_that_is_not_text_is_converted_as_in_logging(
    recorder: EventRecorder, events: list[Event]
) -> None:
    error: Any = ValueError("no such image")

    recorder.event(pod(), "Warning", "Failed", error)

    assert events[0].message == "no such image"


def test_annotations_that_are_not_text_are_converted(
    recorder: EventRecorder, events: list[Event]
) -> None:
    """A value that cannot be copied would end every watcher, and lose all later events."""
    odd: Any = {"tries": 3, "lock": threading.Lock()}

    recorder.event(pod(), "Normal", "Started", "x", annotations=odd)

    assert events[0].metadata.annotations["tries"] == "3"
    copy.deepcopy(events[0])


def test_a_recorder_may_be_used_from_other_threads(
    recorder: EventRecorder, events: list[Event]
) -> None:
    threads = [
        threading.Thread(target=recorder.event, args=(pod(), "Normal", "Started", "x"))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({event.metadata.name for event in events}) == 8


# --- events.k8s.io


def test_an_event_of_events_k8s_io_has_an_action_and_a_related_object(clock: ManualClock) -> None:
    """EVT-16: eventTime has microseconds, and there is no series yet."""
    events: list[NewEvent] = []
    recorder = SeriesRecorder(
        events.append,
        controller="example.com/ctl",
        instance="example.com/ctl-host",
        clock=clock,
        names=EventNames(clock),
    )

    recorder.event(
        pod(), "Normal", "Bound", "Bind", "to %s", "it", related=node(), annotations={"a": "b"}
    )
    recorder.event(pod(), "Oops", "Bound", "Bind", "x")  # type: ignore[arg-type] # unknown
    recorder.event(None, "Normal", "Bound", "Bind", "x")  # type: ignore[arg-type] # no object

    (event,) = events
    assert event.to_dict() == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": f"web.{NANOSECONDS}",
            "namespace": "shop",
            "annotations": {"a": "b"},
        },
        "regarding": object_reference(pod()).to_dict(),
        "related": {"apiVersion": "v1", "kind": "Node", "name": "node-7", "uid": "n1"},
        "type": "Normal",
        "reason": "Bound",
        "action": "Bind",
        "note": "to it",
        "eventTime": "2030-01-01T00:00:00.000000Z",
        "reportingController": "example.com/ctl",
        "reportingInstance": "example.com/ctl-host",
    }
    assert copy.deepcopy(event) == event


def test_a_related_object_without_a_kind_is_left_out(clock: ManualClock) -> None:
    """EVT-16: the event is still recorded."""
    events: list[NewEvent] = []
    recorder = SeriesRecorder(
        events.append, controller="c", instance="i", clock=clock, names=EventNames(clock)
    )

    recorder.event(node(), "Normal", "Bound", "Bind", "x", related={"kind": "?"})

    assert events[0].related is None
    assert events[0].metadata.namespace == "default"


# --- references, selectors, fakes


def test_references_are_created_from_objects_dicts_and_references() -> None:
    """WTC-30: kind and apiVersion from the object or its class; a part has a field path."""
    typed = object_reference(pod(), field_path="spec.containers{web}")
    plain = object_reference(pod().to_dict(), field_path="spec.containers{web}")

    assert typed == plain == object_reference(typed)
    assert typed.field_path == "spec.containers{web}"
    given = ObjectReference(name="only")
    assert object_reference(given) == given
    assert object_reference(given) is not given


def test_a_list_has_a_version_and_no_name() -> None:
    """WTC-30: only kind and versions."""
    pods = PodList()
    pods.metadata.resource_version = "9"

    reference = object_reference(pods)

    assert (reference.kind, reference.resource_version, reference.name) == ("PodList", "9", None)


def test_the_selector_of_events_has_the_fields_that_are_given() -> None:
    """EVT-23: the prefix depends on the form, and what is empty is left out."""
    old = event_selector(name="web", kind="Pod")
    new = event_selector(name="web", api_version="v1", uid="u1", events="events.k8s.io/v1")

    assert str(old) == "involvedObject.name=web,involvedObject.kind=Pod"
    assert str(new) == "regarding.name=web,regarding.apiVersion=v1,regarding.uid=u1"
    assert event_selector().is_everything
    with pytest.raises(InvalidArgument, match="expected v1 or"):
        event_selector(name="web", events="v2")


def test_a_fake_recorder_keeps_lines() -> None:
    """EVT-24: type, reason and message; the object and annotations on request."""
    fake: Recorder = FakeRecorder()
    new: SeriesRecorderLike = FakeSeriesRecorder(with_object=True)

    fake.event(pod(), "Normal", "Started", "up %d", 1)
    new.event(pod(), "Normal", "Bound", "Bind", "to %s", "it", annotations={"a": "b"})

    assert isinstance(fake, FakeRecorder)
    assert fake.lines == ["Normal Started up 1"]
    assert isinstance(new, FakeSeriesRecorder)
    assert new.lines == ["Normal Bound to it object{kind=Pod,apiVersion=v1} annotations{a=b}"]


def test_a_full_fake_recorder_raises_and_one_without_capacity_drops() -> None:
    """EVT-24: as a test needs it."""
    small, none = FakeRecorder(1), FakeRecorder(0)
    small.event(pod(), "Normal", "Started", "up")
    none.event(pod(), "Normal", "Started", "up")

    with pytest.raises(FakeRecorderFull, match="has 1 events"):
        small.event(pod(), "Normal", "Started", "up")
    assert none.lines == []
