"""Fixtures for the tests of the cache."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock
from tests.support.model_server import ModelServer
from tests.support.pumped_watch import PumpingServer


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=[ModelServer, PumpingServer], ids=["read", "pumped"])
def server(request: pytest.FixtureRequest) -> ModelServer:
    """A server, once with watches that are read and once with watches that are pumped."""
    found: ModelServer = request.param()
    return found
