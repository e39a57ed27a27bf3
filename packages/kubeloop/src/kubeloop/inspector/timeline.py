"""Time series of the last two minutes, with one value per second.

Guarantees: bounded; a series that a sample no longer has is dropped.
See also: `collect` (which numbers).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import final

__all__ = ["SPAN", "Timeline", "total"]

SPAN = 120
"""Values stored for each name."""


@final
class Timeline:
    """Values by name, recorded at the same times."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=SPAN + 1)  # one more, since rates are differences
        self._values: dict[str, deque[float]] = {}

    def record(self, now: float, values: Mapping[str, float]) -> None:
        self._times.append(now)
        series = {name: self._values.get(name) or deque(maxlen=SPAN + 1) for name in values}
        for name, value in values.items():
            series[name].append(value)
        self._values = series

    def values(self, name: str) -> list[float]:
        """The recorded values, oldest first."""
        return list(self._values.get(name, ()))[-SPAN:]

    def growth(self, name: str) -> list[float]:
        """The increase of a counter between two values; zero where the counter was reset."""
        return [max(new - old, 0.0) for old, new in pairwise(self._values.get(name, ()))]

    def rates(self, name: str) -> list[float]:
        """The increase per second."""
        growth = self.growth(name)
        seconds = [new - old for old, new in pairwise(self._times)][-len(growth) :]
        return [
            round(increase / max(passed, 1e-9), 2)
            for increase, passed in zip(growth, seconds[: len(growth)], strict=True)
        ]


def total(series: Sequence[Sequence[float]]) -> list[float]:
    """The sum of series that end at the same time."""
    longest = max(map(len, series), default=0)
    padded = [[0.0] * (longest - len(each)) + list(each) for each in series]
    return [round(sum(values), 2) for values in zip(*padded, strict=True)]
