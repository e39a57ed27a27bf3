"""A pytest plugin: `--shuffle SEED` runs the files, and the tests of each, in a random order.

A test that fails only with this option depends on one that ran before it. Fixtures of a file or of
the session are set up as often as usual, because the tests of a file stay together.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

__all__ = [
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_report_header",
    "pytest_terminal_summary",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help="run the tests in a random order")


@pytest.hookimpl(trylast=True)  # pytest itself sorts by the parameters of fixtures
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--shuffle")
    if seed is not None:
        items[:] = _shuffled(items, random.Random(seed))


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--shuffle")
    return seed and f"random order, repeat it with: make test-random SEED={seed}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The header again: it is far above the failures."""
    if header := pytest_report_header(config):
        terminalreporter.write_line(header)


def _shuffled(items: Iterable[pytest.Item], chance: random.Random) -> list[pytest.Item]:
    by_file: dict[Path, list[pytest.Item]] = {}
    for item in items:
        by_file.setdefault(item.path, []).append(item)
    files = list(by_file.values())
    chance.shuffle(files)
    for tests in files:
        chance.shuffle(tests)
    return [test for tests in files for test in tests]
