"""Servers in a thread, and asking them from outside it."""

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
from kubeloop.testing import APIServer, Match, running_in_thread
from kubeloop.testing.threads import Home, LoopThread


@asynccontextmanager
async def noted(notes: list[str]) -> AsyncIterator[str]:
    notes.append(f"begin in {threading.current_thread().name}")
    try:
        yield "server"
    finally:
        notes.append("end")


def test_a_server_lives_in_the_thread_for_as_long_as_the_block() -> None:
    notes: list[str] = []
    before = set(threading.enumerate())

    with running_in_thread(noted(notes)) as server:
        assert notes == ["begin in kubeloop-testing"]

    assert server == "server"
    assert notes[1:] == ["end"]
    assert set(threading.enumerate()) <= before  # servers of other tests may be there


def test_a_failing_block_ends_the_server_and_fails() -> None:
    notes: list[str] = []

    with pytest.raises(KeyError), running_in_thread(noted(notes)):
        raise KeyError("mine")

    assert notes[-1] == "end"


def is_waiting(thread: int) -> bool:
    """Whether a thread waits for what is done in another."""
    stack = traceback.walk_stack(sys._current_frames()[thread])
    return "result" in {frame.f_code.co_name for frame, _ in stack}


@pytest.fixture
def interruption() -> Iterator[type[Exception]]:
    """What SIGUSR1 raises in the main thread, once; SIGINT may be ignored here, as by nohup."""

    class Interrupted(Exception): ...

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield Interrupted
    signal.signal(signal.SIGUSR1, before)


def test_a_start_that_is_broken_off_has_come_to_its_end_when_the_block_has(
    interruption: type[Exception],
) -> None:
    notes: list[str] = []
    here = threading.get_ident()

    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        try:
            while not is_waiting(here):
                await asyncio.sleep(0)
            for _ in range(1000):  # one is not heard between the interpreter's look and the wait
                signal.pthread_kill(here, signal.SIGUSR1)
                await asyncio.sleep(0.01)
            yield
        finally:
            for _ in range(1000):  # it takes a while
                await asyncio.sleep(0)
            notes.append("end")

    with pytest.raises(interruption), running_in_thread(slow()):
        pass

    assert notes == ["end"]


def test_a_server_that_does_not_start_is_the_callers_error() -> None:
    @asynccontextmanager
    async def on(ports: list[int]) -> AsyncIterator[int]:
        yield ports.pop()

    with pytest.raises(IndexError), running_in_thread(on([])):
        pass


def test_blocking_code_speaks_to_the_server() -> None:
    with running_in_thread(APIServer()) as server, urlopen(f"{server.url}/readyz") as answer:
        assert answer.read() == b"ok"


async def test_a_client_of_another_loop_speaks_to_the_server() -> None:
    with running_in_thread(APIServer()) as server:
        async with APIClient(server.config) as client:
            await client.core_v1.namespaces().get("default")


async def test_a_server_in_a_thread_hands_out_no_client() -> None:
    with running_in_thread(APIServer()) as server, pytest.raises(RuntimeError, match="kube_client"):
        server.client()


async def test_a_server_is_restarted_from_any_loop() -> None:
    with running_in_thread(APIServer()) as server:
        before = server.url

        await server.restart()
        await server.refuse_connections()
        await server.accept_connections()

        assert server.url == before
        async with APIClient(server.config) as client:
            await client.core_v1.namespaces().get("default")


async def test_held_answers_are_let_go_from_another_thread() -> None:
    with running_in_thread(APIServer()) as server:
        release = server.faults.hold(Match(verb="list", resource="pods"))
        async with APIClient(server.config) as client:
            asked = asyncio.create_task(client.core_v1.pods("default").list())
            # Answered later than the held one was asked, so that one is being held now.
            while not any(seen.verb == "list" for seen in server.requests):
                await client.core_v1.namespaces().get("default")
            assert not asked.done()

            release()

            assert (await asked).items == []


def test_what_the_server_holds_is_read_from_any_thread() -> None:
    with running_in_thread(APIServer()) as server, ThreadPoolExecutor(1) as pool:
        server.expire_history()

        assert pool.submit(server.stats).result().url == server.url


async def test_at_home_nothing_is_handed_over() -> None:
    home = Home()
    home.settle()

    assert home.is_here()
    assert home.call(threading.current_thread) is threading.current_thread()


def test_work_that_fails_in_the_thread_fails_here() -> None:
    async def fail() -> None:
        raise LookupError("over there")

    with LoopThread() as thread, pytest.raises(LookupError, match="over there"):
        thread.call(fail())
