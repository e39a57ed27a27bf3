"""Curves as SVG, in plain text: cost against number of objects.

Promises: both axes are logarithmic and carry round numbers; pure text out of values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["svg"]

Point = tuple[float, float]

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 40, 50  # room for labels and the legend
COLOURS = ("#d62728", "#1f77b4", "#17becf", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


def svg(title: str, curves: Mapping[str, Sequence[Point]], *, x: str, y: str) -> str:
    """One picture of all curves, by name; every coordinate must be above zero."""
    points = [point for curve in curves.values() for point in curve]
    across = _Axis([point[0] for point in points], LEFT, WIDTH - RIGHT)
    up = _Axis([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    parts = [
        _text(LEFT, TOP - 16, title, size=15),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, anchor="middle"),
        _text(LEFT, TOP - 2, y),
        *_grid(across, up),
        *(_curve(number, *named, across, up) for number, named in enumerate(curves.items())),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    style = 'font-family="sans-serif" font-size="12" style="background:#fff"'
    return "\n".join([f"{head} {style}>", *parts, "</svg>", ""])


class _Axis:
    """Where a value lies between two edges, and the round numbers that are written there."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low = math.floor(math.log10(min(values)))
        self._high = max(math.ceil(math.log10(max(values))), self._low + 1)
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)

    def marks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]


def _grid(across: _Axis, up: _Axis) -> list[str]:
    lines = []
    for mark in across.marks():
        here = across.at(mark)
        lines.append(_line(here, TOP, here, HEIGHT - BOTTOM))
        lines.append(_text(here, HEIGHT - BOTTOM + 18, f"{mark:,g}", anchor="middle"))
    for mark in up.marks():
        here = up.at(mark)
        lines.append(_line(LEFT, here, WIDTH - RIGHT, here))
        lines.append(_text(LEFT - 8, here + 4, f"{mark:,g}", anchor="end"))
    return lines


def _curve(number: int, name: str, curve: Sequence[Point], across: _Axis, up: _Axis) -> str:
    colour = COLOURS[number % len(COLOURS)]
    places = [(across.at(x), up.at(y)) for x, y in curve]
    path = " ".join(f"{x},{y}" for x, y in places)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    return line + dots + _text(WIDTH - RIGHT + 12, TOP + 14 + 18 * number, name, colour=colour)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#ddd"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#222"
) -> str:
    look = f'text-anchor="{anchor}" font-size="{size}" fill="{colour}"'
    return f'<text x="{x}" y="{y}" {look}>{escape(text)}</text>'
