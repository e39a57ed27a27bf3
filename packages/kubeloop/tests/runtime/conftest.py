"""A server, a client with informers, and managers that do not configure this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kubeloop.crd import crd_of
from kubeloop.runtime import Client, Manager
from kubeloop_testing import APIServer
from tests.support.clocks import FastClock

from .harness import ControllerHarness
from .websites import Website


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as running:
        yield running


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[Client]:
    async with Client(server.config) as connected:
        yield connected


@pytest.fixture
async def hasty(server: APIServer) -> AsyncIterator[Client]:
    """A client whose retries do not wait."""
    async with Client(server.config, clock=FastClock()) as connected:
        yield connected


@pytest.fixture
async def with_sites(client: Client) -> Client:
    """A client of a server that serves websites."""
    await client.apply(crd_of(Website))
    return client


@pytest.fixture
def managed(server: APIServer) -> Callable[..., Manager]:
    """A manager of the server."""

    def make(**options: Any) -> Manager:
        quiet: dict[str, Any] = {"signals": False, "tune_gc": False, "logs": False}
        return Manager(server.config, **{**quiet, **options})

    return make


@pytest.fixture
def harness() -> ControllerHarness:
    return ControllerHarness()
