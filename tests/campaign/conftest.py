"""A thread for the server, and the embedded server in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubeloop_testing import APIServer
from kubeloop_testing.threads import LoopThread

from .faults import Embedded
from .quick_clock import QuickClock
from .scenario import SPEED


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    """The thread of the server, so that all tasks of the test's loop are the client's."""
    with LoopThread() as running:
        running.call(_open_once())
        yield running


async def _open_once() -> None:
    """uvloop opens a file with its first stream and keeps it: that is no leftover."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    server.close()
    await server.wait_closed()


@pytest.fixture
def speed() -> float:
    """The speed of all clocks."""
    return SPEED


@pytest.fixture
def cluster(thread: LoopThread, tmp_path: Path, speed: float) -> Iterator[Embedded]:
    server = APIServer(tokens={}, clock=QuickClock(speed))
    with thread.running(server):
        yield Embedded(server, tmp_path)
