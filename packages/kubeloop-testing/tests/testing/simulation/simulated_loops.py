"""Simulated loops for tests of the loop and the network, without a world."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from kubeloop_testing.simulation.loop import Incarnation, SimulatedLoop, context_of
from kubeloop_testing.simulation.network import Network

T = TypeVar("T")

_loops: list[SimulatedLoop] = []
_processes: list[Incarnation] = []  # a coroutine that is freed would run its `finally`

_writers: list[asyncio.StreamWriter] = []


def new_loop(seed: int = 0) -> SimulatedLoop:
    """A loop that ends with the test (conftest.py)."""
    loop = SimulatedLoop(Network(random.Random(seed)))
    _loops.append(loop)
    return loop


def close_loops() -> None:
    """End all tasks, also those of killed processes, which a worker process simply leaves."""
    for writer in _writers:
        writer.transport.abort()
    while _loops:
        loop = _loops.pop()
        vars(loop)["_turns"] = 0
        tasks = cast("set[Any]", asyncio.all_tasks(loop))
        for process in {each.process for each in tasks} - {None}:
            held, process.held, process.is_dead = process.held, [], False
            process.is_paused = False
            vars(loop)["_ready"].extend(each for each in held if isinstance(each, asyncio.Handle))
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait({*tasks, loop.create_task(asyncio.sleep(10))}))
        loop.close()
    _processes.clear()
    _writers.clear()


def run(program: Coroutine[Any, Any, T], loop: SimulatedLoop | None = None) -> T:
    """Run a program in a simulated loop to its end."""
    return (loop or new_loop()).run_until_complete(program)


def start(
    loop: SimulatedLoop, process: Incarnation, program: Coroutine[Any, Any, T]
) -> asyncio.Task[T]:
    """Start a program as a simulated process."""
    _processes.append(process)
    return loop.create_task(program, context=context_of(process))


async def connect(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection that is closed with the loop."""
    reader, writer = await asyncio.open_connection(host, port)
    _writers.append(writer)
    return reader, writer


def call_in_turn(loop: SimulatedLoop, number: int, callback: Callable[[], object]) -> None:
    """Call something between two turns of the loop, after `number` of them."""
    turns = 0
    wait = loop.wait

    def count(timeout: float | None) -> None:
        nonlocal turns
        turns += 1
        if turns == number:
            callback()
            timeout = 0.0 if vars(loop)["_ready"] else timeout
        wait(timeout)

    vars(loop)["wait"] = count
