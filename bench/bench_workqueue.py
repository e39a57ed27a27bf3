"""Keys through a queue: beside client-go's, with many keys in it, and with busy workers."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import suppress

from bench.cluster import client_go
from bench.contest import Contestant, Program, Snippet, in_rounds
from bench.measure import Row, figure, ratio, ratios
from bench.scale import count
from kubeloop.workqueue import QueueShutDown, RateLimitingQueue, WorkQueue

NAME = "workqueue: add, get, done"
GOAL = "400,000 keys a second in one task, whatever waits; 8 workers never hold the loop for 20 ms"

KEYS = 200_000
RECONCILED = 100_000
WORKERS = 8
FEW, MANY = 1_000, count("QUEUED", 500_000, full=1_000_000)
ROUNDS = count("QUEUE_ROUNDS", 3, full=5)
SETUP = f"""
import asyncio
from collections import deque
from kubeloop.workqueue import PriorityQueue, QueueShutDown, RateLimitingQueue, WorkQueue

async def through(queue):
    for key in keys:
        queue.add(key)
        queue.done(await queue.get())

async def through_workers(queue):
    async def work():
        try:
            while True:
                queue.done(await queue.get())
        except QueueShutDown:
            pass

    for key in keys:
        queue.add(key)
    queue.shut_down()
    await asyncio.gather(*(work() for _ in range({WORKERS})))

async def through_asyncio(queue):
    for key in keys:
        queue.put_nowait(key)
        await queue.get()
        queue.task_done()

async def through_containers(line_and_names):
    line, names = line_and_names
    for key in keys:
        if key not in names:
            names.add(key)
            line.append(key)
        names.remove(line.popleft())

def old(count):
    return [f"shop/old-{{number}}" for number in range(count)]

def filled(queue, count):
    for key in old(count):
        queue.add(key)
    return queue

def delayed(queue, count):
    for number, key in enumerate(old(count)):
        queue.add(key, after=3600 + number)
    return queue

def containers(count):
    keys = old(count)
    return deque(keys), set(keys)

keys = [f"shop/web-{{number}}" for number in range({KEYS})]
"""
# What is made before, and what goes through it.
CONTESTANTS = {
    "asyncio": ("asyncio.Queue()", "through_asyncio"),
    "one": ("WorkQueue()", "through"),
    "workers": ("WorkQueue()", "through_workers"),
    "few": (f"filled(WorkQueue(), {FEW})", "through"),
    "many": (f"filled(WorkQueue(), {MANY})", "through"),
    "few later": (f"delayed(RateLimitingQueue(), {FEW})", "through"),
    "many later": (f"delayed(RateLimitingQueue(), {MANY})", "through"),
    "few bare": (f"containers({FEW})", "through_containers"),
    "many bare": (f"containers({MANY})", "through_containers"),
    "ranked": (f"filled(PriorityQueue(), {FEW})", "through"),
}


def run() -> list[Row]:
    """Each queue in a process of its own, in turns; the longest hold is taken in this one."""
    runs = {
        name: [cost.cpu for cost in costs]
        for name, costs in in_rounds(_contestants(), times=ROUNDS).items()
    }
    # The least, because what disturbs a run of a fifth of a second only ever adds to it.
    cpu = {name: min(found) for name, found in runs.items()}
    holds = [_longest_hold(queue) for queue in (WorkQueue[int](), RateLimitingQueue[int]())]
    held = max(cpu for cpu, _ in holds)
    hold = f"longest hold of the loop, {RECONCILED:,} keys, {WORKERS} workers"
    speed = KEYS / cpu["one"]
    growth = f"{MANY:,} / {FEW:,}, CPU"
    return [
        Row("one task", f"{speed:,.0f} keys/s", "at least 400,000 keys/s", ok=speed >= 400_000),
        ratio(f"keys queued: {growth}", cpu["many"], cpu["few"], at_most=1.5),
        ratio(f"keys for later: {growth}", cpu["many later"], cpu["few later"], at_most=1.5),
        Row(f"{hold}, CPU", f"{held * 1000:.1f} ms", "at most 20 ms", ok=held <= 0.020),
        *_beside_client_go(runs),
        # With whatever else the machine did in between.
        figure(f"{hold}, wall", max(wall for _, wall in holds) * 1000, "ms"),
        # Memory that is not in the processor's caches costs every container the same.
        figure(f"a bare deque and set: {growth}", cpu["many bare"] / cpu["few bare"], ""),
        figure(f"one task, {MANY:,} keys queued", KEYS / cpu["many"], "keys/s"),
        figure(f"{WORKERS} workers", KEYS / cpu["workers"], "keys/s"),
        figure("asyncio.Queue (put, get, task_done)", KEYS / cpu["asyncio"], "keys/s"),
        figure(f"PriorityQueue, {FEW:,} keys queued", KEYS / cpu["ranked"], "keys/s"),
    ]


def _contestants() -> dict[str, Contestant]:
    found: dict[str, Contestant] = {
        name: Snippet(f"asyncio.run({call}(queue))", f"{SETUP}\nqueue = {made}\n")
        for name, (made, call) in CONTESTANTS.items()
    }
    program = client_go()
    if program is not None:
        for name, workers in (("client-go", 1), ("client-go workers", WORKERS)):
            work = (str(program), "--work=queue", f"--count={KEYS}", f"--workers={workers}")
            found[name] = Program(work)
    return found


def _beside_client_go(runs: dict[str, list[float]]) -> list[Row]:
    if "client-go" not in runs:
        return [Row("client-go", "skipped: no Go here to build it with")]
    return [
        ratios("1 worker, CPU, kubeloop / client-go", runs["one"], runs["client-go"]),
        ratios(
            f"{WORKERS} workers, CPU, kubeloop / client-go",
            runs["workers"],
            runs["client-go workers"],
        ),
        figure("client-go, 1 worker", KEYS / min(runs["client-go"]), "keys/s of CPU"),
        figure(
            f"client-go, {WORKERS} workers", KEYS / min(runs["client-go workers"]), "keys/s of CPU"
        ),
    ]


def _longest_hold(queue: WorkQueue[int]) -> tuple[float, float]:
    """CPU and wall seconds: a full queue, and workers whose work never waits."""
    for key in range(RECONCILED):
        queue.add(key)
    queue.shut_down()
    return asyncio.run(_watched(queue))


async def _watched(queue: WorkQueue[int]) -> tuple[float, float]:
    async def work() -> None:
        with suppress(QueueShutDown):
            while True:
                async with queue.item():
                    pass

    workers = [asyncio.create_task(work()) for _ in range(WORKERS)]
    cpu, wall = [time.thread_time()], [time.perf_counter()]
    while not all(worker.done() for worker in workers):
        await asyncio.sleep(0)
        cpu.append(time.thread_time())
        wall.append(time.perf_counter())
    return _longest_step(cpu), _longest_step(wall)


def _longest_step(moments: list[float]) -> float:
    return max(after - before for before, after in itertools.pairwise(moments))
