"""Events written to the embedded API server, over HTTP."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar, final

import aiohttp

from kubeloop.clients import event_selector
from kubeloop.errors import api_error
from kubeloop.events import EventBroadcaster, SeriesBroadcaster
from kubeloop.wire import Resource
from kubeloop.wire.core.v1 import Event
from kubeloop.wire.events.v1 import Event as NewEvent
from kubeloop.wire.meta.v1 import Status
from kubeloop_testing.server import Service
from tests.events.sinks import node, pod

E = TypeVar("E", bound=Resource)
PATCH = "application/strategic-merge-patch+json"


@final
class HttpSink(Generic[E]):
    """A minimal client of events."""

    def __init__(
        self, session: aiohttp.ClientSession, kind: type[E], root: str, namespace: str = ""
    ) -> None:
        self._session = session
        self._kind = kind
        self._root = root
        self._path = f"{root}/namespaces/{namespace}/events"

    def in_namespace(self, namespace: str, /) -> HttpSink[E]:
        return HttpSink(self._session, self._kind, self._root, namespace)

    async def create(self, event: E, /) -> E:
        return await self._send("POST", self._path, event.to_json(), "application/json")

    async def patch(self, name: str, patch: bytes, /, *, type: Literal["strategic"]) -> E:  # noqa: A002 - the Protocol's
        return await self._send("PATCH", f"{self._path}/{name}", patch, PATCH)

    async def _send(self, method: str, path: str, body: bytes, content_type: str) -> E:
        headers = {"Content-Type": content_type}
        async with self._session.request(method, path, data=body, headers=headers) as response:
            content = await response.read()
            if response.status >= 400:
                raise api_error(f"{method} {path}", Status.from_json(content))
            return self._kind.from_json(content)


async def list_events(session: aiohttp.ClientSession, path: str, **query: str) -> list[Any]:
    async with session.get(path, params=query) as response:
        found: list[Any] = (await response.json())["items"]
        return found


async def test_events_are_created_counted_and_listed() -> None:
    """EVT-C1, EVT-C6, EVT-C9, EVT-23 against a server."""
    async with Service() as server, aiohttp.ClientSession(server.url) as session:
        async with EventBroadcaster() as events:
            writer = events.record_to(HttpSink(session, Event, "/api/v1"))
            recorder = events.recorder("ctl", host="node-1")
            for _ in range(3):
                recorder.event(pod(namespace="default"), "Warning", "BackOff", "again")
            recorder.event(node(), "Normal", "Ready", "kubelet is there")

        assert (writer.stats().written, writer.stats().lost) == (4, 0)
        about = str(event_selector(name="web", kind="Pod"))
        (found,) = await list_events(session, "/api/v1/events", fieldSelector=about)
        assert (found["count"], found["message"]) == (3, "again")
        assert len(await list_events(session, "/api/v1/namespaces/default/events")) == 2


async def test_series_are_created_and_patched() -> None:
    """EVT-16, EVT-18 against a server, which shows them in both forms."""
    async with Service() as server, aiohttp.ClientSession(server.url) as session:
        async with SeriesBroadcaster() as events:
            writer = events.record_to(HttpSink(session, NewEvent, "/apis/events.k8s.io/v1"))
            recorder = events.recorder("example.com/ctl")
            for number in range(5):
                recorder.event(pod(namespace="default"), "Normal", "Bound", "Bind", f"{number}")

        assert writer.stats().lost == 0
        (found,) = await list_events(session, "/apis/events.k8s.io/v1/events")
        assert (found["series"]["count"], found["note"]) == (5, "0")
        (core,) = await list_events(session, "/api/v1/events")
        assert core["involvedObject"]["name"] == "web"
