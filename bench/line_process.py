"""Processes that print their results as lines, and end when their input does.

Guarantees: no process outlives its block, nor this process; one that takes too long is killed,
and the error reports it.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import final

from bench.measure import ROOT, Failed
from bench.scale import count

__all__ = ["TIMEOUT", "TURNS_TIMEOUT", "LineProcess", "line_process"]

TIMEOUT = float(count("TIMEOUT", 120, full=900))
"""Bound in seconds on one contestant."""
TURNS_TIMEOUT = 4 * TIMEOUT
"""The same for one that lives for many turns."""


@final
class LineProcess:
    """A running program, read a line at a time."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, limit: float) -> None:
        self._process = process
        self._name = name
        self._limit = limit
        self._killed = False

    def line(self) -> bytes:
        """Its next line. Raises: Failed, when there will be none."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Failed(f"{self._name} {self._end()}")
        return line

    def send(self, line: bytes) -> None:
        """Write a line to its input. Raises: Failed, when it has ended."""
        assert self._process.stdin is not None
        try:
            # Past the buffer, which would fail once more when it is closed.
            os.write(self._process.stdin.fileno(), line + b"\n")
        except BrokenPipeError:
            raise Failed(f"{self._name} {self._end()}") from None

    def kill(self) -> None:
        self._killed = True
        self._process.kill()

    def _end(self) -> str:
        code = self._process.wait()
        if self._killed:
            return f"was killed after {self._limit:.0f} s"
        return f"ended with {code} before it was done"


@contextmanager
def line_process(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, timeout: float = TIMEOUT
) -> Iterator[LineProcess]:
    """Run `command` while the block runs; `env` is added to our environment."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,  # it ends when this does, however we end
        stdout=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    ) as process:
        program = LineProcess(process, _name(command), timeout)
        timer = threading.Timer(timeout, program.kill)
        timer.start()
        try:
            yield program
        finally:
            timer.cancel()


def _name(command: Sequence[str]) -> str:
    """The program, or the module that Python runs."""
    return command[2] if command[1:2] == ["-m"] else Path(command[0]).name
