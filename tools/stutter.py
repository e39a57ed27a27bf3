"""Runs a command, and stops and continues its processes at random, as on a busy machine.

    python tools/stutter.py make test-real
    SEED=7 python tools/stutter.py python -m pytest packages/kubeloop/tests/cache

A test that fails only here depends on timing, or the code that it tests does. A longer timeout
is not a fix.

Guarantees: every stopped process is continued; only the command and its descendants are stopped;
the exit code is that of the command. Linux only, because `/proc` lists the children of a process.
The same seed does not give the same stops, because the scheduling differs.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["descendants", "main"]

_BETWEEN = (0.005, 0.15)  # seconds until the next stop
_MEAN, _MAXIMUM = 0.06, 0.4  # seconds that a stop lasts


def main(command: Sequence[str], seed: int) -> int:
    """Run the command; returns its exit code."""
    chance = random.Random(seed)
    stops = 0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            time.sleep(chance.uniform(*_BETWEEN))
            pid = chance.choice([process.pid, *descendants(process.pid)])
            stops += _stop_for(pid, min(_MAXIMUM, chance.expovariate(1 / _MEAN)))
    print(f"stutter: {stops} stops, SEED={seed}", file=sys.stderr)
    return process.returncode


def descendants(pid: int) -> list[int]:
    """The children of a process, and their children."""
    found = [pid]
    for each in found:
        # A process that ends meanwhile has no children any more.
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found[1:]


def _stop_for(pid: int, seconds: float) -> bool:
    """Stop a process for some time; returns False if it has ended."""
    try:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
    except ProcessLookupError:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], int(os.environ.get("SEED", "1"))))
