"""Turns what benches found into text: the machine, the table, the goals.

Promises: pure text out of values, nothing measured here; no host or user name in it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata

from .alone import Crashed, Outcome, Report
from .measure import Row

__all__ = ["as_text", "machine", "missed"]

HEAD = ("bench", "what", "figure", "goal", "verdict")
PACKAGES = (
    "kubeloop",
    "msgspec",
    "aiohttp",
    "PyYAML",
    "uvloop",
    "orjson",
    "kubernetes",
    "kubernetes_asyncio",
    "lightkube",
    "kr8s",
)


def as_text(outcomes: Sequence[Outcome], *, markdown: bool = False) -> str:
    """The machine, one table of every row, and the sentence each bench is about."""
    lines = _table([HEAD, *_cells(outcomes)], markdown=markdown)
    goals = [f"{found.name}: {found.goal}" for found in outcomes if isinstance(found, Report)]
    bullet = "- " if markdown else ""
    return "\n".join([*machine(), "", *lines, "", *(bullet + goal for goal in goals)]).rstrip()


def machine() -> list[str]:
    """What the figures depend on, in two lines."""
    today = datetime.now(UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return [
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {python}, {today}",
        ", ".join(f"{name} {version}" for name in PACKAGES if (version := _version(name))),
    ]


def missed(outcomes: Sequence[Outcome]) -> int:
    """How many goals were not reached."""
    reports = [found for found in outcomes if isinstance(found, Report)]
    return sum(row.ok is False for report in reports for row in report.rows)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _cells(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for found in outcomes:
        match found:
            case Crashed(name, code):
                rows.append((name, "", "", "", f"CRASHED ({code})"))
            case Report(name, _, found_rows):
                rows += [
                    (name, row.what, row.figure, row.goal, _verdict(row)) for row in found_rows
                ]
    return rows


def _verdict(row: Row) -> str:
    return {True: "met", False: "MISSED", None: ""}[row.ok]


def _table(rows: Sequence[tuple[str, ...]], *, markdown: bool) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    padded = [
        [
            cell.rjust(width) if column == HEAD.index("figure") else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    if not markdown:
        return ["  ".join(row).rstrip() for row in padded]
    rule = [
        "-" * (width - 1) + (":" if column == HEAD.index("figure") else "-")
        for column, width in enumerate(widths)
    ]
    return [f"| {' | '.join(row)} |" for row in (padded[0], rule, *padded[1:])]
