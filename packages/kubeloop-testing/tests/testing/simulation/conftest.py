"""Ends the simulated loops of a test; a hook, because a test of hypothesis runs many times."""

from __future__ import annotations

import pytest

from .simulated_loops import close_loops


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "campaign: many faults in a row (`make soak`: a thousand)")


def pytest_runtest_teardown() -> None:
    close_loops()
