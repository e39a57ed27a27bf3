"""Serves the page, and what it asks for.

Promises: reads only; every answer is guarded, and loads nothing from elsewhere. While
somebody looks, a stream of server-sent events tells the state of things with every tick. A
browser that is slow is told less often and gets the newest then; one that is gone, or takes
nothing for long, is forgotten. Nothing piles up for anybody.
Elsewhere: who may look (`guard`), what is said (`inspector`), how it looks (`page`).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.resources
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, final

import msgspec
from aiohttp import web

from kubeloop.errors import ConfigError, InvalidArgument, KubeError
from kubeloop.kit import Clock, listen
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

from .guard import HEADERS, Guard, NewlyAdmitted, Refused
from .search import Query

__all__ = ["MOST_VIEWERS", "PATIENCE", "Pages", "Server"]

log = get_logger(__name__)

MOST_VIEWERS = 20
"""Streams at once."""
PATIENCE = 30.0
"""Seconds that a browser may take nothing."""

_FILES = {
    "": ("index.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
_Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Pages(Protocol):
    """What there is to say, as JSON."""

    def snapshot(self) -> bytes: ...

    async def search(self, query: Query) -> bytes:
        """Raises: InvalidArgument."""
        ...

    async def object(self, cache: str, key: ObjectKey) -> bytes | None: ...


@final
class Server:
    """Answers for one inspector."""

    def __init__(self, pages: Pages, guard: Guard, *, clock: Clock) -> None:
        self._pages = pages
        self._guard = guard
        self._clock = clock
        self._cookie = ""
        self._tick = asyncio.Event()  # another one for every tick
        self._viewers = 0
        self._is_closing = False

    @property
    def viewers(self) -> int:
        """Streams that are open."""
        return self._viewers

    def tick(self) -> None:
        """There is news: tell whoever looks."""
        self._tick.set()
        self._tick = asyncio.Event()

    @contextlib.asynccontextmanager
    async def listen(self, host: str, port: int) -> AsyncIterator[int]:
        """Serve while the block lasts; the block is told the real port.

        Raises: ConfigError when the address cannot be had.
        """
        runner = web.AppRunner(
            self._app(), access_log=None, handle_signals=False, shutdown_timeout=1.0
        )
        await runner.setup()

        async def finish() -> None:
            self._is_closing = True
            self.tick()
            await runner.cleanup()

        assert runner.server is not None  # since setup()
        async with contextlib.AsyncExitStack() as stack:
            try:
                real = await stack.enter_async_context(
                    listen(runner.server, host, port, finish=finish)
                )
            except (OSError, OverflowError) as error:
                raise ConfigError(
                    f"inspector: listen at {host}:{port}: {_why(error)}"
                    " (give another port, or 0 for any)"
                ) from error
            self._cookie = f"kubeloop-inspector-{real}"
            yield real

    # --- requests

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._guarded], client_max_size=1024)
        app.on_response_prepare.append(_add_headers)
        for path in _FILES:
            app.router.add_get(f"/{path}", self._file, allow_head=False)
        app.router.add_get("/stream", self._stream, allow_head=False)
        app.router.add_get("/search", self._search, allow_head=False)
        app.router.add_get("/object", self._object, allow_head=False)
        return app

    @web.middleware
    async def _guarded(self, request: web.Request, handler: _Answer) -> web.StreamResponse:
        verdict = self._guard.judge(
            request.headers,
            target=request.raw_path,
            shown=request.query.get("token", ""),
            cookie=request.cookies.get(self._cookie, ""),
        )
        match verdict:
            case Refused(code, reason):
                return web.Response(status=code, text=f"{reason}\n")
            case NewlyAdmitted():
                return self._with_cookie(web.Response(status=303, headers={"Location": "./"}))
        try:
            return await handler(request)
        except KubeError as error:
            return _json(msgspec.json.encode({"error": str(error)}), status=400)

    def _with_cookie(self, response: web.Response) -> web.Response:
        assert self._guard.token is not None
        response.set_cookie(
            self._cookie, self._guard.token, httponly=True, samesite="Strict", path="/"
        )
        return response

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name, content_type = _FILES[request.path.lstrip("/")]
        body = importlib.resources.files(__package__).joinpath("page", name).read_bytes()
        return web.Response(body=body, content_type=content_type, charset="utf-8")

    async def _search(self, request: web.Request) -> web.StreamResponse:
        asked = {name: value for name, value in request.query.items() if value}
        try:
            query = msgspec.convert(asked, Query, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidArgument(f"search: {error}") from error
        return _json(await self._pages.search(query))

    async def _object(self, request: web.Request) -> web.StreamResponse:
        key = ObjectKey(request.query.get("namespace", ""), request.query.get("name", ""))
        found = await self._pages.object(request.query.get("cache", ""), key)
        if found is None:
            raise web.HTTPNotFound
        return _json(found)

    # --- the stream

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        if self._viewers >= MOST_VIEWERS:
            raise web.HTTPServiceUnavailable(text="too many pages are open (close some)\n")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        self._viewers += 1
        try:
            await response.prepare(request)
            await self._tell(response)
        except TimeoutError:
            log.debug("inspector: a browser took nothing for %g s", PATIENCE)
            if request.transport is not None:
                request.transport.abort()
        except ConnectionError:
            log.debug("inspector: a browser went away")
        finally:
            self._viewers -= 1
        return response

    async def _tell(self, response: web.StreamResponse) -> None:
        await response.write(b"retry: 1000\n\n")
        while not self._is_closing:
            tick = self._tick  # taken first: what comes while we write is told next
            async with self._clock.timeout(PATIENCE):
                await response.write(b"data: " + self._pages.snapshot() + b"\n\n")
            await tick.wait()


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def _json(body: bytes, *, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/json")


def _why(error: OSError | OverflowError) -> str:
    """The system's words; the loop's own name the address once more."""
    code = error.errno if isinstance(error, OSError) else None
    return os.strerror(code) if code is not None and code in errno.errorcode else str(error)
