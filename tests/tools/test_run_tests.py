"""Failed tests run once more, alone: what passes then is FLAKY, what fails twice fails the run."""

from __future__ import annotations

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


SKIPPING = """
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_assets(number):
    pytest.skip("no kubectl v1 (run make)")

@pytest.mark.xfail(reason="a known bug")
def test_bug():
    raise AssertionError

@pytest.mark.skip(reason="no zsh")
def test_shell():
    pass
"""
EXPECTED = """
# The tests.
[anywhere]
test_skipping.py::test_shell | no zsh
test_gone.py | no fish
[without-assets]
test_skipping.py | no kubectl
"""


def check_skips(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.joinpath("tests").mkdir()
    write(folder, "tests/expected_skips.txt", EXPECTED)
    write(folder, "test_skipping.py", SKIPPING)
    return run(folder, "--expected-skips", *arguments)


def test_expected_skips_are_listed_with_their_reasons(tmp_path: Path) -> None:
    done = check_skips(tmp_path, "anywhere,without-assets")

    assert done.returncode == 0, done.stdout
    listed = done.stdout.partition(" in ")[2].splitlines()[1:]
    assert listed == [
        "",
        "2 skipped: no kubectl v1 (run make)",
        "  test_skipping.py::test_assets[1]",
        "  test_skipping.py::test_assets[2]",
        "",
        "1 skipped: no zsh",
        "  test_skipping.py::test_shell",
        "not skipped here, though tests/expected_skips.txt has it: test_gone.py | no fish",
    ]


def test_a_skip_that_is_not_expected_fails_the_run(tmp_path: Path) -> None:
    done = check_skips(tmp_path, "anywhere", "test_skipping.py")

    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("UNEXPECTED")] == [
        f"UNEXPECTED SKIP test_skipping.py::test_assets[{number}]: no kubectl v1 (run make)"
        " (it is not in tests/expected_skips.txt)"
        for number in (1, 2)
    ]
    assert "test_gone.py" not in done.stdout  # only some tests were selected


def test_a_skip_that_is_not_expected_fails_a_run_with_flaky_tests_as_well(tmp_path: Path) -> None:
    write(tmp_path, "test_flaky.py", FLAKY)

    done = check_skips(tmp_path, "without-assets")

    assert done.returncode == 1
    assert "FLAKY test_flaky.py::test_luck: failed in the run, passed alone" in done.stdout
    assert "UNEXPECTED SKIP test_skipping.py::test_shell: no zsh" in done.stdout


def test_a_file_that_is_skipped_as_a_whole_is_a_skip(tmp_path: Path) -> None:
    write(tmp_path, "test_whole.py", "import pytest\npytest.importorskip('no_such_module')\n")

    done = check_skips(tmp_path, "anywhere,without-assets")

    assert done.returncode == 1
    assert "UNEXPECTED SKIP test_whole.py: could not import 'no_such_module'" in done.stdout


def test_the_file_of_expected_skips_is_sorted_and_has_tests_that_exist() -> None:
    root = Path(run_tests.__file__).parents[1]
    lines = root.joinpath(run_tests.EXPECTED_SKIPS).read_text(encoding="utf-8").splitlines()
    sections: dict[str, list[str]] = {}
    for line in filter(None, lines):
        if line.startswith("["):
            sections[line] = []
        elif not line.startswith("#"):
            [*sections.values()][-1].append(line)
    expected = [line for section in sections.values() for line in section]
    missing = [
        line for line in expected if not (root / line.split("::")[0].split(" |")[0]).exists()
    ]

    assert missing == []
    assert [line for line in expected if line.count(" | ") != 1] == []
    assert all(section == sorted(section) for section in sections.values())
