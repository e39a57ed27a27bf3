"""Mirrors all pods with our informer and says what it cost: the twin of peers/clientgo.

Prints a line of JSON once the objects are there, and another when it has been told of as
many updates as asked for. It ends when its input does: whoever started it is gone then.
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


async def mirror(options: argparse.Namespace) -> None:
    """One informer, from nothing to everything, then the updates."""
    async with Client() as client:
        before = resident()
        begun, used = time.perf_counter(), cpu()
        store_as: StorageFormat = options.store_as
        informer = client.informer(Pod, store_as=store_as, sync_timeout=600)
        seen = Seen()
        if options.told == "new":
            informer.add_handler(on_change=seen.change)
        elif options.told == "both":
            informer.add_handler(on_update=seen.update)
        else:
            informer.add_key_handler(seen.key)
        hold = Hold()
        ticking = asyncio.create_task(hold.tick()) if options.hold else None
        async with informer:
            while informer.lister.count() < options.objects:  # noqa: ASYNC110 - as the Go program
                await asyncio.sleep(0.01)
            if options.told == "key":
                await seen.until(options.objects)  # every key has been handed out, too
            report(begun, used, before, hold=hold.longest)
            if options.events:
                seen.forget()
                begun, used = time.perf_counter(), cpu()
                await seen.until(options.events)
                report(begun, used, before)
        if ticking is not None:
            ticking.cancel()


class Seen:
    """Counts what a handler is told."""

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

    def key(self, key: object) -> None:  # noqa: ARG002 - a handler is told the key
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
    """How long the event loop was held at most, in CPU time: what others do does not count."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def tick(self) -> None:
        while True:
            last = time.thread_time()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.thread_time() - last)


def report(begun: float, used: float, before: int, *, hold: float = 0.0) -> None:
    """One line, in the words of the Go program."""
    wall, spent, peak = time.perf_counter() - begun, cpu() - used, status("VmHWM:")
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
    parser.add_argument("--store-as", default="bytes")
    parser.add_argument("--told", choices=("key", "new", "both"), default="key")
    parser.add_argument("--hold", action="store_true")
    run(mirror(parser.parse_args()))
