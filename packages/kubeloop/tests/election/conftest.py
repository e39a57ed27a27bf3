"""A clock, a server with one lease, a client of it, and electors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeAlias

import pytest

from kubeloop.election import LeaderElector
from kubeloop.kit import ManualClock
from tests.election.leases import NAME, FakeLeases, Server

MakeElector: TypeAlias = Callable[..., LeaderElector]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def leases(server: Server, clock: ManualClock) -> FakeLeases:
    return FakeLeases(server, clock)


@pytest.fixture
def elector_of(leases: FakeLeases, clock: ManualClock) -> MakeElector:
    """Creates an elector `me` that waits for exactly one retry period between attempts."""

    def make(**options: Any) -> LeaderElector:
        usual: dict[str, Any] = {"identity": "me", "clock": clock, "random": lambda: 0.0}
        return LeaderElector(options.pop("leases", leases), NAME, **(usual | options))

    return make


class BackgroundTasks:
    """Tasks of a test, which end with it."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []

    def spawn(self, work: Coroutine[object, object, None], *, name: str = "") -> None:
        self.tasks.append(asyncio.create_task(work, name=name))


@pytest.fixture
async def tasks(clock: ManualClock) -> AsyncIterator[BackgroundTasks]:
    background = BackgroundTasks()
    yield background
    for task in background.tasks:
        task.cancel()
    await clock.advance(60)  # for releases over slow networks
    assert [task for task in background.tasks if not task.done()] == []


async def forever() -> None:
    await asyncio.Event().wait()
