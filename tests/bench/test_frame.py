"""The frame of `make bench`: what is run, what is shown, how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import discover, exit_code, main
from bench.alone import Crashed, Outcome, Report, run_alone
from bench.measure import Row
from bench.report import as_text

MET = Report("wire", "decodes fast", [Row("decode", "0.20", "at most 0.25", ok=True)])
MISSED = Report("wire", "decodes fast", [Row("decode", "0.30", "at most 0.25", ok=False)])
UNJUDGED = Report("wire", "decodes fast", [Row("decode", "12 ms")])
CRASHED = Crashed("bench.bench_wire", 3)


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
    outcome: Outcome, check: bool, code: int
) -> None:
    assert exit_code([outcome], check=check) == code


def test_a_bench_is_named_after_its_file(tmp_path: Path) -> None:
    for name in ("bench_wire.py", "bench_cache.py", "measure.py"):
        (tmp_path / name).touch()

    assert discover(tmp_path) == ["cache", "wire"]


def test_a_bench_nobody_has_written_is_refused() -> None:
    with pytest.raises(SystemExit) as refused:
        main(["--only", "no-such-bench"])

    assert refused.value.code == 2


def test_a_bench_reports_from_an_interpreter_of_its_own(benches: Path) -> None:
    (benches / "bench_fine.py").write_text(
        "from bench.measure import ratio\n"
        "NAME, GOAL = 'fine', 'is small'\n"
        "def run():\n"
        "    print('noise')\n"
        "    return [ratio('size', 1, 4, at_most=0.5)]\n"
    )

    found = run_alone("bench_fine")

    assert found == Report("fine", "is small", [Row("size", "0.25", "at most 0.5", ok=True)])


def test_what_a_bench_prints_stays_out_of_the_table(
    benches: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (benches / "bench_loud.py").write_text(
        "NAME = GOAL = 'loud'\ndef run():\n    print('noise')\n    return []\n"
    )

    run_alone("bench_loud")

    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == "noise\n"


def test_a_bench_that_crashes_is_reported_and_not_raised(
    benches: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (benches / "bench_broken.py").write_text("raise SystemExit(3)\n")

    assert run_alone("bench_broken") == Crashed("bench_broken", 3)


def test_the_table_aligns_its_columns_and_shouts_what_went_wrong() -> None:
    lines = as_text([MET, MISSED, UNJUDGED, CRASHED]).splitlines()[3:8]

    assert lines == [
        "bench             what    figure  goal          verdict",
        "wire              decode    0.20  at most 0.25  met",
        "wire              decode    0.30  at most 0.25  MISSED",
        "wire              decode   12 ms",
        "bench.bench_wire                                CRASHED (3)",
    ]


def test_the_markdown_table_has_one_row_a_line_and_a_rule_under_its_head() -> None:
    lines = as_text([MET], markdown=True).splitlines()

    assert lines[3:] == [
        "| bench | what   | figure | goal         | verdict |",
        "| ----- | ------ | -----: | ------------ | ------- |",
        "| wire  | decode |   0.20 | at most 0.25 | met     |",
        "",
        "- wire: decodes fast",
    ]
