"""A manual clock."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()
