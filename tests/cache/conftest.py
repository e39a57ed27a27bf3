"""Fixtures for the tests of the cache."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock
from tests.support.model_server import ModelServer


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server() -> ModelServer:
    return ModelServer()
