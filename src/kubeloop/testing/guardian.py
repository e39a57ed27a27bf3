"""Keeps processes alive for as long as its parent is, and not a moment longer.

Run as a program of its own, with a folder as its argument. Each line of its input says what to
start, or which process to kill and start again; when the input ends, because the parent closed
it or is dead however it died, everything that was started is ended and the folder is removed.
Each process that ends by itself is told as a line of output, and so is each that was started
again. Only the standard library is used: it starts in a blink.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

GRACE = 5.0  # seconds to end in peace

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # found before there are threads


def main(folder: str) -> None:
    """Obey until the end of input, then end everything."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent decides, not the terminal
    wards: dict[str, Ward] = {}
    try:
        for line in sys.stdin:
            match json.loads(line):
                case {"start": part}:
                    wards[part["name"]] = Ward(part)
                    wards[part["name"]].start()
                case {"restart": name}:
                    wards[name].restart()
                    _tell({"restarted": name})
    finally:
        # The last one started goes first: it needs the others to end in peace.
        for ward in reversed(wards.values()):
            ward.end()
        shutil.rmtree(folder, ignore_errors=True)


class Ward:
    """One program, and the process that it is at the moment."""

    def __init__(self, part: dict[str, Any]) -> None:
        self._part = part
        self._process: subprocess.Popen[bytes] | None = None  # None: nobody misses it

    def start(self) -> None:
        with Path(self._part["log"]).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - the parent says what to run
                self._part["command"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(_die_with, os.getpid()) if _LIBC else None,  # noqa: PLW1509 - two system calls
            )
        self._process = process
        threading.Thread(target=self._await_end, args=(process,), daemon=True).start()

    def restart(self) -> None:
        """As if it had crashed: it is not asked to end."""
        if (process := self._process) is not None:
            self._process = None
            process.kill()
            process.wait()
        self.start()

    def end(self) -> None:
        if (process := self._process) is None:
            return
        with contextlib.suppress(OSError):
            process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _await_end(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        if self._process is process:  # and not killed by us
            _tell({"name": self._part["name"], "code": code})


def _die_with(guardian: int) -> None:
    """Should the guardian itself be killed, its wards are killed with it (Linux only)."""
    assert _LIBC is not None
    _LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != guardian:  # it was killed just before, and this ward would outlive it
        os._exit(1)


def _tell(said: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        os.write(1, json.dumps(said).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
