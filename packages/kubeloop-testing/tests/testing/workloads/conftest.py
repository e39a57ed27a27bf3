"""A server with simulated workloads, on a manual clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from kubeloop.kit import ManualClock
from kubeloop.runtime import Client
from kubeloop_testing import APIServer, Workloads

from .objects import DELAY, WaitUntil

TIMEOUT = 60  # seconds: whole rollouts, request by request, on busy machines


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(TIMEOUT))


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
def wait_until(clock: ManualClock, workloads: Workloads) -> WaitUntil:
    """Advances the clock until a condition holds, or the test times out."""

    async def until(condition: Callable[[], Awaitable[object]]) -> None:
        while not await condition():
            await clock.advance(DELAY / 4)
            await asyncio.sleep(0.001)  # requests in flight need real time

    return until
