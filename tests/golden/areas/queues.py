"""Work queues: which key is handed out when, and what is left."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

from kubeloop.kit import ManualClock
from kubeloop.workqueue import DelayingQueue, QueueEmpty, QueueShutDown, WorkQueue
from tests.golden.case import Area, Case

_KEYS = "abcd"


def _steps(seed: int) -> list[dict[str, Any]]:
    """Only what workers do: a key is done after it was handed out, and once."""
    source = random.Random(seed)
    end = source.randrange(60)  # when it is shut down, if it is
    steps: list[dict[str, Any]] = []
    # Which keys may be done is found by playing the rules of the queue here.
    queued: list[str] = []
    dirty: set[str] = set()
    working: list[str] = []
    for number in range(40):
        do = source.choice(["add", "add", "get", "get", "done", "len"])
        key = source.choice(_KEYS)
        if number == end:
            steps += [{"do": "shutDown"}, {"do": "shuttingDown"}]
        if do == "add" and key not in dirty and number < end:
            dirty.add(key)
            if key not in working:
                queued.append(key)
        elif do == "get" and queued:
            working.append(queued.pop(0))
            dirty.discard(working[-1])
        elif do == "done":
            if not working:
                continue
            key = working.pop(source.randrange(len(working)))
            if key in dirty:
                queued.append(key)
        steps.append({"do": do, "key": key})
    return steps


_STRAY = [{"do": "add", "key": "a"}, {"do": "done", "key": "a"}, {"do": "len"}]


def _delayed(seed: int) -> list[dict[str, Any]]:
    """Delayed keys, and the ready ones after each pause; no worker gets them."""
    source = random.Random(seed)
    steps: list[dict[str, Any]] = []
    for _ in range(25):
        do = source.choice(["addAfter", "addAfter", "add", "advance", "len"])
        by = source.choice([-1, 0, 125, 250, 500, 1000, 4000])
        steps.append(
            {"do": do, "key": source.choice(_KEYS), "by": max(by, 0) if do == "advance" else by}
        )
    steps.append({"do": "advance", "by": 10_000})
    steps.append({"do": "len"})
    return steps


def _cases() -> Iterator[Case]:
    for seed in range(150):
        yield Case("queue.steps", _steps(seed))
    yield Case("queue.steps", _STRAY)
    for seed in range(25):
        yield Case("delayingQueue.steps", _delayed(seed))


def _step(queue: WorkQueue[str], step: dict[str, Any]) -> Any:
    match step["do"]:
        case "add":
            queue.add(step["key"])
        case "get":
            try:
                return queue.get_nowait()
            except QueueShutDown:
                return "shut down"
            except QueueEmpty:
                return "empty"
        case "done":
            queue.done(step["key"])
        case "len":
            return len(queue)
        case "shutDown":
            queue.shut_down()
        case "shuttingDown":
            return queue.is_shutting_down
    return None


async def _plain(steps: list[dict[str, Any]]) -> list[Any]:
    queue: WorkQueue[str] = WorkQueue(clock=ManualClock())
    return [_step(queue, step) for step in steps]


async def _delaying(steps: list[dict[str, Any]]) -> list[Any]:
    clock = ManualClock()
    queue: DelayingQueue[str] = DelayingQueue(clock=clock)
    found: list[Any] = []
    for step in steps:
        if step["do"] == "advance":
            await clock.advance(step["by"] / 1000)
            found.append(None)
        elif step["do"] == "addAfter":
            queue.add(step["key"], after=step["by"] / 1000)
            found.append(None)
        else:
            found.append(_step(queue, step))
    return found


AREA = Area(
    _cases,
    {
        "queue.steps": lambda steps: asyncio.run(_plain(steps)),
        "delayingQueue.steps": lambda steps: asyncio.run(_delaying(steps)),
    },
)
