"""A program that supervises child processes and stops them when its parent is gone.

Its argument is a folder. Each line on stdin is a JSON command: start a process, or kill and
restart one. When stdin ends, because the parent closed it or died in any way, the supervisor
stops all processes and removes the folder. It reports each process that exits by itself, and
each restart, as a JSON line on stdout.
Guarantees: imports only the standard library, so that it starts within milliseconds.
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

GRACE = 5.0  # seconds between SIGTERM and SIGKILL

_PR_SET_PDEATHSIG = 1
# Loaded before there are threads: `preexec_fn` runs between fork and exec.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def main(folder: str) -> None:
    """Execute commands until stdin ends, then stop everything."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent decides, not the terminal
    children: dict[str, Child] = {}
    try:
        for line in sys.stdin:
            match json.loads(line):
                case {"start": part}:
                    children[part["name"]] = Child(part)
                    children[part["name"]].start()
                case {"restart": name}:
                    children[name].restart()
                    _report({"restarted": name})
    finally:
        # In reverse order: kube-apiserver needs etcd for its own shutdown.
        for child in reversed(children.values()):
            child.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Child:
    """One program, and its current process."""

    def __init__(self, part: dict[str, Any]) -> None:
        self._part = part
        self._process: subprocess.Popen[bytes] | None = None  # None: not running

    def start(self) -> None:
        with Path(self._part["log"]).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - the command is the parent's
                self._part["command"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(_die_with, os.getpid()) if _LIBC else None,  # noqa: PLW1509 - two system calls
            )
        self._process = process
        threading.Thread(target=self._report_exit, args=(process,), daemon=True).start()

    def restart(self) -> None:
        """Kill the process without SIGTERM, as in a crash, and start it again."""
        if (process := self._process) is not None:
            self._process = None
            process.kill()
            process.wait()
        self.start()

    def stop(self) -> None:
        if (process := self._process) is None:
            return
        with contextlib.suppress(OSError):
            process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _report_exit(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        if self._process is process:  # not killed by `restart`
            _report({"name": self._part["name"], "code": code})


def _die_with(supervisor: int) -> None:
    """Have Linux kill this process when the supervisor itself is killed."""
    assert _LIBC is not None
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The supervisor may have died before prctl, and then no signal will ever come.
    if os.getppid() != supervisor:
        os._exit(1)


def _report(event: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the parent has closed the pipe
        os.write(1, json.dumps(event).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
