"""Informers over HTTP, against servers and proxies that do not do what they should."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from kubeloop.cache import ReflectorState, SharedInformer, SharedInformerFactory
from kubeloop.config import ClusterConfig
from kubeloop.errors import DecodeError
from kubeloop.kit import Clock, ManualClock, Timeout, Timer, running
from kubeloop.rest import RESTClient
from kubeloop.runtime import Client, Manager
from kubeloop.wire.core.v1 import ConfigMap, Pod
from tests.support.relay import relay_process
from tests.support.scripted_server import (
    ReceivedRequest,
    ServerConnection,
    client_for,
    eventually,
    reply,
    serving,
)

SPEED = 60  # ten minutes are longer than a test may take
INITIAL_END = {"k8s.io/initial-events-end": "true"}


class QuickClock:
    """The machine's clock, sixty times as fast; bounds on single requests stay real."""

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


def pod(name: str, version: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": version}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}


def line_of(kind: str, obj: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


class Collection:
    """Pods `a` and `b` at version 12; a list and a watch work, `stream` is the kind of a stream."""

    def __init__(self, stream: str = "", *, watch: str = "", page: str = "") -> None:
        self.stream = stream
        self.watch = watch
        self.page = page
        self.verbs: list[str] = []
        self.version = 12

    async def __call__(self, request: ReceivedRequest, connection: ServerConnection) -> None:
        query = parse_qs(urlsplit(request.target).query)
        if "sendInitialEvents" in query:
            self.verbs.append("stream")
            await self._stream(request, connection)
        elif "watch" in query:
            self.verbs.append("watch")
            await self._watch(connection)
        else:
            self.verbs.append("list")
            await self._list(request, connection)

    async def _list(self, request: ReceivedRequest, connection: ServerConnection) -> None:
        items = [] if self.page == "empty" else [pod("a", "11"), pod("b", "12")]
        new = f"page {len(self.verbs)}"  # a server that ignores the token may send another one
        token = {"same": "again", "empty": new, "first": new}.get(self.page, "")
        found = {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "12", "continue": token},
            "items": items,
        }
        await reply(body=found)(request, connection)

    async def _stream(self, request: ReceivedRequest, connection: ServerConnection) -> None:
        if self.stream == "too large":
            cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
            status = {
                "kind": "Status",
                "status": "Failure",
                "apiVersion": "v1",
                "code": 504,
                "reason": "Timeout",
                "message": "Timeout: Too large resource version: 12, current: 1",
                "details": {"causes": [cause]},
            }
            await reply(504, status)(request, connection)
            return
        await begin(connection)
        if self.stream not in {"empty", "silent"}:
            await send(
                connection, line_of("ADDED", pod("a", "11")) + line_of("ADDED", pod("b", "12"))
            )
        match self.stream:
            case "silent" | "no end":
                await connection.hang()
            case "cut":
                connection.cut()
            case _:
                await connection.send(b"0\r\n\r\n")

    async def _watch(self, connection: ServerConnection) -> None:
        await begin(connection)
        if self.watch in {"MODIFIED", "BOOKMARK"}:
            self.version += 1
            await send(connection, line_of(self.watch, pod("a", str(self.version))))
            await connection.send(b"0\r\n\r\n")
            return
        await send(connection, line_of("ADDED", pod("c", "13")))
        await connection.hang()


async def begin(connection: ServerConnection) -> None:
    await connection.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )


async def send(connection: ServerConnection, data: bytes) -> None:
    await connection.send(b"%x\r\n%s\r\n" % (len(data), data))


@asynccontextmanager
async def cluster(collection: Collection, clock: Clock) -> AsyncIterator[Client]:
    async with serving() as server:
        server.respond(collection)
        async with client_for(server, clock=clock) as rest:
            yield Client(rest=rest)


@pytest.mark.parametrize("stream", ["empty", "no bookmark", "cut", "too large", "silent", "no end"])
async def test_an_informer_syncs_although_streams_are_broken(
    stream: str, caplog: pytest.LogCaptureFixture
) -> None:
    collection = Collection(stream)
    async with cluster(collection, QuickClock()) as client:
        async with client.informer(Pod) as pods:
            await eventually(lambda: pods.lister.count() == 3)  # the watch works as well

            names = sorted(each.metadata.name or "" for each in pods.lister.list())
            assert names == ["a", "b", "c"]
            assert collection.verbs[-2:] == ["list", "watch"]
            assert set(collection.verbs[:-2]) == {"stream"}

        collection.verbs.clear()
        async with client.informer(Pod, name="another of the same client") as others:
            assert collection.verbs[:1] == ["list"]
            assert others.stats().reflector.watch_lists == 0

    lines = [each for each in caplog.messages if "WatchList" in each]
    assert len(lines) == 1


@pytest.mark.parametrize("kind", ["MODIFIED", "BOOKMARK"])
async def test_a_proxy_that_ends_each_watch_after_one_event_gets_five_requests_and_then_fewer(
    kind: str,
) -> None:
    clock = ManualClock()
    collection = Collection("too large", watch=kind)
    async with cluster(collection, clock) as client:
        pods = client.informer(Pod)
        async with running(pods):
            await eventually(lambda: pods.stats().reflector.state is ReflectorState.WAITING)
            assert clock.now() == 0
            assert collection.verbs == ["stream", "list", *["watch"] * 3]

            await clock.advance(2.0)
            await eventually(lambda: collection.verbs.count("watch") == 4)


class Redirecting(Collection):
    """Redirects each request of some verbs, before it is served; watches end after an event."""

    def __init__(self, verbs: tuple[str, ...], hops: int, clock: Clock) -> None:
        super().__init__("too large", watch="MODIFIED")
        self._redirected, self._hops, self._clock = verbs, hops, clock
        self.times: list[float] = []

    async def __call__(self, request: ReceivedRequest, connection: ServerConnection) -> None:
        self.times.append(self._clock.now())
        query = parse_qs(urlsplit(request.target).query)
        verb = "stream" if "sendInitialEvents" in query else "watch" if "watch" in query else "list"
        if verb not in self._redirected or request.target.count("/moved") == self._hops:
            await super().__call__(request, connection)
            return
        await reply(307, headers={"Location": f"/moved{request.target}"})(request, connection)


@pytest.mark.parametrize("hops", [1, 2, 4])
@pytest.mark.parametrize(
    "verbs", [("list",), ("watch",), ("stream", "list"), ("stream", "list", "watch")]
)
async def test_redirects_count_among_the_five_requests_of_an_informer_within_two_seconds(
    verbs: tuple[str, ...], hops: int
) -> None:
    clock = ManualClock()
    collection = Redirecting(verbs, hops, clock)
    async with cluster(collection, clock) as client, running(client.informer(Pod)):
        for _ in range(100):
            for _ in range(30):  # loop turns, for both ends of the connections
                await asyncio.sleep(0)
            await clock.advance(0.25)

    times = collection.times
    assert collection.verbs.count("watch") > 3
    assert all(later - first >= 2 for first, later in zip(times, times[5:], strict=False))


@pytest.mark.timeout(20)  # a process is started
async def test_an_informer_reports_a_proxy_that_hangs_after_45_seconds() -> None:
    """The kernel of a stopped process acknowledges everything, so keep-alive sees nothing."""
    clock = ManualClock()
    collection = Collection("empty")
    async with serving() as server:
        server.respond(collection)
        with relay_process(server.port) as (url, process):
            config = ClusterConfig(server=url)
            async with RESTClient(config, environ={}, clock=clock) as rest:
                pods = Client(rest=rest).informer(Pod)
                async with running(pods):
                    await eventually(lambda: pods.lister.count() == 3)
                    before = pods.stats().reflector.errors
                    os.kill(process, signal.SIGSTOP)
                    await clock.advance(44.9)
                    assert pods.stats().reflector.errors == before
                    await clock.advance(0.1)
                    await eventually(lambda: pods.stats().reflector.errors == before + 1)

                    stats = pods.stats().reflector
                    assert stats.outage is not None
                    assert "the server did not respond to a probe within 15 s" in stats.last_error
                    os.kill(process, signal.SIGCONT)
                    await eventually(lambda: pods.stats().reflector.outage is None)
                    assert pods.stats().reflector.lists == 1  # it continued where it was


async def test_refused_connections_are_counted_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    config = ClusterConfig(server=url)
    async with RESTClient(config, environ={}, clock=QuickClock()) as rest:
        pods = Client(rest=rest).informer(Pod)
        async with running(pods):
            await eventually(lambda: any("will retry" in each for each in caplog.messages))

            stats = pods.stats().reflector
            assert stats.outage is not None
            assert stats.outage.failures == stats.errors >= 3
            assert stats.outage.seconds >= 5
            assert stats.outage.code == 0
            assert stats.last_error == stats.outage.error
            assert url in stats.last_error
    warning = next(each for each in caplog.records if "will retry" in each.getMessage())
    assert warning.levelno == logging.WARNING


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("same", "same continue token twice"),
        ("empty", "pages without a new item in a row"),
        ("first", "pages without a new item in a row"),
    ],
)
async def test_pages_without_end_are_an_error_everywhere(page: str, message: str) -> None:
    """Of an informer, of `list_all` and of `each`: after a few requests."""
    collection = Collection("too large", page=page)
    async with cluster(collection, ManualClock()) as client:
        pods = client.informer(Pod)
        async with running(pods):
            await eventually(lambda: message in pods.stats().reflector.last_error)
        resource = client.core_v1.pods("shop")
        with pytest.raises(DecodeError, match=message):
            await resource.list_all()
        with pytest.raises(DecodeError, match=message):
            async for _ in resource.each():
                pass
    assert len(collection.verbs) < 25


# --- error handlers


class Forbidding(Collection):
    async def __call__(self, request: ReceivedRequest, connection: ServerConnection) -> None:
        status = {
            "kind": "Status",
            "status": "Failure",
            "code": 403,
            "reason": "Forbidden",
            "message": "no",
        }
        await reply(403, status)(request, connection)


async def test_client_and_manager_accept_a_watch_error_handler() -> None:
    errors_of: dict[str, list[Exception]] = {
        "client": [],
        "factory": [],
        "manager": [],
        "cache": [],
    }
    async with cluster(Forbidding(), QuickClock()) as client:
        informer: SharedInformer[Pod] = client.informer(
            Pod, on_watch_error=errors_of["client"].append
        )
        factory = SharedInformerFactory(client, on_watch_error=errors_of["factory"].append)
        manager = Manager(
            client,
            on_watch_error=errors_of["manager"].append,
            signals=False,
            tune_gc=False,
            logs=False,
        )
        manager.cache(Pod)
        manager.cache(ConfigMap, on_watch_error=errors_of["cache"].append)
        async with running(informer, manager), factory:
            factory.informer(Pod)
            factory.start()
            await eventually(lambda: all(errors_of.values()))

    assert all("403" in str(errors[0]) for errors in errors_of.values())


async def test_the_report_of_a_manager_names_informers_that_fail() -> None:
    async with cluster(Forbidding(), QuickClock()) as client:
        manager = Manager(client, signals=False, tune_gc=False, logs=False)
        manager.cache(Pod)
        async with running(manager):
            await eventually(lambda: manager.stats().informers != ())
            await eventually(lambda: manager.report().rows[0].failures > 1)
            report = manager.report()

    row = report.rows[0]
    assert row.failing_for is not None
    assert "403" in row.last_error
    assert "warning: pods: has failed for" in str(report)


class Switchable(Collection):
    """Works until it is switched off; then everything is refused."""

    def __init__(self) -> None:
        super().__init__("empty")
        self.is_off = False
        self.watches: list[ServerConnection] = []

    async def __call__(self, request: ReceivedRequest, connection: ServerConnection) -> None:
        if self.is_off:
            await Forbidding()(request, connection)
        else:
            await super().__call__(request, connection)

    async def _watch(self, connection: ServerConnection) -> None:
        self.watches.append(connection)
        await super()._watch(connection)

    def switch_off(self) -> None:
        self.is_off = True
        for connection in self.watches:
            connection.cut()


@pytest.mark.timeout(20)  # a minute of the clock, and a backoff step: two seconds at least
async def test_readiness_follows_an_outage_and_its_end() -> None:
    collection = Switchable()
    clock = QuickClock()
    async with cluster(collection, clock) as client, aiohttp.ClientSession() as session:
        manager = Manager(
            client, health="127.0.0.1:0", clock=clock, signals=False, tune_gc=False, logs=False
        )
        manager.cache(Pod)

        async def page(path: str, *, until: int) -> str:
            """The page, as soon as it has that status."""
            while True:
                url = f"http://{manager.stats().addresses['health']}{path}"
                async with session.get(url) as response:
                    if response.status == until:
                        return await response.text()

        async with running(manager):
            await eventually(lambda: "health" in manager.stats().addresses)
            await page("/readyz", until=200)
            collection.switch_off()
            text = await page("/readyz", until=503)
            assert "[+]caches ok" in text
            assert "[-]watches failed: out of date: pods (failing for " in text
            assert "403" in text
            assert "ok" in await page("/healthz", until=200)

            collection.is_off = False
            assert "[+]watches ok" in await page("/readyz", until=200)
