"""Runs each test file in a process of its own, so that none depends on what another one leaves.

    python tools/run_alone.py [--jobs 2] [FILE or FOLDER ...]

A file that fails runs once more, after the others and with nothing beside it. If it passes then,
it is reported as FLAKY; if it fails twice, or takes longer than `LIMIT`, the run fails.
See also: `run_tests` (the whole suite in one process).
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

LIMIT = 900.0  # seconds for a file


class Result(NamedTuple):
    """The end of the process of one file; `summary` is the last line that it printed."""

    file: str
    passed: bool
    summary: str
    output: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the files; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("paths", nargs="*", default=["tests"], help="files and folders (tests)")
    given = parser.parse_args(arguments)
    files = list(test_files(given.paths))
    if not files:
        parser.error(f"no test files in {', '.join(given.paths)}")
    started = time.monotonic()
    failed = [result.file for result in _run_all(files, given.jobs) if not result.passed]
    if failed:
        print(f"\nrunning {len(failed)} failed files again, one at a time", flush=True)
    twice = [result for result in _run_all(failed, 1) if not result.passed]
    for result in twice:
        print(f"\n== {result.file}\n{result.output}")
    failed_twice = [result.file for result in twice]
    for file in failed:
        print(f"{'FAILED TWICE' if file in failed_twice else 'FLAKY'} {file}")
    seconds = time.monotonic() - started
    print(f"{len(files)} files alone: {len(failed_twice)} failed in {seconds:.2f}s")
    return 1 if failed_twice else 0


def test_files(paths: Sequence[str]) -> Iterator[str]:
    """The test files among these files and in these folders."""
    for path in map(Path, paths):
        yield from map(str, sorted(path.rglob("test_*.py")) if path.is_dir() else [path])


def _run_all(files: Sequence[str], jobs: int) -> Iterator[Result]:
    """Run the files, and print a line for each that has ended."""
    numbers = itertools.count(1)
    with ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(_run, files):
            mark = "" if result.passed else "FAILED: "
            count = f"[{next(numbers)}/{len(files)}]"
            print(f"{count} {result.file}: {mark}{result.summary}", flush=True)
            yield result


def _run(file: str) -> Result:
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", file]
    # A file instead of a pipe, which a process that the tests have left would keep open.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        try:
            ended = subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT, check=False
            )
            passed = ended.returncode == 0
        except subprocess.TimeoutExpired:
            passed = False
            output.write(f"\nkilled after {LIMIT:.0f} s\n")
        output.seek(0)
        text = output.read()
    return Result(file, passed, (text.strip().splitlines() or [""])[-1], text)


if __name__ == "__main__":
    sys.exit(main())
