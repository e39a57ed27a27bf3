"""The process that a registered command is: input, output, terminal, exit code.

Guarantees: writing waits while the client does not read, and reading gets no more than a bounded
amount of unread input; when the client disconnects, the command is cancelled.
See also: `programs` (which command runs), `serving.remote_commands` (the connection).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias, final

__all__ = ["Output", "Process", "Program", "Send", "TerminalSize", "table_program"]

INPUT_LIMIT = 1 << 20  # bytes of unread input, and of a line that `readline` returns
_PIECE = 32 * 1024  # bytes of a message, as of a kubelet

Send: TypeAlias = Callable[[bytes], Awaitable[None]]


class TerminalSize(NamedTuple):
    """Columns and rows of a terminal."""

    width: int
    height: int


class _PausableInput(asyncio.ReadTransport):
    """Pauses who feeds a StreamReader while its reader is slower."""

    def __init__(self) -> None:
        super().__init__()
        self.has_capacity = asyncio.Event()
        self.has_capacity.set()

    def pause_reading(self) -> None:
        self.has_capacity.clear()

    def resume_reading(self) -> None:
        self.has_capacity.set()


@final
class Output:
    """stdout or stderr of a process."""

    def __init__(self, send: Send | None) -> None:
        self._send = send  # None: the client did not request this stream

    async def write(self, data: bytes | str) -> None:
        """Send bytes, or a text as UTF-8; waits while the client does not read.

        If cancelled, a part may be sent. Without such a stream at the client, nothing happens.
        """
        if self._send is None:
            return
        content = data.encode() if isinstance(data, str) else bytes(data)
        for at in range(0, len(content), _PIECE):
            await self._send(content[at : at + _PIECE])


@final
class Process:
    """One run of a command in a container."""

    def __init__(
        self,
        command: tuple[str, ...],
        *,
        namespace: str,
        pod: str,
        container: str,
        tty: bool = False,
        stdout: Send | None = None,
        stderr: Send | None = None,
    ) -> None:
        self.command = command
        self.namespace = namespace
        self.pod = pod
        self.container = container
        self.tty = tty
        self.stdin = asyncio.StreamReader(limit=INPUT_LIMIT)
        """What the client sends. Without `stdin` in the request it is at its end."""
        self.stdout = Output(stdout)
        # A terminal has one output.
        self.stderr = Output(stdout if tty else stderr)
        self.size: TerminalSize | None = None
        """The last known size of the client's terminal."""
        self._sizes: asyncio.Queue[TerminalSize] = asyncio.Queue()
        self._has_ended = False  # the client sends no more input
        self._input = _PausableInput()
        self.stdin.set_transport(self._input)

    async def resized(self) -> TerminalSize:
        """The next size of the terminal; kubectl sends the first one at once.

        If cancelled, no size is lost.
        """
        return await self._sizes.get()

    async def feed(self, data: bytes) -> None:
        """Add input; waits while too much is unread. Input after the end is dropped."""
        if data and not self._has_ended:
            self.stdin.feed_data(data)
            await self._input.has_capacity.wait()

    def feed_eof(self) -> None:
        """End the input; idempotent."""
        self._has_ended = True
        self.stdin.feed_eof()

    def resize(self, size: TerminalSize) -> None:
        """Report a size of the terminal."""
        self.size = size
        self._sizes.put_nowait(size)

    def __repr__(self) -> str:
        return f"Process({self.command!r} in {self.namespace}/{self.pod}/{self.container})"


Program: TypeAlias = Callable[[Process], Awaitable[int | None]]
# Returns the exit code; None is 0.


def table_program(stdout: bytes | str, stderr: bytes | str, exit_code: int) -> Program:
    """A command that prints the same each time and ignores its input."""

    async def run(process: Process) -> int:
        if stdout:
            await process.stdout.write(stdout)
        if stderr:
            await process.stderr.write(stderr)
        return exit_code

    return run
