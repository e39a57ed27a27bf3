"""Curves as SVG, in plain text: cost against number of objects.

Guarantees: both axes are logarithmic, the one across carries the sizes that were measured, the
one up round numbers; the first curve stands out, and the legend has the order of the curves,
the dearest on top; pure text out of values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["svg"]

Point = tuple[float, float]

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 56, 50  # space for labels and the legend
INSET = 20  # between the edge and the first size
COLOURS = (
    *("#d62728", "#1f77b4", "#17becf", "#ff7f0e", "#2ca02c"),
    *("#8c564b", "#e377c2", "#7f7f7f", "#9467bd", "#bcbd22"),
)


def svg(title: str, curves: Mapping[str, Sequence[Point]], *, x: str, y: str) -> str:
    """One picture of all curves, by name; every coordinate must be above zero."""
    points = [point for curve in curves.values() for point in curve]
    sizes = sorted({point[0] for point in points})
    across = _Axis(sizes[0], sizes[-1], LEFT + INSET, WIDTH - RIGHT - INSET)
    marks = _round_numbers([point[1] for point in points])
    up = _Axis(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    drawn = [_curve(number, curve, across, up) for number, curve in enumerate(curves.values())]
    parts = [
        _text(LEFT, 22, title, size=15),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, anchor="middle"),
        _text(LEFT, TOP - 10, y),
        *_grid([(across.at(size), f"{size:,g}") for size in sizes], up, marks),
        *reversed(drawn),  # the first lies on top
        *_legend(curves),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    style = 'font-family="sans-serif" font-size="12" style="background:#fff"'
    return "\n".join([f"{head} {style}>", *parts, "</svg>", ""])


class _Axis:
    """Where a value lies between two edges."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low = math.log10(low)
        self._width = (math.log10(high) - self._low) or 1.0  # one size alone has no width
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        share = (math.log10(value) - self._low) / self._width
        return round(self._start + share * (self._end - self._start), 1)


def _round_numbers(values: Sequence[float]) -> list[float]:
    """Powers of ten from below the least to above the most."""
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    return [10.0**power for power in range(low, high + 1)]


def _grid(sizes: Sequence[tuple[float, str]], up: _Axis, marks: Sequence[float]) -> list[str]:
    lines = []
    for here, size in sizes:
        lines.append(_line(here, TOP, here, HEIGHT - BOTTOM))
        lines.append(_text(here, HEIGHT - BOTTOM + 18, size, anchor="middle"))
    for mark in marks:
        here = up.at(mark)
        lines.append(_line(LEFT, here, WIDTH - RIGHT, here))
        lines.append(_text(LEFT - 8, here + 4, f"{mark:,g}", anchor="end"))
    return lines


def _curve(number: int, curve: Sequence[Point], across: _Axis, up: _Axis) -> str:
    colour = COLOURS[number % len(COLOURS)]
    places = [(across.at(x), up.at(y)) for x, y in curve]
    path = " ".join(f"{x},{y}" for x, y in places)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)
    width = 2 if number else 3
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>{dots}'


def _legend(curves: Mapping[str, Sequence[Point]]) -> list[str]:
    """Names in the order of what each costs at the sizes that all have."""
    known = {name: dict(curve) for name, curve in curves.items()}
    common = set.intersection(*(set(points) for points in known.values()))
    shown = sorted(enumerate(known.items()), key=lambda item: -_cost(item[1][1], common))
    return [
        _text(WIDTH - RIGHT + 12, TOP + 14 + 18 * line, name, colour=COLOURS[number % len(COLOURS)])
        for line, (number, (name, _)) in enumerate(shown)
    ]


def _cost(points: Mapping[float, float], sizes: set[float]) -> float:
    return points[max(sizes)] if sizes else max(points.values())


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#ddd"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#222"
) -> str:
    look = f'text-anchor="{anchor}" font-size="{size}" fill="{colour}"'
    return f'<text x="{x}" y="{y}" {look}>{escape(text)}</text>'
