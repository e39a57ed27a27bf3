"""The HTTP server of the page.

Guarantees: GET only; every request is checked. An open page receives a snapshot with every
sample, as server-sent events. A slow browser skips snapshots and receives the newest one; a
browser that reads nothing for long is disconnected. Nothing is buffered per browser.
See also: `guard` (which requests are allowed), `inspector` (the content), `page` (the files).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.resources
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, final

import msgspec

from kubeloop.errors import ConfigError, InvalidArgument, KubeError, import_extra
from kubeloop.kit import Clock, listen, whole_number
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

from .guard import HEADERS, Denied, Guard, TokenAccepted
from .search import Query

if TYPE_CHECKING:
    from aiohttp import web
else:
    web = import_extra("aiohttp.web", extra="operator", use="inspectors")

__all__ = ["MAX_VIEWERS", "WRITE_TIMEOUT", "PageData", "Server"]

log = get_logger(__name__)

MAX_VIEWERS = 20
"""Open streams."""
WRITE_TIMEOUT = 30.0
"""Seconds that a browser may read nothing."""

_FILES = {
    "": ("index.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class RecordingSource(Protocol):
    """A recording that goes on."""

    def take(self) -> list[Any]:
        """What was added since the last call."""
        ...

    def encode(self, lines: list[Any], /) -> bytes: ...


class PageData(Protocol):
    """The content of the page, as JSON; `step` is for recordings."""

    def snapshot(self, step: int = -1) -> bytes: ...

    def start_recording(self) -> RecordingSource | None: ...

    def stop_recording(self, recorder: Any, /) -> None: ...

    async def search(self, query: Query) -> bytes:
        """Raises: InvalidArgument."""
        ...

    async def object(self, cache: str, key: ObjectKey, step: int = -1) -> bytes | None: ...


@final
class Server:
    """Serves the page of one inspector."""

    def __init__(self, pages: PageData, guard: Guard, *, clock: Clock) -> None:
        self._pages = pages
        self._guard = guard
        self._clock = clock
        self._cookie = ""
        self._updated = asyncio.Event()  # replaced with every update
        self._viewers = 0
        self._is_closing = False

    @property
    def viewers(self) -> int:
        """The number of open streams."""
        return self._viewers

    def update(self) -> None:
        """Send the new snapshot to all open streams."""
        self._updated.set()
        self._updated = asyncio.Event()

    @contextlib.asynccontextmanager
    async def serve(self, host: str, port: int) -> AsyncIterator[int]:
        """Serve within the block; yields the port.

        Raises: ConfigError if the address cannot be bound.
        """
        runner = web.AppRunner(
            self._app(), access_log=None, handle_signals=False, shutdown_timeout=1.0
        )
        await runner.setup()

        async def finish() -> None:
            self._is_closing = True
            self.update()
            await runner.cleanup()

        assert runner.server is not None  # since setup()
        async with contextlib.AsyncExitStack() as stack:
            try:
                bound_port = await stack.enter_async_context(
                    listen(runner.server, host, port, finish=finish)
                )
            except (OSError, OverflowError) as error:
                raise ConfigError(
                    f"inspector: listen on {host}:{port}: {_reason(error)}"
                    " (choose another port, or 0 for any)"
                ) from error
            self._cookie = f"kubeloop-inspector-{bound_port}"
            yield bound_port

    # --- requests

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._check], client_max_size=1024)
        app.on_response_prepare.append(_add_headers)
        for path in _FILES:
            app.router.add_get(f"/{path}", self._file, allow_head=False)
        app.router.add_get("/stream", self._stream, allow_head=False)
        app.router.add_get("/recording", self._recording, allow_head=False)
        app.router.add_get("/search", self._search, allow_head=False)
        app.router.add_get("/object", self._object, allow_head=False)
        return app

    @web.middleware
    async def _check(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        verdict = self._guard.check(
            request.headers,
            target=request.raw_path,
            token=request.query.get("token", ""),
            cookie=request.cookies.get(self._cookie, ""),
        )
        match verdict:
            case Denied(code, reason):
                return web.Response(status=code, text=f"{reason}\n")
            case TokenAccepted():
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
        parameters = {name: value for name, value in request.query.items() if value}
        try:
            query = msgspec.convert(parameters, Query, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidArgument(f"search: {error}") from error
        return _json(await self._pages.search(query))

    async def _object(self, request: web.Request) -> web.StreamResponse:
        key = ObjectKey(request.query.get("namespace", ""), request.query.get("name", ""))
        step = _step(request)
        found = await self._pages.object(request.query.get("cache", ""), key, step)
        if found is None:
            raise web.HTTPNotFound
        return _json(found)

    # --- the stream

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        if self._viewers >= MAX_VIEWERS:
            raise web.HTTPServiceUnavailable(text="too many open pages (close some)\n")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        self._viewers += 1
        try:
            await response.prepare(request)
            await self._send_snapshots(response, _step(request))
        except TimeoutError:
            log.debug(
                "inspector: a browser has read nothing for %g s, disconnecting it", WRITE_TIMEOUT
            )
            if request.transport is not None:
                request.transport.abort()
        except ConnectionError:
            log.debug("inspector: a browser has disconnected")
        finally:
            self._viewers -= 1
        return response

    async def _recording(self, request: web.Request) -> web.StreamResponse:
        if self._viewers >= MAX_VIEWERS:
            raise web.HTTPServiceUnavailable(text="too many open pages (close some)\n")
        recorder = self._pages.start_recording()
        if recorder is None:
            raise web.HTTPNotFound
        response = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
        self._viewers += 1
        try:
            await response.prepare(request)
            while True:
                updated, is_last = self._updated, self._is_closing
                data = await asyncio.to_thread(recorder.encode, recorder.take())
                async with self._clock.timeout(WRITE_TIMEOUT):
                    await response.write(data)
                if is_last:
                    break
                await updated.wait()
        except (TimeoutError, ConnectionError, KubeError) as error:
            log.debug("inspector: the recording has ended: %s", error)
            if request.transport is not None:
                request.transport.abort()
        finally:
            self._viewers -= 1
            self._pages.stop_recording(recorder)
        return response

    async def _send_snapshots(self, response: web.StreamResponse, step: int) -> None:
        await response.write(b"retry: 1000\n\n")
        while not self._is_closing:
            # Read before the write: an update during the write must not be missed.
            updated = self._updated
            async with self._clock.timeout(WRITE_TIMEOUT):
                await response.write(b"data: " + self._pages.snapshot(step) + b"\n\n")
            await updated.wait()


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def _step(request: web.Request) -> int:
    text = request.query.get("step", "")
    number = whole_number(text)
    return -1 if number is None else number


def _json(body: bytes, *, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/json")


def _reason(error: OSError | OverflowError) -> str:
    """The text of the system; that of asyncio repeats the address."""
    code = error.errno if isinstance(error, OSError) else None
    return os.strerror(code) if code is not None and code in errno.errorcode else str(error)
