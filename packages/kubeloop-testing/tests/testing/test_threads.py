"""Servers in the loop of another thread, and calls from outside that thread."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from urllib.request import urlopen

import pytest

from kubeloop.clients import APIClient
from kubeloop.wire.core.v1 import Namespace
from kubeloop_testing import APIServer, Match, running_in_thread
from kubeloop_testing.threads import LoopThread, ServerLoop


@asynccontextmanager
async def recording_server(events: list[str]) -> AsyncIterator[str]:
    events.append(f"begin in {threading.current_thread().name}")
    try:
        yield "server"
    finally:
        events.append("end")


def test_a_server_runs_in_the_thread_until_the_block_ends() -> None:
    events: list[str] = []
    before = set(threading.enumerate())

    with running_in_thread(recording_server(events)) as server:
        assert events == ["begin in kubeloop-testing"]

    assert server == "server"
    assert events[1:] == ["end"]
    assert set(threading.enumerate()) <= before  # servers of other tests may be running


def test_a_failing_block_stops_the_server_and_raises() -> None:
    events: list[str] = []

    with pytest.raises(KeyError), running_in_thread(recording_server(events)):
        raise KeyError("mine")

    assert events[-1] == "end"


def is_waiting(thread: int) -> bool:
    """Whether a thread waits for the result of a future."""
    stack = traceback.walk_stack(sys._current_frames()[thread])
    return "result" in {frame.f_code.co_name for frame, _ in stack}


@pytest.fixture
def interruption() -> Iterator[type[Exception]]:
    """What SIGUSR1 raises in the main thread, once; SIGINT may be ignored, as under nohup."""

    class Interrupted(Exception): ...

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield Interrupted
    signal.signal(signal.SIGUSR1, before)


def test_an_interrupted_start_has_been_undone_when_the_block_ends(
    interruption: type[Exception],
) -> None:
    events: list[str] = []
    here = threading.get_ident()

    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        try:
            while not is_waiting(here):
                await asyncio.sleep(0)
            # A single signal is lost between the interpreter's check and the wait.
            for _ in range(1000):
                signal.pthread_kill(here, signal.SIGUSR1)
                await asyncio.sleep(0.01)
            yield
        finally:
            for _ in range(1000):  # it takes a while
                await asyncio.sleep(0)
            events.append("end")

    with pytest.raises(interruption), running_in_thread(slow()):
        pass

    assert events == ["end"]


def test_a_failing_start_raises_in_the_calling_thread() -> None:
    @asynccontextmanager
    async def on(ports: list[int]) -> AsyncIterator[int]:
        yield ports.pop()

    with pytest.raises(IndexError), running_in_thread(on([])):
        pass


def test_blocking_code_can_use_the_server() -> None:
    with running_in_thread(APIServer()) as server, urlopen(f"{server.url}/readyz") as response:
        assert response.read() == b"ok"


async def test_a_client_of_another_loop_can_use_the_server() -> None:
    with running_in_thread(APIServer()) as server:
        async with APIClient(server.config) as client:
            await client.core_v1.namespaces().get("default")


async def test_a_server_in_another_thread_returns_no_client() -> None:
    with running_in_thread(APIServer()) as server, pytest.raises(RuntimeError, match="kube_client"):
        server.client()


async def test_a_server_can_be_restarted_from_any_loop() -> None:
    with running_in_thread(APIServer()) as server:
        before = server.url

        await server.restart()
        await server.refuse_connections()
        await server.accept_connections()

        assert server.url == before
        async with APIClient(server.config) as client:
            await client.core_v1.namespaces().get("default")


async def test_held_responses_can_be_released_from_another_thread() -> None:
    with running_in_thread(APIServer()) as server:
        release = server.faults.hold(Match(verb="list", resource="pods"))
        async with APIClient(server.config) as client:
            pending = asyncio.create_task(client.core_v1.pods("default").list())
            # A later request has its response, so the earlier one is being held now.
            while not any(seen.verb == "list" for seen in server.requests):
                await client.core_v1.namespaces().get("default")
            assert not pending.done()

            release()

            assert (await pending).items == []


def test_stats_can_be_read_from_any_thread() -> None:
    with running_in_thread(APIServer()) as server, ThreadPoolExecutor(1) as pool:
        server.expire_history()

        assert pool.submit(server.stats).result().url == server.url


async def test_a_call_in_the_servers_loop_stays_in_its_thread() -> None:
    loop = ServerLoop()
    loop.bind()

    assert loop.is_current()
    assert loop.call(threading.current_thread) is threading.current_thread()


def test_an_error_in_the_thread_is_raised_in_the_caller() -> None:
    async def fail() -> None:
        raise LookupError("in the thread")

    with LoopThread() as thread, pytest.raises(LookupError, match="in the thread"):
        thread.call(fail())


def test_a_server_whose_loop_has_ended_can_still_be_read() -> None:
    """Waiting for that loop would never end."""

    async def start() -> APIServer:
        async with APIServer() as server:
            return server

    server = asyncio.run(start())

    assert server.find(Namespace, "default") is not None
