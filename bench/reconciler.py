"""A controller of pods that reports when each reconcile began: the twin of client-go's.

It prints a line of JSON when all pods have been reconciled, and after that one for each
new mark (the message in a pod's status). It ends when its input does.
"""

from __future__ import annotations

import argparse
import json
import threading
import time

from bench.informer import end_with_input
from kubeloop import Context, Manager, ObjectKey, run
from kubeloop.wire.core.v1 import Pod


def controller(objects: int, namespace: str) -> Manager:
    """One worker, and nothing that a user would not have by default."""
    manager = Manager(namespace=namespace)
    reported = {""}
    done = 0

    @manager.controller(Pod, workers=1)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        nonlocal done
        at = time.time_ns()
        pod = ctx.get(Pod, key)
        mark = (pod.status.message or "") if pod is not None and pod.status is not None else ""
        done += 1
        if mark not in reported:
            reported.add(mark)
            if done > objects:
                say(mark, at)
        if done == objects:
            say("", at)

    return manager


def say(mark: str, at: int) -> None:
    print(json.dumps({"mark": mark, "at": at}), flush=True)


if __name__ == "__main__":
    threading.Thread(target=end_with_input, daemon=True).start()
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=int, required=True)
    parser.add_argument("--namespace", default="")
    given = parser.parse_args()
    run(controller(given.objects, given.namespace).run())
