"""The plugin that runs the tests in a random order."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.timeout(60)  # starts interpreters

NAMES = [f"test_{file}.py::test_it[{number}]" for file in "abcde" for number in range(9)]


@pytest.fixture
def order(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> object:
    """Runs five files of nine tests; the result has the ids in the order of the run."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    test = "import pytest\n@pytest.mark.parametrize('number', range(9))\ndef test_it(number): pass"
    pytester.makepyfile(**{f"test_{file}": test for file in "abcde"})
    return pytester


def run(pytester: pytest.Pytester, seed: str) -> list[str]:
    done = pytester.runpytest_subprocess(
        "-p", "tests.support.random_order", "-p", "no:kubeloop", "-v", "--shuffle", seed
    )
    done.assert_outcomes(passed=len(NAMES))
    done.stdout.fnmatch_lines([f"random order, repeat it with: make test-random SEED={seed}"])
    return [line.split()[0] for line in done.outlines if " PASSED" in line]


def test_a_seed_repeats_its_order_and_another_one_gives_another(order: pytest.Pytester) -> None:
    first, again, other = run(order, "7"), run(order, "7"), run(order, "8")

    assert first == again != other
    assert sorted(first) == sorted(other) == NAMES


def test_files_and_the_tests_of_a_file_are_shuffled_and_files_stay_together(
    order: pytest.Pytester,
) -> None:
    shuffled = run(order, "7")

    files = [(file, list(tests)) for file, tests in groupby(shuffled, lambda name: name[:9])]
    assert len(files) == 5
    assert [file for file, _ in files] != sorted(file for file, _ in files)
    assert all(tests != sorted(tests) for _, tests in files)
