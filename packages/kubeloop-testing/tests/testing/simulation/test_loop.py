"""Virtual time, the order of callbacks, what is refused, and processes that end at any await."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.simulation.loop import (
    Deadlock,
    Incarnation,
    SimulatedLoop,
    context_of,
    current_process,
)

from .simulated_loops import call_in_turn, connect, new_loop, run, start

# --- time


def test_time_jumps_to_the_next_timer() -> None:
    loop = new_loop()
    started = time.monotonic()

    run(asyncio.sleep(86_400), loop)

    assert loop.time() == 86_400
    assert time.monotonic() - started < 1


def test_time_does_not_move_while_anything_is_ready() -> None:
    loop = new_loop()

    async def busy() -> None:
        for _ in range(1000):
            await asyncio.sleep(0)

    run(busy(), loop)

    assert loop.time() == 0


@given(st.lists(st.integers(min_value=0, max_value=3), max_size=30))
def test_timers_run_by_time_and_equal_ones_in_the_order_they_were_set(delays: list[int]) -> None:
    loop = new_loop()
    seen: list[tuple[int, int]] = []
    for number, delay in enumerate(delays):
        loop.call_later(delay, seen.append, (delay, number))

    run(asyncio.sleep(10), loop)

    assert seen == sorted(seen)
    assert len(seen) == len(delays)


def test_timeouts_are_virtual() -> None:
    loop = new_loop()

    async def wait() -> None:
        async with asyncio.timeout(3600):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        run(wait(), loop)

    assert loop.time() == 3600


# --- deadlocks


def test_a_deadlock_names_who_waits_and_where() -> None:
    loop = new_loop()

    async def holder(lock: asyncio.Lock) -> None:
        await lock.acquire()
        await lock.acquire()

    async def main() -> None:
        lock = asyncio.Lock()
        task = start(loop, Incarnation("manager", 2), holder(lock))
        await task

    with pytest.raises(Deadlock) as caught:
        run(main(), loop)

    text = str(caught.value)
    assert "nothing is ready to run, and no timer is set" in text
    assert "manager (start 2)" in text
    assert "holder" in text
    assert "test_loop.py:" in text
    assert "the test" in text


def test_a_loop_that_never_waits_is_a_deadlock() -> None:
    async def spin() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Deadlock, match="without any time passing"):
        run(spin())


# --- what a simulation does not have


def test_a_call_in_a_thread_runs_in_line() -> None:
    async def main() -> tuple[int, int]:
        return threading.get_ident(), await asyncio.to_thread(threading.get_ident)

    here, there = run(main())

    assert here == there


def test_an_error_of_a_call_in_a_thread_is_raised_where_it_is_awaited() -> None:
    def fail() -> None:
        raise LookupError("not here")

    with pytest.raises(LookupError, match="not here"):
        run(asyncio.to_thread(fail))


def test_tls_is_refused() -> None:
    async def connect() -> None:
        await asyncio.open_connection("127.0.0.1", 443, ssl=ssl.create_default_context())

    with pytest.raises(RuntimeError, match=r"a simulation has no TLS \(use the plain HTTP"):
        run(connect())


def test_a_tls_listener_is_refused() -> None:
    async def listen() -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        await asyncio.start_server(lambda *_: None, "127.0.0.1", 443, ssl=context)

    with pytest.raises(RuntimeError, match="a simulation has no TLS"):
        run(listen())


@pytest.mark.parametrize("how", ["exec", "shell"])
def test_a_subprocess_is_refused(how: str) -> None:
    async def main() -> None:
        if how == "exec":
            await asyncio.create_subprocess_exec(sys.executable, "-V", stdout=subprocess.PIPE)
        else:
            await asyncio.create_subprocess_shell("true")

    with pytest.raises(RuntimeError, match="a simulation has no subprocess"):
        run(main())


def test_a_socket_of_the_operating_system_is_refused() -> None:
    async def udp() -> None:
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(asyncio.DatagramProtocol, ("127.0.0.1", 0))

    async def unix() -> None:
        await asyncio.open_unix_connection("/run/kubeloop-test")

    async def given_socket() -> None:
        loop = asyncio.get_running_loop()
        with socket.socket() as sock:
            await loop.create_connection(asyncio.Protocol, sock=sock)

    for program in (udp, unix, given_socket):
        with pytest.raises(RuntimeError, match="a simulation has no "):
            run(program())


# --- processes


def test_what_a_process_starts_belongs_to_it() -> None:
    loop = new_loop()
    seen: list[object] = []

    async def child() -> None:
        seen.append(current_process())

    async def program() -> None:
        await asyncio.create_task(child())
        asyncio.get_running_loop().call_soon(lambda: seen.append(current_process()))

    process = Incarnation("manager", 1)
    start(loop, process, program())
    run(asyncio.sleep(1), loop)

    assert seen == [process, process]
    assert current_process() is None


class _Log(asyncio.Protocol):
    """Everything that reaches the server, and how the connection ended."""

    def __init__(self, entries: list[bytes]) -> None:
        self._entries = entries

    def data_received(self, data: bytes) -> None:
        self._entries.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._entries.append(b"lost" if exc else b"closed")


async def _worker(steps: list[str]) -> None:
    """Awaits and writes in many ways, and would write more when it ends."""
    _, writer = await connect("127.0.0.1", 80)

    async def say(text: str) -> None:
        writer.write(text.encode())
        await writer.drain()

    async def part(name: str) -> None:
        try:
            await asyncio.sleep(0.01)
            await say(name)
        finally:
            steps.append(f"end of {name}")
            await say(f"end of {name}")

    try:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(part("one"))
            group.create_task(part("two"))
        queue: asyncio.Queue[str] = asyncio.Queue()
        asyncio.get_running_loop().call_later(0.01, queue.put_nowait, "three")
        await say(await queue.get())
        await asyncio.to_thread(steps.append, "thread")
        await asyncio.sleep(0.05)
    finally:
        steps.append("end of all")
        await say("end of all")
        writer.close()


def _crash_after(turns: int) -> tuple[list[str], list[bytes], bool]:
    """Kill the worker after so many turns: what it did afterwards, what arrived, and if it ended."""
    loop = new_loop()
    received: list[bytes] = []
    steps: list[str] = []
    done: list[int] = []  # the number of steps when it was killed
    run(loop.create_server(lambda: _Log(received), "127.0.0.1", 80), loop)
    process = Incarnation("worker", 1)
    task = start(loop, process, _worker(steps))

    def kill() -> None:
        if not task.done():
            done.append(len(steps))
            loop.kill(process)

    call_in_turn(loop, turns, kill)
    run(asyncio.sleep(120), loop)
    return steps[done[0] :] if done else [], received, task.done()


def test_a_crash_at_any_await_runs_nothing_more_and_sends_nothing_more() -> None:
    _, complete, has_ended = _crash_after(10_000)
    assert has_ended
    possible = [[*complete[:size], b"lost"] for size in range(len(complete))]
    crashes = 0
    for turns in range(1, 200):
        after, received, has_ended = _crash_after(turns)
        if has_ended:
            break
        crashes += 1
        assert after == []
        # What had been sent arrives, in order; then the connection is reset.
        assert received in [[], *possible]

    assert crashes > 10
    assert complete[-1] == b"closed"


def test_a_dead_process_never_gets_an_answer() -> None:
    loop = new_loop()
    answered: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read(10))
        writer.close()

    async def ask() -> None:
        reader, writer = await connect("127.0.0.1", 80)
        writer.write(b"question")
        loop.call_later(0, loop.kill, process, context=context_of(None))
        answered.append(await reader.read(10))

    process = Incarnation("worker", 1)
    run(asyncio.start_server(answer, "127.0.0.1", 80), loop)
    start(loop, process, ask())
    run(asyncio.sleep(10), loop)

    assert answered == []


@given(st.lists(st.floats(min_value=0.0, max_value=5.0), max_size=20))
def test_a_paused_process_runs_later_what_it_has_missed_in_the_same_order(
    delays: list[float],
) -> None:
    def order(*, pause: bool) -> tuple[list[int], float]:
        loop = new_loop()
        process = Incarnation("worker", 1)
        seen: list[int] = []
        first = [float("inf")]

        def note(number: int) -> None:
            first[0] = min(first[0], loop.time())
            seen.append(number)

        for number, delay in enumerate(delays):
            loop.call_later(delay, note, number, context=context_of(process))
        if pause:
            loop.pause(process)
            loop.call_later(10, loop.resume, process)
        run(asyncio.sleep(20), loop)
        return seen, first[0]

    expected, _ = order(pause=False)
    seen, first = order(pause=True)

    assert seen == expected
    assert first >= 10


def test_a_process_that_is_killed_while_paused_never_resumes() -> None:
    loop = new_loop()
    seen: list[str] = []

    async def program() -> None:
        await asyncio.sleep(1)
        seen.append("ran")

    process = Incarnation("worker", 1)
    start(loop, process, program())
    run(asyncio.sleep(0.5), loop)
    loop.pause(process)
    run(asyncio.sleep(5), loop)
    loop.kill(process)
    loop.resume(process)
    run(asyncio.sleep(5), loop)

    assert seen == []


def test_the_order_of_tasks_in_sets_is_the_same_in_every_loop() -> None:
    async def order(loop: SimulatedLoop) -> list[str]:
        tasks = {loop.create_task(asyncio.sleep(1), name=f"{number}") for number in range(50)}
        return [each.get_name() for each in tasks]

    loops = [new_loop(), new_loop()]

    first, second = (run(order(each), each) for each in loops)

    assert first == second
