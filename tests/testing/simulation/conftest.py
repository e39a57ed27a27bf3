"""Settings of the tests of the simulation."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "campaign: many faults in a row (`make soak`: a thousand)")
