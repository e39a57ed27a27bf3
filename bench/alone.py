"""Runs one bench in an interpreter of its own.

Promises: no bench sees the modules, the garbage or the peak memory of another; a
bench that crashes takes nothing with it and is reported as crashed.
Elsewhere: the interpreter for a single snippet is `child`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import msgspec

from .measure import ROOT, Row

__all__ = ["Crashed", "Outcome", "Report", "run_alone"]


class Report(msgspec.Struct, frozen=True, tag=True):
    """What a bench found."""

    name: str
    goal: str
    rows: list[Row]


class Crashed(msgspec.Struct, frozen=True, tag=True):
    """A bench that ended without a report; what it wrote has gone to the error output."""

    name: str
    code: int


Outcome = Report | Crashed

ERRORS = 2  # the descriptor of the error output


def run_alone(module: str) -> Outcome:
    """Run the bench in `module` in a new interpreter and wait for what it found."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "report.json")
        # What a bench prints must not get between the lines of the table.
        command = [sys.executable, "-m", "bench.alone", module, str(out)]
        code = subprocess.run(command, cwd=ROOT, stdout=ERRORS, check=False).returncode
        if code:
            return Crashed(module, code)
        return msgspec.json.decode(out.read_bytes(), type=Report)


def main(module: str, out: Path) -> None:
    """The child's half: import the bench, run it, write its report to `out`."""
    bench = import_module(module)
    out.write_bytes(msgspec.json.encode(Report(bench.NAME, bench.GOAL, bench.run())))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
