"""Programs in containers: `exec`, `attach` and `debug`, over one WebSocket each.

A `RemoteCommand` is awaited for the result of a program that ends by itself, or entered for a
`Process` to talk to.

Guarantees: bytes are passed on unchanged, in order; what is not read waits in a bounded buffer,
and then on the server; a connection that is lost is an error that says how much was received;
leaving the block ends the connection, whatever the server does.
See also: `channels` (messages), `kubeloop.rest` (the WebSocket and its heartbeat).
"""

from __future__ import annotations

import asyncio
import warnings
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Protocol, Self, final

import msgspec

from kubeloop.errors import (
    DecodeError,
    Forbidden,
    InvalidArgument,
    KubeError,
    ResponseTooLarge,
    StreamBroken,
    TimeoutExceeded,
    TransportError,
)
from kubeloop.kit import TaskOwner
from kubeloop.rest import Request, RequestSender
from kubeloop.wire import get_logger

from .channels import (
    ERROR,
    STDERR,
    STDIN,
    STDOUT,
    V4,
    close_message,
    parse_message,
    read_exit_code,
    resize_message,
)
from .log_position import LineSplitter

__all__ = [
    "MAX_OUTPUT",
    "ExecResult",
    "MessageConnection",
    "NonZeroExitCode",
    "Process",
    "ProcessInput",
    "ProcessOutput",
    "RemoteCommand",
    "UnsupportedByServer",
    "open_socket",
]

log = get_logger(__name__)

HEARTBEAT = 5.0  # seconds between pings, as kubectl
MAX_MESSAGE = 16 * 1024 * 1024
MAX_OUTPUT = 64 * 1024 * 1024  # as the default of `PodClient.exec`
_MAX_LINE = 64 * 1024 * 1024
_BUFFER = 1024 * 1024  # bytes of a channel that no one has read yet
_WRITE = 32 * 1024  # bytes of one message
_SHOWN = 300  # characters of stderr in an error
_NAMES = {STDOUT: "stdout", STDERR: "stderr"}


class UnsupportedByServer(KubeError):
    """The protocol that the server speaks cannot do this."""


class MessageConnection(Protocol):
    """The WebSocket of a stream: `kubeloop.rest.WebSocket`."""

    @property
    def subprotocol(self) -> str: ...
    @property
    def close_code(self) -> int | None: ...
    @property
    def close_reason(self) -> str: ...
    async def send(self, data: bytes | str | Callable[[], bytes]) -> None: ...
    async def receive(self) -> bytes | str | None: ...
    async def close(self, code: int = 1000, reason: str = "") -> None: ...
    def abort(self) -> None: ...


class ExecResult(msgspec.Struct, frozen=True):
    """What a program wrote, and its exit code."""

    stdout: bytes
    stderr: bytes
    exit_code: int

    @property
    def text(self) -> str:
        """`stdout` as text; bytes that are not UTF-8 are replaced."""
        return self.stdout.decode(errors="replace")


@final
class NonZeroExitCode(KubeError):
    """A program failed, and `check` was set; `result` has its output."""

    def __init__(self, action: str, result: ExecResult) -> None:
        super().__init__(action, result)
        self.action = action
        self.result = result

    @property
    def exit_code(self) -> int:
        return self.result.exit_code

    def _message(self) -> str:
        output = (self.result.stderr or self.result.stdout).decode(errors="replace").strip()
        shown = f": {output[-_SHOWN:]}" if output else ""
        return f"{self.action}: exit code {self.exit_code}{shown}"


async def open_socket(
    rest: RequestSender, request: Request, protocols: tuple[str, ...]
) -> MessageConnection:
    """A WebSocket that speaks one of the protocols. Safe to cancel.

    Raises: ApiError when the server rejects it; UnsupportedByServer when it speaks none of them.
    """
    try:
        socket: MessageConnection = await rest.websocket(
            request, protocols=protocols, heartbeat=HEARTBEAT, max_size=MAX_MESSAGE
        )
    except Forbidden as error:
        what = f"{request.resource.resource if request.resource else ''}/{request.subresource}"
        raise error.with_hint(
            f"grant the verbs get and create on {what}: servers since 1.35 require both"
        ) from None
    if socket.subprotocol not in protocols:
        socket.abort()
        raise UnsupportedByServer(
            f"{request.action}: the server speaks none of {', '.join(protocols)}"
            " (it needs Kubernetes 1.29 or newer; does a proxy remove headers?)"
        )
    return socket


# --- the process


@final
class Process:
    """A program in a container, while its block lasts.

    `stdout` and `stderr` are read piece by piece; a terminal has only `stdout`. Read both, or
    open the process with `stderr=False`: a stream that fills up while only the other one is read
    is an error.
    """

    def __init__(
        self, socket: MessageConnection, action: str, *, stdin: bool, stderr: bool, tty: bool
    ) -> None:
        self._socket = socket
        self._action = action
        self._tty = tty
        self._unread: dict[int, deque[bytes]] = {STDOUT: deque(), STDERR: deque()}
        self._sizes = {STDOUT: 0, STDERR: 0}
        self._was_read: set[int] = set()
        self._closed = set() if stderr else {STDERR}  # channels without more data
        self._status = b""
        self._received = 0
        self._error: KubeError | None = None
        self._is_over = False
        self._turn = asyncio.Lock()  # of the task that receives for all
        self._has_capacity = asyncio.Event()
        self._input = ProcessInput(socket, action) if stdin else None
        self.stdout = ProcessOutput(self, STDOUT)
        self.stderr = ProcessOutput(self, STDERR)

    def __repr__(self) -> str:
        return f"Process({self._action})"

    @property
    def stdin(self) -> ProcessInput:
        """The input of the program. Raises: InvalidArgument if it was opened without `stdin`."""
        if self._input is None:
            raise InvalidArgument(f"{self._action}: it has no stdin (open it with stdin=True)")
        return self._input

    async def resize(self, columns: int, rows: int) -> None:
        """Report the size of the terminal. Safe to cancel.

        Raises: InvalidArgument without a terminal.
        """
        if not self._tty:
            raise InvalidArgument(f"{self._action}: it has no terminal (open it with tty=True)")
        await self._socket.send(resize_message(columns, rows))

    async def wait(self) -> int:
        """Wait for the end of the program; returns its exit code. Safe to cancel.

        Drops the output of a stream that was never read. Output of one that was read before has
        to be read to its end by another task.
        Raises: ApiError when the program could not be started; StreamBroken.
        """
        while not self._is_over:
            async with self._turn:
                if not self._is_over:
                    await self._receive(is_waiting=True)
        if self._error is not None:
            raise self._error
        return read_exit_code(self._action, self._status)

    # --- for the streams, and the owner

    async def read_channel(self, channel: int) -> bytes:
        """The next bytes of a channel; empty at its end."""
        self._was_read.add(channel)
        while not self._unread[channel]:
            if self._has_ended(channel):
                if self._error is not None:
                    raise self._error
                return b""
            async with self._turn:
                if not self._unread[channel] and not self._has_ended(channel):
                    await self._receive(is_waiting=False)
        chunk = self._unread[channel].popleft()
        self._sizes[channel] -= len(chunk)
        self._has_capacity.set()
        return chunk

    async def collect(self, limit: int) -> tuple[bytes, bytes]:
        """All output. Raises: ResponseTooLarge."""
        parts: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
        size = 0
        while not self._is_over:
            await self._receive(is_waiting=False)
            for channel, unread in self._unread.items():
                parts[channel] += unread
                size += self._sizes[channel]
                unread.clear()
                self._sizes[channel] = 0
            if size > limit:
                raise ResponseTooLarge(
                    f"{self._action}: the output is larger than {limit} bytes"
                ).with_hint(python="enter it and read piece by piece, or raise max_output")
        if self._error is not None:
            raise self._error
        return b"".join(parts[STDOUT]), b"".join(parts[STDERR])

    async def close(self) -> None:
        """End the connection, with a close handshake if the program still runs."""
        if self._is_over:
            # The server has closed its side: do not wait until a proxy does the same.
            self._socket.abort()
            return
        self._leave()
        await self._socket.close()

    def abort(self) -> None:
        """End the connection at once."""
        self._leave()
        self._socket.abort()

    def _leave(self) -> None:
        if not self._is_over and self._error is None:
            self._error = StreamBroken(f"{self._action}: the block of the process has ended")
        self._is_over = True

    def _has_ended(self, channel: int) -> bool:
        return self._is_over or channel in self._closed

    # --- receiving

    async def _receive(self, *, is_waiting: bool) -> None:
        """Receive one message, and store it; only the task that has the turn calls this."""
        await self._wait_for_capacity(is_waiting=is_waiting)
        try:
            message = await self._socket.receive()
            if message is None:
                self._end()
                return
            channel, data, is_end = parse_message(message)
        except TransportError as error:
            self._fail(error)
            return
        except DecodeError as error:
            self._error = DecodeError(f"{self._action}: {error}")
            self.abort()
            return
        if is_end:
            self._closed.add(channel)
        elif channel in self._unread:
            self._received += len(data)
            if data and not (is_waiting and channel not in self._was_read):
                self._unread[channel].append(data)
                self._sizes[channel] += len(data)
        elif channel == ERROR:
            self._status += data
        else:
            log.info("%s: dropped a message of the unknown channel %d", self._action, channel)

    async def _wait_for_capacity(self, *, is_waiting: bool) -> None:
        for channel, name in _NAMES.items():
            while self._sizes[channel] >= _BUFFER:
                if channel not in self._was_read:
                    if is_waiting:
                        self._unread[channel].clear()
                        self._sizes[channel] = 0
                        break
                    raise InvalidArgument(
                        f"{self._action}: {self._sizes[channel]} bytes of {name} were not read"
                        f" (read both streams, or open it with {name}=False)"
                    )
                self._has_capacity.clear()
                await self._has_capacity.wait()

    def _end(self) -> None:
        self._is_over = True
        code = self._socket.close_code
        if code not in {None, 1000}:
            reason = f" {self._socket.close_reason!r}" if self._socket.close_reason else ""
            self._error = StreamBroken(
                f"{self._action}: the server closed the stream with code {code}{reason},"
                f" after {self._received} bytes of output"
            )

    def _fail(self, error: TransportError) -> None:
        kind = TimeoutExceeded if isinstance(error, TimeoutExceeded) else StreamBroken
        self._error = kind(
            f"{self._action}: the connection was lost after {self._received} bytes of output:"
            f" {error.summary}"
        )
        self._error.__cause__ = error
        self._is_over = True


@final
class ProcessInput:
    """The stdin of a program."""

    def __init__(self, socket: MessageConnection, action: str) -> None:
        self._socket = socket
        self._action = action
        self._is_closed = False

    async def write(self, data: bytes | str) -> None:
        """Send data, text as UTF-8; waits while the program reads slowly.

        A cancelled call may have sent a part of it. Raises: StreamBroken, TransportError.
        """
        if self._is_closed:
            raise InvalidArgument(f"{self._action}: stdin is closed")
        found = data.encode() if isinstance(data, str) else data
        for at in range(0, len(found), _WRITE):
            await self._socket.send(b"\0" + found[at : at + _WRITE])

    async def close(self) -> None:
        """End the input, so that a program which reads it to the end ends. Idempotent.

        Raises: UnsupportedByServer when the server speaks v4.channel.k8s.io, which has no end of
        input. Safe to cancel.
        """
        self.check_close()
        if not self._is_closed:
            self._is_closed = True
            try:
                await self._socket.send(close_message(STDIN))
            except asyncio.CancelledError:
                self._is_closed = False  # nothing was sent
                raise

    def check_close(self) -> None:
        """Raises: UnsupportedByServer when the input cannot be ended."""
        if self._socket.subprotocol == V4:
            raise UnsupportedByServer(
                f"{self._action}: stdin cannot be closed: the server speaks only {V4}"
                " (use a command that does not need the end of its input, such as `head -c 100`)"
            )


@final
class ProcessOutput:
    """The stdout or stderr of a program, in chunks as they arrive."""

    def __init__(self, process: Process, channel: int) -> None:
        self._process = process
        self._channel = channel

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """The next bytes. Safe to cancel: nothing is lost. Raises: StreamBroken."""
        chunk = await self._process.read_channel(self._channel)
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def read(self, limit: int = MAX_OUTPUT) -> bytes:
        """All bytes to the end. Raises: ResponseTooLarge, StreamBroken."""
        parts, size = [], 0
        async for chunk in self:
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                raise ResponseTooLarge(
                    f"{self._process!r}: the output is larger than {limit} bytes"
                ).with_hint(python="read it piece by piece")
        return b"".join(parts)

    async def lines(self) -> AsyncGenerator[str, None]:
        """The lines, without their newlines; bytes that are not UTF-8 are replaced.

        Raises: DecodeError when a line is longer than 64 MiB; StreamBroken.
        """
        splitter = LineSplitter()
        async for chunk in self:
            for line in splitter.feed(chunk):
                yield line.decode(errors="replace")
            if splitter.size > _MAX_LINE:
                raise DecodeError(f"{self._process!r}: a line is longer than {_MAX_LINE} bytes")
        if splitter.size:
            yield splitter.rest.decode(errors="replace")


# --- a command that is awaited or entered


@final
class RemoteCommand(Awaitable[ExecResult]):
    """A program that is not started yet: await its result, or enter it for a `Process`.

    For one use. Bytes as `stdin` are written when it is awaited.
    """

    def __init__(
        self,
        opener: Callable[[], Awaitable[Process]],
        *,
        stdin: bool | bytes | str,
        check: bool,
        max_output: int,
    ) -> None:
        self._opener = opener
        self._stdin = stdin
        self._check = check
        self._max_output = max_output
        self._process: Process | None = None
        self._is_used = False

    def __await__(self) -> Generator[Any, None, ExecResult]:
        return self._run().__await__()

    async def __aenter__(self) -> Process:
        self._is_used = True
        if self._process is not None:
            raise InvalidArgument(f"{self._process!r}: it is running already (create another one)")
        self._process = await self._opener()
        return self._process

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        if error is not None:
            self._process.abort()
        else:
            await self._process.close()

    def __del__(self) -> None:
        if not self._is_used:
            self._is_used = True
            warnings.warn(
                "a command was created, and neither awaited nor entered: it was not executed",
                RuntimeWarning,
                stacklevel=2,
                source=self,
            )

    async def _run(self) -> ExecResult:
        if self._stdin is True:
            self._is_used = True
            raise InvalidArgument(
                "await a command with stdin=True: nothing would write its input"
                " (pass the input as bytes, or enter it with `async with`)"
            )
        async with self as process:
            async with TaskOwner(on_failure=_log_failure) as tasks:
                if self._stdin is not False:
                    process.stdin.check_close()
                    tasks.spawn(_feed(process.stdin, self._stdin), name=f"stdin of {process!r}")
                stdout, stderr = await process.collect(self._max_output)
            result = ExecResult(stdout, stderr, await process.wait())
        if self._check and result.exit_code:
            raise NonZeroExitCode(process._action, result)
        return result


async def _feed(stdin: ProcessInput, data: bytes | str) -> None:
    await stdin.write(data)
    await stdin.close()


def _log_failure(name: str, error: Exception) -> None:
    # A program may end without reading its input.
    log.debug("%s: %s", name, error)
