"""What a bench finds: costs, and the rows of the table that are made of them.

Guarantees: pure values; only a ratio or a bound of our own carries a verdict, an absolute figure
never does.
See also: how costs are taken (`contest`), how rows are shown (`report`).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

__all__ = [
    "ROOT",
    "Cost",
    "Failed",
    "Row",
    "clocked",
    "figure",
    "figures",
    "format_number",
    "ratio",
    "ratio_of_turns",
    "ratios",
    "spread",
]

ROOT = Path(__file__).parent.parent  # where `bench` can be imported from


class Failed(Exception):
    """A contestant did not finish; the message says what it wrote, or that it was killed."""


class Row(msgspec.Struct, frozen=True):
    """One line of the table; `ok` is None where there is nothing to reach."""

    what: str
    figure: str
    goal: str = ""
    ok: bool | None = None


class Cost(msgspec.Struct, frozen=True):
    """What a piece of work took: seconds, and bytes of resident memory."""

    wall: float
    cpu: float
    before: int  # resident after the setup, when the work began
    peak: int  # the most that was ever resident, setup included
    steady: int  # resident at the end, after a collection, with the results still held


def ratio(what: str, ours: float, theirs: float, *, at_most: float | None = None) -> Row:
    """Our figure against a peer's from the same run, and whether it is small enough."""
    return ratios(what, [ours], [theirs], at_most=at_most)


def ratios(
    what: str, ours: Sequence[float], theirs: Sequence[float], *, at_most: float | None = None
) -> Row:
    """The same for several rounds: the median of each round's ratio is judged, the spread shown."""
    shares = [us / them for us, them in zip(ours, theirs, strict=True)]
    if at_most is None:
        return Row(what, spread(shares))
    met = statistics.median(shares) <= at_most
    return Row(what, spread(shares), f"at most {at_most:g}", met)


def ratio_of_turns(
    what: str, ours: Sequence[float], theirs: Sequence[float], *, at_most: float | None = None
) -> Row:
    """The same for many short turns: the ratio of the medians is judged.

    In brackets are the ratios of the first and of the second half of the turns: they show how
    far two runs may differ.
    """
    middle = len(ours) // 2
    whole, first, second = (
        statistics.median(ours[part]) / statistics.median(theirs[part])
        for part in (slice(None), slice(middle), slice(middle, None))
    )
    row = ratio(what, whole, 1.0, at_most=at_most)
    return msgspec.structs.replace(row, figure=f"{row.figure} ({first:.2f}, {second:.2f})")


def spread(values: Sequence[float]) -> str:
    """The median, with the least and the most behind it where there are several."""
    middle = f"{statistics.median(values):.2f}"
    return f"{middle} ({min(values):.2f}..{max(values):.2f})" if len(values) > 1 else middle


def figure(what: str, value: float, unit: str) -> Row:
    """An absolute figure: shown for the reader, without a goal."""
    return Row(what, f"{format_number(value)} {unit}".strip())


def figures(what: str, values: Sequence[float], unit: str) -> Row:
    """The same for several rounds: the median, with the least and the most."""
    least, most = format_number(min(values)), format_number(max(values))
    return Row(what, f"{format_number(statistics.median(values))} ({least}..{most}) {unit}")


def clocked(action: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of one call in this very process."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def format_number(value: float) -> str:
    """Four digits, and all of them where there are more before the point."""
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
