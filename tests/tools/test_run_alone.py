"""Each test file runs in its own process; the last lines name those that fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import run_alone

pytestmark = pytest.mark.timeout(60)  # each starts interpreters

# Passes only if another file has run in the same process.
DEPENDENT = """
import sys

def test_it():
    assert "left" in vars(sys)
"""
FIRST = """
import sys

def test_it():
    sys.left = True
"""
# Passes the second time.
FLAKY = """
from pathlib import Path

def test_it():
    seen = Path(__file__).with_suffix(".seen")
    is_second, _ = seen.exists(), seen.touch()
    assert is_second
"""


def run(folder: Path, *arguments: str, **files: str) -> subprocess.CompletedProcess[str]:
    for name, text in files.items():
        path = folder / "tests" / f"test_{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, run_alone.__file__, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_that_needs_what_another_one_leaves_fails(tmp_path: Path) -> None:
    done = run(tmp_path, a_first=FIRST, dependent=DEPENDENT)

    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0].startswith("[1/2] tests/test_a_first.py: 1 passed in ")
    assert lines[1].startswith("[2/2] tests/test_dependent.py: FAILED: 1 failed in ")
    assert '    assert "left" in vars(sys)' in done.stdout
    assert lines[-2] == "FAILED TWICE tests/test_dependent.py"
    assert lines[-1].startswith("2 files alone: 1 failed in ")


def test_a_file_that_passes_the_second_time_is_flaky(tmp_path: Path) -> None:
    done = run(tmp_path, flaky=FLAKY)

    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[-2] == "FLAKY tests/test_flaky.py"
    assert lines[-1].startswith("1 files alone: 0 failed in ")


def test_files_and_folders_can_be_selected(tmp_path: Path) -> None:
    done = run(tmp_path, "tests/test_a_first.py", a_first=FIRST, dependent=DEPENDENT)

    assert done.returncode == 0
    assert "test_dependent" not in done.stdout


def test_a_folder_without_tests_is_an_error(tmp_path: Path) -> None:
    done = run(tmp_path, str(tmp_path))

    assert done.returncode == 2
    assert done.stderr.endswith(f"error: no test files in {tmp_path}\n")


def test_a_file_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "test_stuck.py"
    path.write_text("import time\n\ndef test_it():\n    time.sleep(3600)\n", encoding="utf-8")
    monkeypatch.setattr(run_alone, "LIMIT", 1.0)

    code = run_alone.main([str(path)])

    assert code == 1
    assert f"FAILED TWICE {path}" in capsys.readouterr().out
