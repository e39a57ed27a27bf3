"""A thread for the server, and the embedded server in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubeloop.testing import APIServer
from kubeloop.testing.threads import LoopThread

from .faults import Embedded
from .quick_clock import QuickClock
from .world import SPEED


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "campaign: faults, many of them (`make soak`: a thousand)")


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    """The server's own, so that all tasks of ours are the client's."""
    with LoopThread() as running:
        running.call(_open_once())
        yield running


async def _open_once() -> None:
    """With the first stream of its life, uvloop opens a file that it keeps: no leftover."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    server.close()
    await server.wait_closed()


@pytest.fixture
def speed() -> float:
    """Of everybody's clock."""
    return SPEED


@pytest.fixture
def place(thread: LoopThread, tmp_path: Path, speed: float) -> Iterator[Embedded]:
    server = APIServer(tokens={}, clock=QuickClock(speed))
    with thread.running(server):
        yield Embedded(server, tmp_path)
