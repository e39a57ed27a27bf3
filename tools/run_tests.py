"""Runs pytest, and runs failed tests again, alone.

    python tools/run_tests.py [pytest arguments]

A test that passes alone does not fail the run: the last lines report it as FLAKY. A test that
fails twice fails the run. Up to `ALONE` failed tests run in a process each; more than that share
one, because a common cause (a server that did not start) is more likely than many flaky tests.

An interrupted run, a usage error or a collection error ends with the exit code of pytest. A test
that no timeout can end (uvloop drops exceptions of signal handlers) ends the whole run after
`STUCK_AFTER` seconds, with the stacks of all threads.

`--expected-skips SECTIONS` prints every skipped test with its reason, and fails the run if one is
not in these sections of tests/expected_skips.txt. A line is the start of a test's id, ` | ` and
the start of the reason.
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
EXPECTED_SKIPS = "tests/expected_skips.txt"

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
        self.skips = Skips()
        self._stderr = os.dup(2)  # pytest captures the original

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        parser.addoption("--expected-skips", metavar="SECTIONS", help="of tests/expected_skips.txt")

    def pytest_configure(self, config: pytest.Config) -> None:
        self.paths = list(config.option.file_or_dir or ())
        sections = config.getoption("--expected-skips")
        if sections is not None:
            self.skips.expect(config.rootpath / EXPECTED_SKIPS, sections.split(","))

    def pytest_runtest_logstart(self) -> None:
        faulthandler.dump_traceback_later(STUCK_AFTER, exit=True, file=self._stderr)

    def pytest_sessionfinish(self) -> None:
        faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = None
        self.pytest_collectreport(report)

    def pytest_collectreport(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        """Record a skipped test, or a file that is skipped as a whole."""
        if report.skipped and not hasattr(report, "wasxfail"):
            assert isinstance(report.longrepr, tuple)
            self.skips.add(report.nodeid, report.longrepr[2].removeprefix("Skipped: "))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        stats = terminalreporter.stats
        self.counts = Counter({name: len(stats[name]) for name in _COUNTED if name in stats})


class Skips:
    """The skipped tests of a run, and those that were expected."""

    def __init__(self) -> None:
        self._expected: dict[tuple[str, str], bool] = {}  # whether a test was skipped for it
        self._by_reason: dict[str, list[str]] = {}
        self._unexpected: list[str] = []
        self.are_checked = False

    def expect(self, path: Path, sections: Sequence[str]) -> None:
        """Check the skipped tests with these sections of the file."""
        self.are_checked = True
        section = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            test, separator, reason = line.partition(" | ")
            if line.startswith("["):
                section = line.strip("[]")
            elif separator and section in sections:
                self._expected[test, reason] = False

    def add(self, test: str, reason: str) -> None:
        self._by_reason.setdefault(reason, []).append(test)
        matching = [
            line
            for line in self._expected
            if test.startswith(line[0]) and reason.startswith(line[1])
        ]
        self._expected.update(dict.fromkeys(matching, True))
        if not matching:
            self._unexpected.append(f"{test}: {reason}")

    def report(self, *, all_tests: bool) -> bool:
        """Print the skipped tests; returns whether all were expected."""
        for reason, tests in self._by_reason.items():
            print(f"\n{len(tests)} skipped: {reason}", *tests, sep="\n  ")
        if all_tests:
            for (test, reason), is_used in self._expected.items():
                if not is_used:
                    print(f"not skipped here, though {EXPECTED_SKIPS} has it: {test} | {reason}")
        for skipped in self._unexpected:
            print(f"UNEXPECTED SKIP {skipped} (it is not in {EXPECTED_SKIPS})")
        return not self._unexpected


def main(arguments: Sequence[str]) -> int:
    """Run the tests; returns the exit code."""
    if arguments[:1] == [_AGAIN]:
        return _run_again(Path(arguments[1]), arguments[2:])
    started = time.monotonic()
    recorder = Recorder()
    code = int(pytest.main(list(arguments), plugins=[recorder]))
    if code == pytest.ExitCode.TESTS_FAILED and recorder.failed:
        options = [each for each in arguments if each not in recorder.paths]
        failed_twice = _rerun(list(recorder.failed), options)
        flaky = [test for test in recorder.failed if test not in failed_twice]
        _report(recorder.counts, flaky, failed_twice, time.monotonic() - started)
        code = int(pytest.ExitCode.TESTS_FAILED if failed_twice else pytest.ExitCode.OK)
    if recorder.skips.are_checked and not recorder.skips.report(all_tests=not recorder.paths):
        return code or int(pytest.ExitCode.TESTS_FAILED)
    return code


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
