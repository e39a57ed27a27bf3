"""Watches: events, their order, and the end of a stream."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
import pytest

from kubeloop.kit import ManualClock
from kubeloop_testing.server import Service
from kubeloop_testing.server.registry import Registry, ServedResource
from kubeloop_testing.server.representations.representation import Representation
from kubeloop_testing.server.storage.selection import Selection
from kubeloop_testing.server.storage.store import Store
from kubeloop_testing.server.watching import Hub, WatchStart
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import CONFIG_MAPS, PODS, config_map, pod


def _types_and_names(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["type"], each["object"]["metadata"].get("name", "")) for each in events]


async def _version(api: Api) -> str:
    found: str = (await api.get(CONFIG_MAPS)).json["metadata"]["resourceVersion"]
    return found


async def test_a_watch_from_a_version_sends_the_later_changes(api: Api) -> None:
    """API-42, API-44: the types of events; a deletion has the last state and a new version."""
    version = await _version(api)
    await api.create(CONFIG_MAPS, config_map("a"))
    changed = await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "1"}})
    await api("DELETE", f"{CONFIG_MAPS}/a")

    events = await api.events(CONFIG_MAPS, 3, resourceVersion=version)

    assert _types_and_names(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    gone = events[2]["object"]
    assert gone["data"] == {"x": "1"}
    assert int(gone["metadata"]["resourceVersion"]) > int(
        changed.json["metadata"]["resourceVersion"]
    )
    assert gone["kind"] == "ConfigMap"


async def test_a_watch_without_a_version_starts_with_the_existing_objects(api: Api) -> None:
    """API-42: synthetic ADDED events."""
    await api.create(CONFIG_MAPS, config_map("a"))
    async with api.watch(CONFIG_MAPS) as response:
        first = msgspec.json.decode(await response.content.readline())
        await api.create(CONFIG_MAPS, config_map("b"))
        second = msgspec.json.decode(await response.content.readline())

    assert _types_and_names([first, second]) == [("ADDED", "a"), ("ADDED", "b")]


async def test_an_object_that_leaves_the_selector_arrives_as_deleted(api: Api) -> None:
    """API-45, API-C16: the old state with the version of the change, as in kube-apiserver."""
    version = await _version(api)
    await api.create(PODS, pod("web", app="x"))
    left = await api.patch(f"{PODS}/web", {"metadata": {"labels": {"app": "y"}}})
    await api.patch(f"{PODS}/web", {"metadata": {"labels": {"app": "x"}}})

    events = await api.events(PODS, 3, resourceVersion=version, labelSelector="app=x")

    assert _types_and_names(events) == [("ADDED", "web"), ("DELETED", "web"), ("ADDED", "web")]
    meta = events[1]["object"]["metadata"]
    assert meta["labels"] == {"app": "x"}
    assert meta["resourceVersion"] == left.json["metadata"]["resourceVersion"]


async def test_a_watch_of_one_object_sees_no_other(api: Api) -> None:
    version = await _version(api)
    await api.create(CONFIG_MAPS, config_map("a"))
    await api.create(CONFIG_MAPS, config_map("b"))

    by_field = await api.events(
        CONFIG_MAPS, 1, resourceVersion=version, fieldSelector="metadata.name=b"
    )
    by_path = await api.events(
        "/api/v1/watch/namespaces/default/configmaps/b", 1, resourceVersion=version
    )

    assert _types_and_names(by_field) == _types_and_names(by_path) == [("ADDED", "b")]


async def test_a_list_as_a_stream_ends_with_its_bookmark(api: Api) -> None:
    """WatchList: existing objects, then a bookmark with the annotation."""
    await api.create(CONFIG_MAPS, config_map("a"))

    events = await api.events(
        CONFIG_MAPS,
        2,
        sendInitialEvents="true",
        allowWatchBookmarks="true",
        resourceVersionMatch="NotOlderThan",
    )

    assert [each["type"] for each in events] == ["ADDED", "BOOKMARK"]
    meta = events[1]["object"]["metadata"]
    assert meta["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert meta["resourceVersion"] == await _version(api)


async def test_an_expired_version_is_an_error_event_in_the_stream(
    api: Api, server: Service
) -> None:
    version = await _version(api)
    await api.create(CONFIG_MAPS, config_map("a"))
    server.expire_history()

    response = await api.get(CONFIG_MAPS, watch="1", resourceVersion=version)

    assert response.code == 200
    assert response.json["type"] == "ERROR"
    assert response.json["object"]["code"] == 410
    assert response.json["object"]["reason"] == "Expired"


async def test_initial_events_of_a_future_version_are_refused_within_the_stream(api: Api) -> None:
    response = await api.get(
        CONFIG_MAPS,
        watch="1",
        resourceVersion="99999",
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
    )

    assert response.json["object"]["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


async def test_initial_events_need_the_matching_rule(api: Api) -> None:
    response = await api.get(CONFIG_MAPS, watch="1", sendInitialEvents="true")

    assert response.code == 422
    assert "sendInitialEvents requires setting resourceVersionMatch" in response.json["message"]


async def test_a_table_watch_names_its_columns_once(api: Api) -> None:
    """API-46: column definitions are in the first event only."""
    await api.create(PODS, pod("a"))
    await api.create(PODS, pod("b"))
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
    lines = []
    async with api.session.get(PODS, params={"watch": "1"}, headers={"Accept": accept}) as response:
        lines.append(msgspec.json.decode(await response.content.readline()))
        lines.append(msgspec.json.decode(await response.content.readline()))

    assert [bool(each["object"].get("columnDefinitions")) for each in lines] == [True, False]


@pytest.fixture
async def timed() -> AsyncIterator[tuple[Service, ManualClock]]:
    clock = ManualClock()
    async with Service(clock=clock, bookmark_period=10) as server:
        yield server, clock


async def test_bookmarks_come_from_time_to_time_and_a_last_one_before_the_timeout(
    timed: tuple[Service, ManualClock],
) -> None:
    server, clock = timed
    params = {"watch": "1", "allowWatchBookmarks": "1", "timeoutSeconds": "15"}
    async with (
        aiohttp.ClientSession(server.url) as session,
        session.get(CONFIG_MAPS, params=params) as response,
    ):
        # A watch that knows the latest version needs no bookmark.
        server.core.store.advance(server.core.store.version + 1)
        await clock.advance(10)
        first = msgspec.json.decode(await response.content.readline())
        await clock.advance(3)
        last = msgspec.json.decode(await response.content.readline())
        await clock.advance(2)
        rest = await response.content.read()

    assert first["type"] == last["type"] == "BOOKMARK"
    assert first["object"]["kind"] == "ConfigMap"
    assert rest == b""


# --- the hub alone


@pytest.fixture
def store() -> Store:
    return Store(history=3)


@pytest.fixture
def served() -> ServedResource:
    found = Registry().find("", "v1", "configmaps")
    assert found is not None
    return found


def _object(name: str, **meta: Any) -> dict[str, Any]:
    return {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default", **meta},
    }


def test_events_are_encoded_once_for_all_watchers(store: Store, served: ServedResource) -> None:
    hub = Hub(store)
    everyone = [hub.open(Selection(), Representation(served), WatchStart()) for _ in range(2)]

    store.write(served.storage, _object("a"))

    (one,), (two,) = everyone[0].take(), everyone[1].take()
    assert one is two


def test_a_watcher_that_is_too_slow_is_cut_off(store: Store, served: ServedResource) -> None:
    hub = Hub(store, queue=2)
    watcher = hub.open(Selection(), Representation(served), WatchStart())

    for name in ("a", "b", "c"):
        store.write(served.storage, _object(name))

    assert watcher.ended
    assert watcher.cut_off
    assert watcher.take() == []
    hub.close(watcher)
    assert hub.stats().cut_off == 1


def test_no_event_is_sent_twice_between_the_initial_ones_and_the_changes(
    store: Store, served: ServedResource
) -> None:
    hub = Hub(store)
    store.write(served.storage, _object("a"))
    watcher = hub.open(Selection(), Representation(served), WatchStart())
    store.write(served.storage, _object("b"))

    events = [msgspec.json.decode(each) for each in watcher.take() + watcher.take()]

    assert _types_and_names(events) == [("ADDED", "a"), ("ADDED", "b")]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 8])
def test_the_initial_events_are_complete_for_every_batch_size(
    store: Store, served: ServedResource, most: int
) -> None:
    """API-42: no object is lost between two batches."""
    names = [f"config-{at}" for at in range(7)]
    for name in names:
        store.write(served.storage, _object(name))
    watcher = Hub(store).open(Selection(), Representation(served), WatchStart())

    events = [event for _ in range(8) for event in watcher.take(most)]

    assert [name for _, name in _types_and_names([*map(msgspec.json.decode, events)])] == names


async def test_a_waiting_watcher_is_woken_by_a_change(store: Store, served: ServedResource) -> None:
    hub = Hub(store)
    watcher = hub.open(Selection(), Representation(served), WatchStart())
    watcher.take()
    waiting = asyncio.create_task(watcher.wait())
    await asyncio.sleep(0)

    store.write(served.storage, _object("a"))
    await waiting

    assert len(watcher.take()) == 1


async def test_watches_that_wait_share_one_chunk_of_all_events(
    store: Store, served: ServedResource
) -> None:
    hub = Hub(store)
    sent: list[list[bytes]] = [[], []]
    waiting = []
    for chunks in sent:
        watcher = hub.open(Selection(), Representation(served), WatchStart())
        watcher.take()
        sink = functools.partial(_accept, chunks)
        waiting.append(asyncio.create_task(watcher.wait(sink)))
    await asyncio.sleep(0)

    store.write(served.storage, _object("a"))
    store.write(served.storage, _object("b"))
    await asyncio.sleep(0)

    ((one,), (two,)) = sent
    assert one is two
    size, _, lines = one.partition(b"\r\n")
    assert lines.endswith(b"\r\n")
    assert int(size, 16) == len(lines) - 2
    assert [msgspec.json.decode(line)["type"] for line in lines.splitlines()[:2]] == ["ADDED"] * 2
    assert not any(task.done() for task in waiting)
    hub.end_all()
    await asyncio.gather(*waiting)


def _accept(chunks: list[bytes], chunk: bytes) -> bool:
    chunks.append(chunk)
    return True


async def test_events_that_a_sink_refuses_stay_queued_and_wake_the_sender(
    store: Store, served: ServedResource
) -> None:
    hub = Hub(store)
    watcher = hub.open(Selection(), Representation(served), WatchStart())
    watcher.take()
    waiting = asyncio.create_task(watcher.wait(lambda _: False))
    await asyncio.sleep(0)

    store.write(served.storage, _object("a"))
    await waiting

    assert len(watcher.take()) == 1


def test_a_watch_in_one_namespace_sees_no_other(store: Store, served: ServedResource) -> None:
    hub = Hub(store)
    watcher = hub.open(Selection(namespace="default"), Representation(served), WatchStart())

    store.write(served.storage, _object("a", namespace="other"))
    store.write(served.storage, _object("b"))

    events = [msgspec.json.decode(each) for each in watcher.take()]
    assert _types_and_names(events) == [("ADDED", "b")]


# --- clients that do not read


async def _open_watch(server: Service) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A watch on a plain socket, of which only the headers are read."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(b"GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def test_a_client_that_does_not_read_is_cut_off_and_the_others_are_not() -> None:
    async with Service(watch_queue=20) as server, aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        reader, writer = await _open_watch(server)
        big = config_map("a", x="y" * 200_000)
        async with api.watch(CONFIG_MAPS) as response:
            for number in range(100):
                big["metadata"]["name"] = f"n{number}"
                await api.create(CONFIG_MAPS, big)
                await response.content.readuntil(b"\n")
                if server.stats().watches.watchers == 1:
                    break
        stats = server.stats()
        writer.close()

    assert stats.watches.cut_off == 1
    assert reader is not None


async def test_a_client_that_goes_away_leaves_no_watcher_behind(server: Service, api: Api) -> None:
    _, writer = await _open_watch(server)
    before = server.stats().watches.watchers

    writer.close()
    await writer.wait_closed()
    await api.get("/version")  # lets the server run

    assert (before, server.stats().watches.watchers) == (1, 0)
