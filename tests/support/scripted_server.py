"""An HTTP server that follows the script of a test, and a client for it."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from kubeloop.config import ClusterConfig
from kubeloop.kit import listen
from kubeloop.rest import RESTClient
from kubeloop.wire import ResourceInfo

PODS = ResourceInfo(
    group="", version="v1", plural="pods", kind="Pod", singular="pod", namespaced=True
)
NODES = ResourceInfo(
    group="", version="v1", plural="nodes", kind="Node", singular="node", namespaced=False
)
DEPLOYMENTS = ResourceInfo(
    group="apps",
    version="v1",
    plural="deployments",
    kind="Deployment",
    singular="deployment",
    namespaced=True,
)


class ReceivedRequest(NamedTuple):
    """A request as it arrived."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(found) if found else None

    def all_of(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


class ServerConnection:
    """The server's end of one connection, in the middle of a response."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def cut(self) -> None:
        """End the connection properly, in the middle of the response."""
        self.writer.close()

    def reset(self) -> None:
        """End the connection with a reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def hang(self) -> None:
        """Send nothing until the client disconnects."""
        while await self.reader.read(65536):
            pass


Reply = Callable[[ReceivedRequest, ServerConnection], Awaitable[None]]


def reply(
    status: int = 200,
    body: Any = b"{}",
    *,
    content_type: str | None = "application/json",
    headers: Mapping[str, str] | list[tuple[str, str]] = (),  # type: ignore[assignment] # empty is empty
) -> Reply:
    """A whole response."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    if content_type is not None:
        pairs.append(("Content-Type", content_type))
    pairs.append(("Content-Length", str(len(data))))

    async def respond(_: ReceivedRequest, connection: ServerConnection) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in pairs)
        await connection.send(f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode() + data)

    return respond


def chunked(*chunks: bytes, status: int = 200, end: str = "whole") -> Reply:
    """A response in chunks that ends `whole`, `cut`, `reset` or `hang`."""

    async def respond(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(
            f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        for chunk in chunks:
            await connection.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if end == "whole":
            await connection.send(b"0\r\n\r\n")
        elif end == "cut":
            connection.cut()
        elif end == "reset":
            connection.reset()
        else:
            await connection.hang()

    return respond


async def cut(_: ReceivedRequest, connection: ServerConnection) -> None:
    """No response: the connection is closed."""
    connection.cut()


async def reset(_: ReceivedRequest, connection: ServerConnection) -> None:
    """No response: the connection is reset."""
    connection.reset()


async def hang(_: ReceivedRequest, connection: ServerConnection) -> None:
    """No response, and no end."""
    await connection.hang()


class ScriptedServer:
    """A server that responds to each request with the next step; the last one is repeated."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.steps: list[Reply] = []
        self.received: list[ReceivedRequest] = []
        self.connections = 0
        self.closed = 0  # connections that the client, or a step, has ended
        self.peers: list[Any] = []  # the client's certificate for each connection
        self.port = 0
        self._tls = tls
        self._connections_by_task: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._changed = asyncio.Event()

    def respond(self, *steps: Reply) -> None:
        self.steps = list(steps)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def until(self, condition: Callable[[ScriptedServer], bool]) -> None:
        """Wait until the server has seen what the test waits for."""
        while not condition(self):
            self._changed.clear()
            await self._changed.wait()

    def new_connection(self) -> asyncio.BaseProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(), self._accept)

    async def end_connections(self) -> None:
        tasks = dict(self._connections_by_task)
        for task, writer in tasks.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Known from its first moment: a task that is ended before it began closes nothing."""
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections_by_task[task] = writer
        task.add_done_callback(self._connections_by_task.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        secure = writer.get_extra_info("ssl_object")
        self.peers.append(secure.getpeercert() if secure else None)
        try:
            while (asked := await self._read(reader)) is not None:
                self.received.append(asked)
                self._changed.set()
                step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
                await step(asked, ServerConnection(reader, writer))
                if writer.is_closing():
                    break
        except (ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self.closed += 1
            self._changed.set()
            if not writer.is_closing():
                writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> ReceivedRequest | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.rstrip().split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        length = next((int(v) for n, v in headers if n.lower() == "content-length"), 0)
        body = await reader.readexactly(length)
        return ReceivedRequest(method, target, headers, body)


@asynccontextmanager
async def serving(*, tls: ssl.SSLContext | None = None) -> AsyncIterator[ScriptedServer]:
    script = ScriptedServer(tls=tls)
    async with listen(
        script.new_connection, "127.0.0.1", 0, finish=script.end_connections, tls=tls
    ) as script.port:
        yield script


def client_for(server: ScriptedServer, **options: Any) -> RESTClient:
    """A client for a server without TLS; options of the configuration are in `config`."""
    config = options.pop("config", {})
    return RESTClient(ClusterConfig(server=server.url, **config), environ={}, **options)


async def eventually(condition: Callable[[], bool]) -> None:
    """Yield to the event loop until sockets have been read and the condition holds."""
    while not condition():
        await asyncio.sleep(0)
