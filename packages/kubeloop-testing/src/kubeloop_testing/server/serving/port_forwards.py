"""portforward over WebSockets: SPDY inside the messages, or two channels for each port.

Guarantees: as a kubelet, each pair of streams is one connection to the port, with its own error
stream; half-close is passed on with SPDY. All connections are closed when the client disconnects.
See also: `kit.spdy` (frames), `kubelet.programs` (what a port is connected to).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import struct
from typing import final

from aiohttp import WSMsgType, web
from multidict import CIMultiDict

from kubeloop.kit import TaskOwner, spdy, whole_number

from ..kubelet.channels import TUNNEL, BadMessage, Subprotocol, choose_forward
from ..kubelet.ports import PortStreams, connect_port
from ..kubelet.programs import Programs
from ..verbs.connections import PortForward
from .remote_commands import accept, offered_protocols, reject_handshake

__all__ = ["PortForwards", "log_failure"]

log = logging.getLogger(__name__)

_PIECE = 32 * 1024
_LINGER = 1.0  # seconds for the client's side after the port has closed its own
_BUFFER = 1 << 20  # bytes for a port that does not read, before the other streams wait as well


@final
class PortForwards:
    """Serves portforward."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    async def serve(
        self, http: web.BaseRequest, forward: PortForward, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        """Forward until the client disconnects; if cancelled, all connections are closed.

        Raises: StatusError when the request is no WebSocket handshake.
        """
        offered = offered_protocols(http)
        is_tunnel = TUNNEL in offered
        protocol = Subprotocol(TUNNEL) if is_tunnel else choose_forward(offered)
        wrong = "" if is_tunnel else _check_ports(forward.ports)
        if wrong:
            return web.Response(status=400, text=wrong, headers=headers)
        if forward.kubelet_error:
            return web.Response(status=500, text=forward.kubelet_error, headers=headers)
        if protocol is None or http.method != "GET":
            return reject_handshake(http, headers)
        ws = await accept(http, protocol.name, headers)
        with contextlib.suppress(ConnectionError):
            async with TaskOwner(on_failure=log_failure) as tasks:
                target = _Target(self._programs, forward, tasks)
                if is_tunnel:
                    await _Tunnel(ws, target, tasks).run()
                else:
                    await _Channels(ws, protocol, target, tasks).run(forward.ports)
            await ws.close()
        return ws


def _check_ports(ports: tuple[int, ...]) -> str:
    """Why a kubelet refuses these ports (`NewV4Options`)."""
    if not ports:
        return 'query parameter "port" is required'
    for port in ports:
        if port == 0:
            return 'port "0" must be > 0'
        if port > 65535:
            number = f'strconv.ParseUint: parsing "{port}": value out of range'
            return f'unable to parse "{port}" as a port: {number}'
    return ""


def log_failure(name: str, error: Exception) -> None:
    """Log the failure of a function that is a port; a connection that ends is none."""
    if not isinstance(error, ConnectionError):
        log.error("%s failed", name, exc_info=error)


class _Target:
    """Opens connections to the ports of one pod."""

    def __init__(self, programs: Programs, forward: PortForward, tasks: TaskOwner) -> None:
        self._programs = programs
        self._forward = forward
        self._tasks = tasks

    async def connect(self, port: int) -> PortStreams:
        """Connect to a port. Raises: OSError with a kubelet's text."""
        target = self._programs.port(port, self._forward.namespace, self._forward.pod)
        name = f"port {port} of pod {self._forward.pod}"
        try:
            return await connect_port(target, self._tasks, name=name)
        except OSError as error:
            raise OSError(self._connect_error(port, str(error))) from error

    def reset_error(self, port: int) -> str:
        """A kubelet's text when a port resets its connection."""
        return self._error(port, f"read tcp4 127.0.0.1:{port}: read: connection reset by peer")

    def _connect_error(self, port: int, why: str) -> str:
        return self._error(
            port,
            f'failed to connect to localhost:{port} inside namespace "{self._sandbox()}", '
            f"IPv4: dial tcp4 127.0.0.1:{port}: connect: {why} "
            f"IPv6 dial tcp6: address localhost: no suitable address ",
        )

    def _error(self, port: int, why: str) -> str:
        # containerd names the sandbox of the pod, and its network namespace.
        space = f"/var/run/netns/cni-{self._forward.uid}"
        return (
            f"error forwarding port {port} to pod {self._sandbox()}, uid : "
            f'failed to execute portforward in network namespace "{space}": {why}'
        )

    def _sandbox(self) -> str:
        return hashlib.sha256(self._forward.uid.encode()).hexdigest()


# --- SPDY


class _Pair:
    """The two streams of one connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.data: int | None = None
        self.error: int | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.early: list[bytes] = []  # data that arrived before the port was connected
        self.end = asyncio.Event()  # the client sends nothing more
        self.task: asyncio.Task[None] | None = None


class _Tunnel:
    """SPDY in binary messages; a message has any part of a frame."""

    def __init__(self, ws: web.WebSocketResponse, target: _Target, tasks: TaskOwner) -> None:
        self._ws = ws
        self._target = target
        self._tasks = tasks
        self._session = spdy.Session(is_server=True)
        self._waiting: dict[str, _Pair] = {}  # by request id
        self._pairs: dict[int, _Pair] = {}  # by the number of the data stream

    async def run(self) -> None:
        async for message in self._ws:
            if message.type is not WSMsgType.BINARY:
                return  # a text message is an error of the client
            try:
                for event in self._session.receive(message.data):
                    await self._handle(event)
            except spdy.SPDYError as error:
                log.warning("port-forward: %s, closing the connection", error)
                await self._send(self._session.go_away(spdy.GoAwayStatus.PROTOCOL_ERROR))
                return

    async def _handle(self, event: spdy.Frame | spdy.Outgoing) -> None:
        match event:
            case spdy.Outgoing(data=data):
                await self._send(data)
            case spdy.SynStream():
                await self._open(event)
            case spdy.Data():
                await self._receive(event)
            case spdy.RstStream(stream_id=stream_id):
                pair = self._pairs.get(stream_id)
                if pair is not None and pair.task is not None:
                    pair.task.cancel()
            case _:
                pass

    async def _open(self, stream: spdy.SynStream) -> None:
        kind, port = stream.headers.get("streamtype", ""), stream.headers.get("port", "")
        is_valid = 0 < (whole_number(port) or 0) < 65536 and kind in {"data", "error"}
        if not is_valid:
            await self._send(self._session.reset(stream.stream_id))
            return
        # Without a request id, the streams of one connection have neighbouring numbers.
        number = str(stream.stream_id - 2 * (kind == "data"))
        request_id = stream.headers.get("requestid") or number
        pair = self._waiting.setdefault(request_id, _Pair(int(port)))
        await self._send(self._session.reply(stream.stream_id))
        if kind == "data":
            pair.data = stream.stream_id
            self._pairs[stream.stream_id] = pair
        else:
            pair.error = stream.stream_id
        if pair.data is not None and pair.error is not None:
            del self._waiting[request_id]
            pair.task = self._tasks.spawn(self._forward(pair), name=f"forward {pair.port}")

    async def _receive(self, frame: spdy.Data) -> None:
        pair = self._pairs.get(frame.stream_id)
        if pair is None:
            return  # of an error stream
        if frame.fin:
            pair.end.set()
        writer = pair.writer
        if writer is None:
            pair.early.append(frame.data)
            return
        await _write(writer, frame.data, is_last=frame.fin)

    async def _forward(self, pair: _Pair) -> None:
        assert pair.data is not None  # both streams are open
        assert pair.error is not None
        error = b""
        try:
            try:
                reader, writer = await self._target.connect(pair.port)
            except OSError as failure:
                error = str(failure).encode()
                return
            try:
                writer.write(b"".join(pair.early))
                pair.writer = writer
                if pair.end.is_set():
                    await _write(writer, b"", is_last=True)
                while data := await _read(reader):
                    await self._send_on(pair.data, data)
                if data is None:
                    error = self._target.reset_error(pair.port).encode()
                    return
                # As a kubelet, which ends the data after it has reported how it ended.
                await self._end(pair.error)
                await self._end(pair.data)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(pair.end.wait(), _LINGER)
            finally:
                writer.close()
        finally:
            del self._pairs[pair.data]
            await self._end(pair.error, error)
            await self._end(pair.data)
            if error:
                await self._send(self._session.reset(pair.data) + self._session.reset(pair.error))

    async def _send_on(self, stream_id: int, data: bytes) -> None:
        if self._session.can_send(stream_id):
            await self._send(self._session.send(stream_id, data))

    async def _end(self, stream_id: int, data: bytes = b"") -> None:
        if self._session.can_send(stream_id):
            await self._send(self._session.send(stream_id, data, fin=True))

    async def _send(self, data: bytes) -> None:
        # The whole message is written before the first wait, so frames stay in order.
        if data and not self._ws.closed:
            await self._ws.send_bytes(data)


async def _read(reader: asyncio.StreamReader) -> bytes | None:
    """The next data of a port; empty at its end, None if the port reset the connection."""
    try:
        return await reader.read(_PIECE)
    except ConnectionError:
        return None


async def _write(writer: asyncio.StreamWriter, data: bytes, *, is_last: bool) -> None:
    """Write what a client sent; a port that ended its connection gets nothing more."""
    with contextlib.suppress(ConnectionError, RuntimeError):
        if writer.is_closing():
            return
        writer.write(data)
        if is_last and writer.can_write_eof():
            writer.write_eof()
        if writer.transport.get_write_buffer_size() > _BUFFER:
            await writer.drain()


# --- channels


class _Channels:
    """Two channels for each port, with one connection for each; nothing can be half-closed."""

    def __init__(
        self, ws: web.WebSocketResponse, protocol: Subprotocol, target: _Target, tasks: TaskOwner
    ) -> None:
        self._ws = ws
        self._protocol = protocol
        self._target = target
        self._tasks = tasks
        self._writers: dict[int, asyncio.StreamWriter] = {}  # by the channel of the data

    async def run(self, ports: tuple[int, ...]) -> None:
        for index, port in enumerate(ports):
            # The first bytes of each channel are its port.
            for channel in (2 * index, 2 * index + 1):
                await self._send(channel, struct.pack("<H", port))
        connected = [await self._connect(2 * index, port) for index, port in enumerate(ports)]
        self._tasks.spawn(self._close_after(connected), name="end of the port-forward")
        with contextlib.suppress(BadMessage):
            async for message in self._ws:
                if message.type not in {WSMsgType.BINARY, WSMsgType.TEXT}:
                    return
                found = self._protocol.decode(message.data)
                writer = self._writers.get(found.channel) if found is not None else None
                if found is not None and writer is not None:
                    await _write(writer, found.data, is_last=False)

    async def _connect(self, channel: int, port: int) -> asyncio.Task[None] | None:
        try:
            reader, writer = await self._target.connect(port)
        except OSError as error:
            await self._send(channel + 1, str(error).encode())
            return None
        self._writers[channel] = writer
        return self._tasks.spawn(self._copy(channel, port, reader, writer), name=f"forward {port}")

    async def _copy(
        self, channel: int, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while data := await _read(reader):
                await self._send(channel, data)
            if data is None:
                await self._send(channel + 1, self._target.reset_error(port).encode())
        finally:
            del self._writers[channel]
            writer.close()

    async def _close_after(self, copies: list[asyncio.Task[None] | None]) -> None:
        running = [each for each in copies if each is not None]
        if running:
            await asyncio.wait(running)
        await self._ws.close()

    async def _send(self, channel: int, data: bytes) -> None:
        message = self._protocol.encode(channel, data)
        if isinstance(message, str):
            await self._ws.send_str(message)
        else:
            await self._ws.send_bytes(message)
