"""Which sinks are accepted, and which are rejected before an event is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kubeloop.events import EventBroadcaster, EventBroadcasterAdapter, SeriesBroadcaster
from kubeloop.meta import GroupVersionKind
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap, Event
from kubeloop.wire.events.v1 import Event as NewEvent
from kubeloop_testing import APIServer
from tests.events.sinks import pod


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as running:
        yield running


@pytest.mark.parametrize(
    ("sink", "problem"),
    [
        (lambda client: client, "it has no in_namespace, create, patch"),
        (lambda client: client.rest, "it has no in_namespace, create, patch"),
        (lambda client: client.resource(ConfigMap), "it accepts v1 ConfigMap"),
        (lambda client: client.resource(NewEvent), "it accepts events.k8s.io/v1 Event"),
        (lambda client: client.resource(GroupVersionKind("", "v1", "Event")), "it accepts dict"),
        (lambda client: client.resource(Event).get("one"), "it is a coroutine"),
        (lambda client: type(client.resource(Event)), "it is a class"),
        (lambda client: Event, "it is a class"),
        (lambda client: None, "it has no in_namespace, create, patch"),
        (lambda client: BlockingSink(), "it is not async"),
    ],
)
async def test_a_wrong_sink_is_rejected_at_once(
    server: APIServer, sink: Callable[[Client], Any], problem: str
) -> None:
    async with Client(server.config) as client, EventBroadcaster() as events:
        with pytest.raises(TypeError, match=f"record events to .*: {problem}"):
            events.record_to(sink(client))


async def test_a_sink_of_the_other_api_is_rejected_at_once(server: APIServer) -> None:
    async with Client(server.config) as client:
        core, series = client.resource(Event), client.resource(NewEvent)
        wrong: Any = core
        async with SeriesBroadcaster() as events:
            with pytest.raises(TypeError, match=r"the Event of kubeloop\.wire\.events\.v1"):
                events.record_to(wrong)
            events.record_to(series)
        with pytest.raises(TypeError, match="it accepts"):
            EventBroadcasterAdapter(core, wrong)


async def test_a_client_of_events_is_accepted_for_any_namespace(server: APIServer) -> None:
    async with Client(server.config) as client:
        async with EventBroadcaster() as events:
            events.record_to(client.resource(Event, namespace="elsewhere"))
            events.recorder("test").event(pod(namespace="default"), "Normal", "Seen", "seen")

        assert [event.reason for event in await client.resource(Event).list()] == ["Seen"]


class BlockingSink:
    """As the blocking client: it would block the event loop, and its results cannot be awaited."""

    def in_namespace(self, namespace: str) -> BlockingSink:
        return self

    def create(self, event: Event) -> Event:
        return event

    def patch(self, name: str, patch: bytes, *, type: str) -> Event:  # noqa: A002
        return Event()
