"""A server that feels like a cluster, and time that is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from kubeloop.kit import ManualClock
from kubeloop.runtime import Client
from kubeloop.testing import APIServer, Workloads

from .objects import DELAY, Happens

PATIENCE = 60  # seconds: whole rollouts, request by request, and machines are busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(PATIENCE))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as running:
        yield running


@pytest.fixture
async def client(server: APIServer) -> Client:
    return server.client()


@pytest.fixture
async def workloads(server: APIServer, clock: ManualClock) -> AsyncIterator[Workloads]:
    async with Workloads(server.config, delay=DELAY, clock=clock) as running:
        yield running


@pytest.fixture
def happens(clock: ManualClock, workloads: Workloads) -> Happens:
    """Lets time pass until something is so; the test's own limit ends it otherwise."""

    async def until(is_so: Callable[[], Awaitable[object]]) -> None:
        while not await is_so():
            await clock.advance(DELAY / 4)
            await asyncio.sleep(0.001)  # requests are on their way, on a clock of their own

    return until
