"""The frame of `make bench`: what is run, what is shown, how it ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import chosen, discover, exit_code, main, only_goals
from bench.isolated_run import Report, run_isolated
from bench.measure import ROOT, Row
from bench.report import as_text

MET = Report("wire", "decodes fast", [Row("decode", "0.20", "at most 0.25", ok=True)])
MISSED = Report("wire", "decodes fast", [Row("decode", "0.30", "at most 0.25", ok=False)])
UNJUDGED = Report("wire", "decodes fast", [Row("decode", "12 ms")])
CRASHED = Report("wire", "decodes fast", [Row("decode", "12 ms")], "crashed (3)")
SOON = 40.0  # seconds, on a busy machine


starts_interpreters = pytest.mark.timeout(60)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are waited for by pidfd")


@pytest.fixture
def benches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules a new interpreter can import."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("outcome", "check", "code"),
    [
        (MET, True, 0),
        (UNJUDGED, True, 0),
        (MISSED, False, 0),
        (MISSED, True, 1),
        (CRASHED, False, 1),
        (CRASHED, True, 1),
    ],
)
def test_only_a_crash_or_a_checked_goal_fails_the_run(
    outcome: Report, check: bool, code: int
) -> None:
    assert exit_code([outcome], check=check) == code


def test_a_bench_is_named_after_its_file(tmp_path: Path) -> None:
    for name in ("bench_wire.py", "bench_cache.py", "measure.py"):
        (tmp_path / name).touch()

    assert discover(tmp_path) == ["cache", "wire"]


def test_a_word_chooses_all_benches_whose_names_begin_with_it() -> None:
    benches = ["transport", "transport_events", "transported", "wire"]

    assert chosen(["transport"], benches) == ["transport", "transport_events"]
    assert chosen(["wire", "transport_events"], benches) == ["transport_events", "wire"]
    assert chosen(None, benches) == benches


def test_rows_without_a_goal_can_be_left_out_and_failures_stay() -> None:
    report = Report("wire", "", [*MET.rows, *UNJUDGED.rows, *MISSED.rows], "crashed (3)")

    assert only_goals(report) == Report("wire", "", [*MET.rows, *MISSED.rows], "crashed (3)")


def test_an_unknown_bench_is_rejected() -> None:
    with pytest.raises(SystemExit) as refused:
        main(["--only", "no-such-bench"])

    assert refused.value.code == 2


@starts_interpreters
def test_a_bench_reports_from_an_interpreter_of_its_own(benches: Path) -> None:
    (benches / "bench_fine.py").write_text(
        "from bench.measure import ratio\n"
        "NAME, GOAL = 'fine', 'is small'\n"
        "def run():\n"
        "    print('noise')\n"
        "    return [ratio('size', 1, 4, at_most=0.5)]\n"
    )

    found = run_isolated("bench_fine", within=SOON)

    assert found == Report("fine", "is small", [Row("size", "0.25", "at most 0.5", ok=True)])


@starts_interpreters
def test_what_a_bench_prints_stays_out_of_the_table(
    benches: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (benches / "bench_loud.py").write_text(
        "NAME = GOAL = 'loud'\ndef run():\n    print('noise')\n    return []\n"
    )

    run_isolated("bench_loud", within=SOON)

    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == "noise\n"


@starts_interpreters
def test_a_bench_that_crashes_is_reported_and_not_raised(
    benches: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (benches / "bench_broken.py").write_text("raise SystemExit(3)\n")

    assert run_isolated("bench_broken", within=SOON) == Report(
        "bench_broken", "", [], "crashed (3)"
    )


@starts_interpreters
def test_rows_before_a_failure_are_kept_and_the_failure_is_reported(
    benches: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (benches / "bench_half.py").write_text(
        "from bench.measure import Failed, Row\n"
        "NAME, GOAL = 'half', 'is whole'\n"
        "def run():\n"
        "    yield Row('first', '1')\n"
        "    raise Failed('the second was killed after 9 s\\nand more')\n"
    )

    found = run_isolated("bench_half", within=SOON)

    rows = [Row("first", "1"), Row("the second was killed after 9 s", "failed")]
    assert found == Report("half", "is whole", rows, "crashed (1)")


HANGS = """
import os, subprocess, sys, time
from bench.measure import Row
NAME, GOAL = 'hangs', 'ends'
def run():
    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
    yield Row(str(child.pid), str(os.getpid()))
    time.sleep(600)
"""


@starts_interpreters
@on_linux
def test_a_bench_that_hangs_is_killed_with_all_that_it_started(benches: Path) -> None:
    (benches / "bench_hangs.py").write_text(HANGS)

    for within in (1.0, 4.0, 30.0):  # a busy machine needs longer to get as far as that
        found = run_isolated("bench_hangs", within=within)
        if found.rows:
            break

    assert found.failure == f"killed after {within:.0f} s"
    for pid in (found.rows[0].what, found.rows[0].figure):
        await_end(int(pid))


INTERRUPTED = """
import sys
from bench.isolated_run import run_isolated
run_isolated("bench_hangs", within=600)
"""


@starts_interpreters
@on_linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_bench_leaves_no_process_behind(benches: Path, how: signal.Signals) -> None:
    report = benches / "pids"
    text = HANGS.replace("    yield Row", f"    tell(child.pid, {str(report)!r})\n    yield Row")
    text += (
        "def tell(pid, path):\n"
        "    with open(path, 'w') as pipe:\n"
        "        pipe.write(f'{pid} {os.getpid()}')\n"
    )
    (benches / "bench_hangs.py").write_text(text)
    os.mkfifo(report)
    victim = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        # The shell that started the tests may ignore Ctrl-C, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread runs
    )
    pids = [int(pid) for pid in report.read_text().split()]

    victim.send_signal(how)

    victim.wait()
    assert len(pids) == 2
    for pid in pids:
        await_end(pid)


def await_end(pid: int) -> None:
    """A process that was killed needs a moment to be gone."""
    try:
        end = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([end], [], [], 20)[0], f"{pid} is still there"
    finally:
        os.close(end)


def test_the_table_aligns_its_columns_and_shouts_what_went_wrong() -> None:
    lines = as_text([MET, MISSED, CRASHED]).splitlines()[4:9]

    assert lines == [
        "bench  what    figure  goal          verdict",
        "wire   decode    0.20  at most 0.25  met",
        "wire   decode    0.30  at most 0.25  MISSED",
        "wire   decode   12 ms",
        "wire                                 CRASHED (3)",
    ]


def test_the_markdown_table_has_one_row_a_line_and_a_rule_under_its_head() -> None:
    lines = as_text([MET], markdown=True).splitlines()

    assert lines[4:] == [
        "| bench | what   | figure | goal         | verdict |",
        "| ----- | ------ | -----: | ------------ | ------- |",
        "| wire  | decode |   0.20 | at most 0.25 | met     |",
        "",
        "- wire: decodes fast",
    ]
