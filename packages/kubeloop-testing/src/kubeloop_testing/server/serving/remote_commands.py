"""exec and attach over WebSockets: connects a client with a registered program.

Guarantees: subprotocols, channels and statuses are those of kube-apiserver in front of a kubelet
with containerd; output waits while the client does not read; the program is cancelled when the
client disconnects, and its status is sent before the close handshake otherwise.
See also: `kubelet.programs` (the programs), `kubelet.channels` (messages), `verbs.connections`
(checks before the handshake).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import itertools
import logging
from typing import final

import msgspec
from aiohttp import WSMsgType, web
from multidict import CIMultiDict

from kubeloop.kit import cancel_and_wait
from kubeloop.wire import JsonObject

from ..kubelet.channels import (
    ERROR,
    RESIZE,
    STDERR,
    STDIN,
    STDOUT,
    BadMessage,
    Subprotocol,
    choose_remote_command,
)
from ..kubelet.processes import Process, Program, TerminalSize
from ..kubelet.programs import Programs
from ..statuses import bad_request, internal_error
from ..storage.store import encoded
from ..verbs.connections import RemoteCommand
from ..verbs.logs import Logs

__all__ = ["RemoteCommands", "accept", "offered_protocols", "reject_handshake"]

log = logging.getLogger(__name__)

_MESSAGE_LIMIT = 32 * 1024 * 1024  # DefaultMaxPayloadBytes of golang.org/x/net/websocket
_CLOSE_SECONDS = 1.0  # until the client must have sent its close frame


class _Resize(msgspec.Struct):
    width: int = msgspec.field(name="Width", default=0)
    height: int = msgspec.field(name="Height", default=0)


@final
class RemoteCommands:
    """Serves exec and attach."""

    def __init__(self, programs: Programs, logs: Logs) -> None:
        self._programs = programs
        self._logs = logs
        self._runs = itertools.count(1)

    async def serve(
        self, http: web.BaseRequest, command: RemoteCommand, headers: CIMultiDict[str]
    ) -> web.StreamResponse:
        """Run the command until it ends or the client disconnects, which cancels it.

        Raises: StatusError when the request is no WebSocket handshake.
        """
        offered = offered_protocols(http)
        protocol = choose_remote_command(offered)
        # kube-apiserver accepts v5 itself; the kubelet, which gets all else, checks first.
        is_translated = protocol is not None and protocol.can_close
        if command.kubelet_error and not is_translated:
            code = 400 if command.kubelet_error.startswith("you must") else 500
            return web.Response(status=code, text=command.kubelet_error, headers=headers)
        if protocol is None or http.method != "GET":
            return reject_handshake(http, headers)
        socket = await accept(http, protocol.name, headers)
        connection = _Connection(socket, protocol, command)
        # A client that disconnects is noticed by the end of `serve`, whichever task sees it.
        with contextlib.suppress(ConnectionError):
            await self._serve(connection, command)
            await socket.close()
        return socket

    async def _serve(self, connection: _Connection, command: RemoteCommand) -> None:
        await connection.announce()
        if command.kubelet_error:
            error = internal_error(f"unable to upgrade connection: {command.kubelet_error}")
            await connection.send_status(error.status)
            return
        process = connection.process
        program = asyncio.create_task(self._status_of(process, command, connection.protocol))
        reader = asyncio.create_task(connection.read())
        try:
            await asyncio.wait({program, reader}, return_when=asyncio.FIRST_COMPLETED)
            if program.done():
                await connection.send_status(program.result())
        finally:
            for each in (reader, program):
                with contextlib.suppress(ConnectionError):
                    await cancel_and_wait(each)

    async def _status_of(
        self, process: Process, command: RemoteCommand, protocol: Subprotocol
    ) -> JsonObject:
        """Run the program of a request; the status that a client gets."""
        program = self._program(command)
        if program is None:
            return self._missing(process, is_translated=protocol.can_close)
        try:
            code = await program(process) or 0
        except _Disconnected:
            raise
        except Exception as error:
            log.exception("%r failed", process)
            what = "executing command in" if command.command is not None else "attaching to"
            return internal_error(f"error {what} container: {error!r}").status
        if code and command.command is not None:
            return _exit_status(process.command, code, is_translated=protocol.can_close)
        return {"metadata": {}, "status": "Success"}

    def _program(self, command: RemoteCommand) -> Program | None:
        names = (command.namespace, command.pod, command.container)
        if command.command is not None:
            return self._programs.command(command.command, *names)
        started = (*command.spec.get("command", ()), *command.spec.get("args", ()))
        return (
            self._programs.main(*names)
            or self._programs.command(started, *names)
            or functools.partial(self._follow_log, command)
        )

    async def _follow_log(self, command: RemoteCommand, process: Process) -> None:
        """What a container without a program writes from now on: its log."""
        stream = self._logs.attach(command.key, command.container)
        drain = asyncio.create_task(_drain(process))
        try:
            async for piece in stream:
                await process.stdout.write(piece)
        finally:
            self._logs.close(stream)
            await cancel_and_wait(drain)

    def _missing(self, process: Process, *, is_translated: bool) -> JsonObject:
        """The status of containerd for a program that the container does not have."""
        name = process.command[0] if process.command else ""
        # containerd names each run; ours has the same name in every run of a test.
        run = hashlib.sha256(f"{process!r} {next(self._runs)}".encode()).hexdigest()
        why = (
            "error executing command in container: failed to exec in container: "
            f'failed to start exec "{run}": OCI runtime exec failed: exec failed: '
            f'unable to start container process: exec: "{name}": '
            f"{_why_missing(name)}: unknown"
        )
        error = internal_error(why)
        if is_translated:
            # kube-apiserver gets the error as a text, and wraps it once more.
            error = internal_error(str(error.status["message"]))
        return error.status


def _why_missing(name: str) -> str:
    if "/" in name:
        return f"stat {name}: no such file or directory"
    return "executable file not found in $PATH"


def _exit_status(command: tuple[str, ...], code: int, *, is_translated: bool) -> JsonObject:
    why = f"error executing command [{' '.join(command)}], exit code {code}"
    if is_translated:
        why = f"command terminated with exit code {code}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: {why}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


async def _drain(process: Process) -> None:
    while await process.stdin.read(65536):
        pass


class _Disconnected(ConnectionError):
    """The client is gone; other errors of connections are those of a program."""


class _Connection:
    """The channels of one client, and the process behind them."""

    def __init__(
        self, socket: web.WebSocketResponse, protocol: Subprotocol, command: RemoteCommand
    ) -> None:
        self.protocol = protocol
        self._socket = socket
        self._command = command
        self.process = Process(
            command.command or (),
            namespace=command.namespace,
            pod=command.pod,
            container=command.container,
            tty=command.tty,
            stdout=functools.partial(self._send, STDOUT) if command.stdout else None,
            stderr=functools.partial(self._send, STDERR) if command.stderr else None,
        )
        if not command.stdin:
            self.process.feed_eof()

    async def announce(self) -> None:
        """Send an empty message on the first channel: the client knows that it is connected."""
        command = self._command
        await self._send(STDOUT if command.stdout else STDERR if command.stderr else ERROR, b"")

    async def send_status(self, status: JsonObject) -> None:
        """Send how the command ended; before v4 this is a text, and nothing for a success."""
        if self.protocol.has_json_status:
            await self._send(ERROR, encoded(status))
        elif status["status"] != "Success":
            await self._send(ERROR, str(status["message"]).encode())

    async def read(self) -> None:
        """Pass messages to the process until the client disconnects."""
        with contextlib.suppress(BadMessage):
            async for message in self._socket:
                if message.type not in {WSMsgType.BINARY, WSMsgType.TEXT}:
                    return
                found = self.protocol.decode(message.data)
                if found is None:
                    continue
                if found.channel == STDIN and self._command.stdin:
                    if found.is_end:
                        self.process.feed_eof()
                    else:
                        await self.process.feed(found.data)
                elif found.channel == RESIZE and not found.is_end:
                    self._resize(found.data)

    def _resize(self, data: bytes) -> None:
        try:
            size = msgspec.json.decode(data, type=_Resize)
        except msgspec.DecodeError:
            return
        self.process.resize(TerminalSize(size.width, size.height))

    async def _send(self, channel: int, data: bytes) -> None:
        message = self.protocol.encode(channel, data)
        try:
            if isinstance(message, str):
                await self._socket.send_str(message)
            else:
                await self._socket.send_bytes(message)
        except ConnectionError as error:
            raise _Disconnected(f"send to channel {channel}: the client is gone") from error


# --- handshake


def offered_protocols(http: web.BaseRequest) -> list[str]:
    """The subprotocols that a WebSocket handshake offers.

    Raises: StatusError 400 when the request is no WebSocket handshake.
    """
    upgrade = http.headers.get("Upgrade", "").lower()
    if "upgrade" not in http.headers.get("Connection", "").lower() or not upgrade:
        raise bad_request("Upgrade request required")
    if upgrade != "websocket":
        raise bad_request(
            f"unable to upgrade: the embedded server speaks WebSocket, not {upgrade[:32]}"
        )
    found = ",".join(http.headers.getall("Sec-WebSocket-Protocol", ()))
    return [name.strip() for name in found.split(",") if name.strip()]


def reject_handshake(http: web.BaseRequest, headers: CIMultiDict[str]) -> web.Response:
    """The response to a handshake with another method, or without a known subprotocol."""
    if http.method != "GET":
        return web.Response(status=405, body=b"bad method", headers=headers)
    return web.Response(status=403, headers=headers)


async def accept(
    http: web.BaseRequest, protocol: str, headers: CIMultiDict[str]
) -> web.WebSocketResponse:
    """Accept a WebSocket handshake. Raises: StatusError 400 when it is not valid."""
    socket = web.WebSocketResponse(
        protocols=[protocol] if protocol else (),
        timeout=_CLOSE_SECONDS,
        max_msg_size=_MESSAGE_LIMIT,
        compress=False,
    )
    socket.headers.update(headers)
    try:
        await socket.prepare(http)
    except web.HTTPException as error:
        raise bad_request(f"unable to upgrade: {error.text}") from error
    return socket
