"""Pods in, keys out, retries: a controller by hand, to see what is inside of one.

    python examples/workqueue.py

Programs that mean it use a manager (`sample_controller.py`), which does this and more.
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
        # Changes become keys; one that is added ten times before its turn is worked on once.
        pods.add_key_handler(queue.add)
        async with asyncio.TaskGroup() as workers:
            for _ in range(WORKERS):
                workers.create_task(work(queue, pods.lister))


async def work(queue: RateLimitingQueue[ObjectKey], lister: Lister[Pod]) -> None:
    while True:
        async with queue.item() as key:  # nobody else has this key until the block ends
            try:
                reconcile(key, lister.get(key))
            except ValueError as error:
                try_again(queue, key, error)
            else:
                queue.forget(key)  # the next failure waits briefly again


def reconcile(key: ObjectKey, pod: Pod | None) -> None:
    """What is to be done about a pod. It is asked again whenever the pod has changed."""
    if pod is None:
        print(f"{key}: gone", flush=True)
    elif not pod.metadata.labels:
        raise ValueError("a pod without labels")
    else:
        print(f"{key}: {pod.status.phase or 'Unknown'}", flush=True)


def try_again(queue: RateLimitingQueue[ObjectKey], key: ObjectKey, error: ValueError) -> None:
    if queue.requeues(key) < RETRIES:
        queue.add_rate_limited(key)  # 5 ms, 10 ms, 20 ms, …
    else:
        print(f"{key}: given up: {error}", flush=True)
        queue.forget(key)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        run(main())
