"""Ends the simulated loops of a test; a hook, because a test of hypothesis runs many times."""

from __future__ import annotations

from .simulated_loops import close_loops


def pytest_runtest_teardown() -> None:
    close_loops()
