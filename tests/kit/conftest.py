"""A clock that stands still, and chance that is not."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()
