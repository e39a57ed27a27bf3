"""Keeps processes alive for as long as its parent is, and not a moment longer.

Run as a program of its own. The first line of its input says what to start; when the
input ends, because the parent closed it or is dead however it died, everything that was
started is ended and the folder is removed. Each process that ends by itself is told as a
line of output. Only the standard library is used: it starts in a blink.
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
from pathlib import Path
from typing import Any

GRACE = 5.0  # seconds to end in peace

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


def main() -> None:
    """Start, wait for the end of input, end everything."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent decides, not the terminal
    order = json.loads(sys.stdin.readline())
    started: list[subprocess.Popen[bytes]] = []
    try:
        for part in order["processes"]:
            started.append(_start(part))  # noqa: PERF401 - those before a failure are kept
        sys.stdin.read()
    finally:
        _end(started)
        if order["remove"]:
            shutil.rmtree(order["folder"], ignore_errors=True)


def _start(part: dict[str, Any]) -> subprocess.Popen[bytes]:
    with Path(part["log"]).open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - the parent says what to run
            part["command"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_me if sys.platform == "linux" else None,  # noqa: PLW1509 - no threads yet
        )
    threading.Thread(target=_tell_end, args=(part["name"], process), daemon=True).start()
    return process


def _die_with_me() -> None:
    """Should the guardian itself be killed, its wards are killed with it (Linux only)."""
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _tell_end(name: str, process: subprocess.Popen[bytes]) -> None:
    code = process.wait()
    line = json.dumps({"name": name, "code": code}) + "\n"
    with contextlib.suppress(OSError):  # nobody listens any more
        os.write(1, line.encode())


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """The last one started goes first: it needs the others to end in peace."""
    for process in reversed(processes):
        with contextlib.suppress(OSError):
            process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
