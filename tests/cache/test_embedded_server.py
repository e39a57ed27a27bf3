"""An informer against the embedded API server, over real HTTP, with its faults switched on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.support.change_history import ChangeHistory, cached_versions

from kubeloop.cache import RawPage, Scope, SharedInformer
from kubeloop.errors import ConnectError, StreamBroken, api_error, status_from_object
from kubeloop.kit import Timeout
from kubeloop.meta import ObjectKey
from kubeloop.testing.server import Service
from kubeloop.testing.server.faults import Match
from kubeloop.wire import RawEvent, split_event, split_list
from kubeloop.wire.core.v1 import ConfigMap

PATH = "/api/v1/namespaces/default/configmaps"
SPEED = 40


class QuickClock:
    """The machine's clock, forty times as fast: delays are the real ones, and short.

    Bounds stay as long as they are: a quarter of a second is soon over on a busy machine.
    """

    def now(self) -> float:
        return time.monotonic() * SPEED

    def time(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / SPEED)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(seconds)


class HttpListWatch:
    """The least that lists and watches over HTTP."""

    scope = Scope("configmaps", namespace="default", kind="ConfigMap", api_version="v1")
    streams_lists = True

    def __init__(self, server: Service, session: aiohttp.ClientSession) -> None:
        self._server = server
        self._session = session

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        query = {"resourceVersion": resource_version, "limit": str(limit or ""), "continue": page}
        async with self._get({name: value for name, value in query.items() if value}) as answer:
            found = split_list(await answer.read())
        return RawPage(found.items or [], found.version, found.next_page, kind=found.kind)

    async def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        query = {
            "watch": "true",
            "resourceVersion": resource_version,
            "allowWatchBookmarks": str(bookmarks).lower(),
            "timeoutSeconds": str(timeout_seconds),
        }
        if initial_events:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        async with self._get(query) as answer:
            held = b""
            async for chunk in answer.content.iter_any():
                *lines, held = (held + chunk).split(b"\n")
                for line in lines:
                    yield split_event(line)

    @asynccontextmanager
    async def _get(self, query: dict[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._session.get(self._server.url + PATH, params=query) as answer:
                if answer.status != 200:
                    status = status_from_object(await answer.json())
                    raise api_error(f"GET {PATH}", status)
                yield answer
        except aiohttp.ClientConnectorError as error:
            raise ConnectError(f"GET {PATH}: {error}") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise StreamBroken(f"GET {PATH}: {error}") from error


class World:
    """A server, a client that writes, an informer, and a handler's history."""

    def __init__(self, server: Service, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session
        source = HttpListWatch(server, session)
        self.informer = SharedInformer(source, ConfigMap, clock=QuickClock())
        self.history = ChangeHistory()
        self.registration = self.informer.add_handler(on_change=self.history)

    async def put(self, name: str, value: str) -> str:
        body = {"metadata": {"name": name}, "data": {"value": value}}
        url = self.server.url + PATH
        async with self.session.put(f"{url}/{name}", json=body) as answer:
            if answer.status == 404:
                async with self.session.post(url, json=body) as created:
                    return str((await created.json())["metadata"]["resourceVersion"])
            return str((await answer.json())["metadata"]["resourceVersion"])

    async def delete(self, name: str) -> None:
        async with self.session.delete(f"{self.server.url}{PATH}/{name}") as answer:
            assert answer.status == 200

    async def state(self) -> dict[ObjectKey, tuple[str, str]]:
        async with self.session.get(self.server.url + PATH) as answer:
            items = msgspec.json.decode(await answer.read())["items"]
        metadata = [item["metadata"] for item in items]
        return {
            ObjectKey(each["namespace"], each["name"]): (each["uid"], each["resourceVersion"])
            for each in metadata
        }

    async def ends_equal(self) -> None:
        """Wait until the cache and the history are what the server has."""
        wanted = await self.state()
        await self.until(lambda: cached_versions(self.informer) == wanted == self.history.now)
        assert self.registration.stats().failures == 0

    async def until(self, met: Callable[[], bool]) -> None:
        async with asyncio.timeout(4):
            while not met():
                await asyncio.sleep(0.005)

    def requests(self, verb: str) -> int:
        asked = self.server.faults.requests
        return sum(each.verb == verb and "watch" not in each.query for each in asked)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Service(bookmark_period=0.05) as server, aiohttp.ClientSession() as session:
        found = World(server, session)
        await found.put("first", "1")
        async with found.informer:
            yield found


async def test_the_cache_follows_and_writes_can_be_read_at_once(world: World) -> None:
    version = await world.put("web", "1")
    first = await world.informer.get("web", namespace="default", resource_version=version)
    version = await world.put("web", "2")
    second = await world.informer.get("web", namespace="default", resource_version=version)

    assert first is not None
    assert second is not None
    assert (first.data, second.data) == ({"value": "1"}, {"value": "2"})
    assert world.requests("list") == 0  # the state came as a stream
    await world.ends_equal()


@pytest.mark.parametrize("at", [1, 40, 150, 300, 301, 500])
async def test_streams_that_break_anywhere_lose_nothing(world: World, at: int) -> None:
    """X-1."""
    world.server.faults.cut_streams(after_bytes=at)
    world.server.drop_connections()
    for number in range(5):
        await world.put(f"pod-{number}", "1")
        await world.put("first", str(number))
    await world.delete("pod-3")
    world.server.faults.heal()

    await world.ends_equal()


async def test_streams_that_end_after_each_event_lose_nothing(world: World) -> None:
    world.server.faults.cut_streams(after_events=1)
    world.server.drop_connections()
    for number in range(5):
        await world.put(f"pod-{number}", "1")
    world.server.faults.heal()

    await world.ends_equal()


async def test_expired_history_leads_to_one_new_list(world: World) -> None:
    """X-2: no add twice, has_synced stays true."""
    world.server.faults.fail(503, times=None, match=Match(verb="watch"))
    world.server.drop_connections()
    await world.put("second", "1")
    await world.delete("first")
    world.server.expire_history()
    assert world.informer.has_synced
    world.server.faults.heal()

    await world.ends_equal()
    assert world.informer.has_synced
    assert "Deleted first" in world.history.lines
    assert world.history.lines.count("Added second") == 1


async def test_a_server_that_restarts_is_followed_again(world: World) -> None:
    """X-1."""
    await world.put("second", "1")
    await world.server.restart()
    await world.put("third", "1")

    await world.ends_equal()


async def test_the_cache_waits_for_an_unavailable_server(world: World) -> None:
    """CCH-61, CCH-67: connection refused."""
    await world.server.refuse_connections()
    await world.until(lambda: world.informer.stats().reflector.errors > 1)
    await world.server.accept_connections()
    await world.put("second", "1")

    await world.ends_equal()


async def test_a_server_that_lost_everything_is_followed_again(world: World) -> None:
    """Its versions begin anew: what we know is too large for it."""
    for number in range(5):
        await world.put(f"pod-{number}", "1")
    await world.server.restart(keep_data=False)
    await world.put("second", "1")

    await world.ends_equal()


async def test_a_server_that_ends_every_watch_at_once_is_not_stormed(world: World) -> None:
    """CCH-C35: for ten of our seconds."""
    world.server.faults.close_watches = True
    world.server.drop_connections()
    before = len(world.server.faults.requests)
    await asyncio.sleep(10 / SPEED)

    assert len(world.server.faults.requests) - before < 20
    world.server.faults.heal()
    await world.put("second", "1")
    await world.ends_equal()


async def test_a_server_that_cannot_stream_lists_is_listed(world: World) -> None:
    """CCH-C20."""
    world.server.faults.fail(422, times=None, match=Match(verb="watch"))
    world.server.drop_connections()
    await world.until(lambda: world.requests("list") > 0)
    world.server.faults.heal()
    await world.put("second", "1")

    await world.ends_equal()


def test_the_clock_is_only_faster() -> None:
    clock: Any = QuickClock()

    assert clock.now() > 0
    assert clock.time().tzinfo is UTC
