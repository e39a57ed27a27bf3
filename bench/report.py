"""Turns what benches found into text: the machine, the table, the goals.

Guarantees: pure text out of values, nothing measured here; no host or user name in it.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata

from kubeloop_testing.control_plane import cached_assets

from .isolated_run import Report
from .measure import ROOT, Row

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


def as_text(reports: Sequence[Report], *, markdown: bool = False) -> str:
    """The machine, one table of every row, and the sentence each bench is about."""
    lines = _table([HEAD, *_cells(reports)], markdown=markdown)
    goals = [f"{report.name}: {report.goal}" for report in reports if report.goal]
    bullet = "- " if markdown else ""
    return "\n".join([*machine(), "", *lines, "", *(bullet + goal for goal in goals)]).rstrip()


def machine() -> list[str]:
    """What the figures depend on, in three lines."""
    today = datetime.now(UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return [
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {python}, {today}",
        ", ".join(f"{name} {version}" for name in PACKAGES if (version := _version(name))),
        ", ".join(filter(None, (_assets(), _client_go()))),
    ]


def missed(reports: Sequence[Report]) -> int:
    """How many goals were not reached."""
    return sum(row.ok is False for report in reports for row in report.rows)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _assets() -> str:
    """What `make assets` has put there."""
    stamp = cached_assets() / "versions"
    return stamp.read_text().strip() if stamp.exists() else "no kube-apiserver"


def _client_go() -> str:
    text = (ROOT / "bench" / "peers" / "clientgo" / "go.mod").read_text()
    found = re.search(r"k8s.io/client-go (\S+)", text)
    return f"client-go {found[1]}" if found else ""


def _cells(reports: Sequence[Report]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for report in reports:
        found = [(row.what, row.figure, row.goal, _verdict(row)) for row in report.rows]
        if report.failure:
            found.append(("", "", "", report.failure.upper()))
        rows += [(report.name, *cells) for cells in found]
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
