"""The page's server: what it answers, to whom, and what it withstands."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import aiohttp
import pytest

from kubeloop.errors import ConfigError, InvalidArgument
from kubeloop.inspector.guard import HEADERS, Guard
from kubeloop.inspector.search import Query
from kubeloop.inspector.server import MOST_VIEWERS, PATIENCE, Server
from kubeloop.kit import ManualClock
from kubeloop.meta import ObjectKey

from .shop import asking, until


class StandIn:
    """Pages with little on them, or much."""

    def __init__(self) -> None:
        self.made = 0
        self.padding = 0

    def snapshot(self) -> bytes:
        self.made += 1
        return f'{{"made":{self.made},"padding":"{"x" * self.padding}"}}'.encode()

    async def search(self, query: Query) -> bytes:
        if query.labels:
            raise InvalidArgument("selector: no")
        return f'{{"after":{query.after}}}'.encode()

    async def object(self, cache: str, key: ObjectKey) -> bytes | None:
        return f'{{"key":"{key}"}}'.encode() if cache == "pods" else None


@pytest.fixture
def pages() -> StandIn:
    return StandIn()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server(pages: StandIn, clock: ManualClock) -> Server:
    return Server(pages, Guard("127.0.0.1"), clock=clock)


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    async with server.listening("127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/page.css", "text/css"),
        ("/page.js", "text/javascript"),
        ("/icon.svg", "image/svg+xml"),
        ("/search", "application/json"),
        ("/object?cache=pods&namespace=shop&name=web", "application/json"),
    ],
)
async def test_every_response_has_the_security_headers(url: str, path: str, kind: str) -> None:
    async with asking(url) as session, session.get(path) as answer:
        assert (answer.status, answer.content_type) == (200, kind)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
async def test_only_get_is_allowed(url: str, method: str) -> None:
    async with asking(url) as session, session.request(method, "/search") as answer:
        assert answer.status == 405
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nothing", 404), ("/object?cache=nope&name=a", 404), ("/search?labels=a", 400),
     ("/search?after=x", 400), ("/page/../server.py", 404)],
)  # fmt: skip
async def test_what_cannot_be_answered_is_refused(url: str, path: str, status: int) -> None:
    async with asking(url) as session, session.get(path) as answer:
        assert answer.status == status


async def test_a_rebound_name_is_denied(url: str) -> None:
    async with (
        asking(url) as session,
        session.get("/search", headers={"Host": "evil.example.com"}) as answer,
    ):
        assert answer.status == 403
        assert "localhost" in await answer.text()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:3000"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_a_page_of_another_origin_is_rejected(url: str, headers: dict[str, str]) -> None:
    async with asking(url) as session, session.get("/search", headers=headers) as answer:
        assert answer.status == 403


async def test_a_token_in_the_address_becomes_a_cookie(pages: StandIn, clock: ManualClock) -> None:
    server = Server(pages, Guard("127.0.0.1", "open-sesame"), clock=clock)
    async with (
        server.listening("127.0.0.1", 0) as port,
        asking(f"http://127.0.0.1:{port}") as session,
    ):
        async with session.get("/search") as before:
            pass
        async with session.get("/?token=open-sesame", allow_redirects=False) as first:
            cookie = first.headers["Set-Cookie"]
        async with session.get("/search") as after:
            pass

    assert (before.status, first.status, after.status) == (401, 303, 200)
    assert first.headers["Location"] == "./"
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


async def test_a_stream_tells_the_newest_with_every_tick(server: Server, url: str) -> None:
    async with asking(url) as session, session.get("/stream") as answer:
        assert answer.content_type == "text/event-stream"
        assert await answer.content.readline() == b"retry: 1000\n"
        await answer.content.readline()
        first = await answer.content.readline()
        await answer.content.readline()
        server.tick()
        second = await answer.content.readline()

    assert (b'"made":1' in first, b'"made":2' in second) == (True, True)


async def test_nothing_is_made_while_nobody_looks(server: Server, pages: StandIn, url: str) -> None:
    server.tick()
    async with asking(url) as session, session.get("/search"):
        pass

    assert pages.made == 0


async def test_a_browser_that_went_away_is_forgotten(server: Server, url: str) -> None:
    async with asking(url) as session, session.get("/stream") as answer:
        await answer.content.readline()
        assert server.viewers == 1
        answer.close()

    while server.viewers:  # noted when it is next told something
        server.tick()
        await asyncio.sleep(0.001)


async def test_a_slow_browser_is_told_less_and_given_up_in_the_end(
    server: Server, pages: StandIn, clock: ManualClock, url: str
) -> None:
    pages.padding = 16 << 20  # more than all buffers on the way
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as browser:
        browser.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: pages.made == 1 and clock.stats().timeouts == 1)

        for _ in range(100):
            server.tick()
            await asyncio.sleep(0)
        assert pages.made == 1

        await clock.advance(PATIENCE)
        await until(lambda: server.viewers == 0)


async def test_too_many_pages_are_refused(server: Server, url: str) -> None:
    async with asking(url) as session:
        open_ones = [await session.get("/stream") for _ in range(MOST_VIEWERS)]
        async with session.get("/stream") as one_more:
            assert one_more.status == 503
        assert server.viewers == MOST_VIEWERS
        for each in open_ones:
            each.close()


async def test_streams_end_with_the_server(pages: StandIn, clock: ManualClock) -> None:
    server = Server(pages, Guard("127.0.0.1"), clock=clock)
    async with aiohttp.ClientSession() as session:
        async with server.listening("127.0.0.1", 0) as port:
            answer = await session.get(f"http://127.0.0.1:{port}/stream")
            await until(lambda: pages.made == 1)

        assert (await answer.content.read()).endswith(b"\n\n")
        answer.close()


async def test_a_port_in_use_is_one_clear_line(server: Server, url: str, pages: StandIn) -> None:
    taken = int(url.rpartition(":")[2])
    other = Server(pages, Guard("127.0.0.1"), clock=ManualClock())

    with pytest.raises(ConfigError, match=r"listen at 127\.0\.0\.1:\d+: .* \(give another port"):
        async with other.listening("127.0.0.1", taken):
            pass
