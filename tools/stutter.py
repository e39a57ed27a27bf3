"""Runs a command while its processes are stopped and continued at random, as on a busy machine.

    python tools/stutter.py make test-real
    SEED=7 python tools/stutter.py python -m pytest tests/cache

A test that fails only here waits for the wrong sign, or the code behind it does: both are
told apart by reading, not by a longer wait.

Promises: every process that was stopped is continued, however this ends; only the command and
its descendants are touched; the command's exit code is ours. Linux only, where `/proc` knows
every process's children. The same seed does not give the same stops: the machine has a say.
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
_USUAL, _LONGEST = 0.06, 0.4  # seconds that a stop lasts


def main(command: Sequence[str], seed: int) -> int:
    """Run the command to its end; the answer is its exit code."""
    chance = random.Random(seed)
    stops = 0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            time.sleep(chance.uniform(*_BETWEEN))
            whom = chance.choice([process.pid, *descendants(process.pid)])
            stops += _stop_for(whom, min(_LONGEST, chance.expovariate(1 / _USUAL)))
    print(f"stutter: {stops} stops, SEED={seed}", file=sys.stderr)
    return process.returncode


def descendants(pid: int) -> list[int]:
    """The processes that this one has started, and those that they have."""
    found = [pid]
    for each in found:
        # What ends while we look has no children any more, or they are somebody else's.
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found[1:]


def _stop_for(pid: int, seconds: float) -> bool:
    """Whether there was a process to stop."""
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
