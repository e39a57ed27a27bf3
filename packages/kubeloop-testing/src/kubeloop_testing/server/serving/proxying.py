"""Passes requests on to a port of a pod, and its responses back.

Guarantees: bodies are streamed in both directions; a connection that the port upgrades is passed
on byte by byte; headers are added, removed and rewritten as by kube-apiserver; a port that does
not respond is a 503. All connections are closed when the client disconnects.
See also: `verbs.proxies` (which port), `kubelet.ports` (the connection), `verbs.kubelet_paths`
(the responses of a kubelet).
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ssl
from collections.abc import Callable, Iterator
from typing import Final, final
from urllib.parse import urlsplit, urlunsplit

import httptools
from aiohttp import HttpVersion11, hdrs, web
from multidict import CIMultiDict

from kubeloop.kit import TaskOwner, whole_number

from ..kubelet.ports import PortStreams, connect_port
from ..kubelet.programs import Programs
from ..statuses import service_unavailable, untyped_error
from ..verbs.proxies import Proxied
from .html_links import rewrite_links
from .port_forwards import log_failure

__all__ = ["Proxies"]

_PIECE: Final = 64 * 1024
_HOP_BY_HOP: Final = frozenset({
    *("connection", "proxy-connection", "keep-alive", "proxy-authenticate", "proxy-authorization"),
    *("te", "trailer", "transfer-encoding", "upgrade"),
})  # fmt: skip
# What authentication and impersonation have used up.
_CREDENTIALS: Final = frozenset({"authorization", "impersonate-user", "impersonate-uid",
                                 "impersonate-group"})  # fmt: skip
_CORS: Final = frozenset(
    f"access-control-allow-{each}" for each in ("credentials", "headers", "methods", "origin")
)


@final
class Proxies:
    """Serves the proxies of services, pods and nodes."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    async def serve(
        self, http: web.BaseRequest, proxied: Proxied, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        """Pass a request on until its response ends; if cancelled, the connection is closed.

        Raises: StatusError when the port does not respond.
        """
        is_upgrade = "upgrade" in http.headers.get("Connection", "").lower()
        if not proxied.path and not is_upgrade and http.method in {"GET", "HEAD"}:
            path, _, query = http.raw_path.partition("?")
            location = f"{path}/?{query}" if query else f"{path}/"
            return web.Response(status=301, headers={**headers, "Location": location})
        async with TaskOwner(on_failure=log_failure) as tasks:
            try:
                reader, writer = await self._connect(proxied, tasks)
            except OSError as error:
                why = f"dial tcp {proxied.host}: connect: {error}"
                if is_upgrade:
                    raise untyped_error(f"error dialing backend: {why}") from error
                raise _unreachable(why) from error
            try:
                exchange = _Exchange(http, proxied, reader, writer)
                return await exchange.run(headers, tasks, is_upgrade=is_upgrade)
            finally:
                writer.close()

    async def _connect(self, proxied: Proxied, tasks: TaskOwner) -> PortStreams:
        port = whole_number(proxied.port) or 0
        target = None
        if proxied.pod:
            target = self._programs.port(port, proxied.namespace, proxied.pod)
        tls = _trusting() if proxied.is_secure else None
        return await connect_port(target, tasks, name=f"port {port} of pod {proxied.pod}", tls=tls)


def _trusting() -> ssl.SSLContext:
    """Accepts any certificate, as the proxies of kube-apiserver do."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _unreachable(why: str) -> Exception:
    return service_unavailable(f"error trying to reach service: {why}")


def _is_page(headers: CIMultiDict[str]) -> bool:
    media = headers.get("Content-Type", "").partition(";")[0].strip()
    return media == "text/html" and headers.get("Content-Encoding", "") in {"", "gzip"}


class _Head:
    """The status line and the headers of a response, from httptools' callbacks."""

    def __init__(self) -> None:
        self.reason = ""
        self.headers: CIMultiDict[str] = CIMultiDict()
        self.is_complete = self.is_finished = False
        self.body: list[bytes] = []
        self.parser = httptools.HttpResponseParser(self)

    def on_message_begin(self) -> None:
        self.reason, self.headers = "", CIMultiDict()

    def on_status(self, status: bytes) -> None:
        self.reason += status.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.add(name.decode("latin-1"), value.decode("latin-1"))

    def on_headers_complete(self) -> None:
        # 100 Continue and 103 Early Hints precede the response.
        self.is_complete = self.code >= 200 or self.code == 101

    def on_body(self, body: bytes) -> None:
        self.body.append(body)

    def on_message_complete(self) -> None:
        self.is_finished = self.is_complete

    @property
    def code(self) -> int:
        return int(self.parser.get_status_code())

    def take(self) -> bytes:
        body, self.body = b"".join(self.body), []
        return body


@final
class _Exchange:
    """One request to a port, and its response."""

    def __init__(
        self,
        http: web.BaseRequest,
        proxied: Proxied,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._http = http
        self._proxied = proxied
        self._reader = reader
        self._writer = writer
        self._received = b""  # the last piece from the port
        self._head = _Head()

    async def run(
        self, headers: CIMultiDict[str], tasks: TaskOwner, *, is_upgrade: bool
    ) -> web.StreamResponse:
        sender = tasks.spawn(self._send_request(is_upgrade=is_upgrade), name="proxied request")
        try:
            rest = await self._read_head()
            code = self._head.code
            if code == 101:
                return await self._switch(rest, tasks)
            if is_upgrade and code < 400:
                raise untyped_error(f"invalid upgrade response: status code {code}")
            return await self._respond(headers)
        finally:
            sender.cancel()

    # --- the request

    async def _send_request(self, *, is_upgrade: bool) -> None:
        http, writer = self._http, self._writer
        query = http.raw_path.partition("?")[2]
        target = (self._proxied.path or "/") + (f"?{query}" if query else "")
        lines = [f"{http.method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self._headers(is_upgrade=is_upgrade)]
        is_chunked = http.body_exists and http.content_length is None
        if is_chunked:
            lines.append("Transfer-Encoding: chunked")
        with contextlib.suppress(ConnectionError):  # the port may have responded before
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))
            if http.body_exists:
                async for piece in http.content.iter_any():
                    writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
                    await writer.drain()
            if is_chunked:
                writer.write(b"0\r\n\r\n")
            await writer.drain()

    def _headers(self, *, is_upgrade: bool) -> Iterator[tuple[str, str]]:
        http = self._http
        named = {each.strip().lower() for each in http.headers.get("Connection", "").split(",")}
        dropped = _CREDENTIALS | {"x-forwarded-for"}
        dropped |= frozenset() if is_upgrade else _HOP_BY_HOP | named
        for name, value in http.headers.items():
            if name.lower() not in dropped and not name.lower().startswith("impersonate-extra-"):
                yield name, value
        seen = http.headers.getall("X-Forwarded-For", [])
        yield "X-Forwarded-For", ", ".join([*seen, *filter(None, [http.remote])])
        if is_upgrade:
            return
        yield "Connection", "close"
        yield "X-Forwarded-Uri", self._prefix() + (self._proxied.path or "/")

    # --- the response

    async def _read_head(self) -> bytes:
        """Read up to the body; returns what follows an upgrade."""
        try:
            while not self._head.is_complete:
                if not await self._feed():
                    raise _unreachable("EOF")
        except httptools.HttpParserUpgrade as upgrade:
            return self._received[upgrade.args[0] :]
        except (httptools.HttpParserError, ConnectionError) as error:
            raise _unreachable(str(error)) from error
        return b""

    async def _feed(self) -> bool:
        self._received = await self._reader.read(_PIECE)
        if self._received:
            self._head.parser.feed_data(self._received)
        return bool(self._received)

    async def _respond(self, headers: CIMultiDict[str]) -> web.StreamResponse:
        head = self._head
        response = web.StreamResponse(status=head.code, reason=head.reason, headers=headers)
        named = {each.strip().lower() for each in head.headers.get("Connection", "").split(",")}
        dropped = _HOP_BY_HOP | _CORS | named | {"location"}
        for name, value in head.headers.items():
            if name.lower() not in dropped:
                response.headers.add(name, value)
        location = head.headers.get("Location", "")
        if location:
            response.headers["Location"] = self._rewritten(location)
        is_short = head.code in {204, 304} or self._http.method == "HEAD"
        if _is_page(head.headers) and not (location or is_short):
            return await self._respond_page(response)
        has_length = hdrs.CONTENT_LENGTH in response.headers
        if not (has_length or is_short) and self._http.version >= HttpVersion11:
            response.enable_chunked_encoding()
        await response.prepare(self._http)
        if not is_short:
            await self._copy_body(response)
        await response.write_eof()
        return response

    async def _respond_page(self, response: web.StreamResponse) -> web.StreamResponse:
        """Send a page whose links lead to the proxy."""
        while not self._head.is_finished and await self._feed():
            pass
        body = self._head.take()
        is_compressed = "Content-Encoding" in response.headers
        try:
            text = (gzip.decompress(body) if is_compressed else body).decode()
        except (OSError, EOFError, ValueError):
            page = body  # neither UTF-8 nor gzip: passed on as it is
        else:
            page = rewrite_links(text, self._rewritten).encode()
            page = gzip.compress(page) if is_compressed else page
        response.headers["Content-Length"] = str(len(page))
        await response.prepare(self._http)
        await response.write(page)
        await response.write_eof()
        return response

    async def _copy_body(self, response: web.StreamResponse) -> None:
        while True:
            if body := self._head.take():
                await response.write(body)
            if self._head.is_finished or not await self._feed():
                break
        if body := self._head.take():
            await response.write(body)

    def _rewritten(self, location: str) -> str:
        """A location at the port as one at the proxy."""
        url, own = urlsplit(location), self._http.host
        if (url.netloc and url.netloc not in {own, self._proxied.host}) or url.path[:1] != "/":
            return location
        start = self._prefix()
        path = url.path if url.path.startswith(start) else start + url.path
        return urlunsplit(("", "", path, url.query, url.fragment))

    def _prefix(self) -> str:
        """The path of the proxy itself."""
        steps = self._http.raw_path.partition("?")[0].split("/")
        return "/".join(steps[: 8 if self._proxied.namespace else 6])

    # --- upgrades

    async def _switch(self, rest: bytes, tasks: TaskOwner) -> web.StreamResponse:
        """Pass bytes on in both directions until one side ends."""
        http = self._http
        response = web.StreamResponse(status=101, reason=self._head.reason)
        response.headers.extend(self._head.headers)
        await response.prepare(http)
        received: asyncio.Queue[bytes] = asyncio.Queue()
        http.protocol.set_parser(_RawReader(received.put_nowait))  # type: ignore[arg-type] # its two methods
        http.protocol.keep_alive(False)  # noqa: FBT003 # aiohttp's signature
        transport = http.transport
        if transport is None:
            return response
        transport.write(rest)
        ends = {
            tasks.spawn(self._copy_up(received), name="to the port"),
            tasks.spawn(self._copy_down(transport), name="from the port"),
        }
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ends:
                each.cancel()
        return response

    async def _copy_up(self, received: asyncio.Queue[bytes]) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await received.get():
                self._writer.write(data)
                await self._writer.drain()

    async def _copy_down(self, transport: asyncio.WriteTransport) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await self._reader.read(_PIECE):
                transport.write(data)
                await self._http.writer.drain()


@final
class _RawReader:
    """Gives all further bytes of a connection to `receive`; aiohttp calls it as a parser."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive

    def feed_eof(self) -> None:
        self._receive(b"")

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        if data:
            self._receive(data)
        return False, b""
