"""Keys through a queue: beside asyncio.Queue, with many keys in it, and with busy workers."""

from __future__ import annotations

import asyncio
import time

from bench.measure import Row, figure, ratio, side_by_side
from kubeloop.workqueue import RateLimitingQueue, WorkQueue

NAME = "workqueue: add, get, done"
GOAL = "400,000 keys a second in one task, whatever waits; 8 workers never hold the loop for 20 ms"

KEYS = 200_000
RECONCILED = 100_000
WORKERS = 8
FEW, MANY = 1_000, 1_000_000
SETUP = f"""
import asyncio
from kubeloop.workqueue import PriorityQueue, RateLimitingQueue, WorkQueue

async def through(queue, keys):
    for key in keys:
        queue.add(key)
        queue.done(await queue.get())

async def through_asyncio(queue, keys):
    for key in keys:
        queue.put_nowait(key)
        await queue.get()
        queue.task_done()

def filled(queue, count):
    for number in range(count):
        queue.add(f"shop/old-{{number}}")
    return queue

def delayed(queue, count):
    for number in range(count):
        queue.add(f"shop/old-{{number}}", after=3600 + number)
    return queue

keys = [f"shop/web-{{number}}" for number in range({KEYS})]
"""
QUEUES = {
    "asyncio": "asyncio.Queue()",
    "one": "WorkQueue()",
    "few": f"filled(WorkQueue(), {FEW})",
    "many": f"filled(WorkQueue(), {MANY})",
    "few later": f"delayed(RateLimitingQueue(), {FEW})",
    "many later": f"delayed(RateLimitingQueue(), {MANY})",
    "ranked": f"filled(PriorityQueue(), {FEW})",
}


def run() -> list[Row]:
    """Each queue in an interpreter of its own; the workers in this one."""
    cpu = {name: _cpu(name, made) for name, made in QUEUES.items()}
    held = max(_longest_hold(WorkQueue()), _longest_hold(RateLimitingQueue()))
    speed = KEYS / cpu["one"]
    return [
        Row("one task", f"{speed:,.0f} keys/s", "at least 400,000 keys/s", ok=speed >= 400_000),
        ratio(f"{MANY:,} keys queued / {FEW:,}, CPU", cpu["many"], cpu["few"], at_most=1.5),
        ratio(
            f"{MANY:,} keys for later / {FEW:,}, CPU",
            cpu["many later"],
            cpu["few later"],
            at_most=1.5,
        ),
        Row(
            f"longest hold of the loop, {RECONCILED:,} keys, {WORKERS} workers",
            f"{held * 1000:.1f} ms",
            "at most 20 ms",
            ok=held <= 0.020,
        ),
        figure(
            "asyncio.Queue (put, get, task_done; holds no key once)",
            KEYS / cpu["asyncio"],
            "keys/s",
        ),
        figure(f"PriorityQueue, {FEW:,} keys queued", KEYS / cpu["ranked"], "keys/s"),
    ]


def _cpu(name: str, made: str) -> float:
    call = "through_asyncio" if name == "asyncio" else "through"
    setup = f"{SETUP}\nqueue = {made}\n"
    snippet = f"asyncio.run({call}(queue, keys))"
    return side_by_side({name: snippet}, setup=setup, times=3)[name].cpu


def _longest_hold(queue: WorkQueue[int]) -> float:
    """Workers whose work never waits, a producer, and somebody who wants the loop as well."""
    return asyncio.run(_watched(queue))


async def _watched(queue: WorkQueue[int]) -> float:
    async def produce() -> None:
        for first in range(0, RECONCILED, 1000):
            for key in range(first, first + 1000):
                queue.add(key)
            await asyncio.sleep(0)
        queue.shut_down()

    async def work() -> None:
        while len(queue) or not queue.is_shutting_down:
            async with queue.item():
                pass

    longest, before = 0.0, time.perf_counter()
    parts = [asyncio.create_task(produce()), *(asyncio.create_task(work()) for _ in range(WORKERS))]
    while not all(part.done() for part in parts):
        await asyncio.sleep(0)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return longest
