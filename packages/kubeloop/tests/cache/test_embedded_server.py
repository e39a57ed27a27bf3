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

from kubeloop.cache import ListWatch, RawPage, Scope, SharedInformer
from kubeloop.errors import ConnectError, StreamBroken, api_error, status_from_object
from kubeloop.kit import Timeout, Timer
from kubeloop.meta import ObjectKey
from kubeloop.wire import RawEvent, split_event, split_list
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop_testing.server import Service
from kubeloop_testing.server.faults import Match
from tests.support.change_history import ChangeHistory, cached_versions

PATH = "/api/v1/namespaces/default/configmaps"
SPEED = 40


class QuickClock:
    """The computer's clock, forty times as fast: the delays of production, but short.

    Timeouts keep their length: a quarter of a second is soon over on a busy computer.
    """

    def now(self) -> float:
        return time.monotonic() * SPEED

    def time(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / SPEED)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(seconds)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


class HttpListWatch(ListWatch):
    """A minimal list-watch over HTTP."""

    scope = Scope("configmaps", namespace="default", kind="ConfigMap", api_version="v1")
    streams_lists = True

    def __init__(self, server: Service, session: aiohttp.ClientSession) -> None:
        self._server = server
        self._session = session

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        query = {"resourceVersion": resource_version, "limit": str(limit or ""), "continue": page}
        async with self._get({name: value for name, value in query.items() if value}) as response:
            found = split_list(await response.read())
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
        async with self._get(query) as response:
            held = b""
            async for chunk in response.content.iter_any():
                *lines, held = (held + chunk).split(b"\n")
                for line in lines:
                    yield split_event(line)

    @asynccontextmanager
    async def _get(self, query: dict[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._session.get(self._server.url + PATH, params=query) as response:
                if response.status != 200:
                    status = status_from_object(await response.json())
                    raise api_error(f"GET {PATH}", status)
                yield response
        except aiohttp.ClientConnectorError as error:
            raise ConnectError(f"GET {PATH}: {error}") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise StreamBroken(f"GET {PATH}: {error}") from error


class Setup:
    """A server, a client that writes, an informer, and a handler that records."""

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
        async with self.session.put(f"{url}/{name}", json=body) as response:
            if response.status == 404:
                async with self.session.post(url, json=body) as created:
                    return str((await created.json())["metadata"]["resourceVersion"])
            return str((await response.json())["metadata"]["resourceVersion"])

    async def delete(self, name: str) -> None:
        async with self.session.delete(f"{self.server.url}{PATH}/{name}") as response:
            assert response.status == 200

    async def state(self) -> dict[ObjectKey, tuple[str, str]]:
        async with self.session.get(self.server.url + PATH) as response:
            items = msgspec.json.decode(await response.read())["items"]
        metadata = [item["metadata"] for item in items]
        return {
            ObjectKey(each["namespace"], each["name"]): (each["uid"], each["resourceVersion"])
            for each in metadata
        }

    async def wait_until_equal(self) -> None:
        """Wait until the cache, and what the handler has received, equal the server."""
        wanted = await self.state()
        await self.until(lambda: cached_versions(self.informer) == wanted == self.history.now)
        assert self.registration.stats().failures == 0

    async def until(self, met: Callable[[], bool]) -> None:
        async with asyncio.timeout(4):
            while not met():
                await asyncio.sleep(0.005)

    def requests(self, verb: str) -> int:
        requests = self.server.faults.requests
        return sum(each.verb == verb and "watch" not in each.query for each in requests)


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    async with Service(bookmark_period=0.05) as server, aiohttp.ClientSession() as session:
        found = Setup(server, session)
        await found.put("first", "1")
        async with found.informer:
            yield found


async def test_the_cache_follows_and_writes_can_be_read_at_once(setup: Setup) -> None:
    version = await setup.put("web", "1")
    first = await setup.informer.get("web", namespace="default", resource_version=version)
    version = await setup.put("web", "2")
    second = await setup.informer.get("web", namespace="default", resource_version=version)

    assert first is not None
    assert second is not None
    assert (first.data, second.data) == ({"value": "1"}, {"value": "2"})
    assert setup.requests("list") == 0  # the state came as a stream
    await setup.wait_until_equal()


@pytest.mark.parametrize("at", [1, 40, 150, 300, 301, 500])
async def test_streams_that_break_anywhere_lose_nothing(setup: Setup, at: int) -> None:
    """X-1: the cache equals the server in the end."""
    setup.server.faults.cut_streams(after_bytes=at)
    setup.server.drop_connections()
    for number in range(5):
        await setup.put(f"pod-{number}", "1")
        await setup.put("first", str(number))
    await setup.delete("pod-3")
    setup.server.faults.heal()

    await setup.wait_until_equal()


async def test_streams_that_end_after_each_event_lose_nothing(setup: Setup) -> None:
    setup.server.faults.cut_streams(after_events=1)
    setup.server.drop_connections()
    for number in range(5):
        await setup.put(f"pod-{number}", "1")
    setup.server.faults.heal()

    await setup.wait_until_equal()


async def test_expired_history_leads_to_one_new_list(setup: Setup) -> None:
    """X-2: no add twice, has_synced stays true."""
    setup.server.faults.fail(503, times=None, match=Match(verb="watch"))
    setup.server.drop_connections()
    await setup.put("second", "1")
    await setup.delete("first")
    setup.server.expire_history()
    assert setup.informer.has_synced
    setup.server.faults.heal()

    await setup.wait_until_equal()
    assert setup.informer.has_synced
    assert "Deleted first" in setup.history.lines
    assert setup.history.lines.count("Added second") == 1


async def test_a_server_that_restarts_is_followed_again(setup: Setup) -> None:
    """X-1: the cache equals the server in the end."""
    await setup.put("second", "1")
    await setup.server.restart()
    await setup.put("third", "1")

    await setup.wait_until_equal()


async def test_the_cache_waits_for_an_unavailable_server(setup: Setup) -> None:
    """CCH-61, CCH-67: connection refused."""
    await setup.server.refuse_connections()
    await setup.until(lambda: setup.informer.stats().reflector.errors > 1)
    await setup.server.accept_connections()
    await setup.put("second", "1")

    await setup.wait_until_equal()


async def test_a_server_that_lost_everything_is_followed_again(setup: Setup) -> None:
    """Its versions start again, so the version of the cache is too large for it."""
    for number in range(5):
        await setup.put(f"pod-{number}", "1")
    await setup.server.restart(keep_data=False)
    await setup.put("second", "1")

    await setup.wait_until_equal()


async def test_a_server_that_ends_every_watch_at_once_is_not_stormed(setup: Setup) -> None:
    """CCH-C35: within ten seconds of the quick clock."""
    setup.server.faults.close_watches = True
    setup.server.drop_connections()
    before = len(setup.server.faults.requests)
    await asyncio.sleep(10 / SPEED)

    assert len(setup.server.faults.requests) - before < 20
    setup.server.faults.heal()
    await setup.put("second", "1")
    await setup.wait_until_equal()


async def test_a_server_that_cannot_stream_lists_is_listed(setup: Setup) -> None:
    """CCH-C20: a list and a watch."""
    setup.server.faults.fail(422, times=None, match=Match(verb="watch"))
    setup.server.drop_connections()
    await setup.until(lambda: setup.requests("list") > 0)
    setup.server.faults.heal()
    await setup.put("second", "1")

    await setup.wait_until_equal()


def test_the_quick_clock_is_a_clock() -> None:
    clock: Any = QuickClock()

    assert clock.now() > 0
    assert clock.time().tzinfo is UTC
