"""Fixtures for the tests of the cache."""

from __future__ import annotations

import pytest
from tests.support.model_server import ModelServer

from kubeloop.kit import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server() -> ModelServer:
    return ModelServer()
