"""`python -m bench [--only NAME] [--goals] [--full]`: run the benches, print a table.

`--only transport` stands for all benches whose names begin with that word: the goals of the
client's HTTP. `--full` is the long form: larger clusters, Markdown, and plots beside the report
in build/bench.
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

import msgspec

from .isolated_run import Report, limit, run_isolated
from .measure import ROOT
from .report import as_text, missed
from .scale import FULL

__all__ = ["chosen", "discover", "exit_code", "main", "only_goals"]

OUT = ROOT / "build" / "bench"  # where the long form leaves its report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the result is the exit code."""
    benches = discover(Path(__file__).parent)
    options = _parser(benches).parse_args(arguments)
    if options.full:
        os.environ[FULL] = "1"
    reports = list(_until_interrupted(chosen(options.only, benches)))
    if options.goals:
        reports = [only_goals(report) for report in reports]
    text = as_text(reports, markdown=options.markdown or options.full)
    print(text)
    if options.full:
        _keep(text)
    return exit_code(reports, check=options.check)


def discover(folder: Path) -> list[str]:
    """The names of the benches in `folder`: `wire` for `bench_wire.py`."""
    return sorted(path.stem.removeprefix("bench_") for path in folder.glob("bench_*.py"))


def chosen(names: Sequence[str] | None, benches: Sequence[str]) -> list[str]:
    """The benches of these names; the first word of several names stands for all of them."""
    if not names:
        return list(benches)
    return [bench for bench in benches if any(_is_named(bench, name) for name in names)]


def _is_named(bench: str, name: str) -> bool:
    return bench == name or bench.startswith(f"{name}_")


def only_goals(report: Report) -> Report:
    """The same report without the rows that have nothing to reach."""
    return msgspec.structs.replace(report, rows=[row for row in report.rows if row.goal])


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
        choices=sorted({*benches, *(bench.partition("_")[0] for bench in benches)}),
        help="run only this bench, or those whose names begin with this word; may be repeated "
        f"({', '.join(benches) or 'there is none yet'})",
    )
    parser.add_argument("--goals", action="store_true", help="print only rows that have a goal")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--full", action="store_true", help="the long form, with plots")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
