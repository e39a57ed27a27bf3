"""A controller without a manager: an informer, a work queue, workers and retries.

    python examples/workqueue.py

Most programs use a manager (`sample_controller.py`), which does this and more.
"""

from __future__ import annotations

import asyncio
import contextlib

from kubeloop import Client, ObjectKey, run
from kubeloop.cache import Lister
from kubeloop.wire.core.v1 import Pod
from kubeloop.workqueue import RateLimitingQueue

WORKERS = 4
RETRIES = 5


async def main() -> None:
    queue: RateLimitingQueue[ObjectKey] = RateLimitingQueue()
    async with Client() as client, client.informer(Pod) as pods:
        # Each change adds the key of its pod; ten adds before a worker is free become one.
        pods.add_key_handler(queue.add)
        async with asyncio.TaskGroup() as workers:
            for _ in range(WORKERS):
                workers.create_task(work(queue, pods.lister))


async def work(queue: RateLimitingQueue[ObjectKey], lister: Lister[Pod]) -> None:
    while True:
        async with queue.item() as key:  # no other worker gets this key until the block ends
            try:
                reconcile(key, lister.get(key))
            except ValueError as error:
                retry(queue, key, error)
            else:
                queue.forget(key)  # the next failure starts with the shortest delay


def reconcile(key: ObjectKey, pod: Pod | None) -> None:
    """Called with the pod's newest state whenever it has changed; None if it was deleted."""
    if pod is None:
        print(f"{key}: deleted", flush=True)
    elif not pod.metadata.labels:
        raise ValueError("a pod without labels")
    else:
        print(f"{key}: {pod.status.phase or 'Unknown'}", flush=True)


def retry(queue: RateLimitingQueue[ObjectKey], key: ObjectKey, error: ValueError) -> None:
    if queue.num_requeues(key) < RETRIES:
        queue.add_rate_limited(key)  # 5 ms, 10 ms, 20 ms, …
    else:
        print(f"{key}: failed, will not retry: {error}", flush=True)
        queue.forget(key)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        run(main())
