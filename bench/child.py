"""The interpreter that a snippet is measured in; only the standard library is loaded.

Reads `[setup, snippet]` as JSON from its input, runs both in one namespace, and writes the
snippet's cost to the file named on its command line. Without a file, it runs the snippet again for
each further line of its input, and prints a cost each time.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from pathlib import Path
from types import CodeType

STATUS = Path("/proc/self/status")


def main(out: Path) -> None:
    """Run, measure, write. The snippet's names are alive when `steady` is taken."""
    snippet, names = set_up(sys.stdin.read())
    gc.collect()
    before, wall, cpu = resident(), time.perf_counter(), time.process_time()
    exec(snippet, names)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resident_at_most()
    gc.collect()
    cost = {"wall": wall, "cpu": cpu, "before": before, "peak": peak, "steady": resident()}
    out.write_text(json.dumps(cost))


def take_turns() -> None:
    """Run the snippet for each line; garbage is collected when Python does so, and measured."""
    snippet, names = set_up(sys.stdin.readline())
    for _ in sys.stdin:
        before, wall, cpu = resident(), time.perf_counter(), time.process_time()
        exec(snippet, names)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak, now = resident_at_most(), resident()
        cost = {"wall": wall, "cpu": cpu, "before": before, "peak": peak, "steady": now}
        print(json.dumps(cost), flush=True)


def set_up(text: str) -> tuple[CodeType, dict[str, object]]:
    """The snippet, and the names that its setup has left."""
    setup, snippet = (
        compile(source, name, "exec")
        for source, name in zip(json.loads(text), ("<setup>", "<snippet>"), strict=True)
    )
    names: dict[str, object] = {"__name__": "__bench__"}
    exec(setup, names)
    return snippet, names


def resident() -> int:
    """Bytes resident now; where the system does not say, the most there ever were."""
    return status("VmRSS:") or resident_at_most()


def resident_at_most() -> int:
    # Linux hands ru_maxrss of the parent on to a child that it starts, so that a large
    # bench would lend its own memory to every snippet; VmHWM starts again with the program.
    unit = 1 if sys.platform == "darwin" else 1024
    return status("VmHWM:") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def status(field: str) -> int:
    """A field of /proc/self/status in bytes; 0 where there is no such file."""
    if not STATUS.exists():
        return 0
    lines = STATUS.read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), 0)


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        take_turns()
    # A thread that a snippet leaves behind must not meet an interpreter that is ending.
    sys.stderr.flush()
    os._exit(0)
