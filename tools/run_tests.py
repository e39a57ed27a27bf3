"""Runs pytest, and runs failed tests again, alone.

    python tools/run_tests.py [pytest arguments]

A test that passes alone does not fail the run: the last lines report it as FLAKY. A test that
fails twice fails the run. Up to `ALONE` failed tests run in a process each; more than that share
one, because a common cause (a server that did not start) is more likely than many flaky tests.

An interrupted run, a usage error or a collection error ends with the exit code of pytest. A test
that no timeout can end (uvloop drops exceptions of signal handlers) ends the whole run after
`STUCK_AFTER` seconds, with the stacks of all threads.
"""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

ALONE = 20
STUCK_AFTER = 900.0

# The outcomes in the last line of pytest, in its order.
_COUNTED = ("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "error")
# The first argument of a process that runs failed tests again; the second is the report file.
_AGAIN = "--write-failed-to"


class Recorder:
    """A pytest plugin that records failed tests and the number of each outcome."""

    def __init__(self) -> None:
        self.failed: dict[str, None] = {}  # node ids, in the order of the run
        self.counts: Counter[str] = Counter()
        self.paths: list[str] = []
        self._stderr = os.dup(2)  # pytest captures the original

    def pytest_configure(self, config: pytest.Config) -> None:
        self.paths = list(config.option.file_or_dir or ())

    def pytest_runtest_logstart(self) -> None:
        faulthandler.dump_traceback_later(STUCK_AFTER, exit=True, file=self._stderr)

    def pytest_sessionfinish(self) -> None:
        faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        stats = terminalreporter.stats
        self.counts = Counter({name: len(stats[name]) for name in _COUNTED if name in stats})


def main(arguments: Sequence[str]) -> int:
    """Run the tests; returns the exit code."""
    if arguments[:1] == [_AGAIN]:
        return _run_again(Path(arguments[1]), arguments[2:])
    started = time.monotonic()
    recorder = Recorder()
    code = int(pytest.main(list(arguments), plugins=[recorder]))
    if code != pytest.ExitCode.TESTS_FAILED or not recorder.failed:
        return code
    options = [each for each in arguments if each not in recorder.paths]
    failed_twice = _rerun(list(recorder.failed), options)
    flaky = [test for test in recorder.failed if test not in failed_twice]
    _report(recorder.counts, flaky, failed_twice, time.monotonic() - started)
    return int(pytest.ExitCode.TESTS_FAILED if failed_twice else pytest.ExitCode.OK)


def _rerun(tests: Sequence[str], options: Sequence[str]) -> list[str]:
    """Run tests again in new processes; returns those that failed again."""
    print(f"\nrunning {len(tests)} failed tests again, alone", flush=True)
    batches = [[test] for test in tests] if len(tests) <= ALONE else [list(tests)]
    return [test for batch in batches for test in _failed_in_process(batch, options)]


def _failed_in_process(tests: Sequence[str], options: Sequence[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "failed")
        # pytest reads arguments from a file: thousands do not fit on a command line.
        selected = Path(folder, "selected")
        selected.write_text("\n".join(tests), encoding="utf-8")
        command = [sys.executable, __file__, _AGAIN, str(report), *options, f"@{selected}"]
        code = subprocess.run(command, check=False).returncode
        if code == pytest.ExitCode.OK:
            return []
        if code == pytest.ExitCode.TESTS_FAILED and report.exists():
            failed = set(report.read_text(encoding="utf-8").splitlines())
            return [test for test in tests if test in failed]
        return list(tests)


def _run_again(report: Path, arguments: Sequence[str]) -> int:
    recorder = Recorder()
    code = int(pytest.main(list(arguments), plugins=[recorder]))
    report.write_text("\n".join(recorder.failed), encoding="utf-8")
    return code


def _report(
    counts: Counter[str], flaky: Sequence[str], failed_twice: Sequence[str], seconds: float
) -> None:
    """Print the flaky tests, and a last line in the format of pytest."""
    print()
    for test in flaky:
        print(f"FLAKY {test}: failed in the run, passed alone")
    for test in failed_twice:
        print(f"FAILED TWICE {test}")
    outcomes = {
        **dict.fromkeys(_COUNTED, 0),
        **counts,
        "failed": len(failed_twice),
        "error": 0,
        "flaky": len(flaky),
    }
    parts = [f"{count} {name}" for name, count in outcomes.items() if count]
    print(f"{', '.join(parts)} in {seconds:.2f}s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
