"""Failed tests run once more, alone: what passes then is FLAKY, what fails twice fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import run_tests

pytestmark = pytest.mark.timeout(60)  # each starts interpreters

# Fails the first time it runs: the file remembers.
FLAKY = """
from pathlib import Path

def test_luck():
    seen = Path(__file__).with_suffix(".seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError("unlucky")

def test_sound():
    pass
"""
BROKEN = """
import pytest

@pytest.mark.parametrize("word", ["a b", "c::d[e]"])
def test_broken(word):
    raise AssertionError(word)
"""
BROKEN_SERVER = """
from pathlib import Path

import pytest

@pytest.fixture(scope="session")
def server():
    seen = Path(__file__).with_suffix(".seen")
    if not seen.exists():
        seen.touch()
        raise OSError("the port is taken")

@pytest.mark.parametrize("number", range(30))
def test_on_a_server(server, number):
    assert number != 7
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.joinpath("pytest.ini").write_text("[pytest]\nmarkers = slow\n", encoding="utf-8")
    return subprocess.run(
        [sys.executable, run_tests.__file__, "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def write(folder: Path, name: str, text: str) -> None:
    folder.joinpath(name).write_text(text, encoding="utf-8")


def test_a_test_that_passes_alone_is_named_as_flaky_and_does_not_fail_the_run(
    tmp_path: Path,
) -> None:
    write(tmp_path, "test_flaky.py", FLAKY)

    done = run(tmp_path)

    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert "FLAKY test_flaky.py::test_luck: failed in the run, passed alone" in lines
    assert lines[-1].startswith("1 passed, 1 flaky in ")


def test_a_test_that_fails_twice_fails_the_run_whatever_its_parameters_are_called(
    tmp_path: Path,
) -> None:
    write(tmp_path, "test_broken.py", BROKEN)
    write(tmp_path, "test_flaky.py", FLAKY)

    done = run(tmp_path, "test_broken.py", "test_flaky.py", "-q")

    assert done.returncode == 1, done.stdout
    lines = done.stdout.splitlines()
    assert "FAILED TWICE test_broken.py::test_broken[a b]" in lines
    assert "FAILED TWICE test_broken.py::test_broken[c::d[e]]" in lines
    assert lines[-1].startswith("2 failed, 1 passed, 1 flaky in ")


def test_many_failures_run_again_together_and_each_is_judged_by_itself(tmp_path: Path) -> None:
    write(tmp_path, "test_server.py", BROKEN_SERVER)

    done = run(tmp_path)

    assert done.returncode == 1, done.stdout
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAILED TWICE ")] == [
        "FAILED TWICE test_server.py::test_on_a_server[7]"
    ]
    assert lines[-1].startswith("1 failed, 29 flaky in ")


def test_a_run_without_failures_is_pytests_own(tmp_path: Path) -> None:
    write(tmp_path, "test_sound.py", "def test_sound():\n    pass\n")

    done = run(tmp_path)

    assert done.returncode == 0
    assert "again" not in done.stdout
    assert "1 passed in " in done.stdout.splitlines()[-1]


def test_a_test_that_no_timeout_ends_is_ended_with_its_stacks(tmp_path: Path) -> None:
    write(tmp_path, "test_stuck.py", "import time\n\ndef test_stuck():\n    time.sleep(3600)\n")
    program = (
        f"import sys; sys.path.insert(0, {str(Path(run_tests.__file__).parent)!r});"
        " import run_tests; run_tests.STUCK_AFTER = 1.0; sys.exit(run_tests.main(['-q']))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "in test_stuck" in done.stderr


@pytest.mark.parametrize(
    ("text", "code"),
    [("import nothing_of_that_name", 2), ("raise KeyboardInterrupt", 2), ("", 5)],
)
def test_only_failed_tests_run_again(tmp_path: Path, text: str, code: int) -> None:
    write(tmp_path, "test_none.py", text)

    done = run(tmp_path)

    assert done.returncode == code
    assert "again" not in done.stdout


FAKE_MAKE = """#!/bin/sh
case $1 in
  test) echo 'FLAKY tests/test_a.py::test_b: failed in the run, passed alone'
        echo '8 passed, 1 flaky in 3.20s' ;;
  docs) echo 'a link is broken'; exit 2 ;;
esac
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the gate is a shell script")
def test_the_gate_names_flaky_tests_and_failed_steps_in_its_closing_lines(tmp_path: Path) -> None:
    gate = tmp_path / ".ci" / "run"
    gate.parent.mkdir()
    gate.write_bytes(Path(run_tests.__file__).parents[1].joinpath(".ci", "run").read_bytes())
    make = tmp_path / "make"
    make.write_text(FAKE_MAKE, encoding="utf-8")
    make.chmod(0o755)

    done = subprocess.run(
        ["bash", gate],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    closing = done.stdout.splitlines()
    closing = closing[closing.index("make check: passed") :]
    assert done.returncode == 1
    assert closing == [
        "make check: passed",
        "make test: passed: 8 passed, 1 flaky in 3.20s",
        "FLAKY tests/test_a.py::test_b: failed in the run, passed alone",
        "make test-real: passed",
        "make test-browser: passed",
        "make docs: FAILED",
        "make dist: passed",
    ]
