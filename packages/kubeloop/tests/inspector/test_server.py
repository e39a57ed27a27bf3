"""The server of the page: responses, access, and slow browsers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import aiohttp
import pytest

from kubeloop.errors import ConfigError, InvalidArgument
from kubeloop.inspector.guard import HEADERS, Guard
from kubeloop.inspector.search import Query
from kubeloop.inspector.server import MAX_VIEWERS, WRITE_TIMEOUT, Server
from kubeloop.kit import ManualClock
from kubeloop.meta import ObjectKey

from .pages import open_session, until


class FakePageData:
    """Counts snapshots; `padding` makes them large."""

    def __init__(self) -> None:
        self.snapshots = 0
        self.padding = 0

    def snapshot(self, step: int = -1) -> bytes:
        self.snapshots += 1
        return f'{{"number":{self.snapshots},"padding":"{"x" * self.padding}"}}'.encode()

    async def search(self, query: Query) -> bytes:
        if query.labels:
            raise InvalidArgument("selector: no")
        return f'{{"after":{query.after}}}'.encode()

    def start_recording(self) -> None: ...

    def stop_recording(self, recorder: object, /) -> None: ...

    async def object(self, cache: str, key: ObjectKey, step: int = -1) -> bytes | None:
        return f'{{"key":"{key}"}}'.encode() if cache == "pods" else None


@pytest.fixture
def pages() -> FakePageData:
    return FakePageData()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server(pages: FakePageData, clock: ManualClock) -> Server:
    return Server(pages, Guard("127.0.0.1"), clock=clock)


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    async with server.serve("127.0.0.1", 0) as port:
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
    async with open_session(url) as session, session.get(path) as response:
        assert (response.status, response.content_type) == (200, kind)
        assert {name: response.headers[name] for name in HEADERS} == HEADERS
        assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
async def test_only_get_is_allowed(url: str, method: str) -> None:
    async with open_session(url) as session, session.request(method, "/search") as response:
        assert response.status == 405
        assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nothing", 404), ("/object?cache=nope&name=a", 404), ("/search?labels=a", 400),
     ("/search?after=x", 400), ("/page/../server.py", 404)],
)  # fmt: skip
async def test_invalid_requests_are_rejected(url: str, path: str, status: int) -> None:
    async with open_session(url) as session, session.get(path) as response:
        assert response.status == status


async def test_a_rebound_name_is_denied(url: str) -> None:
    async with (
        open_session(url) as session,
        session.get("/search", headers={"Host": "evil.example.com"}) as response,
    ):
        assert response.status == 403
        assert "localhost" in await response.text()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:3000"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_a_page_of_another_origin_is_denied(url: str, headers: dict[str, str]) -> None:
    async with open_session(url) as session, session.get("/search", headers=headers) as response:
        assert response.status == 403


async def test_a_token_in_the_url_becomes_a_cookie(pages: FakePageData, clock: ManualClock) -> None:
    server = Server(pages, Guard("127.0.0.1", "open-sesame"), clock=clock)
    async with (
        server.serve("127.0.0.1", 0) as port,
        open_session(f"http://127.0.0.1:{port}") as session,
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


async def test_a_stream_sends_the_newest_snapshot_with_every_update(
    server: Server, url: str
) -> None:
    async with open_session(url) as session, session.get("/stream") as response:
        assert response.content_type == "text/event-stream"
        assert await response.content.readline() == b"retry: 1000\n"
        await response.content.readline()
        first = await response.content.readline()
        await response.content.readline()
        server.update()
        second = await response.content.readline()

    assert (b'"number":1' in first, b'"number":2' in second) == (True, True)


async def test_no_snapshot_is_computed_without_a_stream(
    server: Server, pages: FakePageData, url: str
) -> None:
    server.update()
    async with open_session(url) as session, session.get("/search"):
        pass

    assert pages.snapshots == 0


async def test_a_disconnected_browser_is_removed(server: Server, url: str) -> None:
    async with open_session(url) as session, session.get("/stream") as response:
        await response.content.readline()
        assert server.viewers == 1
        response.close()

    while server.viewers:  # noticed at the next write
        server.update()
        await asyncio.sleep(0.001)


async def test_a_slow_browser_skips_snapshots_and_is_disconnected_in_the_end(
    server: Server, pages: FakePageData, clock: ManualClock, url: str
) -> None:
    pages.padding = 16 << 20  # more than all socket buffers
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as browser:
        browser.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: pages.snapshots == 1 and clock.stats().timeouts == 1)

        for _ in range(100):
            server.update()
            await asyncio.sleep(0)
        assert pages.snapshots == 1

        await clock.advance(WRITE_TIMEOUT)
        await until(lambda: server.viewers == 0)


async def test_too_many_streams_are_rejected(server: Server, url: str) -> None:
    async with open_session(url) as session:
        open_ones = [await session.get("/stream") for _ in range(MAX_VIEWERS)]
        async with session.get("/stream") as extra:
            assert extra.status == 503
        assert server.viewers == MAX_VIEWERS
        for each in open_ones:
            each.close()


async def test_streams_end_with_the_server(pages: FakePageData, clock: ManualClock) -> None:
    server = Server(pages, Guard("127.0.0.1"), clock=clock)
    async with aiohttp.ClientSession() as session:
        async with server.serve("127.0.0.1", 0) as port:
            response = await session.get(f"http://127.0.0.1:{port}/stream")
            await until(lambda: pages.snapshots == 1)

        assert (await response.content.read()).endswith(b"\n\n")
        response.close()


async def test_a_port_in_use_is_one_line(server: Server, url: str, pages: FakePageData) -> None:
    used = int(url.rpartition(":")[2])
    other = Server(pages, Guard("127.0.0.1"), clock=ManualClock())

    with pytest.raises(ConfigError, match=r"listen on 127\.0\.0\.1:\d+: .* \(choose another port"):
        async with other.serve("127.0.0.1", used):
            pass
