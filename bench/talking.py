"""Programs that tell what they found in lines, and end when their input does.

Promises: none outlives the block it was started for, nor us, however we end; whoever takes
too long is killed, and the error says so.
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

__all__ = ["PATIENCE", "Talker", "talking"]

PATIENCE = float(count("PATIENCE", 120, full=900))
"""Seconds that a contestant is given."""


@final
class Talker:
    """A running program, read a line at a time."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, limit: float) -> None:
        self._process = process
        self._name = name
        self._limit = limit
        self._killed = False

    def line(self) -> bytes:
        """Its next line. Raises: Failed, when there will be none."""
        assert self._process.stdout is not None
        found = self._process.stdout.readline()
        if not found:
            raise Failed(f"{self._name} {self._end()}")
        return found

    def kill(self) -> None:
        self._killed = True
        self._process.kill()

    def _end(self) -> str:
        code = self._process.wait()
        if self._killed:
            return f"was killed after {self._limit:.0f} s"
        return f"ended with {code} before it was done"


@contextmanager
def talking(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, patience: float = PATIENCE
) -> Iterator[Talker]:
    """Run `command` while the block lasts; `env` is added to ours."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,  # it ends when this does, however we end
        stdout=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    ) as process:
        talker = Talker(process, _name(command), patience)
        timer = threading.Timer(patience, talker.kill)
        timer.start()
        try:
            yield talker
        finally:
            timer.cancel()


def _name(command: Sequence[str]) -> str:
    """The program, or the module that Python runs."""
    return command[2] if command[1:2] == ["-m"] else Path(command[0]).name
