"""Caches all pods with our informer and reports the cost: the twin of peers/clientgo.

Prints a line of JSON when the cache has synced, and another after the given number of updates;
with `--turns` after each such number. It ends when its input does: then the process that started
it is gone.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import threading
import time

from bench.child import resident, status
from kubeloop import run
from kubeloop.cache import Change, ChangeType, StorageFormat
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import Pod


async def run_informer(options: argparse.Namespace) -> None:
    """One informer: the first list, then the updates."""
    async with Client() as client:
        before = resident()
        begun, used = time.perf_counter(), cpu()
        keeping: StorageFormat = options.keeping
        informer = client.informer(
            Pod,
            namespace=options.namespace,
            store_as=keeping,
            sync_timeout=600,
            format=options.format,
            drop=() if options.whole else ("metadata.managedFields",),
        )
        seen = Seen()
        if options.handler == "new":
            informer.add_handler(on_change=seen.change)
        elif options.handler == "both":
            informer.add_handler(on_update=seen.update)
        else:
            informer.add_key_handler(seen.key)
        hold = Hold()
        ticking = asyncio.create_task(hold.tick()) if options.hold else None
        async with informer:
            while informer.lister.count() < options.objects:  # noqa: ASYNC110 - as the Go program
                await asyncio.sleep(0.01)
            if options.handler == "key":
                await seen.until(options.objects)  # the handler has got every key
            report(begun, used, before, hold=hold.longest)
            while options.events:
                seen.forget()
                begun, used = time.perf_counter(), cpu()
                await seen.until(options.events)
                report(begun, used, before, collect=not options.turns)
                if not options.turns:
                    break
        if ticking is not None:
            ticking.cancel()


class Seen:
    """Counts the calls of a handler."""

    def __init__(self) -> None:
        self._count = 0
        self._wanted = 0
        self._enough = asyncio.Event()

    def forget(self) -> None:
        self._count = 0

    async def until(self, wanted: int) -> None:
        self._wanted = wanted
        self._enough.clear()
        if self._count < wanted:
            await self._enough.wait()

    def key(self, key: object) -> None:  # noqa: ARG002 - a key handler gets the key
        self._count += 1
        if self._count == self._wanted:
            self._enough.set()

    def change(self, change: Change[Pod]) -> None:
        if change.type is ChangeType.UPDATED and change.new and change.new.metadata.name:
            self.key(None)

    def update(self, old: Pod, new: Pod) -> None:  # noqa: ARG002 - and both states
        if new.metadata.name:
            self.key(None)


class Hold:
    """The longest time that the event loop was blocked, in CPU time of its thread."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def tick(self) -> None:
        while True:
            last = time.thread_time()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.thread_time() - last)


def report(
    begun: float, used: float, before: int, *, hold: float = 0.0, collect: bool = True
) -> None:
    """One line, in the format of the Go program."""
    wall, spent, peak = time.perf_counter() - begun, cpu() - used, status("VmHWM:")
    if collect:
        gc.collect()
    cost = {"wall": wall, "cpu": spent, "before": before, "peak": peak, "steady": resident()}
    print(json.dumps({**cost, "hold": hold}), flush=True)


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def end_with_input() -> None:
    while os.read(0, 1 << 16):  # past sys.stdin, whose lock would be held when Python ends
        pass
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with_input, daemon=True).start()
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=int, default=0)
    parser.add_argument("--events", type=int, default=0)
    parser.add_argument("--keeping", default="bytes")
    parser.add_argument("--handler", choices=("key", "new", "both"), default="key")
    parser.add_argument("--format", choices=("json", "protobuf"))
    parser.add_argument("--whole", action="store_true", help="drop no fields")
    parser.add_argument("--hold", action="store_true")
    parser.add_argument("--namespace", default="")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--asyncio", action="store_true", help="run on asyncio's own loop")
    given = parser.parse_args()
    (asyncio.run if given.asyncio else run)(run_informer(given))
