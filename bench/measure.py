"""What benches measure with: wall time, CPU time and memory, in fresh interpreters.

Promises: a snippet never shares an interpreter with another, nor with the bench;
contestants take turns, so that a machine that slows down slows all of them; only
a ratio carries a verdict, an absolute figure never does.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

__all__ = [
    "ROOT",
    "Cost",
    "Failed",
    "Row",
    "clocked",
    "figure",
    "in_rounds",
    "measured",
    "median_cost",
    "ratio",
    "ratios",
    "side_by_side",
    "spread",
]

ROOT = Path(__file__).parent.parent  # where `bench` can be imported from


class Failed(Exception):
    """A snippet ended with an error; the message holds what it wrote."""


class Row(msgspec.Struct, frozen=True):
    """One line of the table; `ok` is None where there is nothing to reach."""

    what: str
    figure: str
    goal: str = ""
    ok: bool | None = None


class Cost(msgspec.Struct, frozen=True):
    """What a snippet took: seconds, and bytes of resident memory."""

    wall: float
    cpu: float
    before: int  # resident after the setup, when the snippet began
    peak: int  # the most that was ever resident, setup included
    steady: int  # resident at the end, after a collection, with the results still held


def ratio(what: str, ours: float, theirs: float, *, at_most: float) -> Row:
    """Our figure against a peer's from the same run, and whether it is small enough."""
    share = ours / theirs
    return Row(what, f"{share:.2f}", f"at most {at_most:g}", share <= at_most)


def ratios(what: str, ours: Sequence[float], theirs: Sequence[float], *, at_most: float) -> Row:
    """The same for several rounds: the median of each round's ratio is judged, the spread shown."""
    shares = [us / them for us, them in zip(ours, theirs, strict=True)]
    share = statistics.median(shares)
    return Row(what, spread(shares), f"at most {at_most:g}", share <= at_most)


def spread(values: Sequence[float]) -> str:
    """The median, with the least and the most behind it where there are several."""
    middle = f"{statistics.median(values):.2f}"
    return f"{middle} ({min(values):.2f}..{max(values):.2f})" if len(values) > 1 else middle


def figure(what: str, value: float, unit: str) -> Row:
    """An absolute figure: shown for the reader, judged by nobody."""
    return Row(what, f"{value:,.4g} {unit}".strip() if value < 1000 else f"{value:,.0f} {unit}")


def clocked(action: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of one call in this very process."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def measured(snippet: str, *, setup: str = "", times: int = 5) -> Cost:
    """The median cost of `snippet`, each time in a fresh interpreter after `setup`.

    Raises: Failed, when a run ends with an error.
    """
    return side_by_side({"": snippet}, setup=setup, times=times)[""]


def side_by_side(
    snippets: Mapping[str, str], *, setup: str = "", times: int = 5
) -> dict[str, Cost]:
    """The median cost of each snippet, by its name; they run in turns, `times` rounds.

    `setup` is run before each snippet and is not timed.
    Raises: Failed, when a run ends with an error.
    """
    contestants = {name: (setup, snippet) for name, snippet in snippets.items()}
    return {name: median_cost(costs) for name, costs in in_rounds(contestants, times=times).items()}


def in_rounds(contestants: Mapping[str, tuple[str, str]], *, times: int) -> dict[str, list[Cost]]:
    """Every cost of each pair of setup and snippet, by its name; they run in turns.

    Raises: Failed, when a run ends with an error.
    """
    runs: dict[str, list[Cost]] = {name: [] for name in contestants}
    for _ in range(times):
        for name, (setup, snippet) in contestants.items():
            runs[name].append(_run_once(name, snippet, setup))
    return runs


def median_cost(costs: Sequence[Cost]) -> Cost:
    """Each figure's own median: the run of median time need not be that of median memory."""
    columns = zip(*(msgspec.structs.astuple(cost) for cost in costs), strict=True)
    wall, cpu, *memory = (statistics.median(column) for column in columns)
    before, peak, steady = (int(size) for size in memory)
    return Cost(wall, cpu, before, peak, steady)


def _run_once(name: str, snippet: str, setup: str) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "cost.json")
        sources = msgspec.json.encode([setup, snippet])
        ended = subprocess.run(
            [sys.executable, "-m", "bench.child", str(out)],
            cwd=ROOT,
            input=sources,
            capture_output=True,
            check=False,
        )
        if ended.returncode:
            what = f"the snippet {name}" if name else "a snippet"
            raise Failed(f"{what} ended with {ended.returncode}: {ended.stderr.decode()}")
        return msgspec.json.decode(out.read_bytes(), type=Cost)
