"""Numbers of the last two minutes, one a second.

Promises: bounded; what is no longer there is forgotten with the next note.
Elsewhere: which numbers (`collect`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import final

__all__ = ["SPAN", "Timeline", "total"]

SPAN = 120
"""Numbers that are kept of each name."""


@final
class Timeline:
    """Numbers by name, noted at the same moments."""

    def __init__(self) -> None:
        self._moments: deque[float] = deque(maxlen=SPAN + 1)  # one more: rates are differences
        self._values: dict[str, deque[float]] = {}

    def note(self, now: float, values: Mapping[str, float]) -> None:
        self._moments.append(now)
        kept = {name: self._values.get(name) or deque(maxlen=SPAN + 1) for name in values}
        for name, value in values.items():
            kept[name].append(value)
        self._values = kept

    def values(self, name: str) -> list[float]:
        """What was noted, oldest first."""
        return list(self._values.get(name, ()))[-SPAN:]

    def growth(self, name: str) -> list[float]:
        """How much a count grew from each note to the next; one that began anew grew by nothing."""
        return [max(new - old, 0.0) for old, new in pairwise(self._values.get(name, ()))]

    def rates(self, name: str) -> list[float]:
        """The same for each second between."""
        growth = self.growth(name)
        seconds = [new - old for old, new in pairwise(self._moments)][-len(growth) :]
        return [
            round(grown / max(past, 1e-9), 2)
            for grown, past in zip(growth, seconds[: len(growth)], strict=True)
        ]


def total(series: Sequence[Sequence[float]]) -> list[float]:
    """The sum at each moment, of series that end together."""
    longest = max(map(len, series), default=0)
    padded = [[0.0] * (longest - len(each)) + list(each) for each in series]
    return [round(sum(moment), 2) for moment in zip(*padded, strict=True)]
