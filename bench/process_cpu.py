"""CPU seconds of the processes that this one has started, and of those that they started.

Guarantees: only processes that still run count, so a difference of two values is the cost of
servers, without that of clients which began and ended in between. Linux only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["started_cpu"]


def started_cpu(name: str = "") -> float:
    """CPU seconds so far, of all of them, or of those with a name."""
    ticks: dict[int, list[tuple[int, int]]] = {}  # by parent: process and its CPU
    for process, parent, used in _processes(name):
        ticks.setdefault(parent, []).append((process, used))
    total, parents = 0, [os.getpid()]
    while parents:
        for process, used in ticks.get(parents.pop(), []):
            total += used
            parents.append(process)
    return total / os.sysconf("SC_CLK_TCK")


def _processes(name: str) -> Iterator[tuple[int, int, int]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name before the last bracket may contain anything.
            begin, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue  # it has ended
        fields = rest.split()
        is_wanted = not name or begin.partition("(")[2] == name[:15]  # Linux keeps 15 characters
        used = int(fields[11]) + int(fields[12]) if is_wanted else 0
        yield int(path.parent.name), int(fields[1]), used
