"""`python -m bench [--only NAME] [--markdown] [--check] [--full]`: run the benches, print a table.

`--full` is the long form: larger clusters, Markdown, and plots beside the report in build/bench.
Guarantees: it comes to an end, whatever a bench does, and leaves no process behind; interrupted,
it shows what was found. The exit code is 1 when a bench failed, with `--check` also when a
goal was missed, and 0 otherwise: figures inform, they do not fail a build by themselves.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .isolated_run import Report, limit, run_isolated
from .measure import ROOT
from .report import as_text, missed
from .scale import FULL

__all__ = ["discover", "exit_code", "main"]

OUT = ROOT / "build" / "bench"  # where the long form leaves its report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the result is the exit code."""
    benches = discover(Path(__file__).parent)
    options = _parser(benches).parse_args(arguments)
    if options.full:
        os.environ[FULL] = "1"
    reports = list(_until_interrupted(options.only or benches))
    text = as_text(reports, markdown=options.markdown or options.full)
    print(text)
    if options.full:
        _keep(text)
    return exit_code(reports, check=options.check)


def discover(folder: Path) -> list[str]:
    """The names of the benches in `folder`: `wire` for `bench_wire.py`."""
    return sorted(path.stem.removeprefix("bench_") for path in folder.glob("bench_*.py"))


def exit_code(reports: Sequence[Report], *, check: bool) -> int:
    """1 for a failure, and for a missed goal when `check` asks for that; 0 otherwise."""
    failed = any(report.failure for report in reports)
    return int(failed or (check and missed(reports) > 0))


def _keep(text: str) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    plots = "\n".join(f"![{path.stem}]({path.name})" for path in sorted(OUT.glob("*.svg")))
    (OUT / "report.md").write_text(f"{text}\n\n{plots}\n")
    print(f"kept in {OUT.relative_to(ROOT)}/report.md", file=sys.stderr)


def _until_interrupted(names: Sequence[str]) -> Iterator[Report]:
    for name in names:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        begun = time.monotonic()
        try:
            yield run_isolated(f"bench.bench_{name}", within=limit())
        except KeyboardInterrupt:
            yield Report(name, "", [], "interrupted")
            return
        print(f"    {name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


def _parser(benches: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure kubeloop.")
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        choices=benches,
        help=f"run only this bench; may be repeated ({', '.join(benches) or 'there is none yet'})",
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--full", action="store_true", help="the long form, with plots")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
