"""The terminal of this process, for programs that run elsewhere.

Guarantees: raw mode ends with its block, also after an error; reading does not block the event
loop, and leaves no thread behind that waits for a key.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from types import TracebackType
from typing import Any, Self, final

__all__ = ["InputReader", "OutputWriter", "RawTerminal"]

_CHUNK = 64 * 1024
_PENDING = 1024 * 1024


@final
class RawTerminal:
    """Passes every key on, within its block; if not `enabled`, it does nothing."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[Any] = []
        self._resized = asyncio.Event()

    def __enter__(self) -> Self:
        if not self._enabled:
            return self
        import termios
        import tty

        fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(fd)
        tty.setraw(fd)
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self._resized.set)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._enabled:
            return
        import termios

        asyncio.get_running_loop().remove_signal_handler(signal.SIGWINCH)
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        found = os.get_terminal_size(sys.stdin.fileno())
        return found.columns, found.lines

    async def resized(self) -> None:
        """Wait until the size has changed. Safe to cancel."""
        await self._resized.wait()
        self._resized.clear()


@final
class InputReader:
    """Reads a terminal, a pipe or a file without blocking the event loop."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    async def read(self) -> bytes:
        """The next bytes; empty at the end. Safe to cancel: nothing is lost."""
        if not await self._wait():
            return await asyncio.to_thread(os.read, self._fd, _CHUNK)  # a file: never waits long
        try:
            return os.read(self._fd, _CHUNK)
        except OSError:  # the terminal was closed
            return b""

    async def _wait(self) -> bool:
        """Wait until there is input; False for a file, which has no such event."""
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        try:
            loop.add_reader(self._fd, readable.set)
        except (OSError, NotImplementedError, ValueError):
            return False
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._fd)
        return True


@final
class OutputWriter:
    """Writes to a terminal, a pipe or a file in a thread, because its reader may be slow.

    While one piece is written, the next ones are collected, up to a megabyte.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pending: list[bytes] = []
        self._size = 0
        self._changed = asyncio.Event()
        self._taken = asyncio.Event()
        self._is_ended = False

    async def write(self, data: bytes) -> None:
        """Add data; waits while too much is pending. If cancelled, it may be written."""
        self._pending.append(data)
        self._size += len(data)
        self._changed.set()
        while self._size > _PENDING:
            self._taken.clear()
            await self._taken.wait()

    def end(self) -> None:
        """Nothing more is added: `run` ends when everything is written."""
        self._is_ended = True
        self._changed.set()

    async def run(self) -> None:
        """Write what is added, until `end`. Raises: BrokenPipeError."""
        while self._pending or not self._is_ended:
            if not self._pending:
                self._changed.clear()
                await self._changed.wait()
                continue
            data, self._pending, self._size = b"".join(self._pending), [], 0
            self._taken.set()
            await asyncio.to_thread(_write, self._fd, data)


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        with contextlib.suppress(BlockingIOError):
            view = view[os.write(fd, view) :]
